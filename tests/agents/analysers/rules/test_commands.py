"""Command lines in scripts, Dockerfiles, Makefiles and workflows, and workflows that hide failures."""

import json

import pytest

from burnish.agents.panel.own_checks.commands import command_hits, runs_tests
from burnish.agents.panel.own_checks.dockerfiles import dockerfile_hits, missing_files
from burnish.agents.panel.own_checks.reporting import OwnRule
from burnish.agents.panel.own_checks.workflows import lost_script, lost_tests, workflow_hits

WORKFLOW = """on: [push, pull_request]
jobs:
  test:
    steps:
      - run: make build
      - run: pytest
"""
PATH = ".github/workflows/ci.yml"


def found(text: str, path: str = "run.sh") -> list[tuple[str, int | None]]:
    return [(hit.rule, hit.line) for hit in command_hits(path, text.encode())]


@pytest.mark.parametrize("command", ["npm run lint", "ruff check .", "cargo clippy", "make lint", "npx tsc --noEmit"])
def test_a_check_whose_failure_is_hidden_counts_in_ci(command: str) -> None:
    assert found(f"      - run: {command} || true\n", PATH) == [(OwnRule.STEP_MAY_FAIL.value, 1)]
    assert found(f"lint:\n\t{command} || true\n", "Makefile") == []
    assert found(f"      - run: {command} || exit 1\n", PATH) == []


@pytest.mark.parametrize(
    "command",
    [
        "pytest -x",
        "python -m pytest tests/",
        "uv run pytest",
        "npm test",
        "npm run test:unit",
        "yarn workspace a test",
        "go test ./...",
        "cargo test --workspace",
        "make test",
        "./gradlew test",
        "./run_tests.sh",
        "cd a && tox -e py",
        "CI=1 npx vitest run",
        "node --test",
        "python -u -m pytest",
        "pytest -k list",
    ],
)
def test_commands_that_run_tests(command: str) -> None:
    assert runs_tests(command)
    assert found(f"#!/bin/sh\n{command} || true\n") == [(OwnRule.TESTS_MAY_FAIL.value, 2)]


@pytest.mark.parametrize(
    "command",
    [
        "pip install pytest",
        "npm ci",
        "pnpm exec vitest list --config a.ts",
        "npx jest --listTests",
        "yarn jest -u --ci",
        "cargo test --no-run",
        "cp tests/a b",
        "make build",
        "echo test",
        "go build ./cmd/test.go",
        "docker build -t test .",
        "read -rd '' text <\"$PREFIX/bin/bats\"",
        "ln -s ../lib/run-tests bin/",
    ],
)
def test_commands_that_only_name_tests(command: str) -> None:
    assert not runs_tests(command)


@pytest.mark.parametrize(
    "line",
    [
        "pytest || exit 1",
        "pytest || { echo failed; exit 1; }",
        "pytest || echo failed && false",
        "pytest || status=$?",
        "# pytest || true",
        "make lint || true",
        "pkill pytest || true",
        "pytest && deploy || rollback",
    ],
)
def test_failing_tests_that_are_not_hidden(line: str) -> None:
    assert not found(f"{line}\n")


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("Makefile", "\tpytest || :"),
        ("package.json", '    "test": "jest || exit 0"'),
        (".gitlab-ci.yml", "    - pytest \\\n      -x || echo failed"),
        ("tox.ini", "commands = pytest || true"),
    ],
)
def test_failing_tests_are_hidden_in_many_kinds_of_files(path: str, line: str) -> None:
    assert found(line, path) == [(OwnRule.TESTS_MAY_FAIL.value, 1)]


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        (OwnRule.DOWNLOAD_RUN, "curl -fsSL https://example.org/x | sh"),
        (OwnRule.DOWNLOAD_RUN, "wget -qO- https://example.org/x | sudo -E bash -s -- -y"),
        (OwnRule.DOWNLOAD_RUN, 'bash -c "$(curl -fsSL https://example.org/x)"'),
        (OwnRule.DOWNLOAD_RUN, "source <(curl -s https://example.org/x)"),
        (OwnRule.DOWNLOAD_RUN, "curl -sSL https://example.org/x | python3 -"),
        (OwnRule.NOT_VERIFIED, "curl -fsSLk https://example.org/x -o x"),
        (OwnRule.NOT_VERIFIED, "wget --no-check-certificate https://example.org/x"),
        (OwnRule.EVERYONE_WRITES, "chmod -R 777 /srv"),
        (OwnRule.DELETES_ROOT, 'rm -rf "$TARGET/"'),
        (OwnRule.DELETES_ROOT, "sudo rm -fr ${TARGET}/*"),
    ],
)
def test_dangerous_commands(rule: OwnRule, line: str) -> None:
    assert found(line) == [(rule.value, 1)]
    assert found(f"FROM a\nRUN {line}\n", "Dockerfile") == [(rule.value, 2)]


