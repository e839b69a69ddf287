"""What the bridge's stream says: how the conversation ended, what it cost, what the agent is doing."""

from collections.abc import Iterable

from burnish.agents.clients.reading import count, differ, inner, number, objects, one_line, text
from burnish.agents.clients.specification import Report, Step
from burnish.agents.pricing import Tokens
from burnish.contracts.json_text import JsonObject
from burnish.core.reviews import Failure, FailureKind
from burnish.system.process import Finished

TELLING = (b'"event": "end"', b'"event": "error"', b'"event": "usage"', b'"event": "asked"')
_GOOD = "end_turn"
_LIMITS = {
    "refusal": "it refused to go on",
    "max_tokens": "it reached its limit of tokens",
    "max_turn_requests": "it reached its limit of turns",
}


def report(stream: Iterable[JsonObject], finished: Finished) -> Report:
    del finished
    ends: list[JsonObject] = []
    cost: float | None = None
    denied = ""
    for record in stream:
        match record.get("event"):
            case "usage":
                cost = number(record, "cost_usd")
            case "asked" if record.get("allowed") is False:
                denied = f", after it was denied: {text(record.get('title'))}"
            case "end" | "error":
                ends.append(record)
            case _:
                pass
    if not ends:
        return Report(cost_usd=cost)
    last = ends[-1]
    stop = text(last.get("stop"))
    return Report(
        ended=stop == _GOOD,
        contradiction=differ(ends, "event", "stop", "text", "message"),
        error=text(last.get("message")) or ("" if stop == _GOOD else f"its turn ended with '{stop}'{denied}"),
        status=_status(last),
        refusal=_LIMITS.get(stop, ""),
        failure=_failure(last),
        answer=text(last.get("text")),
        tokens=_tokens(inner(last, "usage")) or _tokens_of_models(last),
        cost_usd=cost,
    )


def _status(last: JsonObject) -> int | None:
    """Some agents answer with the HTTP status of their service."""
    code = count(last, "code")
    return code if 400 <= code < 600 else None


def _failure(last: JsonObject) -> Failure | None:
    """The kind of failure, unless it is one of which only the agent's words tell."""
    known = {kind.value: kind for kind in FailureKind}
    kind = known.get(text(last.get("kind")))
    return None if kind is None else Failure(kind=kind, message=text(last.get("message")))


def _tokens(used: JsonObject) -> dict[str, Tokens]:
    """Thoughts are only in the sum, and cost what output costs; what is written to the cache is input, too."""
    cached = count(used, "cachedReadTokens")
    taken = count(used, "inputTokens") + count(used, "cachedWriteTokens")
    given = max(count(used, "totalTokens") - cached - taken, count(used, "outputTokens"))
    spent = Tokens(input=taken, cached=cached, output=given)
    return {"": spent} if spent.total else {}


def _tokens_of_models(last: JsonObject) -> dict[str, Tokens]:
    """An extension of some agents: what each model used."""
    used = {text(one.get("model")): inner(one, "token_count") for one in objects(last.get("models"))}
    return {
        model: Tokens(input=count(counted, "input_tokens"), output=count(counted, "output_tokens"))
        for model, counted in used.items()
    }


def step(record: JsonObject) -> Step | None:
    """Its costs are those of the whole session so far: each takes the place of the one before."""
    cost = number(record, "cost_usd") if record.get("event") == "usage" else None
    return None if cost is None else Step(name="session", tokens=Tokens(), cost_usd=cost)


def activity(record: JsonObject) -> str:
    match record.get("event"):
        case "tool":
            return one_line(text(record.get("title")))
        case "asked":
            answer = "allowed" if record.get("allowed") is True else "denied"
            return one_line(f"asks to {text(record.get('title'))}: {answer}")
        case "activity" | "message":
            return one_line(text(record.get("text")))
        case _:
            return ""
