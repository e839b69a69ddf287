"""A run as text for people: in full, as the summary that ends a command, as one row of a list, or as a question."""

from collections.abc import Iterator, Sequence

from burnish.contracts.text import bounded
from burnish.core.evidence import summary as summarise_gaps
from burnish.core.finding_history import last_answers
from burnish.core.findings import Finding, FindingStatus, Severity, Tracked
from burnish.core.gates import Judgement
from burnish.core.protocol import Choice, ChoiceAction, Priority, RecordLayout, ReviewBy
from burnish.core.state import (
    AnsweredReview,
    Ended,
    FailedReview,
    Review,
    ReviewStatus,
    Round,
    Run,
    Scope,
    Seat,
    Waiting,
)
from burnish.core.steps.person import other_agent
from burnish.core.steps.review import what_remains
from burnish.core.text import clean_text
from burnish.core.work import Pausing, Ready, Running
from burnish.report import words
from burnish.report.account import (
    Account,
    NextStep,
    RunList,
    RunSnapshot,
    UnreadableRun,
    WorkInProgress,
    left_of_last_round,
    open_blockers,
    seats_of,
    short_ids,
)
from burnish.report.output import Line, Part, Tone, Toned, flat, plain, table, width
from burnish.system import clock

_LONGEST = 400
"""Most characters of a text in a list."""
_SHOWN = 20
"""Findings that a summary names before it only counts them."""
_HEADS = ("RUN", "STATE", "PROTOCOL", "BRANCH", "ROUNDS", "BLOCKING", "AGE")


def render(account: Account) -> str:
    """The whole account, without tones."""
    return plain(run_lines(account))


def run_lines(account: Account) -> Iterator[Line]:
    """The whole account of a run."""
    run = account.run
    yield from headline(account)
    if account.logs_removed:
        yield (f"  {words.LOGS_REMOVED.format(run.id)}",)
    rounds = f"{len(run.rounds)} of at most {words.number(run.limit, 'round')}"
    mode = f"protocol {flat(run.protocol.name)}, {run.started.mode.value}, {rounds}"
    yield (f"  {flat(run.subject.branch)} against {flat(run.subject.base)}, {mode}",)
    yield (f"  commit {run.commit[:12]}, tree {run.tree[:12]}",)
    for round_ in run.rounds:
        yield from _round_lines(run, round_)
    if run.findings:
        yield ()
        yield from finding_lines(run)
    yield from _blocking_lines(run)
    evidence = _evidence(run)
    if evidence:
        yield ()
        yield from ((line,) for line in evidence)
    yield ()
    yield (f"Seal: {run.seal}" if run.seal else "Seal: none",)
    yield (f"Usage: {words.usage_of(run)}",)
    yield from ((sentence,) for sentence in words.kind_of_review(account))
    yield ()
    yield from choice_lines(account)
    yield from step_lines(account.steps)


def headline(snapshot: RunSnapshot) -> Iterator[Line]:
    """The name, the state, and why."""
    yield Toned(snapshot.run.id, Tone.STRONG), ": ", words.state_word(snapshot), f": {words.reason(snapshot)}"


def choice_lines(account: Account) -> Iterator[Line]:
    """What is left in a waiting run, and what it offers."""
    yield from ((flat(line),) for line in words.waiting_lines(account))
    phase = account.run.phase
    if isinstance(phase, Waiting):
        yield from ((f"  {flat(choice.key)}) {flat(words.choice_words(choice))}",) for choice in phase.choices)


def step_lines(steps: Sequence[NextStep]) -> Iterator[Line]:
    """What to do next."""
    return ((line,) for step in steps for line in words.step_words(step))


def _round_lines(run: Run, round_: Round) -> Iterator[Line]:
    yield ()
    ratchet = ", ratchet" if round_.scope is Scope.RATCHET else ""
    yield (Toned(f"Round {round_.number}", Tone.STRONG), f"{ratchet}, tree {round_.tree[:12]}")
    for seat in seats_of(run, round_):
        yield (f"  {flat(seat.reviewer)}: ", *_seat(run, seat))
        if isinstance(seat.work, AnsweredReview):
            yield from ((f"    {flat(note)}",) for note in seat.work.answer.notes)
    if round_.judgement is not None:
        yield ("  judgement: ", *_judgement(round_.judgement))
    if round_.fix is not None:
        yield (f"  fix: {flat(words.fix_words(round_.fix))}",)
        yield from ((f"    {flat(line)}",) for line in words.fix_answers(round_.fix))


