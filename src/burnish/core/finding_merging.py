"""Duplicates across reviewers become one finding that keeps the highest severity and what every source said.

`burnish.core.finding_likeness` says when TWO findings are the same problem. That is not transitive, so for many it is
made exact here: the most alike pairs of a file are joined first, in an order that depends only on the content of the
findings, and two groups are joined only when no two of their findings contradict each other, and when no reviewer would
be made to say one thing where it said two. A reviewer that lists two problems means two; only rules of one problem
class, each once, may be several reports of one problem (three rules fire on one swallowed exception). This is repeated
until nothing joins any more.

What holds, and is tested: the result does not depend on the order of the input, merging a result changes nothing,
every source and the worst severity are kept, and findings of different files are never joined. What does not hold:
merging a part first may give other groups than merging all at once. Merge a round once, when it is complete.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from burnish.core.finding_identity import content_words, named_code, similarity, told_apart
from burnish.core.finding_likeness import (
    NEARBY,
    RULE_SEPARATOR,
    SAME_CLASS,
    SAME_ID,
    SAME_RULE,
    Features,
    Likeness,
    contradict,
    features_of,
    likeness,
    listed,
    placed,
)
from burnish.core.findings import Action, Finding, Location, Severity, Source, sources_of
from burnish.core.values import replace

# --- One finding from several of the same problem --------------------------------------------------------------------

_DEMAND = {Action.NOTE: 0, Action.FIX: 1, Action.ASK: 2}
_TEXTS = ("problem", "impact", "evidence", "suggestion")


def canonical_key(finding: Finding) -> tuple[int, str, int, int, str, str, str]:
    """The one order of findings: the worst first, then by place, then by content, so that no two can tie."""
    location = finding.location or Location(file="")
    place = (location.file, location.line or 0, location.last_line or 0)
    return (finding.severity.rank, *place, finding.title, finding.id, repr(finding))


def combine(findings: Sequence[Finding]) -> Finding:
    """One finding for several of the same problem; one alone stays as it is.

    It has the words of who reported the worst, never a mixture; what the others said is in its sources.
    """
    if len(findings) == 1:
        return findings[0]
    members = sorted(findings, key=_leader_first)
    return replace(_joined(members), sources=_sources(members), **_words(members[0]))


def _combine_before(findings: Sequence[Finding]) -> Finding:
    """The same under older rules: the fullest text of each field, from any reviewer."""
    if len(findings) == 1:
        return findings[0]
    members = sorted(findings, key=canonical_key)
    return replace(
        _joined(members),
        **{name: _fullest(getattr(member, name) for member in members) for name in _TEXTS},
        sources=_sources(members),
    )


def _leader_first(finding: Finding) -> tuple[int, int, tuple[int, str, int, int, str, str, str]]:
    """The worst first; of equals the one that says most."""
    said = sum(len(text.strip()) for text in _words(finding).values())
    return finding.severity.rank, -said, canonical_key(finding)


def _words(finding: Finding) -> dict[str, str]:
    return {name: getattr(finding, name) for name in _TEXTS}


def _sources(members: Sequence[Finding]) -> tuple[Source, ...]:
    """What each reviewer said, once; nothing where all said the very same."""
    said = {source for member in members for source in sources_of(member)}
    if len({replace(source, found_by=()) for source in said}) == 1:
        return ()
    return tuple(sorted(said, key=lambda source: (source.severity.rank, repr(source))))


def _joined(members: Sequence[Finding]) -> Finding:
    """What depends on no one's words: severity, identity, places, who found it."""
    location = _location(members)
    return Finding(
        severity=Severity.worst(member.severity for member in members),
        title=_first(member.title for member in members),
        id=_id(members),
        category=_first(member.category for member in members),
        rule=_listed(member.rule for member in members),
        problem_class=_listed(member.problem_class for member in members),
        location=location,
        anchor=_first(member.anchor for member in members if member.location == location),
        also_at=_also_at(members, location),
        confidence=max((member.confidence for member in members if member.confidence is not None), default=None),
        action=max((member.action for member in members), key=_DEMAND.__getitem__),
        found_by=tuple(dict.fromkeys(name for member in members for name in member.found_by)),
        synthetic=all(member.synthetic for member in members),
    )


