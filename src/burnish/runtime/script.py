"""The words of a rehearsal: what scripted reviewers, fixers and people say, read into results of the loop.

A review is `clean`, a list of findings such as `critical app.py:3 SQL injection; low`, `pass`, `drift: follow-up`,
`scores 95 95 80 80 80 90; notes …`, or a failure such as `crashed` or `rate-limited 30`. `after 130: clean` takes
130 seconds. `unexamined` and `no-evidence: reason` are answers that rest on nothing. A session adds what the story's
status says: `clean, done`. Nothing here runs anything.
"""

import re

import msgspec

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import Mode, StoryStatus
from burnish.core.evidence import CensusFile, Evidence, Examined, Level, Missing, Need
from burnish.core.findings import Action, Finding, Location, Severity
from burnish.core.gates import unmet_criteria
from burnish.core.protocol import STANDARD_DIMENSIONS, Protocol, ScoreGate, SkipReason
from burnish.core.reviews import Answer, DimensionScore, Failure, FailureKind, Former, FormerAnswer, ScoreCard
from burnish.core.values import Value

CHANGED = (CensusFile(path="change", need=Need.CODE),)
EXAMINED = Evidence(examined=(Examined(path="change", level=Level.READ),))
"""The change of a rehearsal is one file, and a scripted reviewer has read it unless the script says otherwise."""

_NO_EVIDENCE = re.compile(r"no-evidence(?P<excused>, excused)?(?:: ?(?P<reason>.+))?")
_UNEXAMINED = "unexamined"
_SEVERITIES = "|".join(severity.value for severity in Severity)
_FINDING = re.compile(
    rf"(?P<ask>ask )?(?P<severity>{_SEVERITIES})(?: (?P<file>\S+?):(?P<line>\d+))?(?: (?P<title>.+))?"
)
_FAILURE = re.compile(rf"(?P<kind>{'|'.join(kind.value for kind in FailureKind)})(?: (?P<seconds>\d+))?")
_DELAY = re.compile(r"after (?P<seconds>\d+): ?(?P<rest>.*)", re.DOTALL)


class ScriptError(BurnishError):
    kind = ErrorKind.CONFIGURATION


class RehearsalScript(Value):
    """Everything that happens in a rehearsal, in order. Each entry is used once."""

    protocol: str = "default"
    mode: Mode = Mode.FIX
    build: bool = False
    interactive: bool = False
    max_rounds: int | None = None
    skip: SkipReason | None = None
    allow_unexamined: bool = False
    reviews: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict[str, tuple[str, ...]])
    """For each reviewer, its answers in turn; `*` speaks for all that are not named."""
    fixes: tuple[str, ...] = ()
    builds: tuple[str, ...] = ()
    validations: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    fallbacks: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """A fallback agent by role: `review`, `fix`, `build`."""


class ScriptEntry(Value):
    """One entry of a script: how long it took and what came of it."""

    words: str
    seconds: float = 1.0
    failure: Failure | None = None


def read_entry(text: str) -> ScriptEntry:
    """Take delay and failure out of an entry."""
    delayed = _DELAY.fullmatch(text)
    seconds, words = (float(delayed["seconds"]), delayed["rest"]) if delayed else (1.0, text)
    failed = _FAILURE.fullmatch(words)
    if failed is None:
        return ScriptEntry(words=words, seconds=seconds)
    after = float(failed["seconds"]) if failed["seconds"] else None
    failure = Failure(kind=FailureKind(failed["kind"]), message=f"scripted: {words}", retry_after=after)
    return ScriptEntry(words=words, seconds=seconds, failure=failure)


def read_answer(words: str, protocol: Protocol) -> Answer:
    """A scripted review as the answer that a contract would have read."""
    if words in ("clean", "pass", _UNEXAMINED) or _NO_EVIDENCE.fullmatch(words):
        return Answer(clean=True)
    if words.startswith("drift:"):
        follow_up = words.removeprefix("drift:").strip()
        return Answer(clean=False, findings=(Finding(severity=Severity.HIGH, title=follow_up),), follow_up=follow_up)
    if words.startswith("scores "):
        return _scores(words, protocol)
    if words.startswith("former "):
        return _former(words)
    findings = tuple(read_finding(part.strip(), number) for number, part in enumerate(words.split(";"), start=1))
    return Answer(clean=False, findings=findings)


