"""What an agent says about the list that its task is from."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from burnish.runtime.context import Picking
from burnish.runtime.picking import is_out_of_work, picked_instead
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.repository import Repository

LIST = '{"id": "a", "status": "open"}\n{"id": "b", "status": "open"}\n'


@pytest.mark.parametrize(
    "marker", ["no beads available", "no_beads_available", "No tasks available.", "NO_TASKS_AVAILABLE"]
)
def test_stop_markers(marker: str) -> None:
    assert is_out_of_work(f"I looked. {marker} Bye.", changed=False)
    assert is_out_of_work(f"Done.\n**{marker}**\n", changed=True)
    assert not is_out_of_work(f"The parser now knows `{marker}` as well.", changed=True)
    assert not is_out_of_work("All beads are fine.", changed=False)


@pytest.mark.parametrize(
    ("left", "said", "picked"),
    [
        (LIST, "Built it.", ""),
        (LIST.replace('"b", "status": "open"', '"b", "status": "in_progress"'), "Built it.", "b"),
        (LIST.replace("open", "in_progress"), "Built it.", ""),
        (LIST, '{"command": "bd update b --status in_progress --json"}', "b"),
        (LIST, "$ bd --json update b --claim", "b"),
        (LIST, "$ tsq claim b", "b"),
        (LIST, "$ bd update b --priority 1", ""),
        (LIST, "Picked bead: b\nDone.", "b"),
        (LIST, "picked: b\nbd update a --claim", ""),
        (LIST, "picked: zzz", ""),
        ("not json", "Built it.", ""),
    ],
)
def test_what_was_picked_instead(tmp_path: Path, left: str, said: str, picked: str) -> None:
    builder = RepositoryBuilder(tmp_path / "repository")
    builder.commit({".beads/issues.jsonl": LIST})
    clone = tmp_path / "clone"
    (clone / ".beads").mkdir(parents=True)
    (clone / ".beads" / "issues.jsonl").write_text(left)
    picking = Picking(task="a", folder=".beads", others=("b",))
    repository = Repository.discover(builder.path)
    found = picked_instead(repository, cast("Any", SimpleNamespace(path=clone)), picking, "HEAD", [said.encode()])
    assert found == picked
    # A link that an agent made is not followed.
    (clone / ".beads" / "issues.jsonl").unlink()
    (clone / ".beads" / "issues.jsonl").symlink_to("/etc/hostname")
    picked_instead(repository, cast("Any", SimpleNamespace(path=clone)), picking, "HEAD", [b""])
