"""Sprint statuses and story files: what is read from them, and every mistake with its place."""

import json
from pathlib import Path

import pytest

from burnish.core.story_text import sprint_entries, story_id, with_file_status, with_statuses
from burnish.core.work import Assignment
from burnish.settings.documents import DocumentError
from burnish.sources.registry import read_source
from burnish.sources.stories import SourceOptions

SPRINT = """\
# made by a tool
project: "Web Shop"
story_location: plan/stories

development_status:
  epic-1: in-progress   # an epic is no story
  1-1-login: done
  "1-2-logout": "ready-for-dev"   # next
  1-2-1-sub: backlog
  2-1-D1-fix: skipped
  3-1a-late: review
  epic-1-retrospective: optional
"""
STORIES = {
    "1-2-logout": (
        "# ---\n# id: 1.2\n# title: Log out\n# depends_on: [1.1]\n# touches: [app.py]\n# risk: high\n# ---\n# S\n"
    ),
    "1-2-1-sub": '---\nid: 1.2.1\ndepends_on: ["1.2"]\n---\n# Sub\n\nStatus: backlog  # PR 3\n',
    "3-1a-late": "# Story 3.1a: Late\n",
}


def project(root: Path, sprint: str = SPRINT, **files: str) -> Path:
    for key, text in STORIES.items():
        path = root / "plan" / "stories" / f"{key}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (root / "plan" / "sprint-status.yaml").write_text(sprint)
    for name, text in files.items():
        (root / "plan" / name.replace("__", ".")).write_text(text)
    return root / "plan" / "sprint-status.yaml"


def mistakes(root: Path, *, sprint: str = SPRINT, scope: tuple[str, ...] = (), **files: str) -> str:
    with pytest.raises(DocumentError) as caught:
        read_source(project(root, sprint, **files), root, SourceOptions(scope=scope))
    return str(caught.value).replace(str(root), "ROOT")


def test_stories_are_read_in_their_order_with_what_they_wait_for(tmp_path: Path) -> None:
    plan = read_source(project(tmp_path), tmp_path)
    assert (plan.id, plan.kind, plan.source) == ("web-shop", "stories", "plan/sprint-status.yaml")
    assert (plan.reviewed_whole, plan.in_order, plan.protocol) == (False, True, "")
    assert [(one.id, one.depends_on) for one in plan.tickets] == [
        ("1-1-login", ()),
        ("1-2-logout", ("1-1-login",)),
        ("1-2-1-sub", ("1-2-logout",)),
        ("2-1-D1-fix", ()),
        ("3-1a-late", ()),
    ]
    done, logout, _, skipped, late = plan.tickets
    assert (done.done, skipped.skipped, late.begun, late.built) == (True, True, True, True)
    assert (logout.title, logout.touches, logout.complexity) == ("Log out", ("app.py",), "high")


def test_a_scope_names_stories_and_leaves_out_what_is_done(tmp_path: Path) -> None:
    plan = read_source(project(tmp_path), tmp_path, SourceOptions(scope=("1.2", "1.2.1")))
    assert [one.id for one in plan.tickets] == ["1-2-logout", "1-2-1-sub"]
    assert (plan.id, plan.tickets[0].depends_on, plan.scope) == ("1", (), ("1.2", "1.2.1"))


@pytest.mark.parametrize("folder", [".", "plan"])
def test_the_sprint_status_of_a_folder_is_found(tmp_path: Path, folder: str) -> None:
    project(tmp_path)
    assert read_source(tmp_path / folder, tmp_path).kind == "stories"


def test_several_sprint_statuses_are_an_error_that_names_them(tmp_path: Path) -> None:
    project(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "sprint-status.yaml").write_text(SPRINT)
    with pytest.raises(DocumentError, match=r"several sprint statuses: .*other/sprint.*plan/sprint"):
        read_source(tmp_path, tmp_path)


def test_all_mistakes_are_told_with_their_lines(tmp_path: Path) -> None:
    sprint = SPRINT.replace("3-1a-late: review", "3-1a-late: reviewing\n  1-1-login: done")
    told = mistakes(tmp_path, sprint=sprint, scope=("9.9",))
    assert "sprint-status.yaml:11: Story '3-1a-late' has the unknown status 'reviewing'." in told
    assert "Did you mean 'review'?" in told
    assert "sprint-status.yaml:12: The key '1-1-login' is there twice, first on line 7." in told
    assert "--stories names '9.9', which is not listed." in told


def test_a_story_without_a_file_cannot_be_built(tmp_path: Path) -> None:
    told = mistakes(tmp_path, sprint=SPRINT.replace("1-1-login: done", "1-1-login: backlog"))
    assert "sprint-status.yaml:7: Story '1-1-login' has no file 1-1-login.md" in told


