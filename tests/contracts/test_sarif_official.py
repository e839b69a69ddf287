"""Our SARIF before the official validator, which carries the OASIS schema. It comes as an npm package."""

import os
import platform
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from burnish.contracts.sarif_record import render_sarif
from burnish.core.findings import Finding, Location, Severity

PACKAGE = "@microsoft/sarif-multitool-linux@5.7.0"
CACHE = Path(__file__).parents[2] / ".work" / "sarif-multitool"

pytestmark = [
    pytest.mark.prove,
    pytest.mark.skipif(shutil.which("npm") is None, reason="optional: npm, which brings the validator"),
    pytest.mark.skipif(platform.system() != "Linux", reason="optional: this package of the validator is for Linux"),
]


@pytest.fixture(scope="module")
def validator() -> Path:
    """The validator, fetched once and kept."""
    program = CACHE / "package" / "Sarif.Multitool"
    if not program.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        packed = subprocess.run(
            ["npm", "pack", "--silent", PACKAGE], cwd=CACHE, check=True, capture_output=True, text=True, timeout=300
        )
        with tarfile.open(CACHE / packed.stdout.split()[-1]) as archive:
            archive.extractall(CACHE, filter="data")
        program.chmod(0o755)
    return program


def complaints(validator: Path, sarif: str, folder: Path) -> str:
    """What the validator calls an error. A file that it cannot load at all it passes over in silence.

    So it must also make the one remark that it has on every file of ours: that the tool names no web page.
    """
    file = folder / "burnish.sarif"
    file.write_text(sarif, encoding="utf-8")
    environment = {**os.environ, "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT": "1"}
    done = subprocess.run(
        [str(validator), "validate", str(file)],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    if "SARIF2005" not in done.stdout:
        return f"not analysed: {done.stdout}{done.stderr}"
    return "\n".join(line for line in done.stdout.splitlines() if ": error " in line)


def findings_of_every_kind() -> list[Finding]:
    places = (None, Location(file="a.py"), Location(file="dir with space/ü.py", line=3, end_line=5))
    return [
        Finding(
            severity=severity,
            title=f"A {severity.value} problem",
            id=f"{number:016x}",
            rule=rule,
            location=place,
            problem="What is wrong.",
            suggestion="What to do.",
            found_by=("critic",),
        )
        for number, (severity, place, rule) in enumerate(
            (severity, place, rule) for severity in Severity for place in places for rule in ("", "R1", "R1, R2")
        )
    ]


@pytest.mark.parametrize("findings", [[], findings_of_every_kind()], ids=["nothing found", "every kind of finding"])
def test_our_sarif_is_valid(validator: Path, tmp_path: Path, findings: list[Finding]) -> None:
    assert complaints(validator, render_sarif(findings, "0.1.0"), tmp_path) == ""


@pytest.mark.parametrize(
    ("right", "wrong"),
    [('"level": "error"', '"level": "terrible"'), ('"startLine": 3', '"startLine": 0'), ('"ruleId"', '"ruleName"')],
)
def test_the_validator_would_complain(validator: Path, tmp_path: Path, right: str, wrong: str) -> None:
    sarif = render_sarif(findings_of_every_kind(), "0.1.0")
    assert right in sarif
    assert complaints(validator, sarif.replace(right, wrong, 1), tmp_path) != ""
