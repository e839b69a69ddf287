"""An epic as text for people and as a JSON object: its plan, its tickets as a graph, what happens, and how it ended."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from burnish.contracts.markdown.inert import inert
from burnish.contracts.text import bounded
from burnish.core.budget import Cap, dollars
from burnish.core.epics.effects import BeginTicket
from burnish.core.epics.events import (
    AnyEpicEvent,
    DriverLost,
    EpicCancelled,
    EpicReviewContinued,
    EpicReviewEnded,
    EpicReviewStarted,
    EpicReviewWaits,
    EpicStarted,
    IterationStarted,
    MergeConflicted,
    MergeMethod,
    MergeRefused,
    OverlapRule,
    PullRequestFailed,
    PullRequestOpened,
    RolledBack,
    TicketContinued,
    TicketEnded,
    TicketMerged,
    TicketReturned,
    TicketStarted,
    TicketWaits,
)
from burnish.core.epics.loop import evolve
from burnish.core.epics.plan import EpicPlan, Ticket, branch_of, counted
from burnish.core.epics.schedule import decide
from burnish.core.epics.state import (
    Epic,
    EpicNotReviewed,
    EpicReviewed,
    EpicUnderReview,
    TicketApproved,
    TicketBlocked,
    TicketCompleted,
    TicketConflicting,
    TicketFailed,
    TicketMerging,
    TicketPending,
    TicketProgress,
    TicketRunning,
    TicketSkipped,
    TicketWaiting,
    is_unreviewed,
    run_of,
)
from burnish.core.events import Outcome
from burnish.core.reviews import Usage
from burnish.core.state import Run
from burnish.report import words
from burnish.report.account import NextStep, work_in_progress
from burnish.report.json_objects import VERSION, usage_object
from burnish.report.json_types import EpicObject, EpicReviewObject, EpicRowObject, TicketObject
from burnish.report.output import Line, Tone, Toned, cut, flat, width
from burnish.report.text import step_lines
from burnish.system.shell import shell_line

_GOOD = (Outcome.APPROVED, Outcome.ACCEPTED)
_LONGEST = 300
"""Most characters of a reason."""
_NAME_COLUMNS = 28
"""Most columns of a ticket's name, with its indentation."""
_DEEPEST = 6
"""Levels of the graph that are set in; those below them stand under each other."""
_COLUMNS = 80
"""A line for a ticket has room in the narrowest terminal that people use, unless its names are long."""
_ASKED = 3
"""Tickets that wait for a person whose commands are shown."""


class InTheWay(NamedTuple):
    """Files of the checkout that are not committed and that a merge of the epic's branch would change."""

    own: tuple[str, ...] = ()
    """As burnish left them: the branch and the ledger hold what they say."""
    other: tuple[str, ...] = ()
    """With work of the user's."""


_NOTHING = InTheWay()


class _Words(NamedTuple):
    """A ticket in a line: a sign, the state in one word, which programs read, and what is told to people."""

    mark: str
    tone: Tone
    state: str
    text: str
    reason: str = ""


# --- where a ticket is -------------------------------------------------------------------------------------------


def _told(epic: Epic, one: TicketProgress, runs: Mapping[str, Run], now: float, *, driver: bool = True) -> _Words:
    state = one.state
    match state:
        case TicketPending():
            return _not_begun(epic, one)
        case TicketRunning():
            badges = epic.plan.kind == "beads"
            return _at_work(state, runs.get(state.run), now, driver=driver, badges=badges)
        case TicketWaiting():
            return _Words("?", Tone.CAREFUL, "waiting", "waits for a person", _short(state.reason))
        case TicketApproved() | TicketMerging() | TicketConflicting():
            return _not_merged(state)
        case TicketCompleted():
            return _completed(one, state)
        case TicketFailed():
            look = f" (burnish show {state.run})" if state.run in runs else ""
            return _Words("✗", Tone.BAD, "failed", state.outcome.value, f"{_short(state.reason)}{look}")
        case TicketSkipped():
            return _Words("–", Tone.CAREFUL, "skipped", "skipped", _short(state.reason))
        case TicketBlocked():
            return _Words("–", Tone.BAD, "blocked", f"blocked: {_short(state.reason)}")


def _not_begun(epic: Epic, one: TicketProgress) -> _Words:
    waits = epic.waits_for(one.ticket)
    if waits:
        return _Words("·", Tone.FAINT, "pending", f"waits for {_names(waits)}")
    return _Words("·", Tone.FAINT, "queued", "ready, waits for a free place")


