"""The layouts of records by name, and where in a checkout any of them may write.

The module of a layout has the layout's name. It is imported when a run first needs it: a process sees one of them.
"""

from functools import cache
from importlib import import_module

from burnish.core.protocol import RecordLayout
from burnish.core.state import Run
from burnish.records.interface import Recorder, RecordFile, RecordTexts

RUN_RECORD_PATHS = (
    "docs/progress/story-*-review-findings-round-*.md",
    ".agents/tmp/phases/review-*/r1-verdict.json",
    ".agents/tmp/state.json",
    ".agents/tmp/phases/review-*/r1-*.json",
    ".agents/tmp/phases/review-*/r2-fix-summary.md",
)
"""Globs of the records of runs in a checkout, those that hold a verdict first; `*` does not match a slash."""

_STORY_DOCUMENTS = "docs/progress/epic-*-auto-run.md"

RECORD_PATHS = (
    *RUN_RECORD_PATHS,
    _STORY_DOCUMENTS,
    "**/artifacts/epic-state.json",
    "**/artifacts/completion-reports/*.json",
)
"""Those of epics, too, which stand beside the source of each."""

NO_WORK_OF_FIXERS = (".agents/tmp/", RUN_RECORD_PATHS[0], _STORY_DOCUMENTS)
"""What a fix never commits: the records, and all of a folder that belongs to tools like this one."""

LEFTOVER_PATHS = (
    "docs/progress/.story-*-review-findings-round-*.tmp",
    "docs/progress/.epic-*-auto-run.md.*.tmp",
    "**/.sprint-status.y*.tmp",
    ".agents/tmp/.state.json.*.tmp",
    ".agents/tmp/phases/review-*/.r*.tmp",
    "**/artifacts/.epic-state.json.*.tmp",
    "**/artifacts/completion-reports/.*.json.*.tmp",
)
"""Globs of what a killed writer leaves beside them."""


@cache
def _recorder(layout: RecordLayout) -> Recorder | None:
    return None if layout is RecordLayout.NONE else import_module(f"burnish.records.{layout.value}").RECORDER


def record_files(run: Run, texts: RecordTexts, layout: RecordLayout | None = None) -> tuple[RecordFile, ...]:
    """Everything that is to be on record of a run: as its protocol asks, or in the layout that is named."""
    recorder = _recorder(run.protocol.layout if layout is None else layout)
    return () if recorder is None else recorder.files(run, texts)


def share_a_place(one: Run, other: Run) -> bool:
    """Whether the records of two runs cannot stand in one checkout: the later ones take the place of the earlier.

    They are of the same subject, or their layouts put them under the same names.
    """
    return _same_subject(one, other) or bool(_place(one) and _place(one) == _place(other))


def _same_subject(one: Run, other: Run) -> bool:
    """Of the same story, or, where one of them names no story, of the same branch."""
    if one.subject.story and other.subject.story:
        return one.subject.story_or_branch == other.subject.story_or_branch
    return one.subject.branch == other.subject.branch


def _place(run: Run) -> str:
    recorder = _recorder(run.protocol.layout)
    return "" if recorder is None else recorder.place(run)