def _seat(run: Run, seat: Seat) -> Line:
    work = seat.work
    match work:
        case AnsweredReview() | FailedReview():
            return _review(work)
        case Running():
            attempt = words.attempt_words(run, seat.reviewer, work.attempt) or "attempt 1"
            return (f"running ({flat(work.agent)}, {attempt})",)
        case Pausing():
            attempt = words.attempt_words(run, seat.reviewer, work.attempt)
            return (f"waiting for {'the fallback' if attempt == 'fallback' else attempt}",)
        case Ready():
            return ("not started",)


def _review(review: Review) -> Line:
    said = flat(words.review_words(review))
    if isinstance(review, FailedReview):
        return Toned("did not run", Tone.BAD), said.removeprefix("did not run")
    return (said + (", slow" if review.slow else ""),)


def _judgement(judgement: Judgement) -> Line:
    word = words.judgement_word(judgement)
    if judgement.passes:
        return (word,)
    if judgement.clean:
        return word, f": {flat(summarise_gaps(judgement.gaps))}"
    carried = f" ({len(judgement.carried)} from earlier rounds)" if judgement.carried else ""
    reasons = "".join(f"; {flat(reason)}" for reason in judgement.reasons)
    return word, f"{carried}{reasons}"


def _blocking_lines(run: Run) -> Iterator[Line]:
    """What blocks beside findings that can be named: the objections of the last judgement."""
    count = open_blockers(run)
    judgement = run.rounds[-1].judgement if run.rounds else None
    if judgement is None or judgement.clean or not count:
        return
    yield ()
    yield (words.number(count, "blocking finding"),)
    yield from ((f"  {flat(finding.title)}",) for finding in judgement.blocking if finding.synthetic)


def _evidence(run: Run) -> list[str]:
    """How closely the change was examined."""
    return [flat(line) for line in (words.census_line(run), *words.gap_lines(run)) if line]


def finding_lines(run: Run, *, details: bool = False) -> Iterator[Line]:
    """All findings of a run by severity. Those that were settled stay listed: nothing is silently hidden."""
    ids = short_ids(run)
    for severity in Severity:
        entries = [entry for entry in run.findings if entry.finding.severity is severity]
        if entries:
            yield (words.severity_word(severity),)
            for entry in sorted(entries, key=words.open_first):
                yield from _finding(entry, ids[entry.finding.id])
                if details:
                    yield from _details(entry.finding)


def _finding(entry: Tracked, short: str) -> Iterator[Line]:
    finding = entry.finding
    origin = ", ".join((*map(flat, finding.found_by), words.found_in(entry)))
    where = f"{words.place(finding)} " if finding.location is not None else ""
    yield f"  {short} ", words.status_word(entry), f" {where}{flat(finding.title)} ({origin})"
    for source in finding.sources:
        yield (f"    {', '.join(map(flat, source.found_by))}: {source.severity.value}, {flat(source.title)}",)
    if entry.note:
        yield (f"    note: {flat(entry.note)}",)


def _details(finding: Finding) -> Iterator[Line]:
    texts = {
        "problem": finding.problem,
        "impact": finding.impact,
        "evidence": finding.evidence,
        "suggestion": finding.suggestion,
    }
    yield from ((f"    {name}: {bounded(flat(text), _LONGEST)}",) for name, text in texts.items() if text.strip())
    for source in finding.sources:
        said = {"problem": source.problem, "suggestion": source.suggestion}
        who = ", ".join(map(flat, source.found_by))
        yield from (
            (f"    {name} ({who}): {bounded(flat(text), _LONGEST)}",)
            for name, text in said.items()
            if text.strip() and text != texts[name]
        )


