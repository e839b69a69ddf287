"""A story's own files: which one says how it stands, and what it says."""

from pathlib import Path

import pytest

from burnish.core.events import Mode, StoryStatus, Subject
from burnish.core.findings import Finding, Location, Severity
from burnish.core.story_text import is_story, with_action_items
from burnish.core.values import replace
from burnish.runtime.stories import (
    StoryError,
    find_status_file,
    note_action_items,
    of_work_tree,
    story_status,
    story_words,
)
from burnish.testing.repositories import RepositoryBuilder
from burnish.usecases.plan_run import RunRequest, plan
from burnish.workspace.repository import Repository

SPRINT = "a/sprint-status.yaml"
POLICY = 'protocol = "story"\n[agents.mine]\nkind = "command"\ncommand = ["true"]\n[roles]\nreview = "mine"\n'


def repository(folder: Path, files: dict[str, str]) -> Repository:
    builder = RepositoryBuilder(folder / "repository").commit({"app.py": "", "burnish.toml": POLICY}, "Begin")
    return Repository.discover(builder.branch("change").commit({"app.py": "x = 1\n", **files}, "Change").path)


def sprint(*lines: str) -> str:
    return "\n".join(("development_status:", "  epic-1: in-progress", *(f"  {line}" for line in lines))) + "\n"


def status(repository: Repository, story: str, status_file: str = "") -> StoryStatus:
    head = repository.commit_of("HEAD")
    subject = Subject(
        branch="b", base="main", base_commit=head, head=head, tree="", story=story, status_file=status_file
    )
    return story_status(repository, head, subject)


@pytest.mark.parametrize(
    ("name", "story"),
    [
        ("1-1-login", "1.1"),
        ("1-1-login", "1-1"),
        ("1-1-login", "1-1-login"),
        ("1-1", "1-1-login"),
        ("1-1-1-sub", "1.1.1"),
        ("2-1-D1-extra", "2.1-D1"),
        ("3-1a-more", "3-1a"),
        ("1-2-2fa-login", "1.2"),
        ("login", "login"),
    ],
)
def test_a_story_is_known_by_its_whole_id(name: str, story: str) -> None:
    assert is_story(name, story)


@pytest.mark.parametrize(
    ("name", "story"),
    [
        ("1-1-1-sub", "1.1"),
        ("1-1-login", "1.1.1"),
        ("1-10-login", "1.1"),
        ("2-1-D1-extra", "2.1"),
        ("3-1a-more", "3.1"),
        ("1-1-login", "1-1-logout"),
        ("login-page", "login"),
        ("epic-1", "1"),
    ],
)
def test_no_story_is_taken_for_another_whose_id_begins_alike(name: str, story: str) -> None:
    assert not is_story(name, story)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1-2-a-story: done", StoryStatus.DONE),
        ('1-2-a-story: "done"  # by hand', StoryStatus.DONE),
        ("'1-2-a-story': Done", StoryStatus.DONE),
        ("1-2-a-story: review", StoryStatus.NOT_DONE),
        ("1-2-a-story: not done", StoryStatus.NOT_DONE),
        ("1-2-a-story: [done]", StoryStatus.NOT_DONE),
        ("1-2-a-story: # done", StoryStatus.NOT_DONE),
    ],
)
def test_a_sprint_status_says_how_a_story_stands(tmp_path: Path, line: str, expected: StoryStatus) -> None:
    files = {SPRINT: f"metadata:\n  1-2-a-story: done\n{sprint('1-2-1-other: done', line)}"}
    assert status(repository(tmp_path, files), "1.2") is expected


def test_a_key_that_stands_there_twice_is_done_only_where_both_say_so(tmp_path: Path) -> None:
    assert status(repository(tmp_path, {SPRINT: sprint("1-2-a: done", "1-2-a: review")}), "1.2") is StoryStatus.NOT_DONE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# Story\n\nStatus: done  # PR 7\n", StoryStatus.DONE),
        ("# ---\n# id: 1.2\n# status: done\n# ---\n", StoryStatus.DONE),
        ("# Story\n\n**Status:** review\n", StoryStatus.NOT_DONE),
        ("# Story\n\n## Status\n\nDone\n", StoryStatus.DONE),
        ("# Story\n\nStatus:\n\n## Done\n\n- nothing\n", StoryStatus.ABSENT),
    ],
)
def test_without_a_sprint_status_the_storys_own_file_says_it(tmp_path: Path, text: str, expected: StoryStatus) -> None:
    assert status(repository(tmp_path, {"stories/1-2-a-story.md": text}), "1.2") is expected


def test_the_sprint_status_comes_first_and_is_the_only_one_that_counts(tmp_path: Path) -> None:
    files = {SPRINT: sprint("1-2-a: review"), "stories/1-2-a.md": "Status: done\n"}
    there = repository(tmp_path, files)
    assert find_status_file(there, there.commit_of("HEAD"), "1.2") == SPRINT
    assert status(there, "1.2") is StoryStatus.NOT_DONE


