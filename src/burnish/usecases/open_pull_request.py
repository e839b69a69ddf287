"""Push an approved branch and open a pull request with `gh`. No push is forced, and none comes before approval."""

import tempfile
from collections.abc import Mapping

from burnish.core.errors import BurnishError
from burnish.core.values import Value
from burnish.system.process import Command, How, run_now
from burnish.system.shell import shell_line
from burnish.workspace.pushes import push_branch, push_seals
from burnish.workspace.repository import Repository

_SECONDS = 120.0
_MOST_BODY = 60_000
"""GitHub takes 65,536 characters."""


class PullRequestError(BurnishError):
    pass


class PullRequest(Value):
    branch: str
    base: str
    title: str
    body: str
    trees: tuple[str, ...]
    """The trees that were approved: their seals are pushed, too."""


def open_pull_request(repository: Repository, request: PullRequest, environment: Mapping[str, str]) -> str:
    """Its address. Opening it again gives the one that is there."""
    remote, _, base = request.base.partition("/")
    if not base or remote not in repository.git.text("remote").split():
        remote, base = "origin", request.base
    refused = push_branch(repository, remote, request.branch)
    if refused:
        by_hand = shell_line("git", "push", remote, request.branch)
        raise PullRequestError(f"{request.branch} could not be pushed: {refused}.", hint=f"Run: {by_hand}")
    push_seals(repository, remote, request.trees)
    existing = _gh(repository, environment, "pr", "view", request.branch, "--json", "url", "--jq", ".url")
    if existing.startswith("http"):
        return existing
    with tempfile.NamedTemporaryFile("w", suffix=".md", prefix="burnish-", encoding="utf-8") as file:
        file.write(request.body[:_MOST_BODY])
        file.flush()
        arguments = ("--base", base, "--head", request.branch, "--title", request.title, "--body-file", file.name)
        said = _gh(repository, environment, "pr", "create", *arguments)
    address = next((line for line in reversed(said.splitlines()) if line.startswith("http")), "")
    if not address:
        by_hand = shell_line("gh", "pr", "create", "--head", request.branch, "--base", base)
        raise PullRequestError(
            f"`gh pr create` did not open a pull request: {said[-300:] or 'it said nothing'}.",
            hint=f"{request.branch} is pushed. Run: {by_hand}",
        )
    return address


def _gh(repository: Repository, environment: Mapping[str, str], *arguments: str) -> str:
    command = Command(argv=("gh", *arguments), folder=str(repository.root), environment=dict(environment))
    finished = run_now(command, seconds=_SECONDS)
    if finished.how is How.COULD_NOT_START:
        raise PullRequestError(
            "`gh`, the command line of GitHub, is not installed.",
            hint="Install it and log in with `gh auth login`, or open the pull request by hand.",
        )
    return (finished.stdout.decode("utf-8", errors="replace").strip() or finished.stderr_tail.strip())[-2_000:]
