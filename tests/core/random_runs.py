"""Random but possible runs: at every state, one of the events that a driver or a person could append."""

from collections.abc import Sequence

from hypothesis import strategies as st

from burnish.core.budget import Budget, Share
from burnish.core.effects import ReachBudget, StartTimer
from burnish.core.events import (
    EVIDENCE,
    RULES,
    AnyEvent,
    BudgetReached,
    Built,
    Cancelled,
    Change,
    Decided,
    FindingAdded,
    FindingAnnotated,
    FindingRefuted,
    FindingWaived,
    Fixed,
    Mode,
    ProcessStarted,
    Reviewed,
    Roles,
    RunStarted,
    Sealed,
    SessionFinished,
    Skipped,
    StoryStatus,
    Subject,
    TimerFired,
    TreeChanged,
    Validated,
    ValidationStatus,
    WorkFailed,
    WorkLost,
)
from burnish.core.evidence import CensusFile, Evidence, Examined, Level, Missing, Need
from burnish.core.findings import Action, Finding, FindingStatus, Location, Severity, Tracked
from burnish.core.line_changes import FileChange
from burnish.core.loop import decide
from burnish.core.protocol import (
    STANDARD_DIMENSIONS,
    Fail,
    FailureRule,
    FallbackTurn,
    OnFailure,
    Protocol,
    ReviewBy,
    RoundLimits,
    SkipReason,
    ValidateRule,
)
from burnish.core.reviews import Answer, DimensionScore, Failure, FailureKind, Former, FormerAnswer, ScoreCard, Usage
from burnish.core.state import Ended, Reviewing, Run, Stopping, Waiting
from burnish.core.steps.flow import under_way
from burnish.core.values import replace
from burnish.core.work import Assignment, ProcessMark, Running
from burnish.protocols.loader import load
from tests.core.driving import started

EPIC, TICKET, STORY, PANEL, DRIFT, DEFAULT = (
    load(name).protocol for name in ("epic", "ticket", "story", "panel", "drift", "default")
)
PROTOCOLS = [
    EPIC,
    TICKET,
    STORY,
    PANEL,
    DRIFT,
    DEFAULT,
    # Protocols that nobody ships, for the ways that the built-in ones do not take.
    replace(DEFAULT, name="duo", panel=DEFAULT.panel[:2], skip_when=tuple(SkipReason)),
    replace(EPIC, name="unchecked", validate=ValidateRule(before_first_review=False), skip_when=tuple(SkipReason)),
    replace(
        PANEL,
        name="strict pair",
        panel=PANEL.panel[:2],
        failures=FailureRule(unreadable=OnFailure.END, crashed=OnFailure.ROUND, fallback=FallbackTurn.ALTERNATE),
    ),
    replace(STORY, name="short story", exhausted=Fail(reason="no more"), limits=RoundLimits(reviews=2, hard_cap=2)),
]
FILES = ("a.py", "b.py")

locations = st.builds(Location, file=st.sampled_from(FILES), line=st.integers(1, 3))
findings = st.builds(
    Finding,
    severity=st.sampled_from(Severity),
    title=st.sampled_from(("wrong result", "error swallowed", "slow query")),
    location=st.none() | locations,
    action=st.sampled_from((Action.FIX, Action.FIX, Action.ASK, Action.NOTE)),
)
census_files = st.lists(
    st.builds(CensusFile, path=st.sampled_from(FILES), need=st.sampled_from((Need.CODE, Need.CODE, *Need))),
    max_size=2,
    unique_by=lambda file: file.path,
).map(tuple)
"""What a change touches; sometimes that is not known."""
evidence = st.builds(
    Evidence,
    examined=st.lists(
        st.builds(
            Examined,
            path=st.sampled_from((*FILES, "elsewhere.py")),
            level=st.sampled_from((Level.LINTED, Level.READ, *Level)),
        ),
        max_size=4,
    ).map(tuple),
    missing=st.none() | st.builds(Missing, reason=st.just("no tests ran"), excused=st.booleans()),
)
whole = Evidence(examined=tuple(Examined(path=path, level=Level.READ) for path in FILES))
failures = st.builds(Failure, kind=st.sampled_from(FailureKind), message=st.just("scripted"))
changes = st.builds(
    Change,
    commit=st.sampled_from(("c1", "c2", "c3")),
    tree=st.sampled_from(("t0", "t1", "t2", "t3", "t4")),
    files=st.lists(
        st.builds(
            FileChange, path=st.sampled_from(FILES), new_path=st.sampled_from((*FILES, None)), whole=st.booleans()
        ),
        max_size=2,
    ).map(tuple),
    changed=census_files,
)


