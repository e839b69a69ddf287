"""`burnish parse`: JSON and exit code for every contract, judged or not, readable or not."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from burnish.contracts.text import MAX_ANSWER_BYTES

Burnish = Callable[..., tuple[int, str, str]]

ISSUES = {
    "issues": [
        {
            "severity": "warning",
            "category": "tests",
            "file": "/elsewhere/project/src/a.py",
            "line": 2,
            "description": "The edge case is not tested",
            "evidence": "no test calls it",
            "suggestion": "Add one",
        }
    ],
    "summary": {"critical": 0, "warning": 1, "info": 0, "verdict": "issues_found"},
}
CLEAN: dict[str, object] = {"issues": [], "summary": {"critical": 0, "warning": 0, "info": 0, "verdict": "clean"}}
KEYS = [
    "id",
    "severity",
    "category",
    "rule",
    "file",
    "line",
    "end_line",
    "title",
    "problem",
    "impact",
    "evidence",
    "suggestion",
    "confidence",
    "action",
    "also_at",
    "found_by",
    "synthetic",
    "sources",
]


@pytest.fixture
def repository(folder: Path) -> Path:
    """A folder that looks like a repository with one source file, called from a folder inside it."""
    (folder / ".git").mkdir()
    (folder / "src").mkdir()
    (folder / "src" / "a.py").write_text("def a():\n    return 1\n")
    return folder


def written(folder: Path, answer: object) -> str:
    file = folder / "answer"
    file.write_text(answer if isinstance(answer, str) else json.dumps(answer))
    return str(file)


def parsed(out: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(out)
    assert document["version"] == 1
    return document


def test_a_clean_answer(burnish: Burnish, folder: Path) -> None:
    code, out, err = burnish("parse", "--contract", "issues", written(folder, CLEAN))
    assert (code, err) == (0, "")
    assert parsed(out) == {
        "version": 1,
        "contract": "issues",
        "status": "clean",
        "clean": True,
        "counts": {"critical": 0, "high": 0, "medium": 0, "low": 0, "info": 0},
        "findings": [],
        "corrections": [],
    }


def test_findings_with_ids_and_paths_of_this_repository(
    burnish: Burnish, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(repository, ISSUES)
    monkeypatch.chdir(repository / "src")
    code, out, err = burnish("parse", "--contract", "issues", file)
    document = parsed(out)
    assert (code, err) == (1, "")
    assert (document["status"], document["clean"]) == ("findings", False)
    assert document["counts"] == {"critical": 0, "high": 0, "medium": 1, "low": 0, "info": 0}
    (finding,) = document["findings"]
    assert list(finding) == KEYS
    assert finding["id"]
    assert (finding["severity"], finding["category"], finding["action"]) == ("medium", "tests", "fix")
    assert (finding["file"], finding["line"], finding["end_line"]) == ("src/a.py", 2, None)


def test_an_id_follows_its_line_through_the_file(burnish: Burnish, repository: Path) -> None:
    before = parsed(burnish("parse", "--contract", "issues", written(repository, ISSUES))[1])["findings"][0]
    (repository / "src" / "a.py").write_text("\n\n\ndef a():\n    return 1\n")
    moved = json.loads(json.dumps(ISSUES))
    moved["issues"][0]["line"] = 5
    after = parsed(burnish("parse", "--contract", "issues", written(repository, moved))[1])["findings"][0]
    assert (before["line"], after["line"]) == (2, 5)
    assert before["id"] == after["id"]


def test_another_text_in_the_line_is_another_problem(burnish: Burnish, repository: Path) -> None:
    before = parsed(burnish("parse", "--contract", "issues", written(repository, ISSUES))[1])["findings"][0]
    (repository / "src" / "a.py").write_text("def a():\n    raise ValueError\n")
    after = parsed(burnish("parse", "--contract", "issues", written(repository, ISSUES))[1])["findings"][0]
    assert before["id"] != after["id"]


def test_a_file_outside_the_repository_is_not_named(burnish: Burnish, repository: Path, tmp_path: Path) -> None:
    answer = json.loads(json.dumps(ISSUES))
    answer["issues"][0]["file"] = "../outside.py"
    _, out, _ = burnish("parse", "--contract", "issues", written(repository, answer))
    assert parsed(out)["findings"][0]["file"] is None


def test_from_the_standard_input(burnish: Burnish, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in (["-"], []):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(CLEAN).encode())))
        assert burnish("parse", "--contract", "issues", *arguments)[0] == 0


@pytest.mark.parametrize("answer", ["", "   \n", "Looks good to me!", '{"issues": [', "\x00\x1b[2J"])
def test_what_is_no_review_is_never_clean(burnish: Burnish, folder: Path, answer: str) -> None:
    code, out, err = burnish("parse", "--contract", "issues", written(folder, answer))
    document = parsed(out)
    assert code == 4
    assert (document["status"], document["clean"]) == ("did-not-run", False)
    assert document["error"]["kind"] == "unreadable"
    assert err.startswith(f"error: {document['error']['message']}\n")
    assert "findings" not in document


def test_an_empty_answer_in_full(burnish: Burnish, folder: Path) -> None:
    assert burnish("parse", "--contract", "issues", written(folder, "")) == snapshot(
        (
            4,
            """\
{
  "version": 1,
  "contract": "issues",
  "status": "did-not-run",
  "clean": false,
  "error": {
    "kind": "unreadable",
    "message": "The answer is empty.",
    "hint": "An empty answer is never a clean review: ask again."
  }
}
""",
            """\
