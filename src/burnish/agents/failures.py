"""Why an agent ended without a result, read from the last lines that it wrote.

Only the kind matters to the loop: whether to try again at once, after a pause, or not at all. A word that names a kind
is therefore looked for only where an agent failed, never in an answer.
"""

import re

from burnish.contracts.text import bounded
from burnish.core.reviews import Failure, FailureKind
from burnish.core.text import clean_text
from burnish.system.process import Finished, How

MAX_RETRY_AFTER = 24 * 60 * 60.0
"""No client asks for longer; a larger number would put the run to sleep for good."""

LAST_LINES = 20
MAX_MESSAGE = 300

_NAMED_SECONDS = re.compile(
    r"(?:retry[_-]after(?:_seconds)?|resets_in_seconds)[\"']?\s*[:=]\s*[\"']?(\d{1,12}(?:\.\d{1,6})?)", re.IGNORECASE
)
_TRY_AGAIN = re.compile(
    r"(?:try again|retry(?:ing)?|resets?) (?:in|after) ((?:\d{1,9}(?:\.\d{1,6})?\s?[a-z]{1,12}[\s,]{0,3}){1,4})",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s?([a-z]+)", re.IGNORECASE)
_UNITS = {"ms": 0.001, "milliseconds": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_LONG_UNIT = re.compile(r"s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?")
_BEFORE_STATUS = r"(?<![a-z])(?:http|status|error|code)[\W_]{0,5}(?:code[\W_]{0,5})?(?:1\.1 |2 )?"
"""A bare number says nothing: it may be a line."""

_RATE_LIMITED = re.compile(
    r"rate[ _-]?limit|too many requests|usage[ _-]limit|quota (?:is )?exceeded|overloaded"
    rf"|{_BEFORE_STATUS}(?:429|529)\b",
    re.IGNORECASE,
)
_UNREACHABLE = re.compile(
    r"connection (?:was )?(?:refused|reset|aborted|timed out)|\bE(?:CONNREFUSED|CONNRESET|TIMEDOUT|NOTFOUND|AI_AGAIN)\b"
    r"|network is unreachable|no route to host|could not resolve host|failure in name resolution"
    rf"|bad gateway|service unavailable|gateway time-?out|{_BEFORE_STATUS}50[234]\b",
    re.IGNORECASE,
)
_UNAUTHORISED = re.compile(
    r"\bunauthori[sz]ed\b|invalid (?:x-)?api[ _-]?key|authentication[ _](?:error|failed)|not logged in"
    rf"|{_BEFORE_STATUS}401\b",
    re.IGNORECASE,
)


def failure_of(finished: Finished) -> Failure | None:
    """The failure of a process, or None where it ran to its end and exited with 0."""
    last = _last_words(finished)
    match finished.how:
        case How.COULD_NOT_START:
            return _failure(FailureKind.CANNOT_RUN, "could not be started", clean_text(finished.message))
        case How.TIMED_OUT:
            return _failure(FailureKind.TIMED_OUT, f"timed out after {finished.seconds:.0f} s", _last_line(last))
        case How.SILENT:
            return _failure(FailureKind.STUCK, f"printed nothing for too long ({finished.seconds:.0f} s in all)", "")
        case How.STOPPED:
            return _failure(FailureKind.CRASHED, "was stopped", "")
        case How.EXITED:
            return _exit_failure(finished, last)


def _exit_failure(finished: Finished, last: str) -> Failure | None:
    if finished.signal is not None:
        return _failure(FailureKind.CRASHED, f"was killed by signal {finished.signal}", _last_line(last))
    if finished.code == 0:
        return None
    ended = f"exited with {finished.code}"
    if finished.cannot_run:
        return _failure(FailureKind.CANNOT_RUN, ended, _last_line(last))
    pause = retry_after(last)
    limited = _line_with(last, _RATE_LIMITED, _NAMED_SECONDS, _TRY_AGAIN)
    if pause is not None or _RATE_LIMITED.search(last):
        return _failure(FailureKind.RATE_LIMITED, ended, limited, pause)
    for kind, pattern in ((FailureKind.UNAUTHORISED, _UNAUTHORISED), (FailureKind.UNREACHABLE, _UNREACHABLE)):
        telling = _line_with(last, pattern)
        if telling:
            return _failure(kind, ended, telling)
    return _failure(FailureKind.CRASHED, ended, _last_line(last))


def retry_after(text: str) -> float | None:
    """The pause in seconds that a client named; the last one that it named, for it is the latest."""
    named = [(match.end(), float(match[1])) for match in _NAMED_SECONDS.finditer(text)]
    said = [(match.end(), _seconds(match[1])) for match in _TRY_AGAIN.finditer(text)]
    pauses = sorted((place, seconds) for place, seconds in (*named, *said) if seconds is not None)
    return min(pauses[-1][1], MAX_RETRY_AFTER) if pauses else None


def _seconds(words: str) -> float | None:
    """`20s`, `1m30.5s`, `2 minutes`, `6 hours`."""
    total = 0.0
    found = False
    for number, unit in _AMOUNT.findall(words):
        word = str(unit).lower()
        factor = _UNITS.get(word) or (_UNITS.get(word[0]) if _LONG_UNIT.fullmatch(word) else None)
        if factor is None:
            break
        total += float(number) * factor
        found = True
    return total if found else None


def _last_words(finished: Finished) -> str:
    """The end of the error output; of the output itself, where nothing was written to the former."""
    text = clean_text(finished.stderr_tail)
    if not text.strip():
        text = clean_text(finished.stdout[-8_000:].decode("utf-8", errors="replace"))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "\n".join(lines[-LAST_LINES:])


def _line_with(text: str, *patterns: re.Pattern[str]) -> str:
    """The line that tells, for the last one is often the end of a stack trace."""
    for pattern in patterns:
        for line in reversed(text.splitlines()):
            if pattern.search(line):
                return line
    return ""


def _last_line(text: str) -> str:
    return text.rpartition("\n")[2]


def _failure(kind: FailureKind, what: str, detail: str, pause: float | None = None) -> Failure:
    detail = bounded(" ".join(detail.split()), MAX_MESSAGE)
    return Failure(kind=kind, message=f"{what}: {detail}" if detail else what, retry_after=pause)
