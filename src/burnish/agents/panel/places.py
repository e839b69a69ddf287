"""Where a file stands in a project, as far as its path tells: in the program, in its tests, in their material."""

import re
from collections.abc import Sequence
from enum import Enum
from pathlib import PurePosixPath

_TEST_FOLDERS = frozenset(
    {
        "test", "tests", "testing", "__tests__", "spec", "specs", "e2e", "__mocks__", "t",
        "unittests", "integration-tests", "integration_tests", "test-utils", "playground",
        "bench", "benches", "benchmark", "benchmarks", "example", "examples", "demo", "demos", "doc", "docs", "samples",
    }
)  # fmt: skip
_MATERIAL_FOLDERS = frozenset(
    {"fixtures", "__fixtures__", "testdata", "test_data", "test-data", "__snapshots__", "snapshots", "corpus"}
)
_BELOW_TESTS = frozenset({"data", "cases", "resources", "files", "assets", "inputs"})
"""Names that mean material only inside a folder of tests."""
_TEST_NAME = re.compile(
    r"(?:test_.*|.*_tests?|conftest|tests)\.pyi?|.*_test\.(?:go|rb|dart|exs|cc|cpp)|.*\.(?:test|spec|bench|stories)\.\w+"
    r"|.*(?:Test|Tests|TestCase|Spec)\.(?:java|kt|cs|php|swift|scala)|.*_spec\.rb"
)


FOLDER_ITSELF = ("__init__", "index", "mod")
_FOLDER_AND_NAME = 2
_DOCUMENTS = (".md", ".markdown", ".rst", ".adoc", ".txt", ".tex", ".org")


_TEMPLATE = re.compile(r"\{%[-+]?\s*\w+[^%]*%\}|\{\{[-+]?\s*\w[^{}]*\}\}|<%[=-]?\s")


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
    first_test = next((index for index, folder in enumerate(folders) if folder in _TEST_FOLDERS), None)
    inside = folders[first_test + 1 :] if first_test is not None else []
    if _MATERIAL_FOLDERS.intersection(folders) or _BELOW_TESTS.intersection(inside):
        return Surroundings.MATERIAL
    is_test = first_test is not None or _TEST_NAME.fullmatch(name) is not None or name.lower().endswith(_DOCUMENTS)
    return Surroundings.TESTS if is_test else Surroundings.PROGRAM


def names_in(content: str, path: str) -> bool:
    """Whether a text refers to a file in another folder: as a module or by its path."""
    parts = PurePosixPath(path).with_suffix("").parts
    if parts[-1] in FOLDER_ITSELF:
        parts = parts[:-1]
    if len(parts) < _FOLDER_AND_NAME:
        return False
    folder, name = map(re.escape, parts[-_FOLDER_AND_NAME:])
    module = rf"\b{folder}[./\\]+{name}\b|\bfrom\s+[\w.]*\b{folder}\s+import\b[^;]*?\b{name}\b"
    return re.search(module, content) is not None


def is_template(lines: Sequence[str]) -> bool:
    """Whether a file that cannot be parsed is a template of which code is made."""
    return any(_TEMPLATE.search(line) for line in lines)
