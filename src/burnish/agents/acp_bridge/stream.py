"""What the bridge prints: one event of JSON a line, for `burnish.agents.acp.reading`.

Text from the agent is short here, but for the answer itself: all of it together must stay within what burnish keeps.
"""

import json
import sys
import time

MAX_TEXT = 4_000
_PAUSE = 1.0


class Stream:
    """The standard output, a line at a time."""

    def __init__(self) -> None:
        self._quiet_until = 0.0

    def tell(self, event: str, **fields: object) -> None:
        line = json.dumps({"event": event, **fields}, ensure_ascii=False)
        sys.stdout.buffer.write(line.encode("utf-8", errors="replace") + b"\n")
        sys.stdout.buffer.flush()

    def show(self, what: str) -> None:
        """What the agent is doing right now; not more often than anybody can read. It also says that it lives."""
        now = time.monotonic()
        if now >= self._quiet_until:
            self._quiet_until = now + _PAUSE
            self.tell("activity", text=what)
