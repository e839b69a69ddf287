"""A repository as git would make it, written as plain files: what is always the same needs no process of git.

What depends on the file system, git itself finds out, once for all clones in one folder.
"""

import re
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from burnish.core.values import Value
from burnish.workspace.git import Git
from burnish.workspace.objects import alternates_file
from burnish.workspace.removal import remove_folder

_PROBED = re.compile(r"^\s+(filemode|symlinks|ignorecase|precomposeunicode) = (\w+)$", re.MULTILINE)
"""What git writes by itself into the settings of a new repository, in its only section, `core`."""


class Skeleton(Value):
    """What repositories in one folder have in common."""

    settings: dict[str, str]
    shared: tuple[Path, ...]
    """Folders of objects that each of them reads."""
    shallow: bytes | None = None
    """The file that says where history was cut off."""

    def write(self, git_dir: Path, references: Mapping[str, str]) -> None:
        """Make a repository whose HEAD is the branch `head`."""
        for folder in ("objects/info", "refs/heads", "info", "hooks"):
            (git_dir / folder).mkdir(parents=True)
        (git_dir / "HEAD").write_bytes(b"ref: refs/heads/head\n")
        (git_dir / "config").write_text("".join(_lines(self.settings)), encoding="utf-8")
        (git_dir / "objects" / "info" / "alternates").write_bytes(alternates_file(self.shared))
        if self.shallow is not None:
            (git_dir / "shallow").write_bytes(self.shallow)
        for name, commit in references.items():
            (git_dir / "refs" / "heads" / name).write_text(f"{commit}\n", encoding="ascii")


def settings_for(folder: Path, object_format: str, further: Mapping[str, str]) -> dict[str, str]:
    """The settings of a new repository in a folder, as git would choose them, and further ones."""
    place = Path(tempfile.mkdtemp(dir=folder, prefix=".probe-"))
    try:
        Git(place, isolated=True).run("init", "--quiet", "--template=")
        found = _PROBED.findall((place / ".git" / "config").read_text(encoding="utf-8"))
    finally:
        remove_folder(place)
    version = {"core.repositoryformatversion": "0"}
    if object_format != "sha1":
        version = {"core.repositoryformatversion": "1", "extensions.objectformat": object_format}
    return {
        **version,
        **{f"core.{name}": value for name, value in found},
        "core.bare": "false",
        "core.logallrefupdates": "true",
        **further,
    }


def _lines(settings: Mapping[str, str]) -> Iterable[str]:
    for name, value in settings.items():
        section, _, key = name.partition(".")
        yield f'[{section}]\n\t{key} = "{value}"\n'
