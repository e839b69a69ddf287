"""Situations that many tests of the workspace share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from burnish.core.values import replace
from burnish.testing import repositories
from burnish.testing.repositories import RepositoryBuilder
from burnish.workspace.clones import Clone, Clones
from burnish.workspace.fingerprints import Fingerprint, take
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import freeze

# What burnish may add to a user's repository: objects, and refs of its own.
_OURS = (
    ".git/objects",
    ".git/refs/burnish",
    ".git/refs/heads/burnish",
    ".git/logs/refs/heads/burnish",
    ".git/burnish",
)
UsersView = Callable[[Path], Fingerprint]


@pytest.fixture
def branch_with_two_defects(tmp_path: Path) -> RepositoryBuilder:
    return repositories.branch_with_two_defects(tmp_path / "repository")


@pytest.fixture
def repository(branch_with_two_defects: RepositoryBuilder) -> Repository:
    """What burnish sees of `branch_with_two_defects`."""
    return Repository.discover(branch_with_two_defects.path)


@pytest.fixture
def clones(repository: Repository, tmp_path: Path) -> Clones:
    return Clones(repository, tmp_path / "cache" / "run")


@pytest.fixture
def fixers_clone(repository: Repository, clones: Clones) -> Clone:
    """A writable clone of `change` against `main`."""
    subject = freeze(repository, "change", "main")
    return clones.make("fixer", subject.base_commit, subject.head, writable=True)


@pytest.fixture
def users_view() -> UsersView:
    """Everything in a user's repository, byte for byte, but for what is burnish's own."""

    def look(path: Path) -> Fingerprint:
        entries = take(path).entries
        theirs = {name: replace(entry, stamp=()) for name, entry in entries.items() if not name.startswith(_OURS)}
        return Fingerprint(entries=theirs)

    return look