def read_evidence(words: str) -> Evidence:
    """What a scripted review rests on: all of the change, unless it says `unexamined` or `no-evidence: reason`."""
    missing = _NO_EVIDENCE.fullmatch(words)
    if missing is not None:
        return Evidence(missing=Missing(reason=missing["reason"] or "scripted", excused=bool(missing["excused"])))
    return Evidence() if words == _UNEXAMINED else EXAMINED


def read_finding(words: str, number: int = 1) -> Finding:
    """`critical app.py:3 title`, or `ask high …` for one that needs a person's word."""
    match = _FINDING.fullmatch(words)
    if match is None:
        raise ScriptError(
            f"The script says '{words}', which is neither a finding nor a failure.",
            hint=(
                f"Use one of {_SEVERITIES.replace('|', ', ')}, then FILE:LINE and a title; or the name of a failure."
            ),
        )
    location = Location(file=match["file"], line=int(match["line"])) if match["file"] else None
    title = match["title"] or f"{match['severity'].capitalize()} problem {number}"
    action = Action.ASK if match["ask"] else Action.FIX
    return Finding(severity=Severity(match["severity"]), title=title, location=location, action=action)


def _scores(words: str, protocol: Protocol) -> Answer:
    """`scores 95 95 80 80 80 90; notes fix the tests; blocking 1`: the scores in the gate's order."""
    first, *rest = (part.strip() for part in words.split(";"))
    gate = protocol.gate if isinstance(protocol.gate, ScoreGate) else ScoreGate(dimensions=STANDARD_DIMENSIONS)
    extras = {name: value for name, _, value in (part.partition(" ") for part in rest)}
    try:
        scores = [float(value) for value in first.removeprefix("scores ").split()]
        blocking = int(extras.get("blocking", "0"))
    except ValueError:
        hint = "Use numbers, as in 'scores 95 95 80 80 80 90; blocking 1; notes what to change'."
        raise ScriptError(f"The script's scores '{words}' cannot be read.", hint=hint) from None
    named = zip(gate.dimensions, scores, strict=False)
    card = ScoreCard(
        dimensions=tuple(DimensionScore(name=one.name, score=score, weight=one.weight) for one, score in named),
        blocking_issues=blocking,
        revision_notes=extras.get("notes", ""),
        claimed_pass=extras.get("claims", "pass") == "pass",
    )
    issues = tuple(Finding(severity=Severity.CRITICAL, title=f"Blocking issue {i + 1}") for i in range(blocking))
    return Answer(clean=not unmet_criteria(gate, card), findings=issues, card=card)


def _former(words: str) -> Answer:
    """`former fixed 1a2b not-fixed 3c4d; high app.py:9 new one`: a ratchet review by the ids of earlier findings."""
    first, *rest = (part.strip() for part in words.split(";"))
    tokens = first.removeprefix("former ").split()
    try:
        pairs = list(zip(map(FormerAnswer, tokens[::2]), tokens[1::2], strict=True))
    except ValueError:
        hint = "Use pairs, as in 'former fixed ID not-fixed ID withdrawn ID'."
        raise ScriptError(f"The script's answer '{words}' cannot be read.", hint=hint) from None
    former = tuple(Former(id=name, answer=answer) for answer, name in pairs)
    findings = tuple(read_finding(part, number) for number, part in enumerate(rest, start=1))
    return Answer(clean=not findings, findings=findings, former=former)


def read_session(words: str, protocol: Protocol) -> tuple[Answer | None, StoryStatus, bool]:
    """`critical, not-done`, `clean, done`, `unclear, newly-done`: what a session said, and the story's status."""
    said, _, status = (part.strip() for part in words.partition(","))
    newly = status == "newly-done"
    try:
        known = StoryStatus.DONE if newly else StoryStatus(status or "absent")
    except ValueError:
        hint = "After the comma, use done, newly-done, not-done or absent."
        raise ScriptError(f"The script says '{words}', which has an unknown story status.", hint=hint) from None
    return (None if said == "unclear" else read_answer(said, protocol)), known, newly
