"""Which of its files a tool means: some make the names of files absolute."""

import pytest

from burnish.agents.panel.interface import ToolError, ToolName
from burnish.agents.panel.tools.reading import located

PLACE = "/private/slice-1"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (["app.py", "shop/app.py"], ["shop/app.py"]),
        (["app.py", "shop/app.py", "shop/shop/app.py"], ["shop/app.py", "shop/shop/app.py"]),
        (["__init__.py", "a/__init__.py"], ["a/__init__.py"]),
        (["app.py", "shop/app.py"], ["app.py"]),
    ],
)
def test_files_of_one_name_in_several_folders_are_told_apart(files: list[str], said: list[str]) -> None:
    names = [f"{PLACE}/{name}" for name in said]
    assert located(ToolName.RUFF, names, files) == dict(zip(names, said, strict=True))


@pytest.mark.parametrize("name", ["/etc/passwd", f"{PLACE}/other.py", "other.py", "../app.py"])
def test_a_file_that_was_not_given_is_an_error(name: str) -> None:
    with pytest.raises(ToolError, match="not given"):
        located(ToolName.RUFF, [f"{PLACE}/shop/app.py", name], ["app.py", "shop/app.py"])
