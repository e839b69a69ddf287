"""Which tools a reviewer needs, and which hits are its own."""

from pathlib import Path

import pytest

from burnish.agents.panel.checks import STATIC_CHECKS, TESTS, hits_for, tasks_for
from burnish.agents.panel.interface import Hit, RuleSelection, SourceFile, Task, ToolName
from burnish.agents.panel.tools.registry import TOOLS
from burnish.settings.types import AnalyserSettings
from tests.agents.analysers.rules.making import DEFAULTS, files, hit, wanting
from tests.agents.analysers.tools.running import start, write

EVERYTHING = files("b.py", "a.py", "app.ts", "run.bash", ".github/workflows/ci.yml", "Dockerfile", "main.go")
NOTHING: frozenset[ToolName] = frozenset()
RUFF = frozenset({ToolName.RUFF})


def _tasks(
    reviewer: str, settings: AnalyserSettings = DEFAULTS, configured: frozenset[ToolName] = NOTHING
) -> dict[tuple[str, bool], Task]:
    tasks = [one for one in tasks_for(reviewer, EVERYTHING, settings, configured) if not one.choice.preview]
    named = {(task.tool.value, task.choice.own_configuration): task for task in tasks}
    assert len(named) == len(tasks)
    return named


def test_each_role_runs_what_it_needs_and_nothing_else() -> None:
    tools = {role: sorted(tool for tool, _ in _tasks(role)) for role in (*STATIC_CHECKS, TESTS)}
    assert tools == {
        "bugs": ["ast-grep", "burnish", "hadolint", "oxlint", "ruff", "shellcheck", "ty"],
        "style": ["ruff"],
        "security": ["ast-grep", "burnish", "kingfisher", "oxlint", "ruff", "zizmor"],
        "errors": ["ast-grep", "burnish", "oxlint", "ruff", "shellcheck"],
        "tests": [],
    }


@pytest.mark.parametrize("configured", [NOTHING, RUFF])
def test_roles_share_one_run_of_a_tool(configured: frozenset[ToolName]) -> None:
    all_tasks = [_tasks(role, configured=configured) for role in STATIC_CHECKS]
    shared = {tasks["ruff", False] for tasks in all_tasks if ("ruff", False) in tasks}
    assert len(shared) == 1
    assert shared.pop().files == ("a.py", "b.py")


def test_any_other_name_means_all_roles_together() -> None:
    together = {task for role in STATIC_CHECKS for task in _tasks(role, configured=RUFF).values()}
    assert set(_tasks("reviewer", configured=RUFF).values()) == together


def test_rules_that_a_tool_offers_on_request_are_a_run_of_their_own() -> None:
    asked = {role: tasks_for(role, EVERYTHING, DEFAULTS, NOTHING) for role in ("bugs", "security")}
    previews = {task for tasks in asked.values() for task in tasks if task.choice.preview}
    assert [(task.tool, "B909" in task.choice.select, task.files) for task in previews] == [
        (ToolName.RUFF, True, ("a.py", "b.py"))
    ]
    assert "B909" not in _tasks("bugs")["ruff", False].choice.select


def test_a_project_with_a_configuration_of_its_own_keeps_its_own_style() -> None:
    assert list(_tasks("style", configured=RUFF)) == [("ruff", True)]
    assert _tasks("style", configured=RUFF)["ruff", True].choice == RuleSelection(own_configuration=True)
    assert "SIM" in _tasks("bugs")["ruff", False].choice.select
    assert "SIM" not in _tasks("bugs", configured=RUFF)["ruff", False].choice.select


def test_eslint_is_for_the_pedant_of_a_project_that_has_it() -> None:
    configured = frozenset({ToolName.ESLINT})
    assert ("eslint", True) in _tasks("style", configured=configured)
    assert ("eslint", True) not in _tasks("bugs", configured=configured)
    assert ("eslint", True) not in _tasks("style")


