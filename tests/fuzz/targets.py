"""What is fuzzed: each target's check, and the inputs that it starts from."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from burnish.core import events
from burnish.core.reviews import ContractName
from burnish.protocols.loader import load
from burnish.runtime.rehearsal import Rehearsal
from burnish.runtime.script import RehearsalScript
from tests.fuzz.checks import check_contract, check_document, check_event, check_path, check_text

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "contracts" / "corpus"
PROTOCOLS = ROOT / "src" / "burnish" / "protocols"

_TEXTS = (b"\x1b[31mred\x1b[0m\r\nnext", b"\x1b]0;title\x07x", "a\u202eb\ufeff".encode(), b"\xff\xfe\x00")
_PATHS = (b"src/app.py", b"/home/me/work/src/app.py", b"../x", b"file:///C:/src/app.py", b"a/src/app.py", b"~/a/./b.py")
_DOCUMENTS = (
    b'a."b c".d = [1, {x = 2, y = [3]}]\n[[t]]\nk = """\n[x]\n"""\n[[t]]\n[t.u]\nv = \'\'\'a\'\'\'\n',
    b"[a.b]\r\nc = 1979-05-27T07:32:00Z # no\r\n[a]\r\nd.e = [\r\n 1, # x\r\n]\r\n",
)


class Target(NamedTuple):
    """One parser under test."""

    check: Callable[[bytes], None]
    seeds: Callable[[], Iterator[bytes]]


def _answers(contract: ContractName) -> Iterator[bytes]:
    """The corpus of a contract, as far as it exists, and bytes that only the planted documents are made of."""
    yield from (file.read_bytes() for file in sorted((CORPUS / contract.value).glob("**/*")) if file.is_file())
    yield bytes(range(256))
    yield b"# Review\n\n## Critical\n\nNone.\n\n## Important\n\n1. **[Error]:** A file stays open\n   - src/app.py:3\n"


def _documents() -> Iterator[bytes]:
    yield from (file.read_bytes() for file in sorted(PROTOCOLS.glob("*.toml")))
    yield from _DOCUMENTS


def _events() -> Iterator[bytes]:
    """The events of a rehearsal in which much happens."""
    script = RehearsalScript(
        reviews={"*": ("crashed", "critical app.py:3 Wrong; low", "rate-limited 3", "high", "clean")},
        fixes=("fixed", "fixed", "fixed"),
    )
    for event, _ in Rehearsal(script, load("epic").protocol).play():
        yield events.encode(event)


TARGETS: dict[str, Target] = {
    **{
        contract.value: Target(partial(check_contract, contract), partial(_answers, contract))
        for contract in ContractName
    },
    "text": Target(check_text, lambda: iter(_TEXTS)),
    "path": Target(check_path, lambda: iter(_PATHS)),
    "document": Target(check_document, _documents),
    "event": Target(check_event, _events),
}
