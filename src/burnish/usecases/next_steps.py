"""What to do next about a run: commands that work as they are printed, where the user is, and what each does.

A step is made from what the repository is now, not from what it was when the run ended: a branch may have moved since,
a file may be in the way, a seal may not hold.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from burnish.core.budget import Cap
from burnish.core.errors import BurnishError
from burnish.core.events import Mode
from burnish.core.findings import Finding
from burnish.core.protocol import Choice, ChoiceAction
from burnish.core.spending import used
from burnish.core.state import Ended, Outcome, Run, SealKind, Waiting
from burnish.core.steps.person import other_agent
from burnish.report.account import NextStep, RunSnapshot
from burnish.runtime.context import context_of, has_context, invocation_of
from burnish.settings.types import Allowance
from burnish.system.shell import shell_line
from burnish.workspace.errors import WorkspaceError
from burnish.workspace.landing import ResultCommits, branch_commit, how_to_take
from burnish.workspace.repository import Repository
from burnish.workspace.write_back import PATCH, applies, is_written

_BY_HAND = "Fix the blocking findings by hand"
_Answer = TypeVar("_Answer")


def next_steps(repository: Repository, snapshot: RunSnapshot, folder: Path | None = None) -> tuple[NextStep, ...]:
    """The steps, the likeliest first. `folder` is where the user is."""
    return tuple(_Steps(repository, snapshot, folder or Path.cwd()).steps())


class _Steps:
    def __init__(self, repository: Repository, snapshot: RunSnapshot, folder: Path) -> None:
        self._repository = repository
        self._snapshot = snapshot
        self._run = snapshot.run
        self._folder = folder
        self._inputs = context_of(snapshot.run) if has_context(snapshot.run.started) else None

    def steps(self) -> Iterator[NextStep]:
        run = self._run
        if run.started.session:
            yield from self._of_session()
            return
        match run.phase:
            case Waiting():
                yield from (step for choice in run.phase.choices if (step := self._choice(choice)) is not None)
            case Ended():
                yield from self._after(run.phase.outcome)
            case _ if self._snapshot.interrupted:
                yield NextStep(command=shell_line("burnish", "resume", run.id), does="continues the run")
            case _:
                yield NextStep(command=shell_line("burnish", "wait", run.id), does="waits until the run ends")
                yield NextStep(command=shell_line("burnish", "logs", "-f", run.id), does="follows the logs")

    def _of_session(self) -> Iterator[NextStep]:
        """A session's own run goes on in that session. Here, people decide, verify, look at it or end it."""
        run = self._run
        there = "Type /burnish:fix in your session to"
        match run.phase:
            case Waiting():
                yield from (step for choice in run.phase.choices if (step := self._choice(choice)) is not None)
            case Ended(outcome=Outcome.APPROVED | Outcome.ACCEPTED):
                yield self._verify()
            case Ended():
                show = shell_line("burnish", "show", run.id)
                yield NextStep(first=f"{there} review the tree again", command=show, does="shows how it ended")
            case _:
                cancel = shell_line("burnish", "cancel", run.id)
                yield NextStep(first=f"{there} go on with it", command=cancel, does="ends the run")

    def _choice(self, choice: Choice) -> NextStep | None:
        """One way on. Where the run has no driver and agents must work again, that is asked for, too."""
        run = self._run
        agents: tuple[str, ...] = ()
        if choice.action is ChoiceAction.ANOTHER_AGENT and other_agent(run) is None:
            name = self._configured_agent()
            if name is None:
                return None
            agents = ("--agent", name)
        works = choice.action is ChoiceAction.FIX or choice.action.adds_a_round
        decide = shell_line("burnish", "decide", run.id, choice.key, *agents)
        is_idle = self._snapshot.driver is None and not run.started.session
        goes_on = f" && {shell_line('burnish', 'resume', run.id)}" if works and is_idle else ""
        return NextStep(command=f"{decide}{goes_on}", does=choice.text)

    def _configured_agent(self) -> str | None:
        """An agent of the settings that has not reviewed yet, where the roles name no other."""
        run, inputs = self._run, self._inputs
        names = inputs.settings.agents if inputs is not None else ()
        tried = (run.roles.reviewer(run.panel[0].name).agent, run.other_agent)
        return next((name for name in names if name not in tried), None)

    def _after(self, outcome: Outcome) -> Iterator[NextStep]:
        untaken = is_taken(self._repository, self._run) is False
        if outcome is Outcome.DID_NOT_RUN:
            yield NextStep(command=shell_line("burnish", "logs", self._run.id), does="shows what went wrong")
        if untaken:
            yield self._take()
        match outcome:
            case Outcome.APPROVED | Outcome.ACCEPTED:
                yield from () if untaken else (self._verify(),)
            case Outcome.FAILED | Outcome.STOPPED | Outcome.BLOCKED:
                yield from self._after_findings(untaken=untaken)
            case Outcome.UNPROVEN:
                yield from self._after_gaps(untaken=untaken)
            case Outcome.SKIPPED | Outcome.DID_NOT_RUN:
                does = "reviews the change" if outcome is Outcome.SKIPPED else "tries again"
                yield NextStep(command=self._again(untaken=untaken), does=does)
            case Outcome.OVER_BUDGET:
                yield self._with_more(untaken=untaken)
            case Outcome.CANCELLED:
                yield self._anew()

    def _after_gaps(self, *, untaken: bool) -> Iterator[NextStep]:
        if self._run.subject.as_is or self._run.subject.imported:
            yield self._findings()
        else:
            helps = "Add an agent that reads the change, or make the tests run"
            yield NextStep(first=helps, command=self._again(untaken=untaken), does="reviews the change again")
        if self._run.subject.as_is:
            return  # there is no change to approve
        anyway = self._again(untaken=untaken, unexamined=True)
        yield NextStep(command=anyway, does="approves the change as 'unproven'")

    def _after_findings(self, *, untaken: bool) -> Iterator[NextStep]:
        """A review's findings can be handed to a fixer, if it can do anything about them; else a person must."""
        run = self._run
        if run.started.mode is Mode.REVIEW and not run.subject.as_is:
            blocking = _blocking(run)
            fixable = [finding for finding in blocking if self._can_fix(finding)]
            if fixable:
                some = f"{len(fixable)} of {len(blocking)} findings" if len(fixable) < len(blocking) else "the findings"
                yield NextStep(command=self._again(Mode.FIX), does=f"fixes {some}")
                return
        by_hand = _BY_HAND if self._inputs is not None and self._inputs.work_tree else f"{_BY_HAND} and commit"
        what = "files" if run.subject.as_is else "change"
        yield NextStep(first=by_hand, command=self._again(untaken=untaken), does=f"reviews the {what} again")

    def _can_fix(self, finding: Finding) -> bool:
        """Whether the fixer can do anything: a model may, an analyser where it has a fix."""
        if self._inputs is None:
            return True
        settings = self._inputs.settings
        names = self._run.protocol.fix.by_round or (self._run.roles.fix.agent,)
        kinds = [agent.kind for name in names if (agent := settings.agent(name)) is not None]
        by_rule = all(kind.is_by_rule for kind in kinds)
        return not by_rule or finding.fixable or (settings.analysers.unsafe_fixes and bool(finding.rule))

    def _take(self) -> NextStep:
        run, inputs = self._run, self._inputs
        if inputs is not None and inputs.work_tree:
            return self._apply(Path(inputs.work_tree))
        result = ResultCommits(run=run.id, branch=run.subject.branch, head=run.subject.head, commit=run.commit)
        taking = how_to_take(self._repository, result, self._folder)
        return NextStep(command=taking.command, does=taking.does)

    def _apply(self, root: Path) -> NextStep:
        """`git apply` alone would leave out what is not below the folder where the user is."""
        run, patch = self._run, self._repository.state_dir / "runs" / self._run.id / PATCH
        here = () if self._folder.resolve() == root.resolve() else ("-C", str(root))
        if applies(root, patch):
            return NextStep(command=shell_line("git", *here, "apply", str(patch)), does=f"writes the fixes to {root}")
        show = shell_line("git", "--no-pager", "diff", run.subject.head, run.commit)
        return NextStep(command=show, does="shows the fixes, which no longer apply to your working tree")

    def _anew(self) -> NextStep:
        """A cancelled run's rounds count: at the hard cap only a review is left."""
        run = self._run
        spent = run.started.rounds_before + len(run.rounds)
        if run.started.mode is Mode.FIX and spent >= run.protocol.limits.hard_cap:
            return NextStep(
                command=self._again(Mode.REVIEW), does="reviews the change once; no rounds of 'fix' are left"
            )
        return NextStep(command=self._again(), does="starts a new run")

    def _with_more(self, *, untaken: bool) -> NextStep:
        """The same command with twice as much of what ran out, which is the cap of which most is used up."""
        budget, amounts = self._run.started.budget, used(self._run)
        caps = budget.caps
        cap = max(caps, key=lambda each: amounts[each] / caps[each] if caps[each] else 1.0, default=Cap.COST)
        again = self._again(untaken=untaken)
        if cap not in caps or cap.value in budget.wider:
            table = "limits.ticket" if cap.value in budget.wider else "limits"
            return NextStep(
                first=f"Raise {cap.value} in [{table}] of burnish.toml", command=again, does="starts a new run"
            )
        more = f"BURNISH_{cap.value.upper()}={caps[cap] * 2:.15g}"
        return NextStep(command=f"{more} {again}", does="starts a new run with twice the budget")

    def _findings(self) -> NextStep:
        return NextStep(command=shell_line("burnish", "findings", self._run.id), does="shows all findings")

    def _verify(self) -> NextStep:
        run = self._run
        if run.subject.as_is:
            return self._findings()
        if run.subject.paths:
            return NextStep(
                command=self._again(everything=True), does="reviews all of the change: only that can be sealed"
            )
        if not run.seal:
            return NextStep(command=self._again(), does="reviews the change again: this approval has no seal")
        ref = self._sealed_ref()
        usual = _safely(lambda: self._repository.default_base(run.subject.branch, by_settings=False))
        base = () if usual == run.subject.base else ("--base", self._base())
        protocol = self._protocol()
        allowed = [kind.value for kind in run.seal_kinds if kind not in (SealKind.APPROVED, SealKind.REPORTED)]
        flags = [*base, *(("--protocol", protocol) if protocol else ())]
        flags += [word for kind in allowed for word in ("--allow", kind)]
        for further in ((), ("--any-policy",)):
            if self._holds(ref, base[1] if base else None, protocol, allowed, any_policy=bool(further)):
                return NextStep(command=shell_line("burnish", "verify", ref, *flags, *further), does="checks the seal")
        return NextStep(
            command=shell_line("burnish", "show", run.id), does=f"shows the run; its seal is no longer valid for {ref}"
        )

    def _sealed_ref(self) -> str:
        """The branch, where it has the sealed tree; else the commit."""
        run = self._run
        branch = run.subject.branch
        if _safely(lambda: self._repository.tree_of(f"refs/heads/{branch}")) == run.tree:
            return self._branch()
        return run.commit

    def _holds(self, ref: str, base: str | None, protocol: str, allowed: Sequence[str], *, any_policy: bool) -> bool:
        """Whether `verify` will say so: it is asked, for nothing else can tell."""
        from burnish.usecases.verify_seal import Demands, verify  # noqa: PLC0415 - only a sealed run needs it

        demands = Demands(
            base=base,
            protocol=protocol or None,
            any_policy=any_policy,
            allow=tuple(Allowance(kind) for kind in allowed),
        )
        verification = _safely(lambda: verify(self._repository, ref, demands))
        return verification is not None and verification.ok

    def _again(
        self, mode: Mode | None = None, *, untaken: bool = False, unexamined: bool = False, everything: bool = False
    ) -> str:
        """The command that started the run, or the same for another mode, or for all of a change."""
        run, typed = self._run, invocation_of(self._run)
        mode = mode or run.started.mode
        fixes = mode is Mode.FIX
        same = mode is run.started.mode
        options: list[tuple[str, str]] = [
            ("--protocol", self._protocol()),
            ("--story", run.subject.story),
            ("--brief", self._path(typed.brief)),
            ("--intent", typed.intent),
            *(("--agent", agent) for agent in typed.agents),
            ("--complexity", typed.complexity),
            ("--model", typed.model),
            ("--timeout", "" if typed.timeout is None else f"{typed.timeout:.15g}"),
            ("--developer-prompt", typed.developer_prompt if fixes else ""),
            ("--reviewer-prompt", typed.reviewer_prompt),
            ("--max-rounds", str(run.started.max_reviews) if run.started.max_reviews and same else ""),
        ]
        # What was built is taken first: then there is nothing to build any more.
        flags = {
            "--unsafe-fixes": typed.unsafe_fixes and fixes,
            "--allow-unexamined": typed.allow_unexamined or unexamined,
            "--build": run.started.build and fixes and not untaken,
        }
        words = [word for name, value in options if value for word in (name, value)]
        paths = () if fixes or everything else self._paths()  # a part of a change is reviewed, and never fixed
        further = (flag for flag, on in flags.items() if on)
        return shell_line("burnish", mode.value, *self._subject(), *paths, *words, *further)

    def _subject(self) -> tuple[str, ...]:
        if invocation_of(self._run).staged:
            return ("--staged",)
        uncommitted = self._inputs is not None and bool(self._inputs.work_tree)
        if self._run.subject.as_is:
            return (*self._as_is(), *(("--uncommitted",) if uncommitted else ()))
        what = ("--uncommitted",) if uncommitted else ("--branch", self._branch())
        return (*what, "--base", self._base())

    def _as_is(self) -> tuple[str, ...]:
        """Files without a change; and their branch, where it is not the one that is checked out."""
        subject = self._run.subject
        other = () if subject.branch == (self._repository.current_branch() or "HEAD") else (self._branch(),)
        usual = _safely(lambda: self._repository.default_base(subject.branch)) or subject.branch
        base = () if subject.base in (usual, subject.branch) else ("--base", subject.base)
        return ("--whole", *other, *base)

    def _paths(self) -> tuple[str, ...]:
        """The files that were named, from where the user is."""
        folder, root = self._folder.absolute(), self._repository.root
        paths = (os.path.relpath(root / path, folder) for path in self._run.subject.paths)
        return tuple(path if path.startswith(".") else f"./{path}" for path in paths)

    def _branch(self) -> str:
        """The branch by a name that stands for nothing else."""
        name = self._run.subject.branch
        if self._is_known(name):
            return name
        if branch_commit(self._repository, name) is not None:
            return f"refs/heads/{name}"
        return self._run.subject.head if self._is_known(self._run.subject.head) else name

    def _is_known(self, name: str) -> bool:
        return _safely(lambda: self._repository.commit_of(name)) is not None

    def _base(self) -> str:
        """The base as it was named. One that is relative moves with the next commit: then its commit is named."""
        subject = self._run.subject
        relative = any(mark in subject.base for mark in ("~", "^", "@", ":")) or subject.base == "HEAD"
        gone = not self._is_known(subject.base)
        return subject.base_commit if (relative or gone) and self._is_known(subject.base_commit) else subject.base

    def _protocol(self) -> str:
        name = invocation_of(self._run).protocol
        return self._path(name) if "/" in name or name.endswith(".toml") else name

    def _path(self, typed: str) -> str:
        home = Path(invocation_of(self._run).folder)
        if not typed or Path(typed).is_absolute() or home == self._folder.absolute():
            return typed
        # A protocol may be named by its path in the base, wherever the user is.
        return str(home / typed) if (home / typed).exists() else typed


def _blocking(run: Run) -> tuple[Finding, ...]:
    return () if run.judgement is None else (*run.judgement.blocking, *run.judgement.carried)


def _safely(ask: Callable[[], _Answer]) -> _Answer | None:
    try:
        return ask()
    except BurnishError:
        return None


def is_taken(repository: Repository, run: Run) -> bool | None:
    """Whether the branch or the working tree holds the run's result; None where it has none, or that cannot be told."""
    if run.commit == run.subject.head:
        return None
    inputs = context_of(run) if has_context(run.started) else None
    try:
        if inputs is not None and inputs.work_tree:
            return is_written(repository, Path(inputs.work_tree), run.subject.head, run.commit)
        current = branch_commit(repository, run.subject.branch)
        return repository.is_ancestor(run.commit, current or repository.commit_of(run.subject.branch))
    except WorkspaceError:
        return None