@pytest.mark.parametrize(
    ("files", "named"),
    [
        ({SPRINT: sprint("1-2-a: done"), "b/sprint-status.yaml": sprint("1-2-a: review")}, (SPRINT, "b/sprint-st")),
        ({"one/1-2-a.md": "Status: done\n", "two/1-2-a.md": "Status: review\n"}, ("one/1-2-a.md", "two/1-2-a.md")),
        ({SPRINT: sprint("1-2-a: done", "1-2-b: review")}, (SPRINT, "1-2-a, 1-2-b")),
        ({SPRINT: sprint("1-1-1-sub: done", "2-1-x: done")}, (SPRINT, "does not list story 1.2", "1-1-1-sub")),
    ],
)
def test_where_it_is_not_clear_which_file_counts_the_error_names_them(
    tmp_path: Path, files: dict[str, str], named: tuple[str, ...]
) -> None:
    there = repository(tmp_path, files)
    with pytest.raises(StoryError) as error:
        plan(there.root, RunRequest(mode=Mode.FIX, story="1.2"), {"HOME": str(tmp_path)})
    assert all(name in f"{error.value.message} {error.value.hint}" for name in named)
    assert error.value.hint
    assert status(there, "1.2") is StoryStatus.NOT_DONE


def test_two_sprints_are_fine_where_one_of_them_lists_the_story(tmp_path: Path) -> None:
    there = repository(tmp_path, {SPRINT: sprint("1-1-x: done"), "b/sprint-status.yaml": sprint("1-2-y: done")})
    planned = plan(there.root, RunRequest(mode=Mode.FIX, story="1.2"), {"HOME": str(tmp_path)})
    assert planned.subject.status_file == "b/sprint-status.yaml"


def test_no_file_that_a_session_adds_takes_the_place_of_the_one_that_was_chosen(tmp_path: Path) -> None:
    there = repository(
        tmp_path, {"a.md": "", "0/sprint-status.yaml": sprint("1-2-y: done"), SPRINT: sprint("1-2-y: review")}
    )
    assert status(there, "1.2", status_file=SPRINT) is StoryStatus.NOT_DONE
    assert status(there, "1.2", status_file="gone/sprint-status.yaml") is StoryStatus.NOT_DONE


def test_without_any_file_of_the_story_there_is_no_status(tmp_path: Path) -> None:
    there = repository(tmp_path, {})
    assert find_status_file(there, there.commit_of("HEAD"), "1.2") == ""
    assert status(there, "1.2") is StoryStatus.ABSENT
    assert status(there, "") is StoryStatus.ABSENT


def test_work_that_is_not_committed_is_named(tmp_path: Path) -> None:
    there = repository(tmp_path, {})
    wanted = RunRequest(mode=Mode.FIX, story="1.2")
    environment = {"HOME": str(tmp_path)}
    assert not any("Not committed" in notice for notice in plan(there.root, wanted, environment).notices)
    (there.root / "app.py").write_text("x = 2\n")
    (there.root / "new.py").write_text("y = 1\n")
    (told,) = [notice for notice in plan(there.root, wanted, environment).notices if "Not committed" in notice]
    assert told.startswith("Not committed, so not reviewed: app.py, new.py. ")
    elsewhere = RunRequest(mode=Mode.FIX, story="1.2", branch="change", base="main")
    there.git.run("checkout", "--quiet", "--force", "main")
    assert not any("Not committed" in notice for notice in plan(there.root, elsewhere, environment).notices)


SLOW = Finding(severity=Severity.HIGH, title="Answers\nare slow", location=Location(file="app.py", line=3))
VAGUE = Finding(severity=Severity.LOW, title="Names are vague")


def noted(story: bytes, finding: Finding) -> bytes:
    text = story.decode("utf-8", errors="surrogateescape")
    return with_action_items(text, [finding]).encode("utf-8", errors="surrogateescape")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"# Story", b"# Story\n\n## Review Action Items\n\n- [ ] [HIGH] Answers are slow (app.py:3)\n"),
        (
            b"# Story\r\n\xff\n",
            b"# Story\r\n\xff\n\n## Review Action Items\n\n- [ ] [HIGH] Answers are slow (app.py:3)\n",
        ),
        (
            b"## Review Action Items\n\n- [x] [LOW] Names are vague\n\n## Notes\n",
            (
                b"## Review Action Items\n\n- [x] [LOW] Names are vague\n"
                b"- [ ] [HIGH] Answers are slow (app.py:3)\n\n## Notes\n"
            ),
        ),
        (
            b"## Review Action Items\n## Notes\n",
            b"## Review Action Items\n\n- [ ] [HIGH] Answers are slow (app.py:3)\n## Notes\n",
        ),
    ],
)
def test_what_a_session_left_becomes_a_task_of_the_story(before: bytes, after: bytes) -> None:
    assert noted(before, SLOW) == after
    assert noted(after, SLOW) == after
    moved = replace(SLOW, location=Location(file="app.py", line=9))
    assert noted(after, moved) == after


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("# Not a story\n")
    clone = tmp_path / "clone"
    clone.mkdir()
    (clone / "1-2-a.md").symlink_to(outside)
    note_action_items(clone, "1-2-a.md", [VAGUE])
    assert outside.read_text() == "# Not a story\n"
    note_action_items(clone, "gone/1-2-a.md", [VAGUE])
    assert [path.name for path in clone.iterdir()] == ["1-2-a.md"]


def test_findings_of_a_review_are_not_the_storys_own_file(tmp_path: Path) -> None:
    for name in ("plan/1-1-first.md", "docs/progress/story-1-1-first-review-findings-round-1.md"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("Status: done\n")
    words = story_words(of_work_tree(tmp_path), "1.1")
    assert (words.story_file, words.story) == ("plan/1-1-first.md", "done")
