"""The rules that the tickets of every source keep: ids that can be branches, and dependencies that lead somewhere."""

import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence

from burnish.core.brief_text import one_line
from burnish.core.epics.plan import Ticket, cycle_in
from burnish.core.values import Value, replace
from burnish.settings.documents import Problem, SourcePlace, did_you_mean

_MAX_ID_BYTES = 100
_FORBIDDEN = " ~^:?*[\\/"
_MOST_GUESSES = 5
_MOST_COMPARED = 5_000
"""To look for a similar id takes time for each of them."""
_SHOWN_OF_CYCLE = 12


class PlacedTicket(Value):
    """A ticket, and where it and its dependencies are written."""

    ticket: Ticket
    place: SourcePlace
    dependencies: Mapping[str, SourcePlace]


def unfit(name: str) -> str:
    """Why no branch can be named so; empty where one can.

    The rules are those of `git check-ref-format`. A slash is refused as well: `a` and `a/b` cannot both be branches.
    """
    for sign in name:
        if sign in _FORBIDDEN or not sign.isprintable():
            shown = f"'{sign}'" if sign.isprintable() and sign != " " else f"U+{ord(sign):04X}"
            return "it contains a space" if sign == " " else f"it contains {shown}"
    for part in ("..", "@{"):
        if part in name:
            return f"it contains '{part}'"
    if name.startswith("."):
        return "it begins with '.'"
    ending = next((ending for ending in (".", ".lock") if name.endswith(ending)), "")
    if ending:
        return f"it ends with '{ending}'"
    return f"it is longer than {_MAX_ID_BYTES} bytes" if len(name.encode()) > _MAX_ID_BYTES else ""


def same_branch(name: str) -> str:
    """The form in which two ids are equal if some file systems keep their branches in one file."""
    return unicodedata.normalize("NFC", name).casefold()


def problems_of(tickets: Sequence[PlacedTicket], branch: str = "ticket/<id>") -> Iterator[Problem]:
    yield from _bad_ids(tickets, branch)
    known = {placed.ticket.id for placed in tickets}
    yield from _bad_dependencies(tickets, known)
    if len(known) == len(tickets):
        yield from _cycle(tickets)


def _bad_ids(tickets: Sequence[PlacedTicket], branch: str) -> Iterator[Problem]:
    first: dict[str, PlacedTicket] = {}
    for placed in tickets:
        name = placed.ticket.id
        reason = unfit(name)
        if reason:
            message = f"The id {_shown(name)} cannot be part of the branch '{branch}': {reason}."
            yield _problem(placed.place, message, "Use letters, digits, '-', '_' and '.'.")
        other = first.setdefault(same_branch(name), placed)
        if other is placed:
            continue
        message = (
            f"The id {_shown(name)} is used twice, first on line {other.place.line}."
            if other.ticket.id == name
            else f"The ids {_shown(other.ticket.id)} and {_shown(name)} differ only in case."
        )
        yield _problem(placed.place, message, "Give one of the two tickets another id.")


def _bad_dependencies(tickets: Sequence[PlacedTicket], known: Collection[str]) -> Iterator[Problem]:
    guesses = _MOST_GUESSES if len(known) <= _MOST_COMPARED else 0
    for placed in tickets:
        for name, place in placed.dependencies.items():
            if name == placed.ticket.id:
                message = f"The ticket {_shown(name)} depends on itself."
                yield _problem(place, message, f"Remove {_shown(name)} from its dependencies.")
            elif name not in known:
                guess = did_you_mean(name, known) if guesses > 0 and len(name) <= _MAX_ID_BYTES else ""
                guesses -= 1
                message = f"The ticket {_shown(placed.ticket.id)} depends on {_shown(name)}, which is unknown."
                yield _problem(place, message, guess or "Add a ticket of that id, or remove the dependency.")


def _cycle(tickets: Sequence[PlacedTicket]) -> Iterator[Problem]:
    circle = cycle_in(_without_itself(placed.ticket) for placed in tickets)
    if not circle:
        return
    start = next(placed for placed in tickets if placed.ticket.id == circle[0])
    names = circle if len(circle) <= _SHOWN_OF_CYCLE else (*circle[:_SHOWN_OF_CYCLE], "…", circle[-1])
    message = f"The dependencies form a cycle: {' → '.join(map(one_line, names))}."
    yield _problem(start.dependencies[circle[1]], message, "Remove one of these dependencies.")


def _without_itself(ticket: Ticket) -> Ticket:
    """A dependency on itself is told apart."""
    others = tuple(name for name in ticket.depends_on if name != ticket.id)
    return replace(ticket, depends_on=others) if others != ticket.depends_on else ticket


def _shown(name: str) -> str:
    return f"'{one_line(name)}'"


def _problem(place: SourcePlace, message: str, hint: str) -> Problem:
    return Problem(file=place.file, line=place.line, message=message, hint=hint)
