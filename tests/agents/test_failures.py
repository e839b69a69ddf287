"""Why an agent failed: the kind decides whether it is asked again, and when."""

import pytest

from burnish.agents.failures import MAX_MESSAGE, MAX_RETRY_AFTER, failure_of, retry_after
from burnish.core.reviews import Failure, FailureKind
from burnish.system.process import Finished, How
from tests.agents.building import exited


def failed(finished: Finished) -> Failure:
    failure = failure_of(finished)
    assert failure is not None
    return failure


def test_exit_0_is_no_failure_whatever_was_said() -> None:
    assert failure_of(exited(0, stderr="error 429: rate limit, unauthorized")) is None


@pytest.mark.parametrize(
    ("finished", "kind", "words"),
    [
        (exited(3, stderr="first\nlast line\n\n"), FailureKind.CRASHED, "exited with 3: last line"),
        (exited(1), FailureKind.CRASHED, "exited with 1"),
        (exited(126, stderr="sh: x: Permission denied"), FailureKind.CANNOT_RUN, "exited with 126: sh: x: Permission"),
        (exited(127, stderr="rate limit"), FailureKind.CANNOT_RUN, "exited with 127"),
        (Finished(how=How.EXITED, signal=9), FailureKind.CRASHED, "killed by signal 9"),
        (Finished(how=How.COULD_NOT_START, message="no such file"), FailureKind.CANNOT_RUN, "no such file"),
        (Finished(how=How.TIMED_OUT, seconds=60.2, signal=15), FailureKind.TIMED_OUT, "timed out after 60 s"),
        (Finished(how=How.SILENT, seconds=600), FailureKind.STUCK, "printed nothing for too long"),
        (Finished(how=How.STOPPED, signal=15), FailureKind.CRASHED, "was stopped"),
    ],
)
def test_the_end_of_the_process_says_what_failed(finished: Finished, kind: FailureKind, words: str) -> None:
    failure = failed(finished)
    assert failure.kind is kind
    assert words in failure.message
    assert failure.retry_after is None


@pytest.mark.parametrize(
    ("said", "kind", "pause"),
    [
        ('{"error":"usage","resets_in_seconds": 120}', FailureKind.RATE_LIMITED, 120.0),
        ("retry_after_seconds=7.5", FailureKind.RATE_LIMITED, 7.5),
        ("< retry-after: 30", FailureKind.RATE_LIMITED, 30.0),
        ("Rate limit reached. Please try again in 20s.", FailureKind.RATE_LIMITED, 20.0),
        ("Please try again in 1m30.5s. Visit the help center", FailureKind.RATE_LIMITED, 90.5),
        ("try again in 250ms", FailureKind.RATE_LIMITED, 0.25),
        ("You can try again in 2 minutes", FailureKind.RATE_LIMITED, 120.0),
        ("try again in 3 min", FailureKind.RATE_LIMITED, 180.0),
        ("Try again in 1 hour, 5 minutes", FailureKind.RATE_LIMITED, 3900.0),
        ("HTTP/1.1 429 Too Many Requests", FailureKind.RATE_LIMITED, None),
        ("API Error: 429 {}", FailureKind.RATE_LIMITED, None),
        ('{"api_error_status":429}', FailureKind.RATE_LIMITED, None),
        ("request failed with status code 429", FailureKind.RATE_LIMITED, None),
        ("rate_limit_exceeded", FailureKind.RATE_LIMITED, None),
        ("overloaded_error", FailureKind.RATE_LIMITED, None),
        ("HTTP 401", FailureKind.UNAUTHORISED, None),
        ("401 Unauthorized", FailureKind.UNAUTHORISED, None),
        ("request unauthorised", FailureKind.UNAUTHORISED, None),
        ("Invalid API key · Please run /login", FailureKind.UNAUTHORISED, None),
        ("rate limit: invalid api key tier", FailureKind.RATE_LIMITED, None),
        ("connect ECONNREFUSED: connection refused", FailureKind.UNREACHABLE, None),
        ("502 Bad Gateway", FailureKind.UNREACHABLE, None),
        ("503 Service Unavailable", FailureKind.UNREACHABLE, None),
        ("Read timeout", FailureKind.CRASHED, None),
        ("Traceback: app.py, line 429, in main", FailureKind.CRASHED, None),
        ("IndexError at line 401", FailureKind.CRASHED, None),
        ("try again in a while", FailureKind.CRASHED, None),
        ("try again in 5 parsecs", FailureKind.CRASHED, None),
    ],
)
def test_the_last_words_say_what_to_do(said: str, kind: FailureKind, pause: float | None) -> None:
    failure = failed(exited(1, stderr=f"starting\n{said}\n"))
    assert (failure.kind, failure.retry_after) == (kind, pause)


def test_the_message_is_the_line_that_tells() -> None:
    trace = "    at request (client.js:10)\n    at main (client.js:2)"
    assert failed(exited(1, stderr=f"HTTP 401 from the model\n{trace}")).message.endswith("HTTP 401 from the model")
    assert failed(exited(1, stderr=f"try again in 5 s\n{trace}")).message.endswith("try again in 5 s")


def test_the_latest_pause_counts() -> None:
    assert retry_after("try again in 10 s\nretry_after_seconds: 40") == 40.0
    assert retry_after("retry_after_seconds: 40\ntry again in 10 s") == 10.0


def test_no_pause_lasts_for_ever() -> None:
    assert retry_after("retry_after_seconds: 999999999999") == MAX_RETRY_AFTER


def test_words_long_before_the_end_say_nothing() -> None:
    lines = ["rate limit", *(f"line {number}" for number in range(100))]
    assert failed(exited(1, stderr="\n".join(lines))).kind is FailureKind.CRASHED


def test_without_error_output_the_output_is_looked_at() -> None:
    assert failed(exited(1, stdout=b"API Error: 401\n")).kind is FailureKind.UNAUTHORISED
    assert failed(exited(1, stdout=b"API Error: 401\n", stderr="boom")).kind is FailureKind.CRASHED


def test_a_message_is_short_and_harmless() -> None:
    failure = failed(exited(1, stderr="\x1b[31m" + "x" * 5_000 + "\x07"))
    assert len(failure.message) < MAX_MESSAGE + 50
    assert failure.message.isprintable()
