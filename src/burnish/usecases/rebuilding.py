"""Write the records of a run again, from its events alone."""

from functools import lru_cache

from burnish.core.state import Run
from burnish.ledger.interface import Ledger
from burnish.records.interface import RecordTexts
from burnish.records.registry import record_files
from burnish.records.writing import Written, write
from burnish.runtime.inputs import inputs_of
from burnish.runtime.journal import load_run, stream_of
from burnish.workspace.diffs import overview
from burnish.workspace.names import shown
from burnish.workspace.repository import Repository


def reviewed_paths(repository: Repository, run: Run) -> dict[int, tuple[str, ...]]:
    """The paths that were under review, by round."""
    base = run.subject.base_commit
    return {round_.number: _changed_paths(repository, base, round_.commit) for round_ in run.rounds}


@lru_cache(maxsize=256)
def _changed_paths(repository: Repository, base: str, commit: str) -> tuple[str, ...]:
    """What lies between two commits never changes, and records ask for it after every event."""
    return tuple(shown(entry.path) for entry in overview(repository, base, commit).entries)


def write_records(repository: Repository, run: Run, at: float) -> Written:
    """Bring the records of a run up to date; `at` is the time of its last event."""
    settings = inputs_of(run).settings
    files = record_files(run, RecordTexts(updated_at=at, reviewed=reviewed_paths(repository, run)))
    return write(
        files,
        checkout=None if settings.records is False else repository.root,
        run_folder=repository.state_dir / "runs" / run.id,
        is_tracked=lambda path: repository.git.succeeds("ls-files", "--error-unmatch", "--", path),
    )


def rebuild(repository: Repository, ledger: Ledger, name: str) -> Written:
    """Write the records of a run again; the same events give the same bytes."""
    events = ledger.read(stream_of(name))
    return write_records(repository, load_run(ledger, name), events[-1].at if events else 0.0)
