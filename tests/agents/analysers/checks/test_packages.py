"""Which packages of Go and Rust a change reaches."""

import pytest

from burnish.agents.panel.interface import ToolError
from burnish.agents.panel.project_checks.packages import cargo_packages, go_packages

GO = b"""{
\t"Dir": "/p",
\t"ImportPath": "x",
\t"GoFiles": ["main.go"],
\t"Deps": ["fmt", "x/core"]
}
{
\t"Dir": "/p/core",
\t"ImportPath": "x/core",
\t"GoFiles": ["core.go"],
\t"TestGoFiles": ["core_test.go"]
}
{
\t"Dir": "/p/tool",
\t"ImportPath": "x/tool",
\t"GoFiles": ["tool.go"],
\t"XTestImports": ["x"]
}
{
\t"Dir": "/p/alone",
\t"ImportPath": "x/alone",
\t"GoFiles": ["alone.go"]
}
"""
CARGO = b"""{"packages": [
 {"name": "core", "manifest_path": "/p/rs/core/Cargo.toml", "dependencies": [{"name": "rand"}]},
 {"name": "app", "manifest_path": "/p/rs/app/Cargo.toml", "dependencies": [{"name": "core", "path": "/p/rs/core"}]},
 {"name": "other", "manifest_path": "/p/rs/other/Cargo.toml", "dependencies": []}
], "workspace_root": "/p/rs"}"""


@pytest.mark.parametrize(
    ("changed", "reached"),
    [
        ("core/core.go", ("x", "x/core", "x/tool")),
        ("core/deleted.go", ("x", "x/core", "x/tool")),
        ("main.go", ("x", "x/tool")),
        ("alone/alone.go", ("x/alone",)),
        ("go.mod", ("x", "x/core", "x/tool", "x/alone")),
    ],
)
def test_packages_of_go_that_depend_on_a_change(changed: str, reached: tuple[str, ...]) -> None:
    assert go_packages(GO, "/p").reached([changed]) == reached


def test_go_lists_the_files_that_are_compiled() -> None:
    assert go_packages(GO, "/p").files["x/core"] == ("core/core.go", "core/core_test.go")


@pytest.mark.parametrize(
    ("changed", "reached"),
    [
        ("rs/core/src/lib.rs", ("core", "app")),
        ("rs/app/src/main.rs", ("app",)),
        ("rs/other/tests/a.rs", ("other",)),
        ("rs/Cargo.toml", ("core", "app", "other")),
    ],
)
def test_crates_that_depend_on_a_change(changed: str, reached: tuple[str, ...]) -> None:
    packages = cargo_packages(CARGO, "/p")
    assert packages.workspace == "rs"
    assert packages.reached([changed]) == reached


def test_a_listing_that_is_not_understood_is_no_evidence() -> None:
    with pytest.raises(ToolError):
        go_packages(b"{", "/p")
    with pytest.raises(ToolError):
        cargo_packages(CARGO, "/elsewhere")
