"""`burnish trust`: shown before it is given, kept outside of the repository, and never given by an agent of a run."""

import io
import json
import shlex
import socket
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Burnish

from burnish.system.sandbox import SandboxKind, why_not
from burnish.testing.repositories import RepositoryBuilder

PASSES = '{"verdict": "pass", "followUpPrompt": ""}'
POLICY = """protocol = "drift"
[agents.mine]
kind = "command"
command = ["./review.sh"]
environment = ["USERS_TOKEN"]
[roles]
review = "mine"
fix = "mine"
"""


@pytest.fixture
def repository(folder: Path, monkeypatch: pytest.MonkeyPatch) -> RepositoryBuilder:
    """`main` without a policy, and `change`, which brings one with its reviewer."""
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "BURNISH_RUN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(folder / "home"))
    builder = RepositoryBuilder(folder / "repository").commit({"README.md": "One\n"}).branch("change")
    builder.executable("review.sh", f"#!/bin/sh\ncat > /dev/null\necho '{PASSES}'\n")
    builder.commit({"burnish.toml": POLICY, "README.md": "Two\n"})
    monkeypatch.chdir(builder.path)
    return builder


def test_what_would_be_trusted_is_shown_with_what_it_does(burnish: Burnish, repository: RepositoryBuilder) -> None:
    code, out, err = burnish("trust", "--show")
    assert (code, err) == (1, "")
    assert "burnish.toml  sha256 " in out
    assert "review.sh  sha256 " in out
    assert 'agents.mine.command = ["./review.sh"]  (runs commands)' in out
    assert 'protocol = "drift"  (can weaken the gate)' in out
    assert "USERS_TOKEN" not in out  # it is not handed out, trusted or not
    assert out.endswith("You do not trust this content. To trust it: burnish trust\n")
    view = json.loads(burnish("trust", "--show", "--json")[1])
    assert (view["needs_trust"], view["trusted"], sorted(view["files"])) == (
        True,
        False,
        ["burnish.toml", "review.sh"],
    )


def test_trust_is_given_listed_and_revoked(burnish: Burnish, repository: RepositoryBuilder, folder: Path) -> None:
    assert burnish("trust", "--yes")[0] == 0
    assert burnish("trust", "--show")[0] == 0
    assert burnish("trust")[0] == 0  # there is nothing to ask any more
    assert repository.git.text("status", "--porcelain") == ""
    assert str(repository.path / ".git") in burnish("trust", "--list")[1]
    (kept,) = (folder / "home" / ".local" / "state" / "burnish" / "trusted").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert burnish("trust", "--revoke")[:2] == (0, "1 content is no longer trusted.\n")
    assert burnish("trust", "--show")[0] == 1
    assert burnish("trust", "--list")[1] == "You trust nothing.\n"


def test_without_a_terminal_it_must_be_said(burnish: Burnish, repository: RepositoryBuilder) -> None:
    code, out, err = burnish("trust")
    assert (code, out) == (2, "")
    assert "burnish trust --yes" in err
    assert burnish("trust", "--show")[0] == 1


def test_an_agent_of_a_run_trusts_nothing(
    burnish: Burnish, repository: RepositoryBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BURNISH_RUN", "20231114-221320-aaaaaa")
    for words in (("--yes",), (), ("--revoke",)):
        code, _, err = burnish("trust", *words)
        assert code == 2
        assert "burnish trusts nothing inside one of its own agents." in err
    monkeypatch.delenv("BURNISH_RUN")
    assert burnish("trust", "--list")[1] == "You trust nothing.\n"


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 1), ("", 1)])
def test_at_a_terminal_it_is_asked(
    burnish: Burnish, repository: RepositoryBuilder, monkeypatch: pytest.MonkeyPatch, answer: str, code: int
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal(f"{answer}\n"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    done, _, err = burnish("trust")
    assert done == code
    assert 'agents.mine.command = ["./review.sh"]' in err
    assert "Trust exactly this content? [y/N]" in err
    assert burnish("trust", "--show")[0] == code


def test_where_the_base_has_a_policy_nothing_needs_trust(burnish: Burnish, repository: RepositoryBuilder) -> None:
    repository.git.run("branch", "--force", "main", "change")
    code, out, _ = burnish("trust", "--show")
    assert (code, out) == (0, "Nothing needs your trust: main has every setting that applies.\n")


def test_several_wishes_at_once_are_a_mistake(burnish: Burnish, repository: RepositoryBuilder) -> None:
    assert burnish("trust", "--yes", "--revoke")[0] == 2


def test_an_untrusted_change_is_reviewed_by_the_built_in_policy_and_every_hint_works(
    burnish: Burnish, repository: RepositoryBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own lenient reviewer is not asked, not even under the name that the user types."""
    monkeypatch.setenv("USERS_TOKEN", "secret")
    code, _, err = burnish("review", "--agent", "review=mine", "--json")
    assert code == 2
    assert "there is no agent 'mine'" in err
    show = "burnish trust --show"
    assert f"'{show}'" in err
    assert burnish(*shlex.split(show)[1:])[0] == 1
    assert burnish("trust", "--yes")[0] == 0
    code, out, err = burnish("review", "--json")
    view = json.loads(out)
    assert (code, view["outcome"], view["policy"]["origin"]) == (0, "approved", "working-tree (trusted)")
    # A seal under such a policy does not pass for one of the base's, and the next step that is named works.
    assert burnish("verify", "change")[0] == 1
    (line,) = [line for line in err.splitlines() if line.startswith("Next: ")]
    words = line.removeprefix("Next: burnish ").partition(" checks")[0]
    assert burnish(*shlex.split(words))[0] == 0


@pytest.mark.parametrize("named_by", ["base", "working tree"])
def test_a_command_that_only_a_trusted_working_tree_names_has_no_network(
    burnish: Burnish, repository: RepositoryBuilder, named_by: str
) -> None:
    reason = why_not(SandboxKind.BUBBLEWRAP)
    if reason:
        pytest.skip(f"optional: {reason}")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        passes = f"(exec 3<>/dev/tcp/127.0.0.1/{port}) 2> /dev/null && echo '{PASSES}'"
        repository.executable("review.sh", f"#!/bin/bash\ncat > /dev/null\n{passes} || exit 9\n").commit()
        if named_by == "base":
            repository.git.run("branch", "--force", "main", "change")
            repository.commit({"README.md": "Three\n"})
        else:
            assert burnish("trust", "--yes")[0] == 0
        view = json.loads(burnish("review", "--json")[1])
    assert view["outcome"] == ("approved" if named_by == "base" else "did-not-run")