@pytest.mark.parametrize(
    "line",
    [
        "curl -fsSL https://example.org/x -o install.sh",
        "curl https://example.org/x | jq .",
        'echo "curl https://example.org/x | sh"',
        "curl https://example.org/x | tee install.sh",
        "curl -K config https://example.org",
        "chmod 755 a",
        'rm -rf "${TARGET:?}/"',
        'rm -rf "$TARGET/cache"',
        'rm -rf "$HOME"/*',
        'rm -rf "$TARGET"',
    ],
)
def test_commands_that_are_fine(line: str) -> None:
    assert not found(line)


def test_a_comment_of_javascript_is_no_command() -> None:
    line = "export NODE_TLS_REJECT_UNAUTHORIZED=0"
    assert found(f"{line}\n", ".github/actions/a/dist.js")
    assert not found(f"  // not {line}, for every request\n", ".github/actions/a/dist.js")


def test_only_files_of_command_lines_are_read() -> None:
    assert not found("curl https://example.org/x | sh\n", "README.md")
    assert found("#!/usr/bin/env bash\ncurl https://example.org/x | sh\n", "bin/setup")
    assert not found("curl https://example.org/x | sh\n", "bin/setup")


def in_workflow(text: str) -> list[tuple[str, int | None]]:
    return [(hit.rule, hit.line) for hit in workflow_hits(PATH, text.encode())]


@pytest.mark.parametrize(
    ("step", "rule"),
    [
        ("continue-on-error: true\n        run: pytest", OwnRule.TESTS_MAY_FAIL),
        ("if: false\n        run: pytest", OwnRule.TESTS_MAY_FAIL),
        ("if: ${{ false }}\n        run: pytest", OwnRule.TESTS_MAY_FAIL),
        ("continue-on-error: true\n        uses: actions/upload-artifact@v4", OwnRule.STEP_MAY_FAIL),
    ],
)
def test_steps_whose_failure_is_hidden(step: str, rule: OwnRule) -> None:
    assert in_workflow(f"on: push\njobs:\n  a:\n    steps:\n      - {step}\n") == [(rule.value, 5)]


def test_a_step_whose_failure_is_asked_for_later_is_doubtful() -> None:
    step = "continue-on-error: true\n        id: a\n        run: pytest"

    def doubtful(*more: str) -> bool:
        text = "on: push\njobs:\n  a:\n    steps:\n" + "".join(f"      - {one}\n" for one in (step, *more))
        (found,) = workflow_hits(PATH, text.encode())
        return found.doubtful

    assert not doubtful()
    assert not doubtful("run: echo ${{ steps.a.outcome }}")
    assert not doubtful("if: steps.b.outcome == 'failure'\n        run: exit 1")
    assert doubtful("if: steps.a.outcome == 'failure'\n        run: exit 1")
    assert doubtful("run: test ${{ steps.a.outcome }} = success || exit 1")
    assert doubtful("uses: ./report\n        with:\n          outcome: ${{ steps.a.outcome }}")


@pytest.mark.parametrize(
    ("condition", "doubtful"),
    [
        ("github.event.comment.author_association == 'OWNER'", True),
        ("github.event.label.name == 'safe'", True),
        ("github.event.action == 'opened'", False),
        ("github.actor != 'dependabot[bot]'", False),
    ],
)
def test_code_of_people_whom_a_condition_lets_in_is_doubtful(condition: str, *, doubtful: bool) -> None:
    job = f"on: pull_request_target\njobs:\n  a:\n    if: {condition}\n    steps:\n      - run: gh pr checkout 1\n"
    assert [one.doubtful for one in workflow_hits(PATH, job.encode())] == [doubtful]


