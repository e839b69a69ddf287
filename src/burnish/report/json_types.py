"""The JSON objects of runs, as types: every field, what it holds and what it means. docs/reference/json.md shows them.

Fields that are `NotRequired` are there only where they apply. `Annotated[str, SomeEnum]` is a word of that enumeration.
"""

from typing import Annotated, Any, NotRequired, TypedDict

from burnish.contracts.finding_json import CountsObject, FindingObject
from burnish.core.events import Mode, Outcome
from burnish.core.evidence import Level, Need
from burnish.core.findings import FindingStatus, FixVerdict
from burnish.core.protocol import ChoiceAction
from burnish.core.reviews import FailureKind
from burnish.core.state import FixStatus, ReviewStatus, Scope, SealKind
from burnish.settings.loading import PolicyOrigin


class PolicyObject(TypedDict):
    origin: Annotated[str | None, PolicyOrigin]
    """Whose settings govern the run; null if that is not known."""
    base: str
    """The commit that the policy was read from."""
    notes: list[str]
    """Settings that were not used, and why."""


class SubjectObject(TypedDict):
    branch: str
    base: str
    """The ref that the change will be merged into."""
    head: str
    """The commit under review, with the fixes made so far."""
    tree: str
    """The exact tree of that commit."""
    paths: NotRequired[list[str]]
    """The files and folders that were reviewed, if not all. Such a review is never sealed."""
    as_is: NotRequired[bool]
    """True if files were reviewed as they are, and not a change. Such a review is never sealed either."""
    imported: NotRequired[bool]
    """True if the change adds a whole program to a base without code, so that it is judged like existing code."""


class FailureObject(TypedDict):
    kind: Annotated[str, FailureKind]
    message: str


class MissingObject(TypedDict):
    reason: str
    hint: str
    """What would change that."""
    excused: bool
    """Whether the change can be approved all the same, as in a project without tests."""


class TestsObject(TypedDict):
    ran: int
    """Tests that ran on the change."""
    reaching: int | None
    """Those of them that run changed lines; null if that is not known."""


class ReviewObject(TypedDict):
    reviewer: str
    status: Annotated[str, ReviewStatus]
    """Only `clean` means that the reviewer looked and found nothing."""
    counts: CountsObject
    agent: NotRequired[str]
    """The agent that answered; absent if the review did not run."""
    notes: NotRequired[list[str]]
    """Remarks of the reviewer that are no findings."""
    missing: NotRequired[MissingObject]
    """Why the reviewer had nothing to go on."""
    tests: NotRequired[TestsObject]
    slow: NotRequired[bool]
    """The review took longer than the protocol expects."""
    failure: NotRequired[FailureObject]
    """Why the review did not run."""


class GapObject(TypedDict):
    subject: str
    """The file or check that is not proven."""
    reason: str
    hint: str


class JudgementObject(TypedDict):
    clean: bool
    """Whether the gate passes."""
    blocking: int
    """Findings that block, those of earlier rounds included."""
    reasons: list[str]
    gaps: list[GapObject]
    """What was not examined closely enough."""


class AnswerObject(TypedDict):
    finding: str
    answer: Annotated[str, FixVerdict]
    fixed: bool
    text: str


class FixObject(TypedDict):
    status: Annotated[str, FixStatus]
    commit: str | None
    summary: str
    answers: list[AnswerObject]
    """What the fixer says of each finding that it was given. It is only a claim."""
    unknown_answers: list[AnswerObject]
    """Answers about other findings."""


class RoundObject(TypedDict):
    round: int
    scope: Annotated[str, Scope]
    """`full`: fresh eyes on the whole change; `ratchet`: the open findings and the fix."""
    reviews: list[ReviewObject]
    judgement: JudgementObject | None
    """Null if the round could not be judged, which never means clean."""
    fix: FixObject | None


class TrackedFindingObject(FindingObject):
    """All fields of [a finding](#a-finding), and what became of it."""

    count: int
    """The number of places."""
    fixable: bool
    """Whether the tool that reported it has a safe fix."""
    code: str | None
    """The text of the line."""
    status: Annotated[str, FindingStatus]
    note: str
    """Why it was refuted, waived or annotated."""
    round: int
    """The round in which it was first reported."""


