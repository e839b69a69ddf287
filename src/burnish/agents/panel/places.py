"""Where a file stands in a project, as far as its path tells: in the program, in its tests, in their material."""

import re
from collections.abc import Collection, Iterable, Sequence
from enum import Enum
from pathlib import PurePosixPath

_TEST_FOLDERS = frozenset(
    {
        "test", "tests", "testing", "__tests__", "spec", "specs", "e2e", "__mocks__", "t",
        "testsuite", "testsuites", "testcases",
        "unittests", "integration-tests", "integration_tests", "test-utils", "playground",
        "bench", "benches", "benchmark", "benchmarks", "perf", "profiling",
        "example", "examples", "demo", "demos", "doc", "docs", "docs_src", "samples",
    }
)  # fmt: skip
_TESTS_BY_NAME = re.compile(
    r".+[_-]tests|tests?[_-].+|[a-z]tests?|.+[_-]testsuite|(?:unit|integration|functional|system|acceptance)[_-]?test"
)
_TESTS_ONLY = frozenset({"test", "tests", "testing", "testsuite", "testsuites", "testcases", "unittests"})
_DEFINES_TEST = re.compile(r"^\s*(?:async\s+)?def test|^class \w*Test|TestCase\b", re.MULTILINE)
_OF_DEVELOPERS = re.compile(
    r"[\w-]+\.conf(?:ig)?[.-].*|(?:cake|fab|grunt|gulp|jake|nox|rake)file.*|dodo\.py", re.IGNORECASE
)
_MATERIAL_FOLDERS = frozenset(
    {
        "fixtures",
        "fixture",
        "_fixture",
        "_fixtures",
        "__fixtures__",
        "testdata",
        "test_data",
        "test-data",
        "__snapshots__",
        "snapshots",
        "corpus",
    }
)
_WRONG_ON_PURPOSE = re.compile(
    r"(?:^|[_.-])(?:invalid|syntax(?:[_-]?errors?)?|broken|malformed|bad|errors?)(?:$|[_.-])", re.IGNORECASE
)
"""In the name of a file or folder below tests that is called like no test: what tests give to the program."""
_VENDORED = frozenset({"_vendor", "_vendored", "vendor", "vendored", "third_party", "thirdparty", "extern"})
_BELOW_TESTS = frozenset(
    {"data", "cases", "resources", "files", "assets", "input", "inputs", "samples", "expected", "_expected"}
)
"""Names that mean material only inside a folder of tests."""
_TEST_NAME = re.compile(
    r"(?:test_.*|.*_tests?|conftest|tests)\.pyi?|tests?\.[cm]?[jt]sx?|test_.*\.(?:sh|bash)|examples?\.\w+|.*_test\.(?:go|rb|dart|exs|cc|cpp)|.*\.(?:test|spec|bench|stories)\.\w+"
    r"|.*_(?:test|spec)\.(?:sh|bash|zsh)|.*\.bats|test[_-]?(?:key|cert|ca|rsa)\w*\.(?:pem|key|crt)"
    r"|.*(?:Test|Tests|TestCase|Spec)\.(?:java|kt|cs|php|swift|scala)|.*_spec\.rb"
)


_OF_BEHAVE = re.compile(r"(?:^|/)features/(?:steps/.*|environment)\.py$")
FOLDER_ITSELF = ("__init__", "index", "mod")
_FOLDER_AND_NAME = 2
_DOCUMENTS = (".md", ".markdown", ".rst", ".adoc", ".txt", ".tex", ".org")


