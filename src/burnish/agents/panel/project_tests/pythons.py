"""How a Python project is tested, and by which interpreter. It looks at files; it starts nothing."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from burnish.core.values import Value

MOST_BYTES = 1_000_000
NO_SOURCES = frozenset({"node_modules", "venv", "env", "build", "dist", "__pycache__", "site-packages", "target"})
_VENVS = (".venv", "venv")
_MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "requirements.txt", "conftest.py")
_PYTEST_SECTION = re.compile(r"^\[(?:tool\.pytest(?:\.ini_options)?|tool:pytest|pytest)\]", re.MULTILINE)
_IMPORTS_UNITTEST = re.compile(r"^\s*(?:import|from) (?:unittest|django\.test)\b", re.MULTILINE)
_QUOTED_PATH = re.compile(r"""['"](/[^'"\n]+)['"]""")
_TEST_FILE = re.compile(r"(?:test_.*|.*_test)\.py")


class PythonTests(Value):
    """What a project has of tests."""

    files: tuple[str, ...]
    configured: bool
    """pytest is configured, or there is a conftest.py."""
    unittest: bool
    """Files of tests import unittest."""


class Interpreter(Value):
    """A Python that may run the tests."""

    program: str
    """An absolute path, or one inside the copy."""
    folder: Path | None = None
    """Its virtual environment."""


def read_text(file: Path) -> str:
    """The beginning of a file; empty where there is none. A link to a device is none."""
    try:
        if not file.is_file():
            return ""
        with file.open("rb") as stream:
            return stream.read(MOST_BYTES).decode("utf-8", errors="replace")
    except OSError:
        return ""


def is_python_project(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _MANIFESTS)


def is_test_file(path: str) -> bool:
    """Whether a path of a repository is a test, or something that only tests use."""
    *folders, name = path.split("/")
    return bool(
        name == "conftest.py"
        or _TEST_FILE.fullmatch(name)
        or any(part in ("test", "tests", "testing") for part in folders)
    )


def is_test_module(path: str) -> bool:
    """Whether a path is a file of tests, which no other one is expected to use."""
    return bool(_TEST_FILE.fullmatch(path.rpartition("/")[2]))


_BUILD_FILES = ("pyproject.toml", "setup.py")
_PROJECT_FILES = (*_BUILD_FILES, "setup.cfg", "tox.ini", "pytest.ini", "conftest.py")


def configures_pytest(text: str) -> bool:
    """Whether a file of settings has a section for pytest."""
    return bool(_PYTEST_SECTION.search(text))


def python_tests(folder: Path) -> PythonTests | None:
    """What tests a project has; None where there is no sign of any."""
    files = tuple(sorted(_test_files(folder)))
    settings = ("pyproject.toml", "setup.cfg", "tox.ini")
    configured = (
        (folder / "pytest.ini").is_file()
        or (folder / "conftest.py").is_file()
        or any(configures_pytest(read_text(folder / name)) for name in settings)
    )
    if not files and not configured:
        return None
    unittest = any(_IMPORTS_UNITTEST.search(read_text(folder / name)) for name in files)
    return PythonTests(files=files, configured=configured, unittest=unittest)


def _test_files(folder: Path) -> Iterator[str]:
    """Files of tests below a folder. Where the folder is no Python project, those of projects in it are not its own."""
    is_project = any((folder / name).is_file() for name in _PROJECT_FILES)
    for place, folders, files in os.walk(folder):
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".")
            and name not in NO_SOURCES
            and (is_project or not any(Path(place, name, file).is_file() for file in _BUILD_FILES))
        ]
        yield from (os.path.relpath(f"{place}/{name}", folder) for name in files if _TEST_FILE.fullmatch(name))


def virtual_environments(
    folder: Path, checkouts: Sequence[Path], environment: Mapping[str, str]
) -> Iterator[Interpreter]:
    """The interpreters of virtual environments, the one that the user has activated first."""
    active = environment.get("VIRTUAL_ENV", "")
    if active.startswith("/"):
        yield Interpreter(program=f"{active}/bin/python", folder=Path(active))
    for name in _VENVS:
        # Each copy has its own, where it was prepared or seeded: its path is that inside the copy.
        yield Interpreter(program=f"{name}/bin/python", folder=folder / name)
    for checkout in checkouts:
        for name in _VENVS:
            yield Interpreter(program=f"{checkout}/{name}/bin/python", folder=checkout / name)


def exists(interpreter: Interpreter) -> bool:
    return interpreter.folder is not None and os.access(interpreter.folder / "bin" / "python", os.X_OK)


def has_module(interpreter: Interpreter, name: str) -> bool:
    """Whether a module is installed in a virtual environment. Its interpreter may be the change's: it is not run."""
    places = _site_packages(interpreter)
    return any((place / name / "__init__.py").is_file() or (place / f"{name}.py").is_file() for place in places)


def _site_packages(interpreter: Interpreter) -> list[Path]:
    return sorted(interpreter.folder.glob("lib*/python3*/site-packages")) if interpreter.folder else []


def editable_folders(interpreter: Interpreter, checkout: Path) -> tuple[str, ...]:
    """Folders of the user's checkout from which an editable installation imports, from the root of the repository.

    The same folders of a copy must come before them, or else the tests would test what is checked out.
    """
    root = f"{checkout}/"
    found: list[str] = []
    for place in _site_packages(interpreter):
        for file in sorted(place.glob("*.pth")):
            found += (line for line in read_text(file).splitlines() if f"{line}/".startswith(root))
        for file in sorted(place.glob("__editable__*.py")):
            named = _QUOTED_PATH.findall(read_text(file))
            found += (str(Path(path).parent) for path in named if path.startswith(root))
    return tuple(dict.fromkeys(os.path.relpath(path, checkout) for path in found))