budgets = st.just(Budget()) | st.builds(
    Budget,
    cost_usd=st.none() | st.sampled_from((0.0, 0.015, 0.06, 1.0, 5.0)),
    tokens=st.none() | st.sampled_from((0, 1_999, 7_000, 2_000_000)),
    minutes=st.none() | st.sampled_from((0.0, 0.2, 30.0)),
    paid=st.sampled_from((("first",), ("first", "second", "x"))),
)
"""None, or any caps, with or without anybody who is paid and follows."""


remembered = st.builds(
    Tracked,
    finding=findings.map(lambda finding: replace(finding, id=f"former {finding.title}")),
    round=st.just(0),
    last_reported_round=st.just(0),
    status=st.sampled_from((FindingStatus.OPEN, FindingStatus.WAIVED, FindingStatus.REFUTED)),
    blocking=st.just(True),
)
"""What an earlier run of the subject left open, or a person dismissed."""


@st.composite
def answers(draw: st.DrawFn, run: Run) -> Answer:
    """A readable answer: with findings, or clean; with scores, which only some gates look at."""
    if draw(st.integers(0, 2)):
        return Answer(clean=True, card=_card([95] * 6, blocking_issues=0, claimed_pass=True))
    listed = tuple(draw(st.lists(findings, max_size=3)))
    scores = draw(st.lists(st.sampled_from((60, 80, 95)), min_size=5, max_size=6))
    card = _card(scores, blocking_issues=draw(st.sampled_from((0, 0, 1))), claimed_pass=draw(st.booleans()))
    former = tuple(
        Former(id=entry.finding.id, answer=draw(st.sampled_from(FormerAnswer)))
        for entry in run.findings
        if draw(st.booleans())
    )
    return Answer(clean=not listed and draw(st.booleans()), findings=listed, card=card, former=former)


def _card(scores: Sequence[int], *, blocking_issues: int, claimed_pass: bool) -> ScoreCard:
    named = zip(STANDARD_DIMENSIONS, scores, strict=False)
    dimensions = tuple(DimensionScore(name=dimension.name, score=score) for dimension, score in named)
    return ScoreCard(dimensions=dimensions, blocking_issues=blocking_issues, claimed_pass=claimed_pass)


@st.composite
def starts(draw: st.DrawFn, protocols: list[Protocol] = PROTOCOLS) -> RunStarted:
    """Any way to begin a run."""
    protocol = draw(st.sampled_from(protocols))
    fallback = draw(st.sampled_from((None, "second")))
    assignment = Assignment(agent="first", fallback=fallback)
    return RunStarted(
        at=0.0,
        run="random",
        mode=draw(st.sampled_from(Mode)),
        subject=Subject(branch="b", base="main", base_commit="c", head="c0", tree="t0", changed=draw(census_files)),
        protocol=protocol,
        roles=Roles(review=assignment, fix=assignment, build=assignment),
        build=draw(st.booleans()),
        interactive=draw(st.booleans()),
        max_reviews=draw(st.none() | st.integers(1, protocol.limits.hard_cap)),
        budget=draw(budgets),
        rules=draw(st.sampled_from((RULES, RULES, RULES, EVIDENCE, 1))),
        allow_unexamined=draw(st.booleans()),
        local_policy=draw(st.booleans()),
        session=draw(st.sampled_from(("", "", "a-session"))),
        enforced=draw(st.booleans()),
        remembered=draw(st.lists(remembered, max_size=2, unique_by=lambda entry: entry.finding.id).map(tuple)),
    )


