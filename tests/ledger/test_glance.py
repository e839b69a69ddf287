"""A look at how far a stream has come, beside the ledger itself."""

from pathlib import Path

from burnish.ledger.glance import stream_version
from burnish.ledger.interface import NewEvent
from burnish.ledger.sqlite import open_ledger
from burnish.system.identifiers import this_process


def test_the_version_of_a_stream_without_opening_the_ledger(tmp_path: Path) -> None:
    folder = tmp_path / "a folder #1?"
    path = folder / "ledger.db"
    assert stream_version(path, "run/1") is None
    with open_ledger(folder) as ledger:
        assert stream_version(path, "run/1") == 0
        lease = ledger.acquire_lease("run/1", this_process(), now=1.0, seconds=60.0)
        event = NewEvent(kind="Started", body=b"{}", at=1.0, intent=False)
        ledger.append("run/1", 0, [event, event], lease)
        assert stream_version(path, "run/1") == ledger.version("run/1") == 2
    assert stream_version(path, "run/1") == 2
    path.write_bytes(b"no database" * 500)
    assert stream_version(path, "run/1") is None
