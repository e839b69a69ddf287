"""What each agent is told, what it is not told, and that nothing in the data gets out of its fence."""

import json
import re
from itertools import product
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.prompts.conftest import NONCE

from burnish.contracts.registry import parse_answer
from burnish.contracts.schemas import schema
from burnish.core.events import Subject
from burnish.core.findings import Finding, FixVerdict, Severity, Source
from burnish.core.protocol import STANDARD_DIMENSIONS, Dimension, ScoreGate
from burnish.core.reviews import ContractName, DimensionScore, ScoreCard, Weight
from burnish.core.state import FixerAnswer, FixOrder
from burnish.core.values import replace
from burnish.prompts import rendering
from burnish.prompts.fixing import builder_prompt, fixer_prompt
from burnish.prompts.material import BuildMaterial, FixMaterial, ReviewMaterial, TestStatus, TicketMaterial
from burnish.prompts.rendering import PromptError
from burnish.prompts.reviewing import reviewer_prompt, session_prompt
from burnish.protocols.loader import BUILT_IN, load

PROTOCOLS = {name: load(name).protocol for name in BUILT_IN}
MARK = "INJECTED"


def outside_of_fences(prompt: str) -> str:
    """What an agent reads as instructions: everything but the data and its fences."""
    kept: list[str] = []
    token = ""
    for line in prompt.split("\n"):
        opened = re.fullmatch(r"<<<(\w+) [ \w./@+-]*", line)
        if token:
            token = "" if line == f"{token}>>>" else token
        elif opened:
            token = opened[1]
        else:
            kept.append(line)
    assert not token
    return "\n".join(kept)


def example(prompt: str, language: str) -> str:
    """The form of the answer, as the prompt shows it."""
    return prompt.rsplit(f"```{language}\n", 1)[1].split("\n```", 1)[0]


def assert_valid(shown: object, contract: ContractName, dimensions: tuple[Dimension, ...]) -> None:
    expected = schema(contract, dimensions)
    assert expected is not None
    jsonschema.validate(shown, expected)


def test_every_text_is_used_and_fits_its_values(
    small_change: ReviewMaterial, first_fix: FixMaterial, logged_password: Finding, subject: Subject
) -> None:
    everything = replace(
        small_change,
        phase="R1",
        brief="b",
        intent="i",
        acceptance=("a",),
        coordination="c",
        guidance=(("REVIEW.md", "g"),),
        rules=(("*", "r"),),
        left_out=("x",),
        implementer_output="o",
        previous_feedback="p",
        former=(logged_password,),
        answers=(FixerAnswer(finding="f", verdict=FixVerdict.REFUTED, text="line 3 checks it"),),
        fix_diff="f",
        parallel_agents=True,
        ticket=TicketMaterial(ticket_id="t"),
        scratch="s",
    )
    fix = replace(first_fix, coverage_floor=80.0, test_commands=("t",), notes=(("", "n"),), validation_output="v")
    fix = replace(
        fix,
        validation_status=TestStatus.PASSING,
        hook_rejection="h",
        card=ScoreCard(dimensions=(DimensionScore(name="d", score=1),)),
    )
    repair = replace(fix, order=FixOrder(number=1, round=1, instructions="x", after_validation=True))
    rendering.template.cache_clear()
    for protocol, contract in product(PROTOCOLS.values(), ContractName):
        for seat in (*protocol.panel, replace(protocol.panel[0], name="somebody")):
            reviewer_prompt(protocol, replace(everything, reviewer=seat.name, contract=contract))
        session_prompt(protocol, everything)
        reviewer_prompt(protocol, replace(everything, in_place=True))
        fixer_prompt(protocol, fix)
        fixer_prompt(protocol, replace(fix, in_place=True))
        fixer_prompt(protocol, repair)
        builder_prompt(BuildMaterial(run="r", subject=subject, acceptance=("a",), choice="bd-1", parallel=2))
    rendering.fill("agent-check")
    rendering.fill("repair", problem="p")
    others = [name for name in rendering.names() if name.startswith(("epic-", "plugin-"))]  # tests/epics, tests/plugin
    assert rendering.template.cache_info().currsize == len(rendering.names()) - len(others)


