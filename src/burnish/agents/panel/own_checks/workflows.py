"""GitHub workflows that hide failures (steps that may fail, never run, or are gone), or that give too much away.

A file that is no YAML is left to `data_files`; what else is wrong with a workflow, to zizmor.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath

from burnish.agents.panel.interface import Hit
from burnish.agents.panel.own_checks.commands import runs_tests
from burnish.agents.panel.own_checks.reporting import OwnRule, hit
from burnish.agents.panel.tools.reading import text
from burnish.core.values import replace
from burnish.settings.yaml_nodes import NOTHING, YamlError, YamlNode, documents

_WORKFLOWS = PurePosixPath(".github/workflows")
_ACTIONS = PurePosixPath(".github/actions")
_NEVER = re.compile(r"(?:\$\{\{\s*)?false(?:\s*\}\})?")
_NOTHING = re.compile(r"\s*(?:echo|printf|true|:|exit\s+0)(?![\w-])(?!.*&&(?!\s*exit))")
"""A command line that only says something."""
_WITH_SECRETS = frozenset({"pull_request_target", "workflow_run", "issue_comment"})
"""What starts a workflow with the repository's own secrets, although others may have caused it."""
_FROM_OUTSIDE = re.compile(
    r"github\.(?:event\.(?:pull_request\.head|workflow_run\.head)|head_ref)\b|refs/pull/|\bgh\s+pr\s+checkout\b"
)
_ASKS_WHO = re.compile(
    r"author_association|event\.label\b|pull_request\.labels|github\.(?:actor|triggering_actor)\b|user\.login|head\.repo(?:sitory)?\.(?:full_name|fork)",
    re.IGNORECASE,
)
"""A condition that lets only some people start the job."""
_OF_CHANGES = frozenset({"push", "pull_request", "pull_request_target", "merge_group", "workflow_call"})
"""What starts a workflow when code changes."""
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_OF_GITHUB = ("actions/", "github/")


def is_workflow(path: str) -> bool:
    file = PurePosixPath(path)
    return file.suffix in (".yml", ".yaml") and (file.parent == _WORKFLOWS or _ACTIONS in file.parents)


def workflow_hits(path: str, content: bytes) -> Iterator[Hit]:
    """What a workflow hides, and what it gives away."""
    if not is_workflow(path):
        return
    document = _document(content)
    jobs = document.get("jobs").pairs
    if _WITH_SECRETS.intersection(_texts(document.get("on"))):
        yield from (found for _, job in jobs for found in _strangers(path, job))
    yield from _given_away(path, document, document.get("runs").get("steps").items)
    for _, job in jobs:
        yield from _unknown_jobs(path, job, frozenset(name.text for name, _ in jobs))
        steps = job.get("steps").items
        yield from _given_away(path, job, (job, *steps))
        for step in steps:
            yield from _step_hits(path, step, steps)
        if not any(map(_is_test, steps)):
            continue
        if _may_fail(job):
            line = job.get("continue-on-error").line
            yield hit(OwnRule.JOB_MAY_FAIL, path, line, "The job of the tests counts as passed when they fail.")
        if _never_runs(job):
            yield hit(OwnRule.TESTS_MAY_FAIL, path, job.get("if").line, "The job of the tests never runs.")


def _strangers(path: str, job: YamlNode) -> Iterator[Hit]:
    """Steps that take in the code of a pull request, where the workflow has the repository's secrets."""
    asks = _asks_who(job)
    for step in job.get("steps").items:
        is_guarded = asks or _asks_who(step)
        yield from (replace(found, doubtful=is_guarded) for found in _brought_in(path, step))


def _asks_who(part: YamlNode) -> bool:
    """Whether only named people, or a label of theirs, start a job or step. `github.actor != …` lets in all others."""
    condition = part.get("if").text
    return _ASKS_WHO.search(condition) is not None and ("==" in condition or "contains(" in condition)


def _brought_in(path: str, step: YamlNode) -> Iterator[Hit]:
    run, ref = step.get("run"), step.get("with").get("ref")
    brought = (
        ref
        if "checkout" in step.get("uses").text
        else run
        if re.search(r"\bcheckout\b|\bfetch\b", run.text)
        else NOTHING
    )
    if _FROM_OUTSIDE.search(brought.text):
        said = "The workflow has the repository's secrets, and checks out what a pull request brings."
        yield hit(OwnRule.RUNS_STRANGERS, path, brought.line, said)


