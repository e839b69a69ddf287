"""One seat of the embedded panel before a change, in a real repository: what it says, and what it examined."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from burnish.agents.analysers import review_seat
from burnish.agents.census import changed_files
from burnish.agents.interface import Failed, Review
from burnish.agents.panel.runner import AnalyserRunner
from burnish.agents.services import Job
from burnish.core.effects import StartReview
from burnish.core.events import AnyEvent
from burnish.core.finding_identity import identify
from burnish.core.findings import Finding, Tracked
from burnish.core.state import Scope
from burnish.core.values import replace
from burnish.settings.types import AnalyserSettings, Settings
from burnish.testing.repositories import Content, RepositoryBuilder
from tests.runtime.fixers_desk import FixersDesk

Files = Mapping[str, Content | None]
Shape = Callable[[RepositoryBuilder], object]
"""What of a change cannot be said with files: links, modes, submodules."""


class Seats:
    """A change, and the reviewers of the embedded panel that look at it."""

    def __init__(
        self,
        folder: Path,
        base: Files,
        head: Files,
        *,
        shape: Shape | None = None,
        settings: AnalyserSettings | None = None,
    ) -> None:
        builder = RepositoryBuilder(folder / "project").commit({"README.md": "A project.\n", **base}).branch("change")
        builder.write(head)
        if shape is not None:
            shape(builder)
        builder.commit()
        self.settings = settings or AnalyserSettings()
        self.builder = builder
        self.harness = FixersDesk(folder, builder, self.settings, {})

    def review(self, reviewer: str, former: Sequence[Finding] = ()) -> Review:
        """What a reviewer says of the change."""
        run = replace(
            self.harness.run,
            findings=tuple(Tracked(finding=one, round=1, last_reported_round=1) for one in identify(tuple(former))),
        )
        effect = StartReview(
            id=f"review:1:{reviewer}:1", round=1, reviewer=reviewer, agent="analysers", attempt=1, scope=Scope.FULL
        )

        def note(event: AnyEvent) -> None:
            del event

        async def work() -> Review | Failed:
            return await review_seat(AnalyserRunner(self.harness.services), Job(effect, run, asyncio.Event(), note))

        review = asyncio.run(work())
        assert isinstance(review, Review), review
        return review

    def found(self, reviewer: str, former: Sequence[Finding] = ()) -> list[tuple[str, str, str]]:
        """What a reviewer finds: the place, the rule, the severity."""
        return [said(one) for one in self.review(reviewer, former).answer.findings]

    def examined(self, reviewer: str) -> dict[str, str]:
        return {one.path: one.level.value for one in self.review(reviewer).evidence.examined}

    def needs(self) -> dict[str, str]:
        """How closely each changed file must be examined."""
        files = changed_files(
            self.harness.services.repository,
            Settings(analysers=self.settings),
            self.harness.run.subject.base_commit,
            self.builder.head,
        )
        return {file.path: file.need.value for file in files}


def said(finding: Finding) -> tuple[str, str, str]:
    place = finding.location
    where = f"{place.file}:{place.line}" if place and place.line else place.file if place else ""
    return where, finding.rule, finding.severity.value
