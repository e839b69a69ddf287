"""zizmor on real workflows."""

from pathlib import Path

import pytest

from burnish.agents.panel.interface import RuleSelection, SourceFile, ToolError, UnloadableFileError
from burnish.agents.panel.tools.zizmor import Zizmor
from tests.agents.analysers.tools.running import look, start, write

FLAWED = """\
name: é𝒳
on: pull_request_target
permissions: {}
jobs:
  a:
    runs-on: ubuntu-latest
    steps:
      - run: echo "${{ github.event.pull_request.title }}"
"""
CLEAN = """\
on: push
permissions: {}
jobs:
  a:
    runs-on: ubuntu-latest
    steps:
      - run: echo hello
"""
WORKFLOW = ".github/workflows/ci.yml"


def test_what_is_found_where(tmp_path: Path) -> None:
    hits = {hit.rule: hit for hit in look(Zizmor(), tmp_path, {WORKFLOW: FLAWED})}
    assert set(hits) == {"dangerous-triggers", "template-injection"}
    injection = hits["template-injection"]
    assert (injection.file, injection.line, injection.end_line) == (WORKFLOW, 8, 8)
    assert (injection.level, injection.confidence, injection.fixable) == ("high", "high", False)
    assert injection.snippet == 'echo "${{ github.event.pull_request.title }}"'
    assert injection.suggestion == "replace expression with environment variable"


@pytest.mark.parametrize(
    ("script", "level"),
    [
        ('echo "${{ github.actor }}"', "low"),
        ('echo "${{ secrets.TOKEN }}" | docker login -u "${{ github.actor }}"', "low"),
        ('echo "${{ github.actor }}" "${{ github.event.issue.title }}"', "high"),
    ],
)
def test_the_name_of_an_account_can_do_little(tmp_path: Path, script: str, level: str) -> None:
    hits = look(Zizmor(), tmp_path, {WORKFLOW: CLEAN.replace("echo hello", script)})
    assert {hit.level for hit in hits if hit.rule == "template-injection"} == {level}


def test_a_safe_fix_is_known(tmp_path: Path) -> None:
    (hit,) = look(
        Zizmor(), tmp_path, {WORKFLOW: f"{CLEAN}        if: |\n          ${{{{ github.event_name == 'push' }}}}\n"}
    )
    assert (hit.rule, hit.line, hit.fixable) == ("unsound-condition", 8, True)


@pytest.mark.parametrize("broken", ["on: push\njobs: [\n", "not: a workflow\n", ""])
def test_a_broken_file_is_named_and_hides_nothing_of_the_others(tmp_path: Path, broken: str) -> None:
    hits = look(Zizmor(), tmp_path, {".github/workflows/broken.yml": broken, WORKFLOW: FLAWED})
    assert {(hit.file, hit.rule) for hit in hits} == {
        (".github/workflows/broken.yml", "unreadable"),
        (WORKFLOW, "dangerous-triggers"),
        (WORKFLOW, "template-injection"),
    }


def test_what_it_cannot_tell_of_many_steps_hides_nothing_that_it_completed(tmp_path: Path) -> None:
    step = "      - run: echo >> $GITHUB_ENV\n        shell: ${{ matrix.shell }}\n"
    broken = ".github/workflows/a.yml"
    hits = look(Zizmor(), tmp_path, {broken: "", ".github/workflows/b.yml": CLEAN + step * 200, WORKFLOW: FLAWED})
    assert {hit.file for hit in hits if hit.rule == "unreadable"} == {broken}
    assert (WORKFLOW, "template-injection") in {(hit.file, hit.rule) for hit in hits}


NOT_UNDERSTOOD = CLEAN.replace("on: push", "on:\n  workflow_dispatch:\n    inputs:\n      a: { type: int }")


@pytest.mark.parametrize(("name", "content"), [(".github/workflows/a.yml", NOT_UNDERSTOOD), ("action.yml", b"\xff\n")])
def test_a_file_that_is_not_understood_is_named(tmp_path: Path, name: str, content: str | bytes) -> None:
    with pytest.raises(UnloadableFileError) as raised:
        look(Zizmor(), tmp_path, {name: content, WORKFLOW: FLAWED})
    assert (raised.value.hit.file, raised.value.hit.rule) == (name, "unreadable")


def test_where_all_are_broken_all_are_named(tmp_path: Path) -> None:
    hits = look(Zizmor(), tmp_path, {WORKFLOW: "jobs: [\n"})
    assert [(hit.file, hit.rule, hit.line) for hit in hits] == [(WORKFLOW, "unreadable", None)]


def test_a_clean_workflow_gives_nothing_and_nothing_is_written(tmp_path: Path) -> None:
    assert look(Zizmor(), tmp_path, {WORKFLOW: CLEAN}) == ()
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["ci.yml"]


def test_settings_in_the_tree_change_nothing(tmp_path: Path) -> None:
    settings = "rules:\n  dangerous-triggers:\n    disable: true\n  template-injection:\n    disable: true\n"
    write(tmp_path, {".github/zizmor.yml": settings, "zizmor.yml": settings})
    assert look(Zizmor(), tmp_path, {WORKFLOW: FLAWED})


@pytest.mark.parametrize("name", ["-f.yml", "sp ace.yaml", "new\nline.yml", "é.yml", "[a].yml"])
def test_every_name_is_looked_at(tmp_path: Path, name: str) -> None:
    path = f".github/workflows/{name}"
    write(tmp_path, {".gitignore": ".github\n"})
    assert {hit.file for hit in look(Zizmor(), tmp_path, {path: FLAWED})} == {path}


def test_many_files_with_long_names_are_an_error_and_no_guess(tmp_path: Path) -> None:
    files = {f".github/workflows/{'x' * 100}{number}.yml": CLEAN for number in range(600)}
    with pytest.raises(ToolError, match="which files"):
        look(Zizmor(), tmp_path, files)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    wanted = (*write(tmp_path, {WORKFLOW: FLAWED}), "action.yml")
    with pytest.raises(ToolError, match="exit code 1"):
        Zizmor().read(start(Zizmor(), tmp_path, wanted, RuleSelection()), wanted)


@pytest.mark.parametrize(
    ("path", "opening", "taken"),
    [
        (WORKFLOW, b"", True),
        (".github/workflows/a.yaml", b"", True),
        (".github/workflows/a.md", b"", False),
        ("example/.github/workflows/a.yml", b"", False),
        ("deep/action.yml", b"name: x\nruns:\n", True),
        ("roles/action.yml", b"- hosts: all\n", False),
        (".github/dependabot.yml", b"", True),
        ("docker-compose.yml", b"", False),
    ],
)
def test_which_files_it_takes(path: str, opening: bytes, taken: bool) -> None:
    assert Zizmor().takes(SourceFile(path=path, opening=opening)) is taken
