"""Copies of a change in which commands of the project can run: prepared by the policy, with installed dependencies.

Dependencies belong to a project; a repository may hold several. Each copy gets those of the projects around some files.
"""

import asyncio
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

from burnish.agents.services import Services
from burnish.core.reviews import Failure
from burnish.workspace.clones import Clone
from burnish.workspace.views import PACKAGES, CopyView, with_dependencies

MANIFESTS = ("pyproject.toml", "setup.py", "setup.cfg", "package.json", "go.mod", "Cargo.toml")
MOST_PACKAGES = 400
"""Of a workspace of node. Each one's dependencies are a mount of their own."""
_NO_PROJECTS = frozenset(
    {"test", "tests", "testing", "__tests__", "testdata", "fixtures", "__fixtures__", "examples", "vendor"}
)
"""Manifests below these belong to what is tested, or to nothing that is."""


async def prepared_view(
    services: Services, clone: Clone, effect: str, stop: asyncio.Event, paths: Iterable[str]
) -> CopyView | Failure:
    """A copy ready for commands: prepared by the policy, and with what the checkout has installed for these files."""
    failure = await services.prepare(clone, effect, stop, services.view(clone))
    return failure or await asyncio.to_thread(installed_view, services, clone, tuple(paths))


def installed_view(services: Services, clone: Clone, paths: Iterable[str]) -> CopyView:
    """A copy with what the checkout has installed for some files."""
    folders = {folder for path in paths for folder in projects_around(path, clone.path)}
    packages = islice(_installed_packages(services, clone), MOST_PACKAGES)
    return with_dependencies(services.view(clone), services.repository.root, sorted({"", *folders, *packages}))


def _installed_packages(services: Services, clone: Clone) -> Iterator[str]:
    """The folders of all packages of node that have packages installed: in a workspace each one has its own."""
    for path in sorted(services.repository.files(clone.head)):
        folder, _, name = path.rpartition("/")
        if name == "package.json" and (services.repository.root / folder / PACKAGES).is_dir():
            yield folder


def projects_around(path: str, root: Path) -> Iterator[str]:
    """The folders of the projects around a file, the nearest first, the root of the repository (`""`) last."""
    for folder in PurePosixPath(path).parents:
        name = "" if str(folder) == "." else str(folder)
        inside = _NO_PROJECTS.isdisjoint(folder.parts)
        if not name or (inside and any((root / name / manifest).is_file() for manifest in MANIFESTS)):
            yield name
