"""The one driver of all clients: it puts a specification together with what burnish rules for every agent."""

from collections.abc import Mapping

from burnish.agents.clients import places
from burnish.agents.clients.outcomes import answer_in, failure_in
from burnish.agents.clients.reading import event, records
from burnish.agents.clients.specification import Report, Specification
from burnish.agents.clients.variables import VARIABLES
from burnish.agents.environment import agent_environment
from burnish.agents.errors import AgentError
from burnish.agents.interface import Bill, Needs, Reply, Request
from burnish.agents.pricing import Tokens, price_of
from burnish.core.reviews import Failure, Usage
from burnish.settings.types import AgentSettings
from burnish.system.process import Command, Finished


class Driver:
    """A `Client` without state."""

    def __init__(self, spec: Specification) -> None:
        self._spec = spec

    @property
    def specification(self) -> Specification:
        return self._spec

    @property
    def can_resume(self) -> bool:
        return self._spec.can_resume

    @property
    def is_cumulative(self) -> bool:
        return self._spec.is_cumulative

    def program(self, settings: AgentSettings, environment: Mapping[str, str]) -> str | None:
        return places.program(self._spec, settings, environment)

    def needs(self, settings: AgentSettings, environment: Mapping[str, str]) -> Needs:
        del settings
        return places.needs(self._spec, environment)

    def files(self, settings: AgentSettings, request: Request, environment: Mapping[str, str]) -> dict[str, bytes]:
        del settings
        return self._spec.files(request, environment)

    def command(self, settings: AgentSettings, request: Request, environment: Mapping[str, str]) -> Command:
        spec = self._spec
        if not request.home.startswith("/") or (request.session and not spec.can_resume):
            raise AgentError(
                f"An agent of kind '{spec.kind.value}' was asked for what it cannot do.",
                hint="It needs a folder of its own, and not every client can resume a session.",
            )
        first, *rest = settings.command or (spec.name,)
        prefix = (self.program(settings, environment) or first, *rest)
        named = (*VARIABLES[spec.kind].names, *settings.environment)
        reviewing = request.reads_only
        # A fixer runs the project's tools, which look for their caches and settings in the user's home.
        home = {"HOME": request.home, **places.manager_variables(environment)} if reviewing else {}
        return Command(
            argv=(*spec.before(request), *prefix, *spec.arguments(request)),
            folder=request.home if reviewing and spec.outside else request.folder,
            environment={**agent_environment(request, named, environment), **home, **spec.variables(request)},
            stdin=self._prompt(request).encode("utf-8", errors="replace"),
        )

    def _prompt(self, request: Request) -> str:
        if self._spec.outside and request.reads_only:
            where = f"The repository is the folder {request.folder}\nRun git as: git -C {request.folder}"
            return f"{where}\n\n{request.prompt}"
        return request.prompt

    def read(self, finished: Finished, request: Request, output: bytes | None) -> Reply | Failure:
        del output
        report = self._report(finished)
        failure = failure_in(report, finished)
        if failure is not None:
            return failure
        answer = answer_in(report, finished, structured=self._spec.structured and bool(request.schema))
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
        return _usage(self._report(finished), finished, request)

    def session(self, finished: Finished) -> str:
        return self._report(finished).session

    def bill(self, line: bytes) -> Bill | None:
        record = event(line) if b"usage" in line or b"tokens" in line else None
        step = None if record is None else self._spec.step(record)
        if step is None:
            return None
        cost = step.cost_usd if step.cost_usd is not None else _cost(step.model, step.tokens)
        return Bill(step=step.name, usage=Usage(tokens=step.tokens.total, cost_usd=cost or 0.0))

    def progress(self, line: bytes) -> str:
        record = event(line)
        return "" if record is None else self._spec.activity(record)

    def _report(self, finished: Finished) -> Report:
        return self._spec.report(records(finished.stdout, self._spec.telling), finished)


def _usage(report: Report, finished: Finished, request: Request) -> Usage:
    total = sum(tokens.total for tokens in report.tokens.values())
    cost = report.cost_usd
    if cost is None:
        cost = sum(_cost(model or request.model, tokens) or 0.0 for model, tokens in report.tokens.items())
    return Usage(seconds=finished.seconds, tokens=total, cost_usd=cost)


def _cost(model: str, tokens: Tokens) -> float | None:
    price = price_of(model)
    return None if price is None else price.of(tokens)


def _notes(report: Report, request: Request) -> tuple[str, ...]:
    """Whoever watches a cap on money must know where it cannot hold."""
    if report.cost_usd is not None:
        return ()
    if not report.tokens:
        return ("It does not say what it used up: neither tokens nor money are counted.",)
    models = [model or request.model for model in report.tokens]
    unknown = [f"'{model}'" if model else "the model" for model in models if price_of(model) is None]
    return tuple(f"The price of {model} is not known: only its tokens are counted." for model in unknown)
