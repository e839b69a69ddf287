"""The default protocol: a ratchet that converges, open blockers that stay, one full review before the seal."""

import pytest
from inline_snapshot import snapshot

from burnish.runtime.script import RehearsalScript
from tests.trails.playing import trail

SCENARIOS = {
    "clean at once": RehearsalScript(protocol="default", reviews={"*": ("clean",)}),
    "findings below the gate": RehearsalScript(
        protocol="default", reviews={"*": ("clean",), "style": ("medium a.py:1 long; low; info",)}
    ),
    "fixed, a clean ratchet, one full review": RehearsalScript(
        protocol="default",
        reviews={
            "*": ("clean", "clean", "clean"),
            "bugs": ("high app.py:3 wrong result; low b.py:1 style", "clean", "clean"),
        },
        fixes=("fixed",),
    ),
    "new lesser findings are filed in a ratchet round": RehearsalScript(
        protocol="default",
        reviews={
            "*": ("clean", "clean", "clean"),
            "bugs": ("high app.py:3 wrong result", "medium b.py:7 could be simpler", "clean"),
        },
        fixes=("fixed",),
    ),
    "a new high finding blocks in a ratchet round": RehearsalScript(
        protocol="default",
        reviews={
            "*": ("clean", "clean", "clean"),
            "bugs": ("high app.py:3 wrong result", "high b.py:7 leaks", "clean"),
        },
        fixes=("fixed", "fixed"),
    ),
    "the last full review finds something": RehearsalScript(
        protocol="default",
        reviews={
            "*": ("clean", "clean", "clean"),
            "bugs": ("high app.py:3 wrong result", "clean", "high c.py:1 race"),
        },
        fixes=("fixed",),
    ),
    "a missed blocker holds the loop up": RehearsalScript(
        protocol="default",
        reviews={"*": ("clean", "clean", "clean"), "bugs": ("high app.py:3 wrong result", "clean", "clean")},
        fixes=("elsewhere", "fixed"),
    ),
    "a fix that changed nothing ends it": RehearsalScript(
        protocol="default", reviews={"*": ("clean",), "bugs": ("high app.py:3 wrong result",)}, fixes=("unchanged",)
    ),
    "one more review is made though the fix changed nothing again, up to the cap": RehearsalScript(
        protocol="default",
        interactive=True,
        reviews={"*": ("clean",) * 5, "bugs": ("high app.py:3 wrong result",) * 5},
        fixes=("unchanged",) * 7,
        decisions=("c", "c", "c", "c", "a"),
    ),
    "a fix that brings an earlier tree back ends it": RehearsalScript(
        protocol="default",
        reviews={"*": ("clean", "clean"), "bugs": ("high app.py:3 wrong result", "high app.py:3 wrong result")},
        fixes=("fixed", "restored"),
    ),
    "exhausted without a terminal": RehearsalScript(
        protocol="default",
        reviews={
            "*": ("clean", "clean", "clean"),
            "bugs": ("high app.py:3 wrong result", "high app.py:3 wrong result", "high app.py:3 wrong result"),
        },
        fixes=("fixed", "fixed"),
    ),
    "exhausted at a terminal, accepted": RehearsalScript(
        protocol="default",
        interactive=True,
        reviews={
            "*": ("clean", "clean", "clean"),
            "bugs": ("high app.py:3 wrong result", "high app.py:3 wrong result", "high app.py:3 wrong result"),
        },
        fixes=("fixed", "fixed"),
        decisions=("b",),
    ),
    "exhausted at a terminal, one more round": RehearsalScript(
        protocol="default",
        interactive=True,
        reviews={
            "*": ("clean", "clean", "clean", "clean"),
            "bugs": (
                "high app.py:3 wrong result",
                "high app.py:3 wrong result",
                "high app.py:3 wrong result",
                "clean",
            ),
        },
        fixes=("fixed", "fixed", "fixed"),
        decisions=("c",),
    ),
    "exhausted at a terminal, refuted": RehearsalScript(
        protocol="default",
        interactive=True,
        reviews={
            "*": ("clean", "clean", "clean"),
            "bugs": ("high app.py:3 wrong result", "high app.py:3 wrong result", "high app.py:3 wrong result"),
        },
        fixes=("fixed", "fixed"),
        decisions=("refute 1",),
    ),
    "a finding asks for a person, who has it fixed": RehearsalScript(
        protocol="default",
        reviews={
            "*": ("clean", "clean", "clean"),
            "bugs": ("ask high app.py:3 drop the column?; high b.py:1 bug", "clean", "clean"),
        },
        fixes=("fixed",),
        decisions=("annotate 1 keep the data", "add high c.py:9 also here", "f"),
    ),
    "a finding asks for a person, who refutes it": RehearsalScript(
        protocol="default",
        reviews={
            "*": ("clean", "clean", "clean"),
            "bugs": ("ask high app.py:3 drop the column?; high b.py:1 bug", "clean", "clean"),
        },
        fixes=("fixed",),
        decisions=("refute 1",),
    ),
    "a finding asks for a person, who waives the only blocker": RehearsalScript(
        protocol="default",
        reviews={"*": ("clean",), "bugs": ("ask high app.py:3 drop the column?",)},
        decisions=("waive 1",),
    ),
    "a finding asks for a person, who takes over": RehearsalScript(
        protocol="default",
        reviews={"*": ("clean",), "bugs": ("ask critical app.py:3 drop the column?",)},
        decisions=("m",),
    ),
    "one reviewer falls back": RehearsalScript(
        protocol="default",
        reviews={"*": ("clean",), "bugs": ("crashed", "unreadable", "stuck", "clean")},
        fallbacks={"review": "other"},
    ),
    "one reviewer did not run": RehearsalScript(
        protocol="default", reviews={"*": ("clean",), "bugs": ("crashed", "crashed", "crashed")}
    ),
    "validation fails after a fix": RehearsalScript(
        protocol="default",
        reviews={"*": ("clean", "clean", "clean"), "bugs": ("high app.py:3 wrong result", "clean", "clean")},
        validations=("passed", "failed", "passed"),
        fixes=("fixed", "fixed"),
    ),
    "validation failed (the repair changes nothing)": RehearsalScript(
        protocol="default", validations=("failed",), fixes=("unchanged",)
    ),
    "two reviews at most: the second is the full one": RehearsalScript(
        protocol="default",
        max_rounds=2,
        reviews={"*": ("clean", "clean"), "bugs": ("high app.py:3 wrong result", "clean")},
        fixes=("fixed",),
    ),
    "cancelled while waiting for a rate limit": RehearsalScript(
        protocol="default", reviews={"*": ("clean",), "bugs": ("rate-limited 60", "cancelled")}
    ),
}

