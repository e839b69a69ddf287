"""Every call that a client can send, whole and bent, to a hook of its own process, in every state that it can meet."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.plugin.calls import call, samples
from tests.plugin.session import issues
from tests.plugin.simulated import SimulatedSession
from tests.plugin.test_hooks import HOOK

DEAD = 4_194_303
"""No process has this number: it is above what the kernel gives out."""


def reviewing(user: Path) -> SimulatedSession:
    session = SimulatedSession(user)
    session.type("/burnish:fix")
    return session


def fixing(user: Path) -> SimulatedSession:
    session = reviewing(user)
    for work in (session.card() or {})["work"]:
        session.subagent(work, lambda _: issues())
    return session


def of_a_dead_owner(user: Path) -> SimulatedSession:
    session = reviewing(user)
    owner = next(session.root.glob(".git/burnish/runs/*/session/owner.json"))
    told = json.loads(owner.read_text())
    told["owner"]["process"]["pid"] = DEAD
    owner.write_text(json.dumps(told))
    return session


def with_a_broken_card(user: Path) -> SimulatedSession:
    session = reviewing(user)
    session.card_path.write_text(session.card_path.read_text()[:-40])
    return session


def with_a_bent_card(user: Path) -> SimulatedSession:
    session = reviewing(user)
    card = session.card() or {}
    session.card_path.write_text(json.dumps({**card, "work": [7], "asking": "x", "version": "many"}))
    return session


def with_a_broken_ledger(user: Path) -> SimulatedSession:
    session = reviewing(user)
    for file in session.root.glob(".git/burnish/ledger.db*"):
        file.write_bytes(b"no database" * 500)
    return session


def without_a_ledger(user: Path) -> SimulatedSession:
    session = reviewing(user)
    (session.root / ".git/burnish").rename(user / "gone")
    return session


def without_a_place_to_write(user: Path) -> SimulatedSession:
    session = reviewing(user)
    lock = session.card_path.with_name("lock")
    lock.unlink()
    lock.mkdir()
    return session


STATES: dict[str, Callable[[Path], SimulatedSession]] = {
    "no review": SimulatedSession,
    "reviewing": reviewing,
    "fixing": fixing,
    "a dead owner": of_a_dead_owner,
    "a broken card": with_a_broken_card,
    "a bent card": with_a_bent_card,
    "a broken ledger": with_a_broken_ledger,
    "no ledger": without_a_ledger,
    "no place to write": without_a_place_to_write,
}
CLOSED = frozenset(STATES) - {"no review", "fixing"}
"""In which edits and commands that write are denied."""
BROKEN = ("a broken card", "a broken ledger", "no ledger", "no place to write")
"""A bent card is not among them: it is made anew when the session starts."""
HOSTILE = ("\0", "../../../../etc/passwd", "$(touch made)", "\u202e" * 50, "\ud800", "x" * 300_000)


def bent(known: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, bytes]]:
    """Calls that no client should send: fields that are missing, of another kind, hostile or huge; noise."""
    for name, sent in known.items():
        for key in sent:
            if key not in ("session_id", "hook_event_name", "tool_name"):
                yield f"{name} without {key}", _raw({one: sent[one] for one in sent if one != key})
                yield f"{name} with a number for {key}", _raw({**sent, key: 7})
        for number, text in enumerate(HOSTILE):
            given = {**sent.get("tool_input", {}), "note": text}
            yield f"{name} with hostile text {number}", _raw({**sent, "tool_input": given, "prompt": text})
        yield f"{name}, not in UTF-8", _raw(sent)[:-1] + b', "more": "\xff\xfe"}'
    yield "an unknown event", _raw(call("SomethingNew", "/", more=1))
    yield "an unknown session", _raw({**call("Stop", "/"), "session_id": "../x"})
    yield "no session", b'{"hook_event_name": "Stop"}'


def _raw(sent: Mapping[str, Any]) -> bytes:
    return json.dumps(sent).encode()


def answered(sent: bytes, environment: Mapping[str, str]) -> dict[str, Any]:
    """What the process says: nothing, or one object. It never fails, and writes no traceback."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK)],
        input=sent,
        env=environment,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b""), done.stderr
    return json.loads(done.stdout) if done.stdout else {}


