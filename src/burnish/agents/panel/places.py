"""Where a file stands in a project, as far as its path tells: in the program, in its tests, in their material."""

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import PurePosixPath

_TEST_FOLDERS = frozenset(
    {
        "test", "tests", "testing", "__tests__", "spec", "specs", "e2e", "__mocks__", "t",
        "testsuite", "testsuites", "testcases", "testserver",
        "unittests", "integration-tests", "integration_tests", "test-utils", "playground",
        "bench", "benches", "benchmark", "benchmarks", "perf", "profiling",
        "example", "examples", "demo", "demos", "doc", "docs", "docs_src", "samples",
        "tutorial", "tutorials", "guides",
    }
)  # fmt: skip
_TESTS_BY_NAME = re.compile(
    r".+[_-]tests|unit-?tests?.+|[a-z]+\d+tests|(?:[a-z]|fs)tests?|tests?[ _-].+|e2e(?:[_-].+|config|tests?)"
    r"|.+[_-]bench(?:marks?)?|.+-test-(?:support|utils?|helpers?|harness)"
    r"|test(?:helpers?|kit|lib|servers?|support|utils?|vectors?)|.+[_-](?:testsuite|vectors)"
    r"|(?:unit|integration|functional|system|acceptance)[_-]?test"
)
_TESTS_ONLY = frozenset({"test", "tests", "testing", "testsuite", "testsuites", "testcases", "unittests"})
_DEFINES_TEST = re.compile(r"^\s*(?:async\s+)?def test_|^class \w*Test|TestCase\b", re.MULTILINE)
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
        "__testfixtures__",
        "testdata",
        "test_data",
        "test-data",
        "__snapshots__",
        "snapshots",
        "corpus",
        ".semgrep",
    }
)
_MATERIAL_BY_NAME = re.compile(r"_{0,2}fixtures?[_-].+|.+[_-]fixtures?|test[_-]?(?:files|data|inputs)(?:[_-].+)?")
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
    r"(?:test_.*|.*_tests?|.*[a-z]Tests|conftest|tests?)\.pyi?|tests?\.rs|tests?\.[cm]?[jt]sx?|test_.*\.(?:sh|bash)|(?:.*[.-])?(?:examples?(?:[-_]\d+)?|sample)\.\w+|testing\.go|.*_test(?:_(?:data|utils?|helpers?|certs?|keys?|dsa))?\.(?:go|rb|dart|exs|cc|cpp)|.*\.(?:test|spec|bench|stories)\.\w+"
    r"|.*_(?:test|spec)\.(?:sh|bash|zsh)|.*\.bats|test[_-]?(?:key|cert|ca|rsa)\w*\.(?:pem|key|crt)"
    r"|.*(?:Test|Tests|TestCase|Spec)\.(?:java|kt|cs|php|swift|scala)|.*_spec\.rb"
)


_OF_BEHAVE = re.compile(r"(?:^|/)features/(?:steps/.*|environment)\.py$")
FOLDER_ITSELF = ("__init__", "index", "mod")
_FOLDER_AND_NAME = 2
_SHORTEST_NAME = 3
"""Shorter names are everywhere."""
_CONFIGURATIONS = (".toml", ".yml", ".yaml", ".cfg", ".ini", ".json")
_DOCUMENTS = (".md", ".markdown", ".rst", ".adoc", ".txt", ".tex", ".org")


_TEMPLATE = re.compile(r"\{%[-+]?\s*\w+[^%]*%\}|\{\{[-+]?\s*\w[^{}]*\}\}|<%[=-]?\s|%[A-Z][A-Z_]{2,}%")
TEMPLATES = (".j2", ".jinja", ".jinja2", ".erb", ".tmpl", ".tpl", ".tt", ".mustache", ".hbs", ".liquid")
"""What the names of templates end with, whatever is made of them."""
_TEMPLATE_FOLDERS = frozenset({"template", "templates", "skeleton", "skeletons", "boilerplate"})
_COMMENT = re.compile(r"[ \t]*(?:#|//|\*)")
_REFERS = re.compile(r"^\s*(?:import|from)\b|[\"'`]")
_ENTRY = re.compile(r"""\s*(?:-\s+)?(?P<quote>["'`])[^"'`]*(?P=quote),?\s*""")
"""A line that is nothing but a text: an entry of a list, mostly of files to leave out."""
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
    if any(map(_is_for_material, folders)) or _BELOW_TESTS.intersection(inside):
        return Surroundings.MATERIAL
    named = _TEST_NAME.fullmatch(name) is not None or _OF_BEHAVE.search(path) is not None
    is_test = first_test is not None or named or name.lower().endswith(_DOCUMENTS)
    if inside and not _TEST_NAME.fullmatch(name) and any(map(_WRONG_ON_PURPOSE.search, (*inside, name))):
        return Surroundings.MATERIAL
    return Surroundings.TESTS if is_test else Surroundings.PROGRAM


