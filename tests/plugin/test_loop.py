"""Whole loops: the real client drives them, with nothing but its hooks."""

from pathlib import Path

from burnish.core.events import Outcome
from burnish.core.state import SealKind
from burnish.testing.model_server.server import model_server
from tests.plugin.session import CLEAN, FIXED, PANEL, SessionStage, dispatch, fixer, issues, main, panel, reviewer


def test_review_fix_review_done(tmp_path: Path) -> None:
    script = (
        reviewer("critic", issues(), "Round: 1"),
        *panel(CLEAN),
        *fixer(FIXED + "\n\ndef third(number):\n    return number / 3\n"),
        main(1, *dispatch(*PANEL), when=("[PHASE R1] burnish: review, round 1 of at most 5",)),
        main(2, *dispatch("review-fixer"), when=("[PHASE R2]",)),
        main(3, *dispatch(*PANEL), when=("[PHASE R1] burnish: review, round 2 of at most 5",)),
        main(4, say="It passed.", when=("burnish: the review passed",)),
    )
    stage = SessionStage(tmp_path)
    with model_server({"loop": script}) as server:
        said = stage.claude(server, "loop", "/burnish:fix It halves numbers")
    assert said.code == 0, said.errors
    run = stage.run()
    assert (run.outcome, len(run.rounds), run.seal_kinds) == (Outcome.APPROVED, 2, (SealKind.SELF_REVIEWED,))
    assert run.tree == stage.repository.tree_of(run.commit)
    assert "burnish: the review passed" in said.notices
    assert stage.record("state.json")["currentPhase"] == "DONE"
    assert stage.record("phases/review-1/r1-verdict.json")["overall_verdict"] == "issues_found"
    assert stage.cards() == []
    # Nothing is committed or staged, and only the fixer has written.
    assert stage.builder.git.text("log", "--format=%s", "--all").count("\n") == 0
    assert stage.builder.git.text("diff", "--cached", "--name-only") == ""