TRAILS = snapshot(
    {
        "clean at once": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 clean
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "findings below the gate": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 clean
review:1:style:1 1 medium, 1 low, 1 info
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "fixed, a clean ratchet, one full review": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 1 high, 1 low
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 skipped
  → reviewing round 2 (ratchet)
review:2:bugs:1 clean
review:2:style:1 clean
review:2:tests:1 clean
review:2:security:1 clean
review:2:errors:1 clean
  → reviewing round 3
review:3:bugs:1 clean
review:3:style:1 clean
review:3:tests:1 clean
review:3:security:1 clean
review:3:errors:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 3\
""",
        "new lesser findings are filed in a ratchet round": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 1 high
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 skipped
  → reviewing round 2 (ratchet)
review:2:bugs:1 1 medium
review:2:style:1 clean
review:2:tests:1 clean
review:2:security:1 clean
review:2:errors:1 clean
  → reviewing round 3
review:3:bugs:1 clean
review:3:style:1 clean
review:3:tests:1 clean
review:3:security:1 clean
review:3:errors:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 3\
""",
        "a new high finding blocks in a ratchet round": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 1 high
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 skipped
  → reviewing round 2 (ratchet)
review:2:bugs:1 1 high
review:2:style:1 clean
review:2:tests:1 clean
review:2:security:1 clean
review:2:errors:1 clean
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-2)
  → validation 3
validate:3:1 skipped
  → reviewing round 3
review:3:bugs:1 clean
review:3:style:1 clean
review:3:tests:1 clean
review:3:security:1 clean
review:3:errors:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-2
  → approved: no blocking findings in round 3\
""",
        "the last full review finds something": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 1 high
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 skipped
  → reviewing round 2 (ratchet)
review:2:bugs:1 clean
review:2:style:1 clean
review:2:tests:1 clean
review:2:security:1 clean
review:2:errors:1 clean
  → reviewing round 3
review:3:bugs:1 1 high
review:3:style:1 clean
review:3:tests:1 clean
review:3:security:1 clean
review:3:errors:1 clean
  → failed: 1 blocking finding remains after 3 reviews\
""",
        "a missed blocker holds the loop up": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 1 high
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → fixing after round 1: 1 required
fix:1:1 elsewhere (tree-1)
  → validation 2
validate:2:1 skipped
  → reviewing round 2 (ratchet)
review:2:bugs:1 clean
review:2:style:1 clean
review:2:tests:1 clean
review:2:security:1 clean
review:2:errors:1 clean
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-2)
  → validation 3
