"""The small words of a run: its state with a tone, ages, places, counts."""

from burnish.cli.screen import Tone, Toned, flat
from burnish.core.budget import Budget, dollars
from burnish.core.findings import Finding, Location, Severity
from burnish.core.reviews import Usage
from burnish.core.state import Run
from burnish.usecases.runs import Sighting
from burnish.usecases.status import state_word

_TONES = {
    "approved": Tone.GOOD,
    "accepted": Tone.GOOD,
    "waiting": Tone.CAREFUL,
    "unproven": Tone.CAREFUL,
    "interrupted": Tone.CAREFUL,
    "failed": Tone.BAD,
    "stopped": Tone.BAD,
    "blocked": Tone.BAD,
    "did-not-run": Tone.BAD,
    "over-budget": Tone.BAD,
}
_NO_BUDGET = Budget()
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def state(sighting: Sighting) -> Toned:
    """The state of a run in one word."""
    word = state_word(sighting)
    return Toned(word, _TONES.get(word, Tone.PLAIN))


def severity(value: Severity) -> Toned:
    """A severity; only the worst two stand out."""
    return Toned(value.value, Tone.BAD if value.at_least(Severity.HIGH) else Tone.PLAIN)


def duration(seconds: float) -> str:
    """`45 s`, `3 min`, `2 h`, `5 d`: as exact as a glance needs."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(0, int(seconds))} s"


def number(count: int, noun: str) -> str:
    """`1 round`, `2 rounds`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def place(finding: Finding) -> str:
    """`app.py:3`, or nothing."""
    return "" if finding.location is None else _spot(finding.location)


def places(finding: Finding) -> list[str]:
    """Every place that it names, the first one first."""
    return [_spot(location) for location in (finding.location, *finding.also_at) if location is not None]


def _spot(location: Location) -> str:
    return flat(location.file if location.line is None else f"{location.file}:{location.line}")


def usage(used: Usage, budget: Budget = _NO_BUDGET) -> str:
    """Time, tokens and money, as far as they are known, and how much of each there may be."""
    parts = [f"{used.seconds:.1f} s of agents' time"]
    if used.tokens or budget.tokens is not None:
        parts.append(f"{used.tokens:,}{'' if budget.tokens is None else f' of {budget.tokens:,}'} tokens")
    if used.cost_usd or budget.cost_usd is not None:
        most = "" if budget.cost_usd is None else f" of ${dollars(budget.cost_usd)}"
        parts.append(f"${dollars(used.cost_usd)}{most}")
    return ", ".join(parts)


def usage_of(run: Run) -> str:
    """What a run has used up of its budget."""
    budget = run.started.budget
    at_work = "" if budget.minutes is None else f", {run.busy / 60:.1f} of {budget.minutes:g} minutes at work"
    return f"{usage(run.usage, budget)}{at_work}"
