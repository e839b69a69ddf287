"""How far a run of tests is, while it runs."""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from burnish.agents.panel.project_tests.progress import END_SECONDS, Progress
from burnish.agents.panel.project_tests.values import Framework


def lines(*records: Mapping[str, object]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def test_tests_are_counted_as_they_come(tmp_path: Path) -> None:
    report = tmp_path / "report"
    progress = Progress(Framework.PYTEST, report)
    progress.read()
    assert progress.text == ""
    report.write_bytes(lines({"kind": "listed", "names": ["a", "b", "c"]}, {"kind": "start", "name": "a"}) + b'{"ki')
    progress.read()
    assert (progress.text, list(progress.running)) == ("0 of 3", ["a"])
    rest = lines({"kind": "case", "name": "a", "outcome": "failed"}, {"kind": "finish", "name": "a"})
    with report.open("ab") as stream:
        stream.write(b'nd": "start", "name": "b"}\n' + rest + b"nonsense\n")
    progress.read()
    assert (progress.text, list(progress.running), progress.code) == ("1 of 3, 1 failed", ["b"], None)


def test_a_runner_that_does_not_go_is_over_some_time_after_its_summary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    (tmp_path / "report").write_bytes(lines({"kind": "end", "code": 1}))
    progress = Progress(Framework.PYTEST, tmp_path / "report")
    now += 1000.0
    assert not progress.is_over
    progress.read()
    assert (progress.code, progress.is_over) == (1, False)
    now += END_SECONDS + 1.0
    progress.hear(b"still talking\n")
    assert progress.is_over


@pytest.mark.parametrize(
    ("framework", "printed", "text"),
    [
        (
            Framework.GO,
            [b'{"Action":"pass","Package":"p","Test":"A"}', b'{"Action":"fail","Package":"p","Test":"B"}', b"x"],
            "2, 1 failed",
        ),
        (Framework.CARGO, [b"test tests::a ... ok", b"test tests::b ... FAILED", b"test result: ok"], "2, 1 failed"),
    ],
)
def test_what_go_and_cargo_print_is_counted(
    tmp_path: Path, framework: Framework, printed: list[bytes], text: str
) -> None:
    progress = Progress(framework, tmp_path / "report")
    for line in printed:
        progress.hear(line)
    assert progress.text == text


def test_a_link_or_a_pipe_in_the_place_of_the_report_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(lines({"kind": "end", "code": 0}))
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        progress = Progress(Framework.PYTEST, tmp_path / name)
        progress.read()
        assert progress.code is None
