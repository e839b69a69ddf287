"""Patterns for files: what they mean, and what follows for rules and files that are left out."""

import pytest

from burnish.settings.globs import ignored, matches, rules_for
from burnish.settings.types import PathRule, ReviewSettings


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
        # Below, the meaning differs from that of .gitignore, or is easily broken by another matcher.
        ("app/[id]/x.tsx", "app/[id]/x.tsx", True),
        ("app/[id]/x.tsx", "app/i/x.tsx", False),
        ("app/[...slug]/*.tsx", "app/[...slug]/page.tsx", True),
        ("[id].tsx", "app/[id].tsx", True),
        ("**/x", "x", True),
        ("**/x", "a/b/x", True),
        ("**/x", "a/b/xy", False),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b/c", True),
        ("dir/", "dir", True),
        ("dir/", "a/dir/b", True),
        ("a/dir/", "b/a/dir/c", False),
        ("/a.py", "a.py", False),
        ("/a.py", "x/a.py", False),
        ("!a.py", "!a.py", True),
        ("!a.py", "a.py", False),
        ("#a.py", "#a.py", True),
        ("a\\*.py", "a\\b.py", True),
        ("a\\*.py", "a*.py", False),
        ("with space.md", "docs/with space.md", True),
        ("trailing ", "trailing ", True),
        ("trailing ", "trailing", False),
        ("größe/*.txt", "größe/maß.txt", True),
        ("?.md", "é.md", True),
        (".*", ".env", True),
        ("*", ".env", True),
        ("*.py", "src/.hidden.py", True),
        ("src/*", "src/.git/config", True),
        ("{a,b}.py", "a.py", False),
        ("A.py", "a.py", False),
    ],
)
def test_patterns(pattern: str, path: str, expected: bool) -> None:
    assert matches(path, pattern) is expected


def test_rules_and_left_out_files() -> None:
    review = ReviewSettings(
        rules=(PathRule(path="src/**", text="one"), PathRule(path="*.sql", text="two")), ignore=("*.lock", "vendor/")
    )
    files = ("src/a.py", "vendor/b.py", "deep/poetry.lock")
    assert [rule.text for rule in rules_for(review, files)] == ["one"]
    assert ignored(review, files) == ("vendor/b.py", "deep/poetry.lock")
    assert ignored(ReviewSettings(), files) == ()
