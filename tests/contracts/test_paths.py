"""Paths that an agent names never lead out of the repository."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.contracts.paths import confine, no_repository

FILES = {"src/app.py", "app.py", "a/inner.py", "lib/x.py"}


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("src/app.py", "src/app.py"),
        ("./src//app.py", "src/app.py"),
        ("src/../lib/x.py", "lib/x.py"),
        ("src\\app.py", "src/app.py"),
        ("`src/app.py`", "src/app.py"),
        ("new/file.py", "new/file.py"),
        ("/home/someone/checkout/src/app.py", "src/app.py"),
        ("C:\\build\\src\\app.py", "src/app.py"),
        ("~/checkout/src/app.py", "src/app.py"),
        ("file:///tmp/w/src/app.py", "src/app.py"),
        ("file://localhost/tmp/w/src/app.py", "src/app.py"),
        ("FILE:/tmp/w/src/app.py", "src/app.py"),
        ("b/src/app.py", "src/app.py"),
        ("a/inner.py", "a/inner.py"),
        ("src/\x1b[31mapp.py", "src/app.py"),
        ("/etc/passwd", None),
        ("../app.py", None),
        ("src/../../app.py", None),
        ("/x/../src/app.py", None),
        ("https://example.org/src/app.py", None),
        ("src/app.py\nlib/x.py", None),
        ("src/app.py\rlib/x.py", None),
        ("", None),
        (".", None),
        ("x/" * 600, None),
        ("x" * 5_000_000, None),
    ],
)
def test_confining(raw: str, path: str | None) -> None:
    assert confine(raw, FILES.__contains__) == path


def test_without_a_repository_only_relative_paths_are_kept() -> None:
    assert confine("src/app.py", no_repository) == "src/app.py"
    assert confine("/src/app.py", no_repository) is None


@given(st.lists(st.sampled_from(["..", ".", "", "a", "b", "/", "\\", "~", "C:", "file:", "//"]), max_size=8))
def test_no_combination_of_parts_leads_outside(parts: list[str]) -> None:
    path = confine("/".join(parts), FILES.__contains__)
    assert path is None or (not path.startswith("/") and ".." not in path.split("/"))


def test_a_backslash_in_a_name_of_the_repository_is_part_of_the_name() -> None:
    known = {r"caf\xe9.py", "src/a.py"}
    assert confine(r"`caf\xe9.py`", known.__contains__) == r"caf\xe9.py"
    assert confine(r"src\a.py", known.__contains__) == "src/a.py"
    assert confine(r"..\a.py", known.__contains__) is None