class CensusObject(TypedDict):
    file: str
    need: Annotated[str, Need]
    """How closely the file must be examined."""
    level: Annotated[str, Level]
    """How closely it was examined."""
    enough: bool
    by: list[str]
    """The reviewers that examined it."""
    why: str
    """Why the file needs what it needs, if that is not obvious."""


class ChoiceObject(TypedDict):
    key: str
    """What `burnish decide` takes."""
    action: Annotated[str, ChoiceAction]
    text: str


class EscalationObject(TypedDict):
    counts: CountsObject
    """The findings that are left."""
    document: str | None
    """The file to read, if the protocol writes one."""


class SealObject(TypedDict):
    tree: str
    digest: str
    kinds: list[Annotated[str, SealKind]]
    """What the approval rests on; `approved` stands only alone."""


class BreakGlassObject(TypedDict):
    """A push or merge that went ahead without a valid seal."""

    at: str
    """Date and time, in UTC."""
    by: str
    reason: str
    tree: str
    commit: str
    base: str
    missing: str
    """Why `verify` would have refused the tree."""


class UsageObject(TypedDict):
    seconds: float
    tokens: int
    cost_usd: float


class CapsObject(TypedDict):
    """What a run may use; null for no limit."""

    cost_usd: float | None
    tokens: float | None
    minutes: float | None


class NextObject(TypedDict):
    command: str
    """As you can type it into a shell."""
    does: str
    first: str
    """What you must do by hand before."""


class RunObject(TypedDict):
    """What `review`, `fix`, `resume`, `show`, `wait`, `decide`, `cancel`, `findings` and `rehearse` print."""

    version: int
    """1. It changes only if an existing reader could misunderstand the object."""
    run: str
    """The name of the run."""
    protocol: str
    state: str
    """`running`, `waiting` or `ended`."""
    outcome: Annotated[str | None, Outcome]
    """Null until the run has ended."""
    reason: str
    """Why it ended or waits, in words."""
    policy: PolicyObject
    subject: SubjectObject
    supersedes: list[str]
    """Runs of the same subject that this one ended."""
    rounds: list[RoundObject]
    findings: list[TrackedFindingObject]
    census: list[CensusObject]
    """Each changed file with its evidence."""
    choices: list[ChoiceObject]
    """What a person can decide, if the run is waiting."""
    escalation: EscalationObject | None
    """Only while the run is waiting."""
    enforced: bool
    """False if the base's policy only reports."""
    seal: SealObject | None
    break_glass: list[BreakGlassObject]
    usage: UsageObject
    budget: CapsObject
    next: list[NextObject]
    """What you could do next."""


class OneFindingObject(TypedDict):
    """One finding of a run: what `burnish findings ID` prints."""

    version: int
    run: str
    finding: TrackedFindingObject


class ProcessObject(TypedDict):
    pid: int
    host: str


class WorkObject(TypedDict):
    effect: str
    """The name of the attempt, as `burnish logs` takes it."""
    name: str
    """The reviewer, or `fix`, `build`, `validation`, `seal`."""
    agent: str
    seconds: float
    """How long it has been at work."""
    doing: str
    """What it is doing now, in one line."""


class RowObject(TypedDict):
    run: str
    state: str
    """`running`, `waiting`, `ended` or `unreadable`."""
    reason: str
    interrupted: NotRequired[bool]
    """Work remains, and no process is driving the run. An unreadable run has only the three fields above."""
    outcome: NotRequired[Annotated[str | None, Outcome]]
    protocol: NotRequired[str]
    mode: NotRequired[Annotated[str, Mode]]
    branch: NotRequired[str]
    base: NotRequired[str]
    rounds: NotRequired[int]
    """Rounds so far."""
    limit: NotRequired[int]
    """The number of reviews at most."""
    blocking: NotRequired[int]
    """Open findings that block."""
    choices: NotRequired[list[str]]
    """Keys for `burnish decide`."""
    started_at: NotRequired[float]
    """In seconds since 1970."""
    process: NotRequired[ProcessObject | None]
    """The process that drives the run."""
    at_work: NotRequired[list[WorkObject]]


class EpicRowObject(TypedDict):
    epic: str
    """The name of this run of the epic."""
    id: str
    state: str
    outcome: Annotated[str, Outcome] | None
    tickets: int
    done: int
    failed: int


