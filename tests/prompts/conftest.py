"""Situations that tests of prompts begin with."""

import pytest

from burnish.core.events import Subject
from burnish.core.findings import Finding, Location, Severity
from burnish.core.reviews import ContractName
from burnish.core.state import FixOrder
from burnish.prompts.material import FixMaterial, ReviewMaterial, TestStatus

NONCE = "0123456789abcdef"

DIFF = """\
diff --git a/src/login.py b/src/login.py
--- a/src/login.py
+++ b/src/login.py
@@ -1 +1 @@
-def login(): ...
+def login(name): log(name, password)
"""


@pytest.fixture
def subject() -> Subject:
    return Subject(
        branch="story-1-2-login",
        base="main",
        base_commit="1111111",
        head="2222222",
        tree="3333333",
        story="1.2",
        title="Log in",
    )


@pytest.fixture
def small_change(subject: Subject) -> ReviewMaterial:
    """A change of one line, with nothing else known about it."""
    return ReviewMaterial(
        run="r1",
        subject=subject,
        round=1,
        reviewer="reviewer",
        contract=ContractName.FINDINGS,
        diff=DIFF,
        files_modified=("src/login.py",),
        test_status=TestStatus.PASSING,
        test_output="3 passed",
    )


@pytest.fixture
def logged_password() -> Finding:
    return Finding(
        severity=Severity.CRITICAL,
        id="f1",
        title="The password is logged",
        category="security",
        location=Location(file="src/login.py", line=1, end_line=2),
        also_at=(Location(file="src/other.py"),),
        problem="log() is given the password",
        impact="Everybody who reads logs can log in",
        evidence="log(name, password)",
        suggestion="Leave it out\nand test that",
        found_by=("reviewer",),
    )


@pytest.fixture
def unclear_name() -> Finding:
    return Finding(severity=Severity.LOW, id="f2", title="The name is unclear")


@pytest.fixture
def first_fix(subject: Subject, logged_password: Finding, unclear_name: Finding) -> FixMaterial:
    """The fix after round 1, of a critical finding and a minor one."""
    order = FixOrder(number=1, round=1, must=(logged_password,), may=(unclear_name,))
    return FixMaterial(run="r1", subject=subject, round=1, order=order)