def summary(account: Account) -> list[str]:
    """The end of a command that drove a run: what happened in each round, what is open, and how it ended."""
    run, phase = account.run, account.run.phase
    reason = f": {phase.reason}" if isinstance(phase, Ended | Waiting) else ""
    outcome = words.state_word(account).text
    if account.paused:
        outcome, reason = "paused", f": {what_remains(run)} of at most {run.limit}"
    used = [f"Usage: {words.usage_of(run)}"] if run.started.budget.caps else []
    return [
        "",
        *(_round_summary(run, round_) for round_ in run.rounds),
        *open_findings(run),
        *_notes(run),
        *(f"  {line}" for line in _evidence(run)),
        f"{outcome}{reason}",
        *words.waiting_lines(account),
        *used,
        *words.kind_of_review(account),
    ]


def closing(account: Account) -> list[str]:
    """What was superseded and sealed, where the result is, and the next steps."""
    run = account.run
    ended = [f"Superseded: {name}." for name in run.started.supersedes]
    sealed = [f"Sealed: tree {run.tree[:12]}."] if run.seal else []
    result = [account.result] if account.result else []
    return [*ended, *sealed, *result, *(line for step in account.steps for line in words.step_words(step))]


def open_findings(run: Run) -> Iterator[str]:
    """Open findings, the worst first; for one that blocks, also the fixer's answer."""
    entries = [entry for entry in run.findings if entry.status is FindingStatus.OPEN]
    entries.sort(key=lambda entry: entry.finding.severity.rank)
    said = last_answers(run)
    for entry in entries[:_SHOWN]:
        finding = entry.finding
        location = finding.location
        line = f":{location.line}" if location is not None and location.line else ""
        where = "" if location is None else f"{location.file}{line}: "
        yield f"  {finding.severity.value:<8} {where}{finding.title} [{finding.id[:8]}]"
        if entry.blocking and finding.id in said:
            answer = said[finding.id]
            yield f"           {answer.verdict.words}: {flat(answer.text)}"
    if len(entries) > _SHOWN:
        yield f"  … and {len(entries) - _SHOWN} more: burnish findings {run.id}"


def _notes(run: Run) -> Iterator[str]:
    """What reviewers of the last round could not look at."""
    for review in run.rounds[-1].reviews if run.rounds else ():
        if isinstance(review, AnsweredReview):
            yield from (f"  {review.reviewer}: {flat(note)}" for note in review.answer.notes)


def _round_summary(run: Run, round_: Round) -> str:
    seats = seats_of(run, round_)
    answered = [seat.work for seat in seats if isinstance(seat.work, AnsweredReview)]
    lacking = sum(1 for review in answered if review.status is ReviewStatus.NO_EVIDENCE)
    without = f", {lacking} without evidence" if lacking else ""
    fix = f", fix: {round_.fix.status.value}" if round_.fix else ""
    said = f"{len(answered)} of {len(seats)} answered{without}"
    judged = words.judgement_word(round_.judgement).text
    return f"round {round_.number} ({round_.scope.value}): {said}, {judged}{fix}"


def status_lines(account: Account) -> Iterator[Line]:
    """What one run is doing."""
    yield from headline(account)
    if account.run.started.budget.caps:
        yield (f"  usage: {words.usage_of(account.run)}",)
    yield from _work_lines(account)
    yield from choice_lines(account)
    yield from step_lines(account.steps)


def list_lines(runs: RunList) -> Iterator[Line]:
    """A table of runs and, below it, where there is room, what a person should do about some of them."""
    now = clock.now()
    yield from table(_HEADS, [_cells(row, now) for row in runs.rows])
    for row in runs.rows:
        yield from _remark(row)
    if runs.left_out:
        yield (f"{words.number(runs.left_out, 'older run')}: burnish status --all",)


def _cells(row: Account | UnreadableRun, now: float) -> tuple[Part, ...]:
    if isinstance(row, UnreadableRun):
        return row.name, Toned("unreadable", Tone.BAD), "", "", "", "", ""
    run = row.run
    return (
        run.id,
        words.state_word(row),
        run.protocol.name,
        run.subject.branch,
        f"{len(run.rounds)}/{run.limit}",
        str(open_blockers(run)),
        words.duration(now - run.started.at),
    )


