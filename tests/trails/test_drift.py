"""The drift protocol against its seed: pass or drift, five fix attempts, every failure at once."""

import pytest
from inline_snapshot import snapshot

from burnish.core.protocol import SkipReason
from burnish.runtime.script import RehearsalScript
from tests.trails.playing import trail

SCENARIOS = {
    "pass at once": RehearsalScript(protocol="drift", reviews={"reviewer": ("pass",)}),
    "drift, fix, pass": RehearsalScript(
        protocol="drift", reviews={"reviewer": ("drift: handle errors in auth", "pass")}, fixes=("fixed",)
    ),
    "passes after the fifth fix": RehearsalScript(
        protocol="drift",
        reviews={
            "reviewer": (
                "drift: handle errors in auth",
                "drift: handle errors in auth",
                "drift: handle errors in auth",
                "drift: handle errors in auth",
                "drift: handle errors in auth",
                "pass",
            )
        },
        fixes=("fixed", "fixed", "fixed", "fixed", "fixed"),
    ),
    "drift after five fixes": RehearsalScript(
        protocol="drift",
        reviews={
            "reviewer": (
                "drift: handle errors in auth",
                "drift: handle errors in auth",
                "drift: handle errors in auth",
                "drift: handle errors in auth",
                "drift: handle errors in auth",
                "drift: handle errors in auth",
            )
        },
        fixes=("fixed", "fixed", "fixed", "fixed", "fixed"),
    ),
    "contract violation": RehearsalScript(protocol="drift", reviews={"reviewer": ("unreadable",)}),
    "the reviewer exits non-zero": RehearsalScript(
        protocol="drift", reviews={"reviewer": ("crashed",)}, fallbacks={"review": "other"}
    ),
    "the reviewer is stuck": RehearsalScript(protocol="drift", reviews={"reviewer": ("stuck",)}),
    "the fixer exits non-zero": RehearsalScript(
        protocol="drift", reviews={"reviewer": ("drift: handle errors in auth",)}, fixes=("crashed",)
    ),
    "the fixer changes nothing": RehearsalScript(
        protocol="drift", reviews={"reviewer": ("drift: handle errors in auth", "pass")}, fixes=("unchanged",)
    ),
    "review is disabled": RehearsalScript(protocol="drift", skip=SkipReason.REVIEW_DISABLED),
    "no reviewer prompt": RehearsalScript(protocol="drift", skip=SkipReason.NO_REVIEWER_PROMPT),
    "no work was picked": RehearsalScript(protocol="drift", build=True, skip=SkipReason.NOTHING_PICKED),
    "the build failed before": RehearsalScript(protocol="drift", skip=SkipReason.BUILD_FAILED),
    "the builder exits non-zero": RehearsalScript(protocol="drift", build=True, builds=("crashed",)),
    "built, then passed": RehearsalScript(
        protocol="drift", build=True, builds=("built",), reviews={"reviewer": ("pass",)}
    ),
    "cancelled during a review": RehearsalScript(protocol="drift", reviews={"reviewer": ("cancelled",)}),
    "validation fails three times": RehearsalScript(
        protocol="drift", validations=("failed", "failed", "failed"), fixes=("fixed", "fixed")
    ),
}

TRAILS = snapshot(
    {
        "pass at once": """\
started: drift, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "drift, fix, pass": """\
started: drift, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 high
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → reviewing round 2
review:2:reviewer:1 clean
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (approved)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 2\
""",
        "passes after the fifth fix": """\
started: drift, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 high
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → reviewing round 2
review:2:reviewer:1 1 high
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-2)
  → reviewing round 3
review:3:reviewer:1 1 high
  → fixing after round 3: 1 required
fix:3:1 fixed (tree-3)
  → reviewing round 4
review:4:reviewer:1 1 high
  → fixing after round 4: 1 required
fix:4:1 fixed (tree-4)
  → reviewing round 5
review:5:reviewer:1 1 high
  → fixing after round 5: 1 required
fix:5:1 fixed (tree-5)
  → reviewing round 6
review:6:reviewer:1 clean
  → validation 2, before sealing
validate:2:1 skipped
  → sealing (approved)
seal:1 done: seal-of-tree-5
  → approved: no blocking findings in round 6\
""",
        "drift after five fixes": """\
started: drift, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 high
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → reviewing round 2
review:2:reviewer:1 1 high
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-2)
  → reviewing round 3
review:3:reviewer:1 1 high
  → fixing after round 3: 1 required
fix:3:1 fixed (tree-3)
  → reviewing round 4
review:4:reviewer:1 1 high
  → fixing after round 4: 1 required
fix:4:1 fixed (tree-4)
  → reviewing round 5
review:5:reviewer:1 1 high
  → fixing after round 5: 1 required
fix:5:1 fixed (tree-5)
  → reviewing round 6
review:6:reviewer:1 1 high
  → failed: Drift remains after 5 fix attempts\
""",
        "contract violation": """\
started: drift, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 unreadable
  → did-not-run: reviewer unreadable: scripted: unreadable\
""",
        "the reviewer exits non-zero": """\
started: drift, fix
  → validation 1
validate:1:1 by burnish
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 by scripted
review:1:reviewer:1 crashed
  → did-not-run: reviewer crashed: scripted: crashed\
""",
        "the reviewer is stuck": """\
started: drift, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 stuck
  → did-not-run: reviewer stuck: scripted: stuck\
""",
        "the fixer exits non-zero": """\
started: drift, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 high
  → fixing after round 1: 1 required
fix:1:1 crashed
  → did-not-run: the fixer crashed: scripted: crashed\
""",
        "the fixer changes nothing": """\
started: drift, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 1 high
  → fixing after round 1: 1 required
fix:1:1 unchanged (tree-0)
  → reviewing round 2
review:2:reviewer:1 clean
  → approved: no blocking findings in round 2; no seal: earlier findings still block: handle errors in auth\
""",
        "review is disabled": """\
started: drift, fix
  → validation 1
skipped: review-disabled
  → skipped: review skipped: review-disabled\
""",
        "no reviewer prompt": """\
started: drift, fix
  → validation 1
skipped: no-reviewer-prompt
  → skipped: review skipped: no-reviewer-prompt\
""",
        "no work was picked": """\
started: drift, fix
  → building
skipped: nothing-picked
  → skipped: review skipped: nothing-picked\
""",
        "the build failed before": """\
started: drift, fix
  → validation 1
skipped: build-failed
  → did-not-run: review skipped: build-failed\
""",
        "the builder exits non-zero": """\
started: drift, fix
  → building
build:1 crashed
  → did-not-run: the builder crashed: scripted: crashed; review skipped\
""",
        "built, then passed": """\
started: drift, fix
  → building
build:1 done
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:reviewer:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 1\
""",
        "cancelled during a review": """\
started: drift, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
cancelled
  → stopping (cancelled)
review:1:reviewer:1 lost
  → cancelled: a person cancelled the run\
""",
        "validation fails three times": """\
started: drift, fix
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
