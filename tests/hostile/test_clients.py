"""Real clients that are talked into breaking out: nothing that their model asks for gets them further than they may."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.agents.interface import Role
from burnish.agents.registry import clients
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from burnish.system import landlock
from burnish.system.sandbox import SandboxKind, why_not
from tests.hostile.clients import (
    ALLOWED,
    AS_FIXER,
    AS_REVIEWER,
    ATTEMPTS,
    PATH,
    SECRET,
    UNSEEN,
    WIRING,
    Client,
    become,
    make_client,
)
from tests.hostile.scene import content

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="optional: there is no sandbox but on Linux")

NOBODY = 65534
KINDS = (AgentKind.CLAUDE, AgentKind.CODEX)
LANDLOCK_LACKS = {"change_mode", "change_times"}


@pytest.fixture(params=["ourselves", pytest.param("nobody", marks=pytest.mark.prove)])
def user(request: pytest.FixtureRequest) -> int:
    if request.param == "ourselves":
        return os.getuid()
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("optional: only root with setpriv can become another user")
    return NOBODY


@pytest.fixture(params=KINDS, ids=lambda kind: kind.value)
def client(request: pytest.FixtureRequest, user: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """Not below the folder of the other tests, which no other user may enter."""
    kind: AgentKind = request.param
    program = clients()[kind].program(AgentSettings(kind=kind), os.environ)
    if program is None:
        pytest.skip(f"optional: {kind.value} is not installed")
    environment = {"TOKEN": SECRET, "PATH": PATH}
    with (
        tempfile.TemporaryDirectory(prefix="burnish-clients-") as name,
        subprocess.Popen(become(user, "sleep", "300"), env=environment) as outsider,
    ):
        monkeypatch.setenv("HOME", str(Path(name) / "user"))
        Path(name).chmod(0o755)
        yield make_client(Path(name), kind, Path(program).resolve(), user, outsider.pid)
        outsider.kill()


@pytest.fixture(
    params=[SandboxKind.BUBBLEWRAP, pytest.param(SandboxKind.LANDLOCK, marks=pytest.mark.prove)],
    ids=lambda kind: kind.value,
)
def kind(request: pytest.FixtureRequest) -> SandboxKind:
    if reason := why_not(request.param):
        pytest.skip(f"optional: {reason}")
    return request.param


def lacking(kind: SandboxKind) -> set[str]:
    """What seems to get through, or does, as docs/security.md says."""
    if kind is SandboxKind.BUBBLEWRAP:
        return set(UNSEEN)
    return LANDLOCK_LACKS if landlock.abi() >= 6 else {*LANDLOCK_LACKS, "send_signal", "signal-to-burnish"}


def users(client: Client, kind: SandboxKind) -> dict[str, str]:
    """Everything that is not the client's; without modes, where a sandbox cannot keep them."""
    folders = ("checkout", "cache/other", "user/.claude", "user/.codex", "user/.gemini", "user/.local/share/opencode")
    found = {f"{folder}/{name}": text for folder in folders for name, text in content(client.root / folder).items()}
    found["user"] = " ".join(sorted(path.name for path in (client.root / "user").iterdir()))
    if kind is SandboxKind.BUBBLEWRAP:
        return found
    return {name: text.partition(" ")[2] for name, text in found.items()}


def test_a_reviewer_gets_nowhere(client: Client, kind: SandboxKind) -> None:
    before, clone = users(client, kind), content(client.clone)
    reached = client.asked_to({**ATTEMPTS, **UNSEEN, **AS_REVIEWER, **ALLOWED}, kind, Role.REVIEW)
    assert reached == {*ALLOWED, *lacking(kind)}
    assert content(client.clone) == clone
    assert users(client, kind) == before


@pytest.mark.prove
def test_a_fixer_gets_no_further_than_its_clone(client: Client, kind: SandboxKind) -> None:
    before = users(client, kind)
    reached = client.asked_to({**ATTEMPTS, **UNSEEN, **ALLOWED, **AS_FIXER, **WIRING}, kind, Role.FIX)
    wired = set(WIRING if kind is SandboxKind.LANDLOCK else ())
    assert reached == {*ALLOWED, *AS_FIXER, *wired, *lacking(kind)}
    assert (client.clone / "app.py").read_text() == "x = 2\n"
    assert users(client, kind) == before


def test_without_a_sandbox_the_attempts_get_through(client: Client) -> None:
    """Else they would prove nothing."""
    attempts = {**ATTEMPTS, **UNSEEN, **AS_REVIEWER, **WIRING, **ALLOWED}
    only_of_ours = {"signal-to-burnish"} if client.user != os.getuid() else set[str]()
    assert client.unconfined(attempts) >= attempts.keys() - only_of_ours
