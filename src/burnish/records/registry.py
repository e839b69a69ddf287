"""The layouts of records by name, and where in a checkout any of them may write."""

from burnish.core.state import Run
from burnish.records.drift import DriftRecorder
from burnish.records.epic import EpicRecorder
from burnish.records.interface import Recorder, RecordFile, RecordTexts
from burnish.records.panel import PanelRecorder
from burnish.records.ticket import TicketRecorder

RECORDERS: dict[str, Recorder] = {
    "epic": EpicRecorder(),
    "ticket": TicketRecorder(),
    "panel": PanelRecorder(),
    "drift": DriftRecorder(),
}
"""Each layout bears the name of the protocol that asks for it."""

RECORD_PATHS = (
    "docs/progress/story-*-review-findings-round-*.md",
    "docs/progress/.story-*-review-findings-round-*.tmp",
    ".agents/tmp/state.json",
    ".agents/tmp/.state.json.*.tmp",
    ".agents/tmp/phases/review-*/r1-*.json",
    ".agents/tmp/phases/review-*/r2-fix-summary.md",
    ".agents/tmp/phases/review-*/.r*.tmp",
)
"""Globs of records, and of what a killed writer leaves beside them; `*` does not match a slash."""


def record_files(run: Run, texts: RecordTexts, layout: str | None = None) -> tuple[RecordFile, ...]:
    """Everything that is to be on record of a run: in the layout of its protocol, or in the one that is named."""
    recorder = RECORDERS.get(run.protocol.name if layout is None else layout)
    return () if recorder is None else recorder.files(run, texts)
