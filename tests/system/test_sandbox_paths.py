"""Paths are followed link by link, and a program brings what it needs, and no more."""

import os
from pathlib import Path

import pytest

from burnish.system.process import Command
from burnish.system.sandbox_paths import expand, follow, homes, needed_for, program_trails


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_every_link_on_the_way_is_noted(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "one").symlink_to("a/../two")
    (tmp_path / "two").symlink_to(tmp_path / "a")
    trail = follow(tmp_path / "one" / "b" / ".." / "b")
    assert trail.real == tmp_path / "a" / "b"
    assert trail.links == ((tmp_path / "one", "a/../two"), (tmp_path / "two", str(tmp_path / "a")))


def test_a_circle_of_links_ends(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    assert follow(tmp_path / "circle" / "x").real == tmp_path / "circle" / "x"


def test_a_home_is_the_environments_and_the_systems(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert homes()[0] == home
    assert expand(("~/.ssh", "/etc", "~")) == (
        *(place / ".ssh" for place in homes()),
        Path("/etc"),
        *homes(),
    )
    for not_a_home in ("/", "/usr", "/no/such/folder", "relative", ""):
        monkeypatch.setenv("HOME", not_a_home)
        assert Path(not_a_home) not in homes()


@pytest.mark.parametrize(
    ("program", "beside", "needed"),
    [
        (".nvm/versions/v20/bin/node", ".nvm/versions/v20/lib", ".nvm/versions/v20"),
        (".pyenv/shims/python", ".pyenv/versions", ".pyenv"),
        ("project/node_modules/.bin/eslint", "project/node_modules/eslint", "project/node_modules"),
        (".cargo/bin/cargo", ".cargo/registry", ".cargo/bin"),
        (".local/bin/agent", ".local/lib", ".local/bin"),
        ("tools/review.sh", "tools/lib", "tools"),
        ("bin/agent", "lib", "bin"),
        ("agent", "private", "agent"),
    ],
)
def test_a_program_needs_its_installation_and_never_the_home(
    home: Path, program: str, beside: str, needed: str
) -> None:
    (home / beside).mkdir(parents=True)
    (home / program).parent.mkdir(parents=True, exist_ok=True)
    (home / program).touch()
    assert needed_for(home / program) == home / needed


def test_a_script_brings_its_interpreter(home: Path) -> None:
    for name, text in (("agent", "#!/usr/bin/env -S node --quiet\n"), ("node", "#!/bin/sh\n")):
        (home / name).write_text(text)
        (home / name).chmod(0o755)
    command = Command(argv=("./agent",), folder=str(home), environment={"PATH": f"{home}:relative"})
    reals = [trail.real for trail in program_trails(command)]
    assert reals[:2] == [home / "agent", home / "node"]
    assert os.path.realpath("/bin/sh") in [str(real) for real in reals]
    assert reals[-1] == home
