"""Fuzzes one target in this process: `python -m tests.fuzz.harness TARGET [CORPUS or INPUT] [-libfuzzer=options]`.

With the path of one input instead of a corpus, that input alone is run: this is how a crash is looked at again.
"""

import sys
from importlib import import_module
from typing import Any


def main(arguments: list[str]) -> None:
    program, name, *options = arguments
    # Loaded by name, because it is installed for the long proofs only, and its types are unknown.
    atheris: Any = import_module("atheris")
    with atheris.instrument_imports(include=["burnish", "tomllib"]):
        targets: Any = import_module("tests.fuzz.targets")
    atheris.Setup([program, *options], targets.TARGETS[name].check)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv)
