"""A review inside a client's session: the session's own subagents review and fix, burnish hands out and judges.

This drives the same loop as every other driver, in short-lived processes: the hooks of the plugin and the MCP server.
Each call opens the ledger, appends what happened, and says what is wanted next. Whatever is burnish's own work
(validation, seals, the embedded checks) is done inside the call. The subject is the working tree: its tree is compared
when a round begins and when it is complete; the fixer edits in place; burnish commits nothing.
"""

from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from burnish.agents.answers import answers_of, contract_of, kept_text, read_review, summary_of
from burnish.agents.census import changed_files
from burnish.contracts.text import MAX_ANSWER_BYTES
from burnish.core.effects import ReachBudget, StartFix, StartReview
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import (
    AnyEvent,
    BudgetReached,
    Cancelled,
    Change,
    Decided,
    Fixed,
    Mode,
    Outcome,
    Reviewed,
    SessionAdopted,
    SessionFinished,
    StoryStatus,
    TreeChanged,
    WorkFailed,
    WorkStarted,
)
from burnish.core.evidence import Evidence, Examined, Level
from burnish.core.loop import IllegalEventError, decide
from burnish.core.protocol import ReviewBy
from burnish.core.reviews import Failure, FailureKind, Usage
from burnish.core.state import AnsweredReview, Ended, Fixing, Reviewing, Run, Waiting
from burnish.core.steps.flow import under_way
from burnish.core.text import clean_text
from burnish.core.values import Value, replace
from burnish.core.work import Running
from burnish.ledger.errors import BlobMissingError
from burnish.ledger.sqlite import SqliteLedger, look_into_ledger, open_ledger
from burnish.records.panel import FIX_PHASE, REVIEW_PHASE
from burnish.records.registry import LEFTOVER_PATHS, NO_WORK_OF_FIXERS, RECORD_PATHS
from burnish.runtime import prompting
from burnish.runtime.context import RunContext, context_of
from burnish.runtime.journal import Journal, RunError
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings, Settings
from burnish.system import clock
from burnish.system.files import make_private_directory, write_atomically
from burnish.system.locks import hold
from burnish.usecases.runs import Runs, take_over
from burnish.usecases.session_owners import (
    OwnedRun,
    SessionOwner,
    living_owner,
    own,
    owned_run,
    session_folder,
)
from burnish.usecases.write_records import RecordKeeper
from burnish.workspace.diffs import changes, difference
from burnish.workspace.repository import Repository
from burnish.workspace.subjects import commit_work_tree

SESSION_AGENT = AgentKind.SESSION.value
FIXER = "fixer"
PATIENCE = 600.0
"""Seconds to wait for another hook of the same run, which may be running the project's tests."""
_MOST_NAMED = 5
_KEPT_TRANSCRIPT = 4 * 1024 * 1024
_LEFT_OUT = (*RECORD_PATHS, *LEFTOVER_PATHS, f"{NO_WORK_OF_FIXERS[0]}**")


class SessionReviewError(BurnishError):
    """What a session asked for is not possible now."""

    kind = ErrorKind.USAGE


class NotOwnerError(SessionReviewError):
    """The run belongs to another session."""


class WorkRole(Enum):
    """What the session is asked to have done."""

    REVIEW = "review"
    FIX = "fix"


class SessionPhase(Enum):
    """Where the loop is, in the words of seed 003's records."""

    REVIEW = REVIEW_PHASE
    FIX = FIX_PHASE
    WAITING = "WAITING"
    """For a person's decision."""
    DONE = "DONE"
    STOPPED = "STOPPED"


class WantedWork(Value):
    """One piece of work for a subagent of the session."""

    role: WorkRole
    seat: str
    """The reviewer; `fixer` for the one that fixes."""
    effect: str
    attempt: int
    since: float
    """When it was handed out."""
    token: str
    """Entitles to answer, once."""
    prompt: str
    prompt_file: str
    """Where the prompt is kept."""
    contract: str
    """The form of the answer."""