def decision(answer: Mapping[str, Any]) -> str:
    return answer.get("hookSpecificOutput", {}).get("permissionDecision", "")


@pytest.mark.prove
@pytest.mark.parametrize("state", STATES)
def test_every_call_in_every_state(user: Path, state: str) -> None:
    session = STATES[state](user)
    for name, sent in samples(str(session.root)).items():
        answer = answered(_raw(sent), os.environ)
        if name.startswith("denied"):
            expected = ("deny",) if state in CLOSED or (state == "fixing" and name in _AGENTS) else ("",)
            assert decision(answer) in expected, (name, answer)
        if name == "stop" and state in BROKEN:
            assert "decision" not in answer, answer
            assert "burnish" in answer["systemMessage"]
    _ends(session)


_AGENTS = ("denied subagent", "denied task")


def _ends(session: SimulatedSession) -> None:
    """Whatever came: a session that only stops is let go, and the person can end the review."""
    stop = _raw(call("Stop", str(session.root), background_tasks=[]))
    blocks = [answered(stop, os.environ).get("decision") for _ in range(5)]
    assert blocks.count("block") <= 2
    answered(_raw(call("UserPromptSubmit", str(session.root), prompt="/burnish:stop")), os.environ)
    assert not session.card_path.exists()


@pytest.mark.prove
def test_bent_calls_in_a_review(user: Path) -> None:
    session = reviewing(user)
    # The process that owns the session is this one from here on.
    answered(_raw(call("SessionStart", str(session.root), source="resume")), os.environ)
    before = session.run().version
    known = {name: sent for name, sent in samples(str(session.root)).items() if name != "stop"}
    with ThreadPoolExecutor(2) as pool:
        jobs = [(name, pool.submit(answered, sent, os.environ)) for name, sent in bent(known)]
    for name, job in jobs:
        assert decision(job.result()) != "allow", name
        if name.startswith("denied") and "tool_input" not in name and "hostile" not in name:
            assert decision(job.result()) == "deny", name
    assert session.run().version == before
    assert not (session.root / "made").exists()


@pytest.mark.parametrize("name", ["denied edit", "stop", "subagent stop", "prompt"])
def test_without_a_home_a_hook_has_nothing_to_do(user: Path, name: str) -> None:
    session = SimulatedSession(user)
    assert answered(_raw(samples(str(session.root))[name]), {"PATH": os.environ["PATH"]}) == {}


def test_without_a_home_a_review_is_refused(user: Path) -> None:
    session = SimulatedSession(user)
    sent = _raw(call("UserPromptSubmit", str(session.root), prompt="/burnish:fix"))
    said = answered(sent, {"PATH": os.environ["PATH"]})
    assert said["decision"] == "block"
    assert "HOME" in said["reason"]


@pytest.mark.parametrize("state", ["a broken ledger", "a broken card", "no place to write"])
def test_what_is_broken_denies_edits_and_lets_the_session_stop(user: Path, state: str) -> None:
    session = STATES[state](user)
    known = samples(str(session.root))
    assert decision(answered(_raw(known["denied edit"]), os.environ)) == "deny"
    said = answered(_raw(known["stop"]), os.environ)
    assert ("decision" in said, "burnish" in said["systemMessage"]) == (False, True)


def test_a_bent_card_denies_edits_and_is_made_anew_at_a_stop(user: Path) -> None:
    session = with_a_bent_card(user)
    known = samples(str(session.root))
    assert decision(answered(_raw(known["denied edit"]), os.environ)) == "deny"
    assert "[PHASE R1]" in answered(_raw(known["stop"]), os.environ)["reason"]
    assert len((session.card() or {})["work"]) == 5
