"""Hostile answers: nothing of them steers a terminal, leads out of the repository, or speaks to the fixer as we do."""

import re

from tests.hostile.answers import ANSWERS, INJECTION
from tests.hostile.scene import CLEAN, Scene

_ODD_BRANCH = "ch\u202ean\x9b31mge"
_ODD_NAME = "ev\x1b[31mil\u202e.py"
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)


def unsafe(output: bytes) -> list[str]:
    """Characters that a terminal obeys, that turn the direction of what is read, or that hide in it."""
    return sorted({repr(character) for character in _UNSAFE.findall(output.decode())})


def _answering(scene: Scene) -> None:
    cases = "".join(f"{name}) {answer.script} ;;\n" for name, answer in ANSWERS.items())
    scene.configure(f"cat >/dev/null\ncase $BURNISH_REVIEWER in\n{cases}esac")
    git = scene.repository.git
    git.run("branch", "--move", "change", _ODD_BRANCH)
    scene.repository.commit({_ODD_NAME: "x = 1\n"}, "An odd name")


def test_hostile_answers_are_contained_and_shown_safely(open_scene: Scene) -> None:
    _answering(open_scene)
    ended = open_scene.burnish("review", "--protocol", open_scene.protocol(*ANSWERS))
    assert unsafe(ended.stdout + ended.stderr) == []
    assert b"Traceback" not in ended.stderr
    run = open_scene.burnish("status", "--json").stdout
    name = re.search(rb'"run": "([^"]+)"', run)
    assert name
    identifier = name[1].decode()
    for command in (("show",), ("findings",), ("logs",), ("status",)):
        shown = open_scene.burnish(*command, identifier)
        assert unsafe(shown.stdout + shown.stderr) == [], command
        assert b"Traceback" not in shown.stderr
    view = open_scene.burnish("show", identifier, "--json").view
    failures = {
        review["reviewer"]: review.get("failure", {}).get("kind", "") for review in view["rounds"][-1]["reviews"]
    }
    assert failures == {name: answer.failure for name, answer in ANSWERS.items()}
    files = {finding["file"] for finding in view["findings"]}
    assert not any(file and (".." in file or file.startswith(("/", "~"))) for file in files)
    assert open_scene.leftovers() == []


def test_an_answer_cannot_speak_to_the_fixer_as_burnish_does(open_scene: Scene) -> None:
    reviewer = f"cat >/dev/null\nif [ $BURNISH_ROUND = 1 ]; then {ANSWERS['injection'].script}; else echo '{CLEAN}'; fi"
    open_scene.configure(reviewer, "cat >&2\necho 'x = 2' > app.py\necho Repaired.")
    ended = open_scene.burnish("fix", "--json", "--protocol", open_scene.protocol("critic", reviews=2))
    assert ended.view["outcome"] == "approved"
    logs = open_scene.checkout / ".git" / "burnish" / "runs" / ended.view["run"] / "logs"
    prompt = (logs / "fix-1-1.log").read_text()
    assert INJECTION in prompt
    assert INJECTION not in _outside_fences(prompt)


def _outside_fences(prompt: str) -> str:
    """What burnish itself says: everything that is not between the lines of a fence."""
    kept: list[str] = []
    token = ""
    for line in prompt.splitlines():
        opening = re.match(r"<<<([0-9A-Za-z]+) ", line)
        if not token and opening:
            token = opening[1]
        elif line == f"{token}>>>":
            token = ""
        elif not token:
            kept.append(line)
    assert token == "", "a fence is left open"
    return "\n".join(kept)
