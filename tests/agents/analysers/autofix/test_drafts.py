"""A file pass by pass: fixes are kept or taken back, and every finding gets its word."""

from collections.abc import Sequence

from burnish.agents.panel.autofix.answers import NOT_OURS, AutofixOutcome, answer, remark, summary
from burnish.agents.panel.autofix.drafts import Draft
from burnish.agents.panel.autofix.fixes import fix_from
from burnish.agents.panel.autofix.targets import targets_of
from burnish.agents.panel.interface import Hit
from burnish.core.findings import Finding
from tests.agents.analysers.autofix.making import finding, hit, remedy

_CONTENT = b"import os\nimport re\nx = 1\n"


def _unused(line: int) -> Hit:
    return hit("ruff:F401", line, remedy=remedy((line, 1, line + 1, 1, ""), title="Remove unused import"))


def _draft(findings: Sequence[Finding], hits: Sequence[Hit]) -> Draft:
    return Draft("a.py", _CONTENT, targets_of(findings, hits), hits)


def _begin(draft: Draft) -> None:
    fixes = [fix_from(draft.content, target, found) for target, found in draft.wanted()]
    draft.begin(fix for fix in fixes if fix is not None)


def _says(draft: Draft, findings: Sequence[Finding]) -> list[tuple[bool, str]]:
    outcome = AutofixOutcome([draft], lambda found: remark(found, unsafe=False))
    return [(said.fixed, said.text) for said in (answer(one, outcome) for one in findings)]


def test_fixes_that_hold_are_kept() -> None:
    findings = [finding("os", "ruff:F401", 1), finding("re", "ruff:F401", 2)]
    draft = _draft(findings, [_unused(1), _unused(2)])
    _begin(draft)
    assert draft.attempt == b"x = 1\n"
    draft.judge([])
    assert draft.attempt is None
    assert draft.finish() == draft.content == b"x = 1\n"
    assert _says(draft, findings) == [(True, "ruff's safe fix: Remove unused import")] * 2


def test_the_fix_that_adds_a_finding_is_taken_back_and_the_others_stay() -> None:
    findings = [finding("os", "ruff:F401", 1), finding("re", "ruff:F401", 2, suggestion="Look.")]
    draft = _draft(findings, [_unused(1), _unused(2)])
    _begin(draft)
    draft.judge([hit("ruff:F821", 1)])
    assert draft.attempt == b"import re\nx = 1\n"
    draft.judge([_unused(1)])
    assert draft.attempt == b"x = 1\n"
    draft.judge([hit("ruff:F821", 1)])
    assert draft.finish() == b"import re\nx = 1\n"
    _begin(draft)
    assert draft.attempt is None, "what was refused is not tried again"
    assert _says(draft, findings) == [
        (True, "ruff's safe fix: Remove unused import"),
        (False, "reverted: it added ruff:F821; suggestion: Look."),
    ]


def test_a_fix_that_does_not_help_is_taken_back() -> None:
    findings = [finding("os", "ruff:F401", 1)]
    draft = _draft(findings, [_unused(1)])
    _begin(draft)
    draft.judge([_unused(1)])
    assert draft.finish() == _CONTENT
    assert _says(draft, findings) == [(False, "reverted: ruff:F401 was still reported")]


def test_a_target_is_followed_into_the_next_pass() -> None:
    findings = [finding("os", "ruff:F401", 1), finding("re", "ruff:F401", 2)]
    later = hit("ruff:F401", 2, remedy=remedy((1, 9, 3, 1, ""), title="Later"))
    draft = _draft(findings, [_unused(1), later])
    _begin(draft)
    draft.judge([_unused(1)])
    assert draft.finish() == b"import re\nx = 1\n"
    _begin(draft)
    draft.judge([])
    assert draft.finish() == b"x = 1\n"
    assert [fixed for fixed, _ in _says(draft, findings)] == [True, True]


