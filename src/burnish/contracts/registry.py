"""The parsers by the name of their contract, and the schemas that a client can be given.

Parsers are imported when they are first called: a command that reads no answer pays for none of them.
"""

import json
from collections.abc import Callable
from functools import partial
from importlib import import_module, resources
from typing import Any

from burnish.contracts.paths import IsFile, no_repository
from burnish.contracts.text import decode
from burnish.core.protocol import STANDARD_DIMENSIONS, Dimension, ScoreGate
from burnish.core.reviews import Answer, ContractName
from burnish.core.values import Value

Parser = Callable[[str, IsFile], Answer]


class Expected(Value):
    """What a reviewer was told that its answer is about."""

    ticket: str
    revision: int


def parse_answer(
    contract: ContractName,
    raw: bytes,
    is_file: IsFile = no_repository,
    gate: ScoreGate | None = None,
    expected: Expected | None = None,
) -> Answer:
    """Read an agent's bytes as an answer in a contract, or raise `UnreadableError`.

    A `report` is clean when it meets the gate; without one, the standard gate. It must be about what is expected,
    where something is. The others know neither.
    """
    text = decode(raw)
    if contract is ContractName.REPORT:
        return _imported(contract)(text, is_file, gate or ScoreGate(), expected)
    return PARSERS[contract](text, is_file)


def schema(contract: ContractName, dimensions: tuple[Dimension, ...] = STANDARD_DIMENSIONS) -> dict[str, Any] | None:
    """The JSON Schema that constrains a client's answer, for the contracts that models are asked to answer in.

    It asks for more than the parser needs: every key, and no other. The dimensions are those of a `report`.
    """
    if contract not in (ContractName.REPORT, ContractName.ISSUES, ContractName.VERDICT):
        return None
    file = resources.files("burnish.contracts").joinpath("schemas", f"{contract.value}.json")
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    if contract is ContractName.REPORT:
        scores = found["properties"]["dimension_scores"]
        scores["properties"] = {dimension.name: {"$ref": "#/$defs/dimension"} for dimension in dimensions}
        scores["required"] = [dimension.name for dimension in dimensions]
    return found


def _imported(contract: ContractName) -> Callable[..., Answer]:
    return import_module(f"burnish.contracts.{contract.value}").parse


def _parse(contract: ContractName, text: str, is_file: IsFile) -> Answer:
    return _imported(contract)(text, is_file)


PARSERS: dict[ContractName, Parser] = {contract: partial(_parse, contract) for contract in ContractName}
"""One parser for each contract: the `parse` of the module of the same name."""
