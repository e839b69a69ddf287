"""What the clients of all vendors share: how one is found, started and read. What is particular is in its own file.

An answer counts where the exit code, the event that ends the stream and the answer itself all agree.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from burnish.agents import process
from burnish.agents.environment import agent_environment
from burnish.agents.failures import MAX_MESSAGE, MAX_RETRY_AFTER, failure_of, retry_after
from burnish.agents.interface import (
    AgentError,
    Bill,
    Card,
    Changed,
    Failed,
    Needs,
    Rejection,
    Reply,
    Request,
    Review,
    Tokens,
)
from burnish.agents.logins import copy_credentials, moved_homes, put
from burnish.agents.pricing import price_of
from burnish.agents.process import AgentAttempt, AskResult, Meter, answer_schema, either
from burnish.agents.registry import check_command
from burnish.agents.services import Job, Services, Session, StoppedError
from burnish.agents.streams import Dialect, event, final_message, records
from burnish.contracts.json_text import JsonObject
from burnish.contracts.text import UnreadableError, bounded, decode
from burnish.core.budget import dollars
from burnish.core.effects import StartReview
from burnish.core.reviews import Failure, FailureKind, Usage
from burnish.core.text import clean_text
from burnish.core.values import Value, replace
from burnish.settings.types import AgentSettings
from burnish.system import clock
from burnish.system.process import KEPT_BYTES, Command, Finished, How
from burnish.system.process_conversation import Talk
from burnish.system.process_start import find_program
from burnish.workspace.clones import Clone

Environment = Mapping[str, str]

NETWORK = (
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
)
"""Variables that every client may see: how to reach the network."""
AMAZON = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION")
GOOGLE_CLOUD = ("GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_APPLICATION_CREDENTIALS")
"""Variables of services through which several vendors' models can be reached."""
_MANAGERS = {"VOLTA_HOME": ".volta", "ASDF_DATA_DIR": ".asdf", "MISE_DATA_DIR": ".local/share/mise"}
"""Folders in which the shims of version managers look for the real programs, if these variables name no others."""

STREAM_BYTES = 4 * KEPT_BYTES
"""A client says much on its way to an answer, and the end of its stream must not be cut."""
_UNAUTHORISED = (401, 403)
_RATE_LIMITED = (429, 529)
_UNREACHABLE = (502, 503, 504)
_WORTH_ANOTHER_TRY = (408, 409, 425)


class StreamReport(Value):
    """What a client's stream says beside the answer. Whether the process agrees is for `Client` to see."""

    ended: bool = False
    """The event came that ends a complete stream, and it says that all went well."""
    contradiction: bool = False
    """Two such events came, and they differ."""
    error: str = ""
    """Why there is no answer, in the client's words."""
    status: int | None = None
    """The HTTP status that the service refused with."""
    refusal: str = ""
    """Why it would not go on: a limit that it was given and reached, or the model's own refusal."""
    failure: Failure | None = None
    """Where the stream itself names the kind."""
    answer: str | None = None
    """The final message, where the client's dialect does not tell it."""
    pause: float | None = None
    """How long the service asked to wait, in seconds."""
    session: str = ""
    tokens: dict[str, Tokens] = msgspec.field(default_factory=dict[str, Tokens])
    """By model; under the empty name where the client does not say which."""
    cost_usd: float | None = None
    """None where the client does not say."""


class StepUsage(Value):
    """What one step of the model used up, told while the client is still at work."""

    name: str
    model: str = ""
    tokens: Tokens
    cost_usd: float | None = None


class AcpProgram(NamedTuple):
    """A program that speaks the Agent Client Protocol and is made of a client: it gets what the client gets."""

    name: str
    variables: Callable[[Request], dict[str, str]] = lambda _request: {}
    meta: Callable[[Request], dict[str, Any]] = lambda _request: {}
    extensions: dict[str, Any] | None = None
    confined_mode: str = ""
    """In burnish's sandbox: the mode without one of its own, which cannot be built inside ours."""
    outside: bool = False
    """Whether it runs what it finds in the folder that it is started in, though the client itself does not."""


