"""What a user can ask about protocols: which there are, what one does, and whether a file of theirs is one."""

from burnish.core.values import Value
from burnish.protocols.loader import BUILT_IN, LoadedProtocol, load
from burnish.protocols.rendering import render
from burnish.protocols.summary import summarise


class ProtocolLine(Value):
    name: str
    description: str


class ProtocolView(Value):
    """A protocol, explained: the values, the same as TOML with the place of each, and what they mean in words."""

    loaded: LoadedProtocol
    toml: str
    summary: tuple[str, ...]


def list_protocols() -> tuple[ProtocolLine, ...]:
    protocols = (load(name).protocol for name in BUILT_IN)
    return tuple(ProtocolLine(name=protocol.name, description=protocol.description) for protocol in protocols)


def view_protocol(reference: str) -> ProtocolView:
    """Load and explain a protocol by name or path. Raises `DocumentError` with every problem."""
    loaded = load(reference)
    return ProtocolView(loaded=loaded, toml=render(loaded), summary=summarise(loaded.protocol))
