"""Epics in YAML, in both dialects and mixed, with a markdown file for each ticket that has one."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from burnish.core.brief_text import (
    MAX_BRIEF_BYTES,
    BriefCriterion,
    acceptance_criteria,
    coordination_requirements,
    is_epic_name,
    one_line,
    title_of,
)
from burnish.core.epics.plan import EpicPlan, Ticket
from burnish.core.text import clean_text
from burnish.core.values import Value
from burnish.settings.documents import Problem, SourcePlace
from burnish.settings.yaml_nodes import YamlNode
from burnish.sources.checks import PlacedTicket, problems_of, unfit
from burnish.sources.fields import Fields, read_yaml
from burnish.sources.interface import SourceError, read_text, refuse, slug, source_error
from burnish.sources.ticket_file import TicketFile, prose_problems, read_ticket_file, touched_path

KIND = "epic"
_COORDINATION = "coordination_requirements"
_TICKETS = "tickets"


class _Folders(Value):
    """Where the files of tickets may be."""

    epic: Path
    root: Path

    def allow(self, file: Path) -> bool:
        """Whether a file is in the repository or below the epic's folder. No link leads out of them."""
        resolved = file.resolve()
        return any(resolved.is_relative_to(folder.resolve()) for folder in (self.epic, self.root))

    def shown(self, file: Path) -> str:
        """The path below the root of the repository, else the whole one."""
        resolved, top = file.resolve(), self.root.resolve()
        return resolved.relative_to(top).as_posix() if resolved.is_relative_to(top) else str(resolved)


class _ReadTicket(Value):
    placed: PlacedTicket
    file: TicketFile | None


def read_epic(path: Path, root: Path) -> EpicPlan:
    """The plan that an epic file holds. Raises `SourceError` with everything that is wrong with it and its tickets."""
    text, file = read_text(path), str(path)
    top = read_yaml(text, file)
    if top.is_scalar or top.items:
        raise source_error(
            file, "The file is not a mapping.", "Write 'epic: name' and 'tickets:' with a list.", top.line
        )
    problems: list[Problem] = []
    fields = Fields(top, file, problems)
    nodes = _ticket_nodes(fields)
    folders = _Folders(epic=path.parent, root=root)
    read = [one for index, node in enumerate(nodes) if (one := _ticket(node, index, file, folders, problems))]
    problems += problems_of([one.placed for one in read])
    known = {one.placed.ticket.id for one in read}
    for one in read:
        problems += prose_problems(one.file, one.placed.ticket, known) if one.file else ()
    plan = _plan(fields, path, text, tuple(one.placed.ticket for one in read))
    refuse(problems)
    return plan


def _plan(fields: Fields, path: Path, text: str, tickets: tuple[Ticket, ...]) -> EpicPlan:
    named = fields.text("epic", "name")
    coordination = clean_text(coordination_requirements(text))
    if fields.node(_COORDINATION) and not coordination:
        fields.problem(_COORDINATION, "It cannot be quoted from here.", f"Begin a line with '{_COORDINATION}:'.")
    described = (
        ("", _prose(fields, "description")),
        ("Context", _prose(fields, "context")),
        ("Objectives", _prose(fields, "objectives")),
        ("Constraints", _prose(fields, "constraints")),
    )
    return EpicPlan(
        id=named if named and not unfit(named) else slug(named) or _name_of(path),
        title=one_line(fields.text("title") or named),
        description=_markdown(described),
        acceptance=fields.sentences("acceptance_criteria"),
        coordination=coordination,
        rollback_on_failure=fields.flag("rollback_on_failure") or False,
        tickets=tickets,
        source=str(path),
        kind=KIND,
    )


def _name_of(path: Path) -> str:
    """A name for an epic that has none: that of its file, or of its folder where all epics are called so."""
    stem = path.name.split(".")[0]
    return slug(path.absolute().parent.name if is_epic_name(path.name) and stem == "epic" else stem) or "epic"


def _ticket_nodes(fields: Fields) -> tuple[YamlNode, ...]:
    node = fields.node(_TICKETS)
    nodes = node.items if node else ()
    hint = "Write 'tickets:' and below it '- id: name' with 'description: text' for each ticket."
    if node is None:
        fields.problem(_TICKETS, "The file is not an epic: it has no 'tickets'.", hint)
    elif node.is_scalar or node.pairs:
        fields.problem(_TICKETS, "It must be a list.", hint)
    elif not nodes:
        fields.problem(_TICKETS, "The epic has no tickets.", hint)
    count = fields.node("ticket_count")
    if count and not (count.tag == "int" and count.text.isdecimal()):
        fields.problem("ticket_count", "It must be a number, without quotes.", f"Write 'ticket_count: {len(nodes)}'.")
    elif count and nodes and count.text.lstrip("0") != str(len(nodes)):
        said = f"It says {count.text[:20]}, but the epic lists {len(nodes)} tickets."
        fields.problem("ticket_count", said, "Correct the number, or add what is missing.")
    return nodes


