"""What must be true of a user's machine after a command: commits, refs, seals, records, and nothing left behind."""

from typing import Any, NamedTuple

from burnish.records.registry import record_files
from burnish.runtime.journal import load_run
from burnish.usecases.write_records import record_texts
from burnish.workspace.repository import Repository
from burnish.workspace.seals import find
from tests.end_to_end.machine import NOTES, Machine

IDENTITY = "A. Developer <developer@example.com>"
LANDED = ("approved", "accepted")


class Before(NamedTuple):
    """The machine as it was."""

    head: str
    status: str
    refs: frozenset[str]

    @classmethod
    def of(cls, machine: Machine, branch: str = "change") -> "Before":
        return cls(machine.git("rev-parse", branch), status(machine), refs(machine))


def status(machine: Machine) -> str:
    return machine.git("status", "--porcelain", "--untracked-files=all")


def refs(machine: Machine) -> frozenset[str]:
    return frozenset(machine.git("for-each-ref", "--format=%(refname)").splitlines())


def fixes(machine: Machine, run: str, head: str) -> list[str]:
    """The commits that a run made, the first one first."""
    ref = f"refs/burnish/{run}"
    if ref not in refs(machine):
        return []
    return machine.git("rev-list", "--reverse", f"{head}..{ref}").splitlines()


def sealed_kinds(machine: Machine, tree: str) -> list[str]:
    """The kinds of the seals of a tree, all of which can be read."""
    seals = find(Repository.discover(machine.root), tree)
    return [kind.value for seal in seals if seal.statement is not None for kind in seal.statement.kinds]


def check_nothing_left(machine: Machine, before: Before, run: str) -> None:
    """No process, no clone, no stray file, no lock; the user's own work as it was."""
    assert machine.processes(run) == 0
    # What analysers have compiled is kept for all runs.
    assert [path for path in machine.cache.rglob("*") if path.name != "burnish" and "analysers" not in path.parts] == []
    assert list(machine.copies.glob("*/*")) == []
    assert list((machine.folder / "home").rglob("*")) == []
    assert [path for path in (machine.root / ".git").rglob("*.lock") if "burnish" not in path.parts] == []
    assert (machine.root / "notes.txt").read_text() == NOTES
    assert (machine.root / "local.env").read_text() == "TOKEN=secret\n"
    check_records(machine, before, run)
    with machine.ledger() as ledger:
        assert ledger.current_lease(f"run/{run}") is None


def check_records(machine: Machine, before: Before, run: str) -> None:
    """The records are those of the ledger, with the run and, where they belong there, in the checkout."""
    with machine.ledger() as ledger:
        state, events = load_run(ledger, run), ledger.read(f"run/{run}")
        texts = record_texts(Repository.discover(machine.root), ledger, state, events[-1].at)
    files = record_files(state, texts)
    shown = {file.path for file in files if file.in_checkout}
    assert {line.removeprefix("?? ") for line in status(machine).splitlines()} == shown | {
        line.removeprefix("?? ") for line in before.status.splitlines()
    }
    for file in files:
        assert (machine.state / "runs" / run / "records" / file.path).read_text() == file.text
        assert not file.in_checkout or (machine.root / file.path).read_text() == file.text
    own = machine.state / "runs" / run / "records"
    assert {str(path.relative_to(own)) for path in own.rglob("*") if path.is_file()} == {file.path for file in files}


def check_commits(machine: Machine, before: Before, run: str, titles: list[str]) -> None:
    """One commit for each fix, in a line from the reviewed head, each burnish's own and of the time of its event."""
    commits = fixes(machine, run, before.head)
    found = [machine.git("show", "--no-patch", "--format=%an <%ae>|%cn <%ce>|%P|%s", commit) for commit in commits]
    parents = [before.head, *commits[:-1]] if commits else []
    assert len(found) == len(titles), found
    for line, parent, title in zip(found, parents, titles, strict=True):
        author, committer, of, subject = line.split("|", 3)
        assert (author, committer, of) == (IDENTITY, IDENTITY, parent)
        assert subject.startswith(title)
        assert "\n" not in subject


def check_refs(machine: Machine, before: Before, view: dict[str, Any]) -> None:
    """The branch moved once or not at all; good work is never lost; nothing else was touched."""
    run, outcome = view["run"], view["outcome"]
    commits = fixes(machine, run, before.head)
    expected = set(before.refs)
    if commits:
        expected.add(f"refs/burnish/{run}")
        assert view["subject"]["head"] == commits[-1]
    landed = outcome in LANDED
    if landed or not commits:
        assert machine.git("rev-parse", "change") == view["subject"]["head"]
    else:
        assert machine.git("rev-parse", "change") == before.head
    if commits and outcome and not landed:
        expected.add(f"refs/heads/burnish/{run}")
        assert machine.git("rev-parse", f"refs/heads/burnish/{run}") == commits[-1]
    if outcome is None:
        expected.add(f"refs/burnish/kept/{run}")
    seals = {name for name in refs(machine) if name.startswith("refs/burnish/seals/")}
    assert len(seals) == (1 if view["seal"] else 0)
    assert refs(machine) == expected | seals
    assert machine.git("rev-parse", "HEAD^{tree}") == machine.git("write-tree")
