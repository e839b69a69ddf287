"""A login is lent as a copy, and comes back only as a whole, renewed, and from a place where nobody planted a link."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from burnish.agents.clients import logins
from burnish.agents.clients.logins import Loan, LoginError, lend
from burnish.agents.clients.places import manager_variables, moved_logins
from burnish.agents.clients.registry import CLIENTS
from burnish.agents.interface import Needs
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings

LOGIN: dict[str, Any] = {"tokens": {"access": "a1", "refresh": "r1", "expires": 1}, "scopes": ["x"], "account": None}
RENEWED: dict[str, Any] = {"tokens": {"access": "a2", "refresh": "r2", "expires": 2}, "scopes": [], "account": "me"}


class Lent:
    """The login of a user, and a client that was lent it."""

    def __init__(self, folder: Path) -> None:
        self.original = folder / "user" / "auth.json"
        self.home = folder / "own"
        self.copy = self.home / "codex" / "auth.json"
        self.original.parent.mkdir()
        self.home.mkdir()
        self.original.write_text(json.dumps(LOGIN))
        self.original.chmod(0o640)

    @property
    def needs(self) -> Needs:
        return Needs(files=((str(self.original), "codex/auth.json"),))

    def lend(self) -> Loan:
        return lend(self.needs, self.home)

    def renew(self, **changes: object) -> None:
        """As clients do: a new file in place of the old one."""
        new = self.copy.with_name("new")
        new.write_text(json.dumps({**RENEWED, **changes}))
        new.replace(self.copy)

    @property
    def users(self) -> dict[str, Any]:
        """What the user has; no temporary file may be beside it."""
        assert [path.name for path in self.original.parent.iterdir()] == ["auth.json"]
        return json.loads(self.original.read_text())


@pytest.fixture
def lent(tmp_path: Path) -> Lent:
    return Lent(tmp_path)


def test_a_copy_is_for_its_client_alone_and_goes_with_it(lent: Lent) -> None:
    loan = lent.lend()
    assert json.loads(lent.copy.read_text()) == LOGIN
    assert stat.S_IMODE(lent.copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(lent.copy.parent.stat().st_mode) == 0o700
    before = lent.original.stat()
    loan.give_back()
    assert not lent.copy.exists()
    assert lent.original.stat().st_ino == before.st_ino, "it was written, though it had not changed"


def test_a_client_that_needs_no_file_is_lent_none(tmp_path: Path) -> None:
    lend(Needs(variables=("A_KEY",)), tmp_path).give_back()
    assert list(tmp_path.iterdir()) == []


def test_a_renewed_login_goes_back_with_the_mode_of_the_old_one(lent: Lent) -> None:
    loan = lent.lend()
    lent.renew(further="fields may be added")
    loan.give_back()
    assert lent.users == {**RENEWED, "further": "fields may be added"}
    assert stat.S_IMODE(lent.original.stat().st_mode) == 0o640
    assert not lent.copy.exists()


def test_of_several_clients_the_first_to_renew_it_gives_it_back(lent: Lent, tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    first, second = lent.lend(), lend(lent.needs, tmp_path / "second")
    lent.renew()
    (tmp_path / "second" / "codex" / "auth.json").write_text(json.dumps({**RENEWED, "account": "second"}))
    first.give_back()
    second.give_back()
    assert lent.users == RENEWED


def test_a_login_that_the_user_changed_meanwhile_is_left_alone(lent: Lent) -> None:
    loan = lent.lend()
    lent.renew()
    lent.original.write_text('{"logged": "in anew"}')
    loan.give_back()
    assert lent.users == {"logged": "in anew"}


@pytest.mark.skipif(os.getuid() != 0, reason="optional: only root with setpriv can become another user")
def test_a_login_of_somebody_else_does_not_become_ours(lent: Lent) -> None:
    os.chown(lent.original, 65534, -1)
    loan = lent.lend()
    lent.renew()
    loan.give_back()
    assert lent.users == LOGIN
    assert lent.original.stat().st_uid == 65534


def test_a_user_who_logged_out_meanwhile_stays_logged_out(lent: Lent) -> None:
    loan = lent.lend()
    lent.renew()
    lent.original.unlink()
    loan.give_back()
    assert list(lent.original.parent.iterdir()) == []


def _link_to(target: str) -> Callable[[Lent], None]:
    def plant(lent: Lent) -> None:
        lent.copy.unlink()
        lent.copy.symlink_to(lent.home.parent / target)

    return plant


def _link_for_the_folder(lent: Lent) -> None:
    lent.renew()
    lent.copy.parent.rename(lent.home.parent / "elsewhere")
    lent.copy.parent.symlink_to(lent.home.parent / "elsewhere")


def _pipe(lent: Lent) -> None:
    lent.copy.unlink()
    os.mkfifo(lent.copy)


def _folder(lent: Lent) -> None:
    lent.copy.unlink()
    lent.copy.mkdir()


DAMAGE: dict[str, Callable[[Lent], object]] = {
    "removed": lambda lent: lent.copy.unlink(),
    "empty": lambda lent: lent.copy.write_text(""),
    "cut": lambda lent: lent.copy.write_text(json.dumps(RENEWED)[:-3]),
    "no JSON": lambda lent: lent.copy.write_text("[user]\n"),
    "another kind of JSON": lambda lent: lent.copy.write_text("[]"),
    "a field is missing": lambda lent: lent.copy.write_text(json.dumps({"tokens": RENEWED["tokens"]})),
    "a field is of another kind": lambda lent: lent.renew(tokens="none"),
    "an inner field is missing": lambda lent: lent.renew(tokens={"access": "a2"}),
    "too long": lambda lent: lent.renew(account="x" * logins.MOST_BYTES),
    "too deep": lambda lent: lent.copy.write_text("[" * 100_000),
    "a link to a file": _link_to("planted.json"),
    "a link to nothing": _link_to("nothing"),
    "a link for its folder": _link_for_the_folder,
    "a pipe": _pipe,
    "a folder": _folder,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_nothing_else_that_a_client_leaves_reaches_the_user(lent: Lent, damage: Callable[[Lent], object]) -> None:
    planted = lent.home.parent / "planted.json"
    planted.write_text(json.dumps(RENEWED))
    loan = lent.lend()
    damage(lent)
    loan.give_back()
    assert lent.users == LOGIN
    assert json.loads(planted.read_text()) == RENEWED


def test_a_login_is_put_in_place_of_what_an_earlier_session_left(lent: Lent) -> None:
    planted = lent.home.parent / "planted"
    planted.write_text("planted")
    lent.copy.parent.mkdir()
    lent.copy.symlink_to(planted)
    lent.lend()
    assert not lent.copy.is_symlink()
    assert planted.read_text() == "planted"


def test_a_login_is_not_put_through_a_link(lent: Lent) -> None:
    (lent.home.parent / "elsewhere").mkdir()
    lent.copy.parent.symlink_to(lent.home.parent / "elsewhere")
    with pytest.raises(LoginError, match="cannot be written in the home"):
        lent.lend()
    assert list((lent.home.parent / "elsewhere").iterdir()) == []


def _becomes_a_link(lent: Lent) -> None:
    lent.original.rename(lent.home.parent / "kept.json")
    lent.original.symlink_to(lent.home.parent / "kept.json")


UNFIT: dict[str, tuple[Callable[[Lent], object], str]] = {
    "a link": (_becomes_a_link, "it is a link"),
    "gone": (lambda lent: lent.original.unlink(), "No such file"),
    "huge": (lambda lent: os.truncate(lent.original, logins.MOST_BYTES + 1), "usual kind and size"),
    "a pipe": (lambda lent: (lent.original.unlink(), os.mkfifo(lent.original)), "usual kind and size"),
}


@pytest.mark.parametrize(("change", "reason"), UNFIT.values(), ids=UNFIT)
def test_a_login_that_cannot_be_lent_is_named(lent: Lent, change: Callable[[Lent], object], reason: str) -> None:
    change(lent)
    with pytest.raises(LoginError, match=reason) as caught:
        lent.lend()
    assert str(lent.original) in caught.value.message
    assert caught.value.hint
    assert list(lent.home.iterdir()) == []


def test_a_login_in_a_folder_that_is_a_link_can_be_lent_and_given_back(lent: Lent) -> None:
    linked = lent.home.parent / "linked"
    linked.symlink_to(lent.original.parent)
    loan = lend(Needs(files=((str(linked / "auth.json"), "codex/auth.json"),)), lent.home)
    lent.renew()
    loan.give_back()
    assert lent.users == RENEWED


MOVED = {
    AgentKind.CLAUDE: ("CLAUDE_CONFIG_DIR", ".credentials.json"),
    AgentKind.CODEX: ("CODEX_HOME", "auth.json"),
    AgentKind.GEMINI: ("GEMINI_CLI_HOME", ".gemini/oauth_creds.json"),
    AgentKind.OPENCODE: ("XDG_DATA_HOME", "opencode/auth.json"),
}


@pytest.mark.parametrize("kind", MOVED, ids=lambda kind: kind.value)
def test_a_login_is_found_where_the_user_has_moved_it(kind: AgentKind, tmp_path: Path) -> None:
    variable, name = MOVED[kind]
    login = tmp_path / "moved" / name
    login.parent.mkdir(parents=True)
    login.write_text("{}")
    environment = {"HOME": str(tmp_path / "home"), variable: str(tmp_path / "moved")}
    needs = CLIENTS[kind].needs(AgentSettings(kind=kind), environment)
    assert [original for original, _ in needs.files] == [str(login)]
    assert str(login.parent) in moved_logins(environment)
    assert moved_logins({"HOME": str(tmp_path)}) == ()


def test_shims_of_version_managers_are_told_where_to_look(tmp_path: Path) -> None:
    (tmp_path / ".volta").mkdir()
    (tmp_path / "asdf").mkdir()
    environment = {"HOME": str(tmp_path), "ASDF_DATA_DIR": str(tmp_path / "asdf"), "MISE_DATA_DIR": "relative"}
    found = {"VOLTA_HOME": str(tmp_path / ".volta"), "ASDF_DATA_DIR": str(tmp_path / "asdf")}
    assert manager_variables(environment) == found
    assert manager_variables({}) == {}
