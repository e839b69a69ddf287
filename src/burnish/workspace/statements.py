"""The statement of a seal: an in-toto Statement (version 1) about a tree, as a value and as canonical JSON."""

import json
from datetime import UTC, datetime

import msgspec

from burnish.core.findings import FindingStatus, Severity
from burnish.core.state import SealKind
from burnish.core.values import Value

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:burnish:seal:v1"
_LONGEST = 16 * 1024 * 1024


class UnreadableStatementError(Exception):
    """Bytes that are no statement of a seal."""


class SealedProtocol(Value):
    """The rules that the review followed."""

    name: str
    digest: str


class SealedFinding(Value, omit_defaults=False):
    """The fate of one finding."""

    id: str
    severity: Severity
    status: FindingStatus
    note: str = ""


class Statement(Value):
    """What a seal says. `given` tells by reviewer what it was given, such as the digest of its prompt."""

    branch: str
    run: str
    kinds: tuple[SealKind, ...]
    merge_base: str
    base_commit: str
    head: str
    tree: str
    protocol: SealedProtocol
    policy_origin: str
    """`base` where the base's own policy governed the review, else where it came from, such as `work tree`."""
    reviewers: tuple[str, ...]
    sealed_at: float
    given: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    findings: tuple[SealedFinding, ...] = ()


class _Digest(Value, omit_defaults=False):
    gitTree: str  # noqa: N815 - the name of the field in the format


class _Subject(Value, omit_defaults=False):
    name: str
    digest: _Digest


class _Predicate(Value, omit_defaults=False):
    run: str
    kinds: tuple[SealKind, ...]
    merge_base: str
    base_commit: str
    head: str
    tree: str
    protocol: SealedProtocol
    policy_origin: str
    reviewers: tuple[str, ...]
    given: dict[str, str]
    findings: tuple[SealedFinding, ...]
    sealed_at: str


class _Document(Value, omit_defaults=False, rename={"type_": "_type", "predicate_type": "predicateType"}):
    type_: str
    subject: tuple[_Subject, ...]
    predicate_type: str
    predicate: _Predicate


def write(statement: Statement) -> bytes:
    """The statement as JSON in one form only: keys in order, no spaces, one line end."""
    document = _Document(
        type_=STATEMENT_TYPE,
        subject=(_Subject(name=statement.branch, digest=_Digest(gitTree=statement.tree)),),
        predicate_type=PREDICATE_TYPE,
        predicate=_predicate(statement),
    )
    plain = msgspec.to_builtins(document)
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"


def _predicate(statement: Statement) -> _Predicate:
    return _Predicate(
        run=statement.run,
        kinds=statement.kinds,
        merge_base=statement.merge_base,
        base_commit=statement.base_commit,
        head=statement.head,
        tree=statement.tree,
        protocol=statement.protocol,
        policy_origin=statement.policy_origin,
        reviewers=statement.reviewers,
        given=statement.given,
        findings=statement.findings,
        sealed_at=datetime.fromtimestamp(int(statement.sealed_at), UTC).isoformat().replace("+00:00", "Z"),
    )


def read(body: bytes) -> Statement:
    """A statement from its JSON. Raises `UnreadableStatementError` where it is none, or says two things at once."""
    if len(body) > _LONGEST:
        raise UnreadableStatementError("it is too long.")
    try:
        document = msgspec.json.decode(body, type=_Document)
        sealed_at = datetime.fromisoformat(document.predicate.sealed_at).timestamp()
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise UnreadableStatementError(f"{error}.") from None
    if (document.type_, document.predicate_type) != (STATEMENT_TYPE, PREDICATE_TYPE):
        raise UnreadableStatementError("it is a statement of another type.")
    predicate = document.predicate
    if len(document.subject) != 1 or document.subject[0].digest.gitTree != predicate.tree:
        raise UnreadableStatementError("its subject and its predicate name different trees.")
    return Statement(
        branch=document.subject[0].name,
        run=predicate.run,
        kinds=predicate.kinds,
        merge_base=predicate.merge_base,
        base_commit=predicate.base_commit,
        head=predicate.head,
        tree=predicate.tree,
        protocol=predicate.protocol,
        policy_origin=predicate.policy_origin,
        reviewers=predicate.reviewers,
        sealed_at=sealed_at,
        given=predicate.given,
        findings=predicate.findings,
    )
