"""The script that `make prove` runs, from anywhere: `python tests/mutation/run.py [--only TEXT | --since REV]`."""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    # A script finds only its own folder; the package that it belongs to starts two above.
    sys.path[0] = str(Path(__file__).parents[2])
    runpy.run_module("tests.mutation", run_name="__main__", alter_sys=True)
