"""The program as a whole: version, help, usage errors, and how it ends when something goes wrong."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from inline_snapshot import snapshot

from burnish.cli.errors import report
from burnish.cli.lazy import LazyCommand, LazyGroup
from burnish.core.errors import BurnishError, ErrorKind
from burnish.testing.repositories import RepositoryBuilder

Burnish = Callable[..., tuple[int, str, str]]


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The real program, as a shell would start it."""
    return subprocess.run(
        [sys.executable, "-m", "burnish", *arguments],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_version() -> None:
    ran = process("--version")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "burnish 0.1.0\n", "")


def test_the_version_is_answered_before_anything_is_loaded() -> None:
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "burnish", "--version"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert not [name for name in ("click", "msgspec", "burnish.cli", "burnish.core") if f" {name}\n" in ran.stderr]


def test_help_loads_no_command() -> None:
    ran = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "burnish", "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert " burnish.cli.app\n" in ran.stderr
    loaded = ("msgspec", "burnish.cli.parse", "burnish.cli.protocol", "burnish.usecases")
    assert not [name for name in loaded if f" {name}\n" in ran.stderr]


def test_help_through_the_program() -> None:
    ran = process("--help")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == snapshot("""\
Usage: burnish [OPTIONS] [COMMAND] [ARGS]...

  A quality gate for changes written by coding agents.

  burnish reviews a branch with independent, read-only reviewers, has the
  findings fixed, and repeats until the change is clean, a limit is reached,
  or a person must decide.

  burnish                      where the branch that is checked out stands
  burnish review               review it; no code is changed
  burnish review --uncommitted review your working tree as it is
  burnish fix                  review, fix and review again
  burnish verify               is this exact tree approved?

  Exit codes: 0 clean, 1 findings remain, 2 usage or configuration, 3 waiting
  for a person, 4 did not run, 5 over budget, 6 unproven, 130 interrupted.

Options:
  --no-color, --no-colour  Print without colours; works with every command.
  --version                Show the version and exit.
  -h, --help               Show this message and exit.

Everyday:
  review    Review a branch once; change no code.
  fix       Review, fix and review again until the gate passes.
  run       Build, review and merge all tickets of an epic.
  status    List runs, or show what one is doing.
  show      Show a run in full: rounds, findings, next steps.
  logs      Show what agents and commands printed.
  attach    Watch an agent work in its terminal.
  wait      Wait until a run has ended or is waiting for a person.
  decide    Choose how a waiting run continues.
  findings  List findings; refute, waive, annotate or add one.
  resume    Continue an interrupted run.
  cancel    End a run and keep its results.
  verify    Check that this exact tree has a valid seal.

Policies:
  init        Set up burnish for this repository.
  doctor      Check everything that a review needs here, with remedies.
  protocol    List, show, check and rehearse protocols: the rules of a run.
  agent       List and check agents.
  config      Show every setting and where it was made.
  prompt      Show exactly what an agent would be sent.
  trust       Trust settings that exist only in the working tree.
  hook        Install git hooks that call burnish.
  plugin      Review inside your session; guard agents.
  completion  Print the completion script of a shell.
  clean       Remove old prompts, transcripts and logs.
  diagnose    Write a bundle for a bug report, without code or secrets.
  uninstall   Remove what burnish put into this repository.

For other tools:
  parse    Parse a reviewer's answer and print it as JSON.
  story    Say how a story stands.
  session  Run commands in tmux sessions.
  records  Rebuild the files that other tools read.
  mcp      Serve reviews as MCP tools.
""")


@pytest.mark.parametrize("command", [[], ["parse"], ["protocol"], ["protocol", "show"]])
def test_the_short_form_of_help(burnish: Burnish, command: list[str]) -> None:
    assert burnish(*command, "-h") == burnish(*command, "--help")


