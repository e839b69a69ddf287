"""Exactly what an agent would be sent, without sending it."""

from collections.abc import Mapping
from pathlib import Path

from burnish.core.effects import StartFix, StartReview
from burnish.core.events import RunStarted
from burnish.core.findings import Finding, Severity
from burnish.core.loop import decide, evolve
from burnish.core.protocol import ValidateRule
from burnish.core.state import FixOrder
from burnish.core.values import replace
from burnish.ledger.interface import Ledger
from burnish.runtime.inputs import frozen
from burnish.runtime.performing.material import review_prompt, writing_prompt
from burnish.runtime.performing.workshop import Workshop
from burnish.usecases.places import cache_folder
from burnish.usecases.planning import Plan, PlanError
from burnish.workspace.clones import Clones
from burnish.workspace.diffs import difference

PLACEHOLDER = Finding(severity=Severity.HIGH, title="(the findings of the round stand here)", id="0" * 16)


def show_prompt(plan: Plan, ledger: Ledger, reviewer: str | None, *, fix: bool, environment: Mapping[str, str]) -> str:
    """The prompt of the first round, for one reviewer or for the fixer."""
    protocol = replace(plan.protocol, validate=ValidateRule(before_first_review=False))
    run = evolve(
        None,
        RunStarted(
            at=0.0,
            run="prompt",
            mode=plan.mode,
            subject=plan.subject,
            protocol=protocol,
            roles=plan.roles,
            inputs=frozen(plan.inputs),
        ),
    )
    cache = cache_folder(environment) / "prompt"
    shop = Workshop(
        run="prompt",
        repository=plan.repository,
        ledger=ledger,
        inputs=plan.inputs,
        sandbox=plan.sandbox,
        clones=Clones(plan.repository, cache),
        policy_folder="",
        folder=Path(cache),
        cache=cache.parent,
        copies=cache,
        environment=environment,
    )
    if fix:
        order = FixOrder(number=1, round=1, must=(PLACEHOLDER,))
        return writing_prompt(shop, StartFix(id="fix:1:1", agent=plan.roles.fix.agent, attempt=1, order=order), run)
    seats = [effect for effect in decide(run) if isinstance(effect, StartReview)]
    chosen = next((seat for seat in seats if seat.reviewer == (reviewer or seat.reviewer)), None)
    if chosen is None:
        names = ", ".join(seat.reviewer for seat in seats)
        raise PlanError(f"There is no reviewer '{reviewer}' on this panel.", hint=f"The panel is: {names}.")
    if chosen.session:
        return writing_prompt(shop, chosen, run)
    shown = difference(plan.repository, plan.subject.base_commit, plan.subject.head)
    return review_prompt(shop, chosen, run, shown)