def test_another_fix_for_what_was_refused_is_tried_in_the_next_pass() -> None:
    findings = [finding("os", "ruff:F401", 1), finding("re", "ruff:F401", 2)]
    draft = _draft(findings, [_unused(1), _unused(2)])
    _begin(draft)
    draft.judge([hit("ruff:invalid-syntax", 1)])
    other = hit("ruff:F401", 1, remedy=remedy((1, 1, 2, 1, "pass\n"), title="Pass"))
    draft.judge([other])
    draft.judge([hit("ruff:invalid-syntax", 1)])
    assert draft.finish() == b"import re\nx = 1\n"
    _begin(draft)
    draft.judge([])
    assert draft.finish() == b"pass\nx = 1\n"
    assert _says(draft, findings)[1] == (True, "ruff's safe fix: Pass")


def test_everything_can_be_taken_back() -> None:
    findings = [finding("os", "ruff:F401", 1), finding("pass", "ruff:S110", 3)]
    draft = _draft(findings, [_unused(1), hit("ruff:S110", 3)])
    _begin(draft)
    draft.judge([])  # the other one is gone with it
    draft.finish()
    assert _says(draft, findings)[1] == (True, "fixed together with another finding")
    assert draft.take_back("reverted: test_one fails with it") == _CONTENT
    assert not draft.is_changed
    assert _says(draft, findings) == [(False, "reverted: test_one fails with it"), (False, "no safe fix here")]


def test_a_finding_of_which_a_part_is_left_is_not_fixed() -> None:
    findings = [finding("x", "ruff:F401, ruff:S110", 1)]
    blind = hit("ruff:S110", 1, remedy=remedy((1, 1, 1, 2, ""), safe=False, title="Use `suppress`"))
    draft = _draft(findings, [_unused(1), blind])
    draft.begin(fix for one, found in draft.wanted()[:1] if (fix := fix_from(_CONTENT, one, found)))
    draft.judge([blind])
    draft.finish()
    made = "ruff's safe fix: Remove unused import, but part of the problem remains"
    assert _says(draft, findings) == [(False, f"{made}; only with --unsafe-fixes: Use `suppress`")]


def test_a_file_that_must_not_be_touched_says_why() -> None:
    findings = [finding("os", "ruff:F401", 1)]
    draft = _draft(findings, [_unused(1)])
    draft.refuse("not touched: the file is not UTF-8")
    _begin(draft)
    assert draft.attempt is None
    assert _says(draft, findings) == [(False, "not touched: the file is not UTF-8")]


def test_findings_that_are_not_ours_or_not_there_say_so() -> None:
    outcome = AutofixOutcome([], lambda found: remark(found, unsafe=False))
    findings = [
        finding("test", "", 1),
        finding("moved", "ruff:F401, shellcheck:SC2086", 3),
        finding("secret", "kingfisher:aws.1", 3, suggestion="Revoke it."),
    ]
    assert [answer(one, outcome).text for one in findings] == [
        NOT_OURS,
        "ruff and shellcheck did not report it again; nothing was changed",
        "no safe fix here; suggestion: Revoke it.",
    ]


def test_the_summary_counts_and_names_tools() -> None:
    findings = [finding("os", "ruff:F401", 1), finding("re", "ruff:F401", 2), finding("test", "", 3)]
    draft = _draft(findings, [_unused(1), _unused(2)])
    outcome = AutofixOutcome([draft], lambda found: remark(found, unsafe=False))
    assert summary([answer(one, outcome) for one in findings], outcome) == "no automatic fix for 3 findings"
    assert summary([], outcome) == "nothing to fix automatically"
    _begin(draft)
    draft.judge([])
    draft.finish()
    outcome = AutofixOutcome([draft], lambda found: remark(found, unsafe=False))
    assert summary([answer(one, outcome) for one in findings], outcome) == "2 of 3 findings fixed by safe fixes of ruff"
