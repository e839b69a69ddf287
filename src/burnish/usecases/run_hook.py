"""What the installed git hooks do: check a push, review a commit in the background, review what is staged.

A hook on a developer's machine can always be passed by (`--no-verify`): it saves a trip to CI, which decides.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import Mode
from burnish.core.values import Value
from burnish.system.shell import shell_line
from burnish.usecases.drive_run import DriveOptions, RunResult
from burnish.usecases.plan_run import RunRequest
from burnish.usecases.runs import NoRunsError, runs_of
from burnish.usecases.start_run import LivingRunError, Surface, start_in_background, start_run
from burnish.usecases.verify_seal import Demands, Verification, verify
from burnish.workspace.errors import NothingToReviewError, SubjectError
from burnish.workspace.pushes import PushedRef, base_branch, push_seals
from burnish.workspace.references import BRANCHES
from burnish.workspace.repository import Repository

_IGNORED = ("refs/tags/", "refs/burnish/", "refs/notes/")
"""What is pushed there is no change that is merged."""


class PushCheckError(BurnishError):
    kind = ErrorKind.USAGE


class PushCheck(Value):
    """What was found of one ref that is pushed."""

    ref: str
    """Its name on the remote, without `refs/heads/`."""
    ok: bool
    reason: str = ""
    """Why it must not be pushed, or what must be known though it may."""
    steps: tuple[str, ...] = ()
    """The commands that help."""
    verification: Verification | None = None


class PushResult(Value):
    checks: tuple[PushCheck, ...]
    warning: str = ""
    """Why the seals were not pushed, and the command that does it."""

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)


def check_push(repository: Repository, remote: str, pushed: Sequence[PushedRef]) -> PushResult:
    """Verify the seal of every commit that is pushed to a branch; where all hold, push the seals, too."""
    wanted = [ref for ref in pushed if not ref.deletes and not ref.remote_ref.startswith(_IGNORED)]
    checks = tuple(_check(repository, remote, ref) for ref in wanted)
    result = PushResult(checks=checks)
    trees = [check.verification.tree for check in checks if check.verification is not None]
    if not result.ok or not trees:
        return result
    return PushResult(checks=checks, warning=push_seals(repository, remote, trees))


def _check(repository: Repository, remote: str, ref: PushedRef) -> PushCheck:
    name = ref.remote_ref.removeprefix(BRANCHES)
    base = _base(repository, remote, ref)
    if base is None:
        return PushCheck(ref=name, ok=True, reason="nothing to compare it with: this is the first push of a base.")
    if repository.is_ancestor(ref.commit, repository.commit_of(base)):
        return PushCheck(ref=name, ok=True)  # it brings nothing that the base does not have
    found = verify(repository, ref.commit, Demands(base=base))
    if found.ok:
        reason = "reported, NOT approved: it did not pass the gate." if found.is_reported else ""
        return PushCheck(ref=name, ok=True, reason=reason, verification=found)
    local = ref.local_ref.removeprefix(BRANCHES)
    is_branch = ref.local_ref.startswith(BRANCHES)
    what = ("--branch", local if is_branch else ref.commit, "--base", base)
    verbs = ("review", "fix") if is_branch else ("review",)
    return PushCheck(
        ref=name,
        ok=not found.enforced,
        reason=found.reason,
        steps=tuple(shell_line("burnish", verb, *what) for verb in verbs),
        verification=found,
    )


def _base(repository: Repository, remote: str, ref: PushedRef) -> str | None:
    """What a push is compared with; None where a base is pushed for the first time.

    A branch is compared with the base as the remote has it. A push to the base itself is a change like any other: it
    is compared with what it replaces.
    """
    name, base = ref.remote_ref.removeprefix(BRANCHES), base_branch(repository, remote)
    if base is None:
        if ref.creates and not repository.git.text("for-each-ref", "--count=1", f"refs/remotes/{remote}/"):
            return None
        raise PushCheckError(
            f"burnish cannot tell what '{name}' will be merged into: {remote} has no HEAD here, no main and no master.",
            hint=f"Ask the remote for its default branch: {shell_line('git', 'remote', 'set-head', remote, '--auto')}",
        )
    if name != base.name or base.commit == ref.remote_commit:
        return base.ref
    if ref.creates:
        return None
    with suppress(BurnishError):
        return repository.commit_of(ref.remote_commit)
    raise PushCheckError(
        f"'{name}' has commits on {remote} that are not here.", hint=f"Run {shell_line('git', 'fetch', remote)} first."
    )


def review_commit(folder: Path, environment: Mapping[str, str]) -> str:
    """Review the branch in the background, once for each head. What the user should know, in a sentence, if anything.

    Nothing happens while git is busy with a rebase, a merge or the like, nor inside an agent of a run.
    """
    if environment.get("BURNISH_RUN"):
        return ""
    repository = Repository.discover(folder)
    branch = repository.current_branch()
    if branch is None or repository.operation_in_progress() or _is_known(repository, branch):
        return ""
    try:
        start_in_background(folder, RunRequest(mode=Mode.REVIEW), environment, _silent())
    except LivingRunError as error:
        return f"this commit is not reviewed: {error.message}"
    except SubjectError:  # no base, or nothing that it does not have
        return ""
    return ""


def _is_known(repository: Repository, branch: str) -> bool:
    """Whether there is a run for this very head."""
    with suppress(NoRunsError), runs_of(repository) as runs:
        latest = runs.latest_of(branch)
        return latest is not None and runs.load(latest).subject.head == repository.commit_of("HEAD")
    return False


def review_staged(folder: Path, environment: Mapping[str, str], index: str) -> RunResult | str:
    """Review what is about to be committed; or why there is no review, where that is no reason to stop.

    `index` is where git has put what it commits: with `--all` or paths, that is not the repository's own index.
    """
    if environment.get("BURNISH_RUN"):
        return "not reviewed here: an agent of a run commits."
    request = RunRequest(mode=Mode.REVIEW, staged=True, index=folder / index if index else None)
    try:
        return start_run(folder, request, environment, _silent())
    except (NothingToReviewError, LivingRunError) as error:
        return error.message


def _silent() -> Surface:
    return Surface(notice=_ignore, begun=_ignore, options=DriveOptions(watch=_ignore, ask=None, activity=_ignore))


def _ignore(*_: object) -> None:
    pass


def without_git_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """What a hook's own processes may see: git's variables are about the commit or push that is under way."""
    kept = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
    return kept | {name: environment[name] for name in ("GIT_SSH", "GIT_SSH_COMMAND") if name in environment}


def drop_git_variables() -> None:
    """The same for this process, before it starts any other."""
    for name in os.environ.keys() - without_git_variables(os.environ).keys():
        del os.environ[name]
