"""Read one answer of a reviewer and say what it holds and, if asked, how a protocol's gate judges it."""

from pathlib import Path

from burnish.agents.streams import read_answer
from burnish.contracts.text import MAX_ANSWER_BYTES
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.finding_identity import anchored, identify
from burnish.core.gates import Judgement, judge_answers
from burnish.core.protocol import Protocol, ScoreGate, gate_takes
from burnish.core.reviews import Answer, ContractName
from burnish.core.values import Value, replace
from burnish.protocols.loader import load
from burnish.system.input import SourceTree, enclosing_root, read_input


class ParseRequestError(BurnishError):
    """Contract and protocol are missing, or do not fit each other."""

    kind = ErrorKind.USAGE


class ParseTask(Value):
    """How an answer is to be read, settled before the first byte of it is."""

    contract: ContractName
    protocol: Protocol | None = None


class ParsedAnswer(Value):
    contract: ContractName
    answer: Answer
    judgement: Judgement | None = None

    @property
    def passes(self) -> bool:
        """The judgement's word where there is one, else the contract's own."""
        return self.answer.clean if self.judgement is None else self.judgement.clean


def plan_parse(contract: ContractName | None, protocol_reference: str | None) -> ParseTask:
    """Settle the contract: the one named, else the protocol's. The protocol's gate must be able to take it."""
    protocol = None if protocol_reference is None else load(protocol_reference).protocol
    chosen = contract or (protocol.contract if protocol else None)
    if chosen is None:
        raise ParseRequestError(
            "The format of the answer is not known, and burnish does not guess it.",
            hint="Add --contract, or --protocol to use the protocol's contract.",
        )
    if protocol is not None and not gate_takes(protocol.gate, chosen):
        raise ParseRequestError(
            f"The gate of the protocol '{protocol.name}' cannot judge the contract '{chosen.value}'.",
            hint=f"Omit --contract to use '{protocol.contract.value}', or choose another protocol.",
        )
    return ParseTask(contract=chosen, protocol=protocol)


def parse_file(task: ParseTask, file: str, folder: Path) -> ParsedAnswer:
    """Read an answer from a file or `-`. Paths in it are confined to the repository around `folder`.

    Raises `UnreadableError` where the answer is no review.
    """
    tree = SourceTree(enclosing_root(folder))
    raw = read_input(file, MAX_ANSWER_BYTES)
    gate = task.protocol.gate if task.protocol is not None and isinstance(task.protocol.gate, ScoreGate) else None
    answer = read_answer(task.contract, raw, tree.is_file, gate)
    answer = replace(answer, findings=identify(anchored(answer.findings, tree.lines)))
    judgement = None if task.protocol is None else judge_answers(task.protocol.gate, [answer])
    return ParsedAnswer(contract=task.contract, answer=answer, judgement=judgement)
