"""Which tests are run, and in which order, as the module decides it that is loaded beside them."""

import json
from pathlib import Path

import pytest

from burnish.agents.panel.project_tests.commands import SuiteSelection
from burnish.agents.panel.project_tests.inside import burnish_witness
from burnish.agents.panel.project_tests.inside.burnish_witness import ChosenTests

NAMES = ["t/a.py::one", "t/a.py::two[x  y]", "t/b.py::three", "t/c.py::four"]
FILES = [name.partition("::")[0] for name in NAMES]


def chosen(folder: Path, monkeypatch: pytest.MonkeyPatch, selection: SuiteSelection) -> list[str]:
    """The tests that are run. Whatever is chosen, all are listed in the report."""
    said = selection.for_runner
    if said is not None:
        (folder / "choice").write_bytes(said)
        monkeypatch.setenv(burnish_witness.CHOICE, str(folder / "choice"))
    monkeypatch.setenv(burnish_witness.REPORT, str(folder / "report"))
    found = [NAMES[place] for place in ChosenTests().of(NAMES, FILES)]
    assert json.loads((folder / "report").read_text()) == {"kind": "listed", "names": NAMES}
    return found


@pytest.mark.parametrize(
    ("selection", "places"),
    [
        (SuiteSelection(), [0, 1, 2, 3]),
        (SuiteSelection(first=("t/c.py", "t/b.py")), [2, 3, 0, 1]),
        (SuiteSelection(only=("t/a.py::two[x y]", "t/c.py")), [1, 3]),
        (SuiteSelection(without=("t/a.py::one", "t/c.py::four")), [1, 2]),
        (SuiteSelection(only=("t/gone.py::x",)), []),
        (SuiteSelection(listing=True), []),
    ],
)
def test_the_choice_says_what_is_run_and_what_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, selection: SuiteSelection, places: list[int]
) -> None:
    assert chosen(tmp_path, monkeypatch, selection) == [NAMES[place] for place in places]
