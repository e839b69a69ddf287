"""A scripted agent as a real process: what is said, what is asked, and what comes of it."""

import pytest

from burnish.agents.acp import AGENT as ACP
from burnish.agents.interface import Reply, Role
from burnish.core.reviews import Failure, FailureKind
from burnish.testing.acp_agent import (
    SESSION,
    AcpScript,
    Act,
    ClientRequest,
    Exit,
    GuardedToolUse,
    Raw,
    Say,
    ToolUse,
    Update,
)
from tests.agents.acp.harness import Stage

MODES = {
    "modes": {
        "currentModeId": "auto",
        "availableModes": [{"id": "auto", "name": "Auto"}, {"id": "read-only", "name": "Read only"}],
    }
}
OPTIONS = {
    "configOptions": [
        {
            "id": "mode",
            "name": "Mode",
            "category": "mode",
            "type": "select",
            "currentValue": "build",
            "options": [
                {"value": "build", "name": "Build"},
                {"value": "plan", "name": "Plan", "description": "Reads."},
            ],
        },
        {
            "id": "model",
            "name": "Model",
            "category": "model",
            "type": "select",
            "currentValue": "small",
            "options": [{"group": "g", "name": "All", "options": [{"value": "small"}, {"value": "large"}]}],
        },
    ]
}


def answered(found: Reply | Failure) -> str:
    assert isinstance(found, Reply), found
    return found.text.decode()


def test_the_prompt_reaches_the_agent_and_its_answer_comes_back(stage: Stage) -> None:
    prompt = "Check this: " + "ä" * 300_000
    assert answered(stage.play(AcpScript(acts=(Say(text="All "), Say(text="clean."))), prompt=prompt)) == "All clean."
    assert stage.told("session/prompt") == [{"sessionId": SESSION, "prompt": [{"type": "text", "text": prompt}]}]
    assert stage.told("session/new") == [{"cwd": str(stage.clone), "mcpServers": []}]


@pytest.mark.parametrize(
    "acts",
    [
        (Say(text="Let me see."), ToolUse(title="cat", kind="read"), Say(text="Clean.")),
        (Say(text="Let me see.", id="1"), Say(text="Clean.", id="2")),
        (Say(text="Let me see."), GuardedToolUse(title="Read", kind="read"), Say(text="Clean.")),
        (Say(text="Clean."), Say(text="Bad.", session="a subagent")),
        (Say(text="Clean."), Update(update={"sessionUpdate": "agent_thought_chunk", "content": {"text": "Hm."}})),
        (Say(text="Clean."), Update(update={"sessionUpdate": "not-known-yet"})),
    ],
    ids=["tool", "message-id", "permission", "other-session", "thought", "unknown"],
)
def test_only_the_last_message_is_the_answer(stage: Stage, acts: tuple[Act, ...]) -> None:
    assert answered(stage.play(AcpScript(acts=acts))) == "Clean."


def test_an_agent_that_says_nothing_at_the_end_has_no_answer(stage: Stage) -> None:
    found = stage.play(AcpScript(acts=(Say(text="I look."), ToolUse(title="cat"))))
    assert isinstance(found, Failure)
    assert found.kind is FailureKind.UNREADABLE


def test_what_the_agent_does_is_told_while_it_does_it(stage: Stage) -> None:
    told: list[str] = []
    acts = (
        Say(text="I look."),
        ToolUse(title="cat app.py"),
        GuardedToolUse(title="rm app.py", kind="delete"),
        Say(text="No."),
    )
    settings = stage.settings(AcpScript(acts=acts))
    stage.run(settings, stage.request(), lines=lambda line: told.append(ACP.progress(line)))
    assert "cat app.py" in told
    assert "asks to rm app.py: denied" in told


LOOKING = {"read": True, "search": True}
NOT_LOOKING = dict.fromkeys(("edit", "delete", "execute", "fetch", "switch_mode", "not-known-yet"), False)


@pytest.mark.parametrize("scratch", [False, True])
def test_a_reviewer_may_look_and_with_a_scratch_copy_run(stage: Stage, scratch: bool) -> None:
    allowed = {**LOOKING, **NOT_LOOKING, **({"execute": True} if scratch else {})}
    acts = tuple(GuardedToolUse(title="x", kind=kind) for kind in allowed)
    stage.play(AcpScript(acts=(*acts, Say(text="Clean."))), scratch=str(stage.folder) if scratch else "")
    chosen = [answer["result"]["outcome"]["optionId"] for answer in stage.answers()]
    assert chosen == ["option-allow_once" if yes else "option-reject_once" for yes in allowed.values()]


def test_a_reviewer_may_look_at_the_repository_only(stage: Stage) -> None:
    (stage.clone / "out").symlink_to("/etc")
    (stage.clone / "inside").symlink_to("app.py")
    (stage.clone / "loop").symlink_to("loop")
    allowed = {"app.py": True, str(stage.clone): True, "inside": True, "missing.py": True}
    allowed |= dict.fromkeys(("/etc/passwd", "../home", "out/passwd", "out", "a\0b"), False)
    acts = tuple(GuardedToolUse(title="x", kind="read", paths=("app.py", path)) for path in allowed)
    stage.play(AcpScript(acts=(*acts, Say(text="Clean."))))
    assert ["allow" in str(answer) for answer in stage.answers()] == list(allowed.values())


