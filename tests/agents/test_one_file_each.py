"""Everything about a vendor is in the file of its agent: elsewhere its name occurs once, as the entry of its kind."""

import inspect
import re
from pathlib import Path

import pytest

import burnish
from burnish.agents.registry import clients
from burnish.settings.agent_kinds import AgentKind

PROGRAM = Path(burnish.__file__).parent
ENTRIES = Path(inspect.getfile(AgentKind))
EXCEPTED = {
    # What users of other tools wrote there is answered with what to write here, and an example needs names.
    PROGRAM / "settings" / "conversion.py",
    # Reviews inside a session, the guard and the gate are for certain clients by their nature.
    *(PROGRAM / "plugin").rglob("*"),
    PROGRAM / "agents" / "session.py",
    PROGRAM / "cli" / "plugin.py",
    PROGRAM / "mcp" / "command.py",
    PROGRAM / "settings" / "client_hooks.py",
    PROGRAM / "usecases" / "install_plugin.py",
    PROGRAM / "usecases" / "uninstall.py",
}
VENDORS = [kind for kind, client in clients().items() if client.card.program]


def lines_with(name: str, path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if re.search(rf"\b{name}\b", line, re.IGNORECASE)]


@pytest.mark.parametrize("kind", VENDORS, ids=lambda kind: kind.value)
def test_a_vendor_is_one_file_and_one_entry(kind: AgentKind) -> None:
    own = PROGRAM / "agents" / f"{kind.value}.py"
    texts = [path for path in PROGRAM.rglob("*") if path.suffix in (".py", ".toml", ".md", ".json")]
    searched = [path for path in texts if path not in EXCEPTED | {own} and not path.is_relative_to(PROGRAM / "testing")]
    found = {str(path): lines for path in searched if (lines := lines_with(kind.value, path))}
    assert lines_with(kind.value, own)
    assert found == {str(ENTRIES): [f'{kind.name} = "{kind.value}"']}


def test_every_vendor_has_what_users_must_know() -> None:
    for kind in VENDORS:
        card = clients()[kind].card
        assert card.kind is kind
        assert card.install, kind
        assert card.login, kind
        assert card.login_command, kind
        assert card.keys, kind
        assert card.secrets, kind
