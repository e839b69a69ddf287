"""The options of a loop of slots: without its review nothing passes, and the number of fixes is bounded."""

from pathlib import Path

from tests.end_to_end.machine import writes
from tests.end_to_end.simple import DRIFT, FIX, drift_machine


def test_without_its_review_a_build_is_neither_approved_nor_sealed(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, {"build:*": f"{writes('new.py', 'built = True')}\necho built"})
    before = machine.git("rev-parse", "change")
    done = machine.burnish("fix", "--build", "--no-review", "--intent", "Build it.", "--json")
    view = done.view
    assert (done.code, view["outcome"], view["reason"]) == (0, "skipped", "review skipped: review-disabled")
    assert (view["seal"], view["rounds"]) == (None, [])
    assert machine.calls(view["run"]) == ["build:1"]
    assert machine.git("rev-parse", "change") == before
    assert machine.git("show", f"burnish/{view['run']}:new.py") == "built = True"
    assert machine.git("for-each-ref", "refs/burnish/seals") == ""
    assert machine.burnish("verify", f"burnish/{view['run']}").code == 1


def test_fixes_are_bounded_by_their_own_option(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, {"review:*": DRIFT, "fix:*": FIX})
    done = machine.burnish("fix", "--review", "--review-max-fix-attempts", "1", "--json")
    assert (done.code, done.view["outcome"]) == (1, "failed")
    assert done.view["reason"].startswith("Drift remains after 1 fix attempt")
    calls = machine.calls(done.view["run"])
    assert calls == ["fix:1:1", "review:1:reviewer:1", "review:2:reviewer:1"]
    for words, complaint in (
        (("--review-max-fix-attempts", "6"), "--max-rounds 7 is not between 1 and 6"),
        (("--review-max-fix-attempts", "-1"), "-1 is not in the range"),
        (("--review-max-fix-attempts", "1", "--max-rounds", "2"), "use one of them"),
        (("--no-review",), "--no-review without --build does nothing."),
        (
            ("--no-review", "--build", "--intent", "x", "--protocol", "epic"),
            "The protocol 'epic' requires a review after a build.",
        ),
    ):
        refused = machine.burnish("fix", *words)
        assert (refused.code, complaint in refused.err) == (2, True), refused.err
    assert len(machine.runs()) == 1
