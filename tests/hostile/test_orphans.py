"""A daemon that gave up its environment, its session and its parents is found all the same, where Linux tells."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.hostile.scene import CLEAN, SECONDS, Scene, processes_with

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


_FLEEING = """
env -i PATH=/usr/bin:/bin setsid sh -c 'exec 3>&-; trap "" TERM HUP; while :; do sleep 60; done' "$TOKEN" \\
  </dev/null >/dev/null 2>&1 &
exec sleep 300
"""


def test_a_daemon_that_shed_its_environment_is_gone_after_a_kill_and_resume(confined_scene: Scene) -> None:
    scene = confined_scene
    scene.configure(_FLEEING)
    with subprocess.Popen(
        [sys.executable, "-m", "burnish", "review", "--json", "--protocol", scene.protocol("critic")],
        cwd=scene.checkout,
        env=scene.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as running:
        deadline = time.monotonic() + SECONDS
        while not processes_with(scene.token) and time.monotonic() < deadline:
            time.sleep(0.01)
        fled = processes_with(scene.token)
        running.kill()
    assert fled
    scene.agent("reviewer", f"echo '{CLEAN}'")
    ended = scene.burnish("resume", "--json")
    assert ended.view["outcome"] == "approved"
    assert processes_with(scene.token) == []


_FAILS_ONCE = """#!/bin/sh
case "$*" in
*--chdir*) test -e "{mark}" || {{ touch "{mark}"; echo "bwrap: Can't mkdir parents for /x: Busy" >&2; exit 1; }} ;;
esac
exec "{real}" "$@"
"""


def test_a_sandbox_that_could_not_be_set_up_is_tried_once_more(bubblewrap_scene: Scene) -> None:
    scene, mark = bubblewrap_scene, bubblewrap_scene.root / "failed once"
    scene.configure(f"echo '{CLEAN}'")
    folder = scene.root / "programs"
    folder.mkdir()
    (folder / "bwrap").write_text(_FAILS_ONCE.format(mark=mark, real=shutil.which("bwrap")))
    (folder / "bwrap").chmod(0o755)
    environment = {**scene.environment, "PATH": f"{folder}:{scene.environment['PATH']}"}
    ended = scene.burnish("review", "--json", "--protocol", scene.protocol("critic"), environment=environment)
    assert mark.exists()
    assert (ended.view["outcome"], ended.failures) == ("approved", {"critic": ""})
