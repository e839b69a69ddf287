"""The templates for CI: what they may not say, and their steps, run in a clean clone, not on GitHub or GitLab."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from burnish.agents.panel.interface import ToolName
from burnish.agents.panel.programs import program
from tests.usecases.cloned_projects import READER, Clone

ROOT = Path(__file__).parents[2]
ACTION, GITHUB, GITLAB = ROOT / "action.yml", ROOT / "ci" / "github.yml", ROOT / "ci" / "gitlab.yml"


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


class Runner:
    """A clean clone of a remote, and what a CI system sets there."""

    def __init__(self, folder: Path, project: Clone) -> None:
        self.folder = folder
        self.checkout = folder / "checkout"
        self.temporary = folder / "temporary"
        (self.temporary / "burnish" / "bin").mkdir(parents=True)
        shim = self.temporary / "burnish" / "bin" / "burnish"
        shim.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m burnish "$@"\n')
        shim.chmod(0o755)
        git = project.builder.git
        git.run("clone", "--quiet", str(project.remote), str(self.checkout))
        git.run("-C", str(self.checkout), "checkout", "--quiet", "--detach", "origin/change")
        self.summary = self.temporary / "summary"
        known = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "BURNISH_", "CI"))}
        self.environment = {
            **known,
            **project.environment,
            "XDG_STATE_HOME": str(folder / "state"),
            "RUNNER_TEMP": str(self.temporary),
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GITHUB_SERVER_URL": "https://github.invalid",
        }

    def run(self, script: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        """As GitHub's `shell: bash` does."""
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.checkout,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def github(self, *left_out: str) -> list[int]:
        """The exit codes of the action's own steps, up to the first that fails. Only the installation is left out."""
        codes: list[int] = []
        for step in load(ACTION)["runs"]["steps"]:
            if "run" in step and step["name"] not in ("Install burnish", *left_out):
                empty = dict.fromkeys(step.get("env", {}), "")
                codes.append(self.run(step["run"], **empty, GITHUB_BASE_REF="main").returncode)
        return codes


def cloned(folder: Path, policy: str, *, content: str = "fine\n") -> Clone:
    project = Clone(folder, policy)
    project.builder.commit({"app.py": content}, "Change it")
    return project


@pytest.mark.parametrize("content", ["fine\n", "broken\n"])
def test_the_steps_of_the_action_review_report_and_decide(tmp_path: Path, content: str) -> None:
    project = cloned(tmp_path / "project", READER, content=content)
    assert project.do("push", "--quiet", "origin", "change").returncode == 0
    runner = Runner(tmp_path, project)
    assert runner.github() == [0, 0, int(content == "broken\n")]
    sarif = load(runner.temporary / "burnish.sarif")
    assert bool(sarif["runs"][0]["results"]) is (content == "broken\n")
    assert "# " in runner.summary.read_text()
    assert "sealed" in runner.summary.read_text()


def test_seals_that_were_pushed_are_enough_where_the_base_says_so(tmp_path: Path) -> None:
    project = cloned(tmp_path / "project", f'{READER}[seal]\nallow = ["unsigned"]\n')
    assert project.run().seal
    assert (
        project.do("push", "--quiet", "origin", "change", "refs/burnish/seals/*:refs/burnish/seals/*").returncode == 0
    )
    assert Runner(tmp_path, project).github("Review") == [0, 0]


def test_the_lines_for_gitlab_do_the_same(tmp_path: Path) -> None:
    project = cloned(tmp_path / "project", READER, content="broken\n")
    assert project.do("push", "--quiet", "origin", "change").returncode == 0
    runner = Runner(tmp_path, project)
    runner.run("git update-ref -d refs/remotes/origin/main; git symbolic-ref -d refs/remotes/origin/HEAD")
    job = load(GITLAB)["burnish"]
    script = "\n".join(job["script"]).replace("/tmp/burnish", str(runner.temporary / "burnish"))  # noqa: S108 - theirs
    head = project.repository.commit_of("change")
    done = runner.run(script, CI_COMMIT_SHA=head, CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main")
    assert done.returncode == 1, done.stderr
    assert "not sealed" in done.stdout
    for path in job["artifacts"]["paths"]:
        assert (runner.checkout / path).read_text()


def test_the_templates_are_safe(tmp_path: Path) -> None:
    """zizmor has nothing to say. OWNER/burnish@HASH stands for a commit that the user names."""
    text = GITHUB.read_text(encoding="utf-8")
    assert "OWNER/burnish@HASH" in text
    workflow = tmp_path / "burnish.yml"
    workflow.write_text(text.replace("@HASH", f"@{'1' * 40}"))
    action = tmp_path / "action.yml"
    action.write_text(ACTION.read_text(encoding="utf-8"))
    done = subprocess.run(
        [program(ToolName.ZIZMOR), "--offline", "--no-progress", "--persona", "pedantic", str(workflow), str(action)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "secrets." not in text + ACTION.read_text(encoding="utf-8")
    triggers = load(GITHUB)[True]  # YAML 1.1 reads `on` as a truth
    assert list(triggers) == ["pull_request"]
    checkout = load(GITHUB)["jobs"]["burnish"]["steps"][0]["with"]
    assert checkout["fetch-depth"] == 0
    assert checkout["persist-credentials"] is False


def test_the_hooks_for_pre_commit_call_what_there_is() -> None:
    hooks = {hook["id"]: hook for hook in load(ROOT / ".pre-commit-hooks.yaml")}
    assert {name: (hook["entry"], hook["stages"]) for name, hook in hooks.items()} == {
        "burnish-review": ("burnish hook run pre-commit", ["pre-commit"]),
        "burnish-verify": ("burnish hook run pre-push", ["pre-push"]),
    }
    assert all(hook["pass_filenames"] is False and hook["always_run"] for hook in hooks.values())
