"""Beads as tickets: the open ones that an agent can be given, the most urgent first.

A bead that is closed is done, and no ticket. One that someone else has in progress, or that waits for such a bead, is
left out, and that is told: two agents on one bead would undo each other's work.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from burnish.contracts.json_text import Json, JsonObject
from burnish.core.brief_text import MAX_BRIEF_BYTES, BriefCriterion, acceptance_criteria, one_line
from burnish.core.epics.plan import EpicPlan, Ticket
from burnish.core.text import clean_text
from burnish.core.values import Value
from burnish.settings.documents import Problem, SourcePlace, did_you_mean
from burnish.sources.bead_tracker import BEADS, TASQUE, WrittenBead, id_of, own_words, tracker_of
from burnish.sources.checks import PlacedTicket, problems_of
from burnish.sources.interface import refuse, slug, source_error

KIND = "beads"
FOLDERS = (BEADS, TASQUE)
_OPEN = frozenset({"open", "todo", "ready", "backlog", "new", "reopened", ""})
_DONE = frozenset({"closed", "done", "completed", "complete", "resolved", "canceled", "cancelled", "tombstone"})
_TAKEN = frozenset({"in_progress", "doing", "started", "hooked"})
_BLOCKING = frozenset({"blocks", "blocked_by", "conditional_blocks", "waits_for", ""})
"""The kinds of dependencies that a bead waits for. A parent does not hold up its children, nor the other way round."""
_PARENT = frozenset({"parent_child", "parent"})
_ELSEWHERE = "external:"
"""How the id of a bead of another repository begins."""
_PRIORITY = re.compile(r"[Pp]?(\d)")
_USUAL_PRIORITY = 2
_LEAST_PRIORITY = 9
_MOST_NAMED = 8


class _Edge(Value):
    bead: str
    needs: str
    kind: str
    place: SourcePlace


class Bead(Value):
    """One bead, read."""

    id: str
    title: str
    text: str
    status: str
    priority: int
    parent: str = ""
    is_epic: bool = False
    place: SourcePlace
    acceptance: tuple[BriefCriterion, ...] = ()

    @property
    def is_done(self) -> bool:
        return self.status in _DONE

    @property
    def is_taken(self) -> bool:
        return self.status in _TAKEN


def read_beads(folder: Path, environment: Mapping[str, str], *, own: Collection[str] = (), top: str = "") -> EpicPlan:
    """The plan that a folder `.beads` holds. Raises `SourceError` with everything that is wrong with it.

    `own` are the beads that a run of burnish has at work: they are in progress, and still part of the plan. `top`
    limits the plan to one bead and those below it.
    """
    tracker, notice = tracker_of(folder, environment)
    problems: list[Problem] = []
    beads, edges = _read(tracker.beads(), problems)
    needs = _needed(beads, edges)
    refuse([*problems, *_mistakes(beads, needs, own)])
    if top and top not in beads:
        hint = did_you_mean(top, beads) or "Name a bead of the list."
        raise source_error(tracker.name, f"There is no bead '{one_line(top)}'.", hint)
    children = _children(beads, edges)
    below = _below(top, children) if top else set(beads)
    choice = _Choice(beads=beads, needs={name: frozenset(places) for name, places in needs.items()}, own=frozenset(own))
    listed = [name for name in beads if name in below and choice.is_wanted(name)]
    held = {name: why for name in listed if (why := choice.held(name, children))}
    chosen = {name for name in listed if name not in held}
    waiting = choice.waiting_in_vain(chosen)
    chosen -= waiting.keys()
    tickets = [
        _ticket(bead, [need for need in needs.get(name, ()) if need in chosen])
        for name, bead in beads.items()
        if name in chosen
    ]
    return EpicPlan(
        id=plan_id(top),
        title=beads[top].title if top else "",
        tickets=tuple(tickets),
        source=str(folder),
        kind=KIND,
        reviewed_whole=False,
        left_out=tuple(filter(None, (notice, *_told({**held, **waiting})))),
    )


def plan_id(top: str) -> str:
    """What a list is called: it, or the bead that it is limited to."""
    return f"{KIND}-{slug(top)}" if top else KIND


class _Choice(Value):
    """Which of all beads an agent can be given."""

    beads: dict[str, Bead]
    needs: dict[str, frozenset[str]]
    own: frozenset[str]

    def is_wanted(self, name: str) -> bool:
        return not self.beads[name].is_done or name in self.own

    def held(self, name: str, children: Collection[str]) -> str:
        """Why a bead is not given to an agent; empty where it may be."""
        bead = self.beads[name]
        if name in self.own:
            return ""
        if bead.is_taken:
            return "in progress elsewhere"
        if bead.status not in _OPEN:
            return bead.status.replace("_", " ")
        return "an epic, whose beads are the work" if bead.is_epic and name in children else ""

    def waiting_in_vain(self, chosen: set[str]) -> dict[str, str]:
        """The beads among these that wait for one which is not among them, directly or through others."""
        found: dict[str, str] = {}
        left = set(chosen)
        while True:
            more = {
                name: f"waits for {need}"
                for name in left
                for need in sorted(self.needs.get(name, ()))
                if need not in left and (need not in self.beads or self.is_wanted(need)) and name not in self.own
            }
            if not more:
                return found
            found |= more
            left -= more.keys()


def _told(left_out: Mapping[str, str]) -> Iterator[str]:
    """One sentence for each reason, with the first beads that it concerns."""
    by_reason: dict[str, list[str]] = {}
    for name, why in left_out.items():
        by_reason.setdefault(why, []).append(name)
    for why, names in by_reason.items():
        more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
        yield f"Left out, {why}: {', '.join(map(one_line, names[:_MOST_NAMED]))}{more}."


def _ticket(bead: Bead, depends_on: Sequence[str]) -> Ticket:
    return Ticket(
        id=bead.id,
        title=bead.title,
        text=bead.text,
        depends_on=tuple(depends_on),
        acceptance=tuple(one.text for one in bead.acceptance),
        ticked=tuple(one.text for one in bead.acceptance if one.ticked),
        boxes=tuple(one.text for one in bead.acceptance if one.ticked is not None),
        priority=bead.priority,
    )


# --- reading -----------------------------------------------------------------------------------------------------


def _read(written: Sequence[WrittenBead], problems: list[Problem]) -> tuple[dict[str, Bead], list[_Edge]]:
    beads: dict[str, Bead] = {}
    edges: list[_Edge] = []
    for one in written:
        bead = _bead(one, problems)
        if bead is None:
            continue
        first = beads.setdefault(bead.id, bead)
        if first is not bead:
            problems.append(_problem(one.place, "id", f"The id '{one_line(bead.id)}' is there twice.", _TWICE))
        edges += _edges(bead, one, problems)
    return beads, edges


_TWICE = "Remove one of the two lines, or give it another id."


def _bead(one: WrittenBead, problems: list[Problem]) -> Bead | None:
    fields, place = one.fields, one.place
    name = id_of(fields)
    if not name:
        problems.append(_problem(place, "id", "The bead has no id.", 'Add "id": "short-name".'))
        return None

    def text(*keys: str) -> str:
        found = next((fields[key] for key in keys if fields.get(key) not in (None, "")), "")
        if isinstance(found, list) and all(isinstance(item, str) for item in found):
            return "\n".join(f"- {item}" for item in found)
        if not isinstance(found, str):
            key = next(key for key in keys if fields.get(key) not in (None, ""))
            problems.append(_problem(place, key, f"'{key}' must be a text.", f'Write "{key}": "text".', name))
            return ""
        return clean_text(found).strip()

    status = re.sub(r"[\s-]+", "_", text("status").strip().lower())
    title = one_line(text("title", "summary", "name"))
    criteria = text("acceptance_criteria")
    written = _text(title or name, text("description", "body"), text("design"), criteria, text("notes"))
    if len(written.encode()) > MAX_BRIEF_BYTES:
        message = f"The text is larger than {MAX_BRIEF_BYTES:,} bytes."
        problems.append(_problem(place, "description", message, "Split the bead.", name))
    kind = text("issue_type", "type", "kind").lower()
    return Bead(
        id=name,
        title=title or one_line(name),
        text=written,
        status=status,
        priority=_priority(fields, place, name, problems),
        parent=text("parent_id", "parent"),
        is_epic=kind == "epic",
        place=place,
        acceptance=_criteria(criteria) or acceptance_criteria(written),
    )


def _criteria(text: str) -> tuple[BriefCriterion, ...]:
    """A list of criteria; lines without bullets are one criterion each."""
    listed = acceptance_criteria(f"## Acceptance Criteria\n\n{text}\n")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return listed or tuple(BriefCriterion(text=line) for line in lines)


def _text(title: str, description: str, design: str, criteria: str, notes: str) -> str:
    """What is asked for, as markdown."""
    own = "\n\n".join(own_words(notes))
    parts = [f"# {title}", description]
    sections = (("Design", design), ("Acceptance Criteria", criteria), ("Notes", own))
    parts += [f"## {heading}\n\n{body}" for heading, body in sections if body]
    return "\n\n".join(part for part in parts if part) + "\n"


def _priority(fields: JsonObject, place: SourcePlace, name: str, problems: list[Problem]) -> int:
    value = fields.get("priority")
    if value is None or value == "":
        return _USUAL_PRIORITY
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LEAST_PRIORITY:
        return value
    found = _PRIORITY.fullmatch(value.strip()) if isinstance(value, str) else None
    if found:
        return int(found[1])
    message = f"'priority' must be a number from 0 to {_LEAST_PRIORITY}; 0 comes first."
    problems.append(_problem(place, "priority", message, 'Write "priority": 2.', name))
    return _USUAL_PRIORITY


def _edges(bead: Bead, one: WrittenBead, problems: list[Problem]) -> Iterator[_Edge]:
    for key in ("dependencies", "blocked_by"):
        value = one.fields.get(key)
        if value is None:
            continue
        if not isinstance(value, list):
            hint = f'Write "{key}": [{{"depends_on_id": "other", "type": "blocks"}}].'
            problems.append(_problem(one.place, key, f"'{key}' must be a list.", hint, bead.id))
            continue
        for item in value:
            edge = _edge(bead, item, one.place)
            if edge is None:
                hint = 'Each has "depends_on_id" and "type".'
                problems.append(_problem(one.place, key, "A dependency names no bead.", hint, bead.id))
            else:
                yield edge


def _edge(bead: Bead, item: Json, place: SourcePlace) -> _Edge | None:
    if isinstance(item, str) and item.strip():
        return _Edge(bead=bead.id, needs=item.strip(), kind="", place=place)
    if not isinstance(item, dict):
        return None

    def word(*keys: str) -> str:
        found = next((item[key] for key in keys if item.get(key) not in (None, "")), "")
        return str(found).strip() if isinstance(found, str | int) else ""

    needs = word("depends_on_id", "id", "blocker")
    kind = re.sub(r"[\s-]+", "_", word("type", "dep_type", "dependency_type").lower())
    return _Edge(bead=word("issue_id") or bead.id, needs=needs, kind=kind, place=place) if needs else None


# --- what depends on what ----------------------------------------------------------------------------------------


def _needed(beads: Mapping[str, Bead], edges: Sequence[_Edge]) -> dict[str, dict[str, SourcePlace]]:
    """What each open bead waits for. What waits for another repository's bead waits for a person."""
    found: dict[str, dict[str, SourcePlace]] = {}
    for edge in edges:
        bead, needed = beads.get(edge.bead), beads.get(edge.needs)
        if edge.kind in _BLOCKING and bead and not bead.is_done and not (needed and needed.is_done):
            found.setdefault(edge.bead, {}).setdefault(edge.needs, edge.place)
    return found


