"""Where the program starts. It answers `--version` by itself: tools ask for it often, and loading the rest is slow."""

import sys

from burnish import __version__


def main() -> int:
    """Run the command line; the result is the exit code."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        sys.stdout.write(f"burnish {__version__}\n")
        return 0
    from burnish.cli.app import run  # noqa: PLC0415  - loaded only now, so that the version comes without it

    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