def test_no_command_at_all_shows_where_the_branch_stands_or_the_help(
    burnish: Burnish, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    code, out, _ = burnish()
    assert (code, out.startswith("Usage: burnish")) == (0, True)
    built = RepositoryBuilder(folder / "repository").commit({"a.py": "a = 1\n"}).branch("change")
    monkeypatch.chdir(built.path)
    code, out, _ = burnish()
    assert (code, out) == (0, "change, against main\n  no commits that main does not have\n")
    built.write({"b.py": "b = 2\n"})
    assert burnish()[1].endswith("Next: burnish review --uncommitted\n      reviews your working tree as it is\n")
    built.commit({"a.py": "a = 2\n"})
    assert "\n  not reviewed yet\n" in burnish()[1]
    assert burnish()[1].endswith("Next: burnish review\n      reviews the branch; no code is changed\n")


def test_help_of_parse(burnish: Burnish) -> None:
    code, out, _ = burnish("parse", "--help")
    assert code == 0
    assert out == snapshot("""\
Usage: burnish parse [OPTIONS] [FILE]

  Parse a reviewer's answer and print it as JSON.

  The answer comes from FILE, or from standard input if FILE is '-' or
  missing. Nothing is clean by default: an answer that cannot be parsed as a
  review is an error.

  Exit codes: 0 clean, 1 findings, 2 usage, 4 unreadable. With --protocol, the
  protocol's gate decides between 0 and 1.

Options:
  --contract [findings|report|issues|verdict|sarif]
                                  The format of the answer. Required unless
                                  --protocol is given.
  --protocol NAME|FILE            Judge the answer by this protocol's gate.
  -h, --help                      Show this message and exit.
""")


def test_an_unknown_command_gets_a_suggestion(burnish: Burnish) -> None:
    assert burnish("pars") == snapshot(
        (
            2,
            "",
            """\
error: There is no command 'pars'. Did you mean 'parse'?
hint: Try 'burnish --help'.
""",
        )
    )
    assert burnish("protocol", "chck") == snapshot(
        (
            2,
            "",
            """\
error: There is no command 'chck'. Did you mean 'check'?
hint: Try 'burnish protocol --help'.
""",
        )
    )
    assert burnish("zzz") == snapshot(
        (
            2,
            "",
            """\
error: There is no command 'zzz'.
hint: Try 'burnish --help'.
""",
        )
    )


def test_an_unknown_option_gets_a_hint(burnish: Burnish) -> None:
    assert burnish("--colour") == snapshot(
        (
            2,
            "",
            """\
error: No such option '--colour'. (Did you mean one of: '--no-color', '--no-colour'?)
hint: Try 'burnish --help'.
""",
        )
    )
    assert burnish("protocol", "list", "--jsn") == snapshot(
        (
            2,
            "",
            """\
error: No such option '--jsn'. Did you mean '--json'?
hint: Try 'burnish protocol list --help'.
""",
        )
    )


def test_sections_of_the_help_keep_their_order_and_need_no_import() -> None:
    group = LazyGroup(
        "tool",
        {
            "fix": LazyCommand("not.there:fix", "Everyday", "Fix it."),
            "rules": LazyCommand("not.there:rules", "Policies", "The rules."),
            "review": LazyCommand("not.there:review", "Everyday", "Review it."),
        },
        help_text="A tool.",
    )
    assert group.get_help(click.Context(group, info_name="tool")) == snapshot("""\
Usage: tool [OPTIONS] COMMAND [ARGS]...

  A tool.

Options:
  --help  Show this message and exit.

Everyday:
  fix     Fix it.
  review  Review it.

Policies:
  rules  The rules.\
""")


class TightError(BurnishError):
    kind = ErrorKind.INFRASTRUCTURE


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (TightError("The disk is full.", hint="Make room."), 4, "error: The disk is full.\nhint: Make room.\n"),
        (TightError("The disk is full."), 4, "error: The disk is full.\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
        (click.Abort(), 130, "interrupted\n"),
        (BrokenPipeError(), 141, ""),
        (click.exceptions.Exit(3), 3, ""),
        (TightError("\x1b[2Jgone"), 4, "error: gone\n"),
    ],
)
def test_errors_become_messages_and_codes(
    capsys: pytest.CaptureFixture[str], error: BaseException, code: int, message: str
) -> None:
    assert report(error) == code
    assert capsys.readouterr() == ("", message)


def test_an_unexpected_error_is_a_bug_and_never_looks_like_a_result(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BURNISH_DEBUG", raising=False)
    assert report(ZeroDivisionError("by zero")) == 4
    assert capsys.readouterr().err == snapshot("""\
burnish has a bug: ZeroDivisionError: by zero
hint: Please report this bug to the project, with the command that you ran. BURNISH_DEBUG=1 shows where it happened.
""")


def test_the_traceback_of_a_bug_is_shown_on_demand(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BURNISH_DEBUG", "1")
    try:
        raise ZeroDivisionError("by zero")
    except ZeroDivisionError as error:
        report(error)
    message = capsys.readouterr().err
    assert message.startswith("Traceback (most recent call last):")
    assert "burnish has a bug: ZeroDivisionError: by zero\n" in message


def test_a_reader_that_goes_away_is_no_error_message() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    # With a buffer, as usual: what is left in it would fail once more when the interpreter ends.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "burnish", "protocol", "show", "epic"],
            stdout=writing,
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writing)
    assert (ran.returncode, ran.stderr) == (141, "")


def test_a_terminal_without_unicode_still_gets_the_text() -> None:
    ran = process("protocol", "show", "epic", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "\\u2192" in ran.stdout
