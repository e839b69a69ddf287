"""What a tree must not gain through a fix: a way out of the repository, or into git's own directory.

A tree is looked at as every system might check it out: with names that differ in case or in invisible characters taken
for one, with backslashes as separators, with the other spellings of `.git`. Links are followed component by component
in the tree itself, never on a disk. What was in the tree before, and leads where it led before, is not the fix's doing.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping

from burnish.core.values import Value
from burnish.workspace.errors import UnsafeResultError
from burnish.workspace.git import Git, tree_entries
from burnish.workspace.names import shown, to_text

HINT = "burnish took nothing from this fix. The fixer's transcript shows what it did."
_LINK = b"120000"
_MOST_LINKS = 40
"""How many links a system follows for one path."""
_DRIVE = re.compile(r"[A-Za-z]:")


class _Tree(Value):
    """The files of a tree, and what is written in its links."""

    files: frozenset[str]
    links: dict[str, str]


def refuse_escapes(git: Git, before: str, after: str) -> None:
    """Raise `UnsafeResultError` where a tree has an escape that another one, from which it was made, has not."""
    found = _escapes(_read(git, after))
    if not found:
        return
    known = _escapes(_read(git, before))
    for place, problem in found.items():
        if known.get(place) != problem:
            raise UnsafeResultError(f"'{shown(place)}' {problem}.", hint=HINT)


def is_git_name(name: str) -> bool:
    """Whether some system takes the name of a file or folder for `.git`."""
    plain = _folded(name).partition(":")[0].rstrip(" .")  # NTFS: streams, and what it leaves off at the end
    return plain in (".git", "git~1")


def _read(git: Git, tree: str) -> _Tree:
    listed = list(tree_entries(git.run("ls-tree", "-r", "-z", "--full-tree", tree)))
    linked = {to_text(name): entry.identity for name, entry in listed if entry.mode == _LINK}
    contents = git.contents(list(linked.values()))
    return _Tree(
        files=frozenset(to_text(name) for name, _ in listed),
        links={name: to_text(contents[identity]) for name, identity in linked.items()},
    )


def _escapes(tree: _Tree) -> dict[str, str]:
    """What is wrong with each place of a tree, in words."""
    found = {path: problem for path in tree.files if (problem := _problem_of_name(path))}
    forgiving = {_everywhere(path): _everywhere(target) for path, target in tree.links.items()}
    for path, target in tree.links.items():
        problem = _led_out(path, target, tree.links) or _led_out(_everywhere(path), _everywhere(target), forgiving)
        if problem:
            found[path] = problem
    for folder in _bare_repositories(tree.files):
        found[folder] = "would be a repository inside the repository, whose settings can run programs"
    return found


def _problem_of_name(path: str) -> str:
    parts = re.split(r"[/\\]", path)
    if any(part in ("", ".", "..") or is_git_name(part) for part in parts):
        return "is not a valid file name in a repository: some systems would resolve it elsewhere, or in `.git`"
    return ""


def _led_out(path: str, target: str, links: Mapping[str, str]) -> str:
    """Why a link must not be followed; empty where it stays in the tree."""
    place = path.split("/")[:-1]
    waiting: list[str] = []
    following: str | None = target
    followed = 0
    while following is not None or waiting:
        if following is not None:
            followed += 1
            if _is_absolute(following):
                return f"is a link that points out of the repository: '{shown(following)}'"
            if followed > _MOST_LINKS:
                return "is a link that leads in a circle"
            waiting.extend(reversed(following.split("/")))
        part = waiting.pop()
        problem = _problem_of_step(place, part)
        if problem:
            return problem
        following = _step(place, part, links)
    return ""


def _problem_of_step(place: list[str], part: str) -> str:
    if part == ".." and not place:
        return "is a link that points out of the repository"
    if is_git_name(part):
        return f"is a link that points into git's own directory: '{shown('/'.join([*place, part]))}'"
    return ""


def _step(place: list[str], part: str, links: Mapping[str, str]) -> str | None:
    """Go one step on from a place; where that is a link, stay, and give what is written in it."""
    if part == "..":
        place.pop()
    elif part not in ("", "."):
        further = links.get("/".join([*place, part]))
        if further is not None:
            return further
        place.append(part)
    return None


def _is_absolute(target: str) -> bool:
    return target.startswith(("/", "\\")) or _DRIVE.match(target) is not None


def _everywhere(text: str) -> str:
    """A path as the most forgiving system reads it."""
    return "/".join(_folded(part) for part in re.split(r"[/\\]", text))


def _folded(name: str) -> str:
    """A name without what some system does not tell apart: case, composition, invisible characters."""
    if name.isascii():
        return name.lower()
    visible = "".join(letter for letter in name if unicodedata.category(letter) != "Cf")
    return unicodedata.normalize("NFD", visible.casefold())


def _bare_repositories(files: frozenset[str]) -> Iterator[str]:
    """Folders that git takes for a repository when it is called in them."""
    heads = (path for path in files if _folded(path.rpartition("/")[2]) == "head")
    for folder in {path.rpartition("/")[0] for path in heads}:
        beginning = f"{folder}/" if folder else ""
        inside = {_folded(path[len(beginning) :].split("/")[0]) for path in files if path.startswith(beginning)}
        if "commondir" in inside or {"objects", "refs"} <= inside:
            yield folder or "."
