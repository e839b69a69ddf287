"""Which commits are reviewed, and what is counted of them."""

from pathlib import Path

from benchmarks.panel.noise import Noise, Reviewed, commits_of
from benchmarks.panel.reviews import Review

from burnish.core.findings import Finding, Severity
from burnish.testing.repositories import RepositoryBuilder


def _noise(*reviews: Review) -> Noise:
    commits = tuple(Reviewed(commit=str(number), review=review) for number, review in enumerate(reviews))
    return Noise(name="project", head="abc", date="2026-01-01", commits=commits)


def _review(*severities: Severity) -> Review:
    return Review(findings=tuple(Finding(severity=severity, title="Found") for severity in severities), seconds=1.0)


def test_merges_the_first_commit_and_empty_ones_are_left_out(tmp_path: Path) -> None:
    builder = RepositoryBuilder(tmp_path).commit({"a.py": "x = 1\n"}).branch("side").commit({"b.py": "y = 1\n"})
    side = builder.head
    builder.switch("main").commit({"a.py": "x = 2\n"})
    change = builder.head
    builder.git.run("merge", "--quiet", "--no-edit", "side")
    builder.commit({}, "Nothing")

    assert set(commits_of(tmp_path, 10)) == {side, change}
    assert len(commits_of(tmp_path, 1)) == 1


def test_only_high_and_critical_findings_count() -> None:
    noise = _noise(_review(Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM), _review(Severity.LOW), _review())

    assert (len(noise.must_fix), noise.commits_held_up, noise.per_commit) == (2, 1, 2 / 3)


def test_a_review_that_did_not_run_does_not_make_the_average_smaller() -> None:
    noise = _noise(_review(Severity.HIGH), Review(findings=(), seconds=1.0, error="exit code 4"))

    assert (noise.per_commit, len(noise.errors)) == (1.0, 1)
