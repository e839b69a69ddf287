"""The book of findings: what was found in a run, what became of it, and where it is now.

A finding enters when a round is judged, moves with every change of the tree, and is only closed by evidence: its
lines were changed by a fixer that does not itself call it unfixed, and no reviewer reports it again; a ratchet review
says so; or a person refutes or waives it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from burnish.core.events import DISTINCT, FixAnswer
from burnish.core.evidence import gaps, take_census
from burnish.core.finding_identity import identify
from burnish.core.finding_merging import RULES, RULES_BEFORE, match_former, merge
from burnish.core.findings import Finding, FindingStatus, FixVerdict, Location, Severity, Tracked
from burnish.core.gates import Judgement, blocks, judge
from burnish.core.line_changes import Drift, FileChange
from burnish.core.line_changes import origins as renames
from burnish.core.protocol import OpenBlockers
from burnish.core.reviews import Answer, FormerAnswer
from burnish.core.state import AnsweredReview, FixerAnswer, FixOrder, Review, Run, Scope
from burnish.core.values import replace

NEARBY = 3
"""Lines around a finding whose change counts as a change of its own lines: as many as a diff shows around one."""

DISMISSED = (FindingStatus.REFUTED, FindingStatus.WAIVED)


def move(run: Run, files: Sequence[FileChange], left: Collection[str] = ()) -> Run:
    """Follow every finding through a change of the tree. `left` are those that its author says it did not fix."""
    drift = Drift(files)
    moved = tuple(_moved(tracked, drift, left=tracked.finding.id in left) for tracked in run.findings)
    return replace(run, findings=moved, origins=_origins(run.origins, files))


def _moved(tracked: Tracked, drift: Drift, *, left: bool) -> Tracked:
    location = tracked.finding.location
    if location is not None and (place := drift.follow(location)) is not None:
        tracked = replace(tracked, finding=replace(tracked.finding, location=place))
        if drift.follow(_surroundings(location)) is not None:
            return tracked
    # A finding about the change as a whole may have been met anywhere.
    return replace(tracked, lines_changed=True, left_by_fixer=left)


def _surroundings(location: Location) -> Location:
    """The lines of a finding and a few around them: reviewers often name the line beside the one that they mean."""
    if location.line is None or location.last_line is None:
        return location
    return Location(file=location.file, line=max(1, location.line - NEARBY), end_line=location.last_line + NEARBY)


def _origins(origins: Mapping[str, str], files: Sequence[FileChange]) -> dict[str, str]:
    """Which path each renamed file had in the first round."""
    renamed = {old: new for new, old in renames(files).items()}
    following = {path: origin for path, origin in origins.items() if path not in renamed}
    following |= {new: origins.get(old, old) for old, new in renamed.items()}
    return {path: origin for path, origin in following.items() if path != origin}


def amended(run: Run, findings: Collection[str], **changes: object) -> Run:
    """The run after a person's word on some findings."""
    tracked = (replace(entry, **changes) if entry.finding.id in findings else entry for entry in run.findings)
    return replace(run, findings=tuple(tracked))


def judge_round(run: Run, reviews: Sequence[AnsweredReview], scope: Scope) -> tuple[Run, Judgement]:
    """Enter what a round's reviews found, close what they settle, and judge."""
    number = len(run.rounds)
    reported = _reported(run, reviews)
    former = {tracked.finding.id: tracked for tracked in run.findings}
    settled = {key: _settle(run, tracked, reviews) for key, tracked in former.items() if key not in reported}
    entered = {key: _enter(run, former.get(key), finding, scope) for key, finding in reported.items()}
    book = former | settled | entered
    now = {key: entry for key, entry in book.items() if entry.last_reported_round == number}
    considered = [entry.finding for entry in now.values() if entry.status is FindingStatus.OPEN]
    judgement = judge(run.protocol.gate, [review.answer for review in reviews], considered)
    judgement = _with_held(judgement, settled.values(), number, run.protocol.review.open_blockers)
    blocking = {finding.id for finding in judgement.blocking}
    book |= {key: replace(entry, blocking=key in blocking) for key, entry in now.items()}
    run = replace(run, findings=tuple(book.values()))
    evidence = {review.reviewer: review.evidence for review in reviews}
    census = take_census(run.changed, evidence)
    rounds = (*run.rounds[:-1], replace(run.rounds[-1], census=census))
    return replace(run, rounds=rounds), replace(judgement, gaps=gaps(census, evidence))


