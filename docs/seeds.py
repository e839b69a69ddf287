"""Writes docs/seeds.md from tests/seeds/*.toml. `--check` fails when a rule is incomplete or the page is out of date.

Each rule of the five seed documents is there in a few words, with the tests that hold burnish to it, the capability
that it comes with, or the reason why burnish does it differently.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RULES = ROOT / "tests" / "seeds"
TARGET = ROOT / "docs" / "seeds.md"
LATER = {
    "epics": "comes with epics",
    "stories": "comes with stories and beads",
    "plugin": "comes with the plugin for Claude Code",
}
_TEST = re.compile(r"(?P<path>tests/[\w/]+\.py)::(?P<name>\w+)(?:\[(?P<case>.+)\])?")
_KEYS = {"rule", "tests", "other", "different"}

HEAD = """\
# The seeds, rule by rule

burnish implements five documents, each as a protocol. This page lists every rule in them, in short, with the tests that
prove it, the later capability that it belongs to, or the reason why burnish differs on purpose. `docs/seeds.py`
generates it from `tests/seeds/`; `make check` fails if it is out of date or names a missing test.
"""


def seeds(folder: Path = RULES) -> list[dict[str, Any]]:
    """The seeds in order, as they are written."""
    return [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.toml"))]


def rules(seed: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The rules of a seed, of all its sections."""
    return (rule for section in seed["section"] for rule in section["rule"])


def faults(seed: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the rules of a seed."""
    for rule in rules(seed):
        where = f"seed {seed['seed']}, '{rule.get('rule', '')}'"
        if not rule.keys() <= _KEYS or not str(rule.get("rule", "")).strip():
            yield f"{where}: a rule has the keys rule, tests, other, different; {sorted(rule.keys() - _KEYS)} are none"
        if not (rule.get("tests") or rule.get("other") or rule.get("different")):
            yield f"{where}: no test, no later capability and no reason"
        if rule.get("other") and (rule.get("tests") or rule.get("different")):
            yield f"{where}: what comes later has no tests yet"
        if rule.get("other", "epics") not in LATER:
            yield f"{where}: '{rule['other']}' is none of {', '.join(LATER)}"
        yield from (f"{where}: there is no test {test}" for test in rule.get("tests", ()) if not exists(test))


def exists(test: str) -> bool:
    """Whether a test is there, by the text of its file alone: nothing is imported or collected."""
    found = _TEST.fullmatch(test)
    if found is None or not (ROOT / found["path"]).is_file():
        return False
    module = _module(found["path"])
    names = {node.name for node in module.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    case = found["case"]
    return found["name"] in names and found["name"].startswith("test") and (case is None or _is_case(module, case))


@cache
def _module(path: str) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"))  # noqa: TID251 - its own code, in one thread


def _is_case(module: ast.Module, case: str) -> bool:
    """Whether a case is named in the file, in a file that it imports (after its protocol), or in the corpus."""
    if case in _texts(module) or any((ROOT / "tests" / "contracts" / "corpus").glob(f"*/{case}")):
        return True
    imports = [node for node in ast.walk(module) if isinstance(node, ast.ImportFrom) and node.module]
    names = [name for node in imports for name in (node.module, *(f"{node.module}.{one.name}" for one in node.names))]
    packages = (str(name).replace(".", "/") for name in names if str(name).startswith("tests"))
    files = (f"{package}.py" for package in packages if (ROOT / f"{package}.py").is_file())
    return any(case.partition(": ")[2] in _texts(_module(file)) for file in files)


def _texts(module: ast.Module) -> set[str]:
    return {node.value for node in ast.walk(module) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def page(all_seeds: list[dict[str, Any]]) -> str:
    """The whole page."""
    lines = [HEAD]
    for seed in all_seeds:
        listed = list(rules(seed))
        later = sum(1 for rule in listed if rule.get("other"))
        different = sum(1 for rule in listed if rule.get("different"))
        as_written = len(listed) - later - different
        lines += [
            f"## {seed['seed']}: {seed['title']} (`{seed['protocol']}`)\n",
            f"{len(listed)} rules: {as_written} as written, {different} different on purpose, {later} later.\n",
        ]
        for section in seed["section"]:
            lines += [f"### {section['title']}\n", "| rule | where |\n|---|---|"]
            lines += [f"| {_cell(rule['rule'])} | {_where(rule)} |" for rule in section["rule"]]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _where(rule: dict[str, Any]) -> str:
    parts = [f"different: {_cell(rule['different'])}"] if rule.get("different") else []
    parts += [LATER[rule["other"]]] if rule.get("other") else []
    parts += [f"`{_cell(test.removeprefix('tests/'))}`" for test in rule.get("tests", ())]
    return "<br>".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write the page, or say what is wrong."""
    all_seeds = seeds()
    found = [fault for seed in all_seeds for fault in faults(seed)]
    text = page(all_seeds)
    if "--check" in arguments and not found and TARGET.read_text(encoding="utf-8") != text:
        found.append(f"{TARGET.name} is out of date: run python docs/seeds.py")
    for fault in found:
        sys.stderr.write(f"{fault}\n")
    if not found and "--check" not in arguments:
        TARGET.write_text(text, encoding="utf-8")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