def _at_work(state: TicketRunning, run: Run | None, now: float, *, driver: bool, badges: bool = False) -> _Words:
    """`badges`: reviews and fixes are called as in the live lines: `REVIEW bd-7 reviewer`, `FIX bd-7 1/5`."""
    doing = "starting" if run is None else words.phase_words(run.phase)
    if badges and run is not None:
        doing = ", ".join(work.label for work in work_in_progress(run) if work.label) or doing
    since = [work.since for work in work_in_progress(run)] if run is not None else []
    lasts = f", {words.duration(now - min(since))}" if since and driver else ""
    text = f"{doing}{lasts}" if driver else f"interrupted: {doing}"
    reason = f"Resolves {_short(state.conflict.words)}" if state.conflict is not None else ""
    return _Words("…", Tone.STRONG if driver else Tone.CAREFUL, "running", text, reason)


def _not_merged(state: TicketApproved | TicketMerging | TicketConflicting) -> _Words:
    match state:
        case TicketApproved():
            return _Words("…", Tone.PLAIN, "approved", f"{state.outcome.value}, not merged yet")
        case TicketMerging():
            return _Words("…", Tone.PLAIN, "merging", f"{state.approved.outcome.value}, being merged")
        case TicketConflicting():
            reason = f"It cannot be merged yet: {_short(state.conflict.words)}"
            return _Words("…", Tone.CAREFUL, "conflicting", f"{state.approved.outcome.value}, conflicting", reason)


def _completed(one: TicketProgress, state: TicketCompleted) -> _Words:
    if not state.run:
        text = "done before, as the source says"
    elif not state.commit:
        where = f"The work is on burnish/{state.run}"
        return _Words("–", Tone.CAREFUL, "completed", "built, not reviewed, not merged", where)
    elif not one.runs:
        text = "merged by an earlier run of the epic"
    else:
        text = "merged" if state.outcome is Outcome.APPROVED else f"merged, {state.outcome.value} by a person"
    return _Words("✓", Tone.GOOD, "completed", text)


def _short(text: str) -> str:
    return bounded(flat(text), _LONGEST)


def _names(names: Sequence[str], most: int = 3) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(flat, names[:most])) + more


def _usage(one: TicketProgress, runs: Mapping[str, Run]) -> Usage:
    """What a ticket used up, the run that is at work included."""
    at_work = runs.get(run_of(one.state)) if isinstance(one.state, TicketRunning | TicketWaiting) else None
    return one.usage if at_work is None else _sum(one.usage, at_work.usage)


def _whole_usage(epic: Epic, runs: Mapping[str, Run]) -> Usage:
    used = epic.usage
    for one in (*epic.running, *epic.waiting):
        used = _sum(used, runs[run_of(one.state)].usage) if run_of(one.state) in runs else used
    review = epic.review
    return _sum(used, runs[review.run].usage) if isinstance(review, EpicUnderReview) and review.run in runs else used


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        seconds=one.seconds + other.seconds,
        tokens=one.tokens + other.tokens,
        cost_usd=one.cost_usd + other.cost_usd,
    )


# --- where the epic is -------------------------------------------------------------------------------------------


def epic_lines(
    epic: Epic, runs: Mapping[str, Run], *, driver: bool, now: float, in_the_way: InTheWay = _NOTHING
) -> Iterator[Line]:
    """The epic and its tickets, each below what it waits for, and what a person could do next.

    `driver`: whether a process drives it now.
    """
    yield from _head(epic, runs, driver=driver, now=now)
    yield ()
    placed = _graph(epic)
    names = [_name(one, depth) for one, depth in placed]
    wide = max(map(width, names), default=0)
    for (one, _), name in zip(placed, names, strict=True):
        told = _told(epic, one, runs, now, driver=driver)
        gap = " " * (wide - width(name) + 2)
        details = _fitting(_details(one, runs, now), _COLUMNS - wide - 4 - width(told.text))
        yield Toned(told.mark, told.tone), f" {name}{gap}", Toned(told.text, told.tone), Toned(details, Tone.FAINT)
        if told.reason:
            yield (f"      {told.reason}",)
    yield from _review_lines(epic, runs, now)
    yield from _end_lines(epic)
    steps = tuple(epic_steps(epic, runs, driver=driver, in_the_way=in_the_way))
    if steps:
        yield ()
        yield from step_lines(steps)


