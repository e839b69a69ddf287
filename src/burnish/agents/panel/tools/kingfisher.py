"""kingfisher: secrets, in any file. It never sends them anywhere to see whether they work, and never repeats them.

Archives are opened: without that kingfisher also passes over `server.key`, which it takes for a presentation. What it
opens it does not look at otherwise, such as what stands behind the end of an archive, and an empty one it does not even
count: so files that are no text are given twice. It passes over lock files, pictures and folders such as `node_modules`
by their names. So it is given a folder of its own in which every file has a name that it looks at (`scanned_name`), and
no comment in a file keeps it from reporting.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence

import msgspec

from burnish.agents.panel.interface import Hit, RuleSelection, SourceFile, ToolError, ToolInvocation, ToolName
from burnish.agents.panel.tools import reading
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
    "--no-ignore",  # comments that silence it
    "--max-file-size=0",
)


_PASSED_OVER = re.compile(
    r".*\.(?:bmp|eot|gem|gif|jpe?g|otf|png|svg|tiff?|ttf|woff2?|lock|lockfile|refactorlog|sum|work)"
    r"|.*[.-](?:min|lock|shrinkwrap)\.\w+|go\.mod|gradlew.*|mvnw.*|gitleaks.*|betterleaks.*|javascript\.json|modules\.txt"
    r"|verification-metadata\.xml",
    re.IGNORECASE,
)
"""Names of files that kingfisher leaves out of most of its rules."""
_AS_IT_IS = ".txt"
"""How the names of files end that it takes for text."""
_A_NAME = re.compile(r"[0-9a-f]{16}/")


def scanned_name(path: str) -> str:
    """Under which name kingfisher is given a file: in a folder that means nothing, with a name that it looks at."""
    raw = path.encode("utf-8", "surrogateescape")
    name = path.rpartition("/")[2].encode("utf-8", "replace").decode()
    return f"{hashlib.sha256(raw).hexdigest()[:16]}/{name}{_AS_IT_IS if _PASSED_OVER.fullmatch(name) else ''}"


def given_files(path: str, content: bytes) -> dict[str, bytes]:
    """A file by the names under which kingfisher is given it."""
    name = scanned_name(path)
    opened = b"\0" in content and not name.endswith(_AS_IT_IS)
    return {name: content, f"{name}{_AS_IT_IS}": content} if opened else {name: content}


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
    """Every file: secrets turn up where they are not expected."""

    name = ToolName.KINGFISHER

    def takes(self, file: SourceFile) -> bool:
        return bool(file.path)

    def invocation(self, files: Sequence[str], choice: RuleSelection) -> ToolInvocation:
        del files  # all that are in the folder
        selected = (f"--rule={rule}" for rule in reading.without_own_rules(choice.select))
        ignored = (f"--exclude-rule={rule}" for rule in choice.ignore)
        return ToolInvocation(arguments=(*_QUIETLY, *selected, *ignored, "--", "."))

    def read(self, finished: Finished, files: Sequence[str]) -> tuple[Hit, ...]:
        raw = reading.output_of(self.name, finished, (0, _FOUND_SOMETHING))
        report = reading.decoded(self.name, raw, _Report)
        reading.must_name_something(self.name, finished, report.findings)
        _must_have_scanned(report.audit, len(files))
        by_name = {scanned_name(file): file for file in files}
        hits = dict.fromkeys(hit for entry in report.findings if (hit := _hit(entry, by_name)) is not None)
        in_archives = {(hit.file, hit.rule) for hit in hits if hit.line is None}
        return tuple(hit for hit in hits if hit.line is None or (hit.file, hit.rule) not in in_archives)

    def passed_over(self, finished: Finished, files: Sequence[str]) -> frozenset[str]:  # noqa: ARG002 - it counts them
        return frozenset()


def _must_have_scanned(audit: _Audit, wanted: int) -> None:
    """Each file counts as one blob at least."""
    summary = audit.summary
    scanned = sum(one.stats.blobs_scanned for one in audit.repositories)
    if summary.scan_succeeded != summary.discovered or scanned < wanted:
        raise ToolError(f"kingfisher checked {scanned} of {wanted} files.")


def _hit(entry: _Entry, files: Mapping[str, str]) -> Hit | None:
    """A hit; none where the folder holds files that this call does not ask about."""
    path = entry.finding.path.removeprefix("./")
    path = path if path in files else path.removesuffix(_AS_IT_IS)
    # What is inside of an archive is called `files.zip!inner.txt`, or `store.sqlite/table.sql`.
    outer = next((name for name in files if path == name or path.startswith((f"{name}!", f"{name}/"))), None)
    if outer is None and _A_NAME.match(path):
        return None
    if outer is None:
        raise ToolError(f"kingfisher reported on a file that it was not given: {reading.text(path)}")
    inside = path.removeprefix(outer)[1:]
    message = reading.text(entry.rule.description) or "A secret."
    return Hit(
        tool=ToolName.KINGFISHER,
        rule=reading.text(entry.rule.id),
        file=files[outer],
        line=(entry.finding.line or None) if not inside else None,
        message=f"{message} It is inside the archive, in {reading.text(inside)}." if inside else message,
        confidence=entry.finding.confidence.lower(),
    )
