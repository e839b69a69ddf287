"""What kind of review a run had, in words: nobody should take the word of a rule for the judgement of a mind."""

from burnish.core.state import GoodReview, Run
from burnish.runtime.inputs import inputs_of
from burnish.settings.agent_kinds import AgentKind

ANALYSERS_ALONE = (
    "Reviewed by analysers alone: they know mistakes by rule and run your tests; they do not judge what the change is "
    "meant to do."
)
ADD_A_MODEL = (
    'To add a model: `burnish agent list` says which are ready; give --agent NAME, or [roles] review = "NAME".'
)


def kind_of_review(run: Run) -> tuple[str, ...]:
    """Sentences about who reviewed, where that was not agents alone."""
    reviews = [review for round_ in run.rounds[-1:] for review in round_.reviews if isinstance(review, GoodReview)]
    by_rule = [review.reviewer for review in reviews if _is_by_rule(run, review.agent)]
    if not by_rule:
        return ()
    if len(by_rule) == len(reviews):
        return (ANALYSERS_ALONE, ADD_A_MODEL)
    return (f"By analysers, which do not judge what the change is meant to do: {', '.join(by_rule)}.",)


def _is_by_rule(run: Run, agent: str) -> bool:
    settings = inputs_of(run).settings.agent(agent) if run.started.inputs else None
    return settings is not None and settings.kind is AgentKind.ANALYSERS
