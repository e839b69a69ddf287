"""A daemon that gave up its environment, its session and its parents is found all the same, where Linux tells."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.scene import processes_with

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="optional: only Linux gives orphans to whoever asks")

_OWNER = """
import subprocess, sys
from burnish.system import survivors

token = sys.argv[1]
other = subprocess.Popen(["sleep", "600"])
known = survivors.adopt_orphans()
daemon = "trap '' TERM HUP; echo ready; while :; do sleep 60; done"
script = "env -i PATH=/usr/bin:/bin setsid sh -c \\"$1\\" $2 & exec cat >/dev/null"
agent = subprocess.Popen(["sh", "-c", script, "agent", daemon, token], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
agent.stdout.readline()
agent.stdin.close()
agent.wait()
count = survivors.end_orphans(known, 0.0)
print(count, other.poll(), flush=True)
other.kill()
other.wait()
"""


def test_an_orphan_without_environment_is_ended_and_other_children_are_not(tmp_path: Path) -> None:
    token = f"orphan-of-{tmp_path.name}-{tmp_path.parent.name}"
    done = subprocess.run(
        [sys.executable, "-c", _OWNER, token], capture_output=True, text=True, timeout=60, check=False
    )
    count, other = done.stdout.split()
    assert int(count) >= 1
    assert other == "None", "a child that was there before was ended"
    assert processes_with(token) == []
