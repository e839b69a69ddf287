"""Every way to fool the gate that is known: none of them ends approved or sealed. See README.md."""

import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from burnish.testing.repositories import RepositoryBuilder
from tests import compiled_rules
from tests.end_to_end.machine import Done, Machine

HERE = Path(__file__).parent
CLEAN = '{"issues": [], "summary": {"critical": 0, "warning": 0, "info": 0, "verdict": "clean"}}'
FOUND = (
    '{"issues": [{"severity": "critical", "file": "shop/prices.py", "line": 2, "title": "Adds"}],'
    ' "summary": {"critical": 1, "warning": 0, "info": 0, "verdict": "issues_found"}}'
)
_PROTOCOL = """name = "suite"
description = "A panel that answers as it was told."
contract = "issues"
{panel}
[gate]
type = "severity"
block = "high"
[limits]
reviews = 3
hard_cap = 5
[fix]
input = "blocking"
[failures]
retries = 0
[exhausted]
then = "fail"
reason = "It is not clean after {{reviews}} reviews"
"""
_HONEST = {"shop/offers.py": "def offer(price):\n    return price\n"}
SAMPLE = 7
"""`make test` plays one case of so many, `make prove` all of them: each takes a real run."""


def cases(name: str) -> list[dict[str, Any]]:
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))["case"]


def project() -> dict[str, str]:
    return tomllib.loads((HERE / "project.toml").read_text(encoding="utf-8"))["files"]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    compiled_rules.offer_to(made.cache / "burnish")
    return made


def begin(machine: Machine, settings: str = "") -> RepositoryBuilder:
    """The project on its main branch, and a branch for the change."""
    policy = {"burnish.toml": settings} if settings else {}
    return machine.repository.commit({**project(), **policy}, "A shop").branch("change")


def check_not_approved(machine: Machine, done: Done) -> None:
    assert done.code not in (0, 2), (done.code, done.out, done.err)
    assert done.view["outcome"] in ("failed", "unproven", "did-not-run"), done.out
    assert done.view["seal"] is None
    assert machine.burnish("verify", "change", "--base", "main").code != 0


def test_no_answer_that_is_none_is_read_as_clean(machine: Machine) -> None:
    answers = cases("answers")
    lines = "".join(
        f"{case['name']}) printf %s {shlex.quote(case['answer'])}; exit {case.get('exit', 0)} ;;\n" for case in answers
    )
    script = machine.agents / "reviewer.sh"
    script.write_text(f"cat > /dev/null\ncase $BURNISH_REVIEWER in\n{lines}esac\n", encoding="utf-8")
    contracts = sorted({case["contract"] for case in answers})
    agents = "".join(
        f'[agents.{name}]\nkind = "command"\ncommand = ["sh", "{script}"]\ncontract = "{name}"\n' for name in contracts
    )
    seats = "".join(f'"{case["name"]}" = "{case["contract"]}"\n' for case in answers)
    panel = "".join(f'[[panel]]\nname = "{case["name"]}"\n' for case in answers)
    protocol = machine.folder / "suite.toml"
    protocol.write_text(_PROTOCOL.format(panel=panel), encoding="utf-8")
    begin(machine, f'{agents}[roles]\nreview = "issues"\n[roles.reviewers]\n{seats}').commit(_HONEST, "An offer")
    done = machine.burnish("review", "--json", "--protocol", str(protocol))
    check_not_approved(machine, done)
    said = {review["reviewer"]: review["status"] for review in done.view["rounds"][0]["reviews"]}
    assert set(said) == {case["name"] for case in answers}
    assert [name for name, status in said.items() if status == "clean"] == []


def _apply(repository: RepositoryBuilder, case: dict[str, Any]) -> None:
    files = {name: text.replace("{hidden}", "") for name, text in case.get("files", {}).items()}
    repository.write({**files, **dict.fromkeys(case.get("delete", ()))})
    for name, target in case.get("links", {}).items():
        repository.link(name, target)
    if "submodule" in case:
        entry = f"160000,{repository.head},{case['submodule']}"
        repository.git.run("update-index", "--add", "--cacheinfo", entry)
        repository.git.run("commit", "--quiet", "--message", case["name"])
    else:
        repository.commit({}, case["name"])


def sampled(name: str) -> list[Any]:
    """All cases of a file, most of them for `make prove`."""
    return [
        pytest.param(case, id=case["name"], marks=() if number % SAMPLE == 0 else pytest.mark.prove)
        for number, case in enumerate(cases(name))
    ]


@pytest.mark.parametrize("case", sampled("changes"))
def test_no_change_hides_from_its_gate(machine: Machine, case: dict[str, Any]) -> None:
    repository = begin(machine, case.get("settings", ""))
    _apply(repository, case)
    check_not_approved(machine, machine.burnish("review", "--json"))


def test_an_honest_change_is_approved(machine: Machine) -> None:
    """The suite would prove nothing if nothing passed."""
    tests = "import unittest\n\nfrom shop.offers import offer\n\n\nclass Offers(unittest.TestCase):\n"
    tests += "    def test_offer(self):\n        self.assertEqual(offer(3), 3)\n"
    begin(machine).commit({**_HONEST, "tests/test_offers.py": tests, "README.md": "# Shop\n"}, "An offer")
    done = machine.burnish("review", "--json")
    assert (done.code, done.view["outcome"]) == (0, "approved"), done.out
    assert machine.burnish("verify", "change", "--base", "main").code == 0


@pytest.mark.parametrize("case", sampled("agents"))
def test_no_agent_approves_by_misbehaving(machine: Machine, case: dict[str, Any]) -> None:
    machine.variables["BURNISH_SANDBOX"] = case.get("sandbox", "auto")
    said = f"CLEAN={shlex.quote(CLEAN)}\nFOUND={shlex.quote(FOUND)}\n"
    tables = ""
    for role in ("review", "fix"):
        script = machine.agents / f"{role}.sh"
        script.write_text(f"cat > /dev/null\n{said}{case.get(role, 'true')}\n", encoding="utf-8")
        tables += f'[agents.{role}er]\nkind = "command"\ncommand = ["sh", "{script}"]\ntimeout = 3\n'
    validate = f"[validate]\ntests = {case['validate']!r}\n" if "validate" in case else ""
    protocol = machine.folder / "suite.toml"
    protocol.write_text(_PROTOCOL.format(panel='[[panel]]\nname = "reviewer"\n'), encoding="utf-8")
    settings = f'{tables}[roles]\nreview = "reviewer"\nfix = "fixer"\n{validate}'
    begin(machine, settings).commit(_HONEST, "An offer")
    done = machine.burnish("fix", "--json", "--protocol", str(protocol))
    if done.view["outcome"] == "approved":
        # A protocol may pass by its own count; what stands on unchanged lines still withholds the seal.
        assert done.view["seal"] is None
        assert "no seal" in done.view["reason"]
        assert machine.burnish("verify", "change", "--base", "main").code != 0
    else:
        check_not_approved(machine, done)
