"""Everything that can be wrong in a configuration, as a user is told."""

from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.settings.conftest import Load, wrapped

from burnish.settings.documents import DocumentError, SourcePlace
from burnish.settings.loading import Flags


def told(merged: Load, *arguments: str, **options: object) -> str:
    with pytest.raises(DocumentError) as caught:
        merged(*arguments, **options)
    return wrapped([problem.text for problem in caught.value.problems])


def test_all_faults_of_all_types_at_once(merged: Load) -> None:
    text = """
protocl = "epic"
sandbox = "maybe"
[agents.a]
kind = "comand"
[agents.b]
command = "x"
[roles]
review = 5
fix = { agent = "a", fallback = true }
[roles.complexity.hihg]
review = "a"
[validate]
tests = 5
lint = ["a", 6]
types = { line = "x" }
coverage_floor = "80"
[limits]
tokens = 1.5
[[review.rules]]
path = "x"
"""
    assert told(merged, text) == snapshot("""\
main:burnish.toml:2: protocl: unknown key. Hint: Did you mean 'protocol'?
main:burnish.toml:3: sandbox: expected one of 'auto', 'required', 'off', got "maybe". Hint: Choose
    one of them, in quotes.
main:burnish.toml:5: agents.a.kind: expected one of 'command', 'analysers', 'claude', 'codex',
    'gemini', 'opencode', 'acp', 'session', got "comand". Hint: Did you mean 'command'?
main:burnish.toml:6: agents.b.kind: missing. Hint: Add it: one of 'command', 'analysers', 'claude',
    'codex', 'gemini', 'opencode', 'acp', 'session'.
main:burnish.toml:7: agents.b.command: expected an array, got "x". Hint: Write it in square
    brackets.
main:burnish.toml:9: roles.review.agent: expected text, got 5. Hint: Put the text in quotes.
main:burnish.toml:10: roles.fix.fallback: expected text, got true. Hint: Put the text in quotes.
main:burnish.toml:11: roles.complexity.hihg: unknown key. Hint: Did you mean 'high'?
main:burnish.toml:14: validate.tests: expected text, got 5. Hint: Put the text in quotes.
main:burnish.toml:15: validate.lint[1]: expected text, got 6. Hint: Put the text in quotes.
main:burnish.toml:16: validate.types: expected text, got a table. Hint: Put the text in quotes.
main:burnish.toml:17: validate.coverage_floor: expected a number, got "80". Hint: Write digits,
    without quotes.
main:burnish.toml:19: limits.tokens: expected a whole number, got 1.5. Hint: Write digits, without
    quotes.
main:burnish.toml:20: review.rules[0].text: missing. Hint: Add it: text.
""")


