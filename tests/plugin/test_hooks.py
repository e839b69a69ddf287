"""What the hook program answers: to each kind of call, to garbage, and when things go wrong."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import burnish.plugin
from burnish.core.events import Outcome
from burnish.plugin import hook
from burnish.plugin.gates import seat_line
from burnish.plugin.instructions import write_card
from burnish.testing.repositories import RepositoryBuilder
from burnish.usecases.session_owners import owner_of
from burnish.usecases.session_review import SessionRequest, Standing, look, standing, start_review
from tests.plugin.calls import SESSION, call, samples, tool
from tests.plugin.session import BROKEN, CLEAN, FIXED, PANEL, issues

HOOK = Path(burnish.plugin.__file__).with_name("hook.py")


class Place:
    """A project with uncommitted work, a user, and a session that may have begun a review."""

    def __init__(self, folder: Path) -> None:
        self.builder = RepositoryBuilder(folder / "project").commit({"app.py": FIXED}).write({"app.py": BROKEN})
        self.root = self.builder.path
        self.environment = {**os.environ, "HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")}
        self.environment["CLAUDE_PLUGIN_ROOT"] = "/plugin"

    def start(self, session: str = SESSION) -> Standing:
        begun = start_review(self.root, owner_of(session), SessionRequest(), self.environment)
        write_card(begun, owner_of(session), self.environment, told=True)
        return begun

    def answer(self, sent: Mapping[str, Any] | bytes) -> dict[str, Any]:
        data = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
        said = hook.answer_to(data, {os.fsencode(name): os.fsencode(text) for name, text in self.environment.items()})
        return json.loads(said) if said else {}

    def card(self, session: str = SESSION) -> Path:
        return Path(self.environment["XDG_STATE_HOME"]) / "burnish/sessions" / f"{session}.json"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    found = Place(tmp_path)
    for name in ("HOME", "XDG_STATE_HOME", "CLAUDE_PLUGIN_ROOT"):
        monkeypatch.setenv(name, found.environment[name])
    return found


def denied(answer: Mapping[str, Any]) -> str:
    """Why a call is denied; empty where it is not."""
    said = answer.get("hookSpecificOutput", {})
    return said.get("permissionDecisionReason", "") if said.get("permissionDecision") == "deny" else ""


def test_without_a_review_no_call_is_answered(place: Place) -> None:
    assert {name: place.answer(sent) for name, sent in samples(str(place.root)).items()} == {
        name: {} for name in samples("")
    }


def test_every_kind_of_call_in_a_review(place: Place) -> None:
    begun = place.start()
    for name, sent in samples(str(place.root)).items():
        if name == "stop":
            continue
        answer = place.answer(sent)
        assert bool(denied(answer)) == name.startswith("denied"), (name, answer)
        if denied(answer):
            assert "[PHASE R1]" in denied(answer)
            assert "/burnish:stop" in denied(answer)
    # What came from subagents that are none of ours changed nothing.
    assert standing(place.root, begun.run, place.environment, session=SESSION).version == begun.version


@pytest.mark.prove
def test_a_review_of_one_session_is_no_matter_for_another(place: Place) -> None:
    place.start()
    other = tool("PreToolUse", "Edit", {"file_path": "app.py"}, str(place.root), session_id="another-session")
    assert place.answer(other) == {}


def test_a_subagent_of_the_phase_gets_the_prompt_that_burnish_wrote(place: Place) -> None:
    begun = place.start()
    sent = {"description": "critic", "prompt": "x", "subagent_type": "burnish:critic", "run_in_background": True}
    said = place.answer(tool("PreToolUse", "Agent", sent, str(place.root)))["hookSpecificOutput"]
    work = next(one for one in begun.wanted if one.seat == "critic")
    assert said["permissionDecision"] == "allow"
    assert said["updatedInput"] == {
        **sent,
        "prompt": f"{work.prompt}\n{seat_line(work.token)}\n",
        "run_in_background": False,
    }


def transcript_for(folder: Path, prompt: str, said: str) -> Path:
    path = folder / "agent.jsonl"
    records = [
        {"type": "user", "message": {"role": "user", "content": prompt}},
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": said}]}},
    ]
    path.write_text("\n".join(map(json.dumps, records)))
    return path


def stopped(place: Place, folder: Path, seat: str, said: str, begun: Standing, **more: Any) -> dict[str, Any]:
    """A reviewer's subagent ends."""
    work = next(one for one in begun.wanted if one.seat == seat)
    path = transcript_for(folder, f"{work.prompt}\n{seat_line(work.token)}\n", said)
    sent = call("SubagentStop", str(place.root), agent_type=f"burnish:{seat}", agent_transcript_path=str(path))
    return place.answer({**sent, "last_assistant_message": said, "stop_hook_active": False, **more})


