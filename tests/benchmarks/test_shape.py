"""The figures of the shape, on a package that is small enough to count by hand."""

from pathlib import Path

from benchmarks.shape import (
    complexities,
    modules_of,
    names_with_several_meanings,
    private_functions,
    single_importers,
    value_classes,
    words,
)

FIRST = """from typing import NamedTuple

from burnish.parts.second import Shared as Other


class Shared(NamedTuple):
    size: int


class Larger(Shared):
    def grown(self, by):
        # A comment of its own.
        return [one for one in range(by) if one and by] or self


def _once(value):
    match value:
        case 1:
            return 2
        case _:
            return Other


def used():
    assert _once
"""
SECOND = '''class Shared:
    """Nobody knows it."""
'''


def package(folder: Path) -> Path:
    parts = folder / "src" / "burnish" / "parts"
    parts.mkdir(parents=True)
    for name, text in (("__init__", ""), ("first", FIRST), ("second", SECOND)):
        (parts / f"{name}.py").write_text(text)
    return folder


def test_the_shape_of_a_small_package(tmp_path: Path) -> None:
    modules = modules_of(package(tmp_path))
    first = next(module for module in modules if module.name == "burnish.parts.first")
    assert value_classes(modules) == 2
    assert names_with_several_meanings(modules) == ["Shared"]
    assert single_importers(modules) == ["burnish.parts.second"]
    assert list(complexities(first.tree)) == [1, 6, 5, 2, 2]
    assert private_functions(modules) == (3, 1)
    assert words(tmp_path) == 1
