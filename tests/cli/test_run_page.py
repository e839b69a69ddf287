"""A run as a page: what it tells, that it needs nothing from elsewhere, and that no text of an agent becomes markup."""

from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.cli.staged_runs import FIRST, Stage, ledger_of, make_repository, play

from burnish.core.findings import Finding, FindingStatus, Location, Severity, Tracked
from burnish.core.reviews import Failure, FailureKind
from burnish.core.state import FailedReview, Run
from burnish.core.text import clean_text
from burnish.core.values import replace
from burnish.prompts.rendering import PromptError
from burnish.report.account import Account, NextStep
from burnish.report.page import Markup, fill, render
from burnish.runtime.script import RehearsalScript

Burnish = Callable[..., tuple[int, str, str]]

FIXED = RehearsalScript(
    protocol="epic", reviews={"reviewer": ("critical app.py:3 SQL injection; low", "clean")}, fixes=("fixed",)
)
UNDECIDED = RehearsalScript(
    protocol="epic", reviews={"reviewer": ("high app.py:9 no test",) * 3}, fixes=("fixed", "fixed")
)
HOSTILE = (
    "</pre><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "<!-- --><style>body{display:none}</style>",
    "&lt;b&gt; {{title}} {{",
    "\x1b[2J\x1b]0;owned\x07red",
    "user\u202etxt.exe\u2066",
)
VOID = {"meta", "br", "link", "img"}


class Page(HTMLParser):
    """The tags and the visible text of a page, which must be well formed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.text += data


@pytest.fixture
def repository(folder: Path) -> Path:
    return make_repository(folder)


def page(run: Run, result: str = "", *commands: str) -> Page:
    steps = tuple(NextStep(command=command, does="goes on") for command in commands)
    return Page(render(Account(run=run, steps=steps, result=result)))


def tracked(severity: Severity, title: str, status: FindingStatus = FindingStatus.OPEN, text: str = "") -> Tracked:
    finding = Finding(
        severity=severity,
        title=title,
        id=title.encode().hex(),
        location=Location(file=f"{title}.py", line=7),
        problem=text,
        impact=text,
        evidence=text,
        suggestion=text,
        category=text,
        found_by=(text,) if text else (),
    )
    return Tracked(finding=finding, round=1, last_reported_round=1, status=status, blocking=True, note=text)


def test_a_run_that_ended_well(repository: Path) -> None:
    shown = page(play(repository, FIXED), "The result is on change.", "burnish verify change")
    for words in (
        "approved",
        "change",
        "against main",
        "epic, fix",
        "2 of at most 3",
        "0 open of 2",
        "Seal",
        "Round 2",
    ):
        assert words in shown.text
    for words in (
        "findings",
        "1 critical",
        "1 low",
        "1 blocking",
        "Fix: fixed",
        "SQL injection",
        "app.py:3",
        "resolved",
    ):
        assert words in shown.text
    assert shown.text.index("The result is on change.") < shown.text.index("burnish verify change goes on")


def test_a_question_with_its_choices(repository: Path) -> None:
    shown = page(play(repository, UNDECIDED), "", "burnish decide")
    for words in ("waiting", "1 blocking finding remains", "Accept findings", "blocks", "Sealnone"):
        assert words in shown.text


def test_the_worst_comes_first_and_what_is_settled_is_folded(repository: Path) -> None:
    entries = (
        tracked(Severity.LOW, "a-low"),
        tracked(Severity.CRITICAL, "a-settled", FindingStatus.RESOLVED),
        tracked(Severity.CRITICAL, "an-open"),
        tracked(Severity.HIGH, "a-high"),
    )
    shown = page(replace(play(repository, FIXED), findings=entries))
    places = [shown.text.index(f"{title}.py:7") for title in ("an-open", "a-settled", "a-high", "a-low")]
    assert places == sorted(places)
    folded = ["open" not in attributes for tag, attributes in shown.tags if tag == "details"]
    assert folded == [False, True, False, False]


def test_a_reviewer_that_did_not_run_is_never_shown_as_clean(repository: Path) -> None:
    run = play(repository, FIXED)
    missing = FailedReview(reviewer="critic", failure=Failure(kind=FailureKind.CRASHED, message="exit code 3"))
    shown = page(replace(run, rounds=(replace(run.rounds[0], reviews=(missing,), judgement=None),)))
    assert "did-not-run" in shown.text
    assert "crashed: exit code 3" in shown.text
    assert "not judged" in shown.text


def test_a_run_at_its_beginning_says_that_nobody_has_looked(repository: Path) -> None:
    with ledger_of(repository) as ledger:
        journal = Stage(ledger, FIXED).begin()
        run = journal.state
        journal.release()
    shown = page(run)
    assert "interrupted" in shown.text
    assert "No review has started." in shown.text
    assert "No review has run yet." in shown.text


def full_of(text: str, run: Run) -> Run:
    """The run with this text wherever an agent, a person or the repository could have put it."""
    subject = replace(run.subject, branch=text, base=text, story=text)
    missing = FailedReview(reviewer=text, failure=Failure(kind=FailureKind.CRASHED, message=text))
    rounds = tuple(replace(round_, reviews=(*round_.reviews, missing)) for round_ in run.rounds)
    findings = (tracked(Severity.HIGH, "title", text=text),)
    return replace(run, started=replace(run.started, subject=subject), rounds=rounds, findings=findings)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(repository: Path, text: str) -> None:
    run = play(repository, UNDECIDED)
    calm, hostile = page(full_of("calm", run), "calm", "calm"), page(full_of(text, run), text, text)
    assert hostile.tags == calm.tags
    assert not set("\x1b\x07\u202e\u2066") & set(hostile.text)
    assert hostile.text == calm.text.replace("calm", clean_text(text))


def test_a_page_needs_nothing_but_itself(repository: Path) -> None:
    text = render(Account(run=play(repository, FIXED)))
    shown = Page(text)
    assert {tag for tag, _ in shown.tags} & {"script", "link", "img", "iframe", "object", "form", "a"} == set()
    assert not {name for _, attributes in shown.tags for name in attributes} & {"src", "href", "style", "srcset"}
    assert "url(" not in text
    assert "@import" not in text
    assert "default-src 'none'" in text
    assert "prefers-color-scheme: dark" in text


def test_a_template_and_its_values_cannot_drift_apart() -> None:
    assert fill("line", text="a < b") == Markup("<p>a &lt; b</p>")
    assert fill("line", text=Markup("<b>b</b>")) == Markup("<p><b>b</b></p>")
    with pytest.raises(PromptError, match="text"):
        fill("line")
    with pytest.raises(PromptError, match="other"):
        fill("line", text="", other="")


def test_show_gives_every_form(burnish: Burnish, repository: Path, tmp_path: Path) -> None:
    play(repository, FIXED)
    code, out, err = burnish("show", FIRST, "--format", "html")
    assert (code, err) == (0, "")
    assert f"burnish show {FIRST} shows the run" in Page(out).text, "the commits of this run are made up"
    assert '"version": "2.1.0"' in burnish("show", FIRST, "--format", "sarif")[1]
    target = tmp_path / "page.html"
    assert burnish("show", FIRST, "--format", "html", "--output", str(target)) == (0, "", "")
    assert target.read_text() == out
    plain = tmp_path / "page.txt"
    text = burnish("show", FIRST)[1]
    assert burnish("show", FIRST, "--output", str(plain)) == (0, "", "")
    assert plain.read_text() == text
