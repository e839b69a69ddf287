"""A diff that is too long for a prompt, cut so that the reader knows which files are missing."""

import re

_HEADER = re.compile(r"^diff --git .*$", re.MULTILINE)
_MAX_NAMES = 100


def shortened_diff(diff: str, limit: int) -> str:
    """At most `limit` characters of a diff, and then what was left out: how much, and of which files."""
    if len(diff) <= limit:
        return diff
    kept = diff[: _kept(diff, limit)]
    lines = [kept, f"… {len(diff) - len(kept):,} characters left out"]
    headers = list(_HEADER.finditer(diff))
    begun = [header for header in headers if header.start() < len(kept)]
    missing = [_path(header[0]) for header in headers[len(begun) :]]
    if begun and not _ends_with_file(len(kept), headers, len(begun), len(diff)):
        lines.append(f"Cut off in: {_path(begun[-1][0])}")
    if missing:
        more = f" and {len(missing) - _MAX_NAMES:,} more" if len(missing) > _MAX_NAMES else ""
        lines.append(f"Not shown at all: {', '.join(missing[:_MAX_NAMES])}{more}")
    return "\n".join(lines)


def files_shown_whole(diff: str, limit: int) -> int:
    """How many of the diff's files, from the first on, `shortened_diff` shows whole."""
    headers = [header.start() for header in _HEADER.finditer(diff)]
    if len(diff) <= limit:
        return len(headers)
    kept = _kept(diff, limit)
    return sum(1 for end in (*headers[1:], len(diff)) if end - 1 <= kept)


def _kept(diff: str, limit: int) -> int:
    """How many characters are shown: up to the end of a line, where one is near."""
    end = diff.rfind("\n", 0, limit)
    return end if end >= limit * 0.9 else limit


def _ends_with_file(kept: int, headers: list[re.Match[str]], begun: int, whole: int) -> bool:
    """Whether the cut falls exactly between two files."""
    following = headers[begun].start() if begun < len(headers) else whole
    return kept >= following - 1


def _path(header: str) -> str:
    """The path after the change, from `diff --git a/old b/new`."""
    names = header.removeprefix("diff --git ")
    half = len(names) // 2
    # Without a rename both halves are the same path, which may itself contain " b/".
    if names[:half].removeprefix("a/") == names[half + 1 :].removeprefix("b/"):
        return names[half + 1 :].removeprefix("b/")
    return names.rpartition(" b/")[2]
