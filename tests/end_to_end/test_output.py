"""The result in each of its forms, and where it goes."""

import json
from pathlib import Path
from typing import Any

from burnish.contracts.findings import parse
from burnish.contracts.paths import no_repository
from burnish.contracts.text import decode
from tests.end_to_end.machine import Machine
from tests.end_to_end.plots import rehearsed, staged
from tests.end_to_end.simple import CLEAN, FIXED, drift_machine
from tests.trails.test_epic import SCENARIOS as EPIC

TITLE = "SQL injection"


def reviewed(folder: Path) -> Machine:
    """A machine on which a review finds one critical problem."""
    return staged(folder, rehearsed(EPIC["one review without fixes"]))


def test_sarif_lists_what_is_open(tmp_path: Path) -> None:
    done = reviewed(tmp_path).burnish("review", "--format", "sarif")
    log: dict[str, Any] = json.loads(done.out)
    results = log["runs"][0]["results"]
    place = results[0]["locations"][0]["physicalLocation"]
    assert done.code == 1
    assert (log["version"], len(results), results[0]["level"]) == ("2.1.0", 1, "error")
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("app.py", 3)


def test_markdown_is_a_findings_document(tmp_path: Path) -> None:
    done = reviewed(tmp_path).burnish("review", "--format", "markdown")
    answer = parse(decode(done.out.encode()), no_repository)
    assert done.code == 1
    assert [(finding.severity.value, finding.title) for finding in answer.findings] == [("critical", TITLE)]


def test_a_page_for_people(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    done = reviewed(tmp_path).burnish("review", "--format", "html", "--output", str(target))
    page = target.read_text()
    assert (done.code, done.out) == (1, "")
    assert page.startswith("<!DOCTYPE html>")
    for words in (TITLE, "app.py:3", "1 blocking finding remains", "burnish fix --branch change --base main"):
        assert words in page


def test_text_says_what_was_found_and_what_to_do_next(tmp_path: Path) -> None:
    machine = reviewed(tmp_path)
    done = machine.burnish("review")
    assert done.code == 1
    assert TITLE in done.out
    assert "app.py:3" in done.out
    assert "failed: 1 blocking finding remains after 1 review" in done.out
    last = done.out.rstrip().splitlines()[-2:]
    assert last == ["Next: burnish fix --branch change --base main", "      fixes the findings"]


def test_the_end_of_a_good_run_names_branch_and_seal(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, FIXED)
    done = machine.burnish("fix")
    assert done.code == 0
    assert "approved" in done.out
    assert "The result is on change." in done.out
    assert done.out.rstrip().splitlines()[-2:] == ["Next: burnish verify change", "      checks the seal"]


def test_nothing_is_coloured_where_nobody_wants_it(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, FIXED)
    done = machine.burnish("fix", NO_COLOR="1", TERM="xterm-256color")
    assert "\x1b" not in done.out + done.err


def test_the_result_goes_to_a_file(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, CLEAN)
    target = tmp_path / "result.json"
    done = machine.burnish("review", "--json", "--output", str(target))
    assert (done.code, done.out) == (0, "")
    assert json.loads(target.read_text())["outcome"] == "approved"


def test_a_file_that_cannot_be_written_is_noticed_before_the_review(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, CLEAN)
    for output, reason in ((tmp_path / "no" / "x.json", "there is no folder"), (tmp_path, "it is a folder")):
        done = machine.burnish("review", "--json", "--output", str(output))
        assert (done.code, reason in done.err, machine.runs()) == (2, True, [])


def test_the_json_object_has_all_its_keys_in_version_one(tmp_path: Path) -> None:
    view = reviewed(tmp_path).burnish("review", "--json").view
    assert view["version"] == 1
    assert list(view) == [
        "version",
        "run",
        "protocol",
        "state",
        "outcome",
        "reason",
        "policy",
        "subject",
        "supersedes",
        "rounds",
        "findings",
        "census",
        "choices",
        "escalation",
        "enforced",
        "seal",
        "break_glass",
        "usage",
        "budget",
        "next",
    ]
    assert set(view["subject"]) == {"branch", "base", "head", "tree"}
    assert set(view["rounds"][0]) >= {"round", "reviews", "judgement", "fix"}
    assert set(view["rounds"][0]["reviews"][0]) >= {"reviewer", "status", "counts"}
    keys = {
        "id", "severity", "category", "rule", "file", "line", "end_line", "also_at", "count", "code", "title",
        "problem", "impact", "evidence", "suggestion", "confidence", "action", "fixable", "status", "note", "found_by",
        "round", "sources", "synthetic",
    }  # fmt: skip
    assert set(view["findings"][0]) == keys
    assert set(view["usage"]) == {"seconds", "tokens", "cost_usd"}
    assert view["budget"] == {"cost_usd": None, "tokens": None, "minutes": None}


def test_records_can_be_kept_out_of_the_checkout(tmp_path: Path) -> None:
    machine = reviewed(tmp_path)
    done = machine.burnish("review", "--json", BURNISH_RECORDS="false")
    assert not (machine.root / "docs").exists()
    own = machine.state / "runs" / done.view["run"] / "records" / "docs" / "progress"
    assert [path.name for path in own.iterdir()] == ["story-change-review-findings-round-1.md"]


def test_a_run_in_the_background_goes_on_by_itself(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, FIXED)
    started = machine.burnish("fix", "--background")
    run = started.out.strip()
    assert started.code == 0
    waited = machine.burnish("wait", run, "--json")
    assert (waited.code, waited.view["outcome"]) == (0, "approved")
    assert machine.git("rev-parse", "change") == waited.view["subject"]["head"]


def test_how_much_is_printed_meanwhile_is_for_the_user_to_say(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, CLEAN)
    quiet = machine.burnish("review", "-q", "--no-color")
    assert (quiet.code, quiet.err) == (0, "")
    assert "approved" in quiet.out
    both = machine.burnish("review", "-q", "-v")
    assert (both.code, "exclude each other" in both.err) == (2, True)


def test_without_a_name_the_latest_run_of_the_branch_is_meant(tmp_path: Path) -> None:
    machine = drift_machine(tmp_path, CLEAN)
    first = machine.burnish("review", "--json").view["run"]
    machine.git("checkout", "--quiet", "-b", "other")
    machine.repository.commit({"other.py": "other = 1\n"}, "Other")
    second = machine.burnish("review", "--json").view["run"]
    assert machine.burnish("show", "--json").view["run"] == second
    assert machine.burnish("findings", "--json").view["run"] == second
    machine.git("checkout", "--quiet", "change")
    assert machine.burnish("show", "--json").view["run"] == first
    assert json.loads(machine.burnish("logs", "review", "--json").out)["run"] == first
    assert json.loads(machine.burnish("logs", second[:20], "--json").out)["run"] == second
    for words in (("decide", "a"), ("cancel",), ("attach",)):
        assert first in machine.burnish(*words).err
    assert machine.burnish("logs", "20990101").code == 2
    assert all(first in machine.burnish(same).out for same in ("list", "runs", "status"))
