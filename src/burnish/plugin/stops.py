"""The hook at the end of a session's turn: the net that finds what no other hook brought, and asks for what is missing.

Most stops are answered from the card: where no answer lies in the client's files and nothing has happened to the run,
the session is asked again, in the same words and under the same tokens, so that a late answer still counts. Only what
moves the review loads the rest (`driving`).
"""

import json
import os
from pathlib import Path

from burnish.core.errors import BurnishError
from burnish.plugin.cards import Card, card_path, is_current, note_missed, note_told, read_card, remove_card
from burnish.plugin.gates import ESCAPE, PHASES, UNFINISHED, Json, add_packages
from burnish.plugin.transcripts import Transcript, finished_work, tables

_MOST_TASKS = 500


def on_stop(call: Json, card: Card) -> Json:
    """Ask for what is missing, twice more in a row at most; then it is given up, and the session may stop."""
    try:
        return _answer(call, card)
    except BurnishError as error:
        add_packages()
        from burnish.plugin.driving import said_of  # noqa: PLC0415 - only where something went wrong

        return {"systemMessage": said_of(error, card)}


def _answer(call: Json, card: Card) -> Json:
    path = card_path(os.environ, card["session"])
    if path is None or card["phase"] not in PHASES:
        return _let_go(card, path)
    if _has_running_agents(call, card):
        return {"systemMessage": f"burnish: subagents are still at work in the background. {UNFINISHED} {ESCAPE}"}
    found = finished_work(call, card["work"])
    if found or not is_current(card):
        card = _brought_up_to_date(card, found, path)
    if card["phase"] in PHASES:
        card = note_told(path) or note_missed(path) or _without_missing(card, path)
    return {"decision": "block", "reason": card["say"]} if card["phase"] in PHASES else _let_go(card, path)


def _has_running_agents(call: Json, card: Card) -> bool:
    """Whether the client says that a subagent of burnish's runs in the background: its answer is still to come."""
    tasks = [json.dumps(task) for task in tables(call.get("background_tasks"))[:_MOST_TASKS]]
    return any(card["prefix"] in task for task in tasks)


def _brought_up_to_date(card: Card, found: list[tuple[Json, Transcript]], path: Path) -> Card:
    add_packages()
    from burnish.plugin.driving import take_found  # noqa: PLC0415 - few stops have something to take

    take_found(card, found)
    return read_card(path) or card


def _without_missing(card: Card, path: Path) -> Card:
    add_packages()
    from burnish.plugin.driving import give_up  # noqa: PLC0415 - at most once in a phase

    give_up(card)
    return read_card(path) or card


def _let_go(card: Card, path: Path | None) -> Json:
    """The session may stop; how the review stands is said to the person."""
    if card["phase"] != "WAITING" and path is not None:
        remove_card(path)
    return {"systemMessage": card["say"]}
