"""Duplicates across reviewers become one finding that keeps the highest severity and what every source said.

`burnish.core.problems` says when TWO findings are the same problem. That is not transitive, so for many it is made
exact here: the most alike pairs of a file are joined first, in an order that depends on the content of the findings
alone, and two groups are joined only when no two of their findings contradict each other, and when no reviewer would
be made to say one thing where it said two. A reviewer
that lists two problems means two; only rules of one problem class, each once, may be several reports of one problem
(three rules fire on one swallowed exception). This is repeated until nothing joins any more.

What holds, and is tested: the result does not depend on the order of the input, merging a result changes nothing,
every source and the worst severity are kept, and findings of different files are never joined. What does not hold:
merging a part first may give other groups than merging all at once. Merge a round once, when it is complete.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from burnish.core import problems, problems_before
from burnish.core.findings import Finding, sources_of
from burnish.core.fusing import canonical_key, fuse, fuse_before
from burnish.core.identity import told_apart
from burnish.core.pairing import candidates
from burnish.core.problems import Likeness, Sketch


class Rules(NamedTuple):
    """What makes two findings one. A run keeps those that it began with."""

    sketch: Callable[[Finding], Sketch]
    likeness: Callable[[Sketch, Sketch], Likeness | None]
    contradict: Callable[[Sketch, Sketch], bool]
    fuse: Callable[[Sequence[Finding]], Finding]


RULES = Rules(problems.sketch, problems.likeness, problems.contradict, fuse)
RULES_BEFORE = Rules(problems_before.sketch, problems_before.likeness, problems_before.contradict, fuse_before)


def merge(findings: Sequence[Finding], rules: Rules = RULES, known: Sequence[Finding] = ()) -> tuple[Finding, ...]:
    """Merge what several reviewers said of the same problems; the worst come first.

    Findings should be identified: without ids, equal findings of one reviewer are only recognised when they are equal
    in everything. `known` are those of earlier rounds, whose names nothing else may take.
    """
    if rules is RULES:
        findings = _tell_apart(findings, known)
    merged = (finding for group in _by_file(findings).values() for finding in _merge_file(group, rules))
    return tuple(sorted(merged, key=canonical_key))


def _tell_apart(findings: Sequence[Finding], known: Sequence[Finding]) -> list[Finding]:
    """Give another name to each finding whose own belongs to one that it contradicts.

    A rule's finding is named by its line, so that two reviewers, each with another import of that line, give both
    the same name.
    """
    owners: defaultdict[str, list[Sketch]] = defaultdict(list)
    for finding in known:
        owners[finding.id].append(problems.sketch(finding))
    apart: list[Finding] = []
    for each in sorted(findings, key=canonical_key):
        finding, drawn = each, problems.sketch(each)
        while finding.id and any(problems.contradict(drawn, owner) for owner in owners[finding.id]):
            finding = told_apart(finding)
        owners[finding.id].append(drawn)
        apart.append(finding)
    return apart


def match_former(former: Sequence[Finding], now: Sequence[Finding], rules: Rules = RULES) -> dict[str, str]:
    """Which finding of now is which former one: former id → id now.

    Equal ids match wherever they are; so does the id of a source, where not all that reported a problem do so again.
    The rest is matched by likeness, the most alike first, each at most once: a
    second finding that resembles a former one is news. The caller first moves the former locations to the tree of
    now (`burnish.core.drift`), and leaves out the lines of those that were touched. Who found them does not count.
    """
    present = {finding.id for finding in now}
    matched = {finding.id: finding.id for finding in former if finding.id and finding.id in present}
    if rules is RULES:
        matched |= _match_sources(former, now, matched)
    open_former = {finding for finding in former if finding.id and finding.id not in matched}
    taken = set(matched.values())
    open_now = {finding for finding in now if finding.id and finding.id not in taken}
    alike: list[tuple[Likeness, str, str]] = []
    for group in _by_file(open_former | open_now).values():
        for closeness, one, other in _alike(group, rules):
            if one in open_former and other in open_now:
                alike.append((closeness, one.id, other.id))
            if other in open_former and one in open_now:
                alike.append((closeness, other.id, one.id))
    for _, former_id, now_id in sorted(alike):
        if former_id not in matched and now_id not in taken:
            matched[former_id] = now_id
            taken.add(now_id)
    return matched


def _match_sources(former: Sequence[Finding], now: Sequence[Finding], matched: dict[str, str]) -> dict[str, str]:
    """Which findings are recognised by the id of one of their sources: former id → id now."""
    taken = set(matched.values())
    known = {source.id: finding.id for finding in sorted(now, key=canonical_key) for source in sources_of(finding)}
    found: dict[str, str] = {}
    for finding in sorted(former, key=canonical_key):
        ids = (known.get(each, "") for each in (finding.id, *(source.id for source in finding.sources)) if each)
        again = next((each for each in ids if each and each not in taken), None)
        if finding.id and finding.id not in matched and again is not None:
            found[finding.id] = again
            taken.add(again)
    return found


def _by_file(findings: Iterable[Finding]) -> dict[str | None, list[Finding]]:
    """Findings by their file; those without a location are about the change as a whole, and a group of their own."""
    groups: defaultdict[str | None, list[Finding]] = defaultdict(list)
    for finding in findings:
        groups[finding.location.file if finding.location else None].append(finding)
    return groups


def _alike(findings: Iterable[Finding], rules: Rules) -> list[tuple[Likeness, Finding, Finding]]:
    """The pairs of findings of one file that are the same problem."""
    sketches = _sketches(findings, rules)
    return [
        (closeness, sketches[i].finding, sketches[j].finding)
        for i, j in candidates(sketches)
        if (closeness := rules.likeness(sketches[i], sketches[j]))
    ]


def _sketches(findings: Iterable[Finding], rules: Rules) -> list[Sketch]:
    return [rules.sketch(finding) for finding in sorted(findings, key=canonical_key)]


def _merge_file(findings: list[Finding], rules: Rules) -> Iterable[Finding]:
    """Merge the findings of one file until nothing joins any more, so that merging again changes nothing."""
    findings = _merge_equal_ids(findings, rules)
    while len(findings) > 1:
        groups = _join_once(_sketches(findings, rules), rules)
        if len(groups) == len(findings):
            break
        findings = _distinct(rules.fuse(group) for group in groups)
    return findings


def _merge_equal_ids(findings: list[Finding], rules: Rules) -> list[Finding]:
    """An id is an identity: who reported it, and on which lines, does not matter."""
    by_id: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_id[finding.id].append(finding)
    unidentified = by_id.pop("", [])
    return _distinct([*unidentified, *(rules.fuse(_distinct(group)) for group in by_id.values())])


def _distinct(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that are equal in everything are one, also where merging made them so."""
    return list(dict.fromkeys(findings))


