"""How far a run of tests is, from what its runner reports while it runs. It decides nothing about results."""

import os
import re
import stat
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from burnish.agents.panel.project_tests.outputs import GoEvent
from burnish.agents.panel.project_tests.reports import Record
from burnish.agents.panel.project_tests.values import CaseOutcome, Framework
from burnish.system.nofollow import READING

END_SECONDS = 5.0
"""How long a runner may take to go, once its summary is out and it reports nothing more."""
_AT_ONCE = 4 * 1024 * 1024
_TAP = re.compile(rb"^\s*(?P<not>not )?ok \d+")
_CARGO = re.compile(rb"^test .+ \.\.\. (?P<outcome>ok|FAILED|ignored)")


class Progress:
    """Counts tests. Hostile tests can write a report as they like: it is read in bounded parts, and never a link."""

    def __init__(self, framework: Framework, report: Path) -> None:
        self._framework = framework
        self._report = report
        self._offset = 0
        self._rest = b""
        self._began = self._heard = self._reported = time.monotonic()
        self._total = self._done = self._failed = 0
        self.running: dict[str, None] = {}
        """Tests that have begun and not ended."""
        self.code: int | None = None
        """The exit code that the runner means to give, once its summary is out."""

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    @property
    def quiet_seconds(self) -> float:
        """How long nothing was reported."""
        return time.monotonic() - self._heard

    @property
    def is_over(self) -> bool:
        """Whether the summary has been out for so long that the runner should be gone."""
        return self.code is not None and time.monotonic() - self._reported > END_SECONDS

    @property
    def text(self) -> str:
        """In words; empty before the first test."""
        of = f" of {self._total}" if self._total >= self._done and self._total else ""
        failed = f", {self._failed} failed" if self._failed else ""
        return f"{self._done}{of}{failed}" if self._done or self._total else ""

    def hear(self, line: bytes) -> None:
        """One line of what the runner prints."""
        self._heard = time.monotonic()
        if self._framework is Framework.GO:
            with suppress(msgspec.DecodeError, UnicodeDecodeError):
                event = _GO.decode(line)
                if event.test and event.action in ("pass", "fail", "skip"):
                    self._count(failed=event.action == "fail")
        elif self._framework is Framework.CARGO and (match := _CARGO.match(line)):
            self._count(failed=match["outcome"] == b"FAILED")

    def read(self) -> None:
        """What was added to the report since."""
        new = self._new_bytes()
        if new:
            self._heard = self._reported = time.monotonic()
            *lines, self._rest = (self._rest + new).split(b"\n")
            for line in lines:
                self._take(line)

    def _new_bytes(self) -> bytes:
        try:
            with os.fdopen(os.open(self._report, READING), "rb", buffering=0) as stream:
                if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                    return b""
                stream.seek(self._offset)
                new = stream.read(_AT_ONCE)
        except OSError:
            return b""
        self._offset += len(new)
        return new

    def _take(self, line: bytes) -> None:
        if self._framework is Framework.NODE:
            point = _TAP.match(line)
            if point is not None:
                self._count(failed=bool(point["not"]))
            return
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            record = _RECORD.decode(line)
            match record.kind:
                case "listed":
                    self._total = max(self._total, len(record.names))
                case "start":
                    self.running[record.name] = None
                case "finish":
                    self.running.pop(record.name, None)
                    self._done += 1
                case "case" | "broken" if record.outcome is CaseOutcome.FAILED:
                    self._failed += 1
                case "end":
                    self.code = record.code
                case _:
                    pass

    def _count(self, *, failed: bool) -> None:
        self._done += 1
        self._failed += failed


_RECORD = msgspec.json.Decoder(Record)
_GO = msgspec.json.Decoder(GoEvent)
