"""The data of the embedded panel: complete, without contradictions, and about rules that the real tools have."""

import json
import re
from collections import Counter
from functools import cache
from importlib import resources
from pathlib import Path

import pytest

from burnish.agents.panel.interface import ToolName
from burnish.agents.panel.own_checks.reporting import OwnRule
from burnish.agents.panel.programs import program
from burnish.agents.panel.project_checks.detection import CHECKS as PROJECT_CHECKS
from burnish.agents.panel.rulebook import (
    STATIC_CHECKS,
    CheckRules,
    LeftOut,
    Look,
    asked_for,
    claims,
    left_out,
    looks,
    narrowness,
    parse,
    rules_of,
    unknown_rules,
)
from burnish.agents.panel.selectors import EVERYTHING, plain, selects
from burnish.agents.panel.tools.ast_grep import RULES
from burnish.core.findings import Severity
from burnish.settings.documents import DocumentError
from burnish.settings.types import AnalyserSettings
from burnish.system.process import Command, run_now

OWN_RULES = frozenset({"invalid-syntax", "unreadable"})
"""What tools report under a name that burnish gives it."""
ENTRIES = [(role, entry) for tool in ToolName for role, entry in (*looks(tool), *left_out(tool))]


def _output(tool: ToolName, *arguments: str) -> str:
    # oxlint looks for configuration in everything below the folder, even to list its rules: so in a small one.
    here = str(Path(__file__).parent)
    finished = run_now(Command(argv=(program(tool), *arguments), folder=here, environment={}), seconds=60)
    assert finished.code == 0, finished.stderr_tail
    return finished.stdout.decode()


@cache
def _known(tool: ToolName, *, preview: bool = False) -> frozenset[str]:
    """Every rule that a real tool has, as far as it can be asked."""
    match tool:
        case ToolName.RUFF:
            rules = json.loads(_output(tool, "rule", "--all", "--output-format=json"))
            return frozenset(rule["code"] for rule in rules if rule["code"] and rule["preview"] is preview)
        case ToolName.OXLINT:
            rules = json.loads(_output(tool, "--rules", "--format=json"))
            return frozenset(plain(f"{rule['scope']}/{rule['value']}") for rule in rules if not rule["type_aware"])
        case ToolName.KINGFISHER:
            return frozenset(re.findall(r"\bbetterleaks\.[\w.-]+", _output(tool, "rules", "list", "--no-update-check")))
        case ToolName.TY:
            return frozenset(
                rule["name"] for rule in json.loads(_output(tool, "explain", "rule", "--output-format=json"))
            )
        case ToolName.AST_GREP:
            return frozenset(
                rule for file in RULES for rule in re.findall(r"^id: (\S+)$", file.read_text(), re.MULTILINE)
            )
        case _:
            return frozenset()


@cache
def _bytes_of(tool: ToolName) -> bytes:
    return Path(program(tool)).read_bytes()


@pytest.mark.parametrize("role", STATIC_CHECKS)
def test_every_entry_says_how_bad_and_why(role: str) -> None:
    rules = rules_of(role)
    assert rules.look
    assert rules.about.endswith(".")
    for look in rules.look:
        assert look.severity or look.levels, look
        assert look.category, look
        assert look.why.endswith("."), look
        assert not look.suggestion or look.suggestion.endswith("."), look
        assert not look.title.endswith("."), look
    assert all(entry.why.endswith(".") for entry in rules.leave_out)


def test_there_are_words_for_what_a_project_asks_for() -> None:
    assert asked_for().why


def test_no_text_belittles_the_work() -> None:
    folder = resources.files("burnish.agents.panel").joinpath("rules")
    texts = [file.read_text() for file in folder.iterdir() if file.name.endswith((".toml", ".yml"))]
    assert len(texts) == len(STATIC_CHECKS) + 8
    assert not [text for text in texts if re.search(r"\b(?:simply|just|obviously)\b", text)]


