"""The epic protocol against its seed: three reviews, two fixes between them, then a person."""

import pytest
from inline_snapshot import snapshot

from burnish.core.events import Mode
from burnish.runtime.script import RehearsalScript
from tests.trails.playing import trail

SCENARIOS = {
    "clean at once": RehearsalScript(protocol="epic", reviews={"reviewer": ("clean",)}),
    "minor findings only": RehearsalScript(protocol="epic", reviews={"reviewer": ("low; low",)}),
    "fail, fix, pass": RehearsalScript(
        protocol="epic", reviews={"reviewer": ("critical app.py:3 SQL injection; low", "clean")}, fixes=("fixed",)
    ),
    "passes in the third review": RehearsalScript(
        protocol="epic",
        reviews={"reviewer": ("critical app.py:3 SQL injection", "high app.py:9 no test; low", "clean")},
        fixes=("fixed", "fixed"),
    ),
    "exhausted, without a decision": RehearsalScript(
        protocol="epic",
        reviews={
            "reviewer": (
                "critical app.py:3 SQL injection",
                "critical app.py:3 SQL injection",
                "critical app.py:3 SQL injection; high; high; low",
            )
        },
        fixes=("fixed", "fixed"),
    ),
    "exhausted, a person fixes by hand": RehearsalScript(
        protocol="epic",
        reviews={
            "reviewer": (
                "critical app.py:3 SQL injection",
                "critical app.py:3 SQL injection",
                "critical app.py:3 SQL injection",
            )
        },
        fixes=("fixed", "fixed"),
        decisions=("a",),
    ),
    "exhausted, a person accepts": RehearsalScript(
        protocol="epic",
        reviews={
            "reviewer": (
                "critical app.py:3 SQL injection",
                "critical app.py:3 SQL injection",
                "critical app.py:3 SQL injection",
            )
        },
        fixes=("fixed", "fixed"),
        decisions=("b",),
    ),
    "exhausted, one more round passes": RehearsalScript(
        protocol="epic",
        reviews={
            "reviewer": (
                "critical app.py:3 SQL injection",
                "critical app.py:3 SQL injection",
                "critical app.py:3 SQL injection",
                "clean",
            )
        },
        fixes=("fixed", "fixed", "fixed"),
        decisions=("c",),
    ),
    "the hard cap takes one more round away": RehearsalScript(
        protocol="epic",
        reviews={
            "reviewer": (
                "critical app.py:3 SQL injection",
                "critical app.py:3 SQL injection",
                "critical app.py:3 SQL injection",
                "critical app.py:3 SQL injection",
                "critical app.py:3 SQL injection",
            )
        },
        fixes=("fixed", "fixed", "fixed", "fixed"),
        decisions=("c", "c", "b"),
    ),
    "the last blocker is waived while waiting": RehearsalScript(
        protocol="epic",
        reviews={
            "reviewer": (
                "critical app.py:3 SQL injection",
                "critical app.py:3 SQL injection",
                "critical app.py:3 SQL injection",
            )
        },
        fixes=("fixed", "fixed"),
        decisions=("waive 1",),
    ),
    "a fix that changed nothing is reviewed all the same": RehearsalScript(
        protocol="epic",
        reviews={"reviewer": ("critical app.py:3 SQL injection", "critical app.py:3 SQL injection", "clean")},
        fixes=("unchanged", "fixed"),
    ),
    "a blocker that the next reviewer misses withholds the seal": RehearsalScript(
        protocol="epic", reviews={"reviewer": ("critical app.py:3 SQL injection", "clean")}, fixes=("elsewhere",)
    ),
    "malformed, then readable": RehearsalScript(protocol="epic", reviews={"reviewer": ("unreadable", "clean")}),
    "malformed to the end": RehearsalScript(
        protocol="epic", reviews={"reviewer": ("unreadable", "unreadable", "unreadable")}
    ),
    "crashed, then the fallback answers": RehearsalScript(
        protocol="epic", reviews={"reviewer": ("crashed", "crashed", "crashed", "clean")}, fallbacks={"review": "other"}
    ),
    "stuck to the end": RehearsalScript(protocol="epic", reviews={"reviewer": ("stuck", "stuck", "stuck")}),
    "rate-limited waits as long as the client says": RehearsalScript(
        protocol="epic", reviews={"reviewer": ("rate-limited 90", "clean")}
    ),
    "unauthorised is not tried again": RehearsalScript(protocol="epic", reviews={"reviewer": ("unauthorised",)}),
    "an empty diff is no review": RehearsalScript(protocol="epic", reviews={"reviewer": ("empty-diff",)}),
    "the fixer crashes to the end": RehearsalScript(
        protocol="epic",
        reviews={"reviewer": ("critical app.py:3 SQL injection",)},
        fixes=("crashed", "crashed", "crashed"),
    ),
    "the orchestrator died during a review": RehearsalScript(protocol="epic", reviews={"reviewer": ("lost", "clean")}),
    "cancelled during a review": RehearsalScript(protocol="epic", reviews={"reviewer": ("cancelled",)}),
    "cancelled while waiting": RehearsalScript(
        protocol="epic",
        reviews={
            "reviewer": (
                "critical app.py:3 SQL injection",
                "critical app.py:3 SQL injection",
                "critical app.py:3 SQL injection",
            )
        },
        fixes=("fixed", "fixed"),
        decisions=("cancel",),
    ),
    "the budget runs out during a fix": RehearsalScript(
        protocol="epic", reviews={"reviewer": ("critical app.py:3 SQL injection",)}, fixes=("budget-reached",)
    ),
    "validation fails, is repaired, passes": RehearsalScript(
        protocol="epic", validations=("failed", "passed"), fixes=("fixed",), reviews={"reviewer": ("clean",)}
    ),
    "validation fails three times in a row": RehearsalScript(
        protocol="epic", validations=("failed", "failed", "failed"), fixes=("fixed", "fixed")
    ),
    "validation cannot run": RehearsalScript(protocol="epic", validations=("cannot-run",)),
    "one review without fixes": RehearsalScript(
        protocol="epic", mode=Mode.REVIEW, reviews={"reviewer": ("critical app.py:3 SQL injection",)}
    ),
    "fewer rounds than the protocol allows": RehearsalScript(
        protocol="epic", max_rounds=1, reviews={"reviewer": ("critical app.py:3 SQL injection",)}
    ),
}