def _first(texts: Iterable[str]) -> str:
    """The first text that says something: the one of who reported the worst, where that one has any."""
    return next((text for text in texts if text.strip()), "")


def _fullest(texts: Iterable[str]) -> str:
    return max(texts, key=lambda text: (len(text.strip()), text))


def _id(members: Sequence[Finding]) -> str:
    """The smallest id, of those with a rule where there are any.

    Severity has no say: it changes from round to round more often than the set of reporters does, and an identity
    from a rule is the one that is found again most surely.
    """
    return min(((not member.rule, member.id) for member in members if member.id), default=(True, ""))[1]


def _listed(names: Iterable[str]) -> str:
    """Every rule that reported the problem. All are kept, because a rule that is here must not join once more."""
    return RULE_SEPARATOR.join(sorted(frozenset[str]().union(*(listed(each) for each in names))))


def _location(members: Sequence[Finding]) -> Location | None:
    """Where the worst is; a place with lines goes before one without."""
    places = [member.location for member in members if member.location is not None]
    return next((place for place in places if place.line is not None), places[0] if places else None)


def _also_at(members: Sequence[Finding], location: Location | None) -> tuple[Location, ...]:
    """Every further place that was named, and the places of members that the main one does not already cover."""
    named = [place for member in members for place in member.also_at]
    own = [member.location for member in members if member.location]
    apart = [place for place in own if location and not place.overlaps(location)]
    return tuple(place for place in dict.fromkeys([*named, *apart]) if place != location)


# --- Which pairs are worth comparing ---------------------------------------------------------------------------------

# Comparing all findings of a file with all others would be quadratic. Two can only be the same problem when they share
# a rule, a problem class, a kind of problem, a name or a word. So each is filed under all of these, and only findings
# that share a key and lie close enough are compared. Keys are taken from the rarest on, and the pairs of a file are
# bounded by `MAX_PAIRS`, shared out evenly: what is left out stays two findings, which is always safe.

MAX_PAIRS = 60_000
"""A few seconds of comparing, at most."""


def candidates(features: Sequence[Features]) -> list[tuple[int, int]]:
    """Pairs of indices of findings of ONE file that may be the same problem, ids aside, each once and in order."""
    pairs: set[tuple[int, int]] = set()
    company = MAX_PAIRS // max(len(features), 1) + 1
    room = [company] * len(features)
    for block in _blocks(features):
        for index, overlapping in _sweep(features, block, company):
            for other in overlapping if room[index] else ():
                pair = (other, index) if other < index else (index, other)
                if room[index] and pair not in pairs:
                    room[index] -= 1
                    pairs.add(pair)
    return sorted(pairs)


def _blocks(features: Sequence[Features]) -> list[list[int]]:
    """Groups of findings that share a key, the smallest first."""
    blocks: defaultdict[str, list[int]] = defaultdict(list)
    for index, each in enumerate(features):
        for key in each.keys:
            blocks[key].append(index)
    shared = ((key, block) for key, block in blocks.items() if len(block) > 1)
    return [block for _, block in sorted(shared, key=lambda item: (len(item[1]), item[0]))]


def _sweep(features: Sequence[Features], block: list[int], company: int) -> Iterator[tuple[int, list[int]]]:
    """Each finding of a block with those above it whose lines are near its own, by one sweep down the file."""
    active: list[int] = []
    for index in sorted(block, key=lambda index: (features[index].first, index)):
        first = features[index].first - NEARBY
        active = [other for other in active[-company:] if features[other].last >= first]
        if active:
            yield index, active
        active.append(index)


# --- What was the same problem under older rules ---------------------------------------------------------------------

_ALIKE_TITLES = 2 / 3
_ALIKE_TEXTS = 1 / 2
_ALIKE_TEXT = 3


