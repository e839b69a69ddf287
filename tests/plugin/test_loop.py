"""Whole loops: the real client drives them, with nothing but its hooks."""

import json
from pathlib import Path

import pytest

from burnish.core.events import Outcome
from burnish.core.state import SealKind
from burnish.testing.model_server.scenario import Fault, ModelAnswer, NamedTool, Write
from burnish.testing.model_server.server import model_server
from tests.plugin.session import (
    BROKEN,
    CLEAN,
    FIXED,
    PANEL,
    SessionStage,
    command,
    dispatch,
    fixer,
    issues,
    main,
    panel,
    reviewer,
)

ONE_SEAT = """
extends = "panel"
name = "one"
description = "One reviewer."

[[panel]]
name = "critic"
"""
FIRST, SECOND = (f"[PHASE R1] burnish: review, round {number} of at most 5" for number in (1, 2))
PASSED = "burnish: the review passed"


def test_review_fix_review_done(tmp_path: Path) -> None:
    """The short one: a panel of one."""
    script = (
        reviewer("critic", issues(), "Round: 1"),
        *panel(CLEAN),
        *fixer(FIXED + "\n\ndef third(number):\n    return number / 3\n"),
        main(1, *dispatch("critic"), when=(FIRST,)),
        main(2, *dispatch("review-fixer"), when=("[PHASE R2]",)),
        main(3, *dispatch("critic"), when=(SECOND,)),
        main(4, say="It passed.", when=(PASSED,)),
    )
    stage = SessionStage(tmp_path, {"burnish.toml": 'protocol = "./one.toml"\n', "one.toml": ONE_SEAT})
    with model_server({"loop": script}) as server:
        said = stage.claude(server, "loop", "/burnish:fix It halves numbers")
    assert said.code == 0, said.errors
    run = stage.run()
    assert (run.outcome, len(run.rounds), run.seal_kinds) == (Outcome.APPROVED, 2, (SealKind.SELF_REVIEWED,))
    assert run.tree == stage.repository.tree_of(run.commit)
    assert PASSED in said.notices
    assert stage.cards() == []
    # Nothing is committed or staged.
    assert stage.builder.git.text("log", "--format=%s", "HEAD").count("\n") == 0
    assert stage.builder.git.text("diff", "--cached", "--name-only") == ""


@pytest.mark.prove
def test_the_whole_panel(tmp_path: Path) -> None:
    script = (
        reviewer("critic", issues(), "Round: 1"),
        *panel(CLEAN),
        *fixer(FIXED + "\n\ndef third(number):\n    return number / 3\n"),
        main(1, *dispatch(*PANEL), when=(FIRST,)),
        main(2, *dispatch("review-fixer"), when=("[PHASE R2]",)),
        main(3, *dispatch(*PANEL), when=(SECOND,)),
        main(4, say="It passed.", when=(PASSED,)),
    )
    stage = SessionStage(tmp_path, {"burnish.toml": '[validate]\ntests = "grep -q / app.py"\n'})
    with model_server({"loop": script}) as server:
        said = stage.claude(server, "loop", "/burnish:fix")
    run = stage.run()
    assert (said.code, run.outcome, len(run.rounds)) == (0, Outcome.APPROVED, 2)
    state = stage.record("state.json")
    assert (state["currentPhase"], state["status"], state["sessionId"]) == ("DONE", "complete", said.session)
    assert stage.record("phases/review-1/r1-verdict.json")["overall_verdict"] == "issues_found"
    assert stage.record("phases/review-2/r1-verdict.json")["overall_verdict"] == "clean"
    assert (stage.root / ".agents/tmp/phases/review-1/r2-fix-summary.md").is_file()


@pytest.mark.prove
def test_stopped_after_five_rounds(tmp_path: Path) -> None:
    rounds = range(1, 6)
    script = (
        *(reviewer("critic", issues(f"Problem {number}."), f"Round: {number}\n") for number in rounds),
        *panel(CLEAN),
        *(step for number in rounds for step in fixer(f"{BROKEN}# {number}\n", f"Round: {number}\n")),
        *(main(2 * number - 1, *dispatch("critic"), when=(f"round {number} of at most 5",)) for number in rounds),
        *(main(2 * number, *dispatch("review-fixer"), when=("[PHASE R2]",)) for number in range(1, 5)),
        main(10, say="It did not pass.", when=("burnish: the review did not pass",)),
    )
    stage = SessionStage(tmp_path, {"burnish.toml": 'protocol = "./one.toml"\n', "one.toml": ONE_SEAT})
    with model_server({"loop": script}) as server:
        said = stage.claude(server, "loop", "/burnish:fix")
    run = stage.run()
    assert (said.code, run.outcome, len(run.rounds)) == (0, Outcome.STOPPED, 5), said.notices
    assert "the review did not pass: stopped" in said.notices
    assert stage.cards() == []
    assert run.seal == ""