error: The answer is empty.
hint: An empty answer is never a clean review: ask again.
""",
        )
    )


def test_an_answer_without_end_is_not_read_to_its_end(burnish: Burnish, folder: Path) -> None:
    file = folder / "answer"
    with file.open("wb") as stream:
        stream.truncate(MAX_ANSWER_BYTES * 100)
    code, out, _ = burnish("parse", "--contract", "issues", str(file))
    assert code == 4
    assert f"{MAX_ANSWER_BYTES:,}" in parsed(out)["error"]["message"]


def test_a_verdict_carries_its_follow_up(burnish: Burnish, folder: Path) -> None:
    drift = {"verdict": "drift", "followUpPrompt": "Handle the error."}
    code, out, _ = burnish("parse", "--contract", "verdict", written(folder, drift))
    assert (code, parsed(out)["follow_up"], parsed(out)["counts"]["high"]) == (1, "Handle the error.", 1)
    passed = {"verdict": "pass", "followUpPrompt": "Fine."}
    code, out, _ = burnish("parse", "--contract", "verdict", written(folder, passed))
    assert (code, parsed(out)["follow_up"], parsed(out)["findings"]) == (0, "Fine.", [])


def test_a_protocol_names_the_contract_and_judges(burnish: Burnish, folder: Path) -> None:
    file = written(folder, ISSUES)
    code, out, _ = burnish("parse", "--protocol", "panel", file)
    assert code == 1
    assert parsed(out)["contract"] == "issues"
    assert parsed(out)["judgement"] == {"clean": False, "blocking": 1, "reasons": []}


def test_findings_below_the_gate_pass_it(burnish: Burnish, folder: Path) -> None:
    code, out, _ = burnish("parse", "--protocol", "default", written(folder, ISSUES))
    document = parsed(out)
    assert code == 0
    assert (document["status"], document["clean"]) == ("findings", False)
    assert document["judgement"] == {"clean": True, "blocking": 0, "reasons": []}


def scores(**changes: int) -> dict[str, Any]:
    """A report that meets every criterion, but for the changes."""
    wanted = {
        "requirement_adherence": ("critical", 95),
        "coordination_compliance": ("critical", 95),
        "code_quality": ("important", 85),
        "pattern_consistency": ("important", 85),
        "test_quality": ("important", 85),
        "security_performance": ("moderate", 85),
    }
    dimensions = {
        name: {"score": changes.get(name, score), "weight": weight} for name, (weight, score) in wanted.items()
    }
    return {
        "ticket_id": "t",
        "reviewed_at": "2026-01-01T00:00:00Z",
        "reviewer": "code-review-agent",
        "status": "pass",
        "overall_score": 89,
        "revision_count": 0,
        "dimension_scores": dimensions,
        "findings": [],
        "blocking_issues": [],
        "revision_notes": "Better tests." if changes else None,
        "approved": True,
        "pass_criteria_met": {
            "all_critical_dimensions_pass": True,
            "no_blocking_issues": True,
            "overall_score_above_threshold": True,
        },
    }


def test_a_report_shows_its_scores(burnish: Burnish, folder: Path) -> None:
    code, out, _ = burnish("parse", "--protocol", "ticket", written(folder, scores()))
    document = parsed(out)
    assert code == 0
    assert document["judgement"]["clean"] is True
    assert document["card"]["dimensions"][0] == {"name": "requirement_adherence", "score": 95.0, "weight": "critical"}


def test_a_report_that_claims_too_much_is_judged_by_its_scores(burnish: Burnish, folder: Path) -> None:
    code, out, _ = burnish("parse", "--protocol", "ticket", written(folder, scores(test_quality=60)))
    judgement = parsed(out)["judgement"]
    assert (code, judgement["clean"], judgement["blocking"]) == (1, False, 1)
    assert "test_quality 60 is below 70" in judgement["reasons"]


def test_usage_errors(burnish: Burnish, folder: Path) -> None:
    file = written(folder, CLEAN)
    assert burnish("parse", file) == snapshot(
        (
            2,
            "",
            """\
error: The format of the answer is not known, and burnish does not guess it.
hint: Add --contract, or --protocol to use the protocol's contract.
""",
        )
    )
    assert burnish("parse", "--contract", "json", file) == snapshot(
        (
            2,
            "",
            """\
error: Invalid value for '--contract': 'json' is not one of 'findings', 'report', 'issues', 'verdict', 'sarif'.
hint: Try 'burnish parse --help'.
""",
        )
    )
    assert burnish("parse", "--contract", "issues", "--protocol", "ticket", file) == snapshot(
        (
            2,
            "",
            """\
error: The gate of the protocol 'ticket' cannot judge the contract 'issues'.
hint: Omit --contract to use 'report', or choose another protocol.
""",
        )
    )
    assert burnish("parse", "--protocol", "tickt", file) == snapshot(
        (
            2,
            "",
            """\
error: There is no protocol 'tickt'.
hint: Did you mean 'ticket'? Built in: default, epic, ticket, story, panel, drift. Refer to your own by its path.
""",
        )
    )


def test_files_that_cannot_be_read(burnish: Burnish, folder: Path) -> None:
    (folder / "some").mkdir()
    assert burnish("parse", "--contract", "issues", "gone.json") == snapshot(
        (
            2,
            "",
            """\
error: There is no file 'gone.json'.
hint: Look at the path, or use '-' to read from a pipe.
""",
        )
    )
    assert burnish("parse", "--contract", "issues", "some") == snapshot(
        (
            2,
            "",
            """\
error: 'some' is a directory.
hint: Name one file in it.
""",
        )
    )
    assert burnish("parse", "--contract", "issues", "a" * 300)[0] == 2