def _features_before(finding: Finding) -> Features:
    return placed(finding, content_words(finding.title) | _text_before(finding))


def _likeness_before(one: Features, other: Features) -> Likeness | None:
    if one.file != other.file:
        return None
    if one.finding.id and one.finding.id == other.finding.id:
        return SAME_ID
    if one.apart(other):
        return None
    titles = similarity(content_words(one.finding.title), content_words(other.finding.title))
    texts = similarity(_text_before(one.finding), _text_before(other.finding))
    relation = _relation_before(one, other, alike=titles >= _ALIKE_TITLES or texts >= _ALIKE_TEXTS)
    if relation is None:
        return None
    distance = abs(one.first - other.first) + abs(one.last - other.last)
    return Likeness(relation=relation, difference=1.0 - max(titles, texts), distance=distance)


def _contradict_before(_one: Features, _other: Features) -> bool:
    """Nothing kept two groups apart but who had spoken in them."""
    return False


def _text_before(finding: Finding) -> frozenset[str]:
    """The words of title and problem; none without a problem, because then the title had to do."""
    return content_words(finding.title) | content_words(finding.problem) if finding.problem else frozenset()


def _relation_before(one: Features, other: Features, *, alike: bool) -> int | None:
    names, other_names = named_code(one.finding.title), named_code(other.finding.title)
    other_code = bool(names and other_names and not names & other_names)
    if one.shares_a_kind(other):
        if one.rules != other.rules:
            return SAME_RULE if one.rules & other.rules else SAME_CLASS
        return None if other_code else SAME_RULE
    real = not one.finding.synthetic and not other.finding.synthetic
    return _ALIKE_TEXT if alike and real and not other_code else None


# --- Merging ---------------------------------------------------------------------------------------------------------


class Rules(NamedTuple):
    """What makes two findings one. A run keeps those that it began with."""

    features_of: Callable[[Finding], Features]
    likeness: Callable[[Features, Features], Likeness | None]
    contradict: Callable[[Features, Features], bool]
    combine: Callable[[Sequence[Finding]], Finding]


RULES = Rules(features_of, likeness, contradict, combine)
RULES_BEFORE = Rules(_features_before, _likeness_before, _contradict_before, _combine_before)
"""A ledger is replayed under the rules of its run: later events name findings by ids that depend on what was merged."""


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
    former: defaultdict[str, list[Features]] = defaultdict(list)
    for finding in known:
        former[finding.id].append(features_of(finding))
    owners: defaultdict[tuple[str, str | None], list[Features]] = defaultdict(list)
    apart: list[Finding] = []
    for each in sorted(findings, key=canonical_key):
        finding, drawn = each, features_of(each)
        while finding.id and any(
            contradict(drawn, owner) for owner in (*former[finding.id], *owners[finding.id, drawn.file])
        ):
            finding = told_apart(finding)
        owners[finding.id, drawn.file].append(drawn)
        apart.append(finding)
    return apart


def match_former(former: Sequence[Finding], now: Sequence[Finding], rules: Rules = RULES) -> dict[str, str]:
    """Which finding of now is which former one: former id → id now.

    Equal ids match wherever they are; so does the id of a source, where not all that reported a problem do so again.
    The rest is matched by likeness, the most alike first, each at most once: a second finding that resembles a former
    one is news. The caller first moves the former locations to the tree of now (`burnish.core.line_changes`), and
    leaves out the lines of those that were touched. Who found them does not count.
    """
    former = [finding for finding in former if finding.id]
    present = {finding.id for finding in now if finding.id}
    matched = {finding.id: finding.id for finding in former if finding.id in present}
    if rules is RULES:
        matched |= _match_sources(former, now, matched)
    open_former = {finding for finding in former if finding.id not in matched}
    taken = set(matched.values())
    open_now = {finding for finding in now if finding.id in present - taken}
    alike = sorted(
        (closeness, one.id, other.id)
        for group in _by_file(open_former | open_now).values()
        for closeness, first, second in _alike(group, rules)
        for one, other in ((first, second), (second, first))
        if one in open_former and other in open_now
    )
    for _, former_id, now_id in alike:
        if former_id not in matched and now_id not in taken:
            matched[former_id] = now_id
            taken.add(now_id)
    return matched