@pytest.mark.prove
def test_a_reviewer_that_never_answers_is_asked_twice_more_and_then_the_run_did_not_run(tmp_path: Path) -> None:
    script = (
        reviewer("pedant", "I would rather not say."),
        *panel(CLEAN),
        main(1, *dispatch(*PANEL), when=(FIRST,)),
        main(2, *dispatch("pedant")),
        main(3, *dispatch("pedant")),
        main(4, say="It did not run.", when=("burnish: the review did not pass",)),
    )
    stage = SessionStage(tmp_path)
    with model_server({"loop": script}) as server:
        said = stage.claude(server, "loop", "/burnish:fix")
    run = stage.run()
    assert (said.code, run.outcome, run.seal) == (0, Outcome.DID_NOT_RUN, "")
    assert "pedant" in said.notices
    assert stage.events(run.id).count("WorkFailed") == 3


@pytest.mark.prove
def test_a_session_that_never_starts_its_reviewers_is_stopped_by_no_cap_of_the_client(tmp_path: Path) -> None:
    script = (ModelAnswer(say="I am done."),)
    stage = SessionStage(tmp_path)
    with model_server({"loop": script}) as server:
        said = stage.claude(server, "loop", "/burnish:fix")
        asked = len(server.asked())
    assert (said.code, stage.run().outcome) == (0, Outcome.DID_NOT_RUN)
    assert "did not pass: did-not-run" in said.notices
    assert asked == 3


@pytest.mark.prove
def test_stops_of_unknown_subagents_change_nothing(tmp_path: Path) -> None:
    """Each stop is sent to burnish's hook once more, before, as the client sends those of its own helpers."""
    stage = SessionStage(tmp_path)
    other = tmp_path / "other"
    strip = r's/"agent_type":"[^"]*"/"agent_type":""/; s/"agent_transcript_path":"[^"]*"/"agent_transcript_path":""/'
    call = f"sed '{strip}' | {stage.plugin}/hooks/burnish-hook.sh hook"
    hooks = {"SubagentStop": [{"hooks": [{"type": "command", "command": call, "timeout": 60}]}]}
    for name, content in {
        ".claude-plugin/plugin.json": {"name": "other"},
        "hooks/hooks.json": {"hooks": hooks},
    }.items():
        (other / name).parent.mkdir(parents=True, exist_ok=True)
        (other / name).write_text(json.dumps(content))
    script = (*panel(CLEAN), main(1, *dispatch(*PANEL), when=(FIRST,)), main(2, say="Done.", when=(PASSED,)))
    with model_server({"loop": script}) as server:
        said = stage.claude(server, "loop", "/burnish:fix", "--plugin-dir", str(other))
    run = stage.run()
    assert (said.code, run.outcome) == (0, Outcome.APPROVED)
    assert stage.events(run.id).count("Reviewed") == 5


@pytest.mark.prove
def test_edits_and_writing_commands_are_denied_while_reviewers_look(tmp_path: Path) -> None:
    wants = "# Review this change as the critic"
    script = (
        ModelAnswer(turn=1, when=(wants,), call=(NamedTool(name="Read", input='{"file_path": "app.py"}'),)),
        ModelAnswer(turn=2, when=(wants,), call=(command("echo x > new.txt"), command("git diff --stat; ls"))),
        ModelAnswer(turn=3, when=(wants,), call=(Write(file="app.py", text="changed"),)),
        *panel(CLEAN),
        main(1, Write(file="other.txt", text="no"), *dispatch("general-purpose"), when=(FIRST,)),
        main(2, *dispatch(*PANEL)),
        main(3, say="Done.", when=(PASSED,)),
    )
    stage = SessionStage(tmp_path)
    with model_server({"loop": script}) as server:
        said = stage.claude(server, "loop", "/burnish:fix")
    assert (said.code, stage.run().outcome) == (0, Outcome.APPROVED)
    assert not (stage.root / "new.txt").exists()
    assert not (stage.root / "other.txt").exists()
    assert (stage.root / "app.py").read_text() == BROKEN
    assert said.results.count("[PHASE R1] Reviewers look at the tree as it is") == 3
    assert "is not wanted now. Wanted: burnish:critic" in said.results


