"""The words of a rehearsal, and what is said about those that it does not know."""

import pytest

from burnish.core.events import StoryStatus
from burnish.core.findings import Action, Finding, Location, Severity
from burnish.core.protocol import ScoreGate
from burnish.core.reviews import Answer, Failure, FailureKind, Former, FormerAnswer
from burnish.core.values import replace
from burnish.runtime.script import ScriptEntry, ScriptError, read_answer, read_entry, read_finding, read_session
from tests.core.driving import PLAIN

SCORED = replace(PLAIN, gate=ScoreGate(dimensions=ScoreGate().dimensions[:2]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("clean", ScriptEntry(words="clean")),
        ("after 130: clean", ScriptEntry(words="clean", seconds=130)),
        (
            "rate-limited 30",
            ScriptEntry(
                words="rate-limited 30",
                failure=Failure(kind=FailureKind.RATE_LIMITED, message="scripted: rate-limited 30", retry_after=30),
            ),
        ),
        (
            "after 5: crashed",
            ScriptEntry(
                words="crashed",
                seconds=5,
                failure=Failure(kind=FailureKind.CRASHED, message="scripted: crashed"),
            ),
        ),
        ("crashed hard", ScriptEntry(words="crashed hard")),
    ],
)
def test_delays_and_failures_are_taken_out_of_an_entry(text: str, said: ScriptEntry) -> None:
    assert read_entry(text) == said


@pytest.mark.parametrize(
    ("words", "finding"),
    [
        ("low", Finding(severity=Severity.LOW, title="Low problem 1")),
        ("high wrong result", Finding(severity=Severity.HIGH, title="wrong result")),
        (
            "critical app.py:3 SQL injection",
            Finding(severity=Severity.CRITICAL, title="SQL injection", location=Location(file="app.py", line=3)),
        ),
        (
            "ask info a/b.py:12",
            Finding(
                severity=Severity.INFO,
                title="Info problem 1",
                location=Location(file="a/b.py", line=12),
                action=Action.ASK,
            ),
        ),
    ],
)
def test_a_finding_in_words(words: str, finding: Finding) -> None:
    assert read_finding(words) == finding


def test_several_findings_are_numbered() -> None:
    answer = read_answer("low; high a.py:1 leak ;info", PLAIN)
    assert not answer.clean
    assert [finding.title for finding in answer.findings] == ["Low problem 1", "leak", "Info problem 3"]


@pytest.mark.parametrize("words", ["clean", "pass"])
def test_nothing_to_report(words: str) -> None:
    assert read_answer(words, PLAIN) == Answer(clean=True)


def test_a_drift_has_one_finding_and_its_follow_up() -> None:
    expected = Finding(severity=Severity.HIGH, title="handle errors")
    assert read_answer("drift: handle errors", PLAIN) == Answer(
        clean=False, findings=(expected,), follow_up="handle errors"
    )


def test_scores_in_the_order_of_the_gate() -> None:
    answer = read_answer("scores 95 80; notes split it; blocking 1; claims fail", SCORED)
    assert answer.card is not None
    assert [(one.name, one.score) for one in answer.card.dimensions] == [
        ("requirement_adherence", 95),
        ("coordination_compliance", 80),
    ]
    assert (answer.card.revision_notes, answer.card.blocking_issues, answer.card.claimed_pass) == ("split it", 1, False)
    assert [finding.title for finding in answer.findings] == ["Blocking issue 1"]
    assert not answer.clean
    assert read_answer("scores 95 95", SCORED).clean


def test_answers_to_former_findings() -> None:
    answer = read_answer("former fixed 1a not-fixed 2b; high new.py:1 leak", PLAIN)
    assert answer.former == (
        Former(id="1a", answer=FormerAnswer.FIXED),
        Former(id="2b", answer=FormerAnswer.NOT_FIXED),
    )
    assert [finding.title for finding in answer.findings] == ["leak"]
    assert not answer.clean
    assert read_answer("former withdrawn 1a", PLAIN).clean


@pytest.mark.parametrize(
    ("words", "read"),
    [
        ("clean, done", (Answer(clean=True), StoryStatus.DONE, False)),
        ("clean", (Answer(clean=True), StoryStatus.ABSENT, False)),
        ("clean, not-done", (Answer(clean=True), StoryStatus.NOT_DONE, False)),
        ("unclear, newly-done", (None, StoryStatus.DONE, True)),
    ],
)
def test_a_session_in_words(words: str, read: tuple[Answer | None, StoryStatus, bool]) -> None:
    assert read_session(words, PLAIN) == read


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("looks good", "The script says 'looks good', which is neither a finding nor a failure."),
        ("scores ninety", "The script's scores 'scores ninety' cannot be read."),
        ("scores 90; blocking some", "The script's scores 'scores 90; blocking some' cannot be read."),
        ("former fixed", "The script's answer 'former fixed' cannot be read."),
        ("former mended 1a", "The script's answer 'former mended 1a' cannot be read."),
    ],
)
def test_unknown_words_are_an_error_with_a_hint(words: str, message: str) -> None:
    with pytest.raises(ScriptError) as raised:
        read_answer(words, SCORED)
    assert raised.value.message == message
    assert raised.value.hint.startswith(("Use ", "After "))


def test_an_unknown_status_of_a_story_is_an_error() -> None:
    with pytest.raises(ScriptError) as raised:
        read_session("clean, perhaps", PLAIN)
    assert raised.value.message == "The script says 'clean, perhaps', which has an unknown story status."