class Standing(Value):
    """How a review in a session stands, and what it wants next."""

    run: str
    phase: SessionPhase
    protocol: str
    round: int
    rounds: int
    """How many there may be."""
    wanted: tuple[WantedWork, ...] = ()
    answered: tuple[str, ...] = ()
    """The reviewers of the round that have answered."""
    blocking: int = 0
    """What blocked in the last judged round."""
    outcome: Outcome | None = None
    reason: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    """What a person can decide: keys and texts."""
    notices: tuple[str, ...] = ()
    version: int = 0
    """How many events the run has: a later standing has more."""
    deadline: float | None = None
    """When the time that the run may take is used up."""
    taken_from: str = ""
    """The session that owned it until now."""
    ledger: str = ""
    """The file that holds the events."""
    root: str = ""
    """The working tree."""
    kept: tuple[str, ...] = ()
    """Folders that belong to burnish and git, which no subagent may edit."""
    checks: tuple[str, ...] = ()
    """The project's own commands, as the policy names them."""
    may_edit: bool = False
    """Whether reviewers fix what they find, too."""

    @property
    def is_over(self) -> bool:
        return self.phase in (SessionPhase.DONE, SessionPhase.STOPPED)


class Submission(Value):
    """What became of an answer."""

    accepted: bool
    standing: Standing
    problem: str = ""
    """Why it does not count."""
    may_repair: bool = False
    """Whether nothing was recorded, so that the same subagent can say it again."""


class SessionRequest(Value):
    """What a person asks for when a review begins."""

    mode: Mode = Mode.FIX
    protocol: str | None = None
    base: str | None = None
    max_rounds: int | None = None
    brief: str = ""
    intent: str = ""
    adopt: bool = False
    """Whether to take over a run whose own session still lives."""


def start_review(
    folder: Path, owner: SessionOwner, request: SessionRequest, environment: Mapping[str, str]
) -> Standing:
    """Begin a review of the working tree; or go on with the one that this session, or a dead one, has begun."""
    repository = Repository.discover(folder)
    found = _open_run(repository, owner, adopt=request.adopt)
    if found is None:
        return standing(folder, _begin(folder, owner, request, environment), environment, session=owner.session)
    former = owned_run(repository, found)
    own(repository, found, owner)
    begun = standing(folder, found, environment, session=owner.session)
    is_taken = former is not None and former.owner.session != owner.session
    return replace(begun, taken_from=former.owner.session) if former is not None and is_taken else begun


def continue_review(folder: Path, run: str, owner: SessionOwner, environment: Mapping[str, str]) -> Standing:
    """The session that owns a run goes on in another process."""
    repository = Repository.discover(folder)
    known = owned_run(repository, run)
    if known is not None and known.owner.session == owner.session:
        own(repository, run, owner)
    return standing(folder, run, environment, session=owner.session)


def standing(folder: Path, run: str, environment: Mapping[str, str], *, session: str) -> Standing:
    """Do what is burnish's own work, and say what is wanted from the session now."""
    with _opened(folder, run, environment, session) as review:
        return review.advance()


def submit_answer(
    folder: Path,
    run: str,
    token: str,
    text: str,
    environment: Mapping[str, str],
    *,
    session: str,
    transcript: bytes = b"",
    was_given: bool = True,
    repairable: bool = False,
) -> Submission:
    """Take the answer of a subagent for the work that its token stands for. It is parsed once and judged by the core.

    `was_given` says that it saw its prompt; `transcript` shows what it opened. Where `repairable`, an answer that
    cannot be read is not recorded: the same subagent is to be told the problem and asked to repeat its answer.
    """
    with _opened(folder, run, environment, session) as review:
        return review.submit(token, text, transcript, was_given=was_given, repairable=repairable)


def give_up_on_missing(folder: Path, run: str, environment: Mapping[str, str], *, session: str) -> Standing:
    """What the session was asked for again and did not bring is not asked for any more; the protocol says what then."""
    with _opened(folder, run, environment, session) as review:
        review.fail_missing()
        return review.advance()