@pytest.mark.parametrize(
    ("trigger", "step", "found"),
    [
        ("pull_request_target", "uses: actions/checkout@v4\n        with: {ref: '${{ github.head_ref }}'}", True),
        ("[push, workflow_run]", "run: gh pr checkout 1", True),
        ("issue_comment", "run: git fetch origin refs/pull/1/head", True),
        ("pull_request", "uses: actions/checkout@v4\n        with: {ref: '${{ github.head_ref }}'}", False),
        ("pull_request_target", "uses: actions/checkout@v4", False),
        ("pull_request_target", "run: echo ${{ github.event.pull_request.head.sha }}", False),
    ],
)
def test_workflows_that_run_code_of_strangers_with_secrets(trigger: str, step: str, *, found: bool) -> None:
    rules = [rule for rule, _ in in_workflow(f"on: {trigger}\njobs:\n  a:\n    steps:\n      - {step}\n")]
    assert rules == [OwnRule.RUNS_STRANGERS.value] * found


def test_jobs_that_may_fail_never_run_or_need_what_is_not_there() -> None:
    job = "on: push\njobs:\n  a:\n    {}\n    steps:\n      - run: pytest\n"
    assert in_workflow(job.format("continue-on-error: true")) == [(OwnRule.JOB_MAY_FAIL.value, 4)]
    assert in_workflow(job.format("if: false")) == [(OwnRule.TESTS_MAY_FAIL.value, 4)]
    assert in_workflow(job.format("needs: [a, b]")) == [(OwnRule.UNKNOWN_JOB.value, 4)]
    assert not in_workflow(job.format("needs: a"))
    assert not in_workflow(job.format("needs: [A]"))
    assert not in_workflow(job.format("continue-on-error: ${{ matrix.experimental }}"))
    assert not in_workflow("jobs: [\n")
    assert not list(workflow_hits("a.yml", job.format("if: false").encode()))


def test_permissions_without_a_limit() -> None:
    job = "on: push\njobs:\n  a:\n    permissions: {}\n    steps:\n      - run: make\n"
    assert in_workflow("on: push\npermissions: write-all\njobs: {}\n") == [(OwnRule.WRITE_ALL.value, 2)]
    assert in_workflow(job.format("write-all")) == [(OwnRule.WRITE_ALL.value, 4)]
    assert not in_workflow(job.format("read-all"))
    assert not in_workflow(job.format("{contents: write}"))


@pytest.mark.parametrize("ref", ["main", "v4", "v1.2.3", "deadbeef"])
def test_actions_of_others_that_can_change(ref: str) -> None:
    uses = f"someone/build@{ref}"
    assert in_workflow(f"jobs:\n  a:\n    steps:\n      - uses: {uses}\n") == [(OwnRule.MOVING_ACTION.value, 4)]
    assert in_workflow(f"jobs:\n  a:\n    uses: {uses}\n") == [(OwnRule.MOVING_ACTION.value, 3)]
    action = f"runs:\n  steps:\n    - uses: {uses}\n".encode()
    (hit,) = workflow_hits(".github/actions/a/action.yml", action)
    assert (hit.line, hit.message) == (3, "`someone/build` is not named by its commit.")


@pytest.mark.parametrize(
    "uses",
    ["actions/checkout@v4", "github/codeql-action/init@v3", "./.github/actions/a", f"someone/build@{'0a' * 20} # v1"],
)
def test_actions_that_may_be_used(uses: str) -> None:
    assert not in_workflow(f"jobs:\n  a:\n    steps:\n      - uses: {uses}\n")


@pytest.mark.parametrize(
    "now",
    [
        {},
        {PATH: WORKFLOW.replace("pytest", "true")},
        {PATH: WORKFLOW.replace("[push, pull_request]", "workflow_dispatch")},
        {PATH: WORKFLOW.replace("run: pytest", "if: false\n        run: pytest")},
    ],
)
def test_tests_that_no_workflow_runs_any_more(now: dict[str, str]) -> None:
    (hit,) = lost_tests({PATH: WORKFLOW.encode()}, {path: text.encode() for path, text in now.items()})
    assert (hit.rule, hit.file) == (OwnRule.TESTS_NOT_RUN.value, PATH)


