"""What test runners print and write, read from examples of each."""

from burnish.agents.panel.project_tests.outputs import cargo_cases, go_cases, tap_cases, unittest_cases
from burnish.agents.panel.project_tests.values import CaseOutcome

GO = """\
{"Time":"2026-01-01T00:00:00Z","Action":"start","Package":"example.com/calc"}
{"Action":"run","Package":"example.com/calc","Test":"TestDouble"}
{"Action":"output","Package":"example.com/calc","Test":"TestDouble","Output":"=== RUN   TestDouble\\n"}
{"Action":"output","Package":"example.com/calc","Test":"TestDouble","Output":"    calc_test.go:7: got 6\\n"}
{"Action":"fail","Package":"example.com/calc","Test":"TestDouble","Elapsed":0}
{"Action":"run","Package":"example.com/calc","Test":"TestZero"}
{"Action":"pass","Package":"example.com/calc","Test":"TestZero","Elapsed":0}
{"Action":"skip","Package":"example.com/calc","Test":"TestLater","Elapsed":0}
{"Action":"output","Package":"example.com/calc","Output":"FAIL\\n"}
{"Action":"fail","Package":"example.com/calc","Elapsed":0.001}
# example.com/broken
broken/b.go:3:8: undefined: x
{"Action":"output","Package":"example.com/broken","Output":"FAIL\\texample.com/broken [build failed]\\n"}
{"Action":"fail","Package":"example.com/broken","Elapsed":0}
"""


def test_go_names_tests_and_packages_that_do_not_build() -> None:
    double, zero, later, broken = go_cases(GO)
    assert (double.name, double.outcome) == ("example.com/calc.TestDouble", CaseOutcome.FAILED)
    assert "calc_test.go:7: got 6" in double.text
    assert (zero.outcome, later.outcome) == (CaseOutcome.PASSED, CaseOutcome.SKIPPED)
    assert (broken.name, broken.loading) == ("example.com/broken", True)
    assert "build failed" in broken.text


CARGO = """\
running 3 tests
test tests::doubles ... FAILED
test tests::zero ... ok
test tests::slow ... ignored, takes long

failures:

---- tests::doubles stdout ----

thread 'tests::doubles' panicked at src/lib.rs:9:9:
assertion `left == right` failed
  left: 6
 right: 4

failures:
    tests::doubles

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""


def test_cargo_lists_every_test() -> None:
    doubles, zero, slow = cargo_cases(CARGO)
    assert (doubles.name, doubles.outcome) == ("tests::doubles", CaseOutcome.FAILED)
    assert doubles.text.startswith("thread 'tests::doubles' panicked at src/lib.rs:9:9:")
    assert doubles.text.endswith("right: 4")
    assert (zero.outcome, slow.outcome) == (CaseOutcome.PASSED, CaseOutcome.SKIPPED)


TAP = """\
TAP version 13
# Subtest: group
    # Subtest: inner ok
    ok 1 - inner ok
      ---
      duration_ms: 0.4
      ...
    # Subtest: inner bad
    not ok 2 - inner bad
      ---
      location: '/copy/test/a.test.js:3:74'
      error: 'boom'
      ...
    1..2
not ok 1 - group
  ---
  failureType: 'subtestsFailed'
  ...
ok 2 - alone
  ---
  ...
ok 3 - later # SKIP
1..3
"""


def test_tap_names_inner_tests_and_leaves_their_groups_out() -> None:
    assert [(case.name, case.outcome) for case in tap_cases(TAP)] == [
        ("group > inner ok", CaseOutcome.PASSED),
        ("group > inner bad", CaseOutcome.FAILED),
        ("alone", CaseOutcome.PASSED),
        ("later", CaseOutcome.SKIPPED),
    ]
    bad = tap_cases(TAP)[1]
    assert (bad.file, bad.line) == ("/copy/test/a.test.js", 3)
    assert "error: 'boom'" in bad.text


def test_a_group_that_fails_by_itself_is_a_failure() -> None:
    text = TAP.replace("failureType: 'subtestsFailed'", "failureType: 'hookFailed'").replace("not ok 2", "ok 2")
    assert [case.name for case in tap_cases(text) if case.outcome is CaseOutcome.FAILED] == ["group"]


UNITTEST = """\
.F
======================================================================
FAIL: test_sign (test_calc.SignTest.test_sign)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/copy/test_calc.py", line 7, in test_sign
    self.assertEqual(sign(2), 1)
AssertionError: 7 != 1

----------------------------------------------------------------------
Ran 2 tests in 0.000s

FAILED (failures=1)
"""


def test_unittest_names_what_failed() -> None:
    (case,) = unittest_cases(UNITTEST)
    assert (case.name, case.outcome) == ("test_sign (test_calc.SignTest.test_sign)", CaseOutcome.FAILED)
    assert case.text.rstrip().endswith("AssertionError: 7 != 1")


def test_output_that_nobody_knows_names_nothing() -> None:
    text = "all is well\n{not json}\nok then\n"
    assert go_cases(text) == cargo_cases(text) == tap_cases(text) == unittest_cases(text) == ()