def _mistakes(
    beads: Mapping[str, Bead],
    needs: Mapping[str, Mapping[str, SourcePlace]],
    own: Collection[str],
) -> Iterator[Problem]:
    """Ids that no branch can be named by, unknown dependencies and cycles, of the beads that are open."""
    placed: list[PlacedTicket] = []
    for bead in beads.values():
        if not bead.is_done or bead.id in own:
            places = {name: at for name, at in needs.get(bead.id, {}).items() if not name.startswith(_ELSEWHERE)}
            ticket = Ticket(id=bead.id, text="", depends_on=tuple(places))
            placed.append(PlacedTicket(ticket=ticket, place=bead.place, dependencies=places))
    yield from problems_of(placed)


def _children(beads: Mapping[str, Bead], edges: Sequence[_Edge]) -> dict[str, set[str]]:
    """The children of each bead that has some: by its field, by a dependency, or by its id (`bd-7.1`)."""
    found: dict[str, set[str]] = {}
    for bead in beads.values():
        above = bead.id.rpartition(".")[0]
        for parent in (bead.parent, above if above in beads else ""):
            if parent:
                found.setdefault(parent, set()).add(bead.id)
    for edge in edges:
        if edge.kind in _PARENT:
            found.setdefault(edge.needs, set()).add(edge.bead)
    return found


def _below(top: str, children: Mapping[str, Collection[str]]) -> set[str]:
    found, left = {top}, [top]
    while left:
        more = set(children.get(left.pop(), ())) - found
        found |= more
        left += more
    return found


def _problem(place: SourcePlace, key: str, message: str, hint: str, bead: str = "") -> Problem:
    # A tool prints its beads without line numbers: there the bead itself says where.
    where = f"{one_line(bead)}: " if bead and place.line is None else ""
    return Problem(file=place.file, line=place.line, key=key, message=f"{where}{message}", hint=hint)


def tracker_folder(folder: Path) -> Path | None:
    """The folder of a tracker, named itself, by a file in it, or by the folder that it is in."""
    for place in (folder, folder.parent):
        if place.name in FOLDERS:
            return place
    return next((folder / name for name in FOLDERS if (folder / name).is_dir()), None)
