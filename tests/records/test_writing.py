"""The writer: into the run's folder always, into the checkout only where that is burnish's own to write to."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.core.protocol import Protocol, RecordLayout
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.protocols.loader import BUILT_IN, load
from burnish.records.interface import RecordFile, RecordTexts
from burnish.records.registry import RECORD_PATHS, record_files
from burnish.records.writing import MAX_RECORD_BYTES, Destination, Written, write
from burnish.runtime.script import RehearsalScript
from tests.records.killing import operations
from tests.records.playing import played, record

PATH = "docs/progress/story-1-review-findings-round-1.md"
STATE = ".agents/tmp/state.json"


def nothing(_path: str) -> bool:
    return False


class Desk:
    """A checkout and the folders of two runs."""

    def __init__(self, root: Path) -> None:
        self.checkout = root / "checkout"
        self.run = root / "burnish/runs/20260102-first"
        self.later = root / "burnish/runs/20260103-later"
        for folder in (self.checkout, self.run, self.later):
            folder.mkdir(parents=True)

    def write(
        self, *files: RecordFile, run: Path | None = None, is_tracked: Callable[[str], bool] = nothing
    ) -> Written:
        return write(files, self.destination(run=run, is_tracked=is_tracked))

    def destination(
        self,
        run: Path | None = None,
        is_tracked: Callable[[str], bool] = nothing,
        gives_way: Callable[[str], bool] = nothing,
    ) -> Destination:
        folder = run or self.run
        return Destination(run_folder=folder, checkout=self.checkout, is_tracked=is_tracked, gives_way=gives_way)

    def refused(self, *files: RecordFile, is_tracked: Callable[[str], bool] = nothing) -> str:
        """The one notice of a write that must leave the checkout alone."""
        before = snapshot_of(self.checkout)
        written = self.write(*files, is_tracked=is_tracked)
        assert written.paths == ()
        assert snapshot_of(self.checkout) == before
        [notice] = written.notices
        assert notice.hint
        return notice.message


def snapshot_of(folder: Path) -> dict[str, bytes | str]:
    """Every file and link below a folder, with its content or target."""
    return {
        str(path.relative_to(folder)): str(path.readlink()) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or path.is_file()
    }


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_record_is_kept_with_the_run_and_put_into_the_checkout(desk: Desk) -> None:
    written = desk.write(record())
    assert written == Written(paths=(PATH,))
    assert (desk.checkout / PATH).read_text() == "text\n"
    assert (desk.run / "records" / PATH).read_text() == "text\n"
    assert (desk.checkout / PATH).stat().st_mode & 0o777 == 0o644
    assert (desk.run / "records" / PATH).stat().st_mode & 0o777 == 0o600


def test_without_a_checkout_only_the_run_keeps_it(desk: Desk) -> None:
    write([record()], desk.destination()._replace(checkout=None))
    assert (desk.run / "records" / PATH).exists()
    assert list(desk.checkout.iterdir()) == []


def test_a_record_of_the_run_alone_does_not_reach_the_checkout(desk: Desk) -> None:
    assert desk.write(RecordFile(path="verdict-1.json", text="{}\n", in_checkout=False)).paths == ()
    assert (desk.run / "records/verdict-1.json").exists()
    assert list(desk.checkout.iterdir()) == []


def test_a_new_version_replaces_burnishs_own(desk: Desk) -> None:
    desk.write(record(text="one"))
    assert desk.write(record(text="two")).paths == (PATH,)
    assert (desk.checkout / PATH).read_text() == "two"


def test_a_file_that_is_as_it_should_be_is_not_touched(desk: Desk) -> None:
    desk.write(record())
    before = (desk.checkout / PATH).stat(), (desk.run / "records" / PATH).stat()

    def unasked(path: str) -> bool:
        raise AssertionError(f"git was asked about {path}, which costs a process")

    assert desk.write(record(), is_tracked=unasked) == Written()
    after = (desk.checkout / PATH).stat(), (desk.run / "records" / PATH).stat()
    assert [one.st_ino for one in before] == [one.st_ino for one in after]


def test_a_later_run_replaces_what_an_earlier_one_wrote(desk: Desk) -> None:
    desk.write(record(text="one"))
    assert desk.write(record(text="two"), run=desk.later).paths == (PATH,)


def test_a_writer_that_was_killed_in_between_knows_its_file_again(desk: Desk) -> None:
    """Whichever of the two copies is older, the file in the checkout stays burnish's own."""
    desk.write(record(text="one"))
    desk.write(record(text="two"))
    (desk.run / "records" / PATH).write_text("one")
    assert desk.write(record(text="three")).paths == (PATH,)
    (desk.checkout / PATH).write_text("two")
    assert desk.write(record(text="four")).paths == (PATH,)


