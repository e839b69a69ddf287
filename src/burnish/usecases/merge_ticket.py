"""Bring the work of an approved ticket into the epic's branch: only with a valid seal, and only as a valid tree.

A merge is made and validated as a commit beside the branch. It is on record before the branch moves, so that a process
that is killed in between neither loses it nor makes it twice.
"""

import asyncio
from collections.abc import Mapping

from burnish.core.epics.effects import FinishMerge, PrepareMerge, RollBack
from burnish.core.epics.events import (
    AnyEpicEvent,
    MergeConflict,
    MergeConflicted,
    MergeMethod,
    MergeOutdated,
    MergePrepared,
    MergeRefused,
    RolledBack,
    TicketMerged,
)
from burnish.core.epics.state import Epic, TicketApproved, TicketProgress, state_as
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import Outcome, Validated, ValidationStatus, WorkFailed
from burnish.core.protocol import ReviewBy
from burnish.core.state import Run
from burnish.core.story_text import sprint_entries, with_action_items, with_file_status, with_statuses
from burnish.core.text import clean_text
from burnish.ledger.interface import Ledger
from burnish.records.stories import action_items
from burnish.runtime.context import context_of
from burnish.runtime.journal import load_run
from burnish.runtime.policy import policy_folder
from burnish.runtime.services import LocalServices
from burnish.runtime.validation import TreeToValidate, validate_tree
from burnish.settings.types import Allowance
from burnish.system import clock
from burnish.system.files import make_private_directory
from burnish.usecases.run_folders import cache_folder, make_run_folder, remove_run_folders
from burnish.usecases.verify_seal import Demands, verify
from burnish.workspace.clones import Clones
from burnish.workspace.landing import branch_commit, leave, left_at, move_branch
from burnish.workspace.merging import (
    MergedTree,
    commit_merge,
    files_with_markers,
    merge_message,
    merge_trees,
    with_files,
)
from burnish.workspace.names import shown
from burnish.workspace.references import BRANCHES
from burnish.workspace.repository import Repository

_ALLOWED = (Allowance.ACCEPTED, Allowance.WAIVED, Allowance.LOCAL_POLICY, Allowance.UNPROVEN)
"""What a person decided on this machine holds for this epic. What its base demands is for `verify` to say."""


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="surrogateescape")


class MovedBackError(BurnishError):
    kind = ErrorKind.USAGE


def tip_of(repository: Repository, epic: Epic) -> str:
    """Where the epic's branch is: a person may have moved it forward."""
    return branch_commit(repository, epic.started.branch) or epic.tip


def check_holds(repository: Repository, epic: Epic, tip: str) -> None:
    """Raise where the branch no longer holds what was merged: someone has moved it back."""
    if not repository.is_ancestor(epic.tip, tip):
        raise MovedBackError(
            f"{epic.started.branch} was moved: it no longer holds {epic.tip[:12]}, which was merged.",
            hint=f"Move it forward again: `git branch -f {epic.started.branch} {epic.tip[:12]}`.",
        )


