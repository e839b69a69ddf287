"""Attributes of some files: those that stand above them in the tree count, and no others."""

from pathlib import Path

from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.attributes import Attributes
from burnish.workspace.repository import Repository


def test_the_folders_above_a_file_decide(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path).commit(
        {
            ".gitattributes": "*.py linguist-generated\n",
            "a/.gitattributes": "x.py -linguist-generated\n",
            "a/b/.gitattributes/y": "* filter=lfs\n",  # a folder of that name says nothing
            "c/.gitattributes": "* filter=lfs\n",
            "caf\u00e9/.gitattributes": "*.md linguist-vendored=true\n",
        }
    )
    paths = ("a/x.py", "a/b/z.py", "caf\u00e9/r.md", "new.py")
    found = Attributes(Repository.discover(tmp_path), builder.head, paths)
    assert [found.of(path) for path in paths] == [
        {"linguist-generated": "unset"},
        {"linguist-generated": "set"},
        {"linguist-vendored": "true"},
        {"linguist-generated": "set"},
    ]
