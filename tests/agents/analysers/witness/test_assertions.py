"""Tests that cannot fail are named, and those that can are not."""

import textwrap

import pytest

from burnish.agents.panel.project_tests.assertions import Weakness, weak_tests

IMPORTS = (
    "import pytest\nfrom unittest import TestCase\nfrom unittest.mock import Mock, patch\n"
    "from shop import total, Cart\n"
)


def weakness(code: str, before: str = "") -> dict[str, Weakness]:
    text = IMPORTS + textwrap.dedent(code)
    return {test.name: test.weakness for test in weak_tests(before, text)}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("pass", Weakness.EMPTY),
        ('"""Adds up."""', Weakness.EMPTY),
        ("...", Weakness.EMPTY),
        ("return", Weakness.EMPTY),
        ("total([1])", Weakness.NO_ASSERTION),
        ("result = total([1])\nprint(result)", Weakness.NO_ASSERTION),
        ("total([1]) == 1", Weakness.NO_ASSERTION),
        ("total([1])\nassert True", Weakness.ALWAYS_TRUE),
        ("assert (total([1]) == 1, 'adds up')", Weakness.ALWAYS_TRUE),
        ("result = total([1])\nassert result == result", Weakness.ALWAYS_TRUE),
        ("result = total([1])\nassert result or True", Weakness.ALWAYS_TRUE),
        ("assert len(total([])) >= 0", Weakness.ALWAYS_TRUE),
        ("assert 1 == 1", Weakness.ALWAYS_TRUE),
        ("assert not False", Weakness.ALWAYS_TRUE),
        ("try:\n    total(None)\nexcept TypeError as error:\n    assert 'None' in str(error)", Weakness.NOT_REACHED),
        ("try:\n    assert total([1]) == 2\nexcept Exception:\n    pass", Weakness.NOT_REACHED),
        ("try:\n    assert total([1]) == 2\nexcept AssertionError as e:\n    print(e)", Weakness.NOT_REACHED),
        ("total([1])\nif False:\n    assert total([1]) == 1", Weakness.NOT_REACHED),
        ("total([1])\nreturn\nassert total([1]) == 1", Weakness.NOT_REACHED),
        ("for each in []:\n    assert total(each) == 1", Weakness.NOT_REACHED),
        ("cart = Mock()\ncart.total.return_value = 3\nassert cart.total() == 3", Weakness.ONLY_MOCKS),
        ("cart = Mock(return_value=3)\nresult = cart(1)\nassert result == 3", Weakness.ONLY_MOCKS),
        ("cart = Mock()\ncart.add(1)\ncart.add.assert_called_once_with(1)", Weakness.ONLY_MOCKS),
        ("with patch('shop.total', return_value=3):\n    assert shop.total([1]) == 3", Weakness.ONLY_MOCKS),
    ],
)
def test_a_test_that_cannot_fail_is_named(body: str, expected: Weakness) -> None:
    assert weakness(f"def test_total():\n{textwrap.indent(body, '    ')}\n") == {"test_total": expected}


@pytest.mark.parametrize(
    "body",
    [
        "assert total([1]) == 1",
        "assert total([1])",
        "with pytest.raises(TypeError):\n    total(None)",
        "Cart(gateway := Mock()).pay()\ngateway.charge.assert_called_once_with(3)",
        "cart = Mock()\ncart.price.return_value = 3\nassert total(cart) == 3",
        "with patch('shop.rate', return_value=3):\n    assert total([1]) == 3",
        "check_total([1])",
        "try:\n    total(None)\nexcept TypeError as error:\n    assert 'x' in str(error)\nelse:\n    pytest.fail()",
        "try:\n    total(None)\n    assert False\nexcept TypeError as error:\n    assert 'x' in str(error)",
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    assert total(sys.exc_info()) == 1",
        "try:\n    total([])\nexcept ValueError as error:\n    assert False, error",
        "try:\n    assert total([1]) == 1\nfinally:\n    Cart().close()",
        "try:\n    assert total([1]) == 1\nexcept ValueError:\n    pass",
        "total([])  # must not raise",
        "for each in (1, 2):\n    assert total([each]) == each",
        "if total([1]) != 1:\n    raise AssertionError",
        "total([1])\nassert True\nassert total([1]) == 1",
        "def look():\n    assert total([1]) == 1\nlook()",
        "return Cart().picture()",
        "assert total([1]) == total([1])",
    ],
)
def test_a_test_that_can_fail_is_not_named(body: str) -> None:
    assert weakness(f"def test_total():\n{textwrap.indent(body, '    ')}\n") == {}


