"""The tools of the MCP server, each of them one use case; and how they run beside the protocol.

Tools answer with bounded, structured values. What agents wrote is data in them. No tool decides, waives or accepts.
"""

import queue
import threading
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from functools import partial, wraps
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, ParamSpec, TypeVar

import anyio
import msgspec
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field

from burnish import __version__
from burnish.core.errors import BurnishError
from burnish.core.events import Mode
from burnish.core.findings import FindingStatus
from burnish.core.text import clean_text
from burnish.report.account import Account, open_blockers, state_of
from burnish.report.json_objects import tracked_object
from burnish.settings.loading import Flags
from burnish.system import clock
from burnish.system.identifiers import new_run_id, this_process
from burnish.usecases.drive_run import DriveOptions
from burnish.usecases.follow_run import wait_for
from burnish.usecases.plan_run import RunRequest, refuse_inside
from burnish.usecases.runs import LATEST, open_runs
from burnish.usecases.session_owners import SessionOwner, owned_run
from burnish.usecases.session_review import (
    SessionPhase,
    SessionRequest,
    SessionReviewError,
    Standing,
    Submission,
    WantedWork,
    WorkRole,
    standing,
    start_review,
    stop_review,
    submit_answer,
)
from burnish.usecases.start_run import Surface, start_in_background
from burnish.usecases.submit_intent import refute_finding
from burnish.usecases.tell_run import tell
from burnish.usecases.verify_seal import Demands, verify
from burnish.workspace.repository import Repository

_P = ParamSpec("_P")
_T = TypeVar("_T")
_WAIT = 45.0
"""Seconds that a call waits for burnish's own work. Clients give a tool about a minute."""
_PAGE = 40_000
"""Characters of a prompt in one answer."""
_TEXT = 2_000
_MOST_FINDINGS = 50
_MOST_SUBMITTED = 200
_REPAIRS = 2
"""How often an answer that cannot be read may be sent again under the same token."""
_WORKING = "working"
_BY = "an agent, by MCP"

RunName = Annotated[str, Field(description="The name of the run, or a unique beginning of it.", max_length=100)]
Token = Annotated[str, Field(description="The one-time token of the seat.", max_length=100)]
Words = Annotated[str, Field(max_length=20_000)]
OptionalRef = Annotated[str | None, Field(description="Default: what burnish would choose.", max_length=300)]


class SubmittedIssue(BaseModel, extra="forbid"):
    """One problem that a reviewer found."""

    severity: Literal["critical", "warning", "info"]
    category: Annotated[str, Field(max_length=100)]
    description: Annotated[str, Field(description="What is wrong.", min_length=1, max_length=20_000)]
    file: Annotated[str | None, Field(description="Relative to the root.", max_length=1_000)] = None
    line: Annotated[int | None, Field(ge=1)] = None
    end_line: Annotated[int | None, Field(ge=1)] = None
    impact: Words | None = None
    evidence: Annotated[str, Field(description="The code that shows it.", max_length=20_000)] = ""
    suggestion: Words = ""
    confidence: Annotated[float | None, Field(ge=0, le=1)] = None
    action: Literal["fix", "ask", "note"] | None = None


class SubmittedFormer(BaseModel, extra="forbid"):
    """What became of a finding of an earlier round."""

    id: Annotated[str, Field(max_length=100)]
    answer: Literal["fixed", "not-fixed", "withdrawn"]
    evidence: Words


class SubmittedFix(BaseModel, extra="forbid"):
    """What the fixer says of one finding."""

    id: Annotated[str, Field(max_length=100)]
    answer: Literal["fixed", "not fixed", "refuted"]
    text: Annotated[str, Field(description="How, why not, or by what evidence.", max_length=5_000)]


class SeatResult(BaseModel):
    seat: str
    role: str
    token: str
    contract: str
    answer_with: str
    """The tool that takes the answer."""
    prompt_characters: int


class ChoiceResult(BaseModel):
    key: str
    text: str


class SessionResult(BaseModel):
    run: str
    phase: str
    """R1 review, R2 fix, WAITING for a person, DONE, STOPPED; `working` while burnish itself is at work."""
    protocol: str
    round: int
    rounds: int
    seats: list[SeatResult]
    answered: list[str]
    blocking: int
    outcome: str | None
    reason: str
    choices: list[ChoiceResult]
    """What a person can decide."""
    notices: list[str]
    next: str


