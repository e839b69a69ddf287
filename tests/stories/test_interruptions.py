"""A sprint that is killed, fails, is skipped and goes on: its files say what the ledger says; nothing is done twice."""

import random
from pathlib import Path

import pytest

from burnish.core.epics.events import TicketMerged, decode_epic
from burnish.runtime.journal import epic_stream
from burnish.system import survivors
from burnish.usecases.epics import EPIC_MARKER
from tests.end_to_end.watching import eventually
from tests.stories.sprint import FAILS, FIXED, SPRINT, Sprint

TEN = {f"1-{number}-part": "ready-for-dev" for number in range(1, 11)}


def _events(sprint: Sprint) -> int:
    with sprint.machine.ledger() as ledger:
        return sum(ledger.version(stream) for stream in ledger.streams())


def _kill(sprint: Sprint, chance: random.Random, after: int) -> bool:
    """Run the sprint and kill it once so many events more are in the ledger. Whether it ended before that."""
    machine = sprint.machine
    target = after + (_events(sprint) if machine.state.exists() else 0)
    process = machine.start("run", SPRINT)
    eventually(lambda: (machine.state / "ledger.db").exists() or process.poll() is not None or None)
    eventually(lambda: _events(sprint) >= target or process.poll() is not None or None)
    ended = process.poll() is not None
    machine.cut_down(process)
    if chance.random() < 0.5 and not ended and sprint.machine.state.exists():
        with sprint.machine.ledger() as ledger:
            names = [stream.removeprefix(epic_stream("")) for stream in ledger.streams(epic_stream(""))]
        for name in names:
            survivors.end(survivors.find(EPIC_MARKER, name), 0.0)
    return ended


@pytest.mark.parametrize(
    ("kills", "stories"), [(5, 2), pytest.param(100, 6, marks=pytest.mark.prove)], ids=["some", "many"]
)
def test_killed_at_any_moment_every_story_is_merged_exactly_once(tmp_path: Path, kills: int, stories: int) -> None:
    sprint = Sprint(tmp_path, dict(list(TEN.items())[:stories]))
    chance = random.Random(kills)  # noqa: S311 - not for secrets
    comments = [line.partition("#")[2] for line in sprint.read(SPRINT).splitlines()]
    for _ in range(kills):
        if _kill(sprint, chance, chance.randint(1, max(2, 2 * 14 * stories // kills))):
            break
    done = sprint.run()
    assert done.code == 0, done.err
    epic = sprint.epic()
    with sprint.machine.ledger() as ledger:
        ledger.verify()
        events = [decode_epic(event.body) for event in ledger.read(epic_stream(epic.id))]
    merged = [event.ticket for event in events if isinstance(event, TicketMerged)]
    assert sorted(merged) == sorted(epic.tickets)
    assert all(len(one.runs) == 1 for one in epic.tickets.values())
    assert sorted(sprint.merges()) == sorted(f"Merge {name}: Make {name}" for name in epic.tickets)
    sprint.check_records()
    assert [line.partition("#")[2] for line in sprint.read(SPRINT).splitlines()] == comments


@pytest.mark.prove
def test_ten_stories_with_failures_skips_a_crash_and_a_resume(tmp_path: Path) -> None:
    skipped = TEN | {"1-7-part": "skipped"}
    sprint = Sprint(tmp_path, skipped, matter={"1-10-part": "id: 1.10\ndepends_on: [1.3]\n"})
    before = sprint.read(SPRINT)
    sprint.says("review", FIXED, "1-2-part")
    sprint.says("review", FAILS, "1-3-part")
    sprint.says("build", "exit 1", "1-5-part")
    _kill(sprint, random.Random(1), 25)  # noqa: S311 - not for secrets
    done = sprint.run()
    assert (done.code, sprint.states()["1-3-part"]) == (3, "waiting"), done.err
    sprint.check_records()
    run = sprint.epic().tickets["1-3-part"].runs[-1]
    assert sprint.machine.burnish("decide", run, "a").code == 0
    assert sprint.machine.burnish("resume", "1").code == 3
    sprint.check_records()
    done = sprint.machine.burnish("resume", "1")
    assert done.code == 4, done.err
    states = sprint.states()
    assert (states["1-3-part"], states["1-5-part"], states["1-10-part"]) == ("failed", "failed", "blocked")
    assert states["1-7-part"] == "skipped"
    assert sum(state == "completed" for state in states.values()) == 6
    sprint.check_records()
    after = before
    words = dict.fromkeys(TEN, "done") | {"1-3-part": "blocked", "1-5-part": "in-progress", "1-10-part": "blocked"}
    for name, word in words.items():
        after = after.replace(f"{name}: ready-for-dev", f"{name}: {word}")
    assert sprint.read(SPRINT) == after
    # The next run builds what is left, and nothing that is merged.
    sprint.says("review", "clean", "1-3-part")
    sprint.says("build", 'echo "$story" > "$story.txt"; echo Built.', "1-5-part")
    done = sprint.run()
    assert done.code == 0, done.err
    assert sprint.calls("build").count("story/1-1-part") == 1
    assert "story/1-7-part" not in sprint.calls("build")
    assert sprint.states() == dict.fromkeys(TEN, "completed") | {"1-7-part": "skipped"}
    sprint.check_records()