def _match_sources(former: Sequence[Finding], now: Sequence[Finding], matched: Mapping[str, str]) -> dict[str, str]:
    """Which findings are recognised by the id of one of their sources: former id → id now."""
    known = {source.id: finding.id for finding in sorted(now, key=canonical_key) for source in sources_of(finding)}
    taken = {"", *matched.values()}
    found: dict[str, str] = {}
    for finding in sorted(former, key=canonical_key):
        ids = [finding.id, *(source.id for source in finding.sources if source.id)]
        again = next((known[each] for each in ids if known.get(each, "") not in taken), None)
        if finding.id not in matched and again is not None:
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
    features = _features(findings, rules)
    return [
        (closeness, features[i].finding, features[j].finding)
        for i, j in candidates(features)
        if (closeness := rules.likeness(features[i], features[j]))
    ]


def _features(findings: Iterable[Finding], rules: Rules) -> list[Features]:
    return [rules.features_of(finding) for finding in sorted(findings, key=canonical_key)]


def _merge_file(findings: list[Finding], rules: Rules) -> Iterable[Finding]:
    """Merge the findings of one file until nothing joins any more, so that merging again changes nothing."""
    findings = _merge_equal_ids(findings, rules)
    while len(findings) > 1:
        groups = _join_once(_features(findings, rules), rules)
        if len(groups) == len(findings):
            break
        findings = _distinct(rules.combine(group) for group in groups)
    return findings


def _merge_equal_ids(findings: list[Finding], rules: Rules) -> list[Finding]:
    """An id is an identity: who reported it, and on which lines, does not matter."""
    by_id: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_id[finding.id].append(finding)
    unidentified = by_id.pop("", [])
    return _distinct([*unidentified, *(rules.combine(_distinct(group)) for group in by_id.values())])


def _distinct(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that are equal in everything are one, also where merging made them so."""
    return list(dict.fromkeys(findings))


def _join_once(features: list[Features], rules: Rules) -> list[list[Finding]]:
    """Groups of findings of one file that are the same problem, joined from the most alike on."""
    groups = _Groups(features, rules)
    closest = sorted(
        (closeness, i, j)
        for i, j in candidates(features)
        if groups.may_speak_together(i, j) and (closeness := rules.likeness(features[i], features[j]))
    )
    for _, i, j in closest:
        groups.join(i, j)
    return groups.members()


class _Groups:
    """Disjoint groups of findings, each of which knows who speaks in it, and of what."""

    def __init__(self, features: Sequence[Features], rules: Rules) -> None:
        self._features = features
        self._contradict = rules.contradict
        self._members = [[index] for index in range(len(features))]
        self._parent = list(range(len(features)))
        self._reviewers = [one.reviewers for one in features]
        self._rules = [one.rules for one in features]
        self._kinds = [one.kinds for one in features]

    def may_speak_together(self, i: int, j: int) -> bool:
        """Whether no reviewer would say one thing where it said two; rules of one class, each once, may join."""
        i, j = self._root(i), self._root(j)
        if not self._reviewers[i] & self._reviewers[j]:
            return True
        return bool(self._kinds[i] & self._kinds[j]) and not self._rules[i] & self._rules[j]

    def _contradicts(self, i: int, j: int) -> bool:
        """Whether a finding of one group contradicts one of the other, though two others of them are alike."""
        pairs = ((self._features[one], self._features[other]) for one in self._members[i] for other in self._members[j])
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
        return [[self._features[member].finding for member in sorted(self._members[root])] for root in roots]

    def _root(self, index: int) -> int:
        while self._parent[index] != index:
            self._parent[index] = self._parent[self._parent[index]]
            index = self._parent[index]
        return index
