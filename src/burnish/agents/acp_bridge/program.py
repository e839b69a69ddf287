"""The bridge as a program: `PROGRAM ROOT OPTIONS FOLDER … -- COMMAND …`, with the prompt on its standard input.

It exits with 0 when the agent has come to the end of its turn. A request to end is not handled: it ends this process
like any other, and the agent has got it, too.
"""

import sys

from burnish.agents.acp_bridge.conversation import AcpConversation
from burnish.agents.acp_bridge.stream import Stream
from burnish.agents.acp_bridge.values import BridgeError, read_arguments
from burnish.agents.acp_bridge.wire import Wire


def main() -> None:
    options, command = read_arguments(sys.argv[2:])
    prompt = sys.stdin.buffer.read().decode("utf-8", errors="replace")
    stream = Stream()
    try:
        wire = Wire(command)
        try:
            AcpConversation(wire, options, stream).hold(prompt)
        finally:
            wire.end()
    except BridgeError as error:
        stream.tell("error", kind=error.kind.value, message=error.message, code=error.code)
        sys.exit(1)