def stop_review(folder: Path, run: str, environment: Mapping[str, str], note: str = "", *, session: str) -> Standing:
    """A person ends the review."""
    with _opened(folder, run, environment, session) as review:
        if not isinstance(review.state.phase, Ended):
            review.record(Cancelled(at=clock.now(), note=note, by="session"))
        return review.advance()


def decide_review(
    folder: Path, run: str, key: str, note: str, environment: Mapping[str, str], *, session: str
) -> Standing:
    """A person decides; the review goes on from there."""
    from burnish.usecases.submit_intent import chosen  # noqa: PLC0415 - few reviews wait

    with _opened(folder, run, environment, session) as review:
        choice = chosen(review.state.choices, key)
        if choice is None:
            keys = ", ".join(offered.key for offered in review.state.choices)
            hint = f"Choose one of {keys}." if keys else "It is not waiting for one."
            raise SessionReviewError(f"'{key}' is not a choice of {run}.", hint=hint)
        review.record(Decided(at=clock.now(), choice=choice.key, note=note, by="session"))
        return review.advance()


def look(folder: Path, run: str) -> str:
    """How a review stands, in a few lines. Nothing is changed."""
    repository = Repository.discover(folder)
    with _looking(repository) as runs:
        state = runs.load(run)
    phase = state.phase
    lines = [f"burnish: run {run}, {state.protocol.name}, round {max(len(state.rounds), 1)} of {state.limit}"]
    lines[0] += f", {phase_of(state).value}"
    if isinstance(phase, Reviewing):
        seats = (
            f"{seat.reviewer}: {'answered' if isinstance(seat.work, AnsweredReview) else 'missing'}"
            for seat in phase.seats
        )
        lines.append(", ".join(seats))
    if isinstance(phase, Ended | Waiting):
        lines.append(phase.reason)
    lines.append(f"{len(state.blockers)} findings block after the last judged round. /burnish:stop ends the review.")
    return "\n".join(lines)


def run_of_session(folder: Path, session: str) -> str | None:
    """The run of this working tree that a session owns and that has not ended."""
    repository = Repository.discover(folder)
    with _looking(repository) as runs:
        for run in _unfinished(runs):
            owned = owned_run(repository, run.id)
            if owned is not None and owned.owner.session == session:
                return run.id
    return None


# --- Beginning


def _open_run(repository: Repository, owner: SessionOwner, *, adopt: bool) -> str | None:
    """The unfinished run of a session on this branch. One whose session lives elsewhere is taken only on request."""
    branch = repository.current_branch()
    with _looking(repository) as runs:
        for run in _unfinished(runs):
            if run.subject.branch != branch:
                continue
            living = living_owner(repository, run.id)
            if living is not None and living.session != owner.session and not adopt:
                raise SessionReviewError(
                    f"'{branch}' is under review in another session: {living}, run {run.id}.",
                    hint=f"Go on there, take it over (/burnish:fix --adopt), or end it: burnish cancel {run.id}.",
                )
            return run.id
    return None


@contextmanager
def _looking(repository: Repository) -> Generator[Runs]:
    ledger = look_into_ledger(repository.state_dir) or open_ledger(repository.state_dir)
    with ledger:
        yield Runs(repository, ledger)


def _unfinished(runs: Runs) -> Iterator[Run]:
    """The sessions' runs that have not ended, the newest first."""
    from burnish.usecases.start_run import unfinished_runs  # noqa: PLC0415 - most calls know their run

    for run in unfinished_runs(runs.ledger, ()):
        if run.started.session and run.outcome is None:
            yield run


