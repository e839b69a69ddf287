"""Where words stand in the files of a commit."""

from collections.abc import Iterable

from burnish.workspace.errors import GitError
from burnish.workspace.names import to_text
from burnish.workspace.repository import Repository

_FOUND_NOTHING = 1


def words_in(repository: Repository, commit: str, words: Iterable[str]) -> dict[str, set[str]]:
    """By word: the text files of a commit that hold it, as a word of its own."""
    wanted = sorted(set(words))
    if not wanted:
        return {}
    patterns = [part for word in wanted for part in ("-e", word)]
    arguments = ("grep", "-I", "--only-matching", "--word-regexp", "--fixed-strings", "--null", *patterns, commit)
    finished = repository.objects.finish(*arguments)
    if finished.code not in (0, _FOUND_NOTHING):
        raise GitError("git grep", finished.code, finished.stderr_tail[-300:])
    found: dict[str, set[str]] = {}
    for line in finished.stdout.split(b"\n"):
        place, separator, word = line.partition(b"\0")
        if separator:
            found.setdefault(to_text(word), set()).add(to_text(place).removeprefix(f"{commit}:"))
    return found
