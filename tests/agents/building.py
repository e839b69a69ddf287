"""A request and a result as tests need them: complete, with what matters to a test given by name."""

from typing import Any

import msgspec

from burnish.agents.interface import Request, Role
from burnish.core.reviews import ContractName
from burnish.system.process import Finished, How

_REQUEST = Request(
    run="20261115-081500-k3f9q2",
    effect="review:2:critic:1",
    role=Role.REVIEW,
    reviewer="critic",
    round=2,
    attempt=1,
    contract=ContractName.ISSUES,
    prompt="Look at the change.",
    folder="/clone",
    base="b" * 40,
    head="c" * 40,
    subject="feature",
    output_file="/work/output",
)


def request(**changes: Any) -> Request:
    """A reviewer's request, but for these fields."""
    return msgspec.structs.replace(_REQUEST, **changes)


def exited(code: int = 0, stdout: bytes = b"", stderr: str = "", **more: Any) -> Finished:
    """A process that came to its own end."""
    return Finished(how=How.EXITED, code=code, stdout=stdout, stderr_tail=stderr, **more)
