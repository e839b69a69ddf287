"""The parsers by the name of their contract.

Parsers are imported when they are first called: a command that reads no answer pays for none of them.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module

from burnish.contracts.json_text import FinalMessage
from burnish.contracts.paths import IsFile, no_repository
from burnish.contracts.text import decode
from burnish.core.protocol import ScoreGate
from burnish.core.reviews import Answer, ContractName
from burnish.core.values import Value

Parser = Callable[[str, IsFile], Answer]
ReadStream = Callable[[str], FinalMessage | None]
"""The final message of a client's stream; None where the text is no stream."""
AS_JSON = (ContractName.REPORT, ContractName.ISSUES, ContractName.VERDICT)
"""The contracts that models are asked to answer in: a whole stream of a client counts, too."""


def no_stream(text: str) -> None:
    """For texts that are known to be no stream."""
    del text


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
    *,
    read_stream: ReadStream = no_stream,
) -> Answer:
    """Read an agent's bytes as an answer in a contract, or raise `UnreadableError`.

    A `report` is clean when it meets the gate; without one, the standard gate. It must be about what is expected,
    where something is. The others know neither. `read_stream` knows the streams of clients; see `agents.streams`.
    """
    text = decode(raw)
    said = (read_stream(text) or text) if contract in AS_JSON else text
    if contract is ContractName.REPORT:
        return _imported(contract)(said, is_file, gate or ScoreGate(), expected)
    return _imported(contract)(said, is_file)


def _imported(contract: ContractName) -> Callable[..., Answer]:
    return import_module(f"burnish.contracts.{contract.value}").parse


def _parse(contract: ContractName, text: str, is_file: IsFile) -> Answer:
    return _imported(contract)(text, is_file)


PARSERS: dict[ContractName, Parser] = {contract: partial(_parse, contract) for contract in ContractName}
"""One parser for each contract: the `parse` of the module of the same name."""
