"""Fifty hooks at once: each is answered, and no event is lost."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from burnish.plugin.gates import seat_line
from burnish.usecases.session_review import WantedWork
from tests.plugin.calls import call
from tests.plugin.session import CLEAN
from tests.plugin.test_hooks import HOOK, Place, transcript_for

MANY = 50


@pytest.mark.prove
def test_fifty_reviewers_that_end_at_once(tmp_path: Path) -> None:
    seats = "".join(f'[[panel]]\nname = "seat-{number}"\n' for number in range(MANY))
    protocol = f'extends = "panel"\nname = "many"\ndescription = "Many."\n{seats}'
    place = Place(tmp_path)
    place.builder.commit({"burnish.toml": 'protocol = "./many.toml"\n', "many.toml": protocol})
    place.builder.write({"app.py": "x = 1\n"})
    begun = place.start()
    assert len(begun.wanted) == MANY

    def stop(work: WantedWork) -> "subprocess.CompletedProcess[bytes]":
        folder = tmp_path / work.seat
        folder.mkdir()
        path = transcript_for(folder, f"{work.prompt}\n{seat_line(work.token)}\n", CLEAN)
        sent = call("SubagentStop", str(place.root), agent_type="burnish:code-review", agent_transcript_path=str(path))
        return subprocess.run(
            [sys.executable, "-I", "-S", str(HOOK)],
            input=json.dumps({**sent, "last_assistant_message": CLEAN}).encode(),
            env=place.environment,
            capture_output=True,
            timeout=500,
            check=False,
        )

    with ThreadPoolExecutor(MANY) as pool:
        ended = list(pool.map(stop, begun.wanted))
    assert {(one.returncode, one.stdout, one.stderr) for one in ended} == {(0, b"", b"")}
    card = json.loads(place.card().read_text())
    assert card["phase"] == "DONE"
