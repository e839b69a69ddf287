"""Scripts as files: what is wrong in one is said with file, line and key; a good one is played step by step."""

from pathlib import Path

import pytest

from burnish.core.state import Ended, Outcome
from burnish.runtime.script import RehearsalScript
from burnish.settings.documents import DocumentError
from burnish.usecases.rehearse_protocol import load_script, rehearse


def test_a_script_is_read_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "script.toml"
    file.write_text('protocol = "epic"\nfixes = ["fixed"]\n\n[reviews]\nreviewer = ["clean"]\n')
    assert load_script(file) == RehearsalScript(protocol="epic", fixes=("fixed",), reviews={"reviewer": ("clean",)})


def test_every_mistake_is_named_with_its_line_and_key(tmp_path: Path) -> None:
    file = tmp_path / "script.toml"
    file.write_text('protocol = "epic"\nfixs = ["fixed"]\nmax_rounds = "two"\n')
    with pytest.raises(DocumentError) as raised:
        load_script(file)
    assert [(problem.line, problem.key) for problem in raised.value.problems] == [(2, "fixs"), (3, "max_rounds")]
    assert all(problem.file == str(file) for problem in raised.value.problems)


def test_each_moment_has_the_state_before_and_after() -> None:
    moments = list(rehearse(RehearsalScript(protocol="drift", reviews={"reviewer": ("pass",)})))
    befores = [before for before, _ in moments]
    afters = [moment.run for _, moment in moments]
    assert befores == [None, *afters[:-1]]
    assert [run.version for run in afters] == list(range(1, len(afters) + 1))
    assert isinstance(afters[-1].phase, Ended)
    assert afters[-1].phase.outcome is Outcome.APPROVED


def test_a_named_protocol_replaces_the_scripts_own() -> None:
    _, first = next(iter(rehearse(RehearsalScript(protocol="drift"), "epic")))
    assert first.run.protocol.name == "epic"