def _head(epic: Epic, runs: Mapping[str, Run], *, driver: bool, now: float) -> Iterator[Line]:
    state = _state_word(epic, driver=driver)
    reason = f": {_short(epic.end.reason)}" if epic.end is not None else ""
    yield Toned(epic.id, Tone.STRONG), ": ", state, reason
    title = f": {flat(epic.plan.title)}" if epic.plan.title else ""
    yield (f"  {flat(epic.plan.id)}{title}",)
    yield (f"  {flat(epic.started.branch)} against {flat(epic.started.base)}, {_taken(epic, runs, now)}",)
    yield (f"  {_counts(epic)}",)
    if epic.paused and epic.end is None:
        yield (f"  {_paused(epic)}",)
    yield from _loop_lines(epic)


def _loop_lines(epic: Epic) -> Iterator[Line]:
    """Where a loop of iterations is, and what may surprise in it."""
    if not epic.started.iterations:
        return
    failed = f", failed: {', '.join(map(str, epic.failed_iterations))}" if epic.failed_iterations else ""
    tone = Tone.BAD if failed else Tone.PLAIN
    yield f"  iteration {epic.iteration} of at most {epic.started.iterations}", Toned(failed, tone)
    if _is_unreviewed(epic.plan):
        yield "  ", Toned("REVIEW OFF", Tone.CAREFUL), ": what is built is neither approved, sealed nor merged"
    yield from ((f"  {flat(sentence)}",) for sentence in epic.plan.left_out)


def _is_unreviewed(plan: EpicPlan) -> bool:
    return bool(plan.tickets) and not any(ticket.reviewed for ticket in plan.tickets)


def _paused(epic: Epic) -> str:
    return f"Paused after {flat(epic.paused)}: a person looks at it before the next one begins."


def _taken(epic: Epic, runs: Mapping[str, Run], now: float) -> str:
    """Time, and money or tokens where there are any, with the cap of the epic."""
    used, budget = _whole_usage(epic, runs), epic.started.budget
    parts = [words.duration((epic.end.at if epic.end else now) - epic.started.at)]
    if used.cost_usd or budget.cost_usd is not None:
        most = "" if budget.cost_usd is None else f" of ${dollars(budget.cost_usd)}"
        parts.append(f"${dollars(used.cost_usd)}{most}")
    if budget.tokens is not None:
        parts.append(f"{used.tokens:,} of {budget.tokens:,} tokens")
    return ", ".join(parts)


def _counts(epic: Epic) -> str:
    """`12 tickets: 4 done, 2 running, 1 failed`."""
    kinds = {
        "done": TicketCompleted,
        "running": TicketRunning,
        "to be merged": TicketApproved | TicketMerging | TicketConflicting,
        "waiting for a person": TicketWaiting,
        "not begun": TicketPending,
        "failed": TicketFailed,
        "skipped": TicketSkipped,
        "blocked": TicketBlocked,
    }
    states = [one.state for one in epic.tickets.values()]
    found = {name: sum(isinstance(state, kind) for state in states) for name, kind in kinds.items()}
    unreviewed = sum(map(is_unreviewed, states))
    found |= {"done": found["done"] - unreviewed, "unreviewed": unreviewed}
    told = ", ".join(f"{amount} {name}" for name, amount in found.items() if amount)
    return f"{counted(epic.plan, len(states))}: {told or 'nothing to do'}"


def _state_word(epic: Epic, *, driver: bool) -> Toned:
    """One word: `running`, `stopping`, `waiting`, `interrupted`, or the outcome."""
    if epic.end is not None:
        outcome = epic.end.outcome
        good = outcome in (*_GOOD, Outcome.SKIPPED)
        tone = Tone.GOOD if good else Tone.CAREFUL if outcome is Outcome.UNPROVEN else Tone.BAD
        return Toned(outcome.value, tone)
    if driver:
        return Toned("stopping" if epic.cancelled is not None else "running", Tone.PLAIN)
    if epic.paused:
        return Toned("paused", Tone.CAREFUL)
    return Toned("waiting" if _only_waits(epic) else "interrupted", Tone.CAREFUL)


def _only_waits(epic: Epic) -> bool:
    """Whether nothing can go on before a person has decided."""
    review = epic.review
    waits = bool(epic.waiting) or (isinstance(review, EpicUnderReview) and bool(review.waits)) or bool(epic.paused)
    return waits and all(effect.id.startswith("watch:") for effect in decide(epic))


