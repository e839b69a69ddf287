"""Run after run on one branch, in every order of outcomes: the records always describe the last one."""

import itertools
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from burnish.core.state import Ended, Run
from burnish.ledger.interface import Ledger
from burnish.records.registry import RECORD_PATHS, record_files
from burnish.records.writing import Written
from burnish.runtime.journal import load_run
from burnish.usecases.runs import Runs
from burnish.usecases.write_records import last_moment, rebuild, record_texts
from tests.records.killing import operations
from tests.usecases.recorded_runs import OUTCOMES, PROTOCOLS, Project


def in_every_order(symbols: Sequence[str], together: int) -> list[str]:
    """A sequence in which every succession of so many symbols occurs, each once (de Bruijn)."""
    seen: set[tuple[str, ...]] = set()
    order = [symbols[0]] * (together - 1)
    while True:
        tail = tuple(order[len(order) - together + 1 :])
        following = next((one for one in reversed(symbols) if (*tail, one) not in seen), None)
        if following is None:
            return order
        seen.add((*tail, following))
        order.append(following)


def test_every_succession_is_in_the_order() -> None:
    order = in_every_order(OUTCOMES, 3)
    assert set(zip(order, order[1:], order[2:], strict=False)) == set(itertools.product(OUTCOMES, repeat=3))


def shown(project: Project) -> dict[str, str]:
    """Every record in the checkout."""
    root = project.checkout
    return {
        str(path.relative_to(root)): path.read_text() for pattern in RECORD_PATHS for path in sorted(root.glob(pattern))
    }


def kept(project: Project, run: Run) -> dict[str, str]:
    """Every record in the folder of a run."""
    folder = project.repository.state_dir / "runs" / run.id / "records"
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def verdicts(records: dict[str, str]) -> Iterator[str]:
    """What the records conclude, as far as they conclude anything."""
    for path, text in records.items():
        if path.endswith("r1-verdict.json"):
            yield json.loads(text)["overall_verdict"]
        elif path.endswith("state.json"):
            yield json.loads(text)["status"]
        elif path.startswith("docs/progress/"):
            yield "clean" if "**Recommendation:** Approve" in text else "issues_found"


def check(project: Project, ledger: Ledger, run: Run) -> None:
    """Exactly the records of this run are there, and a rebuild finds nothing to do."""
    files = record_files(run, record_texts(project.repository, ledger, run, last_moment(ledger, run.id)))
    assert shown(project) == {file.path: file.text for file in files if file.in_checkout}
    assert kept(project, run) == {file.path: file.text for file in files}
    assert isinstance(run.phase, Ended)
    if run.phase.outcome.value != "approved":
        assert not {"clean", "complete"} & set(verdicts(shown(project)))
    rebuilt = rebuild(project.repository, ledger, run.id)
    assert (rebuilt.written, rebuilt.newer) == (Written(), "")


def succeed(folder: Path, protocol: str, together: int) -> None:
    project = Project(folder)
    reached = {"clean": "approved", "failed": None, "did-not-run": "did-not-run", "cancelled": "cancelled"}
    with project.ledger() as ledger:
        for outcome in in_every_order(OUTCOMES, together):
            run = project.run(ledger, protocol, outcome)
            assert isinstance(run.phase, Ended)
            assert run.phase.outcome.value == reached[outcome] or outcome == "failed", run.phase
            check(project, ledger, run)


@pytest.mark.parametrize(
    "protocol", [pytest.param(name, marks=() if name == "panel" else pytest.mark.prove) for name in PROTOCOLS]
)
def test_any_outcome_after_any_other(tmp_path: Path, protocol: str) -> None:
    succeed(tmp_path, protocol, together=2)


@pytest.mark.prove
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_any_outcome_after_any_two_others(tmp_path: Path, protocol: str) -> None:
    succeed(tmp_path, protocol, together=3)


def across(folder: Path, pairs: Sequence[tuple[str, str]]) -> None:
    """Runs under two protocols, one after the other: the first clean, the second without a review."""
    project = Project(folder)
    with project.ledger() as ledger:
        for first, second in pairs:
            check(project, ledger, project.run(ledger, first, "clean"))
            check(project, ledger, project.run(ledger, second, "did-not-run"))


def test_another_protocol_on_the_same_branch(tmp_path: Path) -> None:
    across(tmp_path, [(first, second) for first in ("panel", "epic") for second in (*PROTOCOLS, "default")])