def _ticket(node: YamlNode, index: int, epic: str, folders: _Folders, problems: list[Problem]) -> _ReadTicket | None:
    if not node.pairs:
        key = f"{_TICKETS}[{index}]"
        message, hint = "A ticket must be a mapping.", "Write '- id: name' with 'description: text' below it."
        problems.append(Problem(file=epic, line=node.line, key=key, message=message, hint=hint))
        return None
    fields = Fields(node, epic, problems, (_TICKETS, index))
    name = fields.text("id", "name")
    if not name:
        hint = "Add 'id: short-name'; the ticket is built on the branch ticket/short-name."
        fields.problem("id", "The ticket has no id.", hint)
    file = _ticket_file(fields, name, folders, problems)
    depends_on = {**fields.names("depends_on", "dependencies"), **(file.dependencies if file else {})}
    ticket = _made(fields, name, file, depends_on)
    if len(ticket.text.encode()) > MAX_BRIEF_BYTES:
        fields.problem("description", f"The text is larger than {MAX_BRIEF_BYTES:,} bytes.", "Split the ticket.")
    if not name:
        return None
    placed = PlacedTicket(ticket=ticket, place=fields.place("id", "name"), dependencies=depends_on)
    return _ReadTicket(placed=placed, file=file)


def _made(fields: Fields, name: str, file: TicketFile | None, depends_on: Mapping[str, SourcePlace]) -> Ticket:
    """The ticket from both places where it is described. The epic's word holds where they contradict each other."""
    description = clean_text(fields.text("description"))
    own_title = fields.text("title") or (fields.text("name") if fields.text("id") else "")
    title = one_line(own_title or (title_of(file.text) if file else "")) or one_line(name)
    listed = fields.sentences("acceptance_criteria")
    touched = (touched_path(text) for text in fields.sentences("touches", "files_to_modify"))
    touches = dict.fromkeys([path for path in touched if path] + list(file.touches if file else ()))
    written = file.text if file else _text(title, description, listed, touches, depends_on)
    # The description may have boxes; the items of the epic have none.
    criteria: dict[str, BriefCriterion] = {text: BriefCriterion(text=text) for text in listed}
    criteria |= {criterion.text: criterion for criterion in acceptance_criteria(file.text if file else description)}
    critical, reviewed = fields.flag("critical"), fields.flag("review")
    if file:
        critical = file.critical if critical is None else critical
        reviewed = file.reviewed if reviewed is None else reviewed
    return Ticket(
        id=name,
        title=title,
        text=written,
        file=file.path if file else "",
        depends_on=tuple(depends_on),
        acceptance=tuple(criteria),
        ticked=tuple(text for text, criterion in criteria.items() if criterion.ticked),
        boxes=tuple(text for text, criterion in criteria.items() if criterion.ticked is not None),
        touches=tuple(touches),
        role=clean_text(fields.text("coordination_role")),
        critical=critical or False,
        reviewed=reviewed is not False,
    )


def _ticket_file(fields: Fields, name: str, folders: _Folders, problems: list[Problem]) -> TicketFile | None:
    """The file that the epic names for a ticket, else one of the ticket's name."""
    key = "path" if fields.node("path") else "file"
    named = fields.text(key)
    if named:
        places = (folders.epic / named, folders.root / named)
    elif name and not unfit(name):
        places = (folders.epic / "tickets" / f"{name}.md", folders.epic / f"{name}.md")
    else:
        return None
    try:
        found = next((place for place in places if place.is_file()), None)
    except (OSError, ValueError):
        found = None
    if found is None and not named:
        return None
    if found is None:
        message = f"There is no file '{clean_text(named)}' beside the epic or in the repository."
        fields.problem(key, message, f"Create it, or correct '{key}'.")
    elif not folders.allow(found):
        message = f"The file '{clean_text(str(found))}' is outside the repository and the epic's folder."
        fields.problem(key, message, "Move it beside the epic.")
    else:
        try:
            return read_ticket_file(found, folders.shown(found), problems)
        except SourceError as error:
            problems += error.problems
    return None


def _prose(fields: Fields, name: str) -> str:
    """A text as it is, or the items of a list as bullets."""
    node = fields.node(name)
    if node is not None and node.items:
        return _bullets(fields.sentences(name))
    return clean_text(fields.text(name))


def _text(
    title: str, description: str, criteria: Iterable[str], touches: Iterable[str], depends_on: Iterable[str]
) -> str:
    """The text of a ticket that has no file, in the form of such a file."""
    parts = (
        ("", description),
        ("Acceptance Criteria", _bullets(criteria)),
        ("Files to Modify", _bullets(f"`{path}`" for path in touches)),
        ("Dependencies", _bullets(depends_on)),
    )
    return f"# {title}\n\n{_markdown(parts)}".rstrip("\n") + "\n"


def _bullets(texts: Iterable[str]) -> str:
    return "\n".join("- " + text.replace("\n", "\n  ") for text in texts)


def _markdown(parts: Iterable[tuple[str, str]]) -> str:
    return "\n\n".join(f"## {title}\n\n{text}" if title else text for title, text in parts if text)