class Client(Value):
    """One client: its card, and what is particular to it as small functions. It has no state."""

    card: Card
    dialect: Dialect
    arguments: Callable[[Request], tuple[str, ...]]
    configuration: Callable[[Request], dict[str, str]]
    """The variables that it is steered by."""
    settings_files: Callable[[Request, Environment], dict[str, bytes]] = lambda _request, _environment: {}
    telling: tuple[bytes, ...]
    """Texts of which a line must hold one to be worth reading: most lines are long, and only matter to the model."""
    report: Callable[[Iterable[JsonObject], Finished], StreamReport]
    activity: Callable[[JsonObject], str]
    step: Callable[[JsonObject], StepUsage | None] = lambda _record: None
    """Many clients say only at their end what they used up."""
    structured: bool = False
    """Whether it is held to a schema, and has a structured answer in its stream."""
    outside: bool = False
    """Whether a reviewer must not be started in the clone, because the client would run what it finds there."""
    acp: AcpProgram | None = None

    def check(self, settings: AgentSettings) -> None:
        check_command(settings)

    async def review(self, job: Job[StartReview], services: Services) -> Review | Failed:
        return await process.review(self, job, services)

    async def change(
        self, job: Job[Any], services: Services, clone: Clone, rejection: Rejection | None
    ) -> Changed | Failed:
        return await process.change(self, job, services, clone, rejection)

    async def ask(self, call: AgentAttempt, request: Request) -> AskResult:
        """Run it in a home of its own, where it finds the user's login for as long as it runs."""
        services, settings, environment = call.services, call.settings, call.services.environment
        keeps = self._keeps_session(call, request)
        agent = call.job.effect.agent
        session = call.session or (services.sessions.get(agent) if keeps else None)
        home = session.home if session else services.home_of(agent) if keeps else services.home(request.effect)
        request = replace(
            request,
            home=str(home),
            session=session.name if session else "",
            confined=services.is_confined,
            schema=answer_schema(call.job.run, request),
            max_turns=settings.max_turns,
            project_settings=settings.project_settings,
            budget_usd=call.share.cost_usd,
        )
        for place, data in self.files(settings, request, environment).items():
            put(home, place, data)
        credentials = copy_credentials(self.needs(settings, environment), home)
        meter = Meter(self.bill, call.share, settings.max_turns)
        started = clock.now()
        try:
            finished = await self._watched(call, request, meter)
        except StoppedError:
            used = replace(meter.used, seconds=clock.now() - started)
            if not meter.over.is_set():
                raise StoppedError(used) from None
            return AskResult(reply=meter.failure, usage=used)
        finally:
            await asyncio.to_thread(credentials.give_back)
        used, total = self._used(finished, request, session, meter)
        name = self.session(finished) if self.card.can_resume else ""
        following = Session(name=name, home=home, spent=total) if name else None
        reply = self.read(finished, request, None)
        if keeps:
            services.remember(agent, None if isinstance(reply, Failure) else following)
        return AskResult(reply=reply, usage=used, session=following)

    def _keeps_session(self, call: AgentAttempt, request: Request) -> bool:
        """Reviewers always have fresh eyes; those who write may remember what they did, if the user wants that."""
        return call.settings.resume and self.card.can_resume and not request.reads_only

    async def _watched(self, call: AgentAttempt, request: Request, meter: Meter) -> Finished:
        def hear(line: bytes) -> None:
            meter.read(line)
            doing = self.progress(line)
            if doing:
                spent = meter.used.cost_usd
                call.services.activity(request.effect, f"{doing} · ${dollars(spent)}" if spent else doing)

        command = self.command(call.settings, request, call.services.environment)
        async with either(call.job.stop, meter.over) as stop:
            return await call.run(
                command,
                request,
                kept_bytes=STREAM_BYTES,
                readable=(request.folder,),
                writable=(request.home,),
                stop=stop,
                on_line=hear,
                talk=self.talk(call.settings, request, command),
            )

    def _used(self, finished: Finished, request: Request, before: Session | None, meter: Meter) -> tuple[Usage, Usage]:
        """What this attempt used up, and what its whole session did."""
        former = before.spent if before else Usage()
        told = self.spent(finished, request)
        if not (told.tokens or told.cost_usd):
            # It came to no end at which it could have said so; what it said of its steps stands.
            used = replace(meter.used, seconds=told.seconds)
            return used, former.plus(used)
        if self.card.is_cumulative:
            return replace(told.minus(former), seconds=told.seconds), told
        return told, told

    def program(self, settings: AgentSettings, environment: Environment) -> str | None:
        """Where it is installed: as the settings say, else on the PATH, else in a Python package; None where not."""
        if settings.relative_parts:
            # The working directory is the change itself: it could bring its own client.
            raise AgentError(
                f"The command of an agent of kind '{self.card.kind.value}' names a file of the repository.",
                hint="Use the full path of the client, or its name on the PATH.",
            )
        wanted = settings.command[0] if settings.command else self.card.program
        # From the root: a relative entry of the PATH never leads into the change.
        found = find_program(wanted, "/", {"PATH": environment.get("PATH", "")})
        if found is not None:
            return str(found)
        return None if settings.command else _bundled(*self.card.bundled)

    def needs(self, settings: AgentSettings, environment: Environment) -> Needs:
        """What it needs of the user's environment and home: the variables that are set, else the files of a login."""
        del settings
        card = self.card
        names = tuple(name for name in (*card.keys, *card.variables, *NETWORK) if environment.get(name))
        if any(environment.get(name) for name in card.keys):
            return Needs(variables=names, logged_in=True)
        named = ((_original(card, path, environment), place) for path, place in card.login)
        files = tuple((str(file), place) for file, place in named if file is not None and file.is_file())
        if files:
            return Needs(variables=names, files=files, logged_in=True)
        keyring = sys.platform == "darwin"  # there, clients keep their login where only they can look
        hint = f"Run `{card.login_command}`, or set {card.keys[0]}."
        return Needs(variables=names, logged_in=None if keyring else False, hint=hint)

    def files(self, settings: AgentSettings, request: Request, environment: Environment) -> dict[str, bytes]:
        """Its configuration: files by their place below the request's home, to be written before the start."""
        del settings
        return self.settings_files(request, environment)

    def command(self, settings: AgentSettings, request: Request, environment: Environment) -> Command:
        """What to run. `environment` is the user's own; the agent gets the part of it that it may see."""
        card = self.card
        if not request.home.startswith("/") or (request.session and not card.can_resume):
            raise AgentError(
                f"An agent of kind '{card.kind.value}' was asked to do something that it cannot do.",
                hint="It needs a folder of its own, and not every client can resume a session.",
            )
        first, *rest = settings.command or (card.program,)
        prefix = (self.program(settings, environment) or first, *rest)
        named = (*card.keys, *card.variables, *NETWORK, *settings.environment)
        reviewing = request.reads_only
        # A fixer runs the project's tools, which look for their caches and settings in the user's home.
        home = {"HOME": request.home, **manager_variables(environment)} if reviewing else {}
        prompt = request.prompt
        if self.outside and reviewing:
            prompt = f"The repository is the folder {request.folder}\nRun git as: git -C {request.folder}\n\n{prompt}"
        return Command(
            argv=(*prefix, *self.arguments(request)),
            folder=request.home if reviewing and self.outside else request.folder,
            environment={**agent_environment(request, named, environment), **home, **self.configuration(request)},
            stdin=prompt.encode("utf-8", errors="replace"),
        )

    def talk(self, settings: AgentSettings, request: Request, command: Command) -> Talk | None:
        """Holds a conversation with the client, where it is not only given its prompt."""
        del settings, request, command
        return None

    def read(self, finished: Finished, request: Request, output: bytes | None) -> Reply | Failure:
        """What came of it. `output` is what it left in the request's output file, which is not its answer."""
        del output
        report = self._report(finished)
        failure = _failure_in(report, finished)
        if failure is not None:
            return failure
        answer = _answer_in(report, finished, structured=self.structured and bool(request.schema))
        if isinstance(answer, Failure):
            return answer
        return Reply(
            text=answer.encode("utf-8", errors="replace"),
            usage=_usage(report, finished, request),
            session=report.session,
            notes=_notes(report, request),
            transcript=finished.stdout,
        )

    def spent(self, finished: Finished, request: Request) -> Usage:
        """What it used up, also where it failed. Where a session went on: what all of it used up."""
        return _usage(self._report(finished), finished, request)

    def session(self, finished: Finished) -> str:
        """The session that could go on, also where it failed; empty where there is none."""
        return self._report(finished).session

    def bill(self, line: bytes) -> Bill | None:
        """What a line of its output says of the costs so far; None where it says nothing."""
        record = event(line) if b"usage" in line or b"tokens" in line else None
        step = None if record is None else self.step(record)
        if step is None:
            return None
        cost = step.cost_usd if step.cost_usd is not None else _cost(step.model, step.tokens)
        return Bill(step=step.name, usage=Usage(tokens=step.tokens.total, cost_usd=cost or 0.0))

    def progress(self, line: bytes) -> str:
        """What a line of its output says that it is doing now; empty where it says nothing of the kind."""
        record = event(line)
        return "" if record is None else self.activity(record)

    def _report(self, finished: Finished) -> StreamReport:
        return self.report(records(finished.stdout, self.telling), finished)