class StatusResult(BaseModel):
    run: str
    state: str
    outcome: str | None
    reason: str
    protocol: str
    branch: str
    base: str
    round: int
    blocking: int
    findings: dict[str, int]
    """How many, by what became of them."""
    seal_kinds: list[str]
    active: bool
    """Whether a process drives it now."""
    next: list[str]


class FindingResult(BaseModel):
    id: str
    severity: str
    status: str
    blocking: bool
    category: str
    file: str | None
    line: int | None
    title: str
    problem: str
    evidence: str
    suggestion: str
    found_by: list[str]
    round: int


class FindingsResult(BaseModel):
    run: str
    total: int
    offset: int
    findings: list[FindingResult]


class PromptResult(BaseModel):
    seat: str
    text: str
    offset: int
    next_offset: int | None
    """Where the next page begins; null after the last one."""


class StartedResult(BaseModel):
    run: str
    notices: list[str]
    next: str


class VerificationResult(BaseModel):
    sealed: bool
    reason: str
    commit: str
    tree: str
    base: str
    notes: list[str]


class MainThread:
    """Runs what drives a run in the main thread, as signals reach no other one."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()

    def do(self, job: Callable[[], _T], seconds: float) -> _T:
        """Have a job done, and wait for it. Raises `TimeoutError` where it takes longer; it goes on then."""
        future: Future[_T] = Future()
        self._jobs.put(partial(_settle, future, job))
        return future.result(seconds)

    def serve(self, server: Callable[[], None]) -> None:
        """Run the server in a thread of its own, and its jobs here, until it ends."""

        def run() -> None:
            try:
                server()
            finally:
                self._jobs.put(None)

        thread = threading.Thread(target=run, name="mcp", daemon=True)  # an interrupt ends it, too
        thread.start()
        for job in iter(self._jobs.get, None):
            job()
        thread.join()


def _settle(future: Future[_T], job: Callable[[], _T]) -> None:
    try:
        future.set_result(job())
    except BaseException as error:  # noqa: BLE001 - whatever it is, the call that waits for it must be told
        future.set_exception(error)


def _telling(tool: Callable[_P, _T]) -> Callable[_P, _T]:
    """A tool whose errors are told with their kind and hint."""

    @wraps(tool)
    def told(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return tool(*args, **kwargs)
        except BurnishError as error:
            hint = f" hint: {error.hint}" if error.hint else ""
            raise ToolError(f"{error.kind.value}: {error.message}{hint}") from None
        except ToolError:
            raise
        except TimeoutError:
            raise ToolError(
                "infrastructure: burnish has not come to an end yet. hint: Ask for review_status."
            ) from None
        except Exception as error:  # noqa: BLE001 - a client must not wait for an answer that never comes
            raise ToolError(f"infrastructure: burnish has a bug: {type(error).__name__}: {error}") from None

    return told


class ReviewTools:
    """The tools of one server. It is one session: the runs that it starts are its own."""

    def __init__(self, folder: Path, environment: Mapping[str, str], main: MainThread) -> None:
        self._folder, self._environment, self._main = folder, environment, main
        self._owner = SessionOwner(session=f"mcp-{new_run_id(clock.now())}", process=this_process())
        self._seats: dict[str, WantedWork] = {}
        self._read: dict[str, int] = {}
        """How much of each prompt was handed out, by token."""
        self._repairs: dict[str, int] = {}

    # Reviews by burnish's own reviewers

    def start_review(
        self,
        branch: OptionalRef = None,
        base: OptionalRef = None,
        uncommitted: Annotated[bool, Field(description="Review the working tree as it is.")] = False,
        protocol: OptionalRef = None,
        intent: Annotated[str, Field(description="What the change should do.", max_length=5_000)] = "",
    ) -> StartedResult:
        notices: list[str] = []
        request = RunRequest(
            mode=Mode.REVIEW,
            branch=branch,
            base=base,
            uncommitted=uncommitted,
            intent=intent,
            flags=Flags(protocol=protocol),
        )
        surface = Surface(notice=notices.append, begun=_ignore, options=DriveOptions())
        job = partial(start_in_background, self._folder, request, self._environment, surface)
        run = self._main.do(job, 600.0)  # nothing of it takes long but git
        return StartedResult(run=run, notices=[_cut(each) for each in notices], next=f"review_status with run {run}")

    def review_status(
        self, run: RunName = LATEST, wait_seconds: Annotated[float, Field(ge=0, le=_WAIT)] = 0
    ) -> StatusResult:
        with open_runs(self._folder) as runs:
            name = runs.resolve(run)
            snapshot = wait_for(runs, name, wait_seconds).snapshot if wait_seconds else runs.snapshot(name)
            return _status(tell(runs.repository, snapshot))

    def list_findings(
        self,
        run: RunName = LATEST,
        open_only: bool = True,
        offset: Annotated[int, Field(ge=0)] = 0,
        limit: Annotated[int, Field(ge=1, le=_MOST_FINDINGS)] = 20,
    ) -> FindingsResult:
        with open_runs(self._folder) as runs:
            account = tell(runs.repository, runs.snapshot(runs.resolve(run)))
        listed = [entry for entry in account.run.findings if not open_only or entry.status is FindingStatus.OPEN]
        listed.sort(key=lambda entry: (not entry.blocking, entry.finding.severity.rank))
        page = [
            _finding(tracked_object(entry, account), blocking=entry.blocking)
            for entry in listed[offset : offset + limit]
        ]
        return FindingsResult(run=account.run.id, total=len(listed), offset=offset, findings=page)

    def refute_finding(
        self, run: RunName, finding: Annotated[str, Field(max_length=100)], evidence: Words
    ) -> StatusResult:
        refuse_inside(self._environment, "refutes nothing")

        def refute() -> Account:
            with open_runs(self._folder) as runs:
                return refute_finding(runs, runs.resolve(run), finding, evidence=evidence, by=_BY).account

        return _status(self._main.do(refute, 600.0))

    def verify_seal(
        self, ref: Annotated[str, Field(max_length=300)] = "HEAD", base: OptionalRef = None
    ) -> VerificationResult:
        found = verify(Repository.discover(self._folder), ref, Demands(base=base))
        return VerificationResult(
            sealed=found.ok,
            reason=_cut(found.reason),
            commit=found.commit,
            tree=found.tree,
            base=found.base,
            notes=[_cut(note) for note in found.notes[:_MOST_FINDINGS]],
        )

    # Reviews by the client's own agents

    def start_session_review(
        self,
        fix: Annotated[bool, Field(description="Whether a fixer edits the working tree between reviews.")] = True,
        protocol: OptionalRef = None,
        base: OptionalRef = None,
        intent: Annotated[str, Field(description="What the change should do.", max_length=5_000)] = "",
        max_rounds: Annotated[int | None, Field(ge=1, le=20)] = None,
    ) -> SessionResult:
        refuse_inside(self._environment)
        mode = Mode.FIX if fix else Mode.REVIEW
        request = SessionRequest(mode=mode, protocol=protocol, base=base, intent=intent, max_rounds=max_rounds)
        return self._told(partial(start_review, self._folder, self._owner, request, self._environment))

    def session_status(self, run: RunName) -> SessionResult:
        return self._look(self._own(run))

    def read_prompt(self, run: RunName, token: Token, offset: Annotated[int, Field(ge=0)] = 0) -> PromptResult:
        work = self._seat(self._own(run), token)
        text = work.prompt[offset : offset + _PAGE]
        end = offset + len(text)
        if offset <= self._read.get(token, 0):
            self._read[token] = max(end, self._read.get(token, 0))
        following = end if end < len(work.prompt) else None
        return PromptResult(seat=work.seat, text=text, offset=offset, next_offset=following)

    def submit_review(
        self,
        run: RunName,
        token: Token,
        verdict: Literal["clean", "issues_found"],
        issues: Annotated[list[SubmittedIssue], Field(max_length=_MOST_SUBMITTED)],
        former: Annotated[list[SubmittedFormer] | None, Field(max_length=_MOST_SUBMITTED)] = None,
    ) -> SessionResult:
        if (verdict == "clean") is bool(issues):
            raise SessionReviewError(
                f"The verdict '{verdict}' contradicts the list of {len(issues)} issues. Nothing was recorded.",
                hint="List what you found, or say 'clean' with an empty list.",
            )
        counts = Counter(issue.severity for issue in issues)
        answer = {
            "issues": [issue.model_dump() for issue in issues],
            "former": [each.model_dump() for each in former or ()],
            "summary": {**{word: counts[word] for word in ("critical", "warning", "info")}, "verdict": verdict},
        }
        return self._submit(run, token, msgspec.json.encode(answer).decode(), "submit_review")

    def submit_verdict(
        self,
        run: RunName,
        token: Token,
        verdict: Literal["pass", "drift"],
        follow_up: Annotated[str, Field(description="On pass a summary; on drift what to do.", max_length=50_000)],
    ) -> SessionResult:
        answer = {"verdict": verdict, "followUpPrompt": follow_up}
        return self._submit(run, token, msgspec.json.encode(answer).decode(), "submit_verdict")

    def submit_text(
        self, run: RunName, token: Token, answer: Annotated[str, Field(min_length=1, max_length=500_000)]
    ) -> SessionResult:
        return self._submit(run, token, answer, "submit_text")

    def submit_fix(
        self,
        run: RunName,
        token: Token,
        summary: Annotated[str, Field(description="In one line.", min_length=1, max_length=500)],
        answers: Annotated[list[SubmittedFix], Field(max_length=_MOST_SUBMITTED)],
    ) -> SessionResult:
        lines = [f"- {_one_line(each.id)}: {each.answer}. {_one_line(each.text)}" for each in answers]
        return self._submit(run, token, "\n".join([_one_line(summary), "", *lines]), "submit_fix")

    def end_session_review(
        self, run: RunName, note: Annotated[str, Field(description="Why.", max_length=500)] = ""
    ) -> SessionResult:
        name, session = self._own(run), self._owner.session
        return self._told(partial(stop_review, self._folder, name, self._environment, note, session=session), name)

    # What they share

    def _own(self, reference: str) -> str:
        """The run that is meant. Raises where another session owns it: its tokens are not for this one."""
        refuse_inside(self._environment, "takes no answers")
        with open_runs(self._folder) as runs:
            name = runs.resolve(reference)
            owned = owned_run(runs.repository, name)
        if owned is None or owned.owner.session != self._owner.session:
            raise SessionReviewError(
                f"{name} is not a review of this session.",
                hint="start_session_review starts one, or continues one whose session has ended.",
            )
        return name

    def _look(self, run: str) -> SessionResult:
        """Have burnish's own work done, and tell how a session's review stands."""
        look = partial(standing, self._folder, run, self._environment, session=self._owner.session)
        return self._told(look, run)

    def _seat(self, run: str, token: str) -> WantedWork:
        if token not in self._seats and self._look(run).phase == _WORKING:
            raise SessionReviewError(
                "burnish is running checks or tests, and knows no seats until they are done. Nothing was recorded.",
                hint="Call session_status until its phase is another one, then try again.",
            )
        if token not in self._seats:
            raise SessionReviewError(
                "No seat waits for an answer under this token: it is wrong, was used, or is of another run or attempt.",
                hint="session_status lists the seats that wait, with their tokens.",
            )
        return self._seats[token]

    def _submit(self, reference: str, token: str, text: str, tool: str) -> SessionResult:
        run = self._own(reference)
        work = self._seat(run, token)
        if tool != _tool_for(work):
            raise SessionReviewError(
                f"The seat '{work.seat}' does not take this kind of answer. Nothing was recorded.",
                hint=f"Answer with {_tool_for(work)}.",
            )
        tried = self._repairs[token] = self._repairs.get(token, 0) + 1
        job = partial(
            submit_answer,
            self._folder,
            run,
            token,
            text,
            self._environment,
            session=self._owner.session,
            was_given=work.role is WorkRole.FIX or self._read.get(token, 0) >= len(work.prompt),
            repairable=tried <= _REPAIRS,
        )
        return self._told(job, run)

    def _told(self, job: Callable[[], Standing | Submission], run: str = "") -> SessionResult:
        """Have something done to a session's review, and tell how it stands then."""
        try:
            done = self._main.do(job, _WAIT)
        except TimeoutError:
            return _working(run)
        now = done.standing if isinstance(done, Submission) else done
        self._seats = {work.token: work for work in now.wanted}
        if isinstance(done, Submission) and not done.accepted:
            again = (
                "Correct it and submit it again with the same token."
                if done.may_repair
                else "session_status says what is wanted now."
            )
            raise SessionReviewError(f"The answer does not count: {done.problem}.", hint=again)
        return _session(now)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _ignore(*_: object) -> None:
    pass