@st.composite
def next_event(draw: st.DrawFn, run: Run, at: float, *, only_progress: bool = False) -> AnyEvent:
    """An event that may happen now; mostly progress, sometimes a person, a budget or an edit of the tree."""
    if not only_progress and draw(st.integers(0, 39)) == 39:
        return draw(interruptions(run, at))
    phase = run.phase
    if run.started.session and isinstance(phase, Reviewing) and not only_progress and draw(st.integers(0, 19)) == 19:
        return TreeChanged(at=at, change=draw(changes.filter(lambda change: change.tree != run.tree)))
    if isinstance(phase, Waiting):
        return Decided(at=at, choice=draw(st.sampled_from(phase.choices)).key, agent=draw(st.sampled_from((None, "x"))))
    if isinstance(phase, Ended):
        return draw(interruptions(run, at))
    running = under_way(run)
    wanted = () if isinstance(phase, Stopping) else decide(run)
    options = [*running, *wanted]
    chosen = draw(st.sampled_from(options))
    if isinstance(chosen, StartTimer):
        return TimerFired(at=chosen.until, effect=chosen.id)
    if isinstance(chosen, ReachBudget):
        return BudgetReached(at=at, limit=chosen.limit)
    if not isinstance(chosen, str):
        return started(chosen, at)
    return draw(results(run, chosen, at, only_progress=only_progress))


@st.composite
def results(draw: st.DrawFn, run: Run, effect: str, at: float, *, only_progress: bool = False) -> AnyEvent:
    """What running work may come to."""
    other = draw(st.integers(0, 15))
    usage = draw(within(share_of(run, effect)))
    if other >= 14:
        return WorkFailed(at=at, effect=effect, failure=draw(failures), usage=usage)
    if other == 13 and not only_progress:
        return draw(
            st.sampled_from(
                (
                    WorkLost(at=at, effect=effect),
                    ProcessStarted(at=at, effect=effect, process=ProcessMark(pid=1, started=at)),
                )
            )
        )
    kind = effect.split(":", maxsplit=1)[0]
    if kind == "review" and run.protocol.review.by is ReviewBy.SESSION:
        return SessionFinished(
            at=at,
            effect=effect,
            answer=draw(st.none() | answers(run)),
            change=draw(changes),
            status=draw(st.sampled_from(StoryStatus)),
            newly_done=draw(st.booleans()),
            evidence=draw(st.just(whole) | evidence),
            usage=usage,
        )
    if kind == "review":
        return Reviewed(
            at=at, effect=effect, answer=draw(answers(run)), evidence=draw(st.just(whole) | evidence), usage=usage
        )
    if kind == "validate":
        return Validated(at=at, effect=effect, status=draw(st.sampled_from(ValidationStatus)))
    if kind == "seal":
        return Sealed(at=at, effect=effect, digest="seal")
    event = Fixed if kind == "fix" else Built
    return event(at=at, effect=effect, change=draw(changes), usage=usage)


def share_of(run: Run, effect: str) -> Share:
    """What running work has reserved."""
    phase = run.phase.interrupted if isinstance(run.phase, Stopping) else run.phase
    match phase:
        case Reviewing():
            works = {phase.key(seat): seat.work for seat in phase.seats}
        case Waiting() | Ended():
            works = {}
        case _:
            works = {phase.key: phase.work}
    work = works.get(effect.rpartition(":")[0])
    return (work.share if isinstance(work, Running) else None) or Share(cost_usd=0.0, tokens=0)


def within(share: Share) -> st.SearchStrategy[Usage]:
    """What work uses up that keeps to its share: nothing, some, or all of it."""
    parts = st.sampled_from((0.0, 0.3, 1.0))
    cost, tokens = share.cost_usd, share.tokens
    return st.builds(
        Usage,
        cost_usd=parts.map(lambda part: part * (1.0 if cost is None else cost)),
        tokens=parts.map(lambda part: int(part * (10_000 if tokens is None else tokens))),
    )


@st.composite
def interruptions(draw: st.DrawFn, run: Run, at: float) -> AnyEvent:
    """What people and budgets may do at any time."""
    ids = [entry.finding.id for entry in run.findings] or ["unknown"]
    return draw(
        st.sampled_from(
            (
                Cancelled(at=at),
                BudgetReached(at=at, limit="5 USD"),
                Skipped(at=at, reason=draw(st.sampled_from(SkipReason))),
                FindingWaived(at=at, finding=draw(st.sampled_from(ids)), reason="known"),
                FindingRefuted(at=at, finding=draw(st.sampled_from(ids)), evidence="shown"),
                FindingAnnotated(at=at, finding=draw(st.sampled_from(ids)), note="mind the data"),
                FindingAdded(at=at, finding=draw(findings), by="a person"),
            )
        )
    )
