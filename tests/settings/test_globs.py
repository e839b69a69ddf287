"""Patterns for files: what they mean, and what follows for rules and files that are left out."""

import pytest

from burnish.settings.globs import ignored, matches, rules_for
from burnish.settings.types import ReviewSettings, Rule


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a.py", True),
        ("*.py", "deep/down/a.py", True),
        ("*.py", "a.pyc", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/deep/down/a.py", True),
        ("src/**/*.py", "lib/src/a.py", False),
        ("src/**", "src/deep/a.py", True),
        ("**/tests/**", "a/tests/b.py", True),
        ("**/tests/**", "tests/b.py", True),
        ("docs", "docs/a.md", True),
        ("docs/", "docs/deep/a.md", True),
        ("docs", "a/docs/b.md", True),
        ("docs/", "docsy/a.md", False),
        ("./a.py", "a.py", True),
        ("?.py", "a.py", True),
        ("?.py", "ab.py", False),
        ("app/[id].tsx", "app/[id].tsx", True),
        ("app/[id].tsx", "app/i.tsx", False),
        ("a.b", "axb", False),
        ("*.md", "with\nnewline.md", True),
        ("(x", "(x", True),
    ],
)
def test_patterns(pattern: str, path: str, expected: bool) -> None:
    assert matches(path, pattern) is expected


def test_rules_and_left_out_files() -> None:
    review = ReviewSettings(
        rules=(Rule(path="src/**", text="one"), Rule(path="*.sql", text="two")), ignore=("*.lock", "vendor/")
    )
    files = ("src/a.py", "vendor/b.py", "deep/poetry.lock")
    assert [rule.text for rule in rules_for(review, files)] == ["one"]
    assert ignored(review, files) == ("vendor/b.py", "deep/poetry.lock")
    assert ignored(ReviewSettings(), files) == ()
