"""Task lists in markdown: what is a ticket, what belongs to it, and ids that stay."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from burnish.sources.registry import read_source
from tests.sources.reading import SAMPLES, fields, read, refused


def ids(folder: Path, text: str) -> list[str]:
    return [ticket.id for ticket in read(folder, "tasks.md", text).tickets]


def test_the_sample() -> None:
    plan = read_source(SAMPLES / "tasks.md", SAMPLES)
    assert (plan.id, plan.title, plan.kind) == ("tasks", "Spring cleaning", "tasks")
    assert plan.description == "What has waited since winter."
    assert plan.acceptance == ("Nothing of winter is left",)
    assert [fields(ticket) for ticket in plan.tickets] == snapshot(
        [
            {
                "id": "T1",
                "title": "Remove the old table",
                "text": """\
# Remove the old table

Part of: Spring cleaning / Data
""",
                "done": True,
            },
            {
                "id": "T2",
                "title": "Write the importer (after T1)",
                "text": """\
# Write the importer (after T1)

Part of: Spring cleaning / Data

It reads the new format.

- see the format in docs/

## Acceptance Criteria

- [ ] Bad lines are reported with their number
- [x] Empty files are fine
""",
                "depends_on": ("T1",),
                "acceptance": ("Bad lines are reported with their number", "Empty files are fine"),
                "ticked": ("Empty files are fine",),
                "boxes": ("Bad lines are reported with their number", "Empty files are fine"),
            },
            {
                "id": "show-the-result",
                "title": "Show the result",
                "text": """\
# Show the result

Part of: Spring cleaning / Pages

- depends on: T2
""",
                "depends_on": ("T2",),
            },
            {
                "id": "show-the-result-2",
                "title": "Show the result",
                "text": """\
# Show the result

Part of: Spring cleaning / Pages
""",
            },
            {
                "id": "page-style",
                "title": "Use the new colours (after lunch)",
                "text": """\
# Use the new colours (after lunch)

Part of: Spring cleaning / Pages
""",
            },
        ]
    )


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("T1: do it", "T1"),
        ("**auth-base** do it", "auth-base"),
        ("**T1:** do it", "T1"),
        ("[T1] do it", "T1"),
        ("(T1) do it", "T1"),
        ("T001 [P] do it", "T001"),
        ("2.1 do it", "2.1"),
        ("1. do it", "1"),
        ("feat: do it", "feat-do-it"),
        ("**Important** do it", "important-do-it"),
        ("[a1](b.md) do it", "a1-b-md-do-it"),
        ("Do it (after lunch)", "do-it"),
        ("~~Do it~~", "do-it"),
        ("Füße & Ärger", "füsse-ärger"),
        ("!!!", "task"),
    ],
)
def test_the_id_of_a_task(tmp_path: Path, task: str, name: str) -> None:
    assert ids(tmp_path, f"- [ ] {task}\n") == [name]


def test_ids_stay_when_tasks_are_added_and_ticked(tmp_path: Path) -> None:
    long = "A task of many words that goes on and on until its name is far too long"
    before = ids(tmp_path, f"- [ ] {long} indeed\n- [ ] T2: second\n- [ ] Third (after T2)\n")
    after = ids(
        tmp_path, f"- [ ] New\n- [ ] {long} in truth\n- [x] ~~{long} indeed~~\n- [x] T2: changed\n- [ ] Third\n"
    )
    assert after[2:] == before
    assert len(set(after)) == 5


def test_what_looks_like_an_id_in_two_tasks_is_none(tmp_path: Path) -> None:
    assert ids(tmp_path, "- [ ] S3 upload\n- [ ] S3 download\n- [ ] S3 upload\n") == [
        "s3-upload",
        "s3-download",
        "s3-upload-2",
    ]


@pytest.mark.parametrize(
    ("text", "depends_on"),
    [
        ("do (after T1, T2)", ("T1", "T2")),
        ("do (depends on: T1 and T2)", ("T1", "T2")),
        ("do; depends on: `T1`.", ("T1",)),
        ("do. Blocked by T2", ("T2",)),
        ("do (after Clean up)", ("clean-up",)),
        ("do\n  (after\n  T1)", ("T1",)),
        ("do\n\n  Depends on: T1", ("T1",)),
        ("do (after dinner and lunch)", ()),
        ("do, depends on: none", ()),
    ],
)
def test_the_dependencies_of_a_task(tmp_path: Path, text: str, depends_on: tuple[str, ...]) -> None:
    plan = read(tmp_path, "tasks.md", f"- [ ] T1: a\n- [ ] T2: b\n- [ ] Clean up\n- [ ] T3: {text}\n")
    assert plan.tickets[3].depends_on == depends_on


def test_tasks_may_stand_in_a_list_of_topics(tmp_path: Path) -> None:
    assert ids(tmp_path, "- Topic\n  - [ ] one\n    - [ ] inside\n  - [ ] two\n- Other\n\n1. [ ] three\n") == [
        "one",
        "two",
        "three",
    ]


def test_mistakes_are_told_together(tmp_path: Path) -> None:
    text = "- [-] a\n- [ ] T1: b (after T2)\n- [ ] T2: c (after T1)\n- [ ] t1: d; depends on: T22\n  - [] e\n"
    assert refused(tmp_path, "tasks.md", text) == snapshot(
        [
            "tasks.md:1: The check box '[-]' is neither open nor ticked.",
            "tasks.md:2: The dependencies form a cycle: T1 → T2 → T1.",
            "tasks.md:4: The ids 'T1' and 't1' differ only in case.",
            "tasks.md:4: The ticket 't1' depends on 'T22', which is unknown.",
            "tasks.md:5: The check box '[]' is neither open nor ticked.",
        ]
    )


def test_a_file_without_tasks(tmp_path: Path) -> None:
    text = "# A ticket\n## Acceptance Criteria\n- [ ] it works\n"
    assert refused(tmp_path, "tasks.md", text) == ["tasks.md: The file has no task list."]
