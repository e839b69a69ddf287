"""What is read from a brief: title, criteria with their boxes, coordination requirements, and its epic."""

from pathlib import Path

import pytest

from burnish.core.brief_text import MAX_BRIEF_BYTES, acceptance_criteria, title_of
from burnish.core.errors import ErrorKind
from burnish.usecases.read_brief import Brief, BriefError, read_brief

EPIC = "epic: login\ncoordination_requirements:\n  shared:\n    - a\n\n# more\ntickets:\n  - id: auth-base\n"


def read(root: Path, path: str, text: str, *, story: str = "", base: dict[str, bytes] | None = None) -> Brief:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)
    return read_brief(str(root / path), root, story, (base or {}).get)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Story 1.2: Log in", "Log in"),
        ("# ticket auth-base: Log in", "Log in"),
        ("# auth-base\n\ntext", "auth-base"),
        ("---\ntitle: 'Log in'\n---\n# Other", "Log in"),
        ("# ---\n# title: Log in\n# ---\n# Other", "Log in"),
        ("# Log\x1b[31m in", "Log in"),
        ("# ---\n# id: a\n# ---\n```sh\n# a comment\n```\n# Other", "Other"),
        ("no heading", ""),
    ],
)
def test_the_title(text: str, title: str) -> None:
    assert title_of(text) == title


def test_boxes_say_which_criteria_are_met(tmp_path: Path) -> None:
    brief = read(tmp_path, "b.md", "## Acceptance Criteria\n- [x] one\n- [ ] two\n* three\n## Other\n- [x] four\n")
    assert brief.acceptance == ("one", "two", "three")
    assert brief.ticked == {"one": True, "two": False}


def test_the_section_on_coordination_with_what_is_below_it(tmp_path: Path) -> None:
    text = "# T\n## Coordination Requirements\nA\n### Interfaces\nB\n## Next\nC\n"
    assert read(tmp_path, "b.md", text).coordination == "A\n### Interfaces\nB"


def test_the_path_is_that_of_the_repository(tmp_path: Path) -> None:
    root = tmp_path / "root"
    assert read(root, "docs/b.md", "").file == "docs/b.md"
    (tmp_path / "outside.md").write_text("")
    assert read_brief(str(tmp_path / "outside.md"), root, "", lambda _: None).file == ""


def test_an_epic_above_the_brief_that_lists_the_ticket(tmp_path: Path) -> None:
    (tmp_path / "login.epic.yaml").write_text(EPIC)
    (tmp_path / "other.epic.yaml").write_text(EPIC.replace("auth-base", "else"))
    brief = read(tmp_path, "tickets/auth-base.md", "# auth-base")
    assert (brief.epic, brief.coordination) == ("login.epic.yaml", "  shared:\n    - a\n\n# more")
    assert read(tmp_path, "tickets/unknown.md", "# x").epic == ""
    assert read(tmp_path, "tickets/unknown.md", "# x", story="auth-base").epic == "login.epic.yaml"


def test_an_epic_that_the_brief_names(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(EPIC)
    assert read(tmp_path, "tickets/a.md", "---\nepic: ../plan.yaml\n---\n").epic == "plan.yaml"
    assert read(tmp_path, "tickets/a.md", "---\nepic: plan.yaml\n---\n").epic == "plan.yaml"
    assert read(tmp_path, "tickets/a.md", "---\nepic: 3\n---\n").epic == ""


def test_the_requirements_of_the_base_hold_over_those_of_the_working_tree(tmp_path: Path) -> None:
    (tmp_path / "epic.yaml").write_text("coordination_requirements: none\ntickets:\n  - id: a\n")
    brief = read(tmp_path, "a.md", "# a", base={"epic.yaml": EPIC.encode()})
    assert brief.coordination == "  shared:\n    - a\n\n# more"


@pytest.mark.parametrize("named", ["missing.yaml", "../../outside.yaml", "link.yaml"])
def test_an_epic_that_is_not_in_the_repository_is_an_error(tmp_path: Path, named: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside.yaml").write_text(EPIC)
    (root / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    with pytest.raises(BriefError, match="not in the repository"):
        read(root, "t/a.md", f"---\nepic: {named}\n---\n")


TICKET = """# T-1

## Acceptance Criteria

- [ ] The user can log in
  with a name and a password,
  and stays logged in.

  A wrong password is told.
- [x] Errors are logged
without the password
* Third

Text that belongs to none.

1. Numbered: first line
   second line

## Files

- not a criterion
"""


def test_criteria_of_several_lines_are_whole() -> None:
    assert tuple(criterion.text for criterion in acceptance_criteria(TICKET)) == (
        "The user can log in with a name and a password, and stays logged in. A wrong password is told.",
        "Errors are logged without the password",
        "Third",
        "Numbered: first line second line",
    )


def test_a_comment_in_code_ends_no_section() -> None:
    text = "## Acceptance Criteria\n- one\n\n```sh\n# a comment\n- no item\n```\n- two\n"
    assert [criterion.text for criterion in acceptance_criteria(text)] == ["one", "two"]


def test_a_brief_of_the_greatest_size_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "brief.md").write_text("x" * MAX_BRIEF_BYTES)
    assert len(read_brief(str(tmp_path / "brief.md"), tmp_path, "", lambda _: None).text) == MAX_BRIEF_BYTES


def test_a_larger_brief_is_refused_not_cut(tmp_path: Path) -> None:
    (tmp_path / "brief.md").write_text("x" * (MAX_BRIEF_BYTES + 1))
    with pytest.raises(BriefError, match="larger than 262,144 bytes") as raised:
        read_brief(str(tmp_path / "brief.md"), tmp_path, "", lambda _: None)
    assert raised.value.kind is ErrorKind.USAGE
    assert raised.value.hint
