"""What a person says to a run: a choice, or that it is to end. The run's driver is told, if there is one.

An agent of burnish's own has no say: a gate that those who must pass it can open is none.
"""

import os
from collections.abc import Sequence

from burnish.core.budget import Cap
from burnish.core.events import Cancelled, Decided, Intent
from burnish.core.protocol import Choice, ChoiceAction
from burnish.core.state import Ended, Run, Sealing, Stopping, Waiting
from burnish.core.steps.person import other_agent
from burnish.core.values import Value
from burnish.core.work import ProcessMark
from burnish.runtime.inputs import inputs_of
from burnish.runtime.journal import RunError, intend
from burnish.runtime.runner import WAKE
from burnish.system import clock, survivors
from burnish.system.identifiers import ProcessIdentity, this_process
from burnish.usecases.run_view import state_of
from burnish.usecases.runs import Runs, Sighting, can_be_seen, named
from burnish.workspace.landing import Landing

_RUN_MARKER = "BURNISH_RUN"


def refuse_agents() -> None:
    """Raise where this process was started by an agent of a run."""
    if os.environ.get(_RUN_MARKER):
        raise RunError(
            "An agent cannot speak for a person: this is the inside of a run.",
            hint="Say it in the answer; a person decides outside.",
        )


class Spoken(Value):
    """A run after a person's word and, where that ended it, where its result is."""

    sighting: Sighting
    landing: Landing | None = None
    notices: tuple[str, ...] = ()


def speak(runs: Runs, intent: Intent, name: str) -> Spoken:
    """Append what a person intends, and wake whoever drives the run. Where nobody does, an end takes effect here."""
    refuse_agents()
    had_ended = isinstance(runs.load(name).phase, Ended)
    run = intend(runs.ledger, name, intent)
    driver = runs.driver(name)
    # After the end the driver only puts the result where it belongs: it waits for nothing, and is not disturbed.
    if driver is not None and not had_ended:
        _wake(driver)
    return Spoken(sighting=Sighting(run=run, driver=driver)) if driver is not None else _alone(runs, run)


def _alone(runs: Runs, run: Run) -> Spoken:
    """Nobody drives the run: what needs no agent is done here and now."""
    from burnish.usecases.finishing import finish  # noqa: PLC0415 - whoever only looks at runs needs no driver

    done = finish(runs.repository, runs.ledger, run.id, os.environ)
    if done is None:
        return Spoken(sighting=Sighting(run=run))
    return Spoken(sighting=Sighting(run=done.run), landing=done.landing, notices=done.notices)


def _wake(driver: ProcessIdentity) -> None:
    """Only the very process that holds the lease: the signal would end any other one."""
    if can_be_seen(driver) and driver != this_process():
        survivors.tell([ProcessMark(pid=driver.pid, started=float(driver.started))], WAKE)


def decide(runs: Runs, name: str, key: str, *, note: str = "", agent: str | None = None, by: str = "") -> Spoken:
    """Take one of the choices that a waiting run offers."""
    run = runs.load(name)
    choice = _offered(run, key)
    agent = chosen_agent(run, choice, agent)
    return speak(runs, Decided(at=clock.now(), choice=choice.key, note=note, by=by, agent=agent), name)


def _offered(run: Run, key: str) -> Choice:
    phase = run.phase
    if not isinstance(phase, Waiting):
        raise RunError(f"{run.id} waits for no decision: it {_doing(run)}.", hint=f"'burnish show {run.id}' shows it.")
    choice = chosen(phase.choices, key)
    if choice is None:
        keys = ", ".join(offered.key for offered in phase.choices)
        raise RunError(
            f"'{key}' is not offered by {run.id}: choose one of {keys}.",
            hint=f"'burnish status {run.id}' says what they mean.",
        )
    return choice


def chosen(choices: Sequence[Choice], key: str) -> Choice | None:
    """The choice that a person means, in capitals or not."""
    fitting = [choice for choice in choices if choice.key.casefold() == key.strip().casefold()]
    return next((choice for choice in fitting if choice.key == key), fitting[0] if fitting else None)


def chosen_agent(run: Run, choice: Choice, agent: str | None) -> str | None:
    """Who reviews after this choice, where it calls another agent. Raises `RunError` where there is no other."""
    if agent is not None:
        _check_agent(run, choice, agent)
        return agent
    if choice.action is not ChoiceAction.ANOTHER_AGENT:
        return None
    other = other_agent(run)
    if other is None:
        known = _agents(run)
        raise RunError(
            f"The choice '{choice.key}' calls another agent, and {run.id} has no other one.",
            hint="Name it with --agent NAME" + (f": {named(known)}." if known else "."),
        )
    return other


def _check_agent(run: Run, choice: Choice, agent: str) -> None:
    if choice.action is not ChoiceAction.ANOTHER_AGENT:
        raise RunError(f"The choice '{choice.key}' calls no other agent.", hint="Leave --agent out.")
    known = _agents(run)
    if known and agent not in known:
        raise RunError(f"There is no agent '{agent}' in this run.", hint=f"It was started with {named(known)}.")
    if known and Cap.TOKENS not in run.started.budget.caps:
        _check_price(run, agent)


def _check_price(run: Run, agent: str) -> None:
    """Whoever is called must be held by some cap."""
    from burnish.usecases.budgets import has_price  # noqa: PLC0415 - whoever only looks at runs needs no prices

    settings = inputs_of(run).settings.agent(agent)
    if settings is not None and not has_price(settings):
        raise RunError(
            f"What '{agent}' costs cannot be counted, and this run has no cap on tokens.",
            hint=f"Choose another, or begin anew with --agent {agent}.",
        )


def _agents(run: Run) -> Sequence[str]:
    """The agents that were configured when the run began; none are known of a run that was begun without."""
    return inputs_of(run).settings.agent_names if run.started.inputs else ()


def cancel(runs: Runs, name: str, *, note: str = "", by: str = "") -> Spoken:
    """End a run. What it has found and fixed so far is kept."""
    run = runs.load(name)
    if isinstance(run.phase, Ended | Stopping | Sealing):
        raise RunError(f"{name} cannot be cancelled: it {_doing(run)}.", hint=f"'burnish show {name}' shows it.")
    return speak(runs, Cancelled(at=clock.now(), note=note, by=by), name)


def _doing(run: Run) -> str:
    match run.phase:
        case Ended():
            return f"has ended, {run.phase.outcome.value}"
        case Stopping():
            return f"is being ended, {run.phase.outcome.value}"
        case Sealing():
            return "is being sealed"
        case _:
            return f"is {state_of(run)}"