def test_all_faults_of_meaning_at_once(merged: Load) -> None:
    text = """
[agents.none]
kind = "analysers"
[agents.a]
kind = "command"
[agents.b]
kind = "command"
command = ["../up.sh", "./x/../../y"]
environment = ["A B", "BURNISH_RUN"]
timeout = 0
[agents.c]
kind = "acp"
command = [" "]
[roles]
review = "clade"
fix = { agent = "b", fallback = "b" }
by_round = ["b", "nobody"]
[roles.reviewers]
critic = { fallback = "zzz" }
[validate]
tests = " "
lint = []
coverage_floor = 101
[limits]
minutes = -1
[limits.ticket]
tokens = 0
[workspace]
prepare = [""]
seed = ["/etc/passwd", "../x"]
[review]
ignore = [""]
[[review.rules]]
path = "/abs"
text = "x"
[prompts]
reviewer = "../elsewhere.md"
[context]
diff_characters = 0
"""
    assert told(merged, text) == snapshot("""\
main:burnish.toml:2: agents.none: 'none' cannot be the name of an agent. Hint: Use letters, digits,
    '.', '_' and '-', at most 64. The names of roles and 'none' are reserved.
main:burnish.toml:4: agents.a.command: missing; kind 'command' needs it. Hint: Set the program and
    its arguments: command = ["./review.sh"].
main:burnish.toml:8: agents.b.command[0]: '../up.sh' is outside the repository. Hint: burnish runs
    files of the repository as they are in the base; use absolute paths for other files.
main:burnish.toml:8: agents.b.command[1]: './x/../../y' is outside the repository. Hint: burnish
    runs files of the repository as they are in the base; use absolute paths for other files.
main:burnish.toml:9: agents.b.environment[0]: 'A B' cannot be passed on. Hint: Use the name of one
    variable. burnish itself sets those that start with BURNISH_.
main:burnish.toml:9: agents.b.environment[1]: 'BURNISH_RUN' cannot be passed on. Hint: Use the name
    of one variable. burnish itself sets those that start with BURNISH_.
main:burnish.toml:10: agents.b.timeout: expected more than 0, got 0.0. Hint: Remove it to use the
    default.
main:burnish.toml:13: agents.c.command: the program is empty. Hint: Put the program first.
main:burnish.toml:15: roles.review.agent: there is no agent 'clade'. Hint: Did you mean 'claude'?
main:burnish.toml:16: roles.fix.fallback: 'b' cannot be its own fallback. Hint: Choose another
    agent, or set fallback = false.
main:burnish.toml:17: roles.by_round[1]: there is no agent 'nobody'. Hint: Add a table
    [agents.nobody]. Known agents: 'none', 'a', 'b', 'c', 'analysers', 'claude', 'codex', 'gemini',
    'opencode'.
main:burnish.toml:19: roles.reviewers.critic.fallback: there is no agent 'zzz'. Hint: Add a table
    [agents.zzz]. Known agents: 'none', 'a', 'b', 'c', 'analysers', 'claude', 'codex', 'gemini',
    'opencode'.
main:burnish.toml:21: validate.tests: the command is empty. Hint: Set the command, or remove the
    key.
main:burnish.toml:22: validate.lint: the command is empty. Hint: Set the command, or remove the key.
main:burnish.toml:23: validate.coverage_floor: expected 0 to 100, got 101.0. Hint: It is a
    percentage.
main:burnish.toml:25: limits.minutes: expected more than 0, got -1.0. Hint: Remove it to use the
    default.
main:burnish.toml:27: limits.ticket.tokens: expected more than 0, got 0. Hint: Remove it to use the
    default.
main:burnish.toml:29: workspace.prepare[0]: the command is empty. Hint: Set the command, or remove
    it.
main:burnish.toml:30: workspace.seed[0]: '/etc/passwd' is not a pattern for files of the repository.
    Hint: Make it relative to the root, as in 'docs/**/*.md'.
main:burnish.toml:30: workspace.seed[1]: '../x' is not a pattern for files of the repository. Hint:
    Make it relative to the root, as in 'docs/**/*.md'.
main:burnish.toml:32: review.ignore[0]: '' is not a pattern for files of the repository. Hint: Make
    it relative to the root, as in 'docs/**/*.md'.
main:burnish.toml:34: review.rules[0].path: '/abs' is not a pattern for files of the repository.
    Hint: Make it relative to the root, as in 'docs/**/*.md'.
main:burnish.toml:37: prompts.reviewer: '../elsewhere.md' leads out of its folder. Hint: Use a path
    relative to the root of the repository, or an absolute path.
main:burnish.toml:39: context.diff_characters: expected more than 0, got 0. Hint: Remove it to use
    the default.
""")


def test_faults_from_variables_and_flags_are_named_after_them(merged: Load) -> None:
    environment = {"BURNISH_SANDBOX": "of", "BURNISH_TOKENS": "many", "BURNISH_RECORDS": "yes"}
    assert told(merged, environment=environment, flags=Flags(timeout=-1.0)) == snapshot("""\
BURNISH_RECORDS: records: expected true or false, got "yes". Hint: Write true or false, without
    quotes.
BURNISH_SANDBOX: sandbox: expected one of 'auto', 'required', 'off', got "of". Hint: Did you mean
    'off'?
BURNISH_TOKENS: limits.tokens: expected a whole number, got "many". Hint: Write digits, without
    quotes.
""")
    assert told(merged, flags=Flags(timeout=-1.0)) == snapshot(
        "--timeout: timeouts.agent: expected more than 0, got -1.0. Hint: Remove it to use the default.\n"
    )


def test_faults_of_both_files_are_told_together(merged: Load, tmp_path: Path) -> None:
    with pytest.raises(DocumentError) as caught:
        merged("a = \n", user="b = [\n")
    places = [SourcePlace(file=problem.file, line=problem.line).text for problem in caught.value.problems]
    assert places == [f"{tmp_path}/config.toml:1", "main:burnish.toml:1"]


def test_an_unknown_kind_of_agent_in_the_limits_of_epics(merged: Load) -> None:
    assert told(merged, "[epics.agents]\nclaud = 2\ncodex = 1\n") == snapshot("""\
main:burnish.toml:2: epics.agents.claud: 'claud' is not a kind of agent. Hint: Did you mean
    'claude'?
""")
