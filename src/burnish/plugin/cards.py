"""The card of a session under review: what its gates need to know, in one small file beside those of other sessions.

It is made from the run's state after each event, and is never the truth about anything: without it, or with an old
one, the ledger still says how the review stands.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from burnish.prompts.rendering import fill
from burnish.settings.trust import state_folder
from burnish.system.files import make_private_directory, write_atomically
from burnish.system.locks import hold
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


def sessions_folder(environment: Mapping[str, str]) -> Path | None:
    trusted = state_folder(environment)
    return None if trusted is None else trusted.with_name("sessions")


def card_path(environment: Mapping[str, str], session: str) -> Path | None:
    folder = sessions_folder(environment)
    return None if folder is None else folder / f"{session}.json"


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


def write_card(standing: Standing, owner: SessionOwner, environment: Mapping[str, str], *, told: bool = False) -> None:
    """Bring the card up to date, unless a later event has. `told` says that the session has been asked already."""
    path = card_path(environment, owner.session)
    if path is None:
        return
    make_private_directory(path.parent)
    with hold(path.with_name("lock")):
        former = read_card(path)
        same = former is not None and former["run"] == standing.run
        if former is not None and same and former["version"] > standing.version:
            return
        asking = questions(standing)
        asked: list[str] = former.get("asked", []) if former is not None and same else []
        card: dict[str, Any] = {
            "run": standing.run,
            "version": standing.version,
            "session": owner.session,
            "pid": owner.process.pid,
            "root": standing.root,
            "kept": [*standing.kept, str(path.parent.parent)],
            "phase": standing.phase.value,
            "may_edit": standing.may_edit,
            "checks": list(standing.checks),
            "asking": asking,
            "asked": list(dict.fromkeys([*asked, *(asking if told else [])])),
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
        write_atomically(path, json.dumps(card).encode())


def note_told(path: Path) -> dict[str, Any] | None:
    """The card, where it asks for something that the session has not been told; from now on it has."""
    with hold(path.with_name("lock")):
        card = read_card(path)
        if card is None or set(card["asking"]) <= set(card["asked"]):
            return None
        write_atomically(path, json.dumps({**card, "asked": [*card["asked"], *card["asking"]]}).encode())
        return card


def read_card(path: Path) -> dict[str, Any] | None:
    try:
        card: Any = json.loads(path.read_bytes())
        lists = (card["work"], card["asking"], card["asked"])
        whole = isinstance(card["run"], str) and isinstance(card["version"], int)
        whole = whole and all(isinstance(each, list) for each in lists)
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return card if whole else None


def remove_card(path: Path) -> None:
    path.unlink(missing_ok=True)
