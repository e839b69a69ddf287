"""A run as text for people: in full, as the summary that ends a command, as one row of a list, or as a question."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from burnish.contracts.text import bounded
from burnish.core.events import ValidationStatus
from burnish.core.evidence import summary as summarise_gaps
from burnish.core.finding_history import DISMISSED, last_answers
from burnish.core.findings import Finding, FindingStatus, Severity, Tracked, count
from burnish.core.gates import Judgement
from burnish.core.protocol import Choice, ChoiceAction, Priority, RecordLayout, ReviewBy, SeatKind
from burnish.core.state import (
    AnsweredReview,
    Ended,
    FailedReview,
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
    BranchStatus,
    NextStep,
    RunList,
    RunSnapshot,
    SourceLine,
    UnreadableRun,
    WorkInProgress,
    left_of_last_round,
    open_blockers,
    seats_of,
    short_ids,
)
from burnish.report.output import Line, Part, Tone, Toned, cut, flat, plain, table, width
from burnish.system import clock

_LONGEST = 400
_OUTPUT_LINES = 12
"""Most characters of a text in a list."""
_INDENT = " " * 11
_ASSERTION_LINES = 4
_OF_TESTS = ("test:", "tests:", "witness:")
_PLACES = 30
_FROM_THE_LEFT, _BEFORE_CARET = 60, 30
"""Columns: what lies further to the right is shown with so much of the line before it."""
_SHOWN = 20
_OF_A_TEST, _TESTS_IN_FULL = "test:", 5
"""Findings that a summary names before it only counts them."""
_HEADS = ("RUN", "STATE", "PROTOCOL", "BRANCH", "ROUNDS", "BLOCKING", "AGE")


def render(account: Account) -> str:
    return plain(run_lines(account))


def run_lines(account: Account) -> Iterator[Line]:
    run = account.run
    yield from headline(account)
    if account.logs_removed:
        yield (f"  {words.LOGS_REMOVED.format(run.id)}",)
    rounds = f"{len(run.rounds)} of at most {words.number(run.limit, 'round')}"
    mode = f"protocol {flat(run.protocol.name)}, {run.started.mode.value}, {rounds}"
    yield (f"  {flat(run.subject.compared)}, {mode}",)
    yield (f"  commit {run.commit[:12]}, tree {run.tree[:12]}",)
    for round_ in run.rounds:
        yield from _round_lines(run, round_)
    yield from ((line,) for line in _failed_validation(run))
    if run.findings:
        yield ()
        yield from finding_lines(run)
    yield from _blocking_lines(run)
    evidence = _evidence(run)
    if evidence:
        yield ()
        yield from ((line,) for line in evidence)
    yield ()
    kinds = f" ({', '.join(kind.value for kind in run.seal_kinds)})" if run.seal_kinds else ""
    yield (f"Seal: {run.seal}{kinds}" if run.seal else "Seal: none",)
    yield from ((words.glass_words(one),) for one in account.break_glass)
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
    for choice in account.run.choices:
        yield (f"  {flat(choice.key)}) {flat(words.choice_words(choice))}",)


def step_lines(steps: Sequence[NextStep]) -> Iterator[Line]:
    for step in steps:
        *before, command, does = words.step_words(step)
        yield from ((line,) for line in before)
        yield (Toned(command, Tone.COMMAND),)
        yield (does,)


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
        case AnsweredReview():
            return (flat(words.review_words(work)) + (", slow" if work.slow else ""),)
        case FailedReview():
            return Toned("did not run", Tone.BAD), flat(words.review_words(work)).removeprefix("did not run")
        case Running():
            attempt = words.attempt_words(run, seat.reviewer, work.attempt) or "attempt 1"
            return (f"running ({flat(work.agent)}, {attempt})",)
        case Pausing():
            attempt = words.attempt_words(run, seat.reviewer, work.attempt)
            return (f"waiting for {'the fallback' if attempt == 'fallback' else attempt}",)
        case Ready():
            return ("not started",)


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
    count, judgement = open_blockers(run), run.judgement
    if judgement is None or judgement.clean or not count:
        return
    yield ()
    yield (words.number(count, "blocking finding"),)
    yield from ((f"  {flat(finding.title)}",) for finding in judgement.blocking if finding.synthetic)


def _evidence(run: Run) -> list[str]:
    return [flat(line) for line in (words.census_line(run), words.tests_line(run), *words.gap_lines(run)) if line]


def finding_lines(run: Run, *, details: bool = False) -> Iterator[Line]:
    """All findings of a run by severity. Those that were settled stay listed: nothing is silently hidden."""
    ids = short_ids(run)
    entries = sorted(run.findings, key=words.worst_first)
    for severity, group in groupby(entries, key=lambda entry: entry.finding.severity):
        yield (words.severity_word(severity),)
        for entry in group:
            yield from _finding(entry, ids[entry.finding.id])
            yield from _details(entry.finding) if details else ()


def _finding(entry: Tracked, short: str) -> Iterator[Line]:
    finding = entry.finding
    origin = ", ".join((*map(flat, finding.found_by), words.found_in(entry)))
    where = f"{words.places(finding)[0]} " if finding.location is not None else ""
    yield f"  {short} ", words.status_word(entry), f" {where}{flat(finding.title)} ({origin})"
    for source in finding.sources:
        yield (f"    {', '.join(map(flat, source.found_by))}: {source.severity.value}, {flat(source.title)}",)
    if entry.status in DISMISSED:
        yield (f"    {words.dismissal(entry)}",)
    elif entry.note:
        yield (f"    note: {flat(entry.note)}",)


def _details(finding: Finding) -> Iterator[Line]:
    texts = [(name, getattr(finding, name)) for name in ("problem", "impact", "evidence", "suggestion")]
    for source in finding.sources:
        who = ", ".join(map(flat, source.found_by))
        if source.problem != finding.problem:
            texts.append((f"problem ({who})", source.problem))
        if source.suggestion != finding.suggestion:
            texts.append((f"suggestion ({who})", source.suggestion))
    return ((f"    {name}: {bounded(flat(text), _LONGEST)}",) for name, text in texts if text.strip())


def finding_in_full(account: Account, entry: Tracked) -> Iterator[Line]:
    """One finding with everything that is known of it."""
    finding = entry.finding
    yield words.severity_word(finding.severity), f" {flat(finding.title)}"
    facts = {
        "id": finding.id,
        "status": f"{entry.status.value}, {words.found_in(entry)}",
        "at": ", ".join(words.places(finding)[:_PLACES]),
        "found by": ", ".join(map(flat, finding.found_by)),
        "rule": flat(finding.rule),
        "note": flat(entry.note),
    }
    yield from ((f"  {name + ':':<10}{value}",) for name, value in facts.items() if value)
    code = account.code.get(finding.id)
    if code is not None:
        yield ()
        yield from (("  ", *line) for line in _with_caret(code))
    for name in ("problem", "impact", "evidence", "suggestion"):
        text: str = getattr(finding, name)
        if text.strip():
            yield ()
            yield (Toned(name.capitalize(), Tone.STRONG),)
            yield from ((f"  {flat(line)}",) for line in text.strip().splitlines())
    if finding.fixable:
        yield ()
        yield ("burnish fix can do this.",)


def summary(account: Account) -> Iterator[Line]:
    """The end of a command that drove a run: what happened in each round, what is open, and how it ended."""
    run, phase = account.run, account.run.phase
    reason = f": {flat(phase.reason)}" if isinstance(phase, Ended | Waiting) else ""
    yield ()
    yield from (_round_summary(run, round_) for round_ in run.rounds)
    yield from ((line,) for line in _failed_validation(run))
    yield from open_findings(account)
    yield from ((line,) for line in _dismissed(run))
    yield from ((line,) for line in _notes(run))
    yield from ((f"  {line}",) for line in _evidence(run))
    if account.paused:
        yield (f"paused: {what_remains(run)} of at most {run.limit}",)
    elif account.interrupted:
        yield words.state_word(account), f": {words.what_is_kept(run)}"
    else:
        yield words.state_word(account), reason
    yield from ((flat(line),) for line in words.waiting_lines(account))
    yield from ((line,) for line in words.effort(account))
    yield from ((sentence,) for sentence in words.kind_of_review(account))


def _failed_validation(run: Run) -> Iterator[str]:
    """The command of the project's own that failed, and the end of what it said."""
    if run.validation is None or run.validation.status is not ValidationStatus.FAILED:
        return
    lines = [clean_text(line).rstrip() for line in run.validation.output.splitlines() if line.strip()]
    yield from (f"  {line}" for line in lines[:1])
    yield from (f"    {line}" for line in lines[1:][-_OUTPUT_LINES:])
    yield f"    The whole output: burnish logs {run.id}"


