"""The statement of a seal: an in-toto Statement (version 1) about a tree, as a value and as canonical JSON.

A statement has one form in bytes only. Whatever is written in another way, says more than this version knows, or says
two things at once, is no statement.
"""

import json
from datetime import UTC, datetime

import msgspec

from burnish.core.evidence import Level, Need
from burnish.core.findings import FindingStatus, Severity
from burnish.core.state import ReviewStatus, SealKind
from burnish.core.values import Value
from burnish.settings.requirements import AgentValue

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:burnish:seal:v2"
_OLDER = ("urn:burnish:seal:v1",)
_LONGEST = 64 * 1024 * 1024


class UnreadableStatementError(Exception):
    """Bytes that are no statement of a seal."""


class SealedProtocol(Value):
    """The rules that the review followed."""

    name: str
    digest: str


class SealedPolicy(Value, omit_defaults=False):
    """The policy that governed the review, by value."""

    origin: str
    """Whose it was: see `PolicyOrigin`."""
    gate: str
    """The digest of what the base asked for in every setting that shapes what a review sees and counts."""
    deviations: tuple[str, ...] = ()
    """The keys in which the review did not keep to that."""


class SealedFile(Value, omit_defaults=False):
    """A changed file: what it was, what it is, and how closely it was examined."""

    path: str
    before: str
    """Its object in the merge base; empty where there was none."""
    after: str
    """Its object in the tree; empty where it is deleted."""
    need: Need
    level: Level

    @property
    def enough(self) -> bool:
        line = self.need.line
        return line is not None and self.level.reaches(line)


class SealedReviewer(Value, omit_defaults=False):
    """A reviewer of the round that the seal rests on."""

    reviewer: str
    agent: AgentValue
    """The agent that answered."""
    prompt: str
    """The digest of what it was given."""
    status: ReviewStatus
    missing: str = ""
    """Why it had nothing to go on; empty where it had."""
    excused: bool = False
    """Whether the change could be approved without it."""


class SealedFinding(Value, omit_defaults=False):
    id: str
    severity: Severity
    status: FindingStatus
    title: str = ""
    file: str = ""
    blocking: bool = False
    """Whether it would keep the gate from passing if it were open."""
    note: str = ""


class Statement(Value, omit_defaults=False):
    branch: str
    run: str
    kinds: tuple[SealKind, ...]
    merge_base: str
    base_commit: str
    head: str
    tree: str
    files: tuple[SealedFile, ...]
    protocol: SealedProtocol
    policy: SealedPolicy
    reviewers: tuple[SealedReviewer, ...]
    roles: dict[str, AgentValue]
    """The agents of the roles beside the reviewers, such as `fix`."""
    findings: tuple[SealedFinding, ...]
    validation: str
    """What the project's own commands said of the tree: see `ValidationStatus`; empty where they did not run."""
    version: str
    """burnish's own."""
    sealed_at: str
    """In seconds, as in `2026-11-15T08:15:00Z`."""


class _Digest(Value, omit_defaults=False):
    gitTree: str  # noqa: N815 - the name of the field in the format


class _Subject(Value, omit_defaults=False):
    name: str
    digest: _Digest


_NAMES = {"type_": "_type", "predicate_type": "predicateType"}


class _Document(Value, omit_defaults=False, rename=_NAMES):
    type_: str
    subject: tuple[_Subject, ...]
    predicate_type: str
    predicate: Statement


class _Kind(Value, forbid_unknown_fields=False, rename=_NAMES):
    """As much of any in-toto statement as tells whether it is one of ours."""

    type_: str
    predicate_type: str


def timestamp(at: float) -> str:
    """A time as a statement says it."""
    return datetime.fromtimestamp(int(at), UTC).isoformat().replace("+00:00", "Z")


def write(statement: Statement) -> bytes:
    """The statement as JSON in one form only: keys in order, no spaces, one line end."""
    document = _Document(
        type_=STATEMENT_TYPE,
        subject=(_Subject(name=statement.branch, digest=_Digest(gitTree=statement.tree)),),
        predicate_type=PREDICATE_TYPE,
        predicate=statement,
    )
    plain = msgspec.to_builtins(document)
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"


def read(body: bytes) -> Statement:
    """A statement from its JSON. Raises `UnreadableStatementError` where it is none, or says two things at once."""
    if len(body) > _LONGEST:
        raise UnreadableStatementError("it is too long.")
    try:
        kind = msgspec.json.decode(body, type=_Kind)
        if kind.predicate_type in _OLDER:
            raise UnreadableStatementError("it was made by an older version of burnish: review again.")
        if (kind.type_, kind.predicate_type) != (STATEMENT_TYPE, PREDICATE_TYPE):
            raise UnreadableStatementError("it is a statement of another type.")
        statement = msgspec.json.decode(body, type=_Document).predicate
        canonical = write(statement)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise UnreadableStatementError(f"{error}.") from None
    if canonical != body:
        raise UnreadableStatementError("it is not in canonical form.")
    problem = _contradiction(statement)
    if problem:
        raise UnreadableStatementError(problem)
    return statement


def _contradiction(statement: Statement) -> str:
    kinds = statement.kinds
    if not kinds or kinds != tuple(kind for kind in SealKind if kind in kinds):
        return "its kinds are not unique and sorted."
    if SealKind.APPROVED in kinds and len(kinds) > 1:
        return "it is both approved and of another kind."
    for what, names in (
        ("file", [file.path for file in statement.files]),
        ("reviewer", [review.reviewer for review in statement.reviewers]),
        ("finding", [finding.id for finding in statement.findings]),
    ):
        if len(names) != len(set(names)):
            return f"it names a {what} twice."
    return ""
