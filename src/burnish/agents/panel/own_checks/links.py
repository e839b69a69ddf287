"""What a tree points to outside of itself, and files whose checkout is not what was reviewed."""

import re
from collections.abc import Iterator, Mapping

from burnish.agents.panel.interface import Hit
from burnish.agents.panel.own_checks.reporting import OwnRule, hit
from burnish.agents.panel.tools.reading import text
from burnish.workspace.names import stays_inside

# UTF-8 is what git takes every text for, so that naming it changes nothing.
_DIFFERS = re.compile(
    r"(?<![\w-])(?:working-tree-encoding=(?!utf-?8(?:\s|$))|filter=(?!lfs(?:\s|$)))\S+", re.IGNORECASE
)
_EXPANDS = re.compile(r"(?<![\w-])(?:ident|export-subst|filter=lfs)(?![\w=-])")


def attributes(path: str, content: bytes) -> Iterator[Hit]:
    """What a `.gitattributes` makes git change in the files that it checks out."""
    for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        if line.lstrip().startswith("#"):
            continue
        if found := _DIFFERS.search(line):
            yield hit(
                OwnRule.CHECKOUT, path, number, f"git checks out other text than what is reviewed: {text(found[0])}."
            )
        elif found := _EXPANDS.search(line):
            yield hit(OwnRule.EXPANDED, path, number, f"git writes other text to these files: {text(found[0])}.")


def link_hit(path: str, links: Mapping[str, str]) -> Hit | None:
    """A hit for a symbolic link that leads out of the tree, or into git's own folder. `links` are all of the tree."""
    if stays_inside(path, links):
        return None
    return hit(OwnRule.LINK, path, None, f"This link points outside the repository, to {text(links[path])}.")


def submodule_hit(path: str, *, is_new: bool) -> Hit:
    what = "is new" if is_new else "is at another commit"
    return hit(OwnRule.SUBMODULE, path, None, f"The submodule {what}; its content is not part of this repository.")