def _begin(folder: Path, owner: SessionOwner, request: SessionRequest, environment: Mapping[str, str]) -> str:
    from burnish.settings.loading import Flags  # noqa: PLC0415 - only the first call of a run plans
    from burnish.usecases.plan_run import RunRequest, plan  # noqa: PLC0415
    from burnish.usecases.start_run import begin  # noqa: PLC0415

    wanted = RunRequest(
        mode=request.mode,
        base=request.base,
        uncommitted=True,
        brief=request.brief,
        intent=request.intent,
        flags=Flags(protocol=request.protocol),
        agents=(SESSION_AGENT,),
        max_rounds=request.max_rounds,
        interactive=True,
        session=owner.session,
    )
    planned = plan(folder, wanted, environment)
    with open_ledger(planned.repository.state_dir) as ledger:
        journal = begin(
            planned,
            ledger,
            environment,
            mode=wanted.mode,
            max_rounds=wanted.max_rounds,
            interactive=wanted.interactive,
            session=owner.session,
            owner=owner.process.pid,
        )
        run = journal.state.id
        own(planned.repository, run, owner)
        journal.release()
    return run


# --- One call


@contextmanager
def _opened(folder: Path, run: str, environment: Mapping[str, str], session: str) -> Generator["_OpenReview"]:
    """A run of a session, with this process as its only writer. Raises where another session owns it by now."""
    repository = Repository.discover(folder)
    owned = owned_run(repository, run)
    if owned is None:
        raise SessionReviewError(f"No session owns a run '{run}' here.", hint="Start one: /burnish:fix.")
    if owned.owner.session != session:
        raise NotOwnerError(
            f"The review of this tree, {run}, belongs to another session now: {owned.owner}.",
            hint="This session leaves it alone. /burnish:fix --adopt takes it over.",
        )
    with (
        hold(session_folder(repository, run) / "lock", seconds=PATIENCE),
        open_ledger(repository.state_dir) as ledger,
    ):
        journal = take_over(ledger, run)
        if not journal.state.started.session:
            journal.release()
            raise RunError(f"{run} is not the run of a session.", hint=f"'burnish show {run}' shows it.")
        review = _OpenReview(repository, ledger, journal, owned, environment)
        try:
            yield review
        finally:
            review.release()