_TEMPLATE = re.compile(r"\{%[-+]?\s*\w+[^%]*%\}|\{\{[-+]?\s*\w[^{}]*\}\}|<%[=-]?\s|%[A-Z][A-Z_]{2,}%")
_TEMPLATE_FOLDERS = frozenset({"template", "templates", "skeleton", "skeletons", "boilerplate"})
_COMMENT = re.compile(r"[ \t]*(?:#|//|\*)")
_REFERS = re.compile(r"^\s*(?:import|from)\b|[\"'`]")
_IMPORTS = re.compile(r"\b(?:import|from|require)\b")
_LONGEST_REFERENCE = 300
_ADDRESS = re.compile(r"://([^\s/:@]+):([^\s/@]+)@([\w.-]*)")
_THIS_MACHINE = ("localhost", "127.0.0.1")
_NAME_GOES_HERE = re.compile(
    r"[A-Z_-]*(?:user(?:_?name)?|login|account)|oauth2?|git|x-access-token|gitlab-ci-token", re.IGNORECASE
)
_PASSWORD_GOES_HERE = re.compile(r"[A-Z_-]*(?:pass(?:word|wd)?|pwd?|secret|token|key)", re.IGNORECASE)
_FILLED_LATER = re.compile(r"%(?:\[\d+\])?[svq]|\{.*\}|\$.*|<.*>")
_QUOTED = re.compile(r"""(?P<quote>['"]).*?(?P=quote)|#.*""")


class Surroundings(Enum):
    """What a file is for. Code that never runs in production is judged more mildly."""

    PROGRAM = "program"
    TESTS = "tests"
    """Tests, and what else only shows or measures the program: examples, benchmarks, documentation."""
    MATERIAL = "material"
    """What tests work on. It is often wrong on purpose."""


def surroundings(path: str) -> Surroundings:
    """Where a file stands, by its path from the root of the repository."""
    *folders, name = PurePosixPath(path).parts or ("",)
    first_test = next((index for index, folder in enumerate(folders) if _is_for_tests(folder)), None)
    inside = folders[first_test + 1 :] if first_test is not None else []
    if _MATERIAL_FOLDERS.intersection(folders) or _BELOW_TESTS.intersection(inside):
        return Surroundings.MATERIAL
    named = _TEST_NAME.fullmatch(name) is not None or _OF_BEHAVE.search(path) is not None
    is_test = first_test is not None or named or name.lower().endswith(_DOCUMENTS)
    if inside and not _TEST_NAME.fullmatch(name) and any(map(_WRONG_ON_PURPOSE.search, (*inside, name))):
        return Surroundings.MATERIAL
    return Surroundings.TESTS if is_test else Surroundings.PROGRAM


def _is_for_tests(folder: str) -> bool:
    return folder in _TEST_FOLDERS or _TESTS_BY_NAME.fullmatch(folder) is not None


def runs_tools(path: str) -> bool:
    """Whether a file tells a tool of developers what to do, such as to run tests: `karma.conf.js`, `gulpfile.js`."""
    return _OF_DEVELOPERS.fullmatch(PurePosixPath(path).name) is not None


def may_import_from(folder: str, path: str) -> bool:
    """Whether a file can be meant to import what is in a folder: one above it, or one of the program.

    What other projects gave to this one has names of its own there.
    """
    if path.startswith(f"{folder}/" if folder else ""):
        return True
    return surroundings(f"{folder}/-") is Surroundings.PROGRAM and _VENDORED.isdisjoint(folder.split("/"))


def is_inside_tests(path: str) -> bool:
    """Whether a file is in a folder below one of tests, and called like no test."""
    *folders, name = PurePosixPath(path).parts or ("",)
    return not _TESTS_ONLY.isdisjoint(folders[:-1]) and _TEST_NAME.fullmatch(name) is None


def is_only_read(path: str, content: str, beside: Collection[str]) -> bool:
    """Whether a Python file below tests is their material: it has no test, and its folder has neither tests nor is it
    a package. Nothing imports it then; it is often wrong on purpose.
    """
    if not path.endswith(".py") or _DEFINES_TEST.search(content) is not None:
        return False
    return "__init__.py" not in beside and not any(map(_TEST_NAME.fullmatch, beside))


def name_ends(paths: Iterable[str]) -> frozenset[tuple[str, ...]]:
    """All names of some files, from those without a folder to the whole path."""
    return frozenset(
        short_name(path, length) for path in paths for length in range(1, len(PurePosixPath(path).parts) + 1)
    )


