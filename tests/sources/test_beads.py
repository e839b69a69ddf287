"""Beads: what is read from their file and from their tools, what is told, and what a new status leaves as it is."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.core.epics.plan import EpicPlan
from burnish.sources.bead_tracker import BeadStatus, TrackerError, beads_in, claimed_between, tracker_of
from burnish.sources.interface import SourceError
from burnish.sources.registry import BeadQuery, is_beads, read_source

SAMPLE = Path(__file__).with_name("samples") / "issues.jsonl"
"""In the form in which bd exports its issues."""
NOTHING: dict[str, str] = {"PATH": ""}


def bead(name: str, **fields: Any) -> dict[str, Any]:
    return {"id": name, "title": f"Do {name}", "status": "open", "priority": 2, "issue_type": "task", **fields}


def needs(name: str, *others: str, kind: str = "blocks") -> list[dict[str, str]]:
    return [{"issue_id": name, "depends_on_id": other, "type": kind} for other in others]


def folder(root: Path, *beads: dict[str, Any] | str) -> Path:
    place = root / ".beads"
    place.mkdir(exist_ok=True)
    lines = [one if isinstance(one, str) else json.dumps(one) for one in beads]
    (place / "issues.jsonl").write_text("\n".join(lines) + "\n")
    return place


def read(place: Path, *, own: frozenset[str] = frozenset(), top: str = "", path: str = "") -> EpicPlan:
    return read_source(place, place.parent, beads=BeadQuery(environment={"PATH": path}, own=own, top=top))


def problems(place: Path) -> list[str]:
    with pytest.raises(SourceError) as raised:
        read(place)
    return [problem.sentence.removeprefix(str(place / "issues.jsonl")) for problem in raised.value.problems]


def test_open_beads_are_tickets_with_what_they_ask_for(tmp_path: Path) -> None:
    place = folder(tmp_path, *SAMPLE.read_text().splitlines())
    plan = read(place)
    assert (plan.id, plan.source, plan.kind, plan.reviewed_whole) == ("beads", ".beads", "beads", False)
    assert [(one.id, one.priority, one.depends_on) for one in plan.tickets] == [
        ("shop-a1", 1, ()),
        ("shop-a2", 0, ("shop-a1",)),
        ("shop-e1.1", 2, ()),
    ]
    first = plan.tickets[0]
    assert first.acceptance == ("Two of a kind are one line", "An empty basket costs nothing")
    assert first.text.startswith("# Keep what people chose\n\nA basket")
    assert "## Design\n\nOne class." in first.text
    assert "burnish:" not in first.text
    assert plan.left_out == (
        "Left out, in progress elsewhere: shop-a3.",
        "Left out, deferred: shop-a6.",
        "Left out, an epic, whose beads are the work: shop-e1.",
        "Left out, waits for shop-a3: shop-a4.",
    )


def test_only_what_blocks_is_waited_for(tmp_path: Path) -> None:
    soft = [
        *needs("b", "a", kind="related"),
        *needs("b", "a", kind="discovered-from"),
        *needs("b", "p", kind="parent-child"),
    ]
    place = folder(
        tmp_path, bead("a"), bead("p"), bead("b", dependencies=soft), bead("c", dependencies=needs("c", "a"))
    )
    assert {one.id: one.depends_on for one in read(place).tickets} == {"a": (), "p": (), "b": (), "c": ("a",)}


def test_what_a_closed_bead_held_up_is_free(tmp_path: Path) -> None:
    place = folder(tmp_path, bead("a", status="closed"), bead("b", dependencies=needs("b", "a")))
    assert [(one.id, one.depends_on) for one in read(place).tickets] == [("b", ())]


def test_a_part_of_the_list(tmp_path: Path) -> None:
    place = folder(
        tmp_path,
        bead("e", issue_type="epic"),
        bead("e.1"),
        bead("e.1.1"),
        bead("x", parent_id="e"),
        bead("y", dependencies=needs("y", "e", kind="parent-child")),
        bead("z"),
        bead("w", parent_id="e", dependencies=needs("w", "z")),
    )
    plan = read(place, top="e")
    assert (plan.id, plan.title) == ("beads-e", "Do e")
    assert [one.id for one in plan.tickets] == ["e.1", "e.1.1", "x", "y"]
    assert "Left out, waits for z: w." in plan.left_out
    with pytest.raises(SourceError, match="There is no bead 'q'"):
        read(place, top="q")


def test_the_beads_of_a_run_stay_in_the_plan(tmp_path: Path) -> None:
    place = folder(tmp_path, bead("a", status="in_progress"), bead("b", dependencies=needs("b", "a")))
    assert read(place).tickets == ()
    assert [one.id for one in read(place, own=frozenset({"a"})).tickets] == ["a", "b"]


def test_all_mistakes_are_told_with_their_lines(tmp_path: Path) -> None:
    place = folder(
        tmp_path,
        bead("a", dependencies=needs("a", "nowhere")),
        bead("b", priority="soon"),
        {"title": "no id"},
        bead("a"),
        bead("c d"),
        bead("x", dependencies=needs("x", "y")),
        bead("y", dependencies=needs("y", "x")),
        bead("t", description=7),
    )
    told = problems(place)
    for line in (
        ":1: The ticket 'a' depends on 'nowhere', which is unknown.",
        ":2: priority: 'priority' must be a number from 0 to 9; 0 comes first.",
        ":3: id: The bead has no id.",
        ":4: id: The id 'a' is there twice.",
        ":8: description: 'description' must be a text.",
    ):
        assert line in told, told
    assert any(one.startswith(":5: The id 'c d' cannot be part of the branch") for one in told)
    assert any("The dependencies form a cycle: " in one for one in told)


def test_lines_that_are_no_beads(tmp_path: Path) -> None:
    place = folder(tmp_path, bead("a"), "<<<<<<< HEAD", "{", "[1]", "")
    assert [one.split(":")[1] for one in problems(place)] == ["2", "3", "4"]
    (place / "issues.jsonl").unlink()
    assert problems(place) == [": There is no such file, and `bd` is not installed."]


def test_how_a_list_is_named(tmp_path: Path) -> None:
    place = folder(tmp_path, bead("a"))
    for path in (place, place / "issues.jsonl", tmp_path):
        assert is_beads(path)
        assert [one.id for one in read_source(path, tmp_path, beads=BeadQuery(environment=NOTHING)).tickets] == ["a"]
    (tmp_path / "epic.yaml").write_text("epic: e\ntickets: [{id: t, description: d}]\n")
    assert not is_beads(tmp_path)


# --- marks -------------------------------------------------------------------------------------------------------


def marked(place: Path, name: str, status: BeadStatus, note: str = "") -> list[str]:
    tracker, _ = tracker_of(place, NOTHING)
    tracker.mark(name, status, note)
    return (place / "issues.jsonl").read_text().split("\n")


def test_a_new_status_leaves_everything_else_byte_for_byte(tmp_path: Path) -> None:
    place = folder(tmp_path, *SAMPLE.read_text().splitlines())
    file = place / "issues.jsonl"
    file.chmod(0o640)
    before = file.read_text().split("\n")
    after = marked(place, "shop-a1", BeadStatus.IN_PROGRESS)
    assert [after[at] == before[at] for at in range(len(before))] == [False, *[True] * (len(before) - 1)]
    old, new = json.loads(before[0]), json.loads(after[0])
    assert list(new) == list(old)
    assert {key for key in new if new[key] != old[key]} == {"status", "updated_at"}
    assert '"estimate": 1.50,' in after[0]
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    closed = json.loads(marked(place, "shop-a1", BeadStatus.CLOSED, "merged as abc")[0])
    assert (closed["status"], closed["close_reason"], closed["closed_at"]) == (
        *("closed", "merged as abc"),
        closed["updated_at"],
    )
    opened = json.loads(marked(place, "shop-a1", BeadStatus.OPEN, "failed: <no>")[0])
    assert "closed_at" not in opened
    assert "close_reason" not in opened
    assert opened["notes"].endswith("burnish: failed: <no>")
    again = json.loads(marked(place, "shop-a1", BeadStatus.OPEN, "failed again")[0])
    assert again["notes"].count("burnish: ") == 1
    assert read(place).tickets[0].text == read(folder(tmp_path, *SAMPLE.read_text().splitlines())).tickets[0].text


@given(
    st.dictionaries(
        st.text(min_size=1, max_size=8), st.one_of(st.text(max_size=8), st.floats(allow_nan=False), st.none())
    ),
    st.sampled_from(list(BeadStatus)),
    st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]),
)
def test_whatever_fields_a_bead_has_they_are_kept(
    tmp_path_factory: pytest.TempPathFactory, fields: dict[str, Any], status: BeadStatus, form: tuple[str, str]
) -> None:
    own = {"status", "updated_at", "closed_at", "close_reason", "notes", "id", "issue_id", "key"}
    fields = {key: value for key, value in fields.items() if key not in own}
    place = folder(tmp_path_factory.mktemp("b"), json.dumps({"closed_at": None, **fields, "id": "a"}, separators=form))
    after = json.loads(marked(place, "a", status, "why")[0])
    assert {key: after[key] for key in fields} == fields
    assert after["status"] == status.value


def test_a_bead_that_is_gone_cannot_be_marked(tmp_path: Path) -> None:
    with pytest.raises(TrackerError, match="has no bead 'b'"):
        marked(folder(tmp_path, bead("a")), "b", BeadStatus.OPEN)


def test_what_was_claimed_between_two_states_of_a_list() -> None:
    def listed(**statuses: str) -> Any:
        return beads_in("\n".join(json.dumps(bead(name, status=now)) for name, now in statuses.items()), "f")

    before = listed(a="open", b="open", c="in_progress", d="open")
    assert claimed_between(before, listed(a="open", b="in_progress", c="closed", d="open", e="in_progress")) == [
        "b",
        "c",
    ]


# --- tools -------------------------------------------------------------------------------------------------------

BD = """#!/bin/sh
# Stands in for bd: it keeps the same JSON in a file of its own, and says what it was asked.
echo "$@" >> "$PWD/asked"
mark() {
  sed -i "s/\\"id\\": \\"$1\\", \\"status\\": \\"[a-z_]*\\"/\\"id\\": \\"$1\\", \\"status\\": \\"$2\\"/" bd.json
}
case "$1 $2" in
"--readonly list") cat "$PWD/bd.json" ;;
"close "*) mark "$2" closed ;;
"update "*) mark "$2" "$4" ;;
"comments add") ;;
*) echo "unknown command" >&2; exit 1 ;;
esac
"""


def stand_in(root: Path, script: str = BD, name: str = "bd") -> str:
    programs = root / "bin"
    programs.mkdir(exist_ok=True)
    (programs / name).write_text(script)
    (programs / name).chmod(0o755)
    return f"{programs}:/usr/bin:/bin"


@pytest.mark.parametrize("wrap", ["{}", '{{"issues": {}}}', '{{"data": {{"tasks": {}}}}}', '{{"items": {}}}'])
def test_a_tool_is_asked_where_it_is_installed(tmp_path: Path, wrap: str) -> None:
    place = folder(tmp_path, "not read")
    listed = json.dumps([{"id": "a", "status": "open", "summary": "From bd", "key": "no"}, {"key": "b", "name": "B"}])
    (tmp_path / "bd.json").write_text(wrap.format(listed))
    path = stand_in(tmp_path)
    assert [(one.id, one.title) for one in read(place, path=path).tickets] == [("a", "From bd"), ("b", "B")]
    assert (tmp_path / "asked").read_text() == "--readonly list --json --all --limit 0\n"


def test_a_tool_marks_its_beads_itself(tmp_path: Path) -> None:
    place = folder(tmp_path, "not read")
    (tmp_path / "bd.json").write_text(json.dumps([{"id": "a", "status": "open"}]))
    tracker, notice = tracker_of(place, {"PATH": stand_in(tmp_path)})
    tracker.mark("a", BeadStatus.IN_PROGRESS, "")
    assert [one.fields["status"] for one in tracker.beads()] == ["in_progress"]
    tracker.mark("a", BeadStatus.OPEN, "why")
    tracker.mark("a", BeadStatus.CLOSED, "done")
    asked = [line for line in (tmp_path / "asked").read_text().splitlines() if "list" not in line]
    assert asked == [
        "update a --status in_progress",
        "update a --status open",
        "comments add a burnish: why",
        "close a --reason done",
    ]
    assert (tracker.name, notice) == ("bd", "")
    assert (place / "issues.jsonl").read_text() == "not read\n"


def test_a_tool_that_fails_gives_way_to_the_file(tmp_path: Path) -> None:
    place = folder(tmp_path, bead("a"))
    path = stand_in(tmp_path, "#!/bin/sh\necho 'no database' >&2\nexit 1\n")
    plan = read(place, path=path)
    assert [one.id for one in plan.tickets] == ["a"]
    assert plan.left_out[0].startswith("`bd list` failed: no database. burnish reads and writes ")
    (place / "issues.jsonl").unlink()
    with pytest.raises(TrackerError, match="no database"):
        read(place, path=path)


def test_tasque_has_a_tool_of_its_own(tmp_path: Path) -> None:
    place = tmp_path / ".tasque"
    place.mkdir()
    script = '#!/bin/sh\necho \'{"ok": true, "data": {"tasks": [{"id": "tsq-1", "title": "T", "status": "open"}]}}\'\n'
    path = stand_in(tmp_path, script, "tsq")
    assert [one.id for one in read(place, path=path).tickets] == ["tsq-1"]
