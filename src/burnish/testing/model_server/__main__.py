"""`python -m burnish.testing.model_server [SCRIPT]`: serve scenarios until the program is ended; prints the address."""

import signal
import sys
from pathlib import Path

from burnish.core.errors import BurnishError
from burnish.testing.model_server.scenario import ModelScript, load_script
from burnish.testing.model_server.server import model_server

_USAGE = "Usage: python -m burnish.testing.model_server [SCRIPT.toml]\n"


def main(arguments: list[str]) -> int:
    """Serve until SIGINT or SIGTERM. Returns the exit code."""
    if arguments in (["--help"], ["-h"]):
        sys.stdout.write(_USAGE)
        return 0
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        sys.stderr.write(_USAGE)
        return 2
    try:
        _serve(load_script(Path(arguments[0])) if arguments else ModelScript())
    except BurnishError as error:
        sys.stderr.write(f"{error.message}\n{error.hint}\n".rstrip("\n") + "\n")
        return error.kind.exit_code
    return 0


def _serve(script: ModelScript) -> None:
    # Blocked here and inherited by every thread, so that the signal waits for this one.
    ends = (signal.SIGINT, signal.SIGTERM)
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    with model_server(script.scenario, log=Path(script.log) if script.log else None) as server:
        sys.stdout.write(f"{server.address}\n")
        sys.stdout.flush()
        signal.sigwait(ends)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
