"""kingfisher: secrets, in any file. It never sends them anywhere to see whether they work, and never repeats them.

Archives are opened: without that kingfisher also passes over `server.key`, which it takes for a presentation. It leaves
some kinds of files (images, lock files) out of some rules. It is given the folder and what the names of the files begin
with: each file that is given by itself takes it as long as hundreds in a folder.
"""

from collections.abc import Sequence

import msgspec

from burnish.agents.analysers.interface import Choice, Hit, Invocation, SourceFile, ToolError, ToolName
from burnish.agents.analysers.tools import reading
from burnish.system.process import Finished

_FOUND_SOMETHING = 200
_QUIETLY = (
    "scan",
    "--no-validate",
    "--no-update-check",
    "--redact",
    "--no-dedup",  # a secret that stands in two files would be reported in one of them only
    "--git-history=none",
    "--format=json",
    "--quiet",  # a second document, of statistics, would follow
)


_OPENED = (
    *(".7z", ".apk", ".bz2", ".db", ".docx", ".ear", ".egg", ".gz", ".jar", ".pptx", ".sqlite", ".sqlite3", ".tar"),
    *(".tgz", ".war", ".whl", ".xlsx", ".xz", ".zip", ".zst"),
)
"""Archives: what is inside of one does not begin with its name any more when kingfisher compares."""


class _Rule(msgspec.Struct, frozen=True):
    id: str
    description: str


class _Finding(msgspec.Struct, frozen=True):
    path: str
    line: reading.Count
    confidence: str


class _Entry(msgspec.Struct, frozen=True):
    rule: _Rule
    finding: _Finding


class _Summary(msgspec.Struct, frozen=True):
    discovered: reading.Count
    scan_succeeded: reading.Count


class _Stats(msgspec.Struct, frozen=True):
    blobs_scanned: reading.Count


class _Given(msgspec.Struct, frozen=True):
    stats: _Stats


class _Audit(msgspec.Struct, frozen=True):
    summary: _Summary
    repositories: tuple[_Given, ...]


class _Report(msgspec.Struct, frozen=True):
    findings: tuple[_Entry, ...]
    audit: _Audit


class Kingfisher:
    """Every file: secrets are found where nobody expects them."""

    name = ToolName.KINGFISHER

    def takes(self, file: SourceFile) -> bool:
        return bool(file.path)

    def invocation(self, files: Sequence[str], choice: Choice) -> Invocation:
        selected = (f"--rule={rule}" for rule in reading.without_own_rules(choice.select))
        ignored = (f"--exclude-rule={rule}" for rule in choice.ignore)
        return Invocation(arguments=(*_QUIETLY, *selected, *ignored, *_places(reading.as_arguments(self.name, files))))

    def read(self, finished: Finished, files: Sequence[str]) -> tuple[Hit, ...]:
        raw = reading.output_of(self.name, finished, (0, _FOUND_SOMETHING))
        report = reading.decoded(self.name, raw, _Report)
        reading.must_name_something(self.name, finished, report.findings)
        nameless = reading.nameless(self.name, files)
        _must_have_scanned(report.audit, len(files) - len(nameless))
        hits = (_hit(entry, frozenset(files)) for entry in report.findings)
        return (*(hit for hit in hits if hit is not None), *nameless)


def _places(names: Sequence[str]) -> tuple[str, ...]:
    if any(name.lower().endswith(_OPENED) for name in names):
        return ("--", *names)
    return (*(f"--path-prefix={name.removeprefix('./')}" for name in names), "--", ".")


def _must_have_scanned(audit: _Audit, wanted: int) -> None:
    """In a folder each file counts as one blob at least; files that were given by themselves are counted as such."""
    summary, given = audit.summary, audit.repositories
    scanned = summary.scan_succeeded if len(given) > 1 else sum(one.stats.blobs_scanned for one in given)
    if summary.scan_succeeded != summary.discovered or scanned < wanted:
        raise ToolError(f"kingfisher looked at {scanned} of {wanted} files.")


def _hit(entry: _Entry, files: frozenset[str]) -> Hit | None:
    """A hit; none where the file only begins like one that was asked about."""
    path = entry.finding.path.removeprefix("./")
    file = path if path in files else _archive_of(path, files)
    if file is None:
        return None
    inside = path.removeprefix(file)[1:]
    message = reading.text(entry.rule.description) or "A secret."
    return Hit(
        tool=ToolName.KINGFISHER,
        rule=reading.text(entry.rule.id),
        file=file,
        line=(entry.finding.line or None) if not inside else None,
        message=f"{message} It is inside the archive, in {reading.text(inside)}." if inside else message,
        confidence=entry.finding.confidence.lower(),
    )


def _archive_of(path: str, files: frozenset[str]) -> str | None:
    """The file in which kingfisher found another: `files.zip!inner.txt`, or `store.sqlite/table.sql`."""
    if not any(path.startswith(file) for file in files):
        raise ToolError(f"kingfisher reported on a file that it was not asked about: {reading.text(path)}")
    outer = [file for file in files if path.startswith((f"{file}!", f"{file}/"))]
    return max(outer, key=len, default=None)
