"""A fix that breaks the project's own checks is never sealed, under any protocol."""

from pathlib import Path

import pytest

from burnish.protocols.loader import load
from burnish.runtime.script import read_answer
from burnish.workspace.repository import Repository
from burnish.workspace.seals import find
from tests.end_to_end.answers import answer_text
from tests.end_to_end.machine import Machine, says, writes
from tests.end_to_end.plots import furnished
from tests.end_to_end.simple import policy

BREAKS = writes("app.py", "bad = True\n")
CHECK = '[validate]\ntests = "! grep -q bad app.py"\n'
ANSWERS = {
    "default": ("critical app.py:1 wrong", "clean"),
    "drift": ("drift: wrong", "pass"),
    "epic": ("critical app.py:1 wrong", "clean"),
    "panel": ("critical app.py:1 wrong", "clean"),
    "story": ("clean", "clean"),
    "ticket": ("scores 50 50 50 50 50 50; notes wrong; claims fail", "scores 95 95 95 95 95 95"),
}


@pytest.mark.parametrize(
    "protocol",
    [pytest.param(name, marks=() if name == "default" else pytest.mark.prove) for name in ANSWERS],
)
def test_a_fix_that_fails_validation_is_not_sealed(tmp_path: Path, protocol: str) -> None:
    machine = Machine(tmp_path)
    wanted = load(protocol).protocol
    bad, good = (read_answer(words, wanted) for words in ANSWERS[protocol])
    conduct = {"fix:*": f"{BREAKS}\necho done"}
    for number in range(1, 7):
        answer = answer_text(wanted.contract, bad if number == 1 else good, number - 1)
        conduct[f"review:{number}:*"] = f"{BREAKS if protocol == 'story' else ''}\n{says(answer)}"
    script = machine.script(conduct)
    furnished(machine, policy(f'["sh", "{script}"]', protocol) + CHECK)
    done = machine.burnish("fix", "--json", *(("--story", "1-2") if protocol == "story" else ()))
    assert done.code in (1, 3, 4), done.out
    assert done.view["outcome"] != "approved"
    repository = Repository.discover(machine.root)
    commits = machine.git("rev-list", "--all").split()
    assert [commit for commit in commits if find(repository, repository.tree_of(commit))] == []


def test_a_failed_validation_says_which_command_failed_and_how(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    furnished(machine, '[validate]\ntests = "yes | head -9000; echo the reason >&2; exit 3"\n')
    done = machine.burnish("review")
    assert done.code == 1, done.out
    command, *lines = done.out[done.out.index("  $ yes |") :].splitlines()
    assert command == "  $ yes | head -9000; echo the reason >&2; exit 3"
    assert "    the reason" in lines
    assert any(line.startswith("    The whole output: burnish logs ") for line in lines)