class _OpenReview:
    """The run, and everything that prompts and answers are made from."""

    def __init__(
        self,
        repository: Repository,
        ledger: SqliteLedger,
        journal: Journal,
        owned: OwnedRun,
        environment: Mapping[str, str],
    ) -> None:
        self.repository = repository
        self.ledger = ledger
        self.context: RunContext = context_of(journal.state)
        self._journal = journal
        self._owned = owned
        self._environment = environment
        self._records = RecordKeeper(repository, ledger)
        self._notices: list[str] = []

    @property
    def state(self) -> Run:
        return self._journal.state

    @property
    def settings(self) -> Settings:
        return self.context.settings

    def agent(self, name: str) -> AgentSettings:
        found = self.settings.agent(name)
        if found is None:
            raise SessionReviewError(f"There is no agent '{name}'.", hint="Define it in [agents] of burnish.toml.")
        return found

    def recall(self, digest: str) -> str:
        try:
            return self.ledger.get_blob(digest).decode("utf-8", errors="replace")
        except BlobMissingError:
            return ""

    def release(self) -> None:
        self._journal.release()

    def record(self, event: AnyEvent) -> None:
        self._journal.record(event)
        self._records.write(event, self.state)

    # What is wanted

    def advance(self) -> Standing:
        """Do burnish's own work, then hand out what the session is to do."""
        self._enter_owner()
        deadline = self._deadline()
        if deadline is not None and deadline[1] <= clock.now():
            self.record(BudgetReached(at=clock.now(), limit=deadline[0]))
        while True:
            self._own_work()
            if isinstance(self.state.phase, Ended) or not self._hand_out():
                return self._standing()

    def _enter_owner(self) -> None:
        """Enter which session drives the run, where that is another one than the events say."""
        owner, run = self._owned.owner, self.state
        if (run.session, run.owner) != (owner.session, owner.process.pid) and not isinstance(run.phase, Ended):
            self.record(SessionAdopted(at=clock.now(), session=owner.session, owner=owner.process.pid))

    def _deadline(self) -> tuple[str, float] | None:
        """The limit of minutes, and when it is reached if the session's subagents work until then."""
        if not isinstance(self.state.phase, Reviewing | Fixing) or not list(self._wanted()):
            return None
        limits = (effect for effect in decide(self.state) if isinstance(effect, ReachBudget) and effect.seconds > 0)
        return next(((limit.limit, self.state.at + limit.seconds) for limit in limits), None)

    def _own_work(self) -> None:
        """Everything that no subagent does: validation, checks, seals, pauses, the end."""
        mine = [
            effect
            for effect in decide(self.state)
            if not (isinstance(effect, StartReview | StartFix) and effect.agent == SESSION_AGENT)
        ]
        mine_runs = under_way(self.state, outside=SESSION_AGENT)
        has_work = mine and not isinstance(self.state.phase, Waiting)
        if not (has_work or mine_runs or (isinstance(self.state.phase, Ended) and self._is_unsettled())):
            return
        from burnish.usecases.drive_run import DriveOptions, drive  # noqa: PLC0415 - most answers need no work of ours

        options = DriveOptions(outside=SESSION_AGENT)
        driven = drive(self.repository, self.ledger, self._journal, self._environment, options)
        self._notices.extend(driven.notices)
        self._journal = take_over(self.ledger, driven.run.id)

    def _is_unsettled(self) -> bool:
        from burnish.runtime.settling import unsettled  # noqa: PLC0415

        return self.state.id in unsettled(self.repository) or not self.state.closed

    def _hand_out(self) -> bool:
        """Start what is to be started. True where the tree is another one, so that burnish must look again."""
        effects = [effect for effect in decide(self.state) if isinstance(effect, StartReview | StartFix)]
        if any(isinstance(effect, StartReview) for effect in effects) and not self._looks_at_tree() and self._moved():
            return True
        for effect in effects:
            prompt = self._prompt(effect)
            self._keep_prompt(effect.id, prompt)
            self.record(WorkStarted(at=clock.now(), effect=effect.id, agent=effect.agent))
        return False

    def _looks_at_tree(self) -> bool:
        """Whether a review of this tree is under way or done: then the end of the round compares."""
        phase = self.state.phase
        return isinstance(phase, Reviewing) and any(
            isinstance(seat.work, Running | AnsweredReview) for seat in phase.seats
        )

    def _moved(self) -> bool:
        """Compare the working tree with the one under review; enter the new one where they differ."""
        change = self._change()
        if change is None:
            return False
        files = tuple(file.new_path or file.path for file in change.files[:_MOST_NAMED])
        self.record(TreeChanged(at=clock.now(), change=change, files=files))
        self.repository.keep(self.state.id, change.commit)
        return True

    def _change(self) -> Change | None:
        """What the working tree is now, as a commit that no branch points to; None where it is the one under review."""
        run, repository = self.state, self.repository
        commit = commit_work_tree(repository.git, run.commit, _LEFT_OUT)
        tree = repository.tree_of(commit)
        if tree == run.tree:
            return None
        return Change(
            commit=commit,
            tree=tree,
            files=changes(repository, run.commit, commit),
            changed=changed_files(repository, self.settings, run.subject.base_commit, commit),
        )

    def _prompt(self, effect: StartReview | StartFix) -> str:
        if isinstance(effect, StartFix) or effect.session:
            return prompting.writing_prompt(self, effect, self.state)
        shown = difference(self.repository, self.state.subject.base_commit, self.state.commit)
        return prompting.review_prompt(self, effect, self.state, shown)

    def _prompt_file(self, effect: str) -> Path:
        return session_folder(self.repository, self.state.id) / f"{effect.replace(':', '-')}.md"

    def _keep_prompt(self, effect: str, prompt: str) -> None:
        path = self._prompt_file(effect)
        make_private_directory(path.parent)
        write_atomically(path, prompt.encode(errors="replace"))

    def _wanted(self) -> Iterator[WantedWork]:
        """What was handed out and has no answer."""
        phase = self.state.phase
        if isinstance(phase, Reviewing):
            for seat in phase.seats:
                if isinstance(seat.work, Running) and seat.work.agent == SESSION_AGENT:
                    yield self._work(WorkRole.REVIEW, seat.reviewer, phase.key(seat), seat.work)
        elif isinstance(phase, Fixing) and isinstance(phase.work, Running) and phase.work.agent == SESSION_AGENT:
            yield self._work(WorkRole.FIX, FIXER, phase.key, phase.work)

    def _work(self, role: WorkRole, seat: str, key: str, work: Running) -> WantedWork:
        effect = f"{key}:{work.attempt}"
        return WantedWork(
            role=role,
            seat=seat,
            effect=effect,
            attempt=work.attempt,
            since=work.since,
            token=self._owned.token(effect),
            prompt=self._prompt_file(effect).read_text(encoding="utf-8", errors="replace"),
            prompt_file=str(self._prompt_file(effect)),
            contract=contract_of(self, self.state, work.agent).value if role is WorkRole.REVIEW else "",
        )

    def _standing(self) -> Standing:
        run, phase = self.state, self.state.phase
        answered: tuple[str, ...] = ()
        if isinstance(phase, Reviewing):
            answered = tuple(seat.reviewer for seat in phase.seats if isinstance(seat.work, AnsweredReview))
        deadline = self._deadline()
        return Standing(
            run=run.id,
            phase=phase_of(run),
            protocol=run.protocol.name,
            round=phase.round if isinstance(phase, Reviewing) else max(len(run.rounds), 1),
            rounds=run.limit,
            wanted=tuple(self._wanted()),
            answered=answered,
            blocking=len(run.blockers),
            outcome=run.outcome,
            reason=phase.reason if isinstance(phase, Ended | Waiting) else "",
            choices=tuple((choice.key, choice.text) for choice in run.choices),
            notices=(*self._notices, *self._records.notices),
            version=run.version,
            deadline=deadline[1] if deadline else None,
            ledger=str(self.ledger.path),
            root=str(self.repository.root),
            kept=(str(self.repository.common_dir),),
            checks=tuple(command.text for command in self.settings.validate.commands.values()),
            may_edit=run.protocol.review.by is ReviewBy.SESSION,
        )

    # What comes back

    def submit(self, token: str, text: str, transcript: bytes, *, was_given: bool, repairable: bool) -> Submission:
        work = next((one for one in self._wanted() if one.token == token), None)
        if work is None:
            return Submission(accepted=False, standing=self.advance(), problem="this work is not wanted any more")
        answer = text.encode(errors="replace")[: MAX_ANSWER_BYTES + 1]
        problem = ""
        if work.role is WorkRole.FIX:
            self._take_fix(work, answer, transcript)
        else:
            failure = self._take_review(work, answer, transcript, was_given=was_given)
            if failure is not None:
                problem = failure.message
                if failure.kind is FailureKind.WROTE_TO_TREE:
                    return Submission(accepted=False, standing=self.advance(), problem=problem)
                if repairable:
                    standing_now = self._standing()
                    return Submission(accepted=False, standing=standing_now, problem=problem, may_repair=True)
                self.record(WorkFailed(at=clock.now(), effect=work.effect, failure=failure, usage=self._spent(work)))
        return Submission(accepted=not problem, standing=self.advance(), problem=problem)

    def _take_review(self, work: WantedWork, text: bytes, transcript: bytes, *, was_given: bool) -> Failure | None:
        """Enter a review; why it cannot be read, where it cannot."""
        run = self.state
        if run.protocol.review.by is ReviewBy.SESSION:
            return self._take_session(work, text)
        if self._is_last(work) and self._moved():
            # Whatever it says, it is about another tree.
            return Failure(kind=FailureKind.WROTE_TO_TREE, message="the working tree changed during the review")
        answer = read_review(self, run, SESSION_AGENT, run.commit, text)
        if isinstance(answer, Failure):
            return answer
        shown = difference(self.repository, run.subject.base_commit, run.commit)
        evidence = prompting.evidence_of(self, shown, SESSION_AGENT, answer, transcript, was_given=was_given)
        self.record(
            Reviewed(
                at=clock.now(),
                effect=work.effect,
                answer=answer,
                evidence=evidence,
                prompt=self._keep(work.prompt.encode(errors="replace")),
                transcript=self._keep(transcript[:_KEPT_TRANSCRIPT] or text),
                usage=self._spent(work),
            )
        )
        return None

    def _take_session(self, work: WantedWork, text: bytes) -> None:
        """Enter the work of a session that reviews and fixes: its word counts with the story's own status."""
        from burnish.runtime.stories import story_status  # noqa: PLC0415 - few protocols have stories

        run = self.state
        change = self._change() or Change(commit=run.commit, tree=run.tree, changed=run.changed)
        answer = read_review(self, run, SESSION_AGENT, change.commit, text)
        before = story_status(self.repository, run.commit, run.subject)
        self.record(
            SessionFinished(
                at=clock.now(),
                effect=work.effect,
                answer=None if isinstance(answer, Failure) else answer,
                change=change,
                status=story_status(self.repository, change.commit, run.subject),
                newly_done=before is not StoryStatus.DONE,
                evidence=Evidence(
                    examined=tuple(Examined(path=file.path, level=Level.READ) for file in change.changed)
                ),
                prompt=self._keep(work.prompt.encode(errors="replace")),
                usage=self._spent(work),
            )
        )
        self.repository.keep(run.id, change.commit)

    def _is_last(self, work: WantedWork) -> bool:
        """Whether this answer completes the round."""
        return all(one.effect == work.effect for one in self._wanted())

    def _take_fix(self, work: WantedWork, text: bytes, transcript: bytes) -> None:
        run, phase = self.state, self.state.phase
        assert isinstance(phase, Fixing)  # noqa: S101 - `_wanted` says so
        said = kept_text(text)
        change = self._change() or Change(commit=run.commit, tree=run.tree)
        effect = StartFix(id=work.effect, agent=SESSION_AGENT, attempt=work.attempt, order=phase.order)
        self.record(
            Fixed(
                at=clock.now(),
                effect=work.effect,
                change=change,
                summary=summary_of(said),
                text=said,
                answers=answers_of(effect, said),
                prompt=self._keep(work.prompt.encode(errors="replace")),
                said=self._keep(clean_text(text.decode("utf-8", errors="replace")).encode()),
                transcript=self._keep(transcript[:_KEPT_TRANSCRIPT] or text),
                usage=self._spent(work),
            )
        )
        self.repository.keep(run.id, change.commit)

    def _spent(self, work: WantedWork) -> Usage:
        return Usage(seconds=max(0.0, clock.now() - work.since))

    def _keep(self, data: bytes) -> str:
        return self.ledger.put_blob(data, clock.now())

    def fail_missing(self) -> None:
        """Enter that the session refuses: asking it once more would lead to nothing else."""
        why = "the session was asked for it three times and gave no answer"
        for work in list(self._wanted()):
            failure = Failure(kind=FailureKind.REFUSED, message=why)
            try:
                self.record(WorkFailed(at=clock.now(), effect=work.effect, failure=failure, usage=self._spent(work)))
            except IllegalEventError:
                return  # the run ended with the one before


def phase_of(run: Run) -> SessionPhase:
    """Where a run is, in the words of a session."""
    match run.phase:
        case Ended():
            return (
                SessionPhase.DONE if run.phase.outcome in (Outcome.APPROVED, Outcome.ACCEPTED) else SessionPhase.STOPPED
            )
        case Waiting():
            return SessionPhase.WAITING
        case Fixing():
            return SessionPhase.FIX
        case _:
            return SessionPhase.REVIEW
