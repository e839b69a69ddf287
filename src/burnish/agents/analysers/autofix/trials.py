"""Whether fixes broke the project's own tests: compared as the witness compares a change with its base."""

from burnish.agents.analysers.witness.comparison import NoEvidence, compare
from burnish.agents.analysers.witness.values import TestResult

_NAMED = 3


def broken(before: TestResult, after: TestResult) -> str:
    """Which tests fail, or are not run, that were all right before, in words; empty where there are none."""
    difference = compare(before, after)
    if isinstance(difference, NoEvidence):
        return ""
    names = [case.name for case in (*difference.new_failures, *difference.gone)]
    if not names:
        return "" if difference.whole is None else "the whole of the tests"
    rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{rest}"
