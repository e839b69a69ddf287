"""The fixer's answers: one for each finding that it was handed, and what they mean for the findings.

An answer is a claim. "Fixed" resolves nothing by itself: lines must have changed and reviewers must no longer report
the finding. "Not fixed" and "refuted" keep it open, whatever else changed around it.
"""

from collections.abc import Iterable, Mapping, Sequence

from burnish.core.events import FixAnswer
from burnish.core.findings import FixVerdict
from burnish.core.state import FixerAnswer, FixOrder, Run

_WORST_FIRST = (FixVerdict.NOT_FIXED, FixVerdict.REFUTED, FixVerdict.FIXED)


def for_each_finding(order: FixOrder, given: Sequence[FixAnswer]) -> tuple[FixerAnswer, ...]:
    """One answer for each finding of an order. Where a fixer contradicts itself, the worst holds and all is shown."""
    handed = dict.fromkeys(finding.id for finding in (*order.must, *order.may) if finding.id)
    return tuple(_one_answer(finding, [one for one in given if one.finding == finding]) for finding in handed)


def about_others(order: FixOrder, given: Iterable[FixAnswer]) -> tuple[FixerAnswer, ...]:
    """Answers about findings that the fixer was not handed. They change nothing, and are shown."""
    handed = {finding.id for finding in (*order.must, *order.may)}
    strays = (one for one in given if one.finding not in handed)
    return tuple(FixerAnswer(finding=one.finding, verdict=one.verdict, text=one.text) for one in strays)


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
    """The findings of which the fixer says that it did not fix them."""
    return frozenset(one.finding for one in answers if one.verdict.leaves_it)


def last_answers(run: Run) -> Mapping[str, FixerAnswer]:
    """The last word of a fixer on each finding that one has answered for, by the finding's id."""
    fixes = (round_.fix for round_ in run.rounds if round_.fix is not None)
    answers = (answer for fix in fixes for answer in fix.answers if answer.verdict is not FixVerdict.NO_ANSWER)
    return {answer.finding: answer for answer in answers}


def answers_to_last_round(run: Run) -> tuple[FixerAnswer, ...]:
    """What the fixer said of the findings of the last round, a missing answer among them."""
    fix = run.rounds[-1].fix if run.rounds else None
    return () if fix is None else fix.answers
