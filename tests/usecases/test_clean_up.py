"""Prompts, transcripts and logs have a limit of age and of size; nothing else goes, and no open run loses anything."""

import json
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from burnish.ledger.errors import BlobMissingError
from burnish.ledger.interface import NewEvent
from burnish.ledger.sqlite import open_ledger
from burnish.runtime.journal import stream_of
from burnish.settings.types import KeepSettings
from burnish.testing.repositories import RepositoryBuilder
from burnish.usecases.clean_up import DAY, keep_within_limits, logs_were_removed, remove_old
from burnish.usecases.runs import Runs
from burnish.workspace.repository import Repository

NOW = 1_800_000_000.0
OLD, MIDDLE, NEW, OPEN = (f"2026010{day}-000000-aaaaaa" for day in range(1, 5))
LIMITS = KeepSettings(days=90.0, megabytes=1_000.0)


@pytest.fixture
def runs(tmp_path: Path) -> Generator[Runs]:
    RepositoryBuilder(tmp_path / "repository").commit({"a.py": "a = 1\n"})
    repository = Repository.discover(tmp_path / "repository")
    with closing(open_ledger(repository.state_dir)) as ledger:
        yield Runs(repository, ledger)


def add_run(runs: Runs, name: str, at: float, text: bytes = b"", *, closed: bool = True) -> str:
    """A run whose reviewer was given a text, with a log of the same size and a record."""
    text = text or name.encode()
    digest = runs.ledger.put_blob(text, now=at)
    folder = runs.folder(name)
    (folder / "logs").mkdir(parents=True)
    (folder / "logs" / "review-1-critic-1.log").write_bytes(text)
    (folder / "records").mkdir()
    (folder / "records" / "verdict.json").write_text("{}")
    bodies: list[tuple[str, dict[str, str]]] = [("WorkStarted", {}), ("Reviewed", {"prompt": digest, "transcript": ""})]
    bodies += [("Closed", {})] if closed else []
    events = [NewEvent(kind=kind, body=json.dumps(body).encode(), at=at, intent=True) for kind, body in bodies]
    runs.ledger.append(stream_of(name), 0, events)
    return digest


def kept(runs: Runs, *digests: str) -> list[bool]:
    return [digest in runs.ledger.blob_sizes() for digest in digests]


def test_a_run_over_the_age_loses_its_texts_and_nothing_else(runs: Runs) -> None:
    old, new = add_run(runs, OLD, NOW - 91 * DAY), add_run(runs, NEW, NOW - 89 * DAY)
    removal = keep_within_limits(runs, LIMITS, NOW)
    assert (removal.runs, removal.blobs) == ((OLD,), 1)
    assert kept(runs, old, new) == [False, True]
    assert [runs.folder(name).joinpath("logs").exists() for name in (OLD, NEW)] == [False, True]
    assert (runs.folder(OLD) / "records" / "verdict.json").exists()
    assert len(runs.ledger.read(stream_of(OLD))) == 3
    with pytest.raises(BlobMissingError):
        runs.ledger.get_blob(old)


def test_over_the_size_the_oldest_go_until_the_rest_fits(runs: Runs) -> None:
    texts = {name: bytes([number]) * 1_000_000 for number, name in enumerate((OLD, MIDDLE, NEW))}
    digests = [add_run(runs, name, NOW - DAY * (3 - at), text) for at, (name, text) in enumerate(texts.items())]
    removal = keep_within_limits(runs, KeepSettings(days=90.0, megabytes=4.5), NOW)
    assert (removal.runs, removal.bytes) == ((OLD,), 1_000_000)
    assert kept(runs, *digests) == [False, True, True]
    assert not keep_within_limits(runs, KeepSettings(days=90.0, megabytes=4.5), NOW).runs


@pytest.mark.parametrize("field", ["prompt", "said", "transcript"])
def test_no_text_that_an_open_run_names_is_removed(runs: Runs, field: str) -> None:
    digest = runs.ledger.put_blob(b"what the fixer answered", now=NOW - 900 * DAY)
    body = json.dumps({field: digest}).encode()
    runs.ledger.append(stream_of(OPEN), 0, [NewEvent(kind="Fixed", body=body, at=NOW - 900 * DAY, intent=True)])
    old = add_run(runs, OLD, NOW - 91 * DAY)
    assert keep_within_limits(runs, LIMITS, NOW).runs == (OLD,)
    assert kept(runs, old, digest) == [False, True]


def test_an_open_run_loses_nothing_however_old_and_large_it_is(runs: Runs) -> None:
    digest = add_run(runs, OPEN, NOW - 900 * DAY, b"o" * 2_000_000, closed=False)
    removal = keep_within_limits(runs, KeepSettings(days=1.0, megabytes=0.1), NOW)
    assert removal.paths == ()
    assert kept(runs, digest) == [True]
    assert (runs.folder(OPEN) / "logs").exists()


def test_a_run_whose_end_is_not_settled_yet_counts_as_open(runs: Runs) -> None:
    digest = add_run(runs, OLD, NOW - 900 * DAY)
    runs.repository.keep(OLD, "HEAD")
    assert not remove_old(runs, before=NOW, now=NOW).runs
    assert kept(runs, digest) == [True]


def test_a_text_that_a_younger_run_was_given_too_stays(runs: Runs) -> None:
    add_run(runs, OLD, NOW - 91 * DAY, b"the same prompt")
    digest = add_run(runs, NEW, NOW - DAY, b"the same prompt")
    assert keep_within_limits(runs, LIMITS, NOW).runs == (OLD,)
    assert kept(runs, digest) == [True]


def test_within_the_limits_nothing_is_removed(runs: Runs) -> None:
    digest = add_run(runs, NEW, NOW - DAY)
    assert keep_within_limits(runs, LIMITS, NOW) == keep_within_limits(runs, LIMITS, NOW)
    assert kept(runs, digest) == [True]


def test_a_rehearsal_names_what_would_go(runs: Runs) -> None:
    digest = add_run(runs, OLD, NOW - 91 * DAY)
    named = remove_old(runs, before=NOW - 90 * DAY, now=NOW, dry_run=True)
    assert (named.runs, named.blobs, named.bytes) == ((OLD,), 1, len(OLD))
    assert kept(runs, digest) == [True]
    assert remove_old(runs, before=NOW - 90 * DAY, now=NOW) == named


def test_removed_logs_are_told_from_logs_that_never_were(runs: Runs) -> None:
    add_run(runs, OLD, NOW - 91 * DAY)
    add_run(runs, OPEN, NOW, closed=False)
    assert not logs_were_removed(runs, OLD)
    remove_old(runs, before=NOW, now=NOW)
    assert logs_were_removed(runs, OLD)
    assert not logs_were_removed(runs, OPEN)