TRAILS = snapshot(
    {
        "clean at once": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "minor findings only": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 2 low
  → sealing (approved)
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "fail, fix, pass": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 critical, 1 low
  → fixing after round 1: 1 required, 1 optional
fix:1:1 fixed (tree-1)
  → reviewing round 2
review:2:reviewer:1 clean
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (approved)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 2\
""",
        "passes in the third review": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 critical
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → reviewing round 2
review:2:reviewer:1 1 high, 1 low
  → fixing after round 2: 1 required, 1 optional
fix:2:1 fixed (tree-2)
  → reviewing round 3
review:3:reviewer:1 clean
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (approved)
seal:1 done: seal-of-tree-2
  → approved: no blocking findings in round 3\
""",
        "exhausted, without a decision": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 critical
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → reviewing round 2
review:2:reviewer:1 1 critical
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-2)
  → reviewing round 3
review:3:reviewer:1 1 critical, 2 high, 1 low
  → waiting for a/b/c: 3 blocking findings remain after 3 reviews\
""",
        "exhausted, a person fixes by hand": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 critical
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → reviewing round 2
review:2:reviewer:1 1 critical
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-2)
  → reviewing round 3
review:3:reviewer:1 1 critical
  → waiting for a/b/c: 1 blocking finding remains after 3 reviews
decided: a
  → blocked: a person took over\
""",
        "exhausted, a person accepts": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 critical
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → reviewing round 2
review:2:reviewer:1 1 critical
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-2)
  → reviewing round 3
review:3:reviewer:1 1 critical
  → waiting for a/b/c: 1 blocking finding remains after 3 reviews
decided: b
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (accepted)
seal:1 done: seal-of-tree-2
  → accepted: a person accepted the open findings\
""",
        "exhausted, one more round passes": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 critical
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → reviewing round 2
review:2:reviewer:1 1 critical
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-2)
  → reviewing round 3
review:3:reviewer:1 1 critical
  → waiting for a/b/c: 1 blocking finding remains after 3 reviews
decided: c
  → fixing after round 3: 1 required
fix:3:1 fixed (tree-3)
  → reviewing round 4
review:4:reviewer:1 clean
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (approved)
seal:1 done: seal-of-tree-3
  → approved: no blocking findings in round 4\
""",
        "the hard cap takes one more round away": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 critical
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → reviewing round 2
review:2:reviewer:1 1 critical
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-2)
  → reviewing round 3
review:3:reviewer:1 1 critical
  → waiting for a/b/c: 1 blocking finding remains after 3 reviews
decided: c
  → fixing after round 3: 1 required
fix:3:1 fixed (tree-3)
  → reviewing round 4
review:4:reviewer:1 1 critical
  → waiting for a/b/c: 1 blocking finding remains after 4 reviews
decided: c
  → fixing after round 4: 1 required
fix:4:1 fixed (tree-4)
  → reviewing round 5
review:5:reviewer:1 1 critical
  → waiting for a/b: 1 blocking finding remains after 5 reviews
