"""The `command` agent: what is run, from which files, in which environment, and what counts as its answer."""

import json
from pathlib import Path

import pytest

from burnish.agents.command import CommandAgent
from burnish.agents.environment import MAX_INLINE_BYTES, findings_json, write_findings
from burnish.agents.interface import AgentError, Reply, Role
from burnish.agents.registry import agent_of
from burnish.core.errors import ErrorKind
from burnish.core.findings import Finding, Location, Severity
from burnish.core.reviews import Failure, FailureKind
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.types import AgentSettings
from burnish.system.process import Finished, How
from tests.agents.building import exited, request

AGENT = CommandAgent()
FINDING = Finding(
    id="1a2b", severity=Severity.HIGH, title="Key is logged", location=Location(file="a.py", line=3), found_by=("x",)
)


def settings(*command: str, environment: tuple[str, ...] = ()) -> AgentSettings:
    return AgentSettings(kind=AgentKind.COMMAND, command=command, environment=environment)


def argv(*command: str, policy_folder: str = "/base") -> tuple[str, ...]:
    return AGENT.command(settings(*command), request(policy_folder=policy_folder), {}).argv


def test_the_prompt_is_the_input_and_the_clone_the_working_directory() -> None:
    command = AGENT.command(settings("reviewer", "--fast"), request(prompt="Äöü", folder="/clone"), {})
    assert command.argv == ("reviewer", "--fast")
    assert command.folder == "/clone"
    assert command.stdin == "Äöü".encode()


def test_a_prompt_that_is_no_utf8_is_passed_on_all_the_same() -> None:
    assert AGENT.command(settings("x"), request(prompt="a\udcffb"), {}).stdin == b"a?b"


def test_an_agent_sees_only_harmless_variables_and_those_that_are_named() -> None:
    mine = {
        "PATH": "/usr/bin",
        "HOME": "/home/me",
        "LANG": "C.UTF-8",
        "LC_ALL": "C",
        "TZ": "UTC",
        "TMPDIR": "/var/mine",
        "TERM": "xterm",
        "OPENAI_API_KEY": "secret",
        "SSH_AUTH_SOCK": "/agent",
        "NAMED_KEY": "wanted",
        "BURNISH_ROUND": "99",
        "GIT_DIR": "/elsewhere",
    }
    command = AGENT.command(settings("x", environment=("NAMED_KEY", "ABSENT")), request(), mine)
    assert command.environment == {
        "PATH": "/usr/bin",
        "HOME": "/home/me",
        "LANG": "C.UTF-8",
        "LC_ALL": "C",
        "TZ": "UTC",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "NAMED_KEY": "wanted",
        "BURNISH_RUN": "20261115-081500-k3f9q2",
        "BURNISH_EFFECT": "review:2:critic:1",
        "BURNISH_ROLE": "review",
        "BURNISH_REVIEWER": "critic",
        "BURNISH_ROUND": "2",
        "BURNISH_ATTEMPT": "1",
        "BURNISH_CONTRACT": "issues",
        "BURNISH_BASE": "b" * 40,
        "BURNISH_HEAD": "c" * 40,
        "BURNISH_SUBJECT": "feature",
        "BURNISH_OUTPUT": "/work/output",
    }


def test_a_variable_of_burnish_cannot_be_replaced_by_naming_it() -> None:
    command = AGENT.command(settings("x", environment=("BURNISH_RUN",)), request(), {"BURNISH_RUN": "another"})
    assert command.environment["BURNISH_RUN"] == "20261115-081500-k3f9q2"


def test_model_and_scratch_copy_are_told_where_there_are_any() -> None:
    environment = AGENT.command(settings("x"), request(model="large", scratch="/scratch"), {}).environment
    assert environment["BURNISH_MODEL"] == "large"
    assert environment["BURNISH_SCRATCH"] == "/scratch"


def test_programs_are_never_looked_for_in_the_change_itself() -> None:
    environment = AGENT.command(settings("x"), request(), {"PATH": ".:/usr/bin::bin:/bin"}).environment
    assert environment["PATH"] == "/usr/bin:/bin"


def test_a_fixer_is_told_the_findings_twice() -> None:
    asked = request(role=Role.FIX, reviewer="", findings=(FINDING,), findings_file="/work/findings.json")
    environment = AGENT.command(settings("x"), asked, {}).environment
    assert environment["BURNISH_FINDINGS_FILE"] == "/work/findings.json"
    [told] = json.loads(environment["BURNISH_FINDINGS"])
    assert (told["id"], told["severity"], told["file"], told["line"]) == ("1a2b", "high", "a.py", 3)


def test_a_fixer_without_findings_is_told_so() -> None:
    assert AGENT.command(settings("x"), request(role=Role.FIX), {}).environment["BURNISH_FINDINGS"] == "[]"


