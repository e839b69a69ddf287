"""The fuzzer's own promises: every seed holds, every oracle can fail, and nothing is silently skipped."""

import hashlib
from functools import partial

import pytest

from burnish.contracts.text import UnreadableError
from burnish.core.reviews import Answer, ContractName
from tests.fuzz.__main__ import main
from tests.fuzz.checks import BrokenPromiseError, check_contract, parse_in_repository
from tests.fuzz.draw import Draw
from tests.fuzz.planting import PLANTED
from tests.fuzz.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_every_seed_holds(name: str) -> None:
    seeds = list(TARGETS[name].seeds())
    assert seeds
    for seed in seeds:
        TARGETS[name].check(seed)


@pytest.mark.parametrize("contract", ContractName)
def test_a_parser_that_calls_everything_clean_is_caught(contract: ContractName) -> None:
    with pytest.raises(BrokenPromiseError, match="planted"):
        check_contract(contract, b"no", parse=lambda _contract, _raw: Answer(clean=True))


@pytest.mark.parametrize("contract", ContractName)
def test_a_parser_that_crashes_is_caught(contract: ContractName) -> None:
    def crash(_contract: ContractName, raw: bytes) -> Answer:
        return Answer(clean=raw[0] == 1000)

    with pytest.raises(IndexError):
        check_contract(contract, b"", parse=crash)


def test_an_answer_that_a_second_reading_refutes_is_caught() -> None:
    raw = b'{"issues": [{"severity": "info"}]}'
    with pytest.raises(BrokenPromiseError, match="second reading"):
        check_contract(ContractName.ISSUES, raw, parse=lambda _contract, _raw: Answer(clean=True))


@pytest.mark.parametrize("contract", ContractName)
def test_many_planted_documents_are_readable(contract: ContractName) -> None:
    """Were they all refused, no overlooked fault could ever show."""
    parse = partial(parse_in_repository, contract)
    inputs = [hashlib.sha512(bytes([number])).digest() for number in range(100)]
    assert sum(_is_readable(parse, PLANTED[contract](Draw(data))) for data in inputs) >= 10


def _is_readable(parse: partial[Answer], raw: bytes) -> bool:
    try:
        parse(raw)
    except UnreadableError:
        return False
    return True


def test_without_the_fuzzer_nothing_is_called_proven(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], installed=lambda: False) == 1
    assert "make prove" in capsys.readouterr().out