@pytest.mark.parametrize("tool", ToolName)
def test_a_rule_has_one_owner(tool: ToolName) -> None:
    entries = [*looks(tool), *left_out(tool)]
    narrow = [selector for _, entry in entries if narrowness(entry) for selector in entry.rules]
    wide = [selector for _, entry in entries for selector in entry.rules]
    twice = [selector for selector, times in (Counter(wide) - Counter(narrow)).items() if times > 1]
    assert not twice


@pytest.mark.parametrize(("role", "entry"), ENTRIES, ids=lambda value: "" if isinstance(value, str) else value.rules[0])
def test_every_selector_means_a_rule_of_the_real_tool(role: str, entry: Look | LeftOut) -> None:
    for selector in set(entry.rules) - OWN_RULES - {EVERYTHING}:
        match entry.tool:
            case ToolName.ZIZMOR | ToolName.HADOLINT:
                # They list their rules nowhere; the names are in the program.
                assert selector.encode() in _bytes_of(entry.tool), (role, selector)
            case ToolName.BURNISH:
                assert selector in {rule.value for rule in OwnRule}, (role, selector)
            case tool if tool in PROJECT_CHECKS:
                # They are the project's own, in whatever version.
                assert re.fullmatch(r"[\w-]+(?:::\w*)?", selector), (role, selector)
            case ToolName.SHELLCHECK:
                assert re.fullmatch(r"SC[123]\d{0,3}", selector), (role, selector)
            case _:
                known = _known(entry.tool, preview=isinstance(entry, Look) and entry.preview)
                assert any(selects(entry.tool, selector, rule) for rule in known), (role, selector)


def test_every_rule_of_our_own_has_a_role() -> None:
    homeless = [rule for rule in _known(ToolName.AST_GREP) if not claims(ToolName.AST_GREP, rule)]
    assert not homeless
    assert not [rule for rule in OwnRule if not claims(ToolName.BURNISH, rule.value)]


def test_what_the_panel_does_not_want_of_a_family_is_left_out_by_name() -> None:
    assert isinstance(claims(ToolName.RUFF, "S101")[0].entry, LeftOut)
    assert isinstance(claims(ToolName.RUFF, "S102")[0].entry, Look)
    assert not claims(ToolName.RUFF, "D100")


def test_a_message_makes_an_entry_more_exact() -> None:
    first, second = claims(ToolName.RUFF, "S602")[:2]
    assert isinstance(first.entry, Look)
    assert isinstance(second.entry, Look)
    assert (first.entry.message, first.entry.severity) == ("seems safe", Severity.LOW)
    assert (second.entry.message, second.entry.severity) == ("", Severity.CRITICAL)


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('severity = "awful"', "look[0].severity"),
        ('tools = "ruff"', "look[0].tools"),
        ('levels = { error = "bad" }', "look[0].levels.error"),
    ],
)
def test_a_file_that_is_not_exactly_right_is_refused(line: str, key: str) -> None:
    text = f'about = "x."\n[[look]]\ntool = "ruff"\nrules = ["S1"]\ncategory = "x"\nwhy = "y."\n{line}\n'
    with pytest.raises(DocumentError) as refusal:
        parse(text.encode(), "mine.toml", CheckRules)
    assert [(problem.line, problem.key) for problem in refusal.value.problems] == [(7, key)]


def test_settings_for_unknown_tools_and_rules_are_told() -> None:
    rules = {"ruf:S1": "low", "x:y": "low", "ast-grep:js-empty": "off", "ast-grep:js-emtpy-catch": "off"}
    first, second, third = unknown_rules(AnalyserSettings(rules={**rules, "ruff:S1": "off", "oxlint:no-": "off"}))
    assert "there is no tool 'ruf'" in first
    assert "Did you mean 'ruff'?" in first
    assert "The tools are 'ruff'" in second
    assert "Did you mean 'js-empty-catch'?" in third