def _graph(epic: Epic) -> list[tuple[TicketProgress, int]]:
    """The tickets, each after all that it depends on and below the last of them, and how far it is set in."""
    after: dict[str, list[str]] = {}
    for name, one in epic.tickets.items():
        for needed in one.ticket.depends_on:
            after.setdefault(needed, []).append(name)
    placed: dict[str, int] = {}
    left = [(name, 0) for name, one in reversed(epic.tickets.items()) if not one.ticket.depends_on]
    while left:
        name, depth = left.pop()
        needs = epic.tickets[name].ticket.depends_on
        if name not in placed and all(needed in placed or needed not in epic.tickets for needed in needs):
            placed[name] = depth
            left += [(below, depth + 1) for below in reversed(after.get(name, ()))]
    rest = {name: 0 for name in epic.tickets if name not in placed}
    return [(epic.tickets[name], depth) for name, depth in {**placed, **rest}.items()]


def _name(one: TicketProgress, depth: int) -> str:
    return cut(f"{'  ' * min(depth, _DEEPEST)}{flat(one.ticket.id)}", _NAME_COLUMNS)


def _fitting(details: Iterable[str], columns: int) -> str:
    """As many of them as there is room for: the last ones matter most."""
    left = [f" · {detail}" for detail in details]
    while sum(map(width, left)) > columns and left:
        left.pop(0)
    return "".join(left)


def _details(one: TicketProgress, runs: Mapping[str, Run], now: float) -> Iterator[str]:
    rounds = sum(len(runs[name].rounds) for name in one.runs if name in runs)
    if rounds > 1:
        yield words.number(rounds, "review")
    if len(one.runs) > 1:
        yield words.number(len(one.runs), "run")
    if one.started_at:
        yield words.duration((one.settled_at or now) - one.started_at)
    cost = _usage(one, runs).cost_usd
    if cost:
        yield f"${dollars(cost)}"


def _review_lines(epic: Epic, runs: Mapping[str, Run], now: float) -> Iterator[Line]:
    review = epic.review
    whole = "review of the whole epic: "
    match review:
        case EpicNotReviewed():
            pass
        case EpicUnderReview() if review.waits:
            yield Toned("?", Tone.CAREFUL), f" {whole}", Toned("waits for a person", Tone.CAREFUL)
            yield (f"      {_short(review.waits)}",)
        case EpicUnderReview():
            told = _at_work(TicketRunning(run=review.run, onto=review.onto), runs.get(review.run), now, driver=True)
            yield "…", f" {whole}{told.text}"
        case EpicReviewed():
            good = review.outcome in _GOOD
            tone = Tone.GOOD if good else Tone.BAD
            yield Toned("✓" if good else "✗", tone), f" {whole}", Toned(review.outcome.value, tone)
            yield (f"      {_short(review.reason)}",)


def _end_lines(epic: Epic) -> Iterator[Line]:
    """What became of the branch."""
    branch = flat(epic.started.branch)
    if epic.rolled_back:
        yield (f"{branch} is back at {epic.started.baseline[:12]}. What it held is kept: {flat(epic.rolled_back)}",)
    elif epic.rolled_back is not None:
        yield (f"{branch} could not be moved back: it still holds what was merged.",)
    if epic.pull_request:
        yield (f"Pull request: {flat(epic.pull_request)}",)
    elif epic.pull_request is not None:
        yield ("The pull request could not be opened.",)


# --- what comes next ---------------------------------------------------------------------------------------------


def epic_steps(
    epic: Epic, runs: Mapping[str, Run], *, driver: bool, in_the_way: InTheWay = _NOTHING
) -> Iterator[NextStep]:
    """What a person could do, the likeliest first."""
    if epic.end is not None:
        yield from _steps_after(epic, epic.end.outcome, in_the_way)
        return
    asked = [run_of(one.state) for one in epic.waiting]
    if isinstance(epic.review, EpicUnderReview) and epic.review.waits:
        asked.append(epic.review.run)
    for name in asked[:_ASKED]:
        yield from _decisions(name, runs.get(name))
    if not driver:
        resume = shell_line("burnish", "resume", epic.id)
        first = "Decide what is waiting" if _only_waits(epic) and asked else ""
        yield NextStep(first=first, command=resume, does="continues the epic")