@pytest.mark.parametrize(
    "code",
    [
        "@given(lists())\ndef test_total(numbers):\n    total(numbers)\n",
        "@pytest.mark.xfail\ndef test_total():\n    pass\n",
        "def test_total(benchmark):\n    benchmark(total, [1])\n",
        "def test_total(data_regression):\n    data_regression.run(total([1]))\n",
        "def test_total(bill):\n    bill([1])\n",
        "from .utils import bill\n\nquick = partial(bill, fast=True)\n\n\ndef test_total():\n    quick([1])\n",
        "def look(n):\n    assert n\n\n\nview = look\n\n\ndef test_total():\n    view(1)\n",
        "def test_total():\n    Cart()._validate_total([1])\n",
        "def test_total():\n    validator = Cart.positive()\n    validator([1])\n",
        "def test_total():\n    # It must not blow up.\n    total([])\n",
        "def test_total():\n    # Nothing costs nothing, instead of raising TypeError.\n    total([])\n",
        "def test_total_does_not_fail_on_nothing():\n    total([])\n",
        "def look(numbers):\n    assert total(numbers)\n\n\ndef test_total():\n    look([1])\n",
        "def look(n):\n    assert n\n\n\ndef look_twice(n):\n    look(n)\n\n\ndef test_total():\n    look_twice(1)\n",
        "from tests.bills import bill\n\n\ndef test_total():\n    bill([1])\n",
        "from .bills import bill\n\n\ndef test_total():\n    bill([1])\n",
        "class TotalTest(TestCase):\n    def test_total(self):\n        self.assertEqual(total([1]), 1)\n",
        "class TestTotal(Bills):\n    def test_total(self):\n        self.bill([1])\n",
        "class TestA:\n    def bill(self):\n        assert total([])\n\n    def test_b(self):\n        self.bill()\n",
        "@pytest.fixture\ndef test_client():\n    total([1])\n",
        "def helper():\n    total([1])\n",
        "def test_cart_equals_itself():\n    cart = Cart()\n    assert cart == cart\n",
    ],
)
def test_what_may_assert_elsewhere_is_not_named(code: str) -> None:
    assert weakness(code) == {}


@pytest.mark.parametrize(
    ("around", "is_named"),
    [
        ("@pytest.mark.skipif(WINDOWS, reason='paths')", True),
        ("@unittest.skipUnless(POSIX, 'paths')", True),
        ("@given(lists())", True),
        ("@pytest.mark.filterwarnings('error')", True),
        ("@pytest.mark.parametrize('a', [1, pytest.param(2, marks=pytest.mark.xfail)])", True),
        ("@pytest.mark.skip(reason='later')", False),
        ("@pytest.mark.xfail(strict=True)", False),
        ("@unittest.expectedFailure", False),
        ("@raises(ValueError)", False),
    ],
)
def test_what_is_around_a_test_rarely_excuses_that_it_does_nothing(around: str, *, is_named: bool) -> None:
    expected = {"test_total": Weakness.EMPTY} if is_named else {}
    assert weakness(f"{around}\ndef test_total():\n    pass\n") == expected


def test_a_method_is_named_with_its_class_and_its_lines() -> None:
    (weak,) = weak_tests("", "class TestCart:\n    def test_pay(self):\n        Cart().pay()\n")
    assert (weak.name, weak.line, weak.end_line) == ("TestCart.test_pay", 2, 3)
    assert weak.code == "def test_pay(self):\n        Cart().pay()"


def test_only_tests_that_the_change_adds_or_edits_are_named() -> None:
    old = IMPORTS + "def test_old():\n    total([1])\n\n\ndef test_edited():\n    assert total([1]) == 1\n"
    new = "def test_old():\n    total([1])  # comment\n\n\ndef test_edited():\n    total([1])\n\n\n"
    new += "def test_new():\n    pass\n"
    assert weakness(new, old) == {"test_edited": Weakness.NO_ASSERTION, "test_new": Weakness.EMPTY}


def test_a_file_that_cannot_be_parsed_has_no_tests() -> None:
    assert weak_tests("", "def test_x(:\n    pass\n") == ()
