"""Whole runs from the command line with the real clients: what their model finds is fixed, reviewed again, sealed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from burnish.core.events import WorkFailed, WorkStarted, decode
from burnish.settings.agent_kinds import AgentKind
from burnish.testing.model_server.scenario import ModelAnswer, Scenario, load_script
from burnish.testing.model_server.server import ModelServer, model_server
from tests.agents.clients.live import MODELS, installed, service
from tests.end_to_end.machine import Machine
from tests.end_to_end.world import Before, check_commits, check_nothing_left, check_refs, sealed_kinds

SCRIPT = load_script(Path(__file__).with_name("clients.toml")).scenario
FIXED = "def half(x):\n    return x / 2\n"
ROUNDS = {"epic": 2, "ticket": 2, "story": 1, "panel": 2, "drift": 2, "default": 3}
"""Under the default's ratchet the tree that is sealed was looked at as a whole once more."""


def scenario(protocol: str) -> Scenario:
    return (*SCRIPT["fixer"], *SCRIPT["panel" if protocol == "default" else protocol])


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    scenarios = {protocol: scenario(protocol) for protocol in ROUNDS}
    limited = {"busy": (ModelAnswer(status=429, retry_after=1),), "down": (ModelAnswer(status=500),)}
    with model_server({**scenarios, **limited}) as server:
        yield server


USED = (AgentKind.CLAUDE, AgentKind.CODEX)
TURNS = """extends = "drift"
[failures]
crashed = "retry"
fallback = "alternate"
"""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A user with Claude Code, Codex, and a branch that divides by zero."""
    return furnished(tmp_path)


@pytest.fixture
def machine_with_fallback(tmp_path: Path) -> Machine:
    """The same, where Codex takes turns with Claude Code if it cannot review."""
    (tmp_path / "turns.toml").write_text(TURNS)
    return furnished(tmp_path, '[roles]\nfix = "codex"\nreview = { agent = "claude", fallback = "codex" }\n')


def furnished(folder: Path, roles: str = "") -> Machine:
    for kind in USED:
        installed(kind)
    made = Machine(folder)
    agents = "".join(f'[agents.{kind.value}]\nkind = "{kind.value}"\nmodel = "{MODELS[kind]}"\n' for kind in USED)
    made.repository.commit({"app.py": "def half(x):\n    return x * 0.5\n", "burnish.toml": agents + roles}, "Begin")
    made.repository.branch("change").commit({"app.py": "def half(x):\n    return x / 0\n"}, "Divide")
    made.leave_work_lying_around()
    return made


def run(machine: Machine, model: ModelServer, protocol: str, *words: str, claude: str = "", codex: str = "") -> Any:
    """One `burnish fix`; what it says as JSON."""
    variables: dict[str, Any] = {
        **service(AgentKind.CLAUDE, model.url(claude or protocol)),
        **service(AgentKind.CODEX, model.url(codex or protocol)),
    }
    done = machine.burnish("fix", "--json", "--protocol", protocol, *words, **variables)
    assert done.out, done.err
    return done.view


def check_approved(machine: Machine, before: Before, view: dict[str, Any], protocol: str) -> None:
    """The fix is on the branch, the tree is sealed, and nothing is left behind."""
    assert (view["outcome"], len(view["rounds"])) == ("approved", ROUNDS[protocol]), view["reason"]
    assert machine.git("show", "change:app.py") == FIXED.rstrip("\n")
    kind = "self-reviewed" if protocol == "story" else "approved"
    assert sealed_kinds(machine, view["subject"]["tree"]) == [kind]
    check_commits(machine, before, view["run"], ["fix: address code review round 1 - "])
    check_refs(machine, before, view)
    check_nothing_left(machine, before, view["run"])


@pytest.mark.parametrize(
    "protocol", [pytest.param(name, marks=() if name == "epic" else pytest.mark.prove) for name in ROUNDS]
)
def test_claude_reviews_and_fixes(machine: Machine, model: ModelServer, protocol: str) -> None:
    before = Before.of(machine)
    asked = len(model.asked(protocol))
    view = run(machine, model, protocol, "--agent", "claude")
    check_approved(machine, before, view, protocol)
    answers = [one for one in model.asked(protocol)[asked:] if one.status == 200]
    assert view["usage"]["tokens"] == 120 * len(answers)
    assert view["usage"]["cost_usd"] > 0


def test_claude_fixes_what_codex_finds(machine: Machine, model: ModelServer) -> None:
    before = Before.of(machine)
    view = run(machine, model, "drift", "--agent", "review=codex", "--agent", "fix=claude")
    check_approved(machine, before, view, "drift")


@pytest.mark.prove
def test_another_client_takes_over_where_a_service_is_down(machine_with_fallback: Machine, model: ModelServer) -> None:
    machine, before = machine_with_fallback, Before.of(machine_with_fallback)
    view = run(machine, model, str(machine.folder / "turns.toml"), claude="down", codex="drift")
    check_approved(machine, before, view, "drift")
    round_ = [("claude", "crashed"), ("codex", "")]
    assert agents(machine, view["run"]) == [*round_, ("codex", ""), *round_]


@pytest.mark.prove
def test_two_clients_take_turns_and_use_up_no_review(machine_with_fallback: Machine, model: ModelServer) -> None:
    machine = machine_with_fallback
    view = run(machine, model, str(machine.folder / "turns.toml"), claude="busy", codex="down")
    assert (view["outcome"], len(view["rounds"])) == ("did-not-run", 1)
    assert agents(machine, view["run"]) == [
        ("claude", "rate-limited"),
        ("codex", "crashed"),
        ("claude", "rate-limited"),
    ]


@pytest.mark.prove
def test_a_session_is_taken_over_where_a_service_is_busy_and_no_cycle_is_used_up(
    machine_with_fallback: Machine, model: ModelServer
) -> None:
    machine, before = machine_with_fallback, Before.of(machine_with_fallback)
    view = run(machine, model, "story", claude="busy")
    check_approved(machine, before, view, "story")
    assert agents(machine, view["run"]) == [("claude", "rate-limited"), ("codex", "")]


def agents(machine: Machine, run: str) -> list[tuple[str, str]]:
    """Who was put to work, one after the other, and why it failed."""
    with machine.ledger() as ledger:
        events = [decode(event.body) for event in ledger.read(f"run/{run}")]
    failures = {event.effect: event.failure.kind.value for event in events if isinstance(event, WorkFailed)}
    started = [event for event in events if isinstance(event, WorkStarted) and event.agent != "burnish"]
    return [(event.agent, failures.get(event.effect, "")) for event in started]