def _decisions(name: str, run: Run | None) -> Iterator[NextStep]:
    choices = () if run is None else run.choices
    if run is None or not choices:
        yield NextStep(command=shell_line("burnish", "show", name), does="shows what it waits for")
        return
    for choice in choices:
        does = f"{flat(run.subject.story_or_branch)}: {flat(words.choice_words(choice))}"
        yield NextStep(command=shell_line("burnish", "decide", name, choice.key), does=does)


def _steps_after(epic: Epic, outcome: Outcome, in_the_way: InTheWay) -> Iterator[NextStep]:
    branch, base = epic.started.branch, epic.started.base
    if epic.rolled_back:
        show = shell_line("git", "log", "--oneline", f"{epic.started.baseline[:12]}..{epic.rolled_back}")
        yield NextStep(command=show, does="shows the work that was rolled back")
    if outcome in _GOOD and not epic.pull_request:
        if epic.started.pull_request:
            create = shell_line("gh", "pr", "create", "--base", base, "--head", branch)
            yield NextStep(command=create, does="opens the pull request")
        room = list(_room(in_the_way))
        merge = " && ".join([*room, shell_line("git", "switch", base), shell_line("git", "merge", branch)])
        kept = f"; {words.number(len(in_the_way.other), 'file')} of yours in the way: git stash keeps it"
        yield NextStep(command=merge, does=f"takes the epic into {flat(base)}{kept if in_the_way.other else ''}")
        if room and any(isinstance(one.state, TicketSkipped) and one.state.run for one in epic.tickets.values()):
            again = shell_line("burnish", "records", "rebuild", epic.id)
            yield NextStep(first="Then", command=again, does="marks the stories that were skipped")
    if outcome not in (*_GOOD, Outcome.SKIPPED):
        again = shell_line("burnish", "run", epic.plan.source, *_limited_to(epic))
        does = "starts it again, without the tickets that are merged" if epic.merged else "starts it again"
        yield NextStep(command=again, does=does)
    if any(is_unreviewed(one.state) for one in epic.tickets.values()) and epic.started.iterations:
        review = shell_line("burnish", "run", epic.plan.source, *_limited_to(epic), "--review")
        yield NextStep(command=review, does="reviews what was built, and merges what is approved")


def _limited_to(epic: Epic) -> tuple[str, ...]:
    """The option by which the same part of a list is named again."""
    top = epic.started.request.get("top", "")
    return ("--top-level-bead", str(top)) if top else ()


def _room(in_the_way: InTheWay) -> Iterator[str]:
    """The commands after which a merge can write the files that are in its way."""
    if in_the_way.own:
        yield shell_line("git", "restore", "--", *in_the_way.own)
    if in_the_way.other:
        yield shell_line("git", "stash", "push", "--include-untracked", "--", *in_the_way.other)


def epic_summary(epic: Epic, runs: Mapping[str, Run], in_the_way: InTheWay = _NOTHING) -> Iterator[Line]:
    """The end of a command that drove an epic: what came to nothing, how it ended, and what comes next."""
    yield ()
    for one in epic.tickets.values():
        told = _told(epic, one, runs, epic.at, driver=False)
        if told.mark in "✗–?":
            reason = f": {told.reason}" if told.reason else ""
            yield "  ", Toned(told.mark, told.tone), f" {flat(one.ticket.id)}: ", Toned(told.text, told.tone), reason
    yield from (("  ", *line) for line in _review_lines(epic, runs, epic.at))
    yield (_counts(epic),)
    state = _state_word(epic, driver=False)
    if epic.end is not None:
        yield state, f": {_short(epic.end.reason)}"
    else:
        yield state, f": {_paused(epic)}" if epic.paused else ""
    yield (f"Took {_taken(epic, runs, epic.at)}.",)
    yield from _end_lines(epic)
    yield from step_lines(tuple(epic_steps(epic, runs, driver=False, in_the_way=in_the_way)))


def epic_markdown(epic: Epic) -> str:
    """An epic whose tickets were approved one by one, for a pull request."""
    lines = [f"# {inert(flat(epic.plan.title or epic.plan.id))}", ""]
    for one in epic.tickets.values():
        told = _told(epic, one, {}, epic.at, driver=False)
        title = f": {flat(one.ticket.title)}" if one.ticket.title not in ("", one.ticket.id) else ""
        lines.append("- " + inert(f"{told.mark} {flat(one.ticket.id)}{title} ({told.text})"))
    return "\n".join([*lines, "", "Each was approved by itself; the whole was not reviewed together.", ""])


# --- the plan ----------------------------------------------------------------------------------------------------


