"""Exactly what an agent would be sent, without sending it."""

from typing import NamedTuple

from burnish.core.effects import StartFix, StartReview
from burnish.core.events import RunStarted
from burnish.core.findings import Finding, Severity
from burnish.core.loop import decide, evolve
from burnish.core.protocol import ValidateRule
from burnish.core.state import FixOrder
from burnish.core.values import replace
from burnish.runtime.context import RunContext, as_json
from burnish.runtime.prompting import review_prompt, writing_prompt
from burnish.settings.types import AgentSettings, Settings
from burnish.usecases.list_agents import agent_named
from burnish.usecases.plan_run import Plan, PlanError
from burnish.workspace.diffs import difference
from burnish.workspace.repository import Repository

PLACEHOLDER = Finding(severity=Severity.HIGH, title="(the findings of the round)", id="0" * 16)


class _Unstarted(NamedTuple):
    """What the prompt of a run is made from that has not begun: there are no answers yet."""

    repository: Repository
    context: RunContext

    @property
    def settings(self) -> Settings:
        return self.context.settings

    def agent(self, name: str) -> AgentSettings:
        return agent_named(self.settings, name)

    def recall(self, digest: str) -> str:
        del digest
        return ""


def show_prompt(plan: Plan, reviewer: str | None, *, fix: bool) -> str:
    """The prompt of the first round, for one reviewer or for the fixer. Nothing is written."""
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
            context=as_json(plan.inputs),
        ),
    )
    services = _Unstarted(plan.repository, plan.inputs)
    if fix:
        order = FixOrder(number=1, round=1, must=(PLACEHOLDER,))
        return writing_prompt(services, StartFix(id="fix:1:1", agent=plan.roles.fix.agent, attempt=1, order=order), run)
    seats = [effect for effect in decide(run) if isinstance(effect, StartReview)]
    chosen = next((seat for seat in seats if seat.reviewer == (reviewer or seat.reviewer)), None)
    if chosen is None:
        names = ", ".join(seat.reviewer for seat in seats)
        raise PlanError(f"There is no reviewer '{reviewer}' on this panel.", hint=f"The panel is: {names}.")
    if chosen.session:
        return writing_prompt(services, chosen, run)
    shown = difference(plan.repository, plan.subject.base_commit, plan.subject.head, plan.subject.paths)
    return review_prompt(services, chosen, run, shown)