def test_the_answers_of_a_panel_lead_to_the_end_which_is_said_aloud(place: Place, tmp_path: Path) -> None:
    begun = place.start()
    for seat in PANEL:
        assert stopped(place, tmp_path, seat, CLEAN, begun) == {}
    after = tool("PostToolUse", "Agent", {"subagent_type": "burnish:critic"}, str(place.root), tool_response={})
    told = place.answer(after)
    assert "burnish: the review passed" in told["hookSpecificOutput"]["additionalContext"]
    assert place.answer(after) == {}  # once
    assert "burnish: the review passed" in place.answer(call("Stop", str(place.root)))["systemMessage"]
    assert not place.card().exists()
    assert place.answer(call("Stop", str(place.root))) == {}


def test_an_unreadable_answer_is_repaired_by_the_same_subagent_once(place: Place, tmp_path: Path) -> None:
    begun = place.start()
    first = stopped(place, tmp_path, "critic", "I think it is fine.", begun)
    assert first["decision"] == "block"
    assert "could not be read" in first["reason"]
    assert stopped(place, tmp_path, "critic", "Really.", begun, stop_hook_active=True) == {}
    now = standing(place.root, begun.run, place.environment, session=SESSION)
    assert {work.seat: work.attempt for work in now.wanted} == {**dict.fromkeys(PANEL, 1), "critic": 2}
    # The subagent of the first attempt speaks no more for its seat.
    assert stopped(place, tmp_path, "critic", CLEAN, begun) == {}
    assert standing(place.root, begun.run, place.environment, session=SESSION).answered == ()


def test_a_stop_asks_again_twice_and_then_lets_the_session_go(place: Place) -> None:
    begun = place.start()
    stop = call("Stop", str(place.root), stop_hook_active=True)
    for _ in range(2):
        answer = place.answer(stop)
        assert answer["decision"] == "block"
        assert answer["reason"].startswith("[PHASE R1] burnish: review, round 1")
    last = place.answer(stop)
    assert "decision" not in last
    assert "did not pass: did-not-run" in last["systemMessage"]
    assert "did-not-run" in look(place.root, begun.run) or "STOPPED" in look(place.root, begun.run)


@pytest.mark.prove
def test_a_stop_finds_what_no_hook_brought(place: Place, tmp_path: Path) -> None:
    begun = place.start()
    folder = tmp_path / "client" / "subagents"
    folder.mkdir(parents=True)
    for work in begun.wanted:
        path = transcript_for(folder, f"{work.prompt}\n{seat_line(work.token)}\n", CLEAN)
        path.rename(folder / f"agent-{work.seat}.jsonl")
    stop = call("Stop", str(place.root), transcript_path=str(folder.parent) + ".jsonl")
    assert "burnish: the review passed" in place.answer(stop)["systemMessage"]


@pytest.mark.prove
def test_what_a_tool_brings_back_counts_where_no_stop_was_told(place: Place) -> None:
    begun = place.start()
    work = begun.wanted[0]
    response = {
        "status": "completed",
        "prompt": f"{work.prompt}\n{seat_line(work.token)}\n",
        "agentId": "a1",
        "content": [{"type": "text", "text": issues()}],
    }
    sent = tool("PostToolUse", "Agent", {"subagent_type": "burnish:critic"}, str(place.root), tool_response=response)
    assert place.answer(sent) == {}
    assert standing(place.root, begun.run, place.environment, session=SESSION).answered == (work.seat,)