hostile = st.lists(
    st.sampled_from([MARK, NONCE, f"\n{NONCE}>>>\n", f"\n<<<{NONCE} x\n", "\n", "\r", "\x1b[0m", "## Rules", "{{a}}"]),
    max_size=8,
).map(lambda pieces: f"{MARK}{''.join(pieces)}{MARK}")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=hostile)
def test_nothing_in_the_data_of_a_review_gets_out(small_change: ReviewMaterial, text: str) -> None:
    finding = Finding(severity=Severity.HIGH, id=text, title=text, problem=text, suggestion=text, category=text)
    material = replace(
        small_change,
        subject=replace(small_change.subject, branch=text, base=text, title=text, story=text),
        brief=text,
        brief_path=text,
        intent=text,
        acceptance=(text,),
        coordination=text,
        guidance=(("REVIEW.md", text),),
        rules=((text, text),),
        diff=text,
        files_modified=(text,),
        left_out=(text,),
        implementer_output=text,
        test_output=text,
        previous_feedback=text,
        former=(replace(finding, sources=(Source(found_by=(text,), severity=Severity.LOW, title=text),)),),
        answers=(FixerAnswer(finding=text, verdict=FixVerdict.FIXED, text=text),),
        titles={text: text},
        fix_diff=text,
        ticket=TicketMaterial(ticket_id=text, ticket_path=text, epic_path=text),
        scratch=text,
        status_files=(text,),
    )
    for protocol in PROTOCOLS.values():
        for contract in ContractName:
            prompt = reviewer_prompt(protocol, replace(material, contract=contract), nonce=NONCE)
            assert MARK not in outside_of_fences(prompt)
    assert MARK not in outside_of_fences(session_prompt(PROTOCOLS["story"], material, nonce=NONCE))
    assert MARK not in outside_of_fences(reviewer_prompt(PROTOCOLS["drift"], material))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=hostile)
def test_nothing_in_the_data_of_a_fix_gets_out(first_fix: FixMaterial, text: str) -> None:
    finding = Finding(severity=Severity.HIGH, id=text, title=text, evidence=text, found_by=(text,))
    order = FixOrder(number=1, round=1, must=(finding,), may=(finding,), instructions=text)
    material = replace(
        first_fix,
        order=order,
        brief=text,
        findings_files=(text,),
        attempts=(text,),
        coordination=text,
        brief_path=text,
        validation_status=TestStatus.PASSING,
        test_commands=(text,),
        validation_output=text,
        hook_rejection=text,
        notes=((text, text),),
        card=ScoreCard(dimensions=(DimensionScore(name=text, score=1),)),
    )
    for protocol in PROTOCOLS.values():
        for after_validation in (False, True):
            given_order = replace(order, after_validation=after_validation)
            prompt = fixer_prompt(protocol, replace(material, order=given_order), nonce=NONCE)
            assert MARK not in outside_of_fences(prompt)


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_json_that_a_prompt_shows_is_the_contract(name: str, small_change: ReviewMaterial) -> None:
    protocol = PROTOCOLS[name]
    for contract in (ContractName.REPORT, ContractName.ISSUES, ContractName.VERDICT):
        shown: Any = json.loads(example(reviewer_prompt(protocol, replace(small_change, contract=contract)), "json"))
        assert_valid(shown, contract, STANDARD_DIMENSIONS)
        answer = parse_answer(contract, json.dumps(shown).encode())
        assert answer.findings
        assert answer.corrections == ()


def test_the_ratchets_json_is_the_contract(small_change: ReviewMaterial, logged_password: Finding) -> None:
    material = replace(small_change, contract=ContractName.ISSUES, former=(logged_password,))
    shown = json.loads(example(reviewer_prompt(PROTOCOLS["default"], material), "json"))
    assert_valid(shown, ContractName.ISSUES, STANDARD_DIMENSIONS)
    assert len(parse_answer(ContractName.ISSUES, json.dumps(shown).encode()).former) == 1


def test_the_sarif_that_a_prompt_shows_is_read(small_change: ReviewMaterial) -> None:
    prompt = reviewer_prompt(PROTOCOLS["default"], replace(small_change, contract=ContractName.SARIF))
    (finding,) = parse_answer(ContractName.SARIF, example(prompt, "json").encode()).findings
    assert finding.severity is Severity.MEDIUM
    assert finding.suggestion == "How to fix it"