@pytest.mark.prove
def test_a_crash_between_the_phases_is_resumed_in_a_new_session(tmp_path: Path) -> None:
    """The first session is killed when it is told to fix; a second one goes on with the fix."""
    crash = (
        reviewer("critic", issues(), "Round: 1"),
        *panel(CLEAN),
        main(1, *dispatch(*PANEL), when=(FIRST,)),
        ModelAnswer(turn=2, when=("[PHASE R2]",), fault=Fault.HANG),
    )
    go_on = (
        *panel(CLEAN),
        *fixer(FIXED + "\n\ndef third(number):\n    return number / 3\n"),
        main(1, *dispatch("review-fixer"), when=("[PHASE R2]",)),
        main(2, *dispatch(*PANEL), when=(SECOND,)),
        main(3, say="Done.", when=(PASSED,)),
    )
    stage = SessionStage(tmp_path)
    with model_server({"crash": crash, "go-on": go_on}) as server:
        first = stage.popen(server, "crash", "/burnish:fix")
        assert server.wait_for(7, seconds=300)
        stage.kill(first)
        assert stage.run().outcome is None
        assert len(stage.cards()) == 1
        said = stage.claude(server, "go-on", "/burnish:fix")
    run = stage.run()
    assert (said.code, run.outcome, len(run.rounds)) == (0, Outcome.APPROVED, 2)
    assert f"left {run.id} unfinished" in json.dumps(said.records)
    # No review of the first round was made again.
    assert stage.events(run.id).count("Reviewed") == 10
    assert stage.cards() == []


@pytest.mark.prove
def test_two_sessions_do_not_review_one_branch(tmp_path: Path) -> None:
    waits = (*panel(CLEAN), ModelAnswer(turn=1, when=(FIRST,), fault=Fault.HANG))
    stage = SessionStage(tmp_path)
    with model_server({"waits": waits}) as server:
        first = stage.popen(server, "waits", "/burnish:fix")
        try:
            assert server.wait_for(1, seconds=300)
            said = stage.claude(server, "waits", "/burnish:fix")
            asked = len(server.asked())
        finally:
            stage.kill(first)
    assert "is under review in another session" in json.dumps(said.records)
    assert asked == 1  # nothing was asked of the model
    assert len(stage.runs()) == 1


@pytest.mark.prove
def test_subagents_that_the_session_starts_in_the_background_are_waited_for(tmp_path: Path) -> None:
    script = (
        *panel(CLEAN),
        main(1, *dispatch(*PANEL, run_in_background=True), when=(FIRST,)),
        main(2, say="Done.", when=(PASSED,)),
    )
    stage = SessionStage(tmp_path)
    with model_server({"loop": script}) as server:
        said = stage.claude(server, "loop", "/burnish:fix")
    run = stage.run()
    assert (said.code, run.outcome) == (0, Outcome.APPROVED)
    assert (stage.events(run.id).count("Reviewed"), stage.events(run.id).count("WorkFailed")) == (5, 0)


@pytest.mark.prove
def test_the_default_protocol(tmp_path: Path) -> None:
    """burnish's own checks run in the hook; then a subagent reviews, once more with fresh eyes after the fix."""
    finds = ("# Review this change\n",)
    script = (
        ModelAnswer(when=(*finds, "Round: 1"), say=issues(severity="critical")),
        ModelAnswer(when=finds, say=CLEAN),
        *fixer(FIXED + '\n\ndef third(number):\n    """A third of it."""\n    return number * (1 / 3)\n'),
        main(1, *dispatch("code-review"), when=("round 1 of at most 3",)),
        main(2, *dispatch("review-fixer"), when=("[PHASE R2]",)),
        main(3, *dispatch("code-review"), when=("round 2 of at most 3",)),
        main(4, *dispatch("code-review"), when=("round 3 of at most 3",)),
        main(5, say="It passed.", when=(PASSED,)),
    )
    stage = SessionStage(tmp_path)
    with model_server({"loop": script}) as server:
        said = stage.claude(server, "loop", "/burnish:fix --protocol default")
    run = stage.run()
    assert (said.code, run.outcome, len(run.rounds)) == (0, Outcome.APPROVED, 3), said.notices
    assert PASSED in said.notices
    assert stage.cards() == []
