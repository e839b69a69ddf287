"""Any agent that speaks the Agent Client Protocol, by its command. `acp_session` holds the conversation with it.

Many agents are a client that burnish knows, with an adapter around it or in a mode of its own. It then gets the same
login, variables and configuration. Of any other agent nothing is known but its command.
"""

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from burnish.agents.client import NETWORK, AcpProgram, Client, Environment, StepUsage, StreamReport
from burnish.agents.interface import Card, Cost, Needs, Request, Tokens
from burnish.agents.registry import clients
from burnish.agents.streams import Dialect, count, differ, inner, number, objects, one_line, text_of
from burnish.contracts.json_text import JsonObject
from burnish.core.reviews import Failure, FailureKind
from burnish.core.values import replace
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from burnish.system.process import Command, Finished
from burnish.system.process_conversation import Conversation, Talk

if TYPE_CHECKING:
    from burnish.agents.acp_session import SessionOptions

_GOOD = "end_turn"
_LIMITS = {
    "refusal": "it refused to go on",
    "max_tokens": "it reached its limit of tokens",
    "max_turn_requests": "it reached its limit of turns",
}


class AcpClient(Client):
    """A client of which what it needs depends on the command that the user wrote."""

    def needs(self, settings: AgentSettings, environment: Environment) -> Needs:
        known = _known(settings)
        if known is not None:
            return known.needs(settings, environment)
        names = (*NETWORK, *settings.environment)
        hint = 'Name the variables that it needs in its table: environment = ["ITS_API_KEY"].'
        return Needs(variables=tuple(name for name in names if environment.get(name)), hint=hint)

    def files(self, settings: AgentSettings, request: Request, environment: Environment) -> dict[str, bytes]:
        known = _known(settings)
        return {} if known is None else known.files(settings, request, environment)

    def command(self, settings: AgentSettings, request: Request, environment: Environment) -> Command:
        """What to run. Its input is the prompt, which `talk` sends."""
        known = _known(settings)
        return Client.command(self if known is None else _wrapping(known), settings, request, environment)

    def talk(self, settings: AgentSettings, request: Request, command: Command) -> Talk:
        # Every command that knows the clients knows this one; few talk to it.
        from burnish.agents.acp_session import AcpSession  # noqa: PLC0415

        options = session_options(settings, request, command)

        async def talk(conversation: Conversation) -> None:
            await AcpSession(conversation, options).run(command.stdin.decode("utf-8", errors="replace"))

        return talk


def _known(settings: AgentSettings) -> Client | None:
    """The client that the command's program is made of, by the name of the program."""
    name = PurePosixPath(settings.command[0]).name if settings.command else ""
    return next((one for one in clients().values() if one.acp is not None and one.acp.name == name), None)


def _program(known: Client | None) -> AcpProgram:
    return AcpProgram("") if known is None or known.acp is None else known.acp


def _wrapping(known: Client) -> Client:
    """An agent that is made of a client, with all that is known of the client."""
    program = _program(known)

    def configuration(request: Request) -> dict[str, str]:
        return {**known.configuration(request), **program.variables(request)}

    return replace(
        AGENT,
        card=replace(known.card, can_resume=False),
        configuration=configuration,
        outside=known.outside or program.outside,
    )


def session_options(settings: AgentSettings, request: Request, command: Command) -> "SessionOptions":
    """What its session is opened with."""
    from burnish.agents.acp_session import Access, SessionOptions  # noqa: PLC0415 - as above

    program = _program(_known(settings))
    access = Access.WRITE if not request.reads_only else Access.RUN if request.scratch else Access.READ
    return SessionOptions(
        access=access,
        folder=command.folder,
        roots=tuple(folder for folder in (request.folder, request.scratch) if folder),
        model=request.model,
        mode=program.confined_mode if request.confined else "",
        extensions=program.extensions,
        meta=program.meta(request),
    )


def _report(stream: Iterable[JsonObject], finished: Finished) -> StreamReport:
    del finished
    ends: list[JsonObject] = []
    cost: float | None = None
    denied = ""
    for record in stream:
        match record.get("event"):
            case "usage":
                cost = number(record, "cost_usd")
            case "asked" if record.get("allowed") is False:
                denied = f", after it was denied: {text_of(record.get('title'))}"
            case "end" | "error":
                ends.append(record)
            case _:
                pass
    if not ends:
        return StreamReport(cost_usd=cost)
    last = ends[-1]
    stop = text_of(last.get("stop"))
    return StreamReport(
        ended=stop == _GOOD,
        contradiction=differ(ends, "event", "stop", "text", "message"),
        error=text_of(last.get("message")) or ("" if stop == _GOOD else f"its turn ended with '{stop}'{denied}"),
        status=_status(last),
        refusal=_LIMITS.get(stop, ""),
        failure=_failure(last),
        answer=text_of(last.get("text")),
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
    kind = known.get(text_of(last.get("kind")))
    return None if kind is None else Failure(kind=kind, message=text_of(last.get("message")))


def _tokens(used: JsonObject) -> dict[str, Tokens]:
    """Thoughts are only in the sum, and cost what output costs; what is written to the cache is input, too."""
    cached = count(used, "cachedReadTokens")
    taken = count(used, "inputTokens") + count(used, "cachedWriteTokens")
    given = max(count(used, "totalTokens") - cached - taken, count(used, "outputTokens"))
    spent = Tokens(input=taken, cached=cached, output=given)
    return {"": spent} if spent.total else {}


def _tokens_of_models(last: JsonObject) -> dict[str, Tokens]:
    """An extension of some agents: what each model used."""
    used = {text_of(one.get("model")): inner(one, "token_count") for one in objects(last.get("models"))}
    return {
        model: Tokens(input=count(counted, "input_tokens"), output=count(counted, "output_tokens"))
        for model, counted in used.items()
    }


def _step(record: JsonObject) -> StepUsage | None:
    """Its costs are those of the whole session so far: each takes the place of the one before."""
    cost = number(record, "cost_usd") if record.get("event") == "usage" else None
    return None if cost is None else StepUsage(name="session", tokens=Tokens(), cost_usd=cost)


def _activity(record: JsonObject) -> str:
    match record.get("event"):
        case "tool":
            return one_line(text_of(record.get("title")))
        case "asked":
            answer = "allowed" if record.get("allowed") is True else "denied"
            return one_line(f"asks to {text_of(record.get('title'))}: {answer}")
        case "activity" | "message":
            return one_line(text_of(record.get("text")))
        case _:
            return ""


def _no_event(record: JsonObject) -> None:
    """The answer is in the event that ends the session: see `_report`."""
    del record


AGENT = AcpClient(
    # Whatever it is, the user must say what it may see.
    card=Card(kind=AgentKind.ACP, cost=Cost.UNKNOWN),
    dialect=Dialect(event=_no_event),
    arguments=lambda _request: (),
    # Where an unknown agent writes is not known; it cannot write in the user's home.
    configuration=lambda request: {"HOME": request.home},
    telling=(b'"event": "end"', b'"event": "error"', b'"event": "usage"', b'"event": "asked"'),
    report=_report,
    activity=_activity,
    step=_step,
)