def _join_once(sketches: list[Sketch], rules: Rules) -> list[list[Finding]]:
    """Groups of findings of one file that are the same problem, joined from the most alike on."""
    groups = _Groups(sketches, rules)
    closest = sorted(
        (closeness, i, j)
        for i, j in candidates(sketches)
        if groups.may_speak_together(i, j) and (closeness := rules.likeness(sketches[i], sketches[j]))
    )
    for _, i, j in closest:
        groups.join(i, j)
    return groups.members()


class _Groups:
    """Disjoint groups of findings, each of which knows who speaks in it, and of what."""

    def __init__(self, sketches: Sequence[Sketch], rules: Rules) -> None:
        self._sketches = sketches
        self._contradict = rules.contradict
        self._members = [[index] for index in range(len(sketches))]
        self._parent = list(range(len(sketches)))
        self._reviewers = [one.reviewers for one in sketches]
        self._rules = [one.rules for one in sketches]
        self._kinds = [one.kinds for one in sketches]

    def may_speak_together(self, i: int, j: int) -> bool:
        """Whether no reviewer would say one thing where it said two; rules of one class, each once, may join."""
        i, j = self._root(i), self._root(j)
        if not self._reviewers[i] & self._reviewers[j]:
            return True
        return bool(self._kinds[i] & self._kinds[j]) and not self._rules[i] & self._rules[j]

    def _contradicts(self, i: int, j: int) -> bool:
        """Whether a finding of one group contradicts one of the other, though two others of them are alike."""
        pairs = ((self._sketches[one], self._sketches[other]) for one in self._members[i] for other in self._members[j])
        return any(self._contradict(one, other) for one, other in pairs)

    def join(self, i: int, j: int) -> None:
        i, j = self._root(i), self._root(j)
        if i == j or not self.may_speak_together(i, j) or self._contradicts(i, j):
            return
        i, j = min(i, j), max(i, j)
        self._parent[j] = i
        self._members[i] += self._members[j]
        self._reviewers[i] |= self._reviewers[j]
        self._rules[i] |= self._rules[j]
        self._kinds[i] |= self._kinds[j]

    def members(self) -> list[list[Finding]]:
        roots = [index for index, parent in enumerate(self._parent) if index == parent]
        return [[self._sketches[member].finding for member in sorted(self._members[root])] for root in roots]

    def _root(self, index: int) -> int:
        while self._parent[index] != index:
            self._parent[index] = self._parent[self._parent[index]]
            index = self._parent[index]
        return index
