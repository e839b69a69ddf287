"""The documents agree with the repository: links lead somewhere, named tests exist, and the words are plain."""

import pkgutil
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
_LINK = re.compile(r"\]\((?P<file>[^)#:\s]*)(?:#(?P<anchor>[^)\s]+))?\)")
_TEST = re.compile(r"`(?:tests/[\w/]*/)?(?:(?P<file>test_\w+\.py)(?:::)?)?(?P<name>(?:test|check)_\w+)?(?P<cut>…)?`")
SOURCES = sorted(
    path for path in (ROOT / "src").rglob("*") if path.suffix in (".py", ".md", ".toml", ".yml", ".html", ".css")
)
_DATA = ("src/burnish/core/review_vocabulary.py",)
"""A list of English words is about them; it does not use them."""
_BANNED = re.compile(r"\b(?:whoever|nobody|somebody|anybody|for want of|simply)\b", re.IGNORECASE)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    for link in _LINK.finditer(page.read_text(encoding="utf-8")):
        target = page.parent / link["file"] if link["file"] else page
        assert target.exists(), link.group()
        assert link["anchor"] is None or link["anchor"] in anchors(target), link.group()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_words_are_plain(page: Path) -> None:
    assert _BANNED.findall(page.read_text(encoding="utf-8")) == []


def test_the_words_of_the_source_are_plain() -> None:
    """Docstrings, comments, messages, prompts and rules."""
    named = {path.relative_to(ROOT).as_posix(): path for path in SOURCES}
    read = {name: path for name, path in named.items() if not name.startswith(_DATA)}
    found = {name: _BANNED.findall(path.read_text(encoding="utf-8")) for name, path in read.items()}
    assert {name: words for name, words in found.items() if words} == {}


def test_every_import_in_an_example_works() -> None:
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    lines = [line for text in texts for line in re.findall(r"^from burnish.* import .*$", text, re.MULTILINE)]
    assert lines
    for line in lines:
        exec(line, {})  # noqa: S102 - a line of our own documents


def test_every_test_that_proves_a_promise_exists() -> None:
    tests: defaultdict[str, str] = defaultdict(str)  # by file name, as the page often leaves the folder out
    for path in (ROOT / "tests").rglob("*.py"):
        tests[path.name] += path.read_text(encoding="utf-8")
    everything = "\n".join(tests.values())
    rows = re.findall(r"^\|.*\|(.*)\|$", (ROOT / "docs" / "security.md").read_text(encoding="utf-8"), re.MULTILINE)
    named = [test for row in rows for test in _TEST.finditer(row) if test["file"] or test["name"]]
    assert len(named) > 30
    for test in named:
        assert test["file"] is None or test["file"] in tests, test.group()
        source = tests[test["file"]] if test["file"] else everything
        end = "" if test["cut"] else r"\b"
        assert test["name"] is None or re.search(rf"def {test['name']}{end}", source), test.group()


def test_the_walk_names_functions_that_exist() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\d+\. (.+)$", page, re.MULTILINE)
    assert len(lines) == 10
    for line in lines:
        named = re.findall(r"`([a-z]\w*(?:\.\w+)+)`", line)
        assert named, line
        for name in named:
            assert callable(pkgutil.resolve_name(f"burnish.{name}")), name


def test_the_files_that_the_architecture_names_exist() -> None:
    source, folder = ROOT / "src" / "burnish", ""
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for name in re.findall(r"`([\w/]+(?:\.py|/))`", page):
        folder = name.rpartition("/")[0] or folder  # `core/a.py`, `b.py`: both are in core
        path = name if "/" in name else f"{folder}/{name}"
        assert (source / path).exists(), path