def closing(account: Account) -> Iterator[Line]:
    """What was superseded and sealed, where the result is, and the next steps."""
    run = account.run
    yield from ((f"Superseded: {name}.",) for name in run.started.supersedes)
    yield from [(sentence,)] if (sentence := words.seal_words(run)) else []
    yield from [(account.result,)] if account.result else []
    yield from step_lines(account.steps)


def open_findings(account: Account) -> Iterator[Line]:
    """Open findings, those of one file together, the worst first; for the worst also the code and what to do."""
    run = account.run
    entries = [entry for entry in run.findings if entry.status is FindingStatus.OPEN]
    entries.sort(key=lambda entry: (entry.finding.severity.rank, entry.finding.location is None))
    shown = _by_file(entries[:_SHOWN])
    said: list[str] = []
    for place, group in enumerate(shown):
        if place and len(entries) > len(shown):
            yield ()
        for entry in group:
            # One mistake makes many tests fail, and most of them say the same.
            is_test, says = entry.finding.rule.startswith(_OF_A_TEST), entry.finding.impact
            in_short = is_test and (says in said or len(said) >= _TESTS_IN_FULL)
            said += [says] if is_test and not in_short else []
            yield from _open_finding(account, entry, in_short=in_short)
    if len(entries) > _SHOWN:
        yield f"  … and {len(entries) - _SHOWN} more: ", Toned(f"burnish findings {run.id}", Tone.COMMAND)


