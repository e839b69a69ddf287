"""Every finding reaches the fixer and the output, and what the fixer says of each one is kept, shown and believed no
further than the lines that it changed."""

import json
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

from burnish.core.findings import Finding, Location, Severity
from burnish.core.reviews import Answer
from tests.end_to_end.answers import findings, issues, verdict
from tests.end_to_end.machine import Done, Machine, says, writes
from tests.end_to_end.plots import content, furnished
from tests.end_to_end.simple import policy

PYTHON = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin") or sys.executable
"""One that an agent sees in its sandbox: that of the tests may be hidden with the rest of a home or of /tmp."""
SAME_LINE = Location(file="app.py", line=3)
FIXER = """
import json, os, sys
prompt = sys.stdin.read()
handed = json.loads(os.environ["BURNISH_FINDINGS"])
path = "app.py"
text = open(path).read()
open(path, "w").write(text.replace("app_", " app_"))
print("Check the parameters")
print("The whole story is below, in more than one line.")
for word in sys.argv[1:]:
    assert word in prompt, word
    assert word in os.environ["BURNISH_FINDINGS"], word
for finding in handed:
    if "user_id" in finding["title"]:
        print(f"- {finding['id']}: fixed - user_id is checked")
    elif "amount" in finding["title"]:
        print(f"- {finding['id'][:8]}: not fixed - needs a decision")
    elif "currency" in finding["title"]:
        print(f"- {finding['id']}: refuted - line 1 checks it")
print("- 00000000deadbeef: fixed - something else")
"""


def found(title: str, severity: Severity = Severity.HIGH) -> str:
    finding = Finding(severity=severity, title=title, location=SAME_LINE)
    return says(issues(Answer(clean=False, findings=(finding,))))


CLEAN = says(issues(Answer(clean=True)))


def panel_machine(folder: Path, *words: str) -> Machine:
    """Reviewers of one line: three parameters, and one problem told twice; then all are content."""
    machine = Machine(folder)
    fixer = f"{PYTHON} -c {shlex.quote(FIXER)} {shlex.join(words)}"
    conduct = {
        "review:1:critic:*": found("Parameter user_id is not validated before use"),
        "review:1:pedant:*": found("Parameter amount is not validated before use"),
        "review:1:witness:*": found("Parameter currency is not validated before use"),
        "review:1:security-reviewer:*": found("SQL injection", Severity.CRITICAL),
        "review:1:silent-failure-hunter:*": found("Unsanitized input is concatenated into the query"),
        "review:*": CLEAN,
        "fix:*": f"exec {fixer}",
    }
    return furnished(machine, policy(f'["sh", "{machine.script(conduct)}"]', "panel"))


def by_title(view: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {finding["title"]: finding for finding in view["findings"]}


def test_every_finding_reaches_fixer_and_output_with_an_answer(tmp_path: Path) -> None:
    words = ("user_id", "amount", "currency", "SQL injection", "Unsanitized input is concatenated into the query")
    machine = panel_machine(tmp_path, *words)
    done = machine.burnish("fix", "--json")
    listed = by_title(done.view)
    assert sorted(listed) == [
        "Parameter amount is not validated before use",
        "Parameter currency is not validated before use",
        "Parameter user_id is not validated before use",
        "SQL injection",
    ]
    injection = listed["SQL injection"]
    assert injection["found_by"] == ["security-reviewer", "silent-failure-hunter"]
    assert [source["title"] for source in injection["sources"]] == [
        "SQL injection",
        "Unsanitized input is concatenated into the query",
    ]
    assert done.view["outcome"] == "approved", done.err + done.view["reason"]
    check_answers(done, listed)
    check_texts(machine, done.view["run"])


def check_answers(done: Done, listed: dict[str, dict[str, Any]]) -> None:
    """Each finding has an answer or none; only what the fixer changed and nobody repeats is resolved."""
    fix = done.view["rounds"][0]["fix"]
    said = {answer["finding"]: (answer["answer"], answer["text"]) for answer in fix["answers"]}
    expected = {
        "Parameter user_id is not validated before use": ("fixed", "user_id is checked", "resolved"),
        "Parameter amount is not validated before use": ("not-fixed", "needs a decision", "open"),
        "Parameter currency is not validated before use": ("refuted", "line 1 checks it", "open"),
        "SQL injection": ("no-answer", "", "resolved"),
    }
    for title, (answer, text, status) in expected.items():
        assert (*said[listed[title]["id"]], listed[title]["status"]) == (answer, text, status)
    assert [answer["finding"] for answer in fix["unknown_answers"]] == ["00000000deadbeef"]
    assert done.view["outcome"] == "approved"
    assert done.view["seal"] is None


def check_texts(machine: Machine, run: str) -> None:
    record = (machine.root / ".agents/tmp/phases/review-1/r2-fix-summary.md").read_text()
    shown = machine.burnish("show", run).out
    texts = {
        "record": record,
        "text": shown,
        "markdown": machine.burnish("show", run, "--format", "markdown").out,
        "html": machine.burnish("show", run, "--format", "html").out,
    }
    for name, text in texts.items():
        for words in ("user_id is checked", "needs a decision", "refuted", "no answer", "00000000"):
            assert words in text, (name, words)
    assert "The whole story is below" in record
    sarif = json.loads(machine.burnish("show", run, "--format", "sarif").out)
    assert {result["message"]["text"] for result in sarif["runs"][0]["results"]} == {
        "Parameter amount is not validated before use",
        "Parameter currency is not validated before use",
    }
    assert "silent-failure-hunter: high, Unsanitized input" in shown


TELLS = "not fixed - needs a decision"
ANSWERS = f"""
import json, os
for finding in json.loads(os.environ["BURNISH_FINDINGS"]):
    print(finding["id"] + ": {TELLS}")
"""


def told_or_not(protocol: str, told: str, otherwise: str, first: str, folder: Path) -> Done:
    """A second reviewer that says whether it was told what the fixer said."""
    machine = Machine(folder)
    answers = f"{PYTHON} -c {shlex.quote(ANSWERS)}"
    conduct = {
        "review:1:*": first,
        "review:*": f'if grep -q "{TELLS}"; then\n{told}\nelse\n{otherwise}\nfi',
        "fix:1:*": f"{writes('app.py', content('app.py', 1))}\necho done\n{answers}",
        "fix:*": "echo nothing",
    }
    furnished(machine, policy(f'["sh", "{machine.script(conduct)}"]', protocol))
    return machine.burnish("fix", "--json", "--max-rounds", "2")


def test_a_drift_reviewer_is_told_what_the_fixer_says(tmp_path: Path) -> None:
    drift = says(verdict(clean=False, follow_up="Handle errors."))
    done = told_or_not("drift", says(verdict(clean=True)), drift, drift, tmp_path)
    assert done.view["rounds"][1]["judgement"]["clean"], done.view
    assert done.view["findings"][0]["status"] == "open"


def test_an_epic_reviewer_is_not(tmp_path: Path) -> None:
    bad = Finding(severity=Severity.CRITICAL, title="SQL injection", location=SAME_LINE)
    critical, clean = says(findings((bad,))), says(findings(()))
    done = told_or_not("epic", critical, clean, critical, tmp_path)
    assert done.view["rounds"][1]["judgement"]["clean"], done.view
    assert done.view["findings"][0]["status"] == "open"
    assert done.view["seal"] is None