def telling_length(path: str, others: Collection[tuple[str, ...]]) -> int:
    """How many of the last names of a path it takes to mean this file, and no other one.

    Tests are often called like what they test, and so are their folders.
    """
    lengths = range(_FOLDER_AND_NAME, len(PurePosixPath(path).parts) + 1)
    return next((length for length in lengths if short_name(path, length) not in others), max(lengths, default=1))


def short_name(path: str, length: int = _FOLDER_AND_NAME) -> tuple[str, ...]:
    """By what other files name a file: the end of its path, without its suffix."""
    parts = PurePosixPath(path).with_suffix("").parts
    return (parts[:-1] if parts and parts[-1] in FOLDER_ITSELF else parts)[-length:]


def names_in(content: str, path: str, length: int = _FOLDER_AND_NAME) -> bool:
    """Whether a text refers to a file in another folder: as a module that it imports or quotes, or by its path.

    What is called like a test and is run by its path is run as a test.
    """
    parts = short_name(path, length)
    if len(parts) < _FOLDER_AND_NAME or any(part not in content for part in parts):
        return False
    *folders, name = map(re.escape, parts)
    folder = r"[./\\]+".join(folders)
    named = re.finditer(rf"\b{folder}[./\\]+{name}\b", content)
    is_run_as_test = _TEST_NAME.fullmatch(PurePosixPath(path).name) is not None
    for found in named:
        before = _before(content, found.start())
        is_path = "/" in found[0]
        refers = _IMPORTS if is_path and is_run_as_test else _REFERS
        if before is not None and ((is_path and not is_run_as_test) or refers.search(before)):
            return True
    return (
        re.search(rf"\bfrom\s+[\w.]*\b{folder}\s+import\b(?:\s*\([^)]*?|(?:[^\n\\;]|\\\n)*?)\b{name}\b", content)
        is not None
    )


def names_sibling(content: str, path: str) -> bool:
    """Whether a text imports a file of its own folder."""
    name = re.escape(PurePosixPath(path).name.partition(".")[0])
    stem = re.escape(PurePosixPath(path).stem)
    python = rf"^\s*(?:from\s+\.?{name}\s+import\b|from\s+\.\s+import\s[^\n]*\b{name}\b|import\s+{name}\b)"
    script = rf"\b(?:from|import|require)\b\s*\(?\s*[\"']\./{stem}(?:\.\w+)?[\"']"
    return re.search(python if path.endswith((".py", ".pyi")) else script, content, re.MULTILINE) is not None


def _before(content: str, place: int) -> str | None:
    """What stands before a place in its line; None in a comment."""
    start = content.rfind("\n", 0, place) + 1
    return None if _COMMENT.match(content, start) else content[max(start, place - _LONGEST_REFERENCE) : place]


def is_template(path: str, lines: Sequence[str]) -> bool:
    """Whether a file that cannot be parsed is a template, or a part, of which code is made."""
    named = not _TEMPLATE_FOLDERS.isdisjoint(PurePosixPath(path).parts[:-1])
    return named or any(_TEMPLATE.search(line) for line in lines)


def is_filled_in(line: str) -> bool:
    """Whether a line that can be parsed is part of a template: `{{ name }}` outside of texts is a set of a set."""
    return _TEMPLATE.search(_QUOTED.sub("", line)) is not None


def shows_placeholders(line: str) -> bool:
    """Whether all addresses of a line have words for a name and a password, and neither a name nor a password.

    In a comment, those of the reader's own machine are an example, too.
    """
    found = _ADDRESS.findall(line)
    return bool(found) and all(
        _FILLED_LATER.fullmatch(password)
        or (_NAME_GOES_HERE.fullmatch(name) and _PASSWORD_GOES_HERE.fullmatch(password))
        or (_COMMENT.match(line) and host in _THIS_MACHINE)
        for name, password, host in found
    )
