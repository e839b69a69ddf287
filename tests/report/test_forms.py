"""The forms of an account: each is one module with `render`, and one entry."""

import sys
from pathlib import Path

import pytest
from tests.core.driving import Driven

from burnish.report.account import Account
from burnish.report.forms import FORMS, UnknownFormError, render

ACCOUNT = Account(run=Driven().run)


def test_a_form_is_one_module_and_one_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "toy_form.py").write_text("def render(account):\n    return f'{account.run.id} as a toy'\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setitem(FORMS, "toy", "toy_form")
    assert render(ACCOUNT, "toy") == f"{ACCOUNT.run.id} as a toy"


@pytest.mark.parametrize("form", FORMS)
def test_every_form_names_the_branch_or_is_about_findings_alone(form: str) -> None:
    text = render(ACCOUNT, form)
    assert text.endswith("\n")
    assert form == "sarif" or ACCOUNT.run.subject.branch in text


def test_an_unknown_form_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UnknownFormError) as error:
        render(ACCOUNT, "yaml")
    assert error.value.hint == "Choose one of text, json, sarif, markdown, html, agent."
