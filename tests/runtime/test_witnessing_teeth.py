"""Whether the tests of a change would notice if it were missing, seen in real runs."""

from pathlib import Path

import pytest

from burnish.core.findings import Severity
from burnish.settings.types import AnalyserSettings, Settings
from burnish.testing.repositories import RepositoryBuilder
from tests.runtime.conftest import Hear
from tests.runtime.witness_stand import QUIET, Files, Stand

BASE: Files = {
    "calc.py": "def double(number):\n    return number * 3\n",
    "tests/test_calc.py": "from calc import double\n\n\ndef test_zero():\n    assert double(0) == 0\n",
}
FIXED = "def double(number):\n    return number * 2\n"
REGRESSION = "\n\ndef test_two():\n    assert double(2) == 4\n"
IDLE = "\n\ndef test_zero_again():\n    assert double(0) == 0\n"
OLD_TEST = "from calc import double\n\n\ndef test_zero():\n    assert double(0) == 0\n"


def told(heard_from: Stand) -> list[tuple[Severity, str]]:
    return [(finding.severity, finding.title) for finding in heard_from.hear().findings]


def stand(folder: Path, environment: Path, tests: str, message: str, code: str = FIXED) -> Stand:
    builder = RepositoryBuilder(folder / "repository").commit(BASE).branch("change")
    builder.commit({"calc.py": code, "tests/test_calc.py": OLD_TEST + tests}, message)
    return Stand(folder, builder, QUIET, environment)


def test_a_fix_with_a_test_that_fails_without_it_is_quiet(tmp_path: Path, environment_with_pytest: Path) -> None:
    heard = stand(tmp_path, environment_with_pytest, REGRESSION, "Fix doubling").hear()
    assert heard.findings == ()
    assert "without: $ python -m pytest\nexited, exit code 1" in heard.log


def test_a_fix_without_which_no_test_fails_is_high(tmp_path: Path, environment_with_pytest: Path) -> None:
    heard = stand(tmp_path, environment_with_pytest, IDLE, "Fix doubling").hear()
    (finding,) = heard.findings
    assert (finding.severity, finding.title) == (Severity.HIGH, "No test fails without this fix")
    assert "“Fix doubling”" in finding.problem
    assert "`tests/test_calc.py::test_zero_again`" in finding.problem
    assert finding.location is not None
    assert (finding.location.file, finding.location.line) == ("tests/test_calc.py", 8)


def test_a_new_test_that_passes_without_the_change_is_medium(tmp_path: Path, environment_with_pytest: Path) -> None:
    one = stand(tmp_path / "1", environment_with_pytest, REGRESSION + IDLE, "Double by two")
    title = "`tests/test_calc.py::test_zero_again` passes without the change"
    assert told(one) == [(Severity.MEDIUM, title)]
    assert told(stand(tmp_path / "2", environment_with_pytest, IDLE, "refactor: double")) == []


def test_tests_of_new_code_are_quiet(hear: Hear) -> None:
    new = {
        "halves.py": "def halve(n):\n    return n / 2\n",
        "tests/test_halves.py": "from halves import halve\n\n\ndef test_one():\n    assert halve(2) == 1\n",
    }
    assert hear(BASE, new).findings == ()


def test_only_tests_change_and_no_base_is_asked_for_them(hear: Hear) -> None:
    heard = hear(BASE, {"tests/test_calc.py": OLD_TEST + IDLE})
    assert heard.findings == ()
    assert "without: $" not in heard.log


def test_a_test_without_an_assertion_is_named_unless_it_was_seen_to_fail(
    tmp_path: Path, environment_with_pytest: Path
) -> None:
    weak = "\n\ndef test_text():\n    double('a')\n"
    idle = stand(tmp_path / "1", environment_with_pytest, weak, "Double by two")
    assert told(idle) == [(Severity.MEDIUM, "`tests/test_calc.py::test_text` asserts nothing")]
    raises = "def double(number):\n    raise ValueError\n"
    builder = RepositoryBuilder(tmp_path / "2" / "repository").commit({**BASE, "calc.py": raises}).branch("change")
    builder.commit({"calc.py": FIXED, "tests/test_calc.py": OLD_TEST + weak}, "Fix doubling")
    assert told(Stand(tmp_path / "2", builder, QUIET, environment_with_pytest)) == []


SHOP = "def price(amount, member):\n    if member:\n        amount = reduced(amount)\n    return [amount]\n\n\n"
REDUCED = "def reduced(amount):\n    return min(amount, 10)\n"
LOOP = "def reduced(amount):\n    while amount > 10:\n        amount -= 10\n    return amount\n"
SHOP_TESTS = (
    "from shop import price\n\n\ndef test_price():\n    assert price(1, False)[0] == 1\n\n\n"
    "def test_member():\n    assert len(price(21, True)) == 1\n"
)
WITH_MUTATIONS = Settings(analysers=AnalyserSettings(uncovered="off", mutations=600.0))


def test_a_wrong_version_that_no_test_notices_is_told_with_its_line(hear: Hear) -> None:
    """A result that is not there is noticed."""
    heard = hear(BASE, {"shop.py": SHOP + REDUCED, "tests/test_shop.py": SHOP_TESTS}, WITH_MUTATIONS)
    (finding,) = heard.findings
    assert (finding.severity, finding.title) == (Severity.MEDIUM, "No test notices if `member` becomes `not member`")
    assert finding.location is not None
    assert (finding.location.file, finding.location.line) == ("shop.py", 2)
    assert "2 tests run this line of `price`" in finding.problem
    assert "`price(21, True)` returns `[21]` instead of `[10]` in line 9 of `tests/test_shop.py`" in finding.impact


def test_a_boundary_that_no_test_comes_to_is_told_with_a_call_of_it(hear: Hear) -> None:
    price = "def price(cents):\n    if cents >= 5000:\n        return 0\n    return 5\n"
    tests = "from price import price\n\n\ndef test_price():\n    assert [price(1), price(9000)] == [5, 0]\n"
    heard = hear(BASE, {"price.py": price, "tests/test_price.py": tests}, WITH_MUTATIONS)
    (finding,) = heard.findings
    assert finding.title == "No test notices if `cents >= 5000` becomes `cents > 5000`"
    assert finding.impact == "With it, `price(5000)` returns `5` instead of `0`, and no test makes this call."


@pytest.mark.prove
def test_a_wrong_version_that_does_not_end_is_noticed(hear: Hear) -> None:
    heard = hear(BASE, {"shop.py": SHOP + LOOP, "tests/test_shop.py": SHOP_TESTS}, WITH_MUTATIONS)
    assert [finding.title for finding in heard.findings] == ["No test notices if `member` becomes `not member`"]
    assert "mutants: $ python -m pytest\nendless" in heard.log


def test_tests_that_take_longer_than_the_limit_are_not_run_on_wrong_versions(hear: Hear) -> None:
    short = Settings(analysers=AnalyserSettings(uncovered="off", mutations=0.001))
    heard = hear(BASE, {"shop.py": SHOP + REDUCED, "tests/test_shop.py": SHOP_TESTS}, short)
    assert heard.findings == ()
    assert heard.notes == ("no wrong versions were tried: the tests take longer than 0.001 s",)
    assert "mutants: $" not in heard.log