class TicketMerger:
    def __init__(self, repository: Repository, ledger: Ledger, environment: Mapping[str, str]) -> None:
        self._repository = repository
        self._ledger = ledger
        self._environment = environment

    async def perform(self, effect: PrepareMerge | FinishMerge | RollBack, epic: Epic) -> AnyEpicEvent:
        match effect:
            case PrepareMerge():
                return await self._prepare_merge(effect, epic)
            case FinishMerge():
                return await asyncio.to_thread(self._finish_merge, effect, epic)
            case RollBack():
                return await asyncio.to_thread(self._roll_back, epic)

    async def _prepare_merge(self, effect: PrepareMerge, epic: Epic) -> AnyEpicEvent:
        one = epic.tickets[effect.ticket]
        try:
            return await self._merge(one, epic)
        except BurnishError as error:
            reason = f"cannot be merged: {error.message}"
            return MergeRefused(at=clock.now(), ticket=effect.ticket, reason=reason, outcome=Outcome.DID_NOT_RUN)

    async def _merge(self, one: TicketProgress, epic: Epic) -> AnyEpicEvent:
        approved, ticket = state_as(one, TicketApproved), one.ticket.id
        run = load_run(self._ledger, approved.run)
        refusal = await asyncio.to_thread(self._unsealed, run, approved.resolved)
        if refusal:
            return MergeRefused(at=clock.now(), ticket=ticket, reason=refusal)
        tip = tip_of(self._repository, epic)
        check_holds(self._repository, epic, tip)
        merged = await asyncio.to_thread(self._merge_trees, epic, tip, approved.commit)
        if merged.conflicts:
            odd = [name for name in merged.conflicts if clean_text(name) != name]
            if odd:  # whether its markers are gone could not be told by such a name
                return MergeRefused(at=clock.now(), ticket=ticket, reason=f"conflicts in {', '.join(map(shown, odd))}")
            commit = self._commit(epic, one, merged.tree, approved.commit, merged=tip)
            conflict = MergeConflict(commit=commit, onto=tip, files=merged.conflicts)
            return MergeConflicted(at=clock.now(), ticket=ticket, conflict=conflict)
        is_other = merged.tree != run.tree
        merged = merged._replace(tree=self._with_words(epic, one, run, merged.tree))
        if merged.tree == self._repository.tree_of(tip):
            return MergeRefused(at=clock.now(), ticket=ticket, reason=f"adds nothing to {epic.started.branch}")
        second = "" if epic.started.method is MergeMethod.SQUASH else approved.commit
        commit = self._commit(epic, one, merged.tree, tip, merged=second)
        if is_other:
            failure = await self._validate(epic, run, tip, commit)
            if isinstance(failure, WorkFailed):
                reason = f"the merged tree was not validated: {failure.failure.message}"
                return MergeRefused(at=clock.now(), ticket=ticket, reason=reason, outcome=Outcome.DID_NOT_RUN)
            if failure:
                both = self._commit(epic, one, merged.tree, approved.commit, merged=tip)
                conflict = MergeConflict(commit=both, onto=tip, output=failure)
                return MergeConflicted(at=clock.now(), ticket=ticket, conflict=conflict)
        return MergePrepared(at=clock.now(), ticket=ticket, onto=tip, commit=commit)

    def _merge_trees(self, epic: Epic, tip: str, commit: str) -> MergedTree:
        """The merge of two sides. Lines of a sprint status lie side by side: words in them are no conflict.

        They are written again from what is known. Everything else that a side wrote into the file is merged as usual.
        """
        merged, repository = merge_trees(self._repository, tip, commit), self._repository
        source = epic.plan.source
        base = repository.merge_base(tip, commit) if epic.plan.kind == "stories" else None
        if source not in merged.conflicts or base is None:
            return merged
        former, theirs = (repository.read_file(each, source) for each in (base, commit))
        if former is None or theirs is None:
            return merged
        words = {entry.key: entry.status for entry in sprint_entries(_text(former))}
        plain = with_statuses(_text(theirs), words).encode("utf-8", errors="surrogateescape")
        tree = with_files(repository, repository.tree_of(commit), {source: plain})
        beside = commit_merge(repository, tree, base, merge_message(source), clock.now())
        return merge_trees(repository, tip, beside)

    def _with_words(self, epic: Epic, one: TicketProgress, run: Run, tree: str) -> str:
        """A merged tree in which the story's own files say that it is done, where the tree has them."""
        if epic.plan.kind != "stories":
            return tree
        changed: dict[str, bytes] = {}
        sprint, story = epic.plan.source, one.ticket.file
        for path in (sprint, story):
            data = self._repository.read_file(tree, path) if path and not path.startswith("/") else None
            if data is None:
                continue
            text = _text(data)
            if path == sprint:
                text = with_statuses(text, {one.ticket.id: "done"})
            else:
                text = with_action_items(with_file_status(text, "done"), action_items(run))
            if text.encode("utf-8", errors="surrogateescape") != data:
                changed[path] = text.encode("utf-8", errors="surrogateescape")
        return with_files(self._repository, tree, changed) if changed else tree

    def _unsealed(self, run: Run, resolved: tuple[str, ...]) -> str:
        """Why a run's result may not be merged; empty where a valid seal says that it was approved."""
        left = files_with_markers(self._repository, run.commit, resolved)
        if left:
            return f"conflict markers are left in {', '.join(left)}"
        by_itself = (Allowance.SELF_REVIEWED,) if run.protocol.review.by is ReviewBy.SESSION else ()
        allow = (*_ALLOWED, *by_itself)
        demands = Demands(base=context_of(run).merge_base, any_protocol=True, any_policy=True, allow=allow)
        verification = verify(self._repository, run.commit, demands)
        return "" if verification.ok else f"no valid seal: {verification.reason}"

    def _commit(self, epic: Epic, one: TicketProgress, tree: str, onto: str, *, merged: str) -> str:
        name, title = one.ticket.id, one.ticket.title or one.ticket.id
        words = title if not merged else f"Merge {name}" if title == name else f"Merge {name}: {title}"
        message = merge_message(words, burnish_run=state_as(one, TicketApproved).run, burnish_epic=epic.id)
        return commit_merge(self._repository, tree, onto, message, clock.now(), merged=merged)

    async def _validate(self, epic: Epic, run: Run, tip: str, commit: str) -> "str | WorkFailed":
        """What the project's own commands say against a merged tree; empty where they pass, or there are none."""
        context = context_of(run)
        if not context.settings.validate.commands:
            return ""
        copies = make_run_folder(self._environment, f"{epic.id}-merge")
        try:
            clones = Clones(self._repository, copies / "clones")
            services = LocalServices(
                run=epic.id,
                repository=self._repository,
                ledger=self._ledger,
                context=context,
                environment=self._environment,
                copies=copies,
                cache=cache_folder(self._environment),
                policy_folder=policy_folder(self._repository, clones, run, context),
            )
            make_private_directory(services.folder)
            changed = tuple(file.path for file in run.changed)
            tree = TreeToValidate(base=tip, commit=commit, changed=changed)
            said = await validate_tree(services, f"validate:{commit[:12]}", tree, asyncio.Event())
        finally:
            remove_run_folders(self._environment, f"{epic.id}-merge")
        if isinstance(said, Validated):
            return (said.output or "validation failed") if said.status is ValidationStatus.FAILED else ""
        return said

    def _finish_merge(self, effect: FinishMerge, epic: Epic) -> AnyEpicEvent:
        now, branch = clock.now(), epic.started.branch
        tip = branch_commit(self._repository, branch)
        if tip != effect.commit and (tip is None or not self._repository.is_ancestor(effect.commit, tip)):
            if tip != effect.onto:
                return MergeOutdated(at=now, ticket=effect.ticket)
            reason = move_branch(self._repository, branch, effect.onto, effect.commit, epic.id)
            if reason:
                return MergeRefused(at=now, ticket=effect.ticket, reason=f"{branch} could not be moved: {reason}")
        return TicketMerged(at=now, ticket=effect.ticket, commit=effect.commit)

    def _roll_back(self, epic: Epic) -> AnyEpicEvent:
        """Take everything out of the epic's branch again. What it held is kept on a branch of burnish's own."""
        repository, branch = self._repository, epic.started.branch
        tip, start = tip_of(self._repository, epic), epic.started.tip or epic.started.baseline
        if tip == start:  # a process was killed when it had done this
            return RolledBack(at=clock.now(), former=epic.tip, kept=left_at(epic.id))
        if repository.checked_out_at(branch) is not None or repository.is_busy(branch):
            return RolledBack(at=clock.now(), former=tip, kept="")
        kept = leave(repository, new=tip, run=epic.id).ref
        repository.git.run("update-ref", "-m", f"burnish: {epic.id}", f"{BRANCHES}{branch}", start, tip)
        return RolledBack(at=clock.now(), former=tip, kept=kept)