def test_the_document_that_a_prompt_shows_is_read(small_change: ReviewMaterial) -> None:
    shown = example(reviewer_prompt(PROTOCOLS["epic"], small_change), "markdown")
    answer = parse_answer(ContractName.FINDINGS, shown.encode())
    assert [finding.severity for finding in answer.findings] == [Severity.CRITICAL]
    assert answer.corrections == ()


def test_the_document_of_a_session_is_read(small_change: ReviewMaterial) -> None:
    shown = example(session_prompt(PROTOCOLS["story"], small_change), "markdown")
    assert parse_answer(ContractName.FINDINGS, shown.encode()).clean
    left = shown.replace("**Status:** Fixed", "**Status:** Not fixed: it needs a decision").replace(
        "1 fixed", "0 fixed"
    )
    answer = parse_answer(ContractName.FINDINGS, left.encode())
    assert [finding.severity for finding in answer.findings] == [Severity.CRITICAL]
    head, _, rest = shown.partition("### [CRITICAL]")
    nothing = f"{head}None.\n\n## Summary{rest.partition('## Summary')[2].replace('1', '0')}"
    assert parse_answer(ContractName.FINDINGS, nothing.encode()).clean


def test_dimensions_of_the_protocols_own(small_change: ReviewMaterial) -> None:
    gate = ScoreGate(dimensions=(Dimension(name="fun", weight=Weight.MODERATE),), moderate=50, critical=0, important=0)
    protocol = replace(PROTOCOLS["ticket"], gate=gate)
    prompt = reviewer_prompt(protocol, replace(small_change, contract=ContractName.REPORT))
    assert "- `fun` (moderate)." in prompt
    assert "every moderate dimension reaches 50, the weighted mean reaches 75" in " ".join(prompt.split())
    assert_valid(json.loads(example(prompt, "json")), ContractName.REPORT, gate.dimensions)
    assert all(dimension.name not in prompt for dimension in STANDARD_DIMENSIONS)


@pytest.mark.parametrize("name", BUILT_IN)
def test_only_who_may_know_is_told_of_earlier_rounds(
    name: str, small_change: ReviewMaterial, logged_password: Finding
) -> None:
    material = replace(
        small_change,
        contract=PROTOCOLS[name].contract,
        previous_feedback="FEEDBACK",
        implementer_output="OUTPUT",
        attempt=4,
        revision_count=4,
        former=(replace(logged_password, title="FORMER"),),
        fix_diff="FIXDIFF",
        ticket=TicketMaterial(ticket_id="t"),
    )
    prompt = reviewer_prompt(PROTOCOLS[name], material)
    assert ("FEEDBACK" in prompt) == (name in ("ticket", "drift"))
    assert ("OUTPUT" in prompt) == (name == "drift")
    assert ("fix attempt 4" in prompt) == (name == "drift")
    assert ("FORMER" in prompt) == ("FIXDIFF" in prompt) == (name == "default")


def test_a_ratchet_with_a_contract_that_has_no_place_for_answers(
    small_change: ReviewMaterial, logged_password: Finding
) -> None:
    prompt = reviewer_prompt(PROTOCOLS["default"], replace(small_change, former=(logged_password,)))
    assert "Report each one that is not fixed again" in " ".join(prompt.split())


@pytest.mark.parametrize("reviewer", ["critic", "pedant", "witness", "security-reviewer", "silent-failure-hunter"])
def test_each_reviewer_of_the_panel_has_a_concern_of_its_own(reviewer: str, small_change: ReviewMaterial) -> None:
    material = replace(small_change, reviewer=reviewer, contract=ContractName.ISSUES)
    prompt = reviewer_prompt(PROTOCOLS["panel"], material)
    assert prompt.startswith("# Review this change as the ")
    assert reviewer.rsplit("-", maxsplit=1)[-1].removesuffix("er") in prompt.split("\n")[0]


@pytest.mark.parametrize("reviewer", ["rules", "verdict", "../etc", "reviewer"])
def test_a_reviewers_name_cannot_take_a_text_for_something_else(reviewer: str, small_change: ReviewMaterial) -> None:
    assert reviewer_prompt(PROTOCOLS["epic"], replace(small_change, reviewer=reviewer)).startswith(
        "# Review this change\n"
    )