@pytest.mark.prove
def test_any_protocol_after_any_other(tmp_path: Path) -> None:
    every = (*PROTOCOLS, "default")
    across(tmp_path, [(first, second) for first in every for second in every])


def test_the_documents_of_another_story_stay(tmp_path: Path) -> None:
    project = Project(tmp_path)
    with project.ledger() as ledger:
        project.run(ledger, "epic", "clean", story="1.1")
        first = shown(project)
        project.run(ledger, "epic", "failed", story="1.2")
        assert first.items() <= shown(project).items()
        assert len(shown(project)) == 3
        project.run(ledger, "epic", "did-not-run", story="1.2")
        assert shown(project) == first


def test_a_run_without_a_story_replaces_the_documents_of_its_branch(tmp_path: Path) -> None:
    project = Project(tmp_path)
    with project.ledger() as ledger:
        project.run(ledger, "epic", "clean", story="1.1")
        project.run(ledger, "epic", "did-not-run")
        assert shown(project) == {}


def test_an_older_run_is_not_written_over_a_newer_one(tmp_path: Path) -> None:
    project = Project(tmp_path)
    with project.ledger() as ledger:
        older = project.run(ledger, "panel", "clean")
        newer = project.run(ledger, "panel", "did-not-run")
        before = shown(project)
        (project.repository.state_dir / "runs" / older.id / "records/.agents/tmp/state.json").unlink()
        rebuilt = rebuild(project.repository, ledger, older.id)
        assert (rebuilt.newer, rebuilt.written) == (newer.id, Written())
        assert shown(project) == before
        assert ".agents/tmp/state.json" in kept(project, older)


def test_a_rebuild_repairs_whatever_happened_to_the_records(tmp_path: Path) -> None:
    project = Project(tmp_path)
    with project.ledger() as ledger:
        project.run(ledger, "panel", "failed")
        run = project.run(ledger, "panel", "clean")
        for path in shown(project):
            (project.checkout / path).unlink()
            assert rebuild(project.repository, ledger, run.id).written.paths == (path,)
        check(project, ledger, run)


def killed(folder: Path, first: str, second: str, every: int) -> None:
    """Kill the second run before every so many of its writes, and look at what stands."""
    template = Project(folder / "template")
    with template.ledger() as ledger:
        template.run(ledger, "panel", first)
    number = operations(lambda: begun_again(folder / "whole", template, second))
    assert number > 10
    for most in range(0, number, every):
        project = copied(folder / str(most), template)
        operations(lambda project=project: run_again(project, second), most)
        with project.ledger() as ledger:
            last = Runs(project.repository, ledger).resolve("latest")
            run = load_run(ledger, last)
            if run.started.at > template_started(template):
                concluded = {path for path, text in shown(project).items() if set(verdicts({path: text})) & GOOD}
                assert not concluded, f"killed before write {most}"
            rebuild(project.repository, ledger, last)
            files = record_files(run, record_texts(project.repository, ledger, run, last_moment(ledger, last)))
            assert shown(project) == {file.path: file.text for file in files if file.in_checkout}


GOOD = {"clean", "complete"}


def copied(folder: Path, template: Project) -> Project:
    shutil.copytree(template.checkout.parent, folder, symlinks=True)
    return Project(folder)


def run_again(project: Project, outcome: str) -> None:
    with project.ledger() as ledger:
        project.run(ledger, "panel", outcome)


def begun_again(folder: Path, template: Project, outcome: str) -> None:
    run_again(copied(folder, template), outcome)


def template_started(template: Project) -> float:
    with template.ledger() as ledger:
        runs = Runs(template.repository, ledger)
        return load_run(ledger, runs.resolve("latest")).started.at


@pytest.mark.parametrize("outcome", ["did-not-run", "cancelled"])
def test_no_clean_verdict_of_an_earlier_run_stands_wherever_the_next_is_killed(tmp_path: Path, outcome: str) -> None:
    killed(tmp_path, "clean", outcome, every=9)


@pytest.mark.prove
@pytest.mark.parametrize("outcome", ["did-not-run", "cancelled", "failed"])
def test_killed_before_any_write_no_earlier_verdict_stands(tmp_path: Path, outcome: str) -> None:
    killed(tmp_path, "clean", outcome, every=1)
