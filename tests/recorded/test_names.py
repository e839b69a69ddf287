"""What is on disk keeps its names: ledgers and seals outlive the classes that wrote them."""

import pytest

from tests.recorded.schemas import REQUIRED, current, recorded

CURRENT = current()
RULE = (
    "Names and types on disk never change, for older ledgers and seals are read by them. A class may be renamed; a"
    ' field that is renamed keeps its name on disk by msgspec.field(name="…").'
)
ADDED = (
    "A field that is added needs a default, as older ledgers lack it. If that is so, write the new names down with"
    " `python -m tests.recorded.schemas`: from then on they never change."
)
STRICTER = "A required field was added to something that older ledgers hold already. Give it a default."
RULES = (
    "The rules of a built-in protocol have changed: every seal that was made under it no longer fits its base's policy."
)


@pytest.mark.parametrize("name", sorted(CURRENT.keys() - {"protocols"}))
def test_names_on_disk_stay(name: str) -> None:
    lost = [line for line in recorded(name) if line not in CURRENT[name]]
    assert not lost, RULE
    new = [line for line in CURRENT[name] if line not in recorded(name)]
    assert not [line for line in new if line.endswith(REQUIRED) and _was_there(_above(line), recorded(name))], STRICTER
    assert not new, ADDED


def test_the_rules_of_built_in_protocols_stay() -> None:
    assert CURRENT["protocols"] == recorded("protocols"), RULES


def _above(line: str) -> str:
    return line.partition(":")[0].rpartition(".")[0]


def _was_there(path: str, lines: list[str]) -> bool:
    return not path or any(line.startswith((f"{path} ", f"{path}:", f"{path}.")) for line in lines)