def dry_run_lines(started: EpicStarted, agents: Mapping[str, str], cost: str) -> list[str]:
    """What would happen: branches, agents by what they do, the order of the tickets, and what it may cost."""
    epic = evolve(None, started)
    plan = started.plan
    count, title = counted(plan, len(plan.tickets)), f": {flat(plan.title)}" if plan.title else ""
    squash = ", squashed" if started.method is MergeMethod.SQUASH else ""
    lines = [
        f"Epic {flat(plan.id)}{title}",
        f"  {count} in {flat(plan.source)}, at most {started.parallel} at a time",
        f"  each on its own branch {branch_of(plan, 'ID')}, merged into {flat(started.branch)}{squash}",
        f"  {flat(started.branch)} {_begins(epic)}",
    ]
    lines += [f"  {role}: {flat(agent)}" for role, agent in agents.items()]
    if started.iterations:
        pause = f", {started.pause:g} s apart" if started.pause else ""
        lines.append(f"  at most {words.number(started.iterations, 'iteration')}{pause}")
    if _is_unreviewed(plan):
        lines.append("  REVIEW OFF: what is built is neither approved, sealed nor merged")
    if started.overlap is OverlapRule.SERIALISE:
        lines.append("  tickets that change the same files run one after the other")
    order = _order(epic)
    at_once = {effect.ticket for effect in decide(epic) if isinstance(effect, BeginTicket)}
    wide = max((width(cut(flat(ticket.id), _NAME_COLUMNS)) for ticket in order), default=0)
    nothing = "No bead is open and free." if started.iterations else "All tickets are done."
    lines += ["", "Order:"] if order else ["", nothing]
    for number, ticket in enumerate(order, start=1):
        name = cut(flat(ticket.id), _NAME_COLUMNS)
        lines.append(f"{number:>4}. {name}{' ' * (wide - width(name))}  {_turn(epic, ticket, at_once)}")
    done = [name for name, one in epic.tickets.items() if isinstance(one.state, TicketCompleted)]
    if done:
        lines.append(f"Done already: {_names(done, words.MOST_NAMED)}")
    then = f"Then {flat(started.branch)} is reviewed as a whole against {flat(started.base)}"
    if _is_unreviewed(plan):
        then = "Nothing is merged; --review has the work reviewed"
    elif not plan.reviewed_whole:
        then = "Each is approved by itself; --review-whole reviews all of it together as well"
    lines += ["", then + (", and a pull request is opened." if started.pull_request else ".")]
    return [*lines, f"Estimated cost: {flat(cost)}"] if cost else lines


def _begins(epic: Epic) -> str:
    if epic.started.tip:
        return f"exists already, at {epic.started.tip[:12]}"
    return f"begins at {flat(epic.started.base)} ({epic.started.baseline[:12]})"


def _turn(epic: Epic, ticket: Ticket, at_once: set[str]) -> str:
    waits = epic.waits_for(ticket)
    when = "starts at once" if ticket.id in at_once else f"after {_names(waits)}" if waits else "when a place is free"
    marks = {"critical": ticket.critical, "not reviewed": not ticket.reviewed}
    return when + "".join(f", {mark}" for mark, holds in marks.items() if holds)


def _order(epic: Epic) -> list[Ticket]:
    """The tickets that are to be done, in the order in which they would begin if each took equally long."""
    urgent = epic.ranks
    open_ = {name: set(epic.waits_for(one.ticket)) for name, one in epic.tickets.items()}
    todo = {name for name, one in epic.tickets.items() if isinstance(one.state, TicketPending)}
    after: dict[str, list[str]] = {}
    for name in todo:
        for needed in open_[name]:
            after.setdefault(needed, []).append(name)
    ready = [(urgent[name], name) for name in todo if not open_[name]]
    heapify(ready)
    order: list[Ticket] = []
    while ready:
        together = [heappop(ready)[1] for _ in range(min(epic.started.parallel, len(ready)))]
        order += [epic.tickets[name].ticket for name in together]
        for done in together:
            for below in after.get(done, ()):
                open_[below].discard(done)
                if not open_[below]:
                    heappush(ready, (urgent[below], below))
    return order


# --- what happens ------------------------------------------------------------------------------------------------