def _step_hits(path: str, step: YamlNode, steps: Iterable[YamlNode]) -> Iterator[Hit]:
    rule = OwnRule.TESTS_MAY_FAIL if _is_test(step) else OwnRule.STEP_MAY_FAIL
    if _may_fail(step):
        line = step.get("continue-on-error").line
        found = hit(rule, path, line, "The job goes on as if nothing had happened when this step fails.")
        yield replace(found, doubtful=_is_asked_later(step.get("id").text, steps))
    if _never_runs(step):
        yield hit(rule, path, step.get("if").line, "This step never runs.")


def _is_asked_later(name: str, steps: Iterable[YamlNode]) -> bool:
    """Whether another step asks how this one ended, and can end the job."""
    outcome = f"steps.{name}.outcome"
    return bool(name) and any(
        outcome in one.get("if").text
        or (outcome in one.get("run").text and "exit" in one.get("run").text)
        or any(outcome in value.text for _, value in one.get("with").pairs)
        for one in steps
    )


def _given_away(path: str, part: YamlNode, users: Iterable[YamlNode]) -> Iterator[Hit]:
    """Permissions without a limit, and the code of others that can change at any time."""
    permissions = part.get("permissions")
    if permissions.text == "write-all":
        yield hit(OwnRule.WRITE_ALL, path, permissions.line, "Everything that runs here may change everything.")
    for uses in (user.get("uses") for user in users):
        action, separator, ref = uses.text.partition("@")
        is_known = action.startswith((*_OF_GITHUB, ".", "docker:")) or "${{" in ref
        if separator and not is_known and not _COMMIT.fullmatch(ref):
            # Without the version, so that a newer one of the same action is no news.
            yield hit(OwnRule.MOVING_ACTION, path, uses.line, f"`{text(action)}` is not named by its commit.")


def _unknown_jobs(path: str, job: YamlNode, jobs: frozenset[str]) -> Iterator[Hit]:
    needs, known = job.get("needs"), {one.lower() for one in jobs}
    for name in _texts(needs):
        # GitHub compares the names of jobs without case.
        if name.lower() not in known and "${{" not in name:
            yield hit(OwnRule.UNKNOWN_JOB, path, needs.line, f"The workflow has no job `{text(name)}`.")


def lost_tests(before: Mapping[str, bytes], now: Mapping[str, bytes]) -> Iterator[Hit]:
    """Workflows, before and after a change, of which none runs tests for changes any more. Both are by path."""
    tested = [path for path, content in before.items() if _tests_changes(path, content)]
    if tested and not any(_tests_changes(path, content) for path, content in now.items()):
        place = next((path for path in tested if path in now), tested[0])
        yield hit(OwnRule.TESTS_NOT_RUN, place, None, "No workflow runs the tests for changes any more.")


def lost_script(path: str, before: bytes, now: bytes) -> Iterator[Hit]:
    """A `package.json` whose script `test` ran something, and now runs nothing."""
    former, script = _test_script(before), _test_script(now)
    if former and not _NOTHING.match(former) and (script is None or _NOTHING.match(script)):
        yield hit(OwnRule.TESTS_NOT_RUN, path, None, "The script `test` runs no tests any more.")


def _test_script(content: bytes) -> str | None:
    try:
        scripts = json.loads(content)["scripts"]
        return str(scripts["test"]) if "test" in scripts else None
    except (ValueError, KeyError, TypeError):
        return None


def _tests_changes(path: str, content: bytes) -> bool:
    """Whether a workflow runs tests when code changes; an action runs when a workflow uses it."""
    document = _document(content)
    if _ACTIONS in PurePosixPath(path).parents:
        return any(map(_is_test, document.get("runs").get("steps").items))
    if not _OF_CHANGES.intersection(_texts(document.get("on"))):
        return False
    return any(_job_tests(job) for _, job in document.get("jobs").pairs)


def _job_tests(job: YamlNode) -> bool:
    if _never_runs(job):
        return False
    steps = job.get("steps").items
    return "test" in job.get("uses").text or any(_is_test(step) and not _never_runs(step) for step in steps)


def _is_test(step: YamlNode) -> bool:
    return runs_tests(step.get("run").text)


def _may_fail(part: YamlNode) -> bool:
    return part.get("continue-on-error").text.lower() == "true"


def _never_runs(part: YamlNode) -> bool:
    return _NEVER.fullmatch(part.get("if").text.strip()) is not None


def _document(content: bytes) -> YamlNode:
    try:
        return next(iter(documents(content.decode("utf-8", "replace"))), NOTHING)
    except YamlError:
        return NOTHING


def _texts(node: YamlNode) -> tuple[str, ...]:
    """A text, a list of texts, or the keys of a mapping."""
    return (*(key.text for key, _ in node.pairs), *(item.text for item in node.items), *filter(None, [node.text]))
