"""Let a tree go ahead without a seal that holds, in an emergency, and write down who did that and why.

The record opens nothing later: `verify` refuses the tree again, and shows the record.
"""

from collections.abc import Mapping

from burnish.core.break_glass import BreakGlass
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.text import clean_text
from burnish.core.values import replace
from burnish.system import clock
from burnish.usecases.plan_run import refuse_inside
from burnish.usecases.verify_seal import Verification
from burnish.workspace.break_glass import store_break_glass
from burnish.workspace.repository import Repository
from burnish.workspace.statements import timestamp

_LONGEST = 2000


class BreakGlassError(BurnishError):
    kind = ErrorKind.USAGE


def check_reason(reason: str | None, environment: Mapping[str, str]) -> str:
    """The reason, in one line. Raises where there is none, or where an agent asks."""
    refuse_inside(environment, "does not accept --break-glass")
    text = " ".join(clean_text(reason or "").split())
    if not text:
        raise BreakGlassError(
            "--break-glass needs a reason, which is recorded.",
            hint="Say why this cannot wait: --break-glass --reason 'production is down, ticket 123'.",
        )
    if len(text) > _LONGEST:
        raise BreakGlassError(
            f"The reason has {len(text)} characters; {_LONGEST} are enough.", hint="Shorten it, and name a ticket."
        )
    return text


def break_glass(repository: Repository, refused: Verification, *, reason: str, by: str) -> Verification:
    """Record the emergency; the verification with the record. The tree stays without a seal."""
    record = BreakGlass(
        at=timestamp(clock.now()),
        by=_who(repository, by),
        reason=reason,
        tree=refused.tree,
        commit=refused.commit,
        base=refused.base,
        missing=refused.reason,
    )
    store_break_glass(repository, record)
    return replace(refused, break_glass=(*refused.break_glass, record))


def _who(repository: Repository, by: str) -> str:
    """The user of the system, and what git calls them."""
    name, address = (repository.git.text("config", "--get", key, check=False) for key in ("user.name", "user.email"))
    known = clean_text(" ".join(filter(None, (name, f"<{address}>" if address else ""))))
    return f"{by} ({known})" if by and known else by or known
