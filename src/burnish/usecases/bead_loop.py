"""How a loop over beads goes: flags over burnish's own settings over `.ouroboros/config.toml` over the defaults.

Of the repository's two files the versions of the base count: a change cannot loosen the loop that it is built by.
"""

from collections.abc import Mapping

from burnish.core.epics.plan import EpicPlan
from burnish.core.epics.state import Epic, TicketBlocked, TicketPending
from burnish.core.protocol import SkipReason
from burnish.core.values import Value, replace
from burnish.ledger.sqlite import look_into_ledger
from burnish.settings.loading import Flags, LayerName, Merged
from burnish.settings.ouroboros import FILE, OuroborosFile, OuroborosSettings, read_ouroboros
from burnish.sources.beads import plan_id
from burnish.usecases.epics import Epics
from burnish.usecases.trust_settings import Base, base_file, read_outside, resolve_settings
from burnish.workspace.repository import Repository

_ITERATIONS = 50
_DRIFT = "drift"
"""What beads are reviewed by where no protocol is named: the loop of slots that they come from."""


class BeadFlags(Value):
    """What was typed about the loop; None where it was not."""

    review: bool | None = None
    fix_attempts: int | None = None
    iterations: int | None = None
    pause: float | None = None
    parallel: int | None = None
    top: str = ""


class BeadLoop(Value):
    flags: Flags
    review: bool = True
    skip: SkipReason = SkipReason.REVIEW_DISABLED
    why_not: str = ""
    """Who turned the review off, where it is off."""
    fix_attempts: int | None = None
    attempts_from: str = ""
    """The file that says how many fixes there may be; empty where a flag does."""
    iterations: int = _ITERATIONS
    pause: float = 0.0
    parallel: int = 1
    top: str = ""
    notices: tuple[str, ...] = ()


def resolve_loop(
    repository: Repository, base: Base, environment: Mapping[str, str], flags: Flags, typed: BeadFlags
) -> BeadLoop:
    """Raises `DocumentError` for a file that is wrong."""
    merged = resolve_settings(repository, base, environment, flags, None).merged
    theirs, notices = _ouroboros(repository, base, environment)
    own = merged.settings.beads
    review, why_not = _review(merged, theirs, typed.review)
    skip = SkipReason.REVIEW_DISABLED
    reviewer_prompt = _prompt(merged, flags.reviewer_prompt, theirs.reviewer_prompt, "reviewer", environment)
    if review and theirs.reviewer_prompt == "" and _is_default(merged, "prompts", "reviewer"):
        review, skip = False, SkipReason.NO_REVIEWER_PROMPT
        why_not = f"{theirs.places['reviewer_prompt']} names no reviewer's prompt"
    attempts = next((n for n in (typed.fix_attempts, own.fix_attempts, theirs.fix_attempts) if n is not None), None)
    origin = merged.origin("beads", "fix_attempts").text
    attempts_from = origin if own.fix_attempts is not None else theirs.places.get("fix_attempts", "")
    pauses = (typed.pause, own.pause, None if theirs.pause_ms is None else theirs.pause_ms / 1000)
    parallel = None if _is_default(merged, "epics", "parallel") else merged.settings.epics.parallel
    return BeadLoop(
        flags=replace(
            flags,
            protocol=_DRIFT if flags.protocol is None and _is_default(merged, "protocol") else flags.protocol,
            developer_prompt=_prompt(merged, flags.developer_prompt, theirs.developer_prompt, "builder", environment),
            reviewer_prompt=reviewer_prompt or None,
        ),
        review=review,
        skip=skip,
        why_not=why_not,
        fix_attempts=attempts,
        attempts_from="" if typed.fix_attempts is not None else attempts_from,
        iterations=typed.iterations or own.iterations or theirs.iterations or _ITERATIONS,
        pause=next((pause for pause in pauses if pause is not None), 0.0),
        parallel=typed.parallel or parallel or theirs.parallel or 1,
        top=typed.top or own.top or theirs.top or "",
        notices=(*theirs.notices, *notices),
    )


def _review(merged: Merged, theirs: OuroborosSettings, typed: bool | None) -> tuple[bool, str]:
    """Whether what is built is reviewed, and what turned that off."""
    own = merged.settings.beads.review
    if typed is not None:
        return typed, "" if typed else "--no-review"
    if own is not None:
        return own, "" if own else merged.origin("beads", "review").text
    if theirs.review is not None:
        return theirs.review, "" if theirs.review else f"{theirs.places['review']}: reviewEnabled = false"
    return not theirs.exists, f"{FILE} does not turn it on" if theirs.exists else ""


def _is_default(merged: Merged, *key: str) -> bool:
    return merged.origin(*key).layer is LayerName.DEFAULT


def _prompt(
    merged: Merged, flag: str | None, theirs: str | None, role: str, environment: Mapping[str, str]
) -> str | None:
    if flag is not None or not theirs or not _is_default(merged, "prompts", role):
        return flag
    home = environment.get("HOME", "")
    return f"{home}/{theirs[2:]}" if theirs.startswith("~/") and home else theirs


def _ouroboros(
    repository: Repository, base: Base, environment: Mapping[str, str]
) -> tuple[OuroborosSettings, tuple[str, ...]]:
    home = environment.get("HOME", "")
    users = OuroborosFile(f"~/{FILE}", read_outside(f"{home}/{FILE}") if home else None)
    committed, working = base_file(repository, base)(FILE), read_outside(str(repository.root / FILE))
    if committed is None:
        return read_ouroboros([users, OuroborosFile(FILE, working, names_prompts=False)]), ()
    found = read_ouroboros([users, OuroborosFile(f"{base.name}:{FILE}", committed)])
    differs = working not in (None, committed)
    told = f"burnish reads {FILE} from {base.name}; the edits of it in the working tree do not apply yet."
    return found, (told,) if differs else ()


def at_work(repository: Repository, top: str) -> frozenset[str]:
    """The beads that an unfinished run of this list has begun with: they are in progress, and its own."""
    ledger = look_into_ledger(repository.state_dir)
    if ledger is None:
        return frozenset()
    with ledger:
        epic = next((epic for epic in Epics(ledger).of(plan_id(top)) if epic.end is None), None)
        return frozenset() if epic is None else begun(epic)


def begun(epic: Epic) -> frozenset[str]:
    unbegun = (TicketPending, TicketBlocked)
    return frozenset(
        name for name, one in epic.tickets.items() if one.runs or one.handed or not isinstance(one.state, unbegun)
    )


def aligned(epic: Epic, plan: EpicPlan, *, review: bool) -> EpicPlan:
    """A list that was read again, for an epic that has begun: what it did itself to its beads is no change of them."""
    own = begun(epic)
    tickets = (replace(ticket, reviewed=review) for ticket in plan.tickets)
    return replace(
        plan,
        tickets=tuple(epic.tickets[ticket.id].ticket if ticket.id in own else ticket for ticket in tickets),
        left_out=epic.plan.left_out,
    )