def record(run: Run, reviews: Sequence[Review]) -> Run:
    """Enter what some reviewers of a round found that will not be judged. Nothing is closed by their silence."""
    good = [review for review in reviews if isinstance(review, AnsweredReview)]
    former = {tracked.finding.id: tracked for tracked in run.findings}
    gate = run.protocol.gate
    entered = {
        key: replace(_enter(run, former.get(key), finding, Scope.FULL), blocking=blocks(gate, finding))
        for key, finding in _reported(run, good).items()
    }
    return replace(run, findings=tuple({**former, **entered}.values()))


def waived_by_hand(run: Run) -> bool:
    """Whether a person set something aside that would block and that the base's policy does not list.

    A refutation counts like a waiver: burnish cannot tell whether its evidence holds, nor who gave it.
    """
    return any(
        entry.status in DISMISSED
        and entry.finding.id not in run.started.waivers
        and blocks(run.protocol.gate, entry.finding)
        and (entry.last_reported_round == len(run.rounds) or not entry.lines_changed)
        for entry in run.findings
    )


def _reported(run: Run, reviews: Sequence[AnsweredReview]) -> dict[str, Finding]:
    """The findings of all reviewers, merged; those that were known before keep their id."""
    found = [
        replace(finding, found_by=finding.found_by or (review.reviewer,))
        for review in reviews
        for finding in (*review.answer.findings, *_unknown_former(run, review.answer))
    ]
    rules = RULES if run.started.rules >= DISTINCT else RULES_BEFORE
    known = [_matchable(tracked) for tracked in run.findings]
    merged = merge(identify(found, origin=run.origins), rules, known)
    ids = {now: former for former, now in match_former(known, merged, rules).items()}
    return {ids.get(finding.id, finding.id): replace(finding, id=ids.get(finding.id, finding.id)) for finding in merged}


def _unknown_former(run: Run, answer: Answer) -> list[Finding]:
    """A reviewer that reports an unknown finding as not fixed has found something all the same."""
    known = {tracked.finding.id for tracked in run.findings}
    return [
        Finding(severity=Severity.HIGH, title=f"Not fixed, says the reviewer: {former.id}", synthetic=True)
        for former in answer.former
        if former.answer is FormerAnswer.NOT_FIXED and former.id not in known
    ]


def _matchable(tracked: Tracked) -> Finding:
    """A former finding as it can be recognised: lines that were changed say nothing about where it would be now."""
    location = tracked.finding.location
    if location is None or not tracked.lines_changed:
        return tracked.finding
    return replace(tracked.finding, location=replace(location, line=None, end_line=None))


def _enter(run: Run, former: Tracked | None, finding: Finding, scope: Scope) -> Tracked:
    """A finding that the last round reported, known or new."""
    number = len(run.rounds)
    if finding.id in run.started.waivers:
        first = former.round if former else number
        note = "waived by the base's policy"
        return Tracked(finding=finding, round=first, last_reported_round=number, status=FindingStatus.WAIVED, note=note)
    if former is None:
        filed = scope is Scope.RATCHET and not finding.severity.at_least(Severity.HIGH)
        status = FindingStatus.FILED if filed else FindingStatus.OPEN
        return Tracked(finding=finding, round=number, last_reported_round=number, status=status)
    status = former.status if former.status in (*DISMISSED, FindingStatus.FILED) else FindingStatus.OPEN
    return replace(
        former, finding=finding, last_reported_round=number, status=status, lines_changed=False, left_by_fixer=False
    )


def _settle(run: Run, tracked: Tracked, reviews: Sequence[AnsweredReview]) -> Tracked:
    """What becomes of an open finding that no reviewer reported again."""
    if tracked.status is not FindingStatus.OPEN:
        return tracked
    answers = {
        former.answer for review in reviews for former in review.answer.former if former.id == tracked.finding.id
    }
    if FormerAnswer.NOT_FIXED in answers:
        return replace(tracked, last_reported_round=len(run.rounds), lines_changed=False, left_by_fixer=False)
    if FormerAnswer.FIXED in answers and _may_be_fixed(run, tracked):
        return replace(tracked, status=FindingStatus.RESOLVED)
    if FormerAnswer.WITHDRAWN in answers:
        return replace(tracked, status=FindingStatus.WITHDRAWN)
    return replace(tracked, status=FindingStatus.RESOLVED) if tracked.may_be_gone else tracked


