"""Every next step does what it says when it is typed as it is printed, and keeps what the user asked for."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from burnish.runtime.context import Invocation, invocation_of
from burnish.runtime.journal import load_run
from tests.end_to_end.advice import Advised, next_lines, quoted_commands
from tests.end_to_end.answers import findings
from tests.end_to_end.machine import CRASHES, Done, Machine, says, writes
from tests.end_to_end.plots import content, rehearsed, staged
from tests.end_to_end.simple import CLEAN, DRIFT, FIRST_FIX, FIXED, HANGING_FIX, PASS, drift_machine
from tests.trails.test_epic import SCENARIOS as EPIC

ASKED = (
    *("--story", "4.2", "--intent", "It's meant\nto $HOME", "--agent", "scripted", "--model", "m 1"),
    *("--brief", "a brief.md", "--timeout", "77", "--complexity", "low"),
)
"""What a user may ask for beyond branch and base, with everything that a shell could misread."""


def asked_for(machine: Machine, run: str) -> tuple[object, ...]:
    """What the user asked for when a run was begun."""
    with machine.ledger() as ledger:
        state = load_run(ledger, run)
    typed = invocation_of(state)
    same = Invocation(
        protocol=typed.protocol,
        brief=Path(typed.brief).name,
        intent=typed.intent,
        agents=typed.agents,
        complexity=typed.complexity,
        model=typed.model,
        timeout=typed.timeout,
    )
    return same, state.protocol.name, state.subject.story, state.subject.branch, state.subject.base, state.roles


def newest(machine: Machine) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(machine.burnish("show", "--json").out)
    return shown


class Typed:
    """One step, typed on a copy of the machine on which it was offered."""

    def __init__(self, machine: Machine, step: Advised, run: str) -> None:
        self.machine = machine
        self.run = run
        self.before = machine.runs()
        self.done = machine.type(step.command)
        self.said = f"{step}\n{self.done}"

    def began(self, mode: str) -> None:
        """A run of the same kind began, and asks for the same."""
        (new,) = [run for run in self.machine.runs() if run not in self.before]
        assert asked_for(self.machine, new) == asked_for(self.machine, self.run), self.said
        with self.machine.ledger() as ledger:
            assert load_run(ledger, new).started.mode.value == mode, self.said

    def check_seal(self) -> None:
        assert self.done.code == 0, self.said
        assert ": sealed. " in self.done.out, self.said

    def check_taken(self) -> None:
        assert self.done.code == 0, self.said
        result = self.machine.git("rev-parse", f"refs/burnish/{self.run}")
        assert result in self.machine.git("rev-list", "refs/heads/change").split(), self.said

    def check_decided(self) -> None:
        assert self.done.code in (0, 1), self.said
        assert "Decided" in self.machine.kinds(self.run), self.said

    def check_shown(self) -> None:
        assert self.done.code == 0, self.said
        assert self.done.out, self.said

    def check_ended(self) -> None:
        assert "Closed" in self.machine.kinds(self.run), self.said


CHECKS: list[tuple[str, Callable[[Typed], None]]] = [
    (r"checks the seal", Typed.check_seal),
    (r"fixes (the findings|\d+ of \d+ findings)", lambda typed: typed.began("fix")),
    (r"(brings|merges|moves|fast-forwards) .*", Typed.check_taken),
    (r"(Manual|Accept|Continue|Have them|Fix) .*", Typed.check_decided),
    (r"shows .*", Typed.check_shown),
    (r"continues the run", Typed.check_ended),
    (r"reviews the change once.*", lambda typed: typed.began("review")),
    (r"reviews the change again.*|starts a new run.*|tries again", lambda typed: typed.began(_mode(typed))),
]


def _mode(typed: Typed) -> str:
    with typed.machine.ledger() as ledger:
        return load_run(ledger, typed.run).started.mode.value


def check_steps(machine: Machine, done: Done, place: Path) -> list[str]:
    """Type every step that a command has printed; what they are said to do."""
    run = machine.runs()[-1]
    steps = list(dict.fromkeys((*next_lines(done.out), *next_lines(done.err))))
    assert steps, done
    shown = newest(machine)["next"]
    assert [(one["command"], one["does"]) for one in shown] == steps, "text and JSON say the same"
    for number, step in enumerate(steps):
        check = next(check for pattern, check in CHECKS if re.fullmatch(pattern, step.does))
        check(Typed(machine.copied(place / str(number)), step, run))
    return [step.does for step in steps]


def asking(machine: Machine) -> Machine:
    """A machine whose user has a brief."""
    machine.repository.write({"a brief.md": "# Log in\n"})
    return machine


def test_after_a_review_with_findings(tmp_path: Path) -> None:
    machine = asking(staged(tmp_path / "first", rehearsed(EPIC["one review without fixes"])))
    done = machine.burnish("review", "--protocol", "epic", *ASKED)
    assert done.code == 1
    assert check_steps(machine, done, tmp_path) == ["fixes the findings"]


@pytest.mark.prove
def test_after_a_good_run_under_another_protocol(tmp_path: Path) -> None:
    machine = asking(drift_machine(tmp_path / "first", {"review:*": says(findings(()))}))
    done = machine.burnish("review", "--protocol", "epic", *ASKED)
    assert done.code == 0, done
    assert check_steps(machine, done, tmp_path) == ["checks the seal"]


def test_after_a_fix(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path / "first", FIXED)
    machine.repository.git.run("tag", "change", "main")
    assert check_steps(machine, machine.burnish("fix"), tmp_path) == ["checks the seal"]


@pytest.mark.parametrize(
    "situation",
    [
        "moved",
        "ambiguous",
        *(pytest.param(name, marks=pytest.mark.prove) for name in ("dirty", "in the way", "elsewhere")),
    ],
)
def test_a_result_that_could_not_land(tmp_path: Path, situation: str) -> None:
    machine = drift_machine(tmp_path / "first", FIXED)
    if situation == "dirty":
        machine.repository.write({"app.py": content("app.py", 0) + "# more\n"})
    if situation == "ambiguous":
        machine.repository.write({"app.py": content("app.py", 0) + "# more\n"})
    if situation == "in the way":
        machine.script({**FIXED, "fix:*": f"{writes('made.py', 'made = 1')}\necho made"})
        machine.repository.write({"made.py": "mine\n"})
    if situation == "moved":
        machine.script({"review:2:*": f"git -C {machine.root} commit -q --allow-empty -m Meanwhile\n{PASS}", **FIXED})
        machine.variables["BURNISH_SANDBOX"] = "off"
    done = machine.burnish("fix")
    assert done.code == 0, done
    run = machine.runs()[-1]
    if situation == "elsewhere":
        machine.repository.switch("main")
        machine.git("update-ref", "refs/heads/change", "change~1")
        done = machine.burnish("show")
    if situation == "ambiguous":
        machine.git("tag", f"burnish/{run}", "main")
        done = machine.burnish("show")
    (does,) = check_steps(machine, done, tmp_path)
    beginnings = {"moved": "merges", "elsewhere": "fast-forwards", "in the way": "moves the files"}
    assert does.startswith(beginnings.get(situation, "brings"))


def test_a_run_that_failed_after_fixing(tmp_path: Path) -> None:
    machine = asking(drift_machine(tmp_path / "first", {"review:*": DRIFT, "fix:*": FIXED["fix:*"]}))
    done = machine.burnish("fix", "--max-rounds", "2", *ASKED)
    assert done.code == 1, done
    assert check_steps(machine, done, tmp_path) == ["brings the result into change", "reviews the change again"]


def test_a_base_that_moves_with_the_next_commit_is_named_by_its_commit(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path / "first", {"review:*": DRIFT})
    base = machine.git("rev-parse", "HEAD~1")
    done = machine.burnish("fix", "--base", "HEAD~1", "--max-rounds", "1")
    commands = [step.command for step in next_lines(done.out)]
    assert commands, done
    assert all("HEAD" not in command for command in commands)
    assert commands[-1].split()[:6] == ["burnish", "fix", "--branch", "change", "--base", base]


@pytest.mark.prove
def test_a_run_that_did_not_run(tmp_path: Path) -> None:
    machine = asking(drift_machine(tmp_path / "first", {"review:*": CRASHES}))
    done = machine.burnish("review", *ASKED)
    assert done.code == 4
    assert check_steps(machine, done, tmp_path) == ["shows what went wrong", "tries again"]


def test_a_run_that_waits(tmp_path: Path) -> None:
    machine = staged(tmp_path / "first", rehearsed(EPIC["exhausted, one more round passes"]))
    done = machine.burnish("fix")
    assert done.code == 3, done
    does = check_steps(machine, done, tmp_path)
    assert len(does) == 3
    assert len(next_lines(machine.burnish("status").out)) == 3


@pytest.mark.prove
def test_a_run_that_was_cancelled_or_killed(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path / "first", HANGING_FIX)
    process = machine.start("fix")
    run = machine.wait_for_call(process, FIRST_FIX)
    machine.cut_down(process)
    machine.script(FIXED)
    assert check_steps(machine, machine.burnish("show"), tmp_path) == ["continues the run"]
    assert check_steps(machine, machine.burnish("cancel", run), tmp_path / "after") == ["starts a new run"]


@pytest.mark.prove
def test_analysers_offer_a_fix_only_where_they_have_one(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "first")
    machine.repository.commit({"a.py": "x = 1\n"}).branch("change")
    machine.repository.commit({"a.py": "print(undefined_name)\n"})
    (does,) = [step.does for step in next_lines(machine.burnish("review").out)]
    assert does == "reviews the change again"
    machine.repository.commit({"a.py": "y = 1\nif y is 1:\n    print(y, undefined_name)\n"})
    assert check_steps(machine, machine.burnish("review"), tmp_path) == ["fixes 1 of 2 findings"]


def test_a_fix_of_work_that_is_not_committed(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path / "first", FIXED)
    machine.repository.write({"app.py": content("app.py", 0) + "# not committed\n", "new.py": "n = 1\n"})
    index = (machine.root / ".git" / "index").read_bytes()
    machine.script({"review:*": DRIFT})
    (step,) = next_lines(machine.burnish("review", "--uncommitted").out)
    assert (step.command, step.does) == ("burnish fix --uncommitted --base main", "fixes the findings")
    machine.script(FIXED)
    head = machine.git("rev-parse", "HEAD")
    done = machine.type(step.command)
    assert done.code == 0, done
    assert "The fixes are in your working tree" in done.out
    assert (machine.root / "app.py").read_text() == content("app.py", 1)
    assert (machine.root / "new.py").read_text() == "n = 1\n"
    assert machine.git("rev-parse", "HEAD") == head
    assert (machine.root / ".git" / "index").read_bytes() == index
    (step,) = next_lines(done.out)
    Typed(machine, step, machine.runs()[-1]).check_seal()


def test_a_file_that_changed_meanwhile_is_left_alone_and_the_patch_is_kept(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path / "first", FIXED)
    machine.variables["BURNISH_SANDBOX"] = "off"
    original = content("app.py", 0) + "# not committed\n"
    machine.repository.write({"app.py": original, "b.py": "b = 2\n"})
    both = f"{FIXED['fix:*']}\n{writes('b.py', 'b = 3')}"
    machine.script({"review:2:*": f"echo mine > {machine.root}/app.py\n{PASS}", **FIXED, "fix:*": both})
    done = machine.burnish("fix", "--uncommitted")
    assert done.code == 0, done
    assert "burnish wrote nothing" in done.out
    assert (machine.root / "app.py").read_text() == "mine\n"
    assert (machine.root / "b.py").read_text() == "b = 2\n"
    (step,) = next_lines(done.out)
    assert machine.type(step.command).code == 0
    machine.repository.write({"app.py": original})
    (step,) = next_lines(machine.burnish("show").out)
    assert step.command.startswith("git apply ")
    assert machine.type(step.command).code == 0
    assert (machine.root / "app.py").read_text() == content("app.py", 1)


def test_hints_name_commands_that_work(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path / "first", CLEAN)
    for words in (("status", "nothing"), ("resume",), ("decide", "latest", "a")):
        machine.burnish(*words)
    assert machine.burnish("review").code == 0
    said = [machine.burnish(*words).err for words in (("decide", "latest", "z"), ("show", "zzz"), ("resume", "latest"))]
    advised = [step for text in said for step in quoted_commands(text)]
    assert advised
    for step in advised:
        assert machine.type(step.command).code in (0, 1), step
