"""Agents' answers, read once, at the boundary: what reviewers found, and what fixers say that they did.

Nothing here starts a process. An answer may come from a program that burnish ran, or from a session's subagent.
"""

from functools import cached_property
from typing import Protocol

from burnish.agents.streams import read_answer
from burnish.contracts.fix_answers import LONGEST_TEXT, read_fix_answers
from burnish.contracts.registry import Expected
from burnish.contracts.text import UnreadableError
from burnish.core.effects import StartBuild, StartFix, StartReview
from burnish.core.events import FixAnswer
from burnish.core.finding_identity import anchored
from burnish.core.protocol import ScoreGate
from burnish.core.reviews import Answer, ContractName, Failure, FailureKind
from burnish.core.state import Run
from burnish.core.text import clean_text
from burnish.core.values import replace
from burnish.prompts.fences import visible
from burnish.settings.types import AgentSettings
from burnish.workspace.names import shown
from burnish.workspace.repository import Repository

Writing = StartFix | StartBuild | StartReview
"""Work that may change the tree."""


class AnswerSources(Protocol):
    """What reading an answer takes."""

    @property
    def repository(self) -> Repository: ...

    def agent(self, name: str) -> AgentSettings: ...


def read_review(services: AnswerSources, run: Run, agent: str, commit: str, text: bytes) -> Answer | Failure:
    """Read an agent's answer once, at the boundary, and tie its findings to the lines of the reviewed tree."""
    tree = TreeFiles(services.repository, commit)
    gate = run.protocol.gate if isinstance(run.protocol.gate, ScoreGate) else None
    # What the prompt tells a reviewer that its answer is about.
    expected = Expected(ticket=visible(run.subject.story or run.subject.branch), revision=run.revisions)
    try:
        answer = read_answer(contract_of(services, run, agent), text, tree.is_file, gate, expected)
    except UnreadableError as error:
        return Failure(kind=FailureKind.UNREADABLE, message=error.message)
    return replace(answer, findings=anchored(answer.findings, tree.lines))


class TreeFiles:
    """The files of a commit, as parsers and identity ask for them."""

    def __init__(self, repository: Repository, commit: str) -> None:
        self._repository = repository
        self._commit = commit

    @cached_property
    def _names(self) -> dict[str, str]:
        """The names of files by how they were shown to an agent, which names them so."""
        return {shown(name): name for name in self._repository.files(self._commit)}

    def is_file(self, path: str) -> bool:
        return path in self._names

    def lines(self, path: str) -> list[str] | None:
        if path not in self._names:
            return None
        content = self._repository.read_file(self._commit, self._names[path])
        return None if content is None else content.decode("utf-8", errors="replace").split("\n")


def contract_of(services: AnswerSources, run: Run, agent: str) -> ContractName:
    """The form in which an agent answers: its own where it has one, else the protocol's. Never guessed."""
    return services.agent(agent).contract or run.protocol.contract


def round_of(effect: Writing, run: Run) -> int:
    """The round that work belongs to: of the findings that are fixed, else the one whose review comes next."""
    if isinstance(effect, StartReview):
        return effect.round
    if isinstance(effect, StartFix) and not effect.order.after_validation:
        return effect.order.round
    return len(run.rounds) + 1


def answers_of(effect: Writing, text: str, before: tuple[FixAnswer, ...] = ()) -> tuple[FixAnswer, ...]:
    """What a fixer says of each finding. Where it was asked again, its later word on a finding replaces the earlier."""
    order = effect.order if isinstance(effect, StartFix) else None
    handed = [finding.id for finding in (*order.must, *order.may)] if order else []
    said = {answer.finding: tuple(one for one in before if one.finding == answer.finding) for answer in before}
    answers = read_fix_answers(text, handed)
    said |= {name: tuple(one for one in answers if one.finding == name) for name in (a.finding for a in answers)}
    return tuple(answer for answers in said.values() for answer in answers)


def kept_text(text: bytes) -> str:
    """An agent's whole answer, as far as it is kept."""
    return clean_text(text[: 4 * LONGEST_TEXT].decode("utf-8", errors="replace")).strip()[:LONGEST_TEXT]


def summary_of(text: str) -> str:
    """What an agent said it did, short enough for a commit."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")[:200]
