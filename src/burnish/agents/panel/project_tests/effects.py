"""What a wrong version of code does to the calls that tests make: it must be shown, or nothing is said of it.

Only what a test got from a call counts: what was returned or raised, and the arguments afterwards. Where a boundary is
moved, a call of a test is also repeated with the boundary itself, which tests often leave out. Calls are compared
in their order, as long as they have the same arguments. What differs between two runs of the same code is no effect.
A test that fails while it is recorded shows nothing: it may measure memory or time.
"""

from collections.abc import Sequence
from itertools import zip_longest

from burnish.agents.panel.project_tests.values import Described, RecordedCall, TestResult
from burnish.core.values import Value

_BEFORE, _MOST_SHOWN = 20, 80
_DOING = {"returns": "returning", "raises": "raising"}


class ShownEffect(Value):
    """A call that comes to something else with a wrong version."""

    file: str
    line: int
    """Where a test makes the call."""
    words: str
    """What it comes to, for a reader."""
    made: bool = True
    """A test makes it; else only its repetition with a boundary shows the effect."""


def shown_effect(original: Sequence[TestResult], wrong: Sequence[TestResult]) -> ShownEffect | None:
    """The first call that is always the same on the original, and always another on the wrong version."""
    runs = (*original, *wrong)
    passing = set[str].intersection(*({case.name for case in run.passing if run.complete} for run in runs))
    for test in original[0].calls:
        if test not in passing:
            continue
        for calls in zip(*(run.calls.get(test, ()) for run in runs), strict=False):
            if len({(call.text, call.file, call.line, call.arguments) for call in calls}) > 1:
                break
            effect = _effect(calls[: len(original)], calls[len(original) :])
            if effect is not None:
                return effect
    return None


def _effect(original: Sequence[RecordedCall], wrong: Sequence[RecordedCall]) -> ShownEffect | None:
    call = original[0]
    words = ""
    if _differ([each.outcome for each in original], [each.outcome for each in wrong]):
        words = _other_outcome(call.outcome.text, wrong[0].outcome.text)
    for name in call.left:
        values = [each.left[name] for each in (*original, *wrong) if name in each.left]
        if not words and _differ(values[: len(original)], values[len(original) :]):
            now, before = _around(wrong[0].left[name].text, call.left[name].text)
            words = f"leaves `{name}` as `{now}` instead of `{before}`"
    if not words:
        return None
    return ShownEffect(file=call.file, line=call.line, words=f"`{call.text}` {words}", made=not call.repeated)


def _differ(original: Sequence[Described], wrong: Sequence[Described]) -> bool:
    before, now = {each.digest for each in original}, {each.digest for each in wrong}
    shown = {each.text for each in original}.isdisjoint(each.text for each in wrong)
    return len(before) == len(now) == 1 and before != now and shown


def _other_outcome(before: str, now: str) -> str:
    does, _, value = now.partition(" ")
    did, _, former = before.partition(" ")
    value, former = _around(value, former) if does == did else (_cut(value), _cut(former))
    return f"{does} `{value}` instead of {'' if does == did else _DOING.get(did, did) + ' '}`{former}`"


def _around(one: str, other: str) -> tuple[str, str]:
    """Both texts where they begin to differ."""
    same = next(place for place, (a, b) in enumerate(zip_longest(one, other)) if a != b)
    start = max(0, same - _BEFORE) if max(len(one), len(other)) > _MOST_SHOWN else 0
    sign = "…" if start else ""
    return sign + _cut(one[start:]), sign + _cut(other[start:])


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
