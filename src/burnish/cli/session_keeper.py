"""The process that keeps a session of another tool. Started by `burnish session spawn`, and by nobody else."""

import os
import sys
from pathlib import Path

from burnish.cli.errors import ErrorBoundary
from burnish.usecases.sessions import keep


def main(folder: str) -> int:
    """Keep the session of that folder until it has ended."""
    with ErrorBoundary() as boundary:
        keep(Path(folder), os.environ)
    return boundary.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