def test_a_change_of_the_tree_voids_the_round(place: Place, tmp_path: Path) -> None:
    begun = place.start()
    for seat in PANEL[:-1]:
        stopped(place, tmp_path, seat, CLEAN, begun)
    place.builder.write({"sneaked.py": "x = 1\n"})
    stopped(place, tmp_path, PANEL[-1], CLEAN, begun)
    now = standing(place.root, begun.run, place.environment, session=SESSION)
    assert {work.attempt for work in now.wanted} == {2}
    assert len(now.wanted) == 5
    assert "sneaked.py" in now.wanted[0].prompt


def test_edits_beside_the_project_and_in_the_folder_of_records_are_free(place: Place, tmp_path: Path) -> None:
    place.start()

    def edit(path: str) -> bool:
        return bool(denied(place.answer(tool("PreToolUse", "Write", {"file_path": path}, str(place.root)))))

    assert not edit(f"{place.root}/.agents/notes.md")
    assert not edit(str(tmp_path / "elsewhere.txt"))
    assert edit(f"{place.root}/.agents/../app.py")
    assert edit(f"{place.root}/.git/burnish/ledger.db")
    assert edit(str(place.card()))
    (tmp_path / "link").symlink_to(place.root / "app.py")
    assert edit(str(tmp_path / "link"))


def test_in_the_second_phase_the_fixer_may_write_and_no_reviewer_starts(place: Place, tmp_path: Path) -> None:
    begun = place.start()
    stopped(place, tmp_path, "critic", issues(), begun)
    for seat in PANEL[1:]:
        stopped(place, tmp_path, seat, CLEAN, begun)
    assert place.answer(tool("PreToolUse", "Edit", {"file_path": "app.py"}, str(place.root))) == {}
    assert place.answer(tool("PreToolUse", "Bash", {"command": "make build"}, str(place.root))) == {}
    critic = tool("PreToolUse", "Agent", {"subagent_type": "burnish:critic"}, str(place.root))
    assert "Wanted: burnish:review-fixer" in denied(place.answer(critic))
    fixer = tool("PreToolUse", "Agent", {"subagent_type": "burnish:review-fixer", "prompt": ""}, str(place.root))
    assert "# Fix this change" in place.answer(fixer)["hookSpecificOutput"]["updatedInput"]["prompt"]


def test_commands_of_the_user(place: Place) -> None:
    def typed(text: str) -> dict[str, Any]:
        return place.answer(call("UserPromptSubmit", str(place.root), prompt=text))

    assert "no review under way" in typed("/burnish:status")["reason"]
    assert "does not know --fast" in typed("/burnish:fix --fast")["reason"]
    begun = typed("/burnish:fix --max-rounds 2 halve numbers")["hookSpecificOutput"]["additionalContext"]
    assert begun.startswith("[PHASE R1] burnish: review, round 1 of at most 2")
    assert begun == typed("/burnish:fix")["hookSpecificOutput"]["additionalContext"]  # the same review goes on
    assert "critic: missing" in typed("/burnish:status")["reason"]
    assert "is not a choice" in typed("/burnish:decide a")["reason"]
    assert "[PHASE R1]" in typed("What is going on?")["hookSpecificOutput"]["additionalContext"]
    assert f"did not pass: {Outcome.CANCELLED.value}" in typed("/burnish:stop")["reason"]
    assert not place.card().exists()
    assert typed("What is going on?") == {}


@pytest.mark.prove
def test_a_compacted_session_is_told_again(place: Place) -> None:
    place.start()
    told = place.answer(call("SessionStart", str(place.root), source="compact"))
    assert told["hookSpecificOutput"]["additionalContext"].startswith("[PHASE R1]")


def test_a_card_that_cannot_be_read_denies_and_can_be_got_rid_of(place: Place) -> None:
    place.start()
    place.card().write_text("{")
    assert "/burnish:stop" in denied(place.answer(tool("PreToolUse", "Edit", {"file_path": "a"}, str(place.root))))
    assert "/burnish:stop" in place.answer(call("Stop", str(place.root)))["systemMessage"]
    place.answer(call("UserPromptSubmit", str(place.root), prompt="/burnish:stop"))
    assert not place.card().exists()