def event_line(event: AnyEpicEvent, epic: Epic) -> str | None:
    """One event in a short line; None for those that are not worth one. `epic` is the state after it."""
    match event:
        case IterationStarted() | TicketReturned():
            return flat(_iteration_event(event, epic))
        case TicketStarted() | TicketContinued() | TicketWaits() | TicketEnded() | MergeConflicted() | MergeRefused():
            return flat(_ticket_event(event, epic))
        case TicketMerged():
            done = sum(isinstance(one.state, TicketCompleted) for one in epic.tickets.values())
            return flat(f"✓ {event.ticket}: merged into {epic.started.branch} ({done} of {len(epic.tickets)} done)")
        case DriverLost():
            return flat(_lost(event, epic))
        case EpicReviewStarted() | EpicReviewContinued() | EpicReviewWaits() | EpicReviewEnded():
            return _review_event(event)
        case RolledBack() | PullRequestOpened() | PullRequestFailed():
            return _branch_event(event, epic)
        case EpicCancelled():
            return f"– cancelled: {_short(event.note)}" if event.note else "– cancelled"
        case _:
            return None


def _iteration_event(event: IterationStarted | TicketReturned, epic: Epic) -> str:
    """That an iteration began, or why a bead came back."""
    if isinstance(event, IterationStarted):
        return f"iteration {event.number} of at most {epic.started.iterations}"
    if isinstance(epic.tickets[event.ticket].state, TicketFailed):
        return _settled(epic, epic.tickets[event.ticket], event.at)
    if event.picked:
        return f"– {event.ticket}: open again; its agent worked on {event.picked} instead"
    if event.wait:
        return f"– {event.ticket}: open again, tried again in {words.duration(event.wait)}: {_short(event.reason)}"
    return f"– {event.ticket}: open again; its agent said that no bead is left, so nothing more begins"


def _review_event(event: EpicReviewStarted | EpicReviewContinued | EpicReviewWaits | EpicReviewEnded) -> str:
    match event:
        case EpicReviewStarted() | EpicReviewContinued():
            return f"… review of the whole epic: run {event.run}"
        case EpicReviewWaits():
            return f"? review of the whole epic: waits for a person: {_short(event.reason)}"
        case EpicReviewEnded():
            mark = "✓" if event.outcome in _GOOD else "✗"
            return f"{mark} review of the whole epic: {event.outcome.value}: {_short(event.reason)}"


def _ticket_event(
    event: TicketStarted | TicketContinued | TicketWaits | TicketEnded | MergeConflicted | MergeRefused, epic: Epic
) -> str:
    name = event.ticket
    match event:
        case TicketStarted():
            doing = f", to resolve {event.conflict.words}" if event.conflict is not None else ""
            return f"… {name}: run {event.run}{doing}"
        case TicketContinued():
            return f"… {name}: continues"
        case TicketWaits():
            return f"? {name}: waits for a person: {_short(event.reason)}"
        case TicketEnded() if isinstance(epic.tickets[name].state, TicketApproved):
            return f"✓ {name}: {event.outcome.value}"
        case MergeConflicted() if isinstance(epic.tickets[name].state, TicketConflicting):
            return f"– {name}: {event.conflict.words}; an agent is going to resolve that"
        case _:
            return _settled(epic, epic.tickets[name], event.at)


def _settled(epic: Epic, one: TicketProgress, at: float) -> str:
    """How a ticket ended that was not merged, and what it takes with it."""
    told = _told(epic, one, {}, at)
    reason = f": {told.reason}" if told.reason else ""
    lost = [
        name
        for name, other in epic.tickets.items()
        if isinstance(other.state, TicketBlocked) and other.settled_at == at
    ]
    return f"{told.mark} {one.ticket.id}: {told.text}{reason}" + (f". Blocks {_names(lost)}" if lost else "")


def _lost(event: DriverLost, epic: Epic) -> str:
    one = next((one for one in epic.tickets.values() if event.run in one.runs), None)
    if one is not None and isinstance(one.state, TicketFailed):
        return _settled(epic, one, event.at)
    name = "review of the whole epic" if one is None else one.ticket.id
    return f"✗ {name}: its process ended, and is started again: {_short(event.reason)}"


def _branch_event(event: RolledBack | PullRequestOpened | PullRequestFailed, epic: Epic) -> str:
    match event:
        case RolledBack():
            return f"– {''.join(str(part) for line in _end_lines(epic) for part in line)}"
        case PullRequestOpened():
            return f"✓ pull request: {flat(event.url)}"
        case PullRequestFailed():
            return f"✗ no pull request: {_short(event.reason)}"


# --- JSON --------------------------------------------------------------------------------------------------------