def test_findings_too_long_for_a_variable_are_in_the_file_only() -> None:
    long = tuple(Finding(severity=Severity.LOW, title="é" * 300) for _ in range(100))
    asked = request(role=Role.FIX, findings=long, findings_file="/work/findings.json")
    assert len(findings_json(long)) < MAX_INLINE_BYTES < len(findings_json(long).encode())
    environment = AGENT.command(settings("x"), asked, {}).environment
    assert "BURNISH_FINDINGS" not in environment
    assert environment["BURNISH_FINDINGS_FILE"] == "/work/findings.json"


def test_the_findings_file_holds_the_same_list(tmp_path: Path) -> None:
    file = tmp_path / "findings.json"
    write_findings(request(role=Role.FIX, findings=(FINDING,), findings_file=str(file)))
    assert json.loads(file.read_text()) == json.loads(findings_json((FINDING,)))
    assert file.stat().st_mode & 0o222 == 0


def test_a_nul_in_a_name_does_not_keep_the_agent_from_starting() -> None:
    assert AGENT.command(settings("x"), request(subject="a\0b"), {}).environment["BURNISH_SUBJECT"] == "ab"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (("./review.sh",), ("/base/review.sh",)),
        (("tools/review.sh", "-v"), ("/base/tools/review.sh", "-v")),
        (("/opt/review", "./rules.toml"), ("/opt/review", "/base/rules.toml")),
        (("python3", "./review.py"), ("python3", "/base/review.py")),
        (("reviewer", "src/a.py"), ("reviewer", "src/a.py")),
    ],
)
def test_files_of_the_repository_are_those_of_the_base(command: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert argv(*command) == expected


@pytest.mark.parametrize("interpreter", ["python3", "bash", "node", "/usr/bin/python3.12"])
def test_an_interpreters_script_is_that_of_the_base(tmp_path: Path, interpreter: str) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/review.py").touch()
    command = argv(interpreter, "-u", "tools/review.py", "src", policy_folder=str(tmp_path))
    assert command == (interpreter, "-u", str(tmp_path / "tools/review.py"), "src")


def test_a_module_is_no_file_of_the_repository(tmp_path: Path) -> None:
    command = ("python3", "-m", "reviewers.critic")
    assert argv(*command, policy_folder=str(tmp_path)) == command


@pytest.mark.parametrize("program", ["../review.sh", "./../review.sh", "tools/../../review.sh"])
def test_a_command_cannot_climb_out_of_the_repository(program: str) -> None:
    with pytest.raises(AgentError, match="not a file of the repository") as raised:
        argv(program)
    assert raised.value.kind is ErrorKind.CONFIGURATION


def test_without_the_files_of_the_base_a_relative_command_is_refused() -> None:
    with pytest.raises(AgentError):
        argv("./review.sh", policy_folder="")


def test_the_output_is_the_answer() -> None:
    reply = AGENT.read(exited(stdout=b"clean", seconds=2.5), request(), None)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.usage.seconds) == (b"clean", 2.5)


@pytest.mark.parametrize(("output", "expected"), [(b"in the file", b"in the file"), (b" \n", b"said"), (None, b"said")])
def test_the_file_wins_unless_it_is_empty(output: bytes | None, expected: bytes) -> None:
    reply = AGENT.read(exited(stdout=b"said"), request(), output)
    assert isinstance(reply, Reply)
    assert reply.text == expected


def test_an_answer_that_was_cut_is_unreadable() -> None:
    failure = AGENT.read(exited(stdout=b"clean", stdout_cut=True), request(), None)
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.UNREADABLE


def test_chatter_that_was_cut_does_not_spoil_an_answer_in_the_file() -> None:
    assert isinstance(AGENT.read(exited(stdout=b"chatter", stdout_cut=True), request(), b"clean"), Reply)


def test_an_answer_in_the_file_does_not_make_up_for_a_failure() -> None:
    failure = AGENT.read(exited(code=1), request(), b"clean")
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.CRASHED


def test_a_process_that_was_ended_has_no_answer() -> None:
    finished = Finished(how=How.TIMED_OUT, stdout=b"clean", signal=15, seconds=60)
    assert isinstance(AGENT.read(finished, request(), b"clean"), Failure)


def test_a_kind_has_its_agent() -> None:
    assert isinstance(agent_of(AgentKind.COMMAND), CommandAgent)
    for kind in AgentKind:
        assert agent_of(kind).card.kind is kind


def test_the_analysers_need_no_command() -> None:
    agent_of(AgentKind.ANALYSERS).check(AgentSettings(kind=AgentKind.ANALYSERS))


@pytest.mark.parametrize("command", [(), ("",), (" ", "x")])
def test_a_command_agent_without_a_command_says_so(command: tuple[str, ...]) -> None:
    with pytest.raises(AgentError, match="has no command") as raised:
        AGENT.check(settings(*command))
    assert raised.value.hint
