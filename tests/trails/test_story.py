"""The story protocol against its seed: five cycles of one session that reviews and fixes, then a person."""

import pytest
from inline_snapshot import snapshot

from burnish.runtime.script import RehearsalScript
from tests.trails.playing import trail

SCENARIOS = {
    "complete at once": RehearsalScript(protocol="story", reviews={"session": ("clean, done",)}),
    "complete without any status file": RehearsalScript(protocol="story", reviews={"session": ("clean",)}),
    "lesser findings become action items": RehearsalScript(
        protocol="story", reviews={"session": ("high a.py:1 slow; medium; low, done",)}
    ),
    "critical, then complete": RehearsalScript(
        protocol="story", reviews={"session": ("critical a.py:1 crash, not-done", "clean, done")}
    ),
    "incomplete counts as a cycle": RehearsalScript(
        protocol="story", reviews={"session": ("clean, not-done", "clean, done")}
    ),
    "unreadable, but newly done": RehearsalScript(protocol="story", reviews={"session": ("unclear, newly-done",)}),
    "unreadable, and done before": RehearsalScript(
        protocol="story", reviews={"session": ("unclear, done", "clean, done")}
    ),
    "crashed and stuck count as cycles": RehearsalScript(
        protocol="story", reviews={"session": ("crashed", "stuck", "timed-out", "clean, done")}
    ),
    "nobody is logged in": RehearsalScript(protocol="story", reviews={"session": ("unauthorised",)}),
    "not installed, and the other one takes over for good": RehearsalScript(
        protocol="story",
        reviews={"session": ("cannot-run", "critical a.py:1 crash, not-done", "clean, done")},
        fallbacks={"review": "claude"},
    ),
    "neither can be used": RehearsalScript(
        protocol="story",
        reviews={"session": ("unauthorised", "cannot-run")},
        fallbacks={"review": "claude"},
    ),
    "the network is down for a while": RehearsalScript(
        protocol="story", reviews={"session": ("unreachable", "rate-limited 30", "clean, done")}
    ),
    "five cycles, without a decision": RehearsalScript(
        protocol="story",
        reviews={
            "session": (
                "critical a.py:1 crash, not-done",
                "critical a.py:1 crash, not-done",
                "critical a.py:1 crash, not-done",
                "critical a.py:1 crash, not-done",
                "critical a.py:1 crash, not-done",
            )
        },
    ),
    "five crashes": RehearsalScript(
        protocol="story", reviews={"session": ("crashed", "crashed", "crashed", "crashed", "crashed")}
    ),
    "exhausted, fixed by hand": RehearsalScript(
        protocol="story",
        reviews={
            "session": (
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
            )
        },
        decisions=("1",),
    ),
    "exhausted, another agent completes": RehearsalScript(
        protocol="story",
        reviews={
            "session": (
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
                "clean, done",
            )
        },
        decisions=("2 claude",),
    ),
    "exhausted, the fallback is the other agent": RehearsalScript(
        protocol="story",
        reviews={
            "session": (
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
                "clean, done",
            )
        },
        decisions=("2",),
        fallbacks={"review": "claude"},
    ),
    "exhausted, skipped": RehearsalScript(
        protocol="story",
        reviews={
            "session": (
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
            )
        },
        decisions=("3",),
    ),
    "ten cycles are the cap": RehearsalScript(
        protocol="story",
        reviews={
            "session": (
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
                "critical, not-done",
            )
        },
        decisions=("2 claude", "2 claude", "2 claude", "2 claude", "2 claude", "3"),
    ),
    "validation fails, is repaired, passes": RehearsalScript(
        protocol="story",
        validations=("failed", "passed", "passed"),
        fixes=("fixed",),
        reviews={"session": ("clean, done",)},
    ),
    "cancelled during a session": RehearsalScript(protocol="story", reviews={"session": ("cancelled",)}),
}

