"""The `verdict` contract: one JSON object, `{"verdict": "pass" | "drift", "followUpPrompt": "…"}`.

Strict by intent: no other verdicts, no other case, no missing field. Where several objects disagree, drift holds.
"""

from burnish.contracts.json_answers import find_answers
from burnish.contracts.json_text import FinalMessage, JsonObject, text_of, title_of, write_json
from burnish.contracts.paths import IsFile
from burnish.contracts.text import UnreadableError
from burnish.core.findings import Finding, Severity
from burnish.core.reviews import Answer

FOLLOW_UP_LIMIT = 20_000
_HINT = 'Answer with {"verdict": "pass" or "drift", "followUpPrompt": "…"} and nothing else.'


def parse(said: str | FinalMessage, is_file: IsFile) -> Answer:
    """Read a verdict. Paths play no part in it."""
    del is_file
    found = find_answers(said, "verdict")
    follow_ups = [(_verdict(answer), _follow_up(answer)) for answer in found.answers]
    drifts = [follow_up for verdict, follow_up in follow_ups if verdict == "drift"]
    if not drifts:
        passes = [follow_up for _, follow_up in follow_ups]
        return found.settled(Answer(clean=True, follow_up=_joined(passes)), *passes)
    corrections: list[str] = []
    if len(drifts) < len(follow_ups):
        corrections.append("The text contains both pass and drift: drift counts.")
    if not all(drifts):
        corrections.append("There is no follow-up prompt for the drift: the verdict counts.")
    return Answer(
        clean=False,
        findings=tuple(_finding(follow_up) for follow_up in drifts),
        follow_up=_joined(drifts),
        corrections=tuple(corrections),
    )


def render(answer: Answer) -> str:
    verdict = "pass" if answer.clean else "drift"
    return write_json({"verdict": verdict, "followUpPrompt": answer.follow_up})


def _verdict(answer: JsonObject) -> str:
    verdict = answer["verdict"]
    if isinstance(verdict, str) and verdict in ("pass", "drift"):
        return verdict
    raise UnreadableError(f"'{text_of(verdict, 60)}' is not a verdict.", hint=_HINT)


def _follow_up(answer: JsonObject) -> str:
    follow_up = answer.get("followUpPrompt")
    if not isinstance(follow_up, str):
        raise UnreadableError("followUpPrompt is missing or not a string.", hint=_HINT)
    return text_of(follow_up, FOLLOW_UP_LIMIT)


def _joined(follow_ups: list[str]) -> str:
    return text_of("\n\n".join(follow_up for follow_up in follow_ups if follow_up), FOLLOW_UP_LIMIT)


def _finding(follow_up: str) -> Finding:
    if follow_up:
        return Finding(severity=Severity.HIGH, category="drift", title=title_of(follow_up), problem=follow_up)
    return Finding(
        severity=Severity.HIGH,
        category="drift",
        title="The reviewer reports drift without saying where",
        synthetic=True,
    )
