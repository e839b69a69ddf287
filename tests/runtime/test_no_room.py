"""What the machine refuses is a failure of the work, never a bug and never a clean review."""

import asyncio
from pathlib import Path

from burnish.core.effects import StartReview
from burnish.core.events import AnyEvent, WorkFailed
from burnish.core.reviews import FailureKind
from burnish.core.state import Scope
from burnish.runtime.perform import LocalPerformer
from burnish.settings.types import AnalyserSettings
from burnish.testing.repositories import branch_with_two_defects
from tests.runtime.fixers_desk import FixersDesk


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    harness = FixersDesk(tmp_path / "run", branch_with_two_defects(tmp_path / "project"), AnalyserSettings(), {})
    harness.services.attempt_dirs.parent.mkdir(parents=True, exist_ok=True)
    harness.services.attempt_dirs.write_text("a file where the folder of the attempts should be")
    effect = StartReview(
        id="review:1:critic:1", round=1, reviewer="critic", agent="analysers", attempt=1, scope=Scope.FULL
    )

    def note(event: AnyEvent) -> None:
        del event

    event = asyncio.run(LocalPerformer(harness.services).perform(effect, harness.run, asyncio.Event(), note))
    assert isinstance(event, WorkFailed)
    assert event.failure.kind is FailureKind.CANNOT_RUN
    assert event.failure.message == "its files could not be created or read: Not a directory"
