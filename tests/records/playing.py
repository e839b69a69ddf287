"""Runs to make records of: rehearsals of the built-in protocols, about a story."""

from burnish.core.protocol import RecordLayout
from burnish.core.state import Run
from burnish.core.values import replace
from burnish.records.interface import RecordFile, RecordTexts
from burnish.records.registry import record_files
from burnish.runtime.script import RehearsalScript
from tests.trails.playing import play


def about(run: Run, *, story: str = "1.2", title: str = "Log in", branch: str = "story-1-2-log-in") -> Run:
    """The same run, about this subject."""
    subject = replace(run.subject, story=story, title=title, branch=branch)
    return replace(run, started=replace(run.started, subject=subject))


def played(script: RehearsalScript) -> Run:
    return about(play(script))


def texts(run: Run, layout: RecordLayout | None = None) -> dict[str, str]:
    """The records of a run by their path."""
    known = RecordTexts(reviewed={1: ("a.py", "b.py")})
    return {file.path: file.text for file in record_files(run, known, layout)}


def record(path: str = "docs/progress/story-1-review-findings-round-1.md", text: str = "text\n") -> RecordFile:
    return RecordFile(path=path, text=text)