def _bundled(package: str, inside: str) -> str | None:
    found = find_spec(package) if package else None
    folders = found.submodule_search_locations if found is not None else None
    files = (Path(folder) / inside for folder in folders or ())
    return next((str(file) for file in files if file.is_file()), None)


def _original(card: Card, path: str, environment: Environment) -> Path | None:
    """Where a file of a login is: below the home, or where the user has moved its folder to."""
    for folder, place in moved_homes(card, environment).items():
        if path.startswith(f"{folder}/"):
            return place / path.removeprefix(f"{folder}/")
    home = environment.get("HOME", "")
    return Path(home) / path if home.startswith("/") else None


def manager_variables(environment: Environment) -> dict[str, str]:
    """What a client that was installed by a version manager needs when its HOME is not the user's."""
    home = Path(environment.get("HOME", ""))
    named = {variable: environment.get(variable) or str(home / folder) for variable, folder in _MANAGERS.items()}
    return {variable: place for variable, place in named.items() if place.startswith("/") and Path(place).is_dir()}


def _failure_in(report: StreamReport, finished: Finished) -> Failure | None:
    """Why there is no answer, or None where the process and its stream both say that there is one."""
    said = _said(report, finished)
    if finished.how is not How.EXITED or finished.signal is not None:
        # A client that waits until a service takes it again says nothing meanwhile, and is no stuck one.
        limited = said is not None and said.kind is FailureKind.RATE_LIMITED and finished.how is not How.STOPPED
        return said if limited else failure_of(finished)
    return said or failure_of(finished) or _incomplete(report, finished)


