"""Small things that outputs say: plurals, money, names, marks. Each was wrong once."""

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.staged_runs import make_repository, play
from tests.core.driving import CLEAN, PLAIN, Driven, found, problem, rewritten

from burnish.core.budget import Cap, dollars
from burnish.core.events import Roles
from burnish.core.protocol import Choice, ChoiceAction, ReviewMode
from burnish.core.steps.flow import counted
from burnish.core.values import replace
from burnish.core.work import Assignment
from burnish.ledger.errors import LedgerAccessError, LedgerFullError
from burnish.ledger.failures import from_sqlite
from burnish.protocols.loader import load
from burnish.report.account import Account
from burnish.report.forms import render
from burnish.report.output import plain
from burnish.report.text import summary
from burnish.report.words import attempt_words
from burnish.runtime.script import RehearsalScript
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.roles import role_notices
from burnish.settings.types import AgentSettings, Settings
from burnish.testing.repositories import RepositoryBuilder
from burnish.usecases.submit_intent import chosen
from burnish.workspace.errors import SubjectError
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import freeze


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0.0, "0.00"), (5.0, "5.00"), (0.002, "0.002"), (0.000015, "0.000015"), (0.1234, "0.1234"), (12.5, "12.50")],
)
def test_money_below_a_cent_is_not_nothing(amount: float, words: str) -> None:
    assert dollars(amount) == words
    assert Cap.COST.words(amount) == f"{words} USD"


@pytest.mark.parametrize(
    ("template", "number", "words"),
    [
        ("Issues remain after {reviews} reviews", 1, "Issues remain after 1 review"),
        ("Issues remain after {reviews} reviews", 2, "Issues remain after 2 reviews"),
        ("Issues remain after {reviews} reviews", 11, "Issues remain after 11 reviews"),
        ("Drift remains after {reviews} fix attempts", 1, "Drift remains after 1 fix attempt"),
        ("{reviews} fixes", 1, "1 fix"),
        ("reviews made: {reviews}", 1, "reviews made: 1"),
    ],
)
def test_one_is_singular(template: str, number: int, words: str) -> None:
    assert counted(template, "reviews", number) == words


def test_an_interrupted_round_counts_its_seats() -> None:
    driven = Driven()
    driven.start()
    lines = plain(summary(Account(run=driven.run))).splitlines()
    assert "round 1 (full): 0 of 1 answered, not judged" in lines
    assert "interrupted: no review in round 1 was done" in lines


def test_a_fallback_is_called_one_whatever_its_number_is() -> None:
    driven = Driven(roles=Roles(review=Assignment(agent="first", fallback="second"), fix=Assignment(agent="fixer")))
    last = driven.run.protocol.failures.retries + 2
    assert [attempt_words(driven.run, "critic", number) for number in (1, 2, last)] == ["", "attempt 2", "fallback"]


def test_a_round_that_led_to_the_seal_is_on_record_as_full() -> None:
    ratchet = replace(PLAIN, review=replace(PLAIN.review, mode=ReviewMode.RATCHET))
    driven = Driven(ratchet)
    driven.answer(found(problem()))
    driven.fix("tree-1", rewritten("a.py"))
    driven.answer(replace(CLEAN, whole=True))
    assert [(one.number, one.scope.value) for one in driven.run.rounds] == [(1, "full"), (2, "full")]


def test_a_document_has_a_date_and_no_story_that_does_not_exist() -> None:
    driven = Driven()
    driven.answer(found(problem()))
    text = render(Account(run=driven.run), "markdown")
    assert text.startswith("# Code Review Findings - Round 1\n")
    assert "**Date:** 1970-01-01 00:00" in text
    assert "**Reviewer:** critic" in text


def test_an_agent_that_a_flag_names_has_a_role() -> None:
    settings = Settings(agents={"claude": AgentSettings(kind=AgentKind.CLAUDE)})
    protocol = load("default").protocol
    assert role_notices(settings, protocol) == ("The agent 'claude' has no role: set one in [roles] or with --agent.",)
    assert role_notices(settings, protocol, ("claude",)) == ()


@pytest.mark.parametrize("typed", ["c", "C", " c\n"])
def test_a_choice_is_taken_in_capitals_too(typed: str) -> None:
    choices = (Choice(key="c", action=ChoiceAction.SKIP, text=""), Choice(key="d", action=ChoiceAction.SKIP, text=""))
    assert chosen(choices, typed) == choices[0]
    assert chosen(choices, "x") is None


def test_on_main_the_message_does_not_say_that_there_is_no_main(tmp_path: Path) -> None:
    RepositoryBuilder(tmp_path).commit({"a": "b"})
    with pytest.raises(SubjectError) as raised:
        freeze(Repository.discover(tmp_path), None, None)
    assert "no main" not in raised.value.message
    assert "--uncommitted" in raised.value.hint


def test_a_full_disk_is_called_one(tmp_path: Path) -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    error.sqlite_errorname = "SQLITE_IOERR_SHMSIZE"
    assert isinstance(from_sqlite(error, Path("/proc/ledger.db")), LedgerFullError), "a file system without any room"
    assert isinstance(from_sqlite(error, tmp_path / "ledger.db"), LedgerAccessError)


def test_runs_can_be_looked_at_where_nothing_can_be_written(folder: Path) -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("optional: bubblewrap")
    play(make_repository(folder), RehearsalScript(protocol="epic", reviews={"reviewer": ("clean",)}))
    for words in (("status",), ("show",), ("findings", "latest"), ("status", "--json")):
        done = subprocess.run(
            ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", sys.executable, "-m", "burnish", *words],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), words
        assert done.stdout
