"""The benchmark of agents' mistakes: its data is whole, and only what names a mistake counts for it."""

import re
from pathlib import Path

import pytest
from benchmarks.mistakes import FOLDER, Mistake, SeenBy, changes_of, is_about, judged, load, report
from benchmarks.panel.reviews import Review

from burnish.core.findings import Finding, Location, Severity

FILES = sorted(FOLDER.rglob("*.toml"))
MISTAKE = Mistake(
    name="one",
    kind="a kind",
    wrong="it is wrong",
    seen_by=SeenBy.RULE,
    at="a.py",
    line="bad()",
    after={"a.py": "\n\n\n\n\nbad()\n"},
)


def finding(rule: str, line: int | None, file: str = "a.py", severity: Severity = Severity.HIGH) -> Finding:
    return Finding(severity=severity, title="", rule=rule, location=Location(file=file, line=line))


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_every_mistake_is_whole(file: Path) -> None:
    listed = load(file)
    assert len({mistake.name for mistake in listed.mistake}) == len(listed.mistake)
    for mistake in listed.mistake:
        known = {**listed.project, **mistake.before, **mistake.after}
        assert mistake.line in known[mistake.at], mistake.name
        assert any(listed.project.get(path) != text for path, text in mistake.after.items()), mistake.name
        assert bool(mistake.reason) is not mistake.can_be_seen, mistake.name
        assert not re.search("@[A-Z_]+@", str(mistake.after)), mistake.name


def test_there_are_enough() -> None:
    mistakes = [mistake for file in FILES for mistake in load(file).mistake]
    assert len(mistakes) >= 340
    assert sum(mistake.can_be_seen for mistake in mistakes) >= 320


def test_mistakes_share_a_change_only_if_they_cannot_be_confused() -> None:
    for file in FILES:
        listed = load(file)
        changes = changes_of(file.stem, listed, [])
        assert sum(len(change.mistakes) for change in changes) == len(listed.mistake)
        for change in changes:
            paths = [path for mistake in change.mistakes for path in mistake.after]
            assert len(set(paths)) == len(paths)
            if len(change.mistakes) > 1:
                assert not any(mistake.seen_by is SeenBy.TEST or mistake.before for mistake in change.mistakes)
                assert not set(paths) & set(listed.project)
    assert [change.mistakes[0].name for change in changes_of("go", load(FOLDER / "go.toml"), ["go/nil-map"])] == [
        "nil-map"
    ]


def test_a_finding_counts_for_the_mistake_whose_place_it_names() -> None:
    assert is_about(MISTAKE, finding("ruff:X", 6))
    assert is_about(MISTAKE, finding("ruff:X", 4))
    assert is_about(MISTAKE, finding("burnish:x", None))
    assert not is_about(MISTAKE, finding("ruff:X", 3))
    assert not is_about(MISTAKE, finding("ruff:X", 6, "b.py"))
    assert not is_about(MISTAKE, finding("tests:uncovered", 6))
    assert not is_about(MISTAKE, finding("test:test_x", None, "test_a.py"))


def test_the_worst_finding_decides() -> None:
    review = Review(
        findings=(finding("a", 6, severity=Severity.LOW), finding("b", 6, severity=Severity.MEDIUM)), seconds=0
    )
    one = judged("python", MISTAKE, review)
    assert one.result == "medium"
    lines = "\n".join(report([one, judged("python", MISTAKE, Review(findings=(), seconds=0))], every=False))
    assert (
        "Of 2 mistakes that a rule or a test can see, 1 are reported at medium or above (50%), 0 of these block"
        in lines
    )
    assert "nothing   rule    python/one: it is wrong" in lines