def _remark(row: Account | UnreadableRun) -> Iterator[Line]:
    if isinstance(row, UnreadableRun):
        yield (row.error,)
    elif row.needs_person:
        yield (f"{row.run.id} {'is interrupted' if row.interrupted else 'is waiting for a person'}:",)
        yield from step_lines(row.steps)
    elif row.at_work:
        yield (f"{row.run.id} is running:",)
        yield from _work_lines(row)


def _work_lines(account: Account) -> Iterator[Line]:
    now = clock.now()
    return ((f"  {work_line(work, now)}",) for work in account.at_work)


def work_line(work: WorkInProgress, now: float, columns: int = 100) -> str:
    """`critic: Read src/app.py · 0:42`, in so many columns."""
    minutes, seconds = divmod(max(0, int(now - work.since)), 60)
    hours, minutes = divmod(minutes, 60)
    time = f" · {hours}:{minutes:02}:{seconds:02}" if hours else f" · {minutes}:{seconds:02}"
    name = work.label or work.name
    said = flat(f"{name}: {work.doing}" if work.doing else name)
    return _cut(_cut(said, columns - len(time)) + time, columns)


def _cut(text: str, columns: int) -> str:
    if width(text) <= columns:
        return text
    while text and width(text) >= columns:
        text = text[:-1]
    return f"{text}…" if columns > 0 else ""


def intent_lines(account: Account) -> Iterator[Line]:
    """The run after a decision of a person."""
    if account.interrupted:
        yield Toned(account.run.id, Tone.STRONG), f": {words.phase_words(account.run.phase)}"
    else:
        yield from headline(account)
        yield from choice_lines(account)


def intent_consequences(account: Account) -> Iterator[str]:
    """Where the result is after a person's decision, and what can be done now."""
    if account.result:
        yield account.result
    if account.interrupted and account.steps:
        yield f"The run is not active. Continue it with: {account.steps[0].command}"
        return
    yield from (line for step in account.steps for line in words.step_words(step))


def question(account: Account) -> str:
    """The question to a person, with what is left and the choices; empty where the run does not wait."""
    run, phase = account.run, account.run.phase
    if not isinstance(phase, Waiting):
        return ""
    counts, rounds = left_of_last_round(run), len(run.rounds)
    match phase.priority:
        case Priority.NORMAL:
            mark, noun = "", "review round"
            minor = counts.medium + counts.low + counts.info
            left = {"Critical": counts.critical, "Important": counts.high, "Minor": minor}
            options = [f"{choice.key}) {choice.text}" for choice in phase.choices]
        case Priority.CRITICAL:
            mark, noun = "CRITICAL: ", "review cycle"
            minor = counts.low + counts.info
            left = {"CRITICAL": counts.critical, "HIGH": counts.high, "MEDIUM": counts.medium, "LOW": minor}
            options = [f"{place}. {_option(run, choice)}" for place, choice in enumerate(phase.choices, start=1)]
    listed = [f"After {words.number(rounds, noun)}, issues remain:", *(f"- {name}: {n}" for name, n in left.items())]
    parts = (
        f"⚠️ {mark}{_subject(run)} Review Blocked",
        "\n".join(listed) if counts.total else f"After {words.number(rounds, 'review round')}: {phase.reason}.",
        f"Findings document: {account.document}" if account.document else "",
        "\n".join(["Options:", *options]),
        "Your choice:",
    )
    return clean_text("\n\n".join(part for part in parts if part))


def _subject(run: Run) -> str:
    of_stories = run.protocol.layout is RecordLayout.EPIC or run.protocol.review.by is ReviewBy.SESSION
    if run.subject.story or of_stories:
        return f"Story {run.subject.story_or_branch}"
    return f"Branch {run.subject.branch}"


def _option(run: Run, choice: Choice) -> str:
    """`**[1] Manual Fix** - what it means`. Another agent is called by its name where it is known who that is."""
    text, other = choice.text, other_agent(run)
    if choice.action is ChoiceAction.ANOTHER_AGENT and other:
        name = other[:1].upper() + other[1:]
        text = f"Run with {name} - Re-run code-review with {name} agent"
    title, dash, meaning = text.partition(" - ")
    return f"**[{choice.key}] {title}**{dash}{meaning}"
