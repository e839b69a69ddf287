"""Which tests can reach a changed file: those of its nearest project; and which files are tests, or steer them.

It knows names of files only. In a repository of several projects the tests of each one that a change touches are run.
"""

import re
from pathlib import PurePosixPath

from burnish.agents.panel.project_tests.pythons import is_test_file, is_test_module
from burnish.agents.panel.project_tests.values import Language
from burnish.settings.loading import REPOSITORY_FILE

_LANGUAGES = {
    **dict.fromkeys((".py", ".pyi", ".pyx"), Language.PYTHON),
    **dict.fromkeys((".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx", ".vue", ".svelte"), Language.NODE),
    ".go": Language.GO,
    ".rs": Language.RUST,
}
_DOCUMENT = re.compile(r".+\.(?:md|markdown|rst|adoc|png|jpe?g|gif|svg|webp|pdf)", re.IGNORECASE)
_DOCUMENT_NAME = re.compile(
    r"(?:README|CHANGELOG|CHANGES|HISTORY|NEWS|CONTRIBUTING|CODE_OF_CONDUCT|SECURITY|AUTHORS|LICEN[CS]E|COPYING|NOTICE)"
    r"(?:\.(?:md|markdown|rst|adoc|txt))?|\.gitignore|\.gitattributes|\.editorconfig|\.mailmap|CODEOWNERS",
    re.IGNORECASE,
)
_DOCUMENT_FOLDERS = ("docs", "doc", ".github")
_CI_FOLDERS = (".github", ".gitlab")
_FOR_OTHER_PROGRAMS = (REPOSITORY_FILE, ".gitlab-ci.yml")
"""At the root of a repository: what only burnish and CI read. The tests of a nested project may not even load there."""
_NODE_TEST = re.compile(r".+[._-](?:test|spec)\.[cm]?[jt]sx?")
_OTHER_TEST = re.compile(r".+[._-](?:test|spec)\.[cm]?[jt]sx?|.+_test\.go")
_TEST_FOLDERS = frozenset({"test", "tests", "testing", "__tests__", "spec", "__snapshots__"})
_RUNS_TESTS = re.compile(
    r"conftest\.py|\.?pytest\.ini|tox\.ini|setup\.cfg|noxfile\.py|package\.json|go\.mod|Cargo\.toml|GNUmakefile|[mM]akefile"
)
_CONFIGURATION = re.compile(
    r"conftest\.py|pytest\.ini|\.pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|package\.json|\.mocharc(?:\..+)?"
    r"|(?:jest|vitest|vite|karma|ava|babel)\.config\.[\w.]+|\.nycrc(?:\.json)?|\.taprc"
)


def language_of(path: str) -> Language | None:
    """The language that tests of a project must be in to reach a file; None where they may be in any."""
    return _LANGUAGES.get(PurePosixPath(path).suffix.lower())


def can_be_reached(path: str) -> bool:
    """Whether a test could see a change of this file. A document among the code may well be read by the code."""
    *folders, name = path.split("/")
    if path in _FOR_OTHER_PROGRAMS or (folders and folders[0] in _CI_FOLDERS):
        return False
    documents = not folders or folders[0] in _DOCUMENT_FOLDERS
    return not (_DOCUMENT_NAME.fullmatch(name) or (documents and _DOCUMENT.fullmatch(name)))


def is_test(path: str) -> bool:
    """Whether a file is a test, or something that only tests use."""
    *folders, name = path.split("/")
    return is_test_file(path) or bool(_OTHER_TEST.fullmatch(name)) or not _TEST_FOLDERS.isdisjoint(folders)


def shows_tests(path: str) -> bool:
    """Whether a file may be a test, or say how tests are run. A pyproject.toml says so only in its text."""
    return is_test(path) or bool(_RUNS_TESTS.fullmatch(path.rpartition("/")[2]))


def stands_alone(path: str) -> bool:
    """Whether a file is one of tests that no other file of tests uses."""
    return is_test_module(path) or bool(_NODE_TEST.fullmatch(path.rpartition("/")[2]))


def steers_tests(path: str) -> bool:
    """Whether a file may say which tests run, and what their results mean."""
    return bool(_CONFIGURATION.fullmatch(path.rpartition("/")[2]))
