"""One finding from several of the same problem: the words of the worst, and what every source said.

Which findings belong together is decided elsewhere. The result depends on the findings alone, never on their order.
"""

from collections.abc import Iterable, Sequence

from burnish.core.findings import Action, Finding, Location, Severity, Source, sources_of
from burnish.core.problems import RULE_SEPARATOR, listed
from burnish.core.values import replace

_DEMAND = {Action.NOTE: 0, Action.FIX: 1, Action.ASK: 2}


def canonical_key(finding: Finding) -> tuple[int, str, int, int, str, str, str]:
    """The one order of findings: the worst first, then by place, then by content, so that no two can tie."""
    location = finding.location or Location(file="")
    place = (location.file, location.line or 0, location.last_line or 0)
    return (finding.severity.rank, *place, finding.title, finding.id, repr(finding))


def fuse(findings: Sequence[Finding]) -> Finding:
    """One finding for several of the same problem; one alone stays as it is.

    It has the words of who reported the worst, never a mixture; what the others said is in its sources.
    """
    if len(findings) == 1:
        return findings[0]
    members = sorted(findings, key=_leader_first)
    leader = members[0]
    return replace(_joined(members), sources=_sources(members), **_words(leader))


def fuse_before(findings: Sequence[Finding]) -> Finding:
    """The same under older rules: the fullest text of each field, whoever wrote it."""
    if len(findings) == 1:
        return findings[0]
    members = sorted(findings, key=canonical_key)
    return replace(
        _joined(members),
        problem=_fullest(member.problem for member in members),
        impact=_fullest(member.impact for member in members),
        evidence=_fullest(member.evidence for member in members),
        suggestion=_fullest(member.suggestion for member in members),
        sources=_sources(members),
    )


def _leader_first(finding: Finding) -> tuple[int, int, tuple[int, str, int, int, str, str, str]]:
    """The worst first; of equals the one that says most."""
    said = sum(len(text.strip()) for text in _words(finding).values())
    return finding.severity.rank, -said, canonical_key(finding)


def _words(finding: Finding) -> dict[str, str]:
    return {
        "problem": finding.problem,
        "impact": finding.impact,
        "evidence": finding.evidence,
        "suggestion": finding.suggestion,
    }


def _sources(members: Sequence[Finding]) -> tuple[Source, ...]:
    """What each reviewer said, once; nothing where all said the very same."""
    said = sorted({source for member in members for source in sources_of(member)}, key=_source_key)
    return tuple(said) if len({replace(source, found_by=()) for source in said}) > 1 else ()


def _source_key(source: Source) -> tuple[int, str]:
    return source.severity.rank, repr(source)


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
    own = [member.location for member in members if member.location is not None]
    apart = [place for place in own if location is not None and not place.overlaps(location)]
    return tuple(place for place in dict.fromkeys([*named, *apart]) if place != location)