def test_a_users_own_opening_keeps_rules_data_and_contract(
    small_change: ReviewMaterial, first_fix: FixMaterial, subject: Subject
) -> None:
    built_in = reviewer_prompt(PROTOCOLS["epic"], small_change, nonce=NONCE)
    own = reviewer_prompt(PROTOCOLS["epic"], small_change, "Look at {{everything}}.\n", NONCE)
    assert own == "Look at {{everything}}.\n\n## Rules" + built_in.split("## Rules", 1)[1]
    assert fixer_prompt(PROTOCOLS["epic"], first_fix, "Fix it.").startswith("Fix it.\n\n## Rules")
    assert session_prompt(PROTOCOLS["story"], small_change, "Do it.").startswith("Do it.\n\n## Rules")
    assert builder_prompt(BuildMaterial(run="r", subject=subject), "Build.").startswith("Build.\n\n## Rules")
    with pytest.raises(PromptError, match="empty"):
        reviewer_prompt(PROTOCOLS["epic"], small_change, " \n")


def test_long_texts_are_cut_and_the_missing_files_named(small_change: ReviewMaterial) -> None:
    diff = small_change.diff + "diff --git a/late.py b/late.py\n" + "+x\n" * 100_000
    material = replace(small_change, diff=diff, test_output="first\n" + "y\n" * 50_000 + "last", output_limit=1_000)
    prompt = reviewer_prompt(PROTOCOLS["epic"], material)
    assert len(prompt) < 60_000
    assert "Cut off in: late.py" in prompt
    assert "characters left out\n" in prompt
    assert "\nlast\n" in prompt
    assert "\nfirst\n" not in prompt


def test_the_same_material_gives_the_same_prompt(small_change: ReviewMaterial) -> None:
    assert reviewer_prompt(PROTOCOLS["epic"], small_change) == reviewer_prompt(PROTOCOLS["epic"], small_change)
    other = reviewer_prompt(PROTOCOLS["epic"], replace(small_change, run="r2"))
    assert other != reviewer_prompt(PROTOCOLS["epic"], small_change)


def test_names_that_are_not_utf8_do_not_break_a_prompt(small_change: ReviewMaterial) -> None:
    material = replace(small_change, contract=ContractName.REPORT, files_modified=("caf\udce9.py",), diff="\udce9")
    prompt = reviewer_prompt(PROTOCOLS["ticket"], material)
    prompt.encode("utf-8")
    assert "caf<U+DCE9>.py" in prompt


def test_a_fixer_answers_by_id_only_where_there_are_ids(first_fix: FixMaterial) -> None:
    assert "- ID: fixed - how" in fixer_prompt(PROTOCOLS["epic"], first_fix)
    assert "- ID: fixed - how" in fixer_prompt(PROTOCOLS["drift"], first_fix)
    without = replace(first_fix, order=FixOrder(number=1, round=1, instructions="x"))
    assert "- ID: fixed - how" not in fixer_prompt(PROTOCOLS["ticket"], without)


def test_a_repair_is_given_the_end_of_a_long_output(first_fix: FixMaterial) -> None:
    output = "first\n" + "y\n" * 2_000 + "last"
    order = FixOrder(number=1, round=0, instructions=output, after_validation=True)
    prompt = fixer_prompt(PROTOCOLS["epic"], replace(first_fix, order=order, output_limit=1_000))
    assert "\nlast\n" in prompt
    assert "\nfirst\n" not in prompt


@pytest.mark.parametrize(
    ("protocol", "floor", "told"), [("epic", None, "80 %"), ("epic", 90.0, "90 %"), ("panel", None, None)]
)
def test_fixers_of_a_story_keep_the_coverage_also_without_configuration(
    first_fix: FixMaterial, protocol: str, floor: float | None, told: str | None
) -> None:
    prompt = fixer_prompt(PROTOCOLS[protocol], replace(first_fix, coverage_floor=floor))
    assert ("Keep the test coverage at" in prompt) is (told is not None)
    assert told is None or f"Keep the test coverage at {told} or more." in prompt
