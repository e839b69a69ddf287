"""Which linters a project configures, and which files steer its gate."""

from collections.abc import Collection, Mapping

import pytest

from burnish.agents.panel.own_configuration import configuration_of, configured_tools, is_configuration, landmarks


def _configured(files: Mapping[str, bytes]) -> set[str]:
    return {tool.value for tool in configured_tools(files.keys(), files.get)}


@pytest.mark.parametrize(
    ("files", "tools"),
    [
        ({}, set[str]()),
        ({"pyproject.toml": b"[tool.ruff]\nline-length = 100\n"}, {"ruff"}),
        ({"pyproject.toml": b"[tool.ruff.lint]\nselect = ['E']\n"}, {"ruff"}),
        ({"services/api/pyproject.toml": b"[tool.ruff]\n"}, {"ruff"}),
        ({"pyproject.toml": b"[tool.black]\n"}, set[str]()),
        ({"pyproject.toml": b"[tool.ruff\n"}, set[str]()),
        ({"pyproject.toml": b"tool = 'ruff'\n"}, set[str]()),
        ({"pyproject.toml": b"\xff\xfe"}, set[str]()),
        ({"ruff.toml": b""}, {"ruff"}),
        ({"a/.ruff.toml": b""}, {"ruff"}),
        ({"web/.oxlintrc.json": b"{}"}, {"oxlint"}),
        ({"oxlint.config.ts": b""}, set[str]()),
        ({"eslint.config.mjs": b""}, {"eslint"}),
        ({"web/.eslintrc": b""}, {"eslint"}),
        ({"web/.eslintrc.cjs": b"", "ruff.toml": b""}, {"eslint", "ruff"}),
        ({".eslintignore": b""}, set[str]()),
        ({"package.json": b'{"eslintConfig": {}}'}, {"eslint"}),
        ({"package.json": b'{"devDependencies": {"eslint": "9"}}'}, set[str]()),
        ({"package.json": b"[1]"}, set[str]()),
        ({"package.json": b"{"}, set[str]()),
    ],
)
def test_a_project_configures_linters(files: dict[str, bytes], tools: set[str]) -> None:
    assert _configured(files) == tools


def test_a_file_that_is_gone_configures_nothing() -> None:
    assert configured_tools(["pyproject.toml", "package.json"], lambda _: None) == frozenset()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("pyproject.toml", True),
        ("deep/down/ruff.toml", True),
        ("web/eslint.config.mjs", True),
        ("web/.eslintrc", True),
        ("web/.eslintrc.json", True),
        ("setup.cfg", True),
        ("pytest.ini", True),
        ("package.json", True),
        (".coveragerc", True),
        (".shellcheckrc", True),
        ("src/app.py", False),
        ("docs/ruff.toml.md", False),
        ("package-lock.json", False),
        ("ruff.toml/app.py", False),
    ],
)
def test_a_file_steers_the_gate(path: str, *, expected: bool) -> None:
    assert is_configuration(path) is expected


def test_a_configuration_comes_with_the_files_that_it_names() -> None:
    files = {
        "app/ruff.toml": b'extend = "../shared/base.toml"\n',
        "shared/base.toml": b"extend = 'more.toml'\n",
        "shared/more.toml": b'extend = "base.toml"\n',
        "shared/other.toml": b"",
        "app/main.py": b'open("../shared/other.toml")\n',
    }

    def read(paths: Collection[str]) -> dict[str, bytes]:
        return {path: files[path] for path in paths}

    assert sorted(configuration_of(files, read)) == ["app/ruff.toml", "shared/base.toml", "shared/more.toml"]


def test_some_modules_tell_which_packages_a_project_has() -> None:
    deep = [f"src/app/core/m{number}.py" for number in range(9)]
    files = ["tool.py", "src/one.py", "src/two.py", "src/app/__init__.py", "src/app/core/__init__.py", "a/b.txt", *deep]
    assert sorted(landmarks(files)) == [
        "src/app/__init__.py", "src/app/core/__init__.py", "src/one.py", "src/two.py", "tool.py",
    ]  # fmt: skip
    assert list(landmarks(deep)) == ["src/app/core/m0.py"]