def _by_file(entries: Sequence[Tracked]) -> list[list[Tracked]]:
    """Findings by their files. The file with the worst finding comes first, and in it the worst one."""
    files: dict[str, list[Tracked]] = {}
    for entry in entries:
        location = entry.finding.location
        files.setdefault("" if location is None else location.file, []).append(entry)
    return list(files.values())


def _open_finding(account: Account, entry: Tracked, *, in_short: bool) -> Iterator[Line]:
    finding, location = entry.finding, entry.finding.location
    where = "" if location is None else f"{location.file}{f':{location.line}' if location.line else ''}: "
    severity = words.severity_word(finding.severity)
    gap = " " * (9 - len(severity.text))
    yield "  ", severity, f"{gap}{flat(where)} " if where else gap, flat(finding.title), f" [{finding.id[:8]}]"
    if finding.severity.at_least(Severity.MEDIUM) and not in_short:
        yield from ((_INDENT, *line) for line in _in_short(finding, account.code.get(finding.id)))
    answer = last_answers(account.run).get(finding.id) if entry.blocking else None
    if answer is not None:
        yield (f"{_INDENT}{answer.verdict.words}: {flat(answer.text)}",)


def _dismissed(run: Run) -> Iterator[str]:
    """What was reported again and does not count, because a person said so."""
    for entry in run.findings:
        if entry.status in DISMISSED and entry.last_reported_round == len(run.rounds) > 0:
            where = "".join(f"{place}: " for place in words.places(entry.finding)[:1])
            yield f"  {where}{flat(entry.finding.title)} [{entry.finding.id[:8]}]"
            yield f"{_INDENT}{words.dismissal(entry)}"


def _in_short(finding: Finding, code: SourceLine | None) -> Iterator[Line]:
    if code is not None and code.text.strip():
        yield from _with_caret(code)
    else:
        yield from ((line,) for line in _assertion(finding))
    reason = bounded(flat(finding.impact or finding.problem), _LONGEST)
    rule = flat(finding.rule) if not finding.rule.startswith(_OF_TESTS) else ""
    if reason and reason != flat(finding.title):
        yield reason, Toned(f" ({rule})" if rule else "", Tone.FAINT)
    if finding.suggestion:
        yield (bounded(flat(finding.suggestion), _LONGEST),)
    if finding.fixable:
        yield ("burnish fix can do this.",)


def _with_caret(code: SourceLine) -> Iterator[Line]:
    """The line and what of it is meant, below. A long line is shown from where that is to be seen."""
    text, start = code.text, code.start
    indented = len(text) - len(text.lstrip())
    if start > _FROM_THE_LEFT:
        begin = max(indented, start - _BEFORE_CARET)
        text, start = f"…{text[begin:]}", start - begin + 1
    number = str(code.number)
    yield (Toned(f"{number} | {text}", Tone.CODE),)
    yield (Toned(f"{' ' * len(number)} | {' ' * width(text[:start])}{'^' * max(1, code.length)}", Tone.CODE),)


def _assertion(finding: Finding) -> Iterator[str]:
    """The lines of a test's output that say what was expected."""
    lines = [line for line in finding.evidence.splitlines() if line.startswith(("E  ", "Assert", "Expected"))]
    yield from (flat(line) for line in lines[:_ASSERTION_LINES])


