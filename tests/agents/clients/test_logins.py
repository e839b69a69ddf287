"""A login is login as a copy, and comes back only as a whole, renewed, and from a place where nobody planted a link."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from burnish.agents import logins
from burnish.agents.client import manager_variables
from burnish.agents.interface import Needs
from burnish.agents.logins import CredentialCopy, LoginError, copy_credentials, hidden_logins
from burnish.agents.registry import clients
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings

LOGIN: dict[str, Any] = {"tokens": {"access": "a1", "refresh": "r1", "expires": 1}, "scopes": ["x"], "account": None}
RENEWED: dict[str, Any] = {"tokens": {"access": "a2", "refresh": "r2", "expires": 2}, "scopes": [], "account": "me"}


class UsersLogin:
    """The login of a user, and a client that was login it."""

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

    def copied(self) -> CredentialCopy:
        return copy_credentials(self.needs, self.home)

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
def login(tmp_path: Path) -> UsersLogin:
    return UsersLogin(tmp_path)


def test_a_copy_is_for_its_client_alone_and_goes_with_it(login: UsersLogin) -> None:
    credentials = login.copied()
    assert json.loads(login.copy.read_text()) == LOGIN
    assert stat.S_IMODE(login.copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(login.copy.parent.stat().st_mode) == 0o700
    before = login.original.stat()
    credentials.give_back()
    assert not login.copy.exists()
    assert login.original.stat().st_ino == before.st_ino, "it was written, though it had not changed"


def test_a_client_that_needs_no_file_is_lent_none(tmp_path: Path) -> None:
    copy_credentials(Needs(variables=("A_KEY",)), tmp_path).give_back()
    assert list(tmp_path.iterdir()) == []


def test_a_renewed_login_goes_back_with_the_mode_of_the_old_one(login: UsersLogin) -> None:
    credentials = login.copied()
    login.renew(further="fields may be added")
    credentials.give_back()
    assert login.users == {**RENEWED, "further": "fields may be added"}
    assert stat.S_IMODE(login.original.stat().st_mode) == 0o640
    assert not login.copy.exists()


def test_of_several_clients_the_first_to_renew_it_gives_it_back(login: UsersLogin, tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    first, second = login.copied(), copy_credentials(login.needs, tmp_path / "second")
    login.renew()
    (tmp_path / "second" / "codex" / "auth.json").write_text(json.dumps({**RENEWED, "account": "second"}))
    first.give_back()
    second.give_back()
    assert login.users == RENEWED


def test_a_login_that_the_user_changed_meanwhile_is_left_alone(login: UsersLogin) -> None:
    credentials = login.copied()
    login.renew()
    login.original.write_text('{"logged": "in anew"}')
    credentials.give_back()
    assert login.users == {"logged": "in anew"}


@pytest.mark.skipif(os.getuid() != 0, reason="optional: only root with setpriv can become another user")
def test_a_login_of_somebody_else_does_not_become_ours(login: UsersLogin) -> None:
    os.chown(login.original, 65534, -1)
    credentials = login.copied()
    login.renew()
    credentials.give_back()
    assert login.users == LOGIN
    assert login.original.stat().st_uid == 65534


def test_a_user_who_logged_out_meanwhile_stays_logged_out(login: UsersLogin) -> None:
    credentials = login.copied()
    login.renew()
    login.original.unlink()
    credentials.give_back()
    assert list(login.original.parent.iterdir()) == []


def _link_to(target: str) -> Callable[[UsersLogin], None]:
    def plant(login: UsersLogin) -> None:
        login.copy.unlink()
        login.copy.symlink_to(login.home.parent / target)

    return plant


def _link_for_the_folder(login: UsersLogin) -> None:
    login.renew()
    login.copy.parent.rename(login.home.parent / "elsewhere")
    login.copy.parent.symlink_to(login.home.parent / "elsewhere")


def _pipe(login: UsersLogin) -> None:
    login.copy.unlink()
    os.mkfifo(login.copy)


def _folder(login: UsersLogin) -> None:
    login.copy.unlink()
    login.copy.mkdir()


DAMAGE: dict[str, Callable[[UsersLogin], object]] = {
    "removed": lambda login: login.copy.unlink(),
    "empty": lambda login: login.copy.write_text(""),
    "cut": lambda login: login.copy.write_text(json.dumps(RENEWED)[:-3]),
    "no JSON": lambda login: login.copy.write_text("[user]\n"),
    "another kind of JSON": lambda login: login.copy.write_text("[]"),
    "a field is missing": lambda login: login.copy.write_text(json.dumps({"tokens": RENEWED["tokens"]})),
    "a field is of another kind": lambda login: login.renew(tokens="none"),
    "an inner field is missing": lambda login: login.renew(tokens={"access": "a2"}),
    "too long": lambda login: login.renew(account="x" * logins.MOST_BYTES),
    "too deep": lambda login: login.copy.write_text("[" * 100_000),
    "a link to a file": _link_to("planted.json"),
    "a link to nothing": _link_to("nothing"),
    "a link for its folder": _link_for_the_folder,
    "a pipe": _pipe,
    "a folder": _folder,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_nothing_else_that_a_client_leaves_reaches_the_user(
    login: UsersLogin, damage: Callable[[UsersLogin], object]
) -> None:
    planted = login.home.parent / "planted.json"
    planted.write_text(json.dumps(RENEWED))
    credentials = login.copied()
    damage(login)
    credentials.give_back()
    assert login.users == LOGIN
    assert json.loads(planted.read_text()) == RENEWED


def test_a_login_is_put_in_place_of_what_an_earlier_session_left(login: UsersLogin) -> None:
    planted = login.home.parent / "planted"
    planted.write_text("planted")
    login.copy.parent.mkdir()
    login.copy.symlink_to(planted)
    login.copied()
    assert not login.copy.is_symlink()
    assert planted.read_text() == "planted"


def test_a_login_is_not_put_through_a_link(login: UsersLogin) -> None:
    (login.home.parent / "elsewhere").mkdir()
    login.copy.parent.symlink_to(login.home.parent / "elsewhere")
    with pytest.raises(LoginError, match="cannot be written in the client's home"):
        login.copied()
    assert list((login.home.parent / "elsewhere").iterdir()) == []


def _becomes_a_link(login: UsersLogin) -> None:
    login.original.rename(login.home.parent / "kept.json")
    login.original.symlink_to(login.home.parent / "kept.json")


UNFIT: dict[str, tuple[Callable[[UsersLogin], object], str]] = {
    "a link": (_becomes_a_link, "it is a link"),
    "gone": (lambda login: login.original.unlink(), "No such file"),
    "huge": (lambda login: os.truncate(login.original, logins.MOST_BYTES + 1), "regular file of the usual size"),
    "a pipe": (lambda login: (login.original.unlink(), os.mkfifo(login.original)), "regular file of the usual size"),
}


@pytest.mark.parametrize(("change", "reason"), UNFIT.values(), ids=UNFIT)
def test_a_login_that_cannot_be_lent_is_named(
    login: UsersLogin, change: Callable[[UsersLogin], object], reason: str
) -> None:
    change(login)
    with pytest.raises(LoginError, match=reason) as caught:
        login.copied()
    assert str(login.original) in caught.value.message
    assert caught.value.hint
    assert list(login.home.iterdir()) == []


def test_a_login_in_a_folder_that_is_a_link_can_be_lent_and_given_back(login: UsersLogin) -> None:
    linked = login.home.parent / "linked"
    linked.symlink_to(login.original.parent)
    credentials = copy_credentials(Needs(files=((str(linked / "auth.json"), "codex/auth.json"),)), login.home)
    login.renew()
    credentials.give_back()
    assert login.users == RENEWED


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
    needs = clients()[kind].needs(AgentSettings(kind=kind), environment)
    assert [original for original, _ in needs.files] == [str(login)]
    assert str(login.parent) in hidden_logins(environment)
    assert str(login.parent) not in hidden_logins({"HOME": str(tmp_path)})


def test_shims_of_version_managers_are_told_where_to_look(tmp_path: Path) -> None:
    (tmp_path / ".volta").mkdir()
    (tmp_path / "asdf").mkdir()
    environment = {"HOME": str(tmp_path), "ASDF_DATA_DIR": str(tmp_path / "asdf"), "MISE_DATA_DIR": "relative"}
    found = {"VOLTA_HOME": str(tmp_path / ".volta"), "ASDF_DATA_DIR": str(tmp_path / "asdf")}
    assert manager_variables(environment) == found
    assert manager_variables({}) == {}