def _tool_for(work: WantedWork) -> str:
    if work.role is WorkRole.FIX:
        return "submit_fix"
    return {"issues": "submit_review", "verdict": "submit_verdict"}.get(work.contract, "submit_text")


def _session(now: Standing) -> SessionResult:
    seats = [
        SeatResult(
            seat=work.seat,
            role=work.role.value,
            token=work.token,
            contract=work.contract,
            answer_with=_tool_for(work),
            prompt_characters=len(work.prompt),
        )
        for work in now.wanted
    ]
    return SessionResult(
        run=now.run,
        phase=now.phase.value,
        protocol=now.protocol,
        round=now.round,
        rounds=now.rounds,
        seats=seats,
        answered=list(now.answered),
        blocking=now.blocking,
        outcome=now.outcome.value if now.outcome else None,
        reason=_cut(now.reason),
        choices=[ChoiceResult(key=key, text=_cut(text)) for key, text in now.choices],
        notices=[_cut(notice) for notice in now.notices],
        next=_next(now),
    )


def _next(now: Standing) -> str:
    if now.phase is SessionPhase.WAITING:
        return f"A person must decide. Ask the user to run: burnish decide {now.run} KEY"
    if now.is_over:
        return f"It is over. `burnish show {now.run}` shows it to the user."
    if any(work.role is WorkRole.FIX for work in now.wanted):
        return "Give the seat to one agent that may edit: it reads its prompt, edits the files, and calls submit_fix."
    return "Give each seat to a fresh agent: it reads its prompt with read_prompt and answers. Edit nothing meanwhile."