def _notes(run: Run) -> Iterator[str]:
    """What reviewers of the last round could not look at: each note once, with all that made it."""
    notes: dict[str, list[str]] = {}
    for review in run.last_answered:
        for note in dict.fromkeys(map(flat, review.answer.notes)):
            notes.setdefault(note, []).append(flat(review.reviewer))
    return (f"  {', '.join(reviewers)}: {note}" for note, reviewers in notes.items())


def _round_summary(run: Run, round_: Round) -> Line:
    seats = seats_of(run, round_)
    kinds = {seat.name: seat.kind for seat in run.panel}
    checks = [seat for seat in seats if kinds.get(seat.reviewer) is SeatKind.CHECK]
    said = [_checks_summary(checks)] if checks else []
    if len(checks) < len(seats):
        said.append(_answers_summary([seat for seat in seats if seat not in checks]))
    fix = f", fix: {round_.fix.status.value}" if round_.fix else ""
    judged = words.judgement_word(round_.judgement)
    return f"round {round_.number} ({round_.scope.value}): {'; '.join(said)}, ", judged, fix


def _checks_summary(seats: Sequence[Seat]) -> str:
    """`4 files checked (bugs: 1 critical, style: clean, …)`."""
    works = [seat.work for seat in seats]
    files = {one.path for work in works if isinstance(work, AnsweredReview) for one in work.evidence.examined}
    done = [f"{seat.reviewer}: {_outcome(seat)}" for seat in seats]
    return f"{words.number(len(files), 'file')} checked ({', '.join(done)})"


def _outcome(seat: Seat) -> str:
    match seat.work:
        case AnsweredReview():
            return words.result_words(seat.work.answer, seat.work.evidence)
        case FailedReview():
            return "did not run"
        case _:
            return "not finished"


def _answers_summary(seats: Sequence[Seat]) -> str:
    answered = [seat.work for seat in seats if isinstance(seat.work, AnsweredReview)]
    lacking = sum(1 for review in answered if review.status is ReviewStatus.NO_EVIDENCE)
    without = f", {lacking} without evidence" if lacking else ""
    return f"{len(answered)} of {len(seats)} answered{without}"


def blocking_in_short(account: Account) -> Iterator[str]:
    """What blocks, one line each, for a hook."""
    entries = [entry for entry in account.run.findings if entry.status is FindingStatus.OPEN and entry.blocking]
    entries.sort(key=words.worst_first)
    for entry in entries[: words.MOST_NAMED]:
        where = "".join(f"{place}: " for place in words.places(entry.finding)[:1])
        yield f"  {entry.finding.severity.value:<8} {where}{flat(entry.finding.title)}"
    if len(entries) > words.MOST_NAMED:
        yield f"  … and {len(entries) - words.MOST_NAMED} more"


def status_lines(account: Account) -> Iterator[Line]:
    yield from headline(account)
    if account.run.started.budget.caps:
        yield (f"  usage: {words.usage_of(account.run)}",)
    yield from _work_lines(account)
    yield from choice_lines(account)
    yield from step_lines(account.steps)


def branch_lines(status: BranchStatus) -> Iterator[Line]:
    """Where a branch stands, and the one next step."""
    yield Toned(flat(status.branch), Tone.STRONG), f", against {flat(status.base)}" if status.base else ""
    if status.latest is not None:
        yield from _latest_lines(status.latest, is_current=status.is_current)
    elif not status.why_not:
        yield ("  not reviewed yet",)
    if status.why_not:
        yield (f"  {flat(status.why_not)}",)
    if status.uncommitted:
        yield (f"  {words.number(status.uncommitted, 'file')} not committed, so not part of a review",)
    yield from step_lines(() if status.step is None else (status.step,))


def _latest_lines(latest: Account, *, is_current: bool) -> Iterator[Line]:
    run = latest.run
    ago = words.duration(clock.now() - run.started.at)
    yield f"  run {run.id}, {ago} ago: ", words.state_word(latest), f": {words.reason(latest)}"
    still = [entry.finding for entry in run.findings if entry.status is FindingStatus.OPEN]
    if still:
        yield (f"  open findings: {words.counts_words(count(still))}",)
    if latest.at_rest and not run.subject.is_whole_change:
        yield ("  it looked at files, not at all that the branch changes",)
    elif latest.at_rest and not is_current:
        yield ("  the branch has changed since",)


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
    return cut(cut(said, columns - len(time)) + time, columns)


def intent_lines(account: Account) -> Iterator[Line]:
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
    else:
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