decided: b
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (accepted)
seal:1 done: seal-of-tree-4
  → accepted: a person accepted the open findings\
""",
        "the last blocker is waived while waiting": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 critical
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → reviewing round 2
review:2:reviewer:1 1 critical
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-2)
  → reviewing round 3
review:3:reviewer:1 1 critical
  → waiting for a/b/c: 1 blocking finding remains after 3 reviews
a finding was waived
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (waived)
seal:1 done: seal-of-tree-2
  → approved: no blocking findings left in round 3\
""",
        "a fix that changed nothing is reviewed all the same": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 critical
  → fixing after round 1: 1 required
fix:1:1 unchanged (tree-0)
  → reviewing round 2
review:2:reviewer:1 1 critical
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-1)
  → reviewing round 3
review:3:reviewer:1 clean
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (approved)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 3\
""",
        "a blocker that the next reviewer misses withholds the seal": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 critical
  → fixing after round 1: 1 required
fix:1:1 elsewhere (tree-1)
  → reviewing round 2
review:2:reviewer:1 clean
  → validation 2, before sealing
validate:2:1 skipped
  → approved: no blocking findings in round 2; no seal: earlier findings still block: SQL injection\
""",
        "malformed, then readable": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 unreadable
review:1:reviewer:2 clean
  → sealing (approved)
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "malformed to the end": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 unreadable
review:1:reviewer:2 unreadable
review:1:reviewer:3 unreadable
  → did-not-run: reviewer unreadable: scripted: unreadable\
""",
        "crashed, then the fallback answers": """\
started: epic, fix
  → validation 1
validate:1:1 by burnish
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 by scripted
review:1:reviewer:1 crashed
pause:review:1:reviewer:2 pause over
review:1:reviewer:2 by scripted
review:1:reviewer:2 crashed
pause:review:1:reviewer:3 pause over
review:1:reviewer:3 by scripted
review:1:reviewer:3 crashed
review:1:reviewer:4 by other
review:1:reviewer:4 clean
  → sealing (approved)
seal:1 by burnish
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "stuck to the end": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 stuck
pause:review:1:reviewer:2 pause over
review:1:reviewer:2 stuck
pause:review:1:reviewer:3 pause over
review:1:reviewer:3 stuck
  → did-not-run: reviewer stuck: scripted: stuck\
""",
        "rate-limited waits as long as the client says": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 rate-limited
pause:review:1:reviewer:2 pause over
review:1:reviewer:2 clean
  → sealing (approved)
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "unauthorised is not tried again": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 unauthorised
  → did-not-run: reviewer unauthorised: scripted: unauthorised\
""",
        "an empty diff is no review": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 empty-diff
  → did-not-run: reviewer empty-diff: scripted: empty-diff\
""",
        "the fixer crashes to the end": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 critical
  → fixing after round 1: 1 required
fix:1:1 crashed
pause:fix:1:2 pause over
fix:1:2 crashed
pause:fix:1:3 pause over
fix:1:3 crashed
  → did-not-run: the fixer crashed: scripted: crashed\
""",
        "the orchestrator died during a review": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 lost
review:1:reviewer:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "cancelled during a review": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
cancelled
  → stopping (cancelled)
review:1:reviewer:1 lost
  → cancelled: a person cancelled the run\
""",
        "cancelled while waiting": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 critical
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → reviewing round 2
review:2:reviewer:1 1 critical
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-2)
  → reviewing round 3
review:3:reviewer:1 1 critical
  → waiting for a/b/c: 1 blocking finding remains after 3 reviews
cancelled
  → cancelled: a person cancelled the run\
""",
        "the budget runs out during a fix": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 critical
  → fixing after round 1: 1 required
budget reached: scripted
  → stopping (over-budget)
fix:1:1 lost
  → over-budget: budget reached: scripted\
""",
        "validation fails, is repaired, passes": """\
started: epic, fix
  → validation 1
validate:1:1 failed
  → fixing after round 0: failed validation
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 passed
  → reviewing round 1
review:1:reviewer:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 1\
""",
        "validation fails three times in a row": """\
started: epic, fix
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
        "validation cannot run": """\
started: epic, fix
  → validation 1
validate:1:1 cannot-run
  → did-not-run: validation did not run: scripted: cannot-run\
""",
        "one review without fixes": """\
started: epic, review
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 critical
  → failed: 1 blocking finding remains after 1 review\
""",
        "fewer rounds than the protocol allows": """\
started: epic, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 critical
  → waiting for a/b/c: 1 blocking finding remains after 1 review\
""",
    }
)


@pytest.mark.parametrize("situation", SCENARIOS)
def test_the_trail_of(situation: str) -> None:
    assert trail(SCENARIOS[situation]) == TRAILS[situation]