def _may_be_fixed(run: Run, tracked: Tracked) -> bool:
    """On the very tree in which it was seen, nothing can have fixed it.

    What an earlier run saw is believed to be gone where the tree has changed in this one, or where a rule says so:
    rules do not overlook, and what they depend on beside the tree (a dependency, a tool's version) may have changed.
    """
    if tracked.last_reported_round:
        return run.rounds[tracked.last_reported_round - 1].tree != run.tree
    return bool(tracked.finding.rule) or run.tree != run.subject.tree


def _with_held(judgement: Judgement, silent: Iterable[Tracked], number: int, open_blockers: OpenBlockers) -> Judgement:
    """The judgement of a round with the open blockers that its reviewers did not list.

    One that a reviewer calls not fixed blocks on. One that all have missed is carried over, and may hold up the loop.
    """
    listed = {finding.id for finding in judgement.blocking}
    held = [entry for entry in silent if entry.still_blocks and entry.finding.id not in listed]
    not_fixed = tuple(entry.finding for entry in held if entry.last_reported_round == number)
    carried = tuple(entry.finding for entry in held if entry.last_reported_round < number)
    clean = judgement.clean and not not_fixed and not (carried and open_blockers is OpenBlockers.LOOP)
    return replace(judgement, clean=clean, blocking=(*judgement.blocking, *not_fixed), carried=carried)


def without(judgement: Judgement, finding: str, open_blockers: OpenBlockers) -> Judgement:
    """A judgement after a person dismissed one of its findings."""
    blocking = tuple(entry for entry in judgement.blocking if entry.id != finding)
    carried = tuple(entry for entry in judgement.carried if entry.id != finding)
    clean = not blocking and not judgement.reasons and not (carried and open_blockers is OpenBlockers.LOOP)
    return replace(judgement, blocking=blocking, carried=carried, clean=clean)


# --- The fixer's answers: one for each finding that it was handed, and what they mean for the findings.


_WORST_FIRST = (FixVerdict.NOT_FIXED, FixVerdict.REFUTED, FixVerdict.FIXED)


def for_each_finding(order: FixOrder, given: Sequence[FixAnswer]) -> tuple[FixerAnswer, ...]:
    """One answer for each finding of an order. Where a fixer contradicts itself, the worst holds and all is shown."""
    handed = dict.fromkeys(finding.id for finding in (*order.must, *order.may) if finding.id)
    return tuple(_one_answer(finding, [one for one in given if one.finding == finding]) for finding in handed)


def about_others(order: FixOrder, given: Iterable[FixAnswer]) -> tuple[FixerAnswer, ...]:
    """Answers about findings that the fixer was not handed. They change nothing, and are shown."""
    handed = {finding.id for finding in (*order.must, *order.may)}
    return as_given(one for one in given if one.finding not in handed)


def as_given(given: Iterable[FixAnswer]) -> tuple[FixerAnswer, ...]:
    return tuple(FixerAnswer(finding=one.finding, verdict=one.verdict, text=one.text) for one in given)


def _one_answer(finding: str, given: Sequence[FixAnswer]) -> FixerAnswer:
    said = {one.verdict: one.text for one in given}
    if not said:
        return FixerAnswer(finding=finding, verdict=FixVerdict.NO_ANSWER)
    worst = next(verdict for verdict in _WORST_FIRST if verdict in said)
    if len(said) == 1:
        return FixerAnswer(finding=finding, verdict=worst, text=said[worst])
    words = "; ".join(f"{verdict.value}: {said[verdict]}" for verdict in _WORST_FIRST if verdict in said)
    return FixerAnswer(finding=finding, verdict=worst, text=f"contradictory answers: {words}")


def left_open(answers: Iterable[FixerAnswer]) -> frozenset[str]:
    return frozenset(one.finding for one in answers if one.verdict.leaves_it)


def last_answers(run: Run) -> Mapping[str, FixerAnswer]:
    """The last word of a fixer on each finding that one has answered for, by the finding's id."""
    answers = (answer for round_ in run.rounds if round_.fix for answer in round_.fix.answers)
    return {answer.finding: answer for answer in answers if answer.verdict is not FixVerdict.NO_ANSWER}


def answers_to_last_round(run: Run) -> tuple[FixerAnswer, ...]:
    """What the fixer said of the findings of the last round, a missing answer among them."""
    fix = run.rounds[-1].fix if run.rounds else None
    return fix.answers if fix else ()