def _working(run: str) -> SessionResult:
    return SessionResult(
        run=run,
        phase=_WORKING,
        protocol="",
        round=0,
        rounds=0,
        seats=[],
        answered=[],
        blocking=0,
        outcome=None,
        reason="",
        choices=[],
        notices=[],
        next="burnish is running checks or tests. Call session_status again; without a run, start_session_review.",
    )


def _status(account: Account) -> StatusResult:
    run = account.run
    return StatusResult(
        run=run.id,
        state=state_of(run),
        outcome=run.outcome.value if run.outcome else None,
        reason=_cut(getattr(run.phase, "reason", "")),
        protocol=run.protocol.name,
        branch=run.subject.branch,
        base=run.subject.base,
        round=len(run.rounds),
        blocking=open_blockers(run),
        findings=dict(Counter(entry.status.value for entry in run.findings)),
        seal_kinds=[kind.value for kind in run.seal_kinds] if run.seal else [],
        active=account.driver is not None,
        next=[_cut(f"{step.command}: {step.does}") for step in account.steps[:5]],
    )


def _finding(told: Mapping[str, Any], *, blocking: bool) -> FindingResult:
    return FindingResult(
        id=told["id"],
        severity=told["severity"],
        status=told["status"],
        blocking=blocking,
        category=_cut(told["category"]),
        file=told["file"],
        line=told["line"],
        title=_cut(told["title"]),
        problem=_cut(told["problem"]),
        evidence=_cut(told["evidence"]),
        suggestion=_cut(told["suggestion"]),
        found_by=list(told["found_by"]),
        round=told["round"],
    )


def _cut(text: str) -> str:
    """Text of others: without control characters, and of bounded length."""
    text = clean_text(text)
    return text if len(text) <= _TEXT else text[:_TEXT] + " … (cut)"


_READ_ONLY = {"review_status", "list_findings", "session_status", "read_prompt", "verify_seal"}


def build_server(tools: ReviewTools) -> MCPServer:
    texts = tomllib.loads(resources.files("burnish.mcp").joinpath("tools.toml").read_text(encoding="utf-8"))
    server = MCPServer("burnish", version=__version__, instructions=texts["instructions"].strip(), log_level="WARNING")
    for name, text in texts["tools"].items():
        server.add_tool(
            _telling(getattr(tools, name)),
            name=name,
            description=" ".join(text.split()),
            annotations=ToolAnnotations(read_only_hint=name in _READ_ONLY, open_world_hint=False),
        )
    return server


def serve(folder: Path, environment: Mapping[str, str]) -> None:
    """Serve until the client closes the connection."""
    main = MainThread()
    server = build_server(ReviewTools(folder, environment, main))
    main.serve(partial(anyio.run, server.run_stdio_async))