TRAILS = snapshot(
    {
        "complete at once": """\
started: story, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 clean, story done
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (self-reviewed)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 1\
""",
        "complete without any status file": """\
started: story, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 clean, story absent
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (self-reviewed)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 1\
""",
        "lesser findings become action items": """\
started: story, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 1 high, 1 medium, 1 low, story done
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (self-reviewed)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 1\
""",
        "critical, then complete": """\
started: story, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 1 critical, story not-done
  → reviewing round 2
review:2:session:1 clean, story done
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (self-reviewed)
seal:1 done: seal-of-tree-2
  → approved: no blocking findings in round 2\
""",
        "incomplete counts as a cycle": """\
started: story, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 clean, story not-done
  → reviewing round 2
review:2:session:1 clean, story done
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (self-reviewed)
seal:1 done: seal-of-tree-2
  → approved: no blocking findings in round 2\
""",
        "unreadable, but newly done": """\
started: story, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 unreadable, story done
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (self-reviewed, unproven)
seal:1 done: seal-of-tree-1
  → approved: the session marked the story as done\
""",
        "unreadable, and done before": """\
started: story, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 unreadable, story done
  → reviewing round 2
review:2:session:1 clean, story done
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (self-reviewed)
seal:1 done: seal-of-tree-2
  → approved: no blocking findings in round 2\
""",
        "crashed and stuck count as cycles": """\
started: story, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 crashed
  → reviewing round 2
review:2:session:1 stuck
  → reviewing round 3
review:3:session:1 timed-out
  → reviewing round 4
review:4:session:1 clean, story done
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (self-reviewed)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 4\
""",
        "the network is down for a while": """\
started: story, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 unreachable
pause:review:1:session:2 pause over
review:1:session:2 rate-limited
pause:review:1:session:3 pause over
review:1:session:3 clean, story done
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (self-reviewed)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 1\
""",
        "five cycles, without a decision": """\
started: story, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 1 critical, story not-done
  → reviewing round 2
review:2:session:1 1 critical, story not-done
  → reviewing round 3
review:3:session:1 1 critical, story not-done
  → reviewing round 4
review:4:session:1 1 critical, story not-done
  → reviewing round 5
review:5:session:1 1 critical, story not-done
  → waiting for 1/2/3 (critical): 1 blocking finding remains after 5 reviews\
""",
        "five crashes": """\
started: story, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 crashed
  → reviewing round 2
review:2:session:1 crashed
  → reviewing round 3
review:3:session:1 crashed
  → reviewing round 4
review:4:session:1 crashed
  → reviewing round 5
review:5:session:1 crashed
  → waiting for 1/2/3 (critical): session gave no usable answer: scripted: crashed\
""",
        "exhausted, fixed by hand": """\
started: story, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 1 critical, story not-done
  → reviewing round 2
review:2:session:1 1 critical, story not-done
  → reviewing round 3
review:3:session:1 1 critical, story not-done
  → reviewing round 4
review:4:session:1 1 critical, story not-done
  → reviewing round 5
review:5:session:1 1 critical, story not-done
  → waiting for 1/2/3 (critical): 1 blocking finding remains after 5 reviews
decided: 1
  → blocked: a person took over\
""",
        "exhausted, another agent completes": """\
started: story, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 1 critical, story not-done
  → reviewing round 2
review:2:session:1 1 critical, story not-done
  → reviewing round 3
review:3:session:1 1 critical, story not-done
  → reviewing round 4
review:4:session:1 1 critical, story not-done
  → reviewing round 5
review:5:session:1 1 critical, story not-done
  → waiting for 1/2/3 (critical): 1 blocking finding remains after 5 reviews
decided: 2 with claude
  → reviewing round 6
review:6:session:1 clean, story done
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (self-reviewed)
seal:1 done: seal-of-tree-6
  → approved: no blocking findings in round 6\
""",
        "exhausted, the fallback is the other agent": """\
started: story, fix
  → validation 1
validate:1:1 by burnish
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 by scripted
review:1:session:1 1 critical, story not-done
  → reviewing round 2
review:2:session:1 by scripted
review:2:session:1 1 critical, story not-done
  → reviewing round 3
review:3:session:1 by scripted
review:3:session:1 1 critical, story not-done
  → reviewing round 4
review:4:session:1 by scripted
review:4:session:1 1 critical, story not-done
  → reviewing round 5
review:5:session:1 by scripted
review:5:session:1 1 critical, story not-done
  → waiting for 1/2/3 (critical): 1 blocking finding remains after 5 reviews
decided: 2 with claude
  → reviewing round 6
review:6:session:1 by claude
review:6:session:1 clean, story done
  → validation 2, before sealing
validate:2:1 by burnish
validate:2:1 skipped
  → sealing (self-reviewed)
seal:1 by burnish
seal:1 done: seal-of-tree-6
  → approved: no blocking findings in round 6\
""",
        "exhausted, skipped": """\
started: story, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 1 critical, story not-done
  → reviewing round 2
review:2:session:1 1 critical, story not-done
  → reviewing round 3
review:3:session:1 1 critical, story not-done
  → reviewing round 4
review:4:session:1 1 critical, story not-done
  → reviewing round 5
review:5:session:1 1 critical, story not-done
  → waiting for 1/2/3 (critical): 1 blocking finding remains after 5 reviews
decided: 3
  → skipped: a person skipped the review\
""",
        "ten cycles are the cap": """\
started: story, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 1 critical, story not-done
  → reviewing round 2
review:2:session:1 1 critical, story not-done
  → reviewing round 3
review:3:session:1 1 critical, story not-done
  → reviewing round 4
review:4:session:1 1 critical, story not-done
  → reviewing round 5
review:5:session:1 1 critical, story not-done
  → waiting for 1/2/3 (critical): 1 blocking finding remains after 5 reviews
decided: 2 with claude
  → reviewing round 6
review:6:session:1 1 critical, story not-done
  → waiting for 1/2/3 (critical): 1 blocking finding remains after 6 reviews
decided: 2 with claude
  → reviewing round 7
review:7:session:1 1 critical, story not-done
  → waiting for 1/2/3 (critical): 1 blocking finding remains after 7 reviews
decided: 2 with claude
  → reviewing round 8
review:8:session:1 1 critical, story not-done
  → waiting for 1/2/3 (critical): 1 blocking finding remains after 8 reviews
decided: 2 with claude
  → reviewing round 9
review:9:session:1 1 critical, story not-done
  → waiting for 1/2/3 (critical): 1 blocking finding remains after 9 reviews
decided: 2 with claude
  → reviewing round 10
review:10:session:1 1 critical, story not-done
  → waiting for 1/3 (critical): 1 blocking finding remains after 10 reviews
decided: 3
  → skipped: a person skipped the review\
""",
        "validation fails, is repaired, passes": """\
started: story, fix
  → validation 1
validate:1:1 failed
  → fixing after round 0: failed validation
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 passed
  → reviewing round 1
review:1:session:1 clean, story done
  → validation 3, before sealing
validate:3:1 passed
  → sealing (self-reviewed)
seal:1 done: seal-of-tree-2
  → approved: no blocking findings in round 1\
""",
        "cancelled during a session": """\
started: story, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
cancelled
  → stopping (cancelled)
review:1:session:1 lost
  → cancelled: a person cancelled the run\
""",
        "nobody is logged in": """\
started: story, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 unauthorised
  → did-not-run: session unauthorised: scripted: unauthorised\
""",
        "not installed, and the other one takes over for good": """\
started: story, fix
  → validation 1
validate:1:1 by burnish
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 by scripted
review:1:session:1 cannot-run
review:1:session:2 by claude
review:1:session:2 1 critical, story not-done
  → reviewing round 2
review:2:session:1 by claude
review:2:session:1 clean, story done
  → validation 2, before sealing
validate:2:1 by burnish
validate:2:1 skipped
  → sealing (self-reviewed)
seal:1 by burnish
seal:1 done: seal-of-tree-2
  → approved: no blocking findings in round 2\
""",
        "neither can be used": """\
started: story, fix
  → validation 1
validate:1:1 by burnish
validate:1:1 skipped
  → reviewing round 1
review:1:session:1 by scripted
review:1:session:1 unauthorised
review:1:session:2 by claude
review:1:session:2 cannot-run
  → did-not-run: session cannot-run: scripted: cannot-run\
""",
    }
)


@pytest.mark.parametrize("situation", SCENARIOS)
def test_the_trail_of(situation: str) -> None:
    assert trail(SCENARIOS[situation]) == TRAILS[situation]
