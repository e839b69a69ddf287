"""What a session under review is told, and the card that is made of that after each event."""

from collections.abc import Mapping

from burnish.plugin.cards import Card, card_path, change_card
from burnish.prompts.rendering import fill
from burnish.runtime.journal import stream_of
from burnish.usecases.session_owners import SessionOwner
from burnish.usecases.session_review import SessionPhase, Standing, WantedWork, WorkRole

AGENTS = ("critic", "pedant", "witness", "security-reviewer", "silent-failure-hunter", "code-review", "epic-reviewer")
"""The plugin's reviewers. A seat that has none of its own is played by one that fits its contract."""
_BESIDE = {
    "bugs-reviewer": "critic",
    "style-reviewer": "pedant",
    "tests-reviewer": "witness",
    "errors-reviewer": "silent-failure-hunter",
}
_PLUGIN = "CLAUDE_PLUGIN_ROOT"
"""Set for hooks of a plugin. A project's own settings have no names with a colon."""
_OF_EPICS = "findings"
"""The contract of epics and stories, whose reviewers and fixers write documents."""


def agent_for(work: WantedWork, standing: Standing) -> str:
    """The subagent that plays a seat."""
    if work.role is WorkRole.FIX:
        return "epic-fixer" if standing.protocol == "epic" else "review-fixer"
    if standing.may_edit:
        return "review-fixer"
    seat = _BESIDE.get(work.seat, work.seat)
    if seat in AGENTS:
        return seat
    return "epic-reviewer" if work.contract == _OF_EPICS else "code-review"


def questions(standing: Standing) -> list[str]:
    """What is asked of the session now, by name: each is asked once, until an attempt has failed."""
    if standing.phase in (SessionPhase.REVIEW, SessionPhase.FIX):
        return [work.effect for work in standing.wanted]
    return [f"{standing.phase.value} {standing.version}"]


def prefix_of(environment: Mapping[str, str]) -> str:
    """How the client calls burnish's subagents."""
    return "burnish:" if environment.get(_PLUGIN) else "burnish-"


def words_for(standing: Standing, environment: Mapping[str, str]) -> str:
    """What the session is told: the dispatches of the phase, or how the review ended."""
    escape = "/burnish:stop"
    match standing.phase:
        case SessionPhase.REVIEW | SessionPhase.FIX:
            agents = "\n".join(
                f"- {prefix_of(environment)}{agent_for(work, standing)}: {work.seat}" for work in standing.wanted
            )
            name = "plugin-review" if standing.phase is SessionPhase.REVIEW else "plugin-fix"
            return fill(
                name,
                phase=standing.phase.value,
                round=str(standing.round),
                rounds=str(standing.rounds),
                agents=agents or "- (none: burnish is at work)",
                escape=escape,
            )
        case SessionPhase.WAITING:
            choices = "\n".join(f"- /burnish:decide {key}: {text}" for key, text in standing.choices)
            return fill("plugin-waiting", run=standing.run, reason=standing.reason, choices=choices, escape=escape)
        case _:
            return aloud(standing)


def aloud(standing: Standing) -> str:
    """How the review ended, for the person."""
    outcome = standing.outcome.value if standing.outcome else "not finished"
    name = "plugin-done" if standing.phase is SessionPhase.DONE else "plugin-stopped"
    text = fill(name, run=standing.run, outcome=outcome, reason=standing.reason)
    return " ".join(text.split())


def write_card(
    standing: Standing, owner: SessionOwner, environment: Mapping[str, str], *, told: bool = False, missed: int = 0
) -> None:
    """Bring the card up to date, unless a later event has. `told` says that the session has been asked already.

    `missed` counts the stops in a row that brought no answer; an answer begins a new count.
    """
    path = card_path(environment, owner.session)
    if path is None:
        return

    def updated(former: Card | None) -> Card | None:
        same = former is not None and former["run"] == standing.run
        if former is not None and same and former["version"] > standing.version:
            return None
        asking = questions(standing)
        asked: list[str] = former.get("asked", []) if former is not None and same else []
        return {
            "run": standing.run,
            "version": standing.version,
            "ledger": standing.ledger,
            "stream": stream_of(standing.run),
            "session": owner.session,
            "pid": owner.process.pid,
            "root": standing.root,
            "kept": [*standing.kept, str(path.parent.parent)],
            "phase": standing.phase.value,
            "round": standing.round,
            "may_edit": standing.may_edit,
            "checks": list(standing.checks),
            "deadline": standing.deadline,
            "asking": asking,
            "asked": list(dict.fromkeys([*asked, *(asking if told else [])])),
            "missed": missed,
            "say": words_for(standing, environment),
            "prefix": prefix_of(environment),
            "work": [
                {
                    "agent": agent_for(work, standing),
                    "seat": work.seat,
                    "role": work.role.value,
                    "token": work.token,
                    "prompt": work.prompt_file,
                }
                for work in standing.wanted
            ],
        }

    change_card(path, updated)
