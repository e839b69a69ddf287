"""The records of an epic in a repository: kept up to date while it is driven, and written again from the ledger."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnish.core.epics.state import Epic
from burnish.core.events import AnyEvent, RunStarted
from burnish.core.values import replace
from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import open_ledger
from burnish.protocols.loader import load
from burnish.records.registry import RECORD_PATHS
from burnish.runtime.journal import epic_stream, stored, stream_of
from burnish.runtime.rehearsal import Rehearsal
from burnish.system.identifiers import this_process
from burnish.usecases.epics import Epics
from burnish.usecases.write_epic_records import EpicRecordKeeper, rebuild_epic_records
from burnish.workspace.repository import Repository
from tests.records.epics import PASSES, Story, plan_of, ticket

REPORT = "plans/artifacts/completion-reports/base.json"
STATE = "plans/artifacts/epic-state.json"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(tmp_path)], check=True)
    return Repository.discover(tmp_path)


@pytest.fixture
def ledger(repository: Repository) -> Iterator[Ledger]:
    with open_ledger(repository.state_dir) as ledger:
        yield ledger


def events_of(name: str) -> Iterator[AnyEvent]:
    for event, _ in Rehearsal(PASSES, load(PASSES.protocol).protocol).play():
        yield replace(event, run=name) if isinstance(event, RunStarted) else event


def put(ledger: Ledger, story: Story) -> Epic:
    """An epic and its runs, as they would be in the ledger."""
    streams = {epic_stream(story.epic.id): list(map(stored, story.events))}
    streams |= {stream_of(name): list(map(stored, events_of(name))) for name in story.runs}
    for stream, events in streams.items():
        lease = ledger.acquire_lease(stream, this_process(), events[0].at, 1.0)
        ledger.append(stream, 0, events, lease)
    return story.epic


def done(name: str) -> Story:
    story = Story(plan_of(ticket("base"), ticket("api", "base")), name=name)
    story.complete("base")
    return story


def files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.glob("plans/**/*.json")}


def test_records_are_rebuilt_from_the_ledger_to_the_byte(repository: Repository, ledger: Ledger) -> None:
    epic, root = put(ledger, done("20261116-090000-one")), repository.root
    keeper = EpicRecordKeeper(repository, Epics(ledger))
    keeper.write(epic)
    kept = files(root)
    assert set(kept) == {STATE, REPORT}
    assert json.loads(kept[STATE])["tickets"]["base"]["status"] == "completed"
    assert repository.uncommitted(RECORD_PATHS) == ()
    (root / STATE).unlink()
    (root / REPORT).unlink()
    rebuilt = rebuild_epic_records(repository, ledger, epic.id)
    assert (rebuilt.written.paths, rebuilt.newer) == ((STATE, REPORT), "")
    assert files(root) == kept


def test_a_later_run_of_the_epic_takes_the_place_of_an_earlier_one(repository: Repository, ledger: Ledger) -> None:
    first = put(ledger, done("20261116-090000-one"))
    EpicRecordKeeper(repository, Epics(ledger)).write(first)
    begun = Story(plan_of(ticket("base"), ticket("api", "base")), name="20261116-100000-two")
    second = put(ledger, begun)
    EpicRecordKeeper(repository, Epics(ledger)).write(second)
    assert not (repository.root / REPORT).exists()
    assert rebuild_epic_records(repository, ledger, first.id).newer == second.id
    assert not (repository.root / REPORT).exists()
    assert (repository.state_dir / "epics" / first.id / "records" / REPORT).exists()


def test_a_report_that_a_person_changed_stays(repository: Repository, ledger: Ledger) -> None:
    first = put(ledger, done("20261116-090000-one"))
    EpicRecordKeeper(repository, Epics(ledger)).write(first)
    (repository.root / REPORT).write_text("mine")
    second = put(ledger, Story(plan_of(ticket("base")), name="20261116-100000-two"))
    keeper = EpicRecordKeeper(repository, Epics(ledger))
    keeper.write(second)
    assert (repository.root / REPORT).read_text() == "mine"
    assert any(REPORT in notice for notice in keeper.notices)


def test_updates_that_follow_too_soon_are_made_together(repository: Repository, ledger: Ledger) -> None:
    story = done("20261116-090000-one")
    epic = put(ledger, story)
    keeper = EpicRecordKeeper(repository, Epics(ledger))
    state = repository.root / STATE

    async def drive() -> set[int]:
        found = set[int]()
        for number in range(200):
            keeper.write(replace(epic, at=epic.at + number))
            found.add(state.stat().st_ino)
            await asyncio.sleep(0)
        return found

    assert len(asyncio.run(drive())) < 50
    keeper.write(replace(epic, at=epic.at + 3600))
    assert json.loads(state.read_bytes())["last_updated"] == "2023-11-14T23:17:20Z"
