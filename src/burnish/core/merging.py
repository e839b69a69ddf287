"""Duplicates across reviewers become one finding that keeps the highest severity and every source.

`burnish.core.problems` says when TWO findings are the same problem. That is not transitive, so for many it is made
exact here: the most alike pairs of a file are joined first, in an order that depends on the content of the findings
alone, and two groups are joined only when no reviewer would be made to say one thing where it said two. A reviewer
that lists two problems means two; only rules of one problem class, each once, may be several reports of one problem
(three rules fire on one swallowed exception). This is repeated until nothing joins any more.

What holds, and is tested: the result does not depend on the order of the input, merging a result changes nothing,
every source and the worst severity are kept, and findings of different files are never joined. What does not hold:
merging a part first may give other groups than merging all at once. Merge a round once, when it is complete.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from burnish.core.findings import Finding
from burnish.core.fusing import canonical_key, fuse
from burnish.core.pairing import candidates
from burnish.core.problems import Likeness, Sketch, likeness, sketch


def merge(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Merge what several reviewers said of the same problems; the worst come first.

    Findings should be identified: without ids, equal findings of one
    reviewer are only recognised when they are equal in everything.
    """
    merged = (finding for group in _by_file(findings).values() for finding in _merge_file(group))
    return tuple(sorted(merged, key=canonical_key))


def match_former(former: Sequence[Finding], now: Sequence[Finding]) -> dict[str, str]:
    """Which finding of now is which former one: former id → id now.

    Equal ids match wherever they are. The rest is matched by likeness, the most alike first, each at most once: a
    second finding that resembles a former one is news. The caller first moves the former locations to the tree of
    now (`burnish.core.drift`), and leaves out the lines of those that were touched. Who found them does not count.
    """
    present = {finding.id for finding in now}
    matched = {finding.id: finding.id for finding in former if finding.id and finding.id in present}
    open_former = {finding for finding in former if finding.id and finding.id not in matched}
    open_now = {finding for finding in now if finding.id and finding.id not in matched}
    alike: list[tuple[Likeness, str, str]] = []
    for group in _by_file(open_former | open_now).values():
        for closeness, one, other in _alike(group):
            if one in open_former and other in open_now:
                alike.append((closeness, one.id, other.id))
            if other in open_former and one in open_now:
                alike.append((closeness, other.id, one.id))
    taken: set[str] = set()
    for _, former_id, now_id in sorted(alike):
        if former_id not in matched and now_id not in taken:
            matched[former_id] = now_id
            taken.add(now_id)
    return matched


def _by_file(findings: Iterable[Finding]) -> dict[str | None, list[Finding]]:
    """Findings by their file; those without a location are about the change as a whole, and a group of their own."""
    groups: defaultdict[str | None, list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[finding.location.file if finding.location else None].append(finding)
    return groups


def _alike(findings: Iterable[Finding]) -> list[tuple[Likeness, Finding, Finding]]:
    """The pairs of findings of one file that are the same problem."""
    sketches = _sketches(findings)
    return [
        (closeness, sketches[i].finding, sketches[j].finding)
        for i, j in candidates(sketches)
        if (closeness := likeness(sketches[i], sketches[j]))
    ]


def _sketches(findings: Iterable[Finding]) -> list[Sketch]:
    return [sketch(finding) for finding in sorted(findings, key=canonical_key)]


def _merge_file(findings: list[Finding]) -> Iterable[Finding]:
    """Merge the findings of one file until nothing joins any more, so that merging again changes nothing."""
    findings = _merge_equal_ids(findings)
    while len(findings) > 1:
        groups = _join_once(_sketches(findings))
        if len(groups) == len(findings):
            break
        findings = _distinct(fuse(group) for group in groups)
    return findings


def _merge_equal_ids(findings: list[Finding]) -> list[Finding]:
    """An id is an identity: who reported it, and on which lines, does not matter."""
    by_id: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_id[finding.id].append(finding)
    unidentified = by_id.pop("", [])
    return _distinct([*unidentified, *(fuse(_distinct(group)) for group in by_id.values())])


def _distinct(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that are equal in everything are one, also where merging made them so."""
    return list(dict.fromkeys(findings))


def _join_once(sketches: list[Sketch]) -> list[list[Finding]]:
    """Groups of findings of one file that are the same problem, joined from the most alike on."""
    groups = _Groups(sketches)
    closest = sorted(
        (closeness, i, j)
        for i, j in candidates(sketches)
        if groups.may_join(i, j) and (closeness := likeness(sketches[i], sketches[j]))
    )
    for _, i, j in closest:
        groups.join(i, j)
    return groups.members()


class _Groups:
    """Disjoint groups of findings, each of which knows who speaks in it, and of what."""

    def __init__(self, sketches: Sequence[Sketch]) -> None:
        self._findings = [one.finding for one in sketches]
        self._parent = list(range(len(sketches)))
        self._reviewers = [one.reviewers for one in sketches]
        self._rules = [one.rules for one in sketches]
        self._kinds = [one.kinds for one in sketches]

    def may_join(self, i: int, j: int) -> bool:
        """Whether no reviewer would say one thing where it said two; rules of one class, each once, may join."""
        i, j = self._root(i), self._root(j)
        if not self._reviewers[i] & self._reviewers[j]:
            return True
        return bool(self._kinds[i] & self._kinds[j]) and not self._rules[i] & self._rules[j]

    def join(self, i: int, j: int) -> None:
        i, j = self._root(i), self._root(j)
        if i == j or not self.may_join(i, j):
            return
        i, j = min(i, j), max(i, j)
        self._parent[j] = i
        self._reviewers[i] |= self._reviewers[j]
        self._rules[i] |= self._rules[j]
        self._kinds[i] |= self._kinds[j]

    def members(self) -> list[list[Finding]]:
        groups: defaultdict[int, list[Finding]] = defaultdict(list)
        for index, finding in enumerate(self._findings):
            groups[self._root(index)].append(finding)
        return list(groups.values())

    def _root(self, index: int) -> int:
        while self._parent[index] != index:
            self._parent[index] = self._parent[self._parent[index]]
            index = self._parent[index]
        return index
