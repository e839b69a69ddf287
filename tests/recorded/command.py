"""The real command, on a machine called `recorder` and at a time that has long passed.

A recorded ledger must say nothing of the machine that made it, and its leases must have run out everywhere.
"""

import os
import sys
import time

from burnish.system import clock

_EPOCH = 1_750_000_000
_DAY = 86_400


def _now() -> float:
    return _EPOCH + time.time() % _DAY


def _uname(real: os.uname_result) -> os.uname_result:
    return os.uname_result((real.sysname, "recorder", real.release, real.version, real.machine))


if __name__ == "__main__":
    clock.now = _now
    named = _uname(os.uname())
    os.uname = lambda: named
    # Imported last: some modules take the clock by name.
    from burnish.__main__ import main

    sys.exit(main())