_BYTES = st.binary(max_size=40)
_TEXT = st.text(alphabet="ab/.:-_ \"'\\\n\0", max_size=12)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_no_gate_opens_for_a_call_that_is_bent(place: Place, data: st.DataObject) -> None:
    """Whatever is missing from a call, or wrong in it: a denied call stays denied, and nothing crashes."""
    if not place.card().exists():
        place.start()
    known = samples(str(place.root))
    sent = dict(known[data.draw(st.sampled_from([name for name in known if name.startswith("denied")]))])
    key = data.draw(st.sampled_from([key for key in sent if key not in ("tool_name", "hook_event_name", "session_id")]))
    how = data.draw(st.sampled_from(["drop", "replace", "cut", "noise"]))
    if how == "drop":
        del sent[key]
    elif how == "replace":
        sent[key] = data.draw(_JSON)
    raw = json.dumps(sent).encode()
    if how == "cut":
        raw = raw[: data.draw(st.integers(0, len(raw) - 1))]
    elif how == "noise":
        place_of_noise = data.draw(st.integers(0, len(raw)))
        raw = raw[:place_of_noise] + data.draw(_BYTES) + raw[place_of_noise:]
    answer = place.answer(raw)
    changed_what_counts = how == "replace" and key == "tool_input"
    session_is_other = how == "noise" and SESSION.encode() not in raw
    if not (changed_what_counts or session_is_other or key == "cwd"):
        assert denied(answer), (how, key, raw)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_no_other_call_that_is_bent_crashes_or_counts(place: Place, data: st.DataObject) -> None:
    if not place.card().exists():
        place.start()
    known = samples(str(place.root))
    names = [name for name in known if not name.startswith("denied") and name != "stop"]
    sent = dict(known[data.draw(st.sampled_from(names))])
    for key in data.draw(st.lists(st.sampled_from(sorted(sent)), max_size=3)):
        if key != "session_id":
            sent[key] = data.draw(_JSON)
    answer = place.answer(sent)
    assert answer.get("hookSpecificOutput", {}).get("permissionDecision") != "allow"


@pytest.mark.parametrize("sent", [b"", b"{", b"null", b"[]", b"\xff\xfe", b"[" * 200_000, b'{"session_id":"../../x"}'])
def test_garbage_as_a_process(tmp_path: Path, sent: bytes) -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK)],
        input=sent,
        capture_output=True,
        env={"HOME": str(tmp_path)},
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_hook_that_breaks_denies(tmp_path: Path) -> None:
    """A gate that cannot read its own card's folder, or whose program is damaged, does not let anything pass."""
    package = tmp_path / "broken" / "burnish"
    (package / "plugin").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "plugin/__init__.py").write_text("")
    (package / "plugin/gates.py").write_text("raise RuntimeError\n")
    (package / "plugin/hook.py").write_text(HOOK.read_text())
    card = tmp_path / f".local/state/burnish/sessions/{SESSION}.json"
    card.parent.mkdir(parents=True)
    card.write_text("{}")
    for event, has in (("PreToolUse", "deny"), ("Stop", "systemMessage")):
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(package / "plugin/hook.py")],
            input=json.dumps(tool(event, "Edit", {"file_path": "a"})).encode(),
            capture_output=True,
            env={"HOME": str(tmp_path)},
            timeout=60,
            check=False,
        )
        assert has in json.dumps(json.loads(done.stdout))
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("event", "absent"),
    [
        ("PreToolUse", ("pathlib", "sqlite3", "msgspec")),
        ("Stop", ("msgspec", "burnish.usecases", "subprocess")),
        ("SubagentStop", ("asyncio", "importlib.resources", "burnish.agents.process", "burnish.usecases.drive_run")),
    ],
)
def test_a_hook_loads_only_what_it_needs(place: Place, tmp_path: Path, event: str, absent: tuple[str, ...]) -> None:
    begun = place.start()
    work = begun.wanted[0]
    path = transcript_for(tmp_path, f"{work.prompt}\n{seat_line(work.token)}\n", CLEAN)
    more = {"agent_type": "burnish:critic", "agent_transcript_path": str(path), "last_assistant_message": CLEAN}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-I", "-S", str(HOOK)],
        input=json.dumps(tool(event, "Edit", {"file_path": "app.py"}, str(place.root), **more)).encode(),
        capture_output=True,
        env=place.environment,
        timeout=60,
        check=False,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}
    assert "burnish.plugin.gates" in loaded
    assert not loaded & set(absent)