@pytest.mark.parametrize(
    "now",
    [
        {PATH: WORKFLOW.replace("pytest", "nox -s tests")},
        {".github/workflows/other.yml": WORKFLOW},
        {PATH: "on: push\njobs:\n  a:\n    uses: ./.github/workflows/test.yml\n"},
        {".github/actions/t/action.yml": "runs:\n  steps:\n    - run: pytest\n"},
    ],
)
def test_tests_that_run_elsewhere_are_not_lost(now: dict[str, str]) -> None:
    assert not list(lost_tests({PATH: WORKFLOW.encode()}, {path: text.encode() for path, text in now.items()}))


def test_workflows_that_never_ran_tests_lose_none() -> None:
    assert not list(lost_tests({PATH: WORKFLOW.replace("pytest", "true").encode()}, {}))


def test_a_test_script_that_runs_nothing_any_more() -> None:
    def rules(before: str | None, now: str | None) -> list[str]:
        texts = (b"{}" if one is None else json.dumps({"scripts": {"test": one}}).encode() for one in (before, now))
        return [hit.rule for hit in lost_script("package.json", *texts)]

    lost = [OwnRule.TESTS_NOT_RUN.value]
    assert rules("jest", "echo no tests") == rules("jest", None) == rules("node --test", "exit 0") == lost
    assert not rules("jest", "vitest run")
    assert not rules("jest", "echo start && vitest run")
    assert not rules('echo "no test" && exit 1', None)
    assert not rules(None, None)


def in_dockerfile(text: str) -> list[tuple[str, int | None]]:
    return [(hit.rule, hit.line) for hit in dockerfile_hits("Dockerfile", text.encode())]


def test_stages_and_lists_of_a_dockerfile() -> None:
    build = "FROM --platform=linux/amd64 golang:1.23 AS Build\nFROM alpine\n"
    assert in_dockerfile(build + "COPY --chown=1 --from=builder /a /a\n") == [(OwnRule.UNKNOWN_STAGE.value, 3)]
    assert not in_dockerfile(build + "COPY --from=build /a /a\nCOPY --from=0 /a /a\nCOPY --from=ghcr.io/a/b:1 /a /a\n")
    assert in_dockerfile("FROM a\nCMD ['python', 'app.py']\n") == [(OwnRule.INVALID_DATA.value, 2)]
    assert not in_dockerfile('FROM a\nCMD ["python", "app.py"]\nENTRYPOINT python app.py\n')
    assert not list(dockerfile_hits("a.txt", b"CMD ['a']"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("FROM python:3.12\nCOPY a /a\nCMD python /a\n", 3),
        ("FROM docker.io/library/node:22-slim\nENTRYPOINT node a\nCMD b\n", 3),
        ("FROM golang:1.24 AS build\nUSER 1000\nFROM alpine:3.20\nCMD a\n", 4),
        ("FROM debian:12 AS base\nFROM base\nCMD a\n", 3),
    ],
)
def test_programs_that_run_as_root(text: str, line: int) -> None:
    assert in_dockerfile(text) == [(OwnRule.RUNS_AS_ROOT.value, line)]


@pytest.mark.parametrize(
    "text",
    [
        "FROM python:3.12\nUSER 1000\nCMD python /a\n",
        "FROM debian:12 AS base\nUSER app\nFROM base\nCMD a\n",
        "FROM python:3.12\nRUN pip install a\n",
        "FROM gcr.io/distroless/python3:nonroot\nCMD a\n",
        "FROM postgres:16\nCMD postgres\n",
        'FROM debian:12\nENTRYPOINT ["gosu", "app", "server"]\n',
    ],
)
def test_programs_that_do_not_run_as_root(text: str) -> None:
    assert not in_dockerfile(text)


def test_files_that_a_dockerfile_copies() -> None:
    paths = frozenset({"docker/Dockerfile", "docker/entry.py", "setup.py", "src/a.py"})

    def missing(line: str, before: str = "") -> list[str]:
        return [hit.message for hit in missing_files("docker/Dockerfile", line.encode(), before.encode(), paths)]

    assert missing("COPY requirements.txt setup.py ./") == ["There is no `requirements.txt` in the project."]
    assert not missing("COPY requirements.txt ./", "COPY requirements.txt ./")
    assert not missing("COPY entry.py setup.py src ./")
    assert not missing("COPY --from=build /app/main.py ./\nCOPY dist/main.py app *.py $FILE.py ./\n")
