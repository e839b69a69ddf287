"""`burnish protocol rehearse`: the steps, the choices that are left, and the exit codes of a real run."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from inline_snapshot import snapshot

Burnish = Callable[..., tuple[int, str, str]]


@pytest.fixture
def script(folder: Path) -> Callable[[str], str]:
    def write(text: str) -> str:
        (folder / "script.toml").write_text(text)
        return "script.toml"

    return write


Write = Callable[[str], str]
CLEAN = 'protocol = "drift"\n[reviews]\nreviewer = ["drift: handle errors", "pass"]\n'


def test_the_steps_of_a_run_that_is_approved(burnish: Burnish, script: Write) -> None:
    assert burnish("protocol", "rehearse", script(f'fixes = ["fixed"]\n{CLEAN}')) == snapshot(
        (
            0,
            """\
started: drift, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 high
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → reviewing round 2
review:2:reviewer:1 clean
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (approved)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 2
""",
            "",
        )
    )


def test_a_run_that_waits_shows_what_can_be_chosen(burnish: Burnish, script: Write) -> None:
    waits = 'protocol = "epic"\nmax_rounds = 1\n[reviews]\nreviewer = ["critical app.py:3 injection"]\n'
    assert burnish("protocol", "rehearse", script(waits)) == snapshot(
        (
            3,
            """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 critical
  → waiting for a/b/c: 1 blocking finding remains after 1 review
    a) Manual review and fix (pause autonomous workflow)
    b) Accept findings and mark story complete (not recommended)
    c) Continue with 1 more review round (override limit)
""",
            "",
        )
    )


@pytest.mark.parametrize(
    ("answer", "code"), [("pass", 0), ("drift: x", 1), ("crashed", 4), ("over-budget", 5), ("cancelled", 1)]
)
def test_exit_codes_are_those_of_a_real_run(burnish: Burnish, script: Write, answer: str, code: int) -> None:
    file = script(f'protocol = "drift"\nmax_rounds = 1\n[reviews]\nreviewer = ["{answer}"]\n')
    assert burnish("protocol", "rehearse", file)[0] == code


def test_the_run_as_one_json_object(burnish: Burnish, script: Write) -> None:
    code, out, err = burnish("protocol", "rehearse", "--json", script(f'fixes = ["fixed"]\n{CLEAN}'))
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert (document["version"], document["outcome"], len(document["rounds"])) == (1, "approved", 2)


def test_another_protocol_than_the_scripts_own(burnish: Burnish, script: Write) -> None:
    file = script('protocol = "drift"\n[reviews]\nreviewer = ["clean"]\n')
    _, out, _ = burnish("protocol", "rehearse", "--protocol", "epic", file)
    assert out.startswith("started: epic, fix\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('protocol = "drift"\nfixs = []\n', "script.toml:2"),
        ('protocol = "drift"\n[reviews]\nreviewer = ["maybe"]\n', "The script says 'maybe'"),
        ('protocol = "nobody"\n', "nobody"),
    ],
)
def test_a_script_that_is_wrong_exits_2_and_says_where(
    burnish: Burnish, script: Write, text: str, message: str
) -> None:
    code, _, err = burnish("protocol", "rehearse", script(text))
    assert code == 2
    assert message in err