def test_what_cannot_be_refused_is_cancelled(stage: Stage) -> None:
    act = GuardedToolUse(title="x", kind="edit", offered=("allow_once", "allow_always"))
    stage.play(AcpScript(acts=(act, Say(text="Clean."))))
    assert stage.answers()[0]["result"] == {"outcome": {"outcome": "cancelled"}}


def test_a_fixer_may_write(stage: Stage) -> None:
    acts = (
        GuardedToolUse(title="Edit", kind="edit", write={"app.py": "x = 2\n"}),
        GuardedToolUse(title="Write", kind="edit", write={"new.py": "y = 1\n"}),
        Say(text="Done."),
    )
    assert answered(stage.play(AcpScript(acts=acts), role=Role.FIX, reviewer="")) == "Done."
    assert (stage.clone / "app.py").read_text() == "x = 2\n"
    assert (stage.clone / "new.py").read_text() == "y = 1\n"


@pytest.mark.parametrize("role", [Role.REVIEW, Role.FIX])
def test_nothing_is_read_or_written_for_an_agent(stage: Stage, role: Role) -> None:
    """burnish is outside of the sandbox: where it opened a file for an agent, nothing would hold that back."""
    (stage.clone / "link").symlink_to(stage.home)
    (stage.clone / ".git").mkdir()
    paths = ("app.py", "new.py", "/etc/x", "../home/x", "link/x", ".git/hooks", "a\0b", str(stage.home / "x"), ".", "")
    acts = [ClientRequest(method="fs/write_text_file", params={"path": path, "content": "x"}) for path in paths]
    acts += [ClientRequest(method="fs/read_text_file", params={"path": path}) for path in paths]
    stage.play(AcpScript(acts=(*acts, Say(text="Done."))), role=role)
    assert stage.told("initialize")[0]["clientCapabilities"] == {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
    }
    assert [answer["error"]["code"] for answer in stage.answers()] == [-32601] * len(acts)
    assert sorted(path.name for path in stage.clone.iterdir()) == [".git", "app.py", "link"]
    assert (stage.clone / "app.py").read_text().startswith("x = 1")
    assert list(stage.home.iterdir()) == []
    assert list((stage.clone / ".git").iterdir()) == []


def test_what_burnish_does_not_know_it_says_so(stage: Stage) -> None:
    acts = tuple(ClientRequest(method=method) for method in ("terminal/create", "elicitation/create", "not/known/yet"))
    assert answered(stage.play(AcpScript(acts=(*acts, Say(text="Clean."))))) == "Clean."
    assert [answer["error"]["code"] for answer in stage.answers()] == [-32601] * 3


def test_a_reviewer_is_put_into_the_mode_that_reads(stage: Stage) -> None:
    stage.play(AcpScript(acts=(Say(text="Clean."),), session=MODES))
    assert stage.told("session/set_mode") == [{"sessionId": SESSION, "modeId": "read-only"}]


def test_a_reviewer_is_put_into_it_by_the_newer_way_where_there_is_one(stage: Stage) -> None:
    stage.play(AcpScript(acts=(Say(text="Clean."),), session={**MODES, **OPTIONS}), model="large")
    chosen = [(told["configId"], told["value"]) for told in stage.told("session/set_config_option")]
    assert chosen == [("model", "large"), ("mode", "plan")]
    assert stage.told("session/set_mode") == []


def test_a_fixer_keeps_its_mode(stage: Stage) -> None:
    stage.play(AcpScript(acts=(Say(text="Done."),), session=MODES), role=Role.FIX)
    assert stage.told("session/set_mode") == []


def test_costs_are_counted_where_they_are_told(stage: Stage) -> None:
    cost = {"sessionUpdate": "usage_update", "used": 5, "size": 9, "cost": {"amount": 0.25, "currency": "USD"}}
    usage = {"totalTokens": 150, "inputTokens": 80, "cachedReadTokens": 20, "outputTokens": 30, "thoughtTokens": 20}
    found = stage.play(AcpScript(acts=(Update(update=cost), Say(text="Clean.")), usage=usage))
    assert isinstance(found, Reply)
    assert (found.usage.tokens, found.usage.cost_usd, found.notes) == (150, 0.25, ())


def test_it_is_said_where_they_are_not(stage: Stage) -> None:
    cost = {"sessionUpdate": "usage_update", "used": 5, "size": 9, "cost": {"amount": 0.25, "currency": "EUR"}}
    found = stage.play(AcpScript(acts=(Update(update=cost), Say(text="Clean."))))
    assert isinstance(found, Reply)
    assert (found.usage.tokens, found.usage.cost_usd) == (0, 0.0)
    assert "does not report" in found.notes[0]


def test_an_agent_may_leave_at_once_when_it_is_done(stage: Stage) -> None:
    """Its last words are still in the pipe when it is gone, and a child of it holds the pipe open."""
    last = '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}\n'
    acts = (Say(text="Clean."), ToolUse(title="x"), Say(text="Clean."))
    found = stage.play(AcpScript(acts=(*acts, Raw(text=last), Exit(code=0, child=True))))
    assert answered(found) == "Clean."
