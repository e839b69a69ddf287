"""The panel protocol against its seed: five reviewers, every issue fixed, five iterations, DONE or STOPPED."""

import pytest
from inline_snapshot import snapshot

from burnish.core.events import Mode
from burnish.runtime.script import RehearsalScript
from tests.trails.playing import trail

SCENARIOS = {
    "all clean": RehearsalScript(protocol="panel", reviews={"*": ("clean",)}),
    "one info issue leads to a fix": RehearsalScript(
        protocol="panel",
        reviews={"*": ("clean", "clean"), "pedant": ("info a.py:1 spelling", "clean")},
        fixes=("fixed",),
    ),
    "issues of several reviewers": RehearsalScript(
        protocol="panel",
        reviews={
            "*": ("clean", "clean"),
            "critic": ("critical a.py:1 crash; medium a.py:9 odd", "clean"),
            "witness": ("info", "clean"),
        },
        fixes=("fixed",),
    ),
    "two reviewers report the same problem": RehearsalScript(
        protocol="panel",
        mode=Mode.REVIEW,
        reviews={
            "*": ("clean",),
            "critic": ("medium a.py:4 error is swallowed",),
            "silent-failure-hunter": ("critical a.py:4 error is swallowed",),
        },
    ),
    "stopped after five iterations": RehearsalScript(
        protocol="panel",
        reviews={
            "*": ("clean", "clean", "clean", "clean", "clean"),
            "critic": (
                "medium a.py:9 odd",
                "medium a.py:9 odd",
                "medium a.py:9 odd",
                "medium a.py:9 odd",
                "medium a.py:9 odd",
            ),
        },
        fixes=("fixed", "fixed", "fixed", "fixed"),
    ),
    "one malformed answer blocks and is retried": RehearsalScript(
        protocol="panel", reviews={"*": ("clean",), "witness": ("unreadable", "clean")}
    ),
    "one reviewer never answers": RehearsalScript(
        protocol="panel", reviews={"*": ("clean",), "witness": ("unreadable", "unreadable", "unreadable")}
    ),
    "one reviewer crashes, another is stuck": RehearsalScript(
        protocol="panel", reviews={"*": ("clean",), "critic": ("crashed", "clean"), "pedant": ("stuck", "clean")}
    ),
    "the fixer changes nothing": RehearsalScript(
        protocol="panel",
        reviews={"*": ("clean", "clean", "clean"), "critic": ("medium a.py:9 odd", "medium a.py:9 odd", "clean")},
        fixes=("unchanged", "fixed"),
    ),
    "the fixer crashes to the end": RehearsalScript(
        protocol="panel", reviews={"*": ("clean",), "critic": ("medium",)}, fixes=("crashed", "crashed", "crashed")
    ),
    "cancelled while two have answered": RehearsalScript(
        protocol="panel", reviews={"*": ("clean",), "witness": ("cancelled",)}
    ),
    "the budget runs out while two have answered": RehearsalScript(
        protocol="panel", reviews={"*": ("clean",), "witness": ("budget-reached",)}
    ),
    "validation fails three times": RehearsalScript(
        protocol="panel", validations=("failed", "failed", "failed"), fixes=("fixed", "fixed")
    ),
}

