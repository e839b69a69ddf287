"""From a client's end to a reply or a failure: exit code, final event and answer must all agree."""

import json

from burnish.agents.clients.specification import Report
from burnish.agents.failures import MAX_MESSAGE, MAX_RETRY_AFTER, failure_of, retry_after
from burnish.contracts.streams import final_message
from burnish.contracts.text import UnreadableError, bounded, decode
from burnish.core.reviews import Failure, FailureKind
from burnish.core.text import clean_text
from burnish.core.values import replace
from burnish.system.process import Finished, How

_UNAUTHORISED = (401, 403)
_RATE_LIMITED = (429, 529)
_UNREACHABLE = (502, 503, 504)
_WORTH_ANOTHER_TRY = (408, 409, 425)


def failure_in(report: Report, finished: Finished) -> Failure | None:
    """Why there is no answer, or None where the process and its stream both say that there is one."""
    said = _said(report, finished)
    if finished.how is not How.EXITED or finished.signal is not None:
        # A client that waits until a service takes it again says nothing meanwhile, and is no stuck one.
        limited = said is not None and said.kind is FailureKind.RATE_LIMITED and finished.how is not How.STOPPED
        return said if limited else failure_of(finished)
    return said or failure_of(finished) or _incomplete(report, finished)


def _said(report: Report, finished: Finished) -> Failure | None:
    if report.failure is not None:
        return _failure(report.failure.kind, report.failure.message)
    if report.refusal:
        return _failure(FailureKind.REFUSED, report.refusal)
    words = report.error or (f"HTTP status {report.status}" if report.status else "")
    match report.status:
        case None if not report.error:
            return None
        case status if status in _UNAUTHORISED:
            return _failure(FailureKind.UNAUTHORISED, words)
        case status if status in _RATE_LIMITED:
            pause = retry_after(words) if report.pause is None else min(report.pause, MAX_RETRY_AFTER)
            return replace(_failure(FailureKind.RATE_LIMITED, words), retry_after=pause)
        case status if status in _UNREACHABLE:
            return _failure(FailureKind.UNREACHABLE, words)
        case int() as status if 400 <= status < 500 and status not in _WORTH_ANOTHER_TRY:
            return _failure(FailureKind.REFUSED, words)
        case _:
            # Without a known status only the words are left; they are read like those of any other agent.
            return failure_of(Finished(how=How.EXITED, code=finished.code or 1, stderr_tail=words))


def _incomplete(report: Report, finished: Finished) -> Failure | None:
    if finished.stdout_cut:
        return _failure(FailureKind.UNREADABLE, "its output was cut, for it is longer than a stream may be")
    if report.contradiction:
        return _failure(FailureKind.UNREADABLE, "its stream has two ends that differ")
    if not report.ended:
        return _failure(FailureKind.CRASHED, "exited with 0, but without the event that ends its stream")
    return None


def answer_in(report: Report, finished: Finished, *, structured: bool) -> str | Failure:
    """The final message of a complete stream; its structured form where one must be there."""
    if report.answer is not None:
        return _not_empty(report.answer)
    try:
        message = final_message(decode(finished.stdout))
    except UnreadableError as error:
        return _failure(FailureKind.UNREADABLE, error.message)
    if message is None:
        return _failure(FailureKind.UNREADABLE, "its output is not the stream of the client")
    if message.structured is not None:
        return json.dumps(message.structured, ensure_ascii=False)
    if structured:
        return _failure(FailureKind.UNREADABLE, f"it answered in words, not in the form of the schema: {message.text}")
    return _not_empty(message.text)


def _not_empty(text: str) -> str | Failure:
    return text if text.strip() else _failure(FailureKind.UNREADABLE, "its final message is empty")


def _failure(kind: FailureKind, words: str) -> Failure:
    return Failure(kind=kind, message=bounded(" ".join(clean_text(words[:4_000]).split()), MAX_MESSAGE))
