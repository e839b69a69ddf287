"""Templates are filled in strictly: nothing missing, nothing left over, nothing looked at twice."""

import pytest

from burnish.core.errors import ErrorKind
from burnish.prompts import VERSION, digest
from burnish.prompts.rendering import PromptError, fill, has_template, render


def test_every_placeholder_is_replaced() -> None:
    assert render("{{a}} and {{b_c}} and {{a}}", {"a": "1", "b_c": "2"}) == "1 and 2 and 1"


def test_a_missing_value_fails() -> None:
    with pytest.raises(PromptError, match="no value for 'b', 'c'") as caught:
        render("{{a}} {{b}} {{c}}", {"a": "1"})
    assert caught.value.kind is ErrorKind.CONFIGURATION
    assert caught.value.hint


def test_a_value_that_nothing_takes_fails() -> None:
    with pytest.raises(PromptError, match="placeholder for 'b'"):
        render("{{a}}", {"a": "1", "b": "2"})


@pytest.mark.parametrize("template", ["{{ a }}", "{{A}}", "{{a", "{{}}"])
def test_a_malformed_placeholder_fails(template: str) -> None:
    with pytest.raises(PromptError, match="malformed"):
        render(template, {})


def test_placeholders_in_values_stay_as_they_are() -> None:
    assert render("{{a}}{{b}}", {"a": "{{b}}", "b": r"\1 {{a}}"}) == r"{{b}}\1 {{a}}"


def test_braces_around_a_placeholder_are_text() -> None:
    assert render("{{{a}}} {{{a}}{", {"a": "1"}) == "{1} {1{"


def test_single_braces_and_closing_pairs_are_text() -> None:
    assert render('{"a": {"b": 1}}', {}) == '{"a": {"b": 1}}'


def test_built_in_texts_are_found_by_name() -> None:
    assert has_template("reviewer-critic")
    assert not has_template("reviewer-nobody")
    assert fill("fixer-coverage", floor="80") == "- Keep the test coverage at 80 % or more."


def test_a_digest_tells_texts_apart() -> None:
    assert VERSION >= 1
    assert digest("a") == digest("a")
    assert len({digest("a"), digest("a "), digest("\ud800")}) == 3