def _is_for_tests(folder: str) -> bool:
    return folder.lower() in _TEST_FOLDERS or _TESTS_BY_NAME.fullmatch(folder) is not None


def _is_for_material(folder: str) -> bool:
    return folder in _MATERIAL_FOLDERS or _MATERIAL_BY_NAME.fullmatch(folder) is not None


def runs_tools(path: str) -> bool:
    """Whether a file tells a tool of developers what to do, such as to run tests: `karma.conf.js`, `gulpfile.js`."""
    return _OF_DEVELOPERS.fullmatch(PurePosixPath(path).name) is not None


def may_import_from(folder: str, path: str) -> bool:
    """Whether a file can be meant to import what is in a folder: one above it, or one of the program.

    What other projects gave to this one has names of its own there.
    """
    if any(part.startswith(".") for part in folder.split("/")):
        return False  # settings of tools, not modules
    if path.startswith(f"{folder}/" if folder else ""):
        return True
    return surroundings(f"{folder}/-") is Surroundings.PROGRAM and _VENDORED.isdisjoint(folder.split("/"))


def may_be_only_read(path: str, content: str) -> bool:
    """Whether a Python file can be material of tests, often wrong on purpose: it is below them, and has none.

    It is material if, besides, no file of the tree imports it.
    """
    *folders, name = PurePosixPath(path).parts or ("",)
    is_like_a_test = _TEST_NAME.fullmatch(name) is not None or _DEFINES_TEST.search(content) is not None
    is_inside = not _TESTS_ONLY.isdisjoint(folders[:-1])
    can_be_searched = name != "__init__.py" and len(PurePosixPath(path).stem) >= _SHORTEST_NAME
    return is_inside and path.endswith(".py") and can_be_searched and not is_like_a_test


def is_configured_by(path: str) -> bool:
    """Whether a file holds settings, as far as its name tells."""
    return path.endswith((*_CONFIGURATIONS, ".conf"))


def name_ends(paths: Iterable[str]) -> frozenset[tuple[str, ...]]:
    """All names of some files, from those without a folder to the whole path."""
    return frozenset(
        short_name(path, length) for path in paths for length in range(1, len(PurePosixPath(path).parts) + 1)
    )


def folder_ends(paths: Iterable[str]) -> frozenset[tuple[str, ...]]:
    """All names of the folders of some files, likewise."""
    folders = {folder.parts for path in paths for folder in PurePosixPath(path).parents}
    return frozenset(parts[-length:] for parts in folders for length in range(1, len(parts) + 1))


def telling_length(path: str, files: Collection[tuple[str, ...]], folders: Collection[tuple[str, ...]]) -> int:
    """How many of the last names of a path it takes to mean this file, and nothing of the program.

    Tests are often called like what they test, and so are their folders: what is imported from a folder of the program
    is there.
    """

    def tells(names: tuple[str, ...]) -> bool:
        return names not in files and names[:-1] not in folders

    lengths = range(_FOLDER_AND_NAME, len(PurePosixPath(path).parts) + 1)
    return next((length for length in lengths if tells(short_name(path, length))), max(lengths, default=1))


def short_name(path: str, length: int = _FOLDER_AND_NAME) -> tuple[str, ...]:
    """By what other files name a file: the end of its path, without its suffix."""
    parts = PurePosixPath(path).with_suffix("").parts
    return (parts[:-1] if parts and parts[-1] in FOLDER_ITSELF else parts)[-length:]


_WORD = re.compile(r"\w+")