def test_a_file_of_the_users_is_left_alone(desk: Desk) -> None:
    (desk.checkout / PATH).parent.mkdir(parents=True)
    (desk.checkout / PATH).write_text("mine")
    assert "did not write" in desk.refused(record())
    assert (desk.run / "records" / PATH).read_text() == "text\n"


def test_a_record_that_the_user_changed_is_left_alone(desk: Desk) -> None:
    desk.write(record(text="one"))
    (desk.checkout / PATH).write_text("one, and my notes")
    assert "did not write" in desk.refused(record(text="two"))


def test_a_record_copied_to_another_name_is_the_users(desk: Desk) -> None:
    desk.write(record(text="one"))
    other = PATH.replace("round-1", "round-2")
    (desk.checkout / other).write_text("one")
    assert "did not write" in desk.refused(record(text="one"), record(other, "two"))


def test_a_tracked_file_is_left_alone(desk: Desk) -> None:
    desk.write(record(text="one"))
    assert "tracked" in desk.refused(record(text="two"), is_tracked=lambda path: path == PATH)


def test_one_refusal_does_not_hold_up_the_others(desk: Desk) -> None:
    other = PATH.replace("round-1", "round-2")
    written = desk.write(record(), record(other), is_tracked=lambda path: path == PATH)
    assert written.paths == (other,)
    assert [notice.path for notice in written.notices] == [PATH]


@pytest.mark.parametrize("link", ["docs", "docs/progress", PATH])
@pytest.mark.parametrize("inside", [True, False])
def test_no_link_is_followed(desk: Desk, tmp_path: Path, link: str, inside: bool) -> None:
    target = desk.checkout / "real" if inside else tmp_path / "outside"
    target.mkdir()
    place = desk.checkout / link
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target / "file" if link == PATH else target)
    assert f"'{link}' is a symbolic link" in desk.refused(record())
    assert list(target.iterdir()) == []


@pytest.mark.parametrize("path", ["../x", "/etc/x", "docs/../../x", ".git/hooks/post-commit", "a/.git/x", "", "."])
def test_no_path_leads_out_of_the_checkout(desk: Desk, path: str) -> None:
    assert "leads out" in desk.refused(record(path))
    assert list((desk.run).iterdir()) == []


def test_something_that_is_no_file_is_left_alone(desk: Desk) -> None:
    (desk.checkout / PATH).mkdir(parents=True)
    assert "not a record" in desk.refused(record())


def test_a_pipe_is_not_waited_for(desk: Desk) -> None:
    (desk.checkout / PATH).parent.mkdir(parents=True)
    os.mkfifo(desk.checkout / PATH)
    assert "not a record" in desk.refused(record())


def test_a_file_too_large_for_a_record_is_left_alone(desk: Desk) -> None:
    (desk.checkout / PATH).parent.mkdir(parents=True)
    with (desk.checkout / PATH).open("wb") as stream:
        stream.truncate(MAX_RECORD_BYTES + 1)
    assert "not a record" in desk.write(record()).notices[0].message


def test_a_file_where_a_folder_is_needed_is_told(desk: Desk) -> None:
    (desk.checkout / "docs").write_text("a file")
    assert "cannot be written" in desk.refused(record())


def state(session: str = "one", **fields: object) -> RecordFile:
    text = json.dumps({"plugin": "burnish", "sessionId": session, **fields}) + "\n"
    return RecordFile(path=STATE, text=text, shared=True)


def test_fields_that_others_added_to_the_state_are_kept(desk: Desk) -> None:
    desk.write(state(status="in_progress", iterations=[{"iteration": 1, "r1": {"status": "pending"}}]))
    theirs = json.loads((desk.checkout / STATE).read_text())
    theirs["theirs"] = {"a": 1}
    theirs["iterations"][0]["note"] = "kept"
    theirs["iterations"][0]["r1"]["cost"] = 3
    theirs["status"] = "changed by hand"
    (desk.checkout / STATE).write_text(json.dumps(theirs))
    rounds = [{"iteration": 1, "r1": {"status": "complete"}}, {"iteration": 2}]
    assert desk.write(state(status="complete", iterations=rounds)).notices == ()
    assert json.loads((desk.checkout / STATE).read_text()) == {
        "plugin": "burnish",
        "sessionId": "one",
        "status": "complete",
        "iterations": [
            {"iteration": 1, "r1": {"status": "complete", "cost": 3}, "note": "kept"},
            {"iteration": 2},
        ],
        "theirs": {"a": 1},
    }
    assert "theirs" not in (desk.run / "records" / STATE).read_text()