validate:3:1 skipped
  → reviewing round 3
review:3:bugs:1 clean
review:3:style:1 clean
review:3:tests:1 clean
review:3:security:1 clean
review:3:errors:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-2
  → approved: no blocking findings in round 3\
""",
        "a fix that changed nothing ends it": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 1 high
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → fixing after round 1: 1 required
fix:1:1 unchanged (tree-0)
  → failed: 1 blocking finding remains after 1 review (the fix changed nothing)\
""",
        "a fix that brings an earlier tree back ends it": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 1 high
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 skipped
  → reviewing round 2 (ratchet)
review:2:bugs:1 1 high
review:2:style:1 clean
review:2:tests:1 clean
review:2:security:1 clean
review:2:errors:1 clean
  → fixing after round 2: 1 required
fix:2:1 restored (tree-0)
  → failed: 1 blocking finding remains after 2 reviews (the fix restored the tree of round 1)\
""",
        "exhausted without a terminal": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 1 high
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 skipped
  → reviewing round 2 (ratchet)
review:2:bugs:1 1 high
review:2:style:1 clean
review:2:tests:1 clean
review:2:security:1 clean
review:2:errors:1 clean
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-2)
  → validation 3
validate:3:1 skipped
  → reviewing round 3
review:3:bugs:1 1 high
review:3:style:1 clean
review:3:tests:1 clean
review:3:security:1 clean
review:3:errors:1 clean
  → failed: 1 blocking finding remains after 3 reviews\
""",
        "exhausted at a terminal, accepted": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 1 high
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 skipped
  → reviewing round 2 (ratchet)
review:2:bugs:1 1 high
review:2:style:1 clean
review:2:tests:1 clean
review:2:security:1 clean
review:2:errors:1 clean
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-2)
  → validation 3
validate:3:1 skipped
  → reviewing round 3
review:3:bugs:1 1 high
review:3:style:1 clean
review:3:tests:1 clean
review:3:security:1 clean
review:3:errors:1 clean
  → waiting for a/b/c: 1 blocking finding remains after 3 reviews
decided: b
  → sealing (accepted)
seal:1 done: seal-of-tree-2
  → accepted: a person accepted the open findings\
