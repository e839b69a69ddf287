"""Ends that are hard to bring about with a real client: limits, contradictions, waits, and prices."""

import pytest

from burnish.agents.claude import AGENT as CLAUDE
from burnish.agents.codex import AGENT as CODEX
from burnish.agents.failures import MAX_MESSAGE, MAX_RETRY_AFTER
from burnish.agents.gemini import AGENT as GEMINI
from burnish.agents.interface import Reply
from burnish.agents.opencode import AGENT as OPENCODE
from burnish.core.reviews import Failure, FailureKind
from burnish.core.values import replace
from burnish.system.process import Finished, How
from tests.agents.building import request
from tests.agents.clients.recordings import Event, stream

RESULT: Event = {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "total_cost_usd": 0.25}
RETRY: Event = {
    "type": "system",
    "subtype": "api_retry",
    "retry_delay_ms": 3_600_000,
    "error_status": 429,
    "error": "rate_limit",
}
MESSAGE: Event = {"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}}
USAGE: Event = {"input_tokens": 1_000_000, "cached_input_tokens": 400_000, "output_tokens": 100_000}
COMPLETED: Event = {"type": "turn.completed", "usage": USAGE}
STOP: Event = {"type": "step_finish", "part": {"reason": "stop", "tokens": {"input": 10, "output": 5}, "cost": 0.5}}
TEXT: Event = {"type": "text", "part": {"type": "text", "text": "Done."}}


def claude(*events: Event, code: int = 0) -> Reply | Failure:
    return CLAUDE.read(stream(*events, code=code), request(), None)


def failure(found: Reply | Failure) -> Failure:
    assert isinstance(found, Failure), found
    return found


def reply(found: Reply | Failure) -> Reply:
    assert isinstance(found, Reply), found
    return found


def test_a_result_that_is_repeated_is_one() -> None:
    assert reply(claude(RESULT, {**RESULT, "total_cost_usd": 0.5})).usage.cost_usd == 0.5


@pytest.mark.parametrize(
    "other", [{"result": "Else."}, {"structured_output": {"issues": []}}, {"is_error": True, "result": "API Error"}]
)
def test_results_that_differ_are_unreadable(other: Event) -> None:
    assert failure(claude({**RESULT, **other}, RESULT)).kind is FailureKind.UNREADABLE


@pytest.mark.parametrize(
    ("subtype", "words", "kind"),
    [
        ("error_max_turns", "Reached maximum number of turns (3)", FailureKind.REFUSED),
        ("error_max_budget_usd", "Reached maximum budget ($0.001)", FailureKind.OVER_BUDGET),
        ("error_max_structured_output_retries", "Failed to provide valid output", FailureKind.UNREADABLE),
    ],
)
def test_a_limit_that_was_reached_is_named(subtype: str, words: str, kind: FailureKind) -> None:
    ended: Event = {"type": "result", "subtype": subtype, "is_error": True, "errors": [words]}
    found = failure(claude(ended, code=1))
    assert (found.kind, found.message) == (kind, words)


def test_a_model_that_refuses_has_no_answer() -> None:
    assert failure(claude({**RESULT, "stop_reason": "refusal"})).kind is FailureKind.REFUSED


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, FailureKind.REFUSED),
        (403, FailureKind.UNAUTHORISED),
        (404, FailureKind.REFUSED),
        (408, FailureKind.CRASHED),
        (500, FailureKind.CRASHED),
        (529, FailureKind.RATE_LIMITED),
    ],
)
def test_the_status_of_the_service_says_what_to_do(status: int, kind: FailureKind) -> None:
    ended: Event = {**RESULT, "is_error": True, "api_error_status": status, "result": "API Error"}
    assert failure(claude(ended, code=1)).kind is kind


def test_an_error_counts_although_the_exit_code_is_0() -> None:
    ended: Event = {**RESULT, "is_error": True, "api_error_status": 401, "result": "Please log in"}
    assert failure(claude(ended)).kind is FailureKind.UNAUTHORISED


def test_the_wait_that_the_service_named_is_passed_on() -> None:
    ended: Event = {**RESULT, "is_error": True, "api_error_status": 429, "result": "API Error"}
    assert failure(claude(RETRY, ended, code=1)).retry_after == 3600.0
    long: Event = {**RETRY, "retry_delay_ms": 1e12}
    assert failure(claude(long, ended, code=1)).retry_after == MAX_RETRY_AFTER


@pytest.mark.parametrize(
    ("how", "kind"),
    [
        (How.SILENT, FailureKind.RATE_LIMITED),
        (How.TIMED_OUT, FailureKind.RATE_LIMITED),
        (How.STOPPED, FailureKind.CRASHED),
    ],
)
def test_a_client_that_was_waiting_for_the_service_is_not_stuck(how: How, kind: FailureKind) -> None:
    finished = replace(stream(RETRY), how=how, code=None, signal=15)
    assert failure(CLAUDE.read(finished, request(), None)).kind is kind


def test_a_client_that_is_interrupted_exits_with_0_and_has_no_answer() -> None:
    found = failure(claude({"type": "system", "subtype": "init", "session_id": "s"}))
    assert found.kind is FailureKind.CRASHED
    assert "without the final event" in found.message


def test_json_in_words_does_not_stand_in_for_the_form_that_was_asked_for() -> None:
    """The client marks an answer that it has checked against the schema; this one it has not."""
    said = stream({**RESULT, "result": '{"issues": []}'})
    assert failure(CLAUDE.read(said, request(schema="{}"), None)).kind is FailureKind.UNREADABLE
    assert reply(CLAUDE.read(said, request(schema=""), None)).text == b'{"issues": []}'