def test_another_runs_rounds_are_not_mixed_with_ours(desk: Desk) -> None:
    (desk.checkout / STATE).parent.mkdir(parents=True)
    old = {"plugin": "burnish", "sessionId": "old", "iterations": [{"note": "old"}], "theirs": 1}
    (desk.checkout / STATE).write_text(json.dumps(old))
    desk.write(state(iterations=[{"iteration": 1}]))
    found = json.loads((desk.checkout / STATE).read_text())
    assert found == {"plugin": "burnish", "sessionId": "one", "iterations": [{"iteration": 1}], "theirs": 1}


@pytest.mark.parametrize(
    "theirs", ['{"plugin": "another"}', "{}", "[]", "no json", "", '{"plugin": "burnish"', "[" * 9000]
)
def test_a_state_of_another_tool_is_left_alone(desk: Desk, theirs: str) -> None:
    (desk.checkout / STATE).parent.mkdir(parents=True)
    (desk.checkout / STATE).write_text(theirs)
    assert "did not write" in desk.refused(state())


@pytest.mark.parametrize(
    "script",
    [
        RehearsalScript(protocol="epic", reviews={"*": ("critical a.py:1 one", "clean")}, fixes=("fixed",)),
        RehearsalScript(protocol="ticket", reviews={"*": ("scores 95 95 80 80 80 90",)}),
        RehearsalScript(
            protocol="panel", reviews={"*": ("clean", "clean"), "critic": ("info", "clean")}, fixes=("fixed",)
        ),
        RehearsalScript(protocol="drift", reviews={"*": ("drift: more", "pass")}, fixes=("fixed",)),
    ],
    ids=lambda script: script.protocol,
)
def test_records_that_were_removed_are_written_again_byte_for_byte(desk: Desk, script: RehearsalScript) -> None:
    run, known = played(script), RecordTexts(updated_at=1_700_000_100.0)
    assert desk.write(*record_files(run, known)).notices == ()
    first = snapshot_of(desk.checkout), snapshot_of(desk.run / "records")
    assert first[1]
    for file in record_files(run, known):
        (desk.run / "records" / file.path).unlink()
        (desk.checkout / file.path).unlink(missing_ok=True)
    assert desk.write(*record_files(run, known)).notices == ()
    assert (snapshot_of(desk.checkout), snapshot_of(desk.run / "records")) == first


@pytest.mark.parametrize("protocol", ["epic", "panel"])
def test_every_record_in_a_checkout_is_known_as_one(desk: Desk, protocol: str) -> None:
    reviews = {"*": ("high a.py:1 one", "clean")}
    run = played(RehearsalScript(protocol=protocol, reviews=reviews, fixes=("fixed",)))
    desk.write(*record_files(run, RecordTexts()))
    known = {path for pattern in RECORD_PATHS for path in desk.checkout.glob(pattern)}
    assert {str(path.relative_to(desk.checkout)) for path in known} == set(snapshot_of(desk.checkout))


def under(run: Run, protocol: Protocol) -> Run:
    return replace(run, started=replace(run.started, protocol=protocol))


def test_records_go_by_what_the_protocol_asks_for_and_not_by_its_name(tmp_path: Path) -> None:
    run = played(RehearsalScript(protocol="epic", reviews={"*": ("clean",)}))
    mine = tmp_path / "mine.toml"
    mine.write_text('extends = "epic"\n[limits]\nreviews = 2\n')
    assert record_files(under(run, load(str(mine)).protocol), RecordTexts()) == record_files(run, RecordTexts())
    mine.write_text('extends = "epic"\nrecords = "none"\n')
    assert record_files(under(run, load(str(mine)).protocol), RecordTexts()) == ()
    mine.write_text('extends = "default"\nname = "epic"\n')
    assert record_files(under(run, load(str(mine)).protocol), RecordTexts()) == ()


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_run_of_an_older_version_has_the_records_that_it_had(name: str) -> None:
    """Its first event has no key for them: the name of the protocol stands for it."""
    protocol = load(name).protocol
    older = replace(protocol, records=None)
    assert older.layout is protocol.layout
    assert replace(older, name="mine").layout is RecordLayout.NONE


# What earlier runs left.

OTHER = PATH.replace("round-1", "round-2")
VERDICT = ".agents/tmp/phases/review-1/r1-verdict.json"
SECOND_VERDICT = ".agents/tmp/phases/review-2/r1-verdict.json"


def verdict(path: str = VERDICT, text: str = "clean") -> RecordFile:
    return RecordFile(path=path, text=text, is_verdict=True)


def later(desk: Desk, *files: RecordFile, is_tracked: Callable[[str], bool] = nothing) -> Written:
    """Write the records of the later run, to which the first gives way."""
    first = desk.run.name
    return write(files, desk.destination(desk.later, is_tracked, lambda name: name == first))