def test_a_story_may_be_a_section_of_a_file_of_epics(tmp_path: Path) -> None:
    epics = "# Epics\n\n### Story 1.1: Log in\n\n#### Acceptance Criteria\n\n- It works\n\n### Story 1.2: Other\n"
    sprint = SPRINT.replace("1-1-login: done", "1-1-login: backlog")
    plan = read_source(project(tmp_path, sprint, epics__md=epics), tmp_path)
    assert (plan.tickets[0].title, plan.tickets[0].acceptance) == ("Log in", ("It works",))
    assert "Story 1.2" not in plan.tickets[0].text


def test_unknown_dependencies_and_other_ids_are_mistakes(tmp_path: Path) -> None:
    path = project(tmp_path)
    (path.parent / "stories" / "3-1a-late.md").write_text("---\nid: 3.1\ndepends_on: [7.7]\n---\n# Late\n")
    with pytest.raises(DocumentError) as caught:
        read_source(path, tmp_path)
    assert "Its id is '3.1', but the sprint status calls the story '3-1a-late'." in str(caught.value)
    assert "3-1a-late.md:3: " in str(caught.value)
    assert "depends on '7.7', which is unknown" in str(caught.value)


def test_what_burnish_writes_into_a_story_does_not_make_it_another_one(tmp_path: Path) -> None:
    path = project(tmp_path)
    before = read_source(path, tmp_path).tickets[2]
    file = path.parent / "stories" / "1-2-1-sub.md"
    file.write_text(with_file_status(file.read_text(), "review") + "\n## Review Action Items\n\n- [ ] [LOW] A name\n")
    path.write_text(with_statuses(path.read_text(), {"1-2-1-sub": "done"}))
    assert read_source(path, tmp_path).tickets[2].text == before.text


STATE = """---
agentsFile: agents.md
agentConfig:
  defaultPrimary: codex
  defaultFallback: claude
  perTask:
    review:
      primary: claude
      fallback: {fallback}
  complexityOverrides:
    high:
      dev:
        primary: opus
---
"""


@pytest.mark.parametrize("fallback", ["false", '"false"', "none", "null"])
def test_agents_come_from_the_state_document(tmp_path: Path, fallback: str) -> None:
    path = project(tmp_path, orchestration__md=STATE.replace("{fallback}", fallback), agents__md='{"stories": []}')
    plan = read_source(path, tmp_path)
    assert plan.protocol == "story"
    _, high, usual, *_ = plan.tickets
    assert high.agents is not None
    assert high.agents["build"] == Assignment(agent="opus", fallback="claude")
    assert usual.agents == {
        "build": Assignment(agent="codex", fallback="claude"),
        "fix": Assignment(agent="codex", fallback="claude"),
        "review": Assignment(agent="claude", fallback=None),
    }


def test_the_agents_file_comes_first_and_knows_each_storys_complexity(tmp_path: Path) -> None:
    listed = {"storyId": "1.2.1", "complexity": "High", "tasks": {"review": {"primary": "gemini", "fallback": False}}}
    agents = f"# Agents\n\n```json\n{json.dumps({'version': 1, 'stories': [listed]})}\n```\n"
    path = project(tmp_path, orchestration__md=STATE.replace("{fallback}", "none"), agents__md=agents)
    story = read_source(path, tmp_path).tickets[2]
    assert story.agents is not None
    assert (story.complexity, story.agents["build"].agent) == ("high", "opus")
    assert story.agents["review"] == Assignment(agent="gemini", fallback=None)


@pytest.mark.parametrize(("key", "name"), [("1-2-a-b", "1.2"), ("3-1-1", "3.1.1"), ("2-1-D1-x", "2.1-D1"), ("x", "x")])
def test_an_id_is_told_as_people_write_it(key: str, name: str) -> None:
    assert story_id(key) == name


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_an_update_changes_words_and_no_other_byte(ends: str) -> None:
    text = "\ufeff" + SPRINT.replace("\n", ends) + "\udcff"
    changed = with_statuses(text, {"1-2-logout": "done", "3-1a-late": "in-progress", "unknown": "done"})
    expected = text.replace('"ready-for-dev"', '"done"').replace("3-1a-late: review", "3-1a-late: in-progress")
    assert changed == expected
    assert with_statuses(changed, {}) == changed
    assert len(sprint_entries(text)) == 7


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# S\n\nStatus: done  # PR 3\n", "# S\n\nStatus: review  # PR 3\n"),
        ("**Status:** ready-for-dev\r\n", "**Status:** review\r\n"),
        ("## Status\n\nIn Progress\n", "## Status\n\nreview Progress\n"),
        ("# S\n", "# S\n"),
        ("Status: Review\n", "Status: Review\n"),
    ],
)
def test_the_status_of_a_file_is_one_word(before: str, after: str) -> None:
    assert with_file_status(before, "review") == after
