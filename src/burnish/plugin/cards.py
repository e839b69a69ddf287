"""The card of a session under review: what its hooks need to know, in one small file beside those of other sessions.

It is made from the run's state after each event (`instructions`), and is never the truth about anything: without it, or
with an old one, the ledger still says how the review stands. Only light modules are imported here, because a stop is
mostly answered from the card alone.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from burnish.ledger.glance import stream_version
from burnish.system import clock
from burnish.system.files import make_private_directory, write_atomically
from burnish.system.folders import state_folder
from burnish.system.locks import hold

Card = dict[str, Any]
_REMINDERS = 2
"""How often in a row a session is asked again for what it did not bring."""


def sessions_folder(environment: Mapping[str, str]) -> Path | None:
    folder = state_folder(environment)
    return None if folder is None else folder / "sessions"


def card_path(environment: Mapping[str, str], session: str) -> Path | None:
    folder = sessions_folder(environment)
    return None if folder is None else folder / f"{session}.json"


def read_card(path: Path) -> Card | None:
    try:
        card: Any = json.loads(path.read_bytes())
        lists = (card["work"], card["asking"], card["asked"])
        numbers = (card["version"], card["missed"], card["round"])
        texts = (card["run"], card["session"], card["ledger"], card["stream"], card["root"], card["phase"], card["say"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
    whole = all(isinstance(each, list) for each in lists) and all(isinstance(each, int) for each in numbers)
    return card if whole and all(isinstance(each, str) for each in texts) else None


def change_card(path: Path, change: Callable[[Card | None], Card | None]) -> Card | None:
    """Replace a card by what is made of it, with no other process in between; None leaves it as it is."""
    make_private_directory(path.parent)
    with hold(path.with_name("lock")):
        card = change(read_card(path))
        if card is not None:
            write_atomically(path, json.dumps(card).encode())
        return card


def remove_card(path: Path) -> None:
    path.unlink(missing_ok=True)


def hand_over(path: Path, say: str) -> None:
    """Let a session know that its review belongs to another one: its gates open, and it is told so once."""

    def handed(card: Card | None) -> Card | None:
        return None if card is None else {**card, "phase": "TAKEN", "work": [], "asking": ["taken"], "say": say}

    if path.exists():
        change_card(path, handed)


def note_told(path: Path) -> Card | None:
    """The card, where it asks for something that the session has not been told; from now on it has."""

    def told(card: Card | None) -> Card | None:
        if card is None or set(card["asking"]) <= set(card["asked"]):
            return None
        return {**card, "asked": [*card["asked"], *card["asking"]]}

    return change_card(path, told)


def note_missed(path: Path) -> Card | None:
    """The card, where the session may be asked again for what it has been told and did not bring; this is counted."""

    def missed(card: Card | None) -> Card | None:
        return None if card is None or card["missed"] >= _REMINDERS else {**card, "missed": card["missed"] + 1}

    return change_card(path, missed)


def is_current(card: Card) -> bool:
    """Whether nothing has happened to the run since the card was made: no event, and no end of its time."""
    deadline = card.get("deadline")
    if isinstance(deadline, int | float) and deadline <= clock.now():
        return False
    return stream_version(Path(card["ledger"]), card["stream"]) == card["version"]