""",
        "exhausted at a terminal, one more round": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 1 high
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 skipped
  → reviewing round 2 (ratchet)
review:2:bugs:1 1 high
review:2:style:1 clean
review:2:tests:1 clean
review:2:security:1 clean
review:2:errors:1 clean
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-2)
  → validation 3
validate:3:1 skipped
  → reviewing round 3
review:3:bugs:1 1 high
review:3:style:1 clean
review:3:tests:1 clean
review:3:security:1 clean
review:3:errors:1 clean
  → waiting for a/b/c: 1 blocking finding remains after 3 reviews
decided: c
  → fixing after round 3: 1 required
fix:3:1 fixed (tree-3)
  → validation 4
validate:4:1 skipped
  → reviewing round 4
review:4:bugs:1 clean
review:4:style:1 clean
review:4:tests:1 clean
review:4:security:1 clean
review:4:errors:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-3
  → approved: no blocking findings in round 4\
""",
        "exhausted at a terminal, refuted": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 1 high
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 skipped
  → reviewing round 2 (ratchet)
review:2:bugs:1 1 high
review:2:style:1 clean
review:2:tests:1 clean
review:2:security:1 clean
review:2:errors:1 clean
  → fixing after round 2: 1 required
fix:2:1 fixed (tree-2)
  → validation 3
validate:3:1 skipped
  → reviewing round 3
review:3:bugs:1 1 high
review:3:style:1 clean
review:3:tests:1 clean
review:3:security:1 clean
review:3:errors:1 clean
  → waiting for a/b/c: 1 blocking finding remains after 3 reviews
a finding was refuted
  → sealing (waived)
seal:1 done: seal-of-tree-2
  → approved: no blocking findings left in round 3\
""",
        "a finding asks for a person, who has it fixed": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 2 high
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → waiting for f/m: 1 finding needs a person's decision
a finding was annotated
a finding was added
decided: f
  → fixing after round 1: 3 required
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 skipped
  → reviewing round 2 (ratchet)
review:2:bugs:1 clean
review:2:style:1 clean
review:2:tests:1 clean
review:2:security:1 clean
review:2:errors:1 clean
  → reviewing round 3
review:3:bugs:1 clean
review:3:style:1 clean
review:3:tests:1 clean
review:3:security:1 clean
review:3:errors:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 3\
""",
        "a finding asks for a person, who refutes it": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 2 high
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → waiting for f/m: 1 finding needs a person's decision
a finding was refuted
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 skipped
  → reviewing round 2 (ratchet)
review:2:bugs:1 clean
review:2:style:1 clean
review:2:tests:1 clean
review:2:security:1 clean
review:2:errors:1 clean
  → reviewing round 3
review:3:bugs:1 clean
review:3:style:1 clean
review:3:tests:1 clean
review:3:security:1 clean
review:3:errors:1 clean
  → sealing (waived)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 3\
""",
        "a finding asks for a person, who waives the only blocker": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 1 high
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → waiting for f/m: 1 finding needs a person's decision
a finding was waived
  → sealing (waived)
seal:1 done: seal-of-tree-0
  → approved: no blocking findings left in round 1\
""",
        "a finding asks for a person, who takes over": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 1 critical
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → waiting for f/m: 1 finding needs a person's decision
decided: m
  → blocked: a person took over\
""",
        "one reviewer falls back": """\
started: default, fix
  → validation 1
validate:1:1 by burnish
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 by scripted
review:1:style:1 by scripted
review:1:tests:1 by scripted
review:1:security:1 by scripted
review:1:errors:1 by scripted
review:1:bugs:1 crashed
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
pause:review:1:bugs:2 pause over
review:1:bugs:2 by scripted
review:1:bugs:2 unreadable
review:1:bugs:3 by scripted
review:1:bugs:3 stuck
review:1:bugs:4 by other
review:1:bugs:4 clean
  → sealing (approved)
seal:1 by burnish
seal:1 done: seal-of-tree-0
  → approved: no blocking findings in round 1\