def _said(report: StreamReport, finished: Finished) -> Failure | None:
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


def _incomplete(report: StreamReport, finished: Finished) -> Failure | None:
    if finished.stdout_cut:
        return _failure(FailureKind.UNREADABLE, "its output is too long and was cut")
    if report.contradiction:
        return _failure(FailureKind.UNREADABLE, "its stream has two different ends")
    if not report.ended:
        return _failure(FailureKind.CRASHED, "exited with 0, but without the final event of its stream")
    return None


def _answer_in(report: StreamReport, finished: Finished, *, structured: bool) -> str | Failure:
    """The final message of a complete stream; its structured form where one must be there."""
    if report.answer is not None:
        return _not_empty(report.answer)
    try:
        message = final_message(decode(finished.stdout))
    except UnreadableError as error:
        return _failure(FailureKind.UNREADABLE, error.message)
    if message is None:
        return _failure(FailureKind.UNREADABLE, "its output is not the client's stream format")
    if message.structured is not None:
        return json.dumps(message.structured, ensure_ascii=False)
    if structured:
        return _failure(
            FailureKind.UNREADABLE, f"it answered with text instead of the JSON of the schema: {message.text}"
        )
    return _not_empty(message.text)


def _not_empty(text: str) -> str | Failure:
    return text if text.strip() else _failure(FailureKind.UNREADABLE, "its final message is empty")


def _failure(kind: FailureKind, words: str) -> Failure:
    return Failure(kind=kind, message=bounded(" ".join(clean_text(words[:4_000]).split()), MAX_MESSAGE))


def _usage(report: StreamReport, finished: Finished, request: Request) -> Usage:
    total = sum(tokens.total for tokens in report.tokens.values())
    cost = report.cost_usd
    if cost is None:
        cost = sum(_cost(model or request.model, tokens) or 0.0 for model, tokens in report.tokens.items())
    return Usage(seconds=finished.seconds, tokens=total, cost_usd=cost)


def _cost(model: str, tokens: Tokens) -> float | None:
    price = price_of(model)
    return None if price is None else price.of(tokens)


def _notes(report: StreamReport, request: Request) -> tuple[str, ...]:
    """Where a cap on money cannot hold."""
    if report.cost_usd is not None:
        return ()
    if not report.tokens:
        return ("It does not report its usage: neither tokens nor cost are counted.",)
    models = [model or request.model for model in report.tokens]
    unknown = [f"'{model}'" if model else "the model" for model in models if price_of(model) is None]
    return tuple(f"The price of {model} is not known: only its tokens are counted." for model in unknown)