class References:
    """How other files refer to a file: as a module that they import or quote, or by its path.

    What is called like a test and is run by its path is run as a test, and so is a module that a configuration names,
    unless it names a function of it, and one of which a test is named.
    """

    def __init__(self, path: str, length: int = _FOLDER_AND_NAME) -> None:
        self._parts = short_name(path, length)
        self.words = {word for part in self._parts for word in _WORD.findall(part)}
        """What stands in every text that refers to the file."""
        self.words_beside = {*_WORD.findall(PurePosixPath(path).name.partition(".")[0])}
        """And in every text beside it that does."""
        self._is_run_as_test = _TEST_NAME.fullmatch(PurePosixPath(path).name) is not None
        *folders, name = map(re.escape, self._parts)
        folder = r"[./\\]+".join(folders)
        self._named = re.compile(rf"\b{folder}[./\\]+{name}\b(?P<function>:\w)?(?P<test>\.\w+\.test\w*)?")
        self._imported = re.compile(
            rf"\bfrom\s+[\w.]*\b{folder}\s+import\b(?:\s*\([^)]*?|(?:[^\n\\;]|\\\n)*?)\b{name}\b"
        )
        stem = re.escape(PurePosixPath(path).stem)
        module = re.escape(PurePosixPath(path).name.partition(".")[0])
        is_python = path.endswith((".py", ".pyi"))
        self._imported_near = re.compile(
            rf"^\s*(?:from\s+\.?{module}\s+import\b|from\s+\.\s+import\s[^\n]*\b{module}\b|import\s+{module}\b)"
            if is_python
            else rf"\b(?:from|import|require)\b\s*\(?\s*[\"']\./{stem}(?:\.\w+)?[\"']",
            re.MULTILINE,
        )

    def are_in(self, content: str, by: str = "") -> bool:
        """Whether a text refers to the file. `by` is where the text stands."""
        if len(self._parts) < _FOLDER_AND_NAME or any(part not in content for part in self._parts):
            return False
        for found in self._named.finditer(content):
            if _ENTRY.fullmatch(content[content.rfind("\n", 0, found.start()) + 1 :].partition("\n")[0]):
                continue
            before = _before(content, found.start())
            is_path = "/" in found[0]
            is_listed = is_path or found["test"] or (by.endswith(_CONFIGURATIONS) and not found["function"])
            refers = _IMPORTS if self._is_run_as_test and is_listed else _REFERS
            # In Python, a path is in quotes; a text that only tells of it mostly has none in the same line.
            is_named = is_path and not self._is_run_as_test and not by.endswith(".py")
            if before is not None and (is_named or refers.search(before)):
                return True
        return self._imported.search(content) is not None

    def are_beside(self, content: str) -> bool:
        """Whether a text imports the file from its own folder."""
        return self._imported_near.search(content) is not None


class ProgramTexts:
    """The code of a program, asked whether it refers to files that stand among tests, examples or material."""

    def __init__(self, texts: Mapping[str, str], code: Collection[str]) -> None:
        self._texts = texts
        self._code = code
        self._files, self._folders = name_ends(texts), folder_ends(texts)
        self._by_word: defaultdict[str, set[str]] = defaultdict(set)
        for path, text in texts.items():
            for word in set(_WORD.findall(text)):
                self._by_word[word].add(path)

    def names(self, path: str) -> bool:
        """Whether the program refers to the file. What only settings name, such as a key of tests, it does not read."""
        to_it = References(path, telling_length(path, self._files, self._folders))
        by_code = (by for by in self._with(to_it.words) if path in self._code or not is_configured_by(by))
        folder = posixpath.dirname(path)
        beside = (by for by in self._with(to_it.words_beside) if posixpath.dirname(by) == folder)
        return any(to_it.are_in(self._texts[by], by) for by in by_code) or any(
            to_it.are_beside(self._texts[by]) for by in beside
        )

    def _with(self, words: Collection[str]) -> Collection[str]:
        """The files with all the words; many words stand in few files."""
        holding = [self._by_word.get(word, set[str]()) for word in words]
        return set[str].intersection(*holding) if holding else self._texts


def program_of_rust(content: str) -> str:
    """A file of Rust without its tests, which stand in a module of their own at its end."""
    return _TESTS_OF_RUST.split(content, maxsplit=1)[0]


_TESTS_OF_RUST = re.compile(r"^#\[cfg\(test\)\]\n(?:pub(?:\([^)]*\))? )?mod ", re.MULTILINE)


def _before(content: str, place: int) -> str | None:
    """What stands before a place in its line; None in a comment."""
    start = content.rfind("\n", 0, place) + 1
    return None if _COMMENT.match(content, start) else content[max(start, place - _LONGEST_REFERENCE) : place]


def is_template(path: str, lines: Sequence[str]) -> bool:
    """Whether a file that cannot be parsed is a template, or a part, of which code is made."""
    return in_folder_of_templates(path) or any(_TEMPLATE.search(line) for line in lines)


def in_folder_of_templates(path: str) -> bool:
    """Whether files are made of a file, in other places, as far as its path tells."""
    return not _TEMPLATE_FOLDERS.isdisjoint(PurePosixPath(path).parts[:-1])


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
