"""What the real clients said, as `record` wrote it down; and streams made of single events."""

import json
from pathlib import Path
from typing import Any, TypeAlias

from burnish.settings.agent_kinds import AgentKind
from burnish.system.process import Finished, How

Event: TypeAlias = dict[str, Any]

CORPUS = Path(__file__).with_name("corpus")


def recorded(kind: AgentKind, situation: str) -> Finished:
    said = json.loads((CORPUS / kind.value / f"{situation}.json").read_text(encoding="utf-8"))
    return Finished(
        how=How(said["how"]),
        code=said["code"],
        signal=said["signal"],
        stdout="\n".join(said["stdout"]).encode(),
        stderr_tail="\n".join(said["stderr"]),
        seconds=1.5,
    )


def stream(*events: Event, code: int = 0) -> Finished:
    """A client that said this, and exited."""
    return Finished(how=How.EXITED, code=code, stdout="\n".join(map(json.dumps, events)).encode())