""",
        "one reviewer did not run": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 crashed
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
pause:review:1:bugs:2 pause over
review:1:bugs:2 crashed
pause:review:1:bugs:3 pause over
review:1:bugs:3 crashed
  → did-not-run: bugs crashed: scripted: crashed\
""",
        "validation fails after a fix": """\
started: default, fix
  → validation 1
validate:1:1 passed
  → reviewing round 1
review:1:bugs:1 1 high
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 failed
  → fixing after round 1: failed validation
fix:2:1 fixed (tree-2)
  → validation 3
validate:3:1 passed
  → reviewing round 2 (ratchet)
review:2:bugs:1 clean
review:2:style:1 clean
review:2:tests:1 clean
review:2:security:1 clean
review:2:errors:1 clean
  → reviewing round 3
review:3:bugs:1 clean
review:3:style:1 clean
review:3:tests:1 clean
review:3:security:1 clean
review:3:errors:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-2
  → approved: no blocking findings in round 3\
""",
        "validation failed (the repair changes nothing)": """\
started: default, fix
  → validation 1
validate:1:1 failed
  → fixing after round 0: failed validation
fix:1:1 unchanged (tree-0)
  → failed: validation failed (the fix changed nothing)\
""",
        "two reviews at most: the second is the full one": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 1 high
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → fixing after round 1: 1 required
fix:1:1 fixed (tree-1)
  → validation 2
validate:2:1 skipped
  → reviewing round 2
review:2:bugs:1 clean
review:2:style:1 clean
review:2:tests:1 clean
review:2:security:1 clean
review:2:errors:1 clean
  → sealing (approved)
seal:1 done: seal-of-tree-1
  → approved: no blocking findings in round 2\
""",
        "cancelled while waiting for a rate limit": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 rate-limited
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
pause:review:1:bugs:2 pause over
cancelled
  → stopping (cancelled)
review:1:bugs:2 lost
  → cancelled: a person cancelled the run\
""",
        "one more review is made though the fix changed nothing again, up to the cap": """\
started: default, fix
  → validation 1
validate:1:1 skipped
  → reviewing round 1
review:1:bugs:1 1 high
review:1:style:1 clean
review:1:tests:1 clean
review:1:security:1 clean
review:1:errors:1 clean
  → fixing after round 1: 1 required
fix:1:1 unchanged (tree-0)
  → waiting for a/b/c: the fix changed nothing
decided: c
  → fixing after round 1: 1 required
fix:2:1 unchanged (tree-0)
  → reviewing round 2 (ratchet)
review:2:bugs:1 1 high
review:2:style:1 clean
review:2:tests:1 clean
review:2:security:1 clean
review:2:errors:1 clean
  → fixing after round 2: 1 required
fix:3:1 unchanged (tree-0)
  → waiting for a/b/c: the fix changed nothing
decided: c
  → fixing after round 2: 1 required
fix:4:1 unchanged (tree-0)
  → reviewing round 3
review:3:bugs:1 1 high
review:3:style:1 clean
review:3:tests:1 clean
review:3:security:1 clean
review:3:errors:1 clean
  → waiting for a/b/c: 1 blocking finding remains after 3 reviews
decided: c
  → fixing after round 3: 1 required
fix:5:1 unchanged (tree-0)
  → reviewing round 4
review:4:bugs:1 1 high
review:4:style:1 clean
review:4:tests:1 clean
review:4:security:1 clean
review:4:errors:1 clean
  → waiting for a/b/c: 1 blocking finding remains after 4 reviews
decided: c
  → fixing after round 4: 1 required
fix:6:1 unchanged (tree-0)
  → reviewing round 5
review:5:bugs:1 1 high
review:5:style:1 clean
review:5:tests:1 clean
review:5:security:1 clean
review:5:errors:1 clean
  → waiting for a/b: 1 blocking finding remains after 5 reviews
decided: a
  → blocked: a person took over\
""",
    }
)


@pytest.mark.parametrize("situation", SCENARIOS)
def test_the_trail_of(situation: str) -> None:
    assert trail(SCENARIOS[situation]) == TRAILS[situation]