def test_without_files_only_burnish_itself_looks_at_the_tree() -> None:
    assert [task.tool for task in tasks_for("bugs", (), DEFAULTS, RUFF)] == [ToolName.BURNISH]
    assert tasks_for("style", (), DEFAULTS, RUFF) == ()
    assert [task.tool for task in tasks_for("bugs", files("readme.md"), DEFAULTS, RUFF)] == [ToolName.BURNISH]


def test_settings_add_rules_where_the_project_has_no_configuration() -> None:
    settings = wanting(ruff__PTH="low", ruff__D="off", oxlint__max="low")
    assert "PTH" in _tasks("bugs", settings)["ruff", False].choice.select
    assert "D" not in _tasks("bugs", settings)["ruff", False].choice.select
    assert "PTH" not in _tasks("bugs", settings, RUFF)["ruff", False].choice.select
    assert "max" in _tasks("style", settings)["oxlint", False].choice.select


def test_a_rule_that_was_left_out_is_run_again_when_it_is_wanted() -> None:
    assert "S101" in _tasks("bugs")["ruff", False].choice.ignore
    assert "S101" not in _tasks("bugs", wanting(ruff__S101="low"))["ruff", False].choice.ignore


def test_each_hit_goes_to_one_role() -> None:
    hits = [hit(rule) for rule in ("ruff:F821", "ruff:S307", "ruff:B012", "ruff:SIM118", "ruff:D100", "ruff:S602")]
    mine = {role: [one.rule for one in hits_for(role, hits, DEFAULTS)] for role in STATIC_CHECKS}
    assert mine == {
        "bugs": ["F821"],
        "security": ["S307", "S602"],
        "errors": ["B012"],
        "style": ["SIM118", "D100"],
    }
    assert hits_for(TESTS, hits, DEFAULTS) == ()
    assert hits_for("reviewer", hits, DEFAULTS) == tuple(hits)


def test_a_hit_of_two_runs_is_reported_once() -> None:
    assert len(hits_for("reviewer", [hit("ruff:F821"), hit("ruff:F821"), hit("ruff:F821", line=2)], DEFAULTS)) == 2


WORKFLOW = ".github/workflows/ci.yml"
FLAWED = {
    "app.py": "import os\n\ndef f(x=[]):\n    try:\n        return eval(nobody)\n    except Exception:\n        pass\n",
    "app.ts": "const fixed = 1\nfixed = 2\neval(code)\ntry { f() } catch (error) {}\n",
    "run.sh": "#!/bin/sh\ncd missing\nls $@\n",
    WORKFLOW: "on: issues\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n"
    "      - run: echo ${{ github.event.issue.title }}\n",
}
"""A bit of everything that is wrong."""


def test_each_role_finds_what_it_is_for_with_the_real_tools(tmp_path: Path) -> None:
    write(tmp_path, FLAWED)
    hits: list[Hit] = []
    sources = tuple(SourceFile(path=path, opening=text.encode()) for path, text in FLAWED.items())
    for task in tasks_for("reviewer", sources, DEFAULTS, NOTHING):
        if task.tool in (ToolName.BURNISH, ToolName.KINGFISHER):
            continue  # look elsewhere: see their own tests
        tool = TOOLS[task.tool]
        hits += tool.read(start(tool, tmp_path, task.files, task.choice), task.files)
    # Where exactly a tool points is the matter of its own tests; what it says of hardening changes with its releases.
    found = {
        role: {f"{one.file} {one.rule}" for one in hits_for(role, hits, DEFAULTS) if one.level != "medium"}
        for role in STATIC_CHECKS
    }
    assert found == {
        "bugs": {
            "app.py F401", "app.py B006", "app.py F821", "app.ts no-const-assign", "app.ts no-undef",
            "app.ts no-unused-vars",
            "run.sh SC2068",
        },
        "style": set(),
        "security": {"app.py S307", "app.ts no-eval", f"{WORKFLOW} template-injection"},
        "errors": {
            "app.py BLE001", "app.py py-broad-handler-does-nothing", "app.ts js-empty-catch.ts", "app.ts no-empty",
            "app.ts no-unused-vars", "run.sh SC2164",
        },
    }  # fmt: skip