def test_an_empty_answer_is_unreadable() -> None:
    assert failure(claude({**RESULT, "result": " "})).kind is FailureKind.UNREADABLE


def test_a_long_reason_is_bounded_and_harmless() -> None:
    ended: Event = {**RESULT, "is_error": True, "result": "\x1b[31m" + "x" * 100_000}
    message = failure(claude(ended, code=1)).message
    assert len(message) < MAX_MESSAGE + 50
    assert "\x1b" not in message


def test_codex_is_priced_by_its_model() -> None:
    found = reply(CODEX.read(stream(MESSAGE, COMPLETED), request(model="gpt-5.5"), None))
    assert found.usage.tokens == 1_100_000
    assert found.usage.cost_usd == pytest.approx(0.6 * 5.0 + 0.4 * 0.5 + 0.1 * 30.0)
    assert not found.notes


@pytest.mark.parametrize(("model", "named"), [("my-model", "'my-model'"), ("", "the model")])
def test_an_unknown_price_is_said(model: str, named: str) -> None:
    found = reply(CODEX.read(stream(MESSAGE, COMPLETED), request(model=model), None))
    assert found.usage.cost_usd == 0.0
    assert found.notes == (f"The price of {named} is not known: only its tokens are counted.",)


def test_what_the_service_refuses_is_refused() -> None:
    failed: Event = {"type": "turn.failed", "error": {"message": "unexpected status 400 Bad Request: no such model"}}
    assert failure(CODEX.read(stream(failed, code=1), request(), None)).kind is FailureKind.REFUSED
    ended: Event = {"type": "result", "status": "error", "error": {"message": "no"}, "stats": {}}
    assert failure(GEMINI.read(stream(ended, code=400 - 256), request(), None)).kind is FailureKind.REFUSED


@pytest.mark.parametrize("absurd", [10**400, -5, 1e300, True, "7", None])
def test_an_absurd_number_counts_nothing(absurd: object) -> None:
    completed: Event = {"type": "turn.completed", "usage": {**USAGE, "input_tokens": absurd}}
    assert CODEX.spent(stream(MESSAGE, completed), request()).tokens == 500_000


def test_two_turns_of_codex_are_no_single_answer() -> None:
    found = CODEX.read(stream(MESSAGE, COMPLETED, {**COMPLETED, "usage": {}}), request(), None)
    assert failure(found).kind is FailureKind.UNREADABLE


@pytest.mark.parametrize(
    ("code", "kind"), [(41, FailureKind.UNAUTHORISED), (53, FailureKind.REFUSED), (55, FailureKind.CRASHED)]
)
def test_the_exit_codes_of_gemini_have_their_meaning(code: int, kind: FailureKind) -> None:
    finished = Finished(how=How.EXITED, code=code, stderr_tail="first\nThe reason.")
    found = failure(GEMINI.read(finished, request(), None))
    assert found.kind is kind
    assert "The reason." in found.message


def test_the_wait_that_gemini_was_given_is_passed_on() -> None:
    ended: Event = {"type": "result", "status": "error", "error": {"message": "no"}, "stats": {}}
    finished = replace(stream(ended, code=429 - 256), stderr_tail="{\n  retryDelayMs: 17000,\n  status: 429\n}")
    found = failure(GEMINI.read(finished, request(), None))
    assert (found.kind, found.retry_after) == (FailureKind.RATE_LIMITED, 17.0)


def test_the_thoughts_of_gemini_are_paid_for() -> None:
    used: Event = {"total_tokens": 1_500_000, "input_tokens": 1_000_000, "output_tokens": 100_000, "cached": 400_000}
    said: Event = {"type": "message", "timestamp": "", "role": "assistant", "content": "Done.", "delta": True}
    ended: Event = {"type": "result", "status": "success", "stats": {"models": {"gemini-2.5-pro": used}}}
    found = reply(GEMINI.read(stream(said, ended), request(), None))
    assert found.usage.tokens == 1_500_000
    assert found.usage.cost_usd == pytest.approx(0.6 * 1.25 + 0.4 * 0.125 + 0.5 * 10.0)


def test_opencode_says_its_own_costs() -> None:
    tools: Event = {**STOP, "part": {**STOP["part"], "reason": "tool-calls"}}
    found = reply(OPENCODE.read(stream(tools, {"type": "step_start", "part": {}}, TEXT, STOP), request(), None))
    assert (found.usage.tokens, found.usage.cost_usd) == (30, 1.0)
    assert found.text.strip() == b"Done."


def test_opencode_that_waits_for_an_answer_of_nobody_has_none() -> None:
    tools: Event = {**STOP, "part": {**STOP["part"], "reason": "tool-calls"}}
    assert failure(OPENCODE.read(stream(TEXT, tools), request(), None)).kind is FailureKind.CRASHED


def test_the_wait_that_opencode_was_given_is_passed_on() -> None:
    error: Event = {
        "name": "APIError",
        "data": {"statusCode": 429, "message": "no", "responseHeaders": {"retry-after": "17"}},
    }
    found = failure(OPENCODE.read(stream({"type": "error", "error": error}, code=1), request(), None))
    assert (found.kind, found.retry_after) == (FailureKind.RATE_LIMITED, 17.0)