def epic_row(epic: Epic, *, driver: bool) -> EpicRowObject:
    """An epic in the list of `burnish status`."""
    states = [one.state for one in epic.tickets.values()]
    return {
        "epic": epic.id,
        "id": epic.plan.id,
        "state": _state_word(epic, driver=driver).text,
        "outcome": epic.end.outcome.value if epic.end else None,
        "tickets": len(states),
        "done": sum(isinstance(state, TicketCompleted) for state in states),
        "failed": sum(isinstance(state, TicketFailed | TicketBlocked) for state in states),
    }


def epic_row_line(epic: Epic, *, driver: bool) -> Line:
    return f"epic {flat(epic.plan.id)}: ", _state_word(epic, driver=driver), f", {_counts(epic)}"


def epic_object(
    epic: Epic, runs: Mapping[str, Run], *, driver: bool = True, in_the_way: InTheWay = _NOTHING
) -> EpicObject:
    """`driver`: whether a process drives it now."""
    caps = epic.started.budget.caps
    waits = _only_waits(epic) if epic.end is None else False
    return {
        "version": VERSION,
        "epic": epic.id,
        "id": epic.plan.id,
        "title": epic.plan.title,
        "source": epic.plan.source,
        "branch": epic.started.branch,
        "base": epic.started.base,
        "baseline": epic.started.baseline,
        "tip": epic.tip,
        "state": "ended" if epic.end else "waiting" if waits else "running",
        "paused": epic.paused or None,
        "interrupted": not driver and epic.end is None and not waits,
        "outcome": epic.end.outcome.value if epic.end else None,
        "reason": epic.end.reason if epic.end else "",
        "started_at": epic.started.at,
        "ended_at": epic.end.at if epic.end else None,
        "parallel": epic.started.parallel,
        "iterations": epic.started.iterations,
        "iteration": epic.iteration,
        "failed_iterations": list(epic.failed_iterations),
        "left_out": list(epic.plan.left_out),
        "tickets": [_ticket_object(epic, one, runs) for one, _ in _graph(epic)],
        "review": _review_object(epic),
        "rolled_back": epic.rolled_back or None,
        "pull_request": epic.pull_request or None,
        "usage": usage_object(_whole_usage(epic, runs)),
        "budget": {
            "cost_usd": caps.get(Cap.COST),
            "tokens": caps.get(Cap.TOKENS),
            "minutes": caps.get(Cap.MINUTES),
        },
        "next": [
            {"command": step.command, "does": step.does, "first": step.first}
            for step in epic_steps(epic, runs, driver=driver, in_the_way=in_the_way)
        ],
    }


def _ticket_object(epic: Epic, one: TicketProgress, runs: Mapping[str, Run]) -> TicketObject:
    state = one.state
    told = _told(epic, one, runs, epic.at)
    run = runs.get(run_of(state))
    outcome = state.outcome if isinstance(state, TicketCompleted | TicketFailed | TicketApproved) else None
    return {
        "id": one.ticket.id,
        "title": one.ticket.title,
        "state": told.state,
        "outcome": outcome.value if outcome is not None and run_of(state) else None,
        "reason": state.reason
        if isinstance(state, TicketWaiting | TicketFailed | TicketSkipped | TicketBlocked)
        else "",
        "critical": one.ticket.critical,
        "reviewed": one.ticket.reviewed,
        "priority": one.ticket.priority,
        "iteration": one.iteration or None,
        "depends_on": list(one.ticket.depends_on),
        "waits_for": list(epic.waits_for(one.ticket)) if isinstance(state, TicketPending) else [],
        "blocked_by": state.by if isinstance(state, TicketBlocked) else None,
        "run": run_of(state) or None,
        "phase": words.phase_words(run.phase) if run is not None and isinstance(state, TicketRunning) else None,
        "runs": list(one.runs),
        "rounds": sum(len(runs[name].rounds) for name in one.runs if name in runs),
        "resolutions": one.resolutions,
        "commit": (state.commit or None) if isinstance(state, TicketCompleted) else None,
        "started_at": one.started_at or None,
        "settled_at": one.settled_at or None,
        "usage": usage_object(_usage(one, runs)),
    }


def _review_object(epic: Epic) -> EpicReviewObject | None:
    review = epic.review
    match review:
        case EpicNotReviewed():
            return None
        case EpicUnderReview():
            return {"run": review.run, "outcome": None, "reason": review.waits}
        case EpicReviewed():
            return {"run": review.run, "outcome": review.outcome.value, "reason": review.reason}
