"""How findings become rates: nothing counts that does not belong to the category of its case."""

from benchmarks.panel.owasp import Case, Score, cases_of, counted_rules, reported_rules, scores_of

from burnish.core.findings import Finding, Location, Severity

_CASES = [
    Case(name="One", category="hash", vulnerable=True),
    Case(name="Two", category="hash", vulnerable=False),
    Case(name="Three", category="weakrand", vulnerable=True),
]
_COUNTED = {"hash": frozenset({"ruff:S324"}), "weakrand": frozenset({"ruff:S311"})}


def _finding(rule: str, *files: str, severity: Severity = Severity.MEDIUM) -> Finding:
    first, *more = (Location(file=file, line=1) for file in files)
    return Finding(severity=severity, title="A weakness", rule=rule, location=first, also_at=tuple(more))


def test_the_table_is_read_without_its_heading() -> None:
    table = "# test name, category, real vulnerability, cwe\nOne,hash,true,328\nTwo,hash,false,328\n"

    assert cases_of(table) == _CASES[:2]


def test_a_rule_counts_for_its_own_category_only() -> None:
    reported = reported_rules([_finding("ruff:S311", "cases/One.py"), _finding("ruff:S311", "cases/Three.py")])

    assert scores_of(_CASES, reported, _COUNTED) == [
        Score(category="hash", found=0, vulnerable=1, alarms=0, harmless=1),
        Score(category="weakrand", found=1, vulnerable=1, alarms=0, harmless=0),
        Score(category="all", found=1, vulnerable=2, alarms=0, harmless=1),
    ]


def test_a_report_of_a_harmless_case_is_a_false_alarm() -> None:
    reported = reported_rules([_finding("ruff:S324, ast-grep:other", "cases/One.py", "cases/Two.py")])

    assert scores_of(_CASES, reported, _COUNTED)[0] == Score(
        category="hash", found=1, vulnerable=1, alarms=1, harmless=1
    )


def test_what_is_below_medium_is_no_report() -> None:
    assert not reported_rules([_finding("ruff:S324", "cases/One.py", severity=Severity.LOW)])


def test_every_category_of_the_benchmark_has_its_list_of_rules() -> None:
    assert set(counted_rules()) == {
        *("cmdi", "codeinj", "deserialization", "hash", "ldapi", "pathtraver", "redirect", "securecookie", "sqli"),
        *("trustbound", "weakrand", "xpathi", "xss", "xxe"),
    }


def test_no_rule_counts_for_two_categories() -> None:
    rules = [rule for chosen in counted_rules().values() for rule in chosen]

    assert len(rules) == len(set(rules))