TRAILS = snapshot(
    {
        "all clean": """\
started: panel, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:critic:1 clean
review:1:pedant:1 clean
review:1:witness:1 clean
review:1:security-reviewer:1 clean
review:1:silent-failure-hunter:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "one info issue leads to a fix": """\
started: panel, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:critic:1 clean
review:1:pedant:1 1 info
review:1:witness:1 clean
review:1:security-reviewer:1 clean
review:1:silent-failure-hunter:1 clean
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → reviewing round 2
review:2:critic:1 clean
review:2:pedant:1 clean
review:2:witness:1 clean
review:2:security-reviewer:1 clean
review:2:silent-failure-hunter:1 clean
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (approved)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 2\
""",
        "issues of several reviewers": """\
started: panel, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:critic:1 1 critical, 1 medium
review:1:pedant:1 clean
review:1:witness:1 1 info
review:1:security-reviewer:1 clean
review:1:silent-failure-hunter:1 clean
  → fixing after round 1: 3 required
fix:1:1 fixed (tree-1)
  → reviewing round 2
review:2:critic:1 clean
review:2:pedant:1 clean
review:2:witness:1 clean
review:2:security-reviewer:1 clean
review:2:silent-failure-hunter:1 clean
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (approved)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 2\
""",
        "two reviewers report the same problem": """\
started: panel, review
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:critic:1 1 medium
review:1:pedant:1 clean
review:1:witness:1 clean
review:1:security-reviewer:1 clean
review:1:silent-failure-hunter:1 1 critical
  → failed: 1 blocking finding remains after 1 review\
""",
        "stopped after five iterations": """\
started: panel, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:critic:1 1 medium
review:1:pedant:1 clean
review:1:witness:1 clean
review:1:security-reviewer:1 clean
review:1:silent-failure-hunter:1 clean
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → reviewing round 2
review:2:critic:1 1 medium
review:2:pedant:1 clean
review:2:witness:1 clean
review:2:security-reviewer:1 clean
review:2:silent-failure-hunter:1 clean
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-2)
  → reviewing round 3
review:3:critic:1 1 medium
review:3:pedant:1 clean
review:3:witness:1 clean
review:3:security-reviewer:1 clean
review:3:silent-failure-hunter:1 clean
  → fixing after round 3: 1 required
fix:3:1 fixed (tree-3)
  → reviewing round 4
review:4:critic:1 1 medium
review:4:pedant:1 clean
review:4:witness:1 clean
review:4:security-reviewer:1 clean
review:4:silent-failure-hunter:1 clean
  → fixing after round 4: 1 required
fix:4:1 fixed (tree-4)
  → reviewing round 5
review:5:critic:1 1 medium
review:5:pedant:1 clean
review:5:witness:1 clean
review:5:security-reviewer:1 clean
review:5:silent-failure-hunter:1 clean
  → stopped: Issues remain after 5 reviews\
""",
        "one malformed answer blocks and is retried": """\
started: panel, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:critic:1 clean
review:1:pedant:1 clean
review:1:witness:1 unreadable
review:1:security-reviewer:1 clean
review:1:silent-failure-hunter:1 clean
review:1:witness:2 clean
  → sealing (approved)
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "one reviewer never answers": """\
started: panel, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:critic:1 clean
review:1:pedant:1 clean
review:1:witness:1 unreadable
review:1:security-reviewer:1 clean
review:1:silent-failure-hunter:1 clean
review:1:witness:2 unreadable
review:1:witness:3 unreadable
  → did-not-run: witness unreadable: scripted: unreadable\
""",
        "one reviewer crashes, another is stuck": """\
started: panel, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:critic:1 crashed
review:1:pedant:1 stuck
review:1:witness:1 clean
review:1:security-reviewer:1 clean
review:1:silent-failure-hunter:1 clean
pause:review:1:critic:2 pause over
pause:review:1:pedant:2 pause over
review:1:critic:2 clean
review:1:pedant:2 clean
  → sealing (approved)
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "the fixer changes nothing": """\
started: panel, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:critic:1 1 medium
review:1:pedant:1 clean
review:1:witness:1 clean
review:1:security-reviewer:1 clean
review:1:silent-failure-hunter:1 clean
  → fixing after round 1: 1 required
fix:1:1 unchanged (tree-0)
  → reviewing round 2
review:2:critic:1 1 medium
review:2:pedant:1 clean
review:2:witness:1 clean
review:2:security-reviewer:1 clean
review:2:silent-failure-hunter:1 clean
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-1)
  → reviewing round 3
review:3:critic:1 clean
review:3:pedant:1 clean
review:3:witness:1 clean
review:3:security-reviewer:1 clean
review:3:silent-failure-hunter:1 clean
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (approved)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 3\
""",
        "the fixer crashes to the end": """\
started: panel, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:critic:1 1 medium
review:1:pedant:1 clean
review:1:witness:1 clean
review:1:security-reviewer:1 clean
review:1:silent-failure-hunter:1 clean
  → fixing after round 1: 1 required
fix:1:1 crashed
pause:fix:1:2 pause over
fix:1:2 crashed
pause:fix:1:3 pause over
fix:1:3 crashed
  → did-not-run: the fixer crashed: scripted: crashed\
""",
        "cancelled while two have answered": """\
started: panel, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:critic:1 clean
review:1:pedant:1 clean
cancelled
  → stopping (cancelled)
review:1:witness:1 lost
review:1:security-reviewer:1 lost
review:1:silent-failure-hunter:1 lost
  → cancelled: a person cancelled the run\
""",
        "the budget runs out while two have answered": """\
started: panel, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:critic:1 clean
review:1:pedant:1 clean
budget reached: scripted
  → stopping (over-budget)
review:1:witness:1 lost
review:1:security-reviewer:1 lost
review:1:silent-failure-hunter:1 lost
  → over-budget: budget reached: scripted\
""",
        "validation fails three times": """\
started: panel, fix
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
    }
)


@pytest.mark.parametrize("situation", SCENARIOS)
def test_the_trail_of(situation: str) -> None:
    assert trail(SCENARIOS[situation]) == TRAILS[situation]
