"""A project's own linter configuration that stops the linter does not stop the review."""

from pathlib import Path

import pytest

from tests.runtime.seats import Seats

CODE = "if not x == 1:\n    print(unknown)\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.ruff]\nshow-source = true\n"),
        ("ruff.toml", "no-such-key = 1\n"),
        ("ruff.toml", 'required-version = "==0.0.1"\n'),
        ("ruff.toml", "not toml at all"),
    ],
)
def test_where_ruff_refuses_the_configuration_our_own_rules_take_its_place(
    tmp_path: Path, name: str, text: str
) -> None:
    review = Seats(tmp_path, {name: text}, {"a.py": CODE}).review("pedant")

    assert [one.rule for one in review.answer.findings] == ["ruff:SIM201"]
    (note,) = review.answer.notes
    assert note.startswith("ruff does not run with the project's configuration, so burnish used its own rules: ")
    assert [(one.path, one.level.value) for one in review.evidence.examined] == [("a.py", "linted")]


def test_where_oxlint_refuses_the_configuration_the_seat_has_nothing_to_say_and_says_so(tmp_path: Path) -> None:
    seats = Seats(tmp_path, {".oxlintrc.json": "{ broken"}, {"a.js": "eval(x)\n"})
    review = seats.review("pedant")

    assert review.evidence.examined == ()
    assert review.evidence.missing is not None
    assert review.evidence.missing.excused
    assert seats.examined("critic")["a.js"] == "linted"


def test_a_configuration_that_leaves_files_out_does_not_make_them_linted(tmp_path: Path) -> None:
    base = {"ruff.toml": 'exclude = ["a.py"]\nforce-exclude = true\n'}
    seats = Seats(tmp_path, base, {"a.py": CODE})

    assert seats.examined("pedant") == {}
    assert seats.examined("critic")["a.py"] == "linted"


def test_a_configuration_that_works_is_used(tmp_path: Path) -> None:
    base = {"ruff.toml": '[lint]\nselect = ["D100"]\n'}
    review = Seats(tmp_path, base, {"a.py": CODE, "ruff.toml": "[lint]\nselect = []\n"}).review("pedant")

    assert [one.rule for one in review.answer.findings] == ["ruff:D100"]
    assert review.answer.notes == ()


def test_a_linter_knows_the_packages_of_the_project_without_their_files(tmp_path: Path) -> None:
    base = {
        "ruff.toml": 'extend = "rules/shared.toml"\nsrc = ["lib"]\n',
        "rules/shared.toml": '[lint]\nselect = ["I001"]\n',
        "lib/house/deep/er/__init__.py": "",
        "lib/house/deep/er/thing.py": "x = 1\n",
    }
    together = "import os\n\nimport zebra\n\nimport house\n"
    apart = "import os\n\nimport house\nimport zebra\n"
    review = Seats(tmp_path, base, {"lib/good.py": together, "lib/bad.py": apart}).review("style")

    assert [(one.rule, one.location and one.location.file) for one in review.answer.findings] == [
        ("ruff:I001", "lib/bad.py")
    ]
