"""hadolint on real Dockerfiles."""

from pathlib import Path

import pytest

from burnish.agents.panel.interface import RuleSelection, SourceFile, ToolError
from burnish.agents.panel.tools.hadolint import Hadolint
from tests.agents.analysers.tools.running import look, places, start, write

FLAWED = "FROM ubuntu\nRUN cd /x && echo hello\n"


def test_what_is_found_where(tmp_path: Path) -> None:
    hits = look(Hadolint(), tmp_path, {"Dockerfile": FLAWED})
    assert places(hits) == [("Dockerfile", 1, "DL3006"), ("Dockerfile", 2, "DL3003")]
    assert [(hit.level, hit.fixable) for hit in hits] == [("warning", False), ("warning", False)]


def test_what_is_ignored_is_not_found(tmp_path: Path) -> None:
    hits = look(Hadolint(), tmp_path, {"Dockerfile": FLAWED}, RuleSelection(ignore=("DL3006",)))
    assert [hit.rule for hit in hits] == ["DL3003"]


def test_settings_in_the_tree_change_nothing(tmp_path: Path) -> None:
    write(tmp_path, {".hadolint.yaml": "ignored: [DL3006, DL3003]\n"})
    assert look(Hadolint(), tmp_path, {"Dockerfile": FLAWED})


def test_a_broken_file_hides_nothing_of_the_others(tmp_path: Path) -> None:
    hits = look(Hadolint(), tmp_path, {"a.Dockerfile": "FROM x\nRUN [\nFOO bar\n", "b.Dockerfile": FLAWED})
    assert ("a.Dockerfile", "error") in {(hit.file, hit.level) for hit in hits}
    assert ("b.Dockerfile", 1, "DL3006") in places(hits)


@pytest.mark.parametrize("name", ["-f.Dockerfile", "sp ace.Dockerfile", "new\nline.Dockerfile", "é.Dockerfile"])
def test_every_name_is_looked_at(tmp_path: Path, name: str) -> None:
    assert places(look(Hadolint(), tmp_path, {name: "FROM ubuntu\n"})) == [(name, 1, "DL3006")]


def test_a_clean_file_gives_nothing(tmp_path: Path) -> None:
    assert look(Hadolint(), tmp_path, {"Dockerfile": "FROM ubuntu:22.04\n"}) == ()


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    names = write(tmp_path, {"Dockerfile": FLAWED})
    finished = start(Hadolint(), tmp_path, (*names, "Dockerfile.missing"), RuleSelection())
    with pytest.raises(ToolError):
        Hadolint().read(finished, (*names, "Dockerfile.missing"))


@pytest.mark.parametrize(
    ("path", "taken"),
    [
        ("Dockerfile", True),
        ("a/b/Containerfile", True),
        ("Dockerfile.production", True),
        ("production.Dockerfile", True),
        ("app.dockerfile", True),
        ("Dockerfile.dockerignore", False),
        ("Dockerfile.j2", False),
        ("Dockerfile.rego", False),
        ("dockerfile_test.py", False),
        ("docker-compose.yml", False),
    ],
)
def test_which_files_it_takes(path: str, taken: bool) -> None:
    assert Hadolint().takes(SourceFile(path=path)) is taken