class ListObject(TypedDict):
    """The runs of a repository: what `burnish status` prints."""

    version: int
    runs: list[RowObject]
    left_out: int
    """Older runs that `--all` would add."""
    epics: NotRequired[list[EpicRowObject]]
    """The newest epics. `burnish status EPIC` shows one in full."""


class TicketObject(TypedDict):
    id: str
    title: str
    state: str
    """`pending` (dependencies are not merged), `queued`, `running`, `waiting` (for a person), `approved`, `merging`,
    `conflicting`, `completed`, `failed` or `blocked`."""
    outcome: Annotated[str | None, Outcome]
    """That of its last run; null before, and if nothing was done for it."""
    reason: str
    """Why it waits for a person, failed or is blocked."""
    critical: bool
    """Whether the epic fails with it."""
    reviewed: bool
    """False if it is only built and validated; then it is not merged."""
    priority: int | None
    """How urgent its source says that it is; 0 comes first."""
    iteration: int | None
    """The iteration that it last began in, if there are any."""
    depends_on: list[str]
    waits_for: list[str]
    """The dependencies that are not settled yet."""
    blocked_by: str | None
    """The dependency that came to nothing."""
    run: str | None
    """The run that the state is about."""
    phase: str | None
    """What that run does now, in words."""
    runs: list[str]
    """All its runs in this epic, the oldest first."""
    rounds: int
    """Rounds of reviews in all of them."""
    resolutions: int
    """How many of the runs were to resolve a conflict."""
    commit: str | None
    """The commit of the epic's branch that holds it; null if it is not merged."""
    started_at: float | None
    """In seconds since 1970."""
    settled_at: float | None
    usage: UsageObject


class EpicReviewObject(TypedDict):
    run: str
    outcome: Annotated[str | None, Outcome]
    """Null until the review has ended."""
    reason: str
    """Why it ended or waits for a person."""


class EpicObject(TypedDict):
    """What `burnish run`, and `status`, `resume` and `cancel` with the name of an epic, print."""

    version: int
    """1. It changes only if an existing reader could misunderstand the object."""
    epic: str
    """The name of this run of the epic."""
    id: str
    """The id of the epic, as its source says."""
    title: str
    source: str
    branch: str
    """The branch that approved tickets are merged into."""
    base: str
    baseline: str
    """The commit that the branch begins at."""
    tip: str
    """The commit that it is at."""
    state: str
    """`running`, `waiting` (for a person) or `ended`."""
    paused: str | None
    """The ticket after which the epic waits until you resume it."""
    interrupted: bool
    """Work remains, and no process is driving the epic."""
    outcome: Annotated[str | None, Outcome]
    """Null until the epic has ended."""
    reason: str
    started_at: float
    """In seconds since 1970."""
    ended_at: float | None
    parallel: int
    """Tickets at work at once, at most."""
    iterations: int
    """How often up to so many beads begin together, at most; 0 for sources without iterations."""
    iteration: int
    """The number of the last one that began."""
    failed_iterations: list[int]
    """Those in which a bead failed."""
    left_out: list[str]
    """What of the source is not worked on, and why, in sentences."""
    tickets: list[TicketObject]
    """Each after those that it depends on."""
    review: EpicReviewObject | None
    """The review of the whole epic; null before it begins."""
    rolled_back: str | None
    """The ref that keeps what was taken out of the branch, if the epic was rolled back."""
    pull_request: str | None
    """Its address."""
    usage: UsageObject
    """What all runs have used, those at work included."""
    budget: CapsObject
    next: list[NextObject]
    """What you could do next."""


class LogObject(TypedDict):
    effect: str
    """The name of the attempt."""
    path: str
    bytes: int


class LogsObject(TypedDict):
    """What `burnish logs` prints."""

    version: int
    run: str
    removed: bool
    """Whether logs of the run were removed."""
    logs: list[LogObject]


class ViewObject(TypedDict):
    name: str
    session: str
    """The tmux session."""


class ViewsObject(TypedDict):
    """The agents that can be watched: what `burnish attach` prints."""

    version: int
    run: str
    agents: list[ViewObject]


class SettingObject(TypedDict):
    value: Any
    origin: str
    """File and line, variable or flag."""


class SettingsObject(TypedDict):
    """What `burnish config show` prints."""

    version: int
    policy: Annotated[str, PolicyOrigin]
    settings: dict[str, SettingObject]
    """By the key in full."""