def test_what_an_earlier_run_left_goes(desk: Desk) -> None:
    desk.write(record(text="one"), record(OTHER, "two"), verdict(), verdict(SECOND_VERDICT))
    assert later(desk, record(text="new")) == Written(paths=(PATH,), removed=(OTHER, VERDICT, SECOND_VERDICT))
    assert snapshot_of(desk.checkout) == {PATH: b"new"}
    assert not (desk.checkout / VERDICT).parent.exists(), "the folder of a round goes with its files"
    assert len(snapshot_of(desk.run / "records")) == 4, "the earlier run keeps its own copies"


def test_what_a_run_of_another_subject_left_stays(desk: Desk) -> None:
    desk.write(record(text="one"), verdict())
    assert desk.write(run=desk.later) == Written()
    assert len(snapshot_of(desk.checkout)) == 2


def test_a_changed_record_of_an_earlier_run_stays_and_is_named(desk: Desk) -> None:
    desk.write(record(), verdict())
    (desk.checkout / PATH).write_text("text\n, and my notes")
    written = later(desk)
    assert written.removed == (VERDICT,)
    [notice] = written.notices
    assert (notice.path, "changed since" in notice.message) == (PATH, True)
    assert (desk.checkout / PATH).read_text() == "text\n, and my notes"


def test_a_tracked_record_of_an_earlier_run_stays_and_is_named(desk: Desk) -> None:
    desk.write(record(), verdict())
    written = later(desk, is_tracked=lambda path: path == PATH)
    assert written.removed == (VERDICT,)
    [notice] = written.notices
    assert (notice.path, "tracked" in notice.message) == (PATH, True)
    assert (desk.checkout / PATH).exists()


def test_a_file_that_was_never_burnishs_is_not_spoken_of(desk: Desk) -> None:
    (desk.checkout / OTHER).parent.mkdir(parents=True)
    (desk.checkout / OTHER).write_text("mine")
    desk.write(record())
    assert later(desk).notices == ()
    assert snapshot_of(desk.checkout) == {OTHER: b"mine"}


def test_nothing_is_removed_through_a_link(desk: Desk, tmp_path: Path) -> None:
    desk.write(record())
    (desk.checkout / "docs").rename(tmp_path / "elsewhere")
    (desk.checkout / "docs").symlink_to(tmp_path / "elsewhere")
    [notice] = later(desk).notices
    assert "is a symbolic link" in notice.message
    assert (tmp_path / "elsewhere/progress" / Path(PATH).name).exists()


def test_a_folder_that_holds_something_else_stays(desk: Desk) -> None:
    desk.write(verdict())
    (desk.checkout / VERDICT).with_name("notes.txt").write_text("mine")
    assert later(desk).removed == (VERDICT,)
    assert [path.name for path in (desk.checkout / VERDICT).parent.iterdir()] == ["notes.txt"]


def test_a_run_that_keeps_records_out_of_the_checkout_removes_what_earlier_ones_left(desk: Desk) -> None:
    desk.write(verdict())
    destination = desk.destination(desk.later, gives_way=lambda _run: True)
    written = write([verdict(text="new")], destination._replace(fills_checkout=False))
    assert written == Written(removed=(VERDICT,))
    assert (desk.later / "records" / VERDICT).exists()


def test_what_a_run_no_longer_has_goes_from_both_places(desk: Desk) -> None:
    """Another version of burnish gave it another name, or judged otherwise."""
    desk.write(record(), verdict())
    assert desk.write(record()) == Written(removed=(VERDICT,))
    assert list(snapshot_of(desk.run / "records")) == [PATH]


def test_a_verdict_goes_first_and_comes_last_however_the_writer_is_killed(tmp_path: Path) -> None:
    """Wherever it is killed, a verdict stands only beside the reviews that it is about."""
    review = VERDICT.replace("verdict", "critic")
    old = (RecordFile(path=review, text="old"), verdict(text="old"), verdict(SECOND_VERDICT, "old"))
    new = (RecordFile(path=review, text="new"), verdict(text="new"))

    def begun(name: str) -> Desk:
        desk = Desk(tmp_path / name)
        desk.write(*old)
        return desk

    whole = begun("whole")
    number = operations(lambda: later(whole, *new))
    assert number > len(new) + len(old)
    for most in range(number):
        desk = begun(str(most))
        operations(lambda desk=desk: later(desk, *new), most)
        there = snapshot_of(desk.checkout)
        if VERDICT in there:
            assert there.get(review) == there[VERDICT], f"killed before operation {most}"
        assert later(desk, *new).notices == ()
        assert {path: data for path, data in snapshot_of(desk.checkout).items() if not path.endswith(".tmp")} == {
            review: b"new",
            VERDICT: b"new",
        }
