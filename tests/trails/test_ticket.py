"""The ticket protocol against its seed: a score card, two revisions, validation around every one."""

import pytest
from inline_snapshot import snapshot

from burnish.core.events import Mode
from burnish.runtime.script import RehearsalScript
from tests.trails.playing import trail

SCENARIOS = {
    "passes at once": RehearsalScript(protocol="ticket", reviews={"code-review": ("scores 95 100 80 85 70 90",)}),
    "fail, revise, pass": RehearsalScript(
        protocol="ticket",
        reviews={"code-review": ("scores 95 100 60 85 70 90; notes split the function", "scores 95 100 80 85 70 90")},
        fixes=("fixed",),
    ),
    "fails after two revisions": RehearsalScript(
        protocol="ticket",
        reviews={
            "code-review": (
                "scores 95 100 60 85 70 90; notes split the function",
                "scores 95 100 60 85 70 90; notes split the function",
                "scores 95 100 60 85 70 90; notes split the function",
            )
        },
        fixes=("fixed", "fixed"),
    ),
    "a critical dimension below 90": RehearsalScript(
        protocol="ticket",
        mode=Mode.REVIEW,
        reviews={"code-review": ("scores 89 100 80 85 70 90; notes build what was asked",)},
    ),
    "an important dimension below 70": RehearsalScript(
        protocol="ticket", mode=Mode.REVIEW, reviews={"code-review": ("scores 95 100 80 85 69 90; notes test it",)}
    ),
    "the mean below 75 while every dimension passes": RehearsalScript(
        protocol="ticket", mode=Mode.REVIEW, reviews={"code-review": ("scores 90 90 70 70 70 0",)}
    ),
    "a blocking issue with perfect scores": RehearsalScript(
        protocol="ticket", mode=Mode.REVIEW, reviews={"code-review": ("scores 100 100 100 100 100 100; blocking 1",)}
    ),
    "perfect scores, but the report says fail": RehearsalScript(
        protocol="ticket",
        mode=Mode.REVIEW,
        reviews={"code-review": ("scores 100 100 100 100 100 100; claims fail; notes see above",)},
    ),
    "a dimension without a score": RehearsalScript(
        protocol="ticket", mode=Mode.REVIEW, reviews={"code-review": ("scores 100 100 100 100 100",)}
    ),
    "slow review": RehearsalScript(
        protocol="ticket", reviews={"code-review": ("after 121: scores 95 100 80 85 70 90",)}
    ),
    "malformed, then readable": RehearsalScript(
        protocol="ticket", reviews={"code-review": ("unreadable", "scores 95 100 80 85 70 90")}
    ),
    "crashed to the end": RehearsalScript(
        protocol="ticket", reviews={"code-review": ("crashed", "crashed", "crashed")}
    ),
    "stuck, then an answer": RehearsalScript(
        protocol="ticket", reviews={"code-review": ("stuck", "scores 95 100 80 85 70 90")}
    ),
    "validation fails after a revision": RehearsalScript(
        protocol="ticket",
        reviews={"code-review": ("scores 95 100 60 85 70 90; notes split the function", "scores 95 100 80 85 70 90")},
        validations=("passed", "failed", "passed"),
        fixes=("fixed", "fixed"),
    ),
    "validation fails before the first review": RehearsalScript(
        protocol="ticket", validations=("failed", "failed", "failed"), fixes=("fixed", "fixed")
    ),
    "validation cannot run, then can": RehearsalScript(
        protocol="ticket", validations=("crashed", "passed"), reviews={"code-review": ("scores 95 100 80 85 70 90",)}
    ),
    "built, validated, reviewed": RehearsalScript(
        protocol="ticket",
        build=True,
        builds=("built",),
        validations=("passed",),
        reviews={"code-review": ("scores 95 100 80 85 70 90",)},
    ),
    "the builder crashes to the end": RehearsalScript(
        protocol="ticket", build=True, builds=("crashed", "crashed", "crashed")
    ),
    "cancelled during validation": RehearsalScript(protocol="ticket", validations=("cancelled",)),
    "cancelled during a revision": RehearsalScript(
        protocol="ticket",
        reviews={"code-review": ("scores 95 100 60 85 70 90; notes split the function",)},
        fixes=("cancelled",),
    ),
    "the budget runs out": RehearsalScript(protocol="ticket", reviews={"code-review": ("budget-reached",)}),
}

TRAILS = snapshot(
    {
        "passes at once": """\
started: ticket, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:code-review:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "fail, revise, pass": """\
started: ticket, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:code-review:1 not clean
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 skipped
  → reviewing round 2
review:2:code-review:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 2\
""",
        "fails after two revisions": """\
started: ticket, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:code-review:1 not clean
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 skipped
  → reviewing round 2
review:2:code-review:1 not clean
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-2)
  → validation 3
validate:3:1 skipped
  → reviewing round 3
review:3:code-review:1 not clean
  → failed: Review failed after 2 revisions\
""",
        "a critical dimension below 90": """\
started: ticket, review
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:code-review:1 not clean
  → failed: 1 blocking finding remains after 1 review\
""",
        "an important dimension below 70": """\
started: ticket, review
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:code-review:1 not clean
  → failed: 1 blocking finding remains after 1 review\
""",
        "the mean below 75 while every dimension passes": """\
started: ticket, review
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:code-review:1 not clean
  → failed: 1 blocking finding remains after 1 review\
""",
        "a blocking issue with perfect scores": """\
started: ticket, review
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:code-review:1 1 critical
  → failed: 1 blocking finding remains after 1 review\
""",
        "perfect scores, but the report says fail": """\
started: ticket, review
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:code-review:1 not clean
  → failed: 1 blocking finding remains after 1 review\
""",
        "a dimension without a score": """\
started: ticket, review
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:code-review:1 not clean
  → failed: 1 blocking finding remains after 1 review\
""",
        "slow review": """\
started: ticket, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:code-review:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "malformed, then readable": """\
started: ticket, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:code-review:1 unreadable
review:1:code-review:2 clean
  → sealing (approved)
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "crashed to the end": """\
started: ticket, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:code-review:1 crashed
pause:review:1:code-review:2 pause over
review:1:code-review:2 crashed
pause:review:1:code-review:3 pause over
review:1:code-review:3 crashed
  → did-not-run: code-review crashed: scripted: crashed\
""",
        "stuck, then an answer": """\
started: ticket, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:code-review:1 stuck
pause:review:1:code-review:2 pause over
review:1:code-review:2 clean
  → sealing (approved)
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "validation fails after a revision": """\
started: ticket, fix
  → validation 1
validate:1:1 passed
  → reviewing round 1
review:1:code-review:1 not clean
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 failed
  → fixing after round 1: failed validation
fix:2:1 fixed (tree-2)
  → validation 3
validate:3:1 passed
  → reviewing round 2
review:2:code-review:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-2
  → approved: no blocking findings in round 2\
""",
        "validation fails before the first review": """\
started: ticket, fix
  → validation 1
validate:1:1 failed
  → fixing after round 0: failed validation
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 failed
  → fixing after round 0: failed validation
fix:2:1 fixed (tree-2)
  → validation 3
validate:3:1 failed
  → failed: validation failed 3 times in a row\
""",
        "validation cannot run, then can": """\
started: ticket, fix
  → validation 1
validate:1:1 crashed
pause:validate:1:2 pause over
validate:1:2 passed
  → reviewing round 1
review:1:code-review:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "built, validated, reviewed": """\
started: ticket, fix
  → building
build:1 done
  → validation 1
validate:1:1 passed
  → reviewing round 1
review:1:code-review:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 1\
""",
        "the builder crashes to the end": """\
started: ticket, fix
  → building
build:1 crashed
pause:build:2 pause over
build:2 crashed
pause:build:3 pause over
build:3 crashed
  → did-not-run: the builder crashed: scripted: crashed\
""",
        "cancelled during validation": """\
started: ticket, fix
  → validation 1
cancelled
  → stopping (cancelled)
validate:1:1 lost
  → cancelled: a person cancelled the run\
""",
        "cancelled during a revision": """\
started: ticket, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:code-review:1 not clean
  → fixing after round 1: 1 required
cancelled
  → stopping (cancelled)
fix:1:1 lost
  → cancelled: a person cancelled the run\
""",
        "the budget runs out": """\
started: ticket, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
budget reached: scripted
  → stopping (over-budget)
review:1:code-review:1 lost
  → over-budget: budget reached: scripted\
""",
    }
)


@pytest.mark.parametrize("situation", SCENARIOS)
def test_the_trail_of(situation: str) -> None:
    assert trail(SCENARIOS[situation]) == TRAILS[situation]
