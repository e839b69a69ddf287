"""Does this exact tree carry a seal that holds, under the rules that its base asks for?

Nothing is taken from the seal that can be had elsewhere: base, merge base and changed files are computed again, and the
policy is read from the base alone, without the user's own settings. A seal by itself proves nothing, for the agent
under review can write refs: either the ledger that made it is here and agrees, or a signature vouches for it.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from burnish.core.break_glass import BreakGlass
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.events import Outcome, ValidationStatus
from burnish.core.findings import FindingStatus
from burnish.core.state import Run, SealKind
from burnish.core.text import clean_text
from burnish.core.values import Value, replace
from burnish.ledger.interface import Ledger
from burnish.ledger.sqlite import look_into_ledger
from burnish.protocols.loader import load as load_protocol
from burnish.runtime.context import context_of
from burnish.runtime.journal import load_run, stream_of
from burnish.runtime.sealing import protocol_digest
from burnish.settings.loading import PolicyOrigin
from burnish.settings.requirements import Requirements, requirements
from burnish.settings.rules import is_signer_line
from burnish.settings.types import Allowance, Settings, Unproven
from burnish.usecases.plan_run import required_by, settings_alone
from burnish.usecases.trust_settings import Base, base_file
from burnish.workspace.break_glass import find_break_glass
from burnish.workspace.repository import Repository
from burnish.workspace.seals import StoredSeal, certain_merge_base, damage, differences, find, signer_of, why_none
from burnish.workspace.statements import Statement

_TEXT = 200
"""Characters of a text that a seal quotes."""
_DISMISSED = (FindingStatus.WAIVED, FindingStatus.REFUTED)


class VerifyError(BurnishError):
    kind = ErrorKind.USAGE


class Demands(Value):
    base: str | None = None
    protocol: str | None = None
    """Another protocol than the one that the base's policy names."""
    any_protocol: bool = False
    any_policy: bool = False
    """Any policy and any reviewers will do."""
    allow: tuple[Allowance, ...] = ()
    """What is accepted beside a seal of kind `approved`, further to what the base's policy allows."""
    signers: bytes | None = None
    """Allowed signers, in the format of ssh-keygen. Where the base names some, a seal must satisfy both."""


class Verification(Value):
    """Whether a tree carries a seal that holds, why or why not, and which one was looked at."""

    ok: bool
    reason: str
    commit: str
    tree: str
    base: str
    merge_base: str | None = None
    notes: tuple[str, ...] = ()
    """What must be known of the seal: what was not examined, what was excused, what a person set aside."""
    seal: StoredSeal | None = None
    signer: str = ""
    vouched_by: str = ""
    """`ledger` or `signature`; empty where nothing vouches for the seal."""
    enforced: bool = True
    """Whether the base's policy enforces its gate."""
    break_glass: tuple[BreakGlass, ...] = ()
    """When this tree went ahead without a seal that holds."""
    passed: int = 0
    """How many checks of the seal were passed."""

    @property
    def is_reported(self) -> bool:
        """Whether the seal only says that a review took place, which the base's policy accepts."""
        return self.seal is not None and self.seal.statement is not None and _is_reported(self.seal.statement)


class _Question(Value):
    commit: str
    tree: str
    base: str
    merge_base: str | None
    required: Requirements
    settings: Settings
    """Of the base alone."""
    protocol: str
    """The digest of the protocol that is asked for; empty where any will do."""
    signers: tuple[bytes, ...]
    allowed: frozenset[Allowance]
    any_policy: bool


class _RefusedError(Exception):
    """A seal that does not hold; the message says why."""


def verify(repository: Repository, ref: str, demands: Demands) -> Verification:
    """Check the tree of a ref. One seal that holds is enough."""
    question = _question(repository, ref, demands)
    unsealed = Verification(
        ok=False,
        reason="",
        commit=question.commit,
        tree=question.tree,
        base=question.base,
        merge_base=question.merge_base,
        enforced=question.settings.gate.enforce,
        break_glass=find_break_glass(repository, question.tree),
    )
    problem = _without_merge_base(repository, question)
    seals = find(repository, question.tree)
    if problem or not seals:
        return replace(unsealed, reason=problem or why_none(repository, question.commit, question.tree))
    with ExitStack() as stack:
        ledger = look_into_ledger(repository.state_dir)
        if ledger is not None:
            stack.callback(ledger.close)
        verifications = [_verdict(repository, ledger, question, seal, unsealed) for seal in seals]
    return max(verifications, key=_rank)


def _rank(verification: Verification) -> tuple[bool, bool, int, str, bool, str]:
    """Which seal is told of: one that holds, an approval before a report; else the one that passed the most checks, so
    that its reason is the one to act on. Then the newest; of two from the same second, a signed one says more."""
    seal = verification.seal
    if seal is None or seal.statement is None:
        return False, False, 0, "", False, ""
    at, approves = seal.statement.sealed_at, not verification.is_reported
    return verification.ok, approves, verification.passed, at, bool(seal.signature), seal.digest


def _question(repository: Repository, ref: str, demands: Demands) -> _Question:
    commit = repository.commit_of(ref)
    branch = repository.current_branch() if ref in ("HEAD", "@") else ref
    name = demands.base or repository.default_base(branch or ref, by_settings=False)
    base = Base(name=name, commit=repository.commit_of(name), asked=demands.base)
    required, settings = required_by(repository, base), settings_alone(repository, base)
    protocol = load_protocol(demands.protocol or settings.protocol, base_file(repository, base)).protocol
    if demands.protocol is not None:
        required = requirements(settings, protocol, has_policy=required.has_policy)
    named = _signers(repository, base, settings)
    return _Question(
        commit=commit,
        tree=repository.tree_of(commit),
        base=name,
        merge_base=certain_merge_base(repository, base.commit, commit),
        required=required,
        settings=settings,
        protocol="" if demands.any_protocol else protocol_digest(protocol),
        signers=tuple(signers for signers in (named, demands.signers) if signers is not None),
        allowed=_allowed(settings, demands, signers_named=named is not None),
        any_policy=demands.any_policy,
    )


def _signers(repository: Repository, base: Base, settings: Settings) -> bytes | None:
    """The signers whom the base's policy names; None where it names none."""
    if not settings.seal.signers:
        return None
    lines: list[bytes] = []
    for named in settings.seal.signers:
        content = named.encode() if is_signer_line(named) else repository.read_file(base.commit, named)
        if content is None:
            raise VerifyError(
                f"{base.name} names signers in '{named}', but has no such file.",
                hint=f"Commit it to {base.name}, in the format described under ALLOWED SIGNERS in ssh-keygen(1).",
            )
        lines.append(content)
    return b"\n".join(lines) + b"\n"


def _allowed(settings: Settings, demands: Demands, *, signers_named: bool) -> frozenset[Allowance]:
    allowed = {*settings.seal.allow, *demands.allow}
    if settings.gate.unproven is Unproven.WARN:
        allowed.add(Allowance.UNPROVEN)
    if signers_named:  # no flag makes up for a signature that the base asks for
        allowed.discard(Allowance.UNSIGNED)
    return frozenset(allowed)


def _without_merge_base(repository: Repository, question: _Question) -> str:
    if question.merge_base is None:
        shallow = " This clone is shallow: fetch the history with `git fetch --unshallow`."
        told = f"{question.commit[:12]} and {question.base} have no common commit here."
        return told + (shallow if repository.is_shallow else "")
    if question.merge_base == question.commit:
        return (
            f"{question.commit[:12]} is already part of {question.base}. Use --base to name what it was merged "
            f"into, such as --base {question.commit[:12]}^1."
        )
    return ""


def _verdict(
    repository: Repository, ledger: Ledger | None, question: _Question, seal: StoredSeal, unsealed: Verification
) -> Verification:
    verification = replace(unsealed, seal=seal)
    broken = damage(seal, question.tree)
    statement = seal.statement
    if broken or statement is None:
        return replace(verification, reason=broken)
    verification = replace(verification, notes=tuple(_notes(statement)))
    try:
        for check in _CHECKS:
            check(question, statement)
            verification = replace(verification, passed=verification.passed + 1)
        _check_files(repository, statement)
        signer = _check_signature(question, seal)
        known = ledger is not None and ledger.version(stream_of(statement.run)) > 0
        if ledger is not None and known:
            _check_run(load_run(ledger, statement.run), seal, statement)
    except _RefusedError as refused:
        return replace(verification, reason=str(refused))
    except BurnishError as error:
        return replace(verification, reason=f"The run of the seal cannot be checked: {error.message}")
    return _vouched(question, statement, verification, signer=signer, known=known)


def _vouched(
    question: _Question, statement: Statement, verification: Verification, *, signer: str, known: bool
) -> Verification:
    """A seal that is as it should be counts only where something else than the seal says so."""
    kinds = ", ".join(kind.value for kind in statement.kinds)
    words = f"{kinds.capitalize()} by run {statement.run} under protocol '{_quoted(statement.protocol.name)}'."
    if _is_reported(statement):
        words += f" {question.base} does not enforce the gate: [gate] enforce = false."
    if signer:
        return replace(
            verification, ok=True, reason=f"{words} Signed by {signer}.", signer=signer, vouched_by="signature"
        )
    if known:
        return replace(verification, ok=True, reason=words, vouched_by="ledger")
    note = (
        f"The ledger of this repository does not know run {statement.run}, and the seal has no valid signature. "
        "It proves nothing: anyone who can write refs can create one."
    )
    if Allowance.UNSIGNED in question.allowed:
        return replace(verification, ok=True, reason=words, notes=(note, *verification.notes))
    cure = "Review the change here, or sign your seals: see 'signers' in docs/seals.md. --allow unsigned accepts it."
    return replace(verification, reason=f"{note} {cure}")


def _check_merge_base(question: _Question, statement: Statement) -> None:
    if statement.merge_base != question.merge_base:
        raise _RefusedError(
            f"The change was reviewed against {statement.merge_base[:12]}; its merge base with {question.base} is "
            f"{str(question.merge_base)[:12]}. Review it again with --base {question.base}."
        )


def _check_kinds(question: _Question, statement: Statement) -> None:
    if _is_reported(statement) and question.settings.gate.enforce:
        raise _RefusedError(
            f"The change did not pass the gate: its seal is of kind reported, and {question.base} enforces the gate. "
            "Fix what was found, and review it again."
        )
    names = {SealKind.APPROVED.value, SealKind.REPORTED.value, *(allowance.value for allowance in question.allowed)}
    refused = [kind for kind in statement.kinds if kind.value not in names]
    if refused:
        flags = " ".join(f"--allow {kind.value}" for kind in refused)
        raise _RefusedError(
            f"The seal is of kind {', '.join(kind.value for kind in statement.kinds)}, which {question.base} does "
            f"not allow. {flags} accepts it."
        )


def _check_protocol(question: _Question, statement: Statement) -> None:
    if question.protocol and statement.protocol.digest != question.protocol and not _is_local(statement):
        raise _RefusedError(
            f"The seal was made under the protocol '{_quoted(statement.protocol.name)}', not under "
            f"'{question.required.protocol}' as it is in {question.base}."
        )


def _is_local(statement: Statement) -> bool:
    """Whether the seal says that policy and agents are not the base's. Then only that kind must be allowed."""
    return SealKind.LOCAL_POLICY in statement.kinds


def _is_reported(statement: Statement) -> bool:
    """Whether the seal says no more than that a review took place: what it found is for people to read."""
    return SealKind.REPORTED in statement.kinds


def _check_policy(question: _Question, statement: Statement) -> None:
    if question.any_policy or _is_local(statement):
        return
    policy = statement.policy
    own = (PolicyOrigin.USER, PolicyOrigin.BUILT_IN)
    origins = [origin.value for origin in ((PolicyOrigin.BASE,) if question.required.has_policy else own)]
    if policy.gate != question.required.gate or policy.origin not in origins:
        raise _RefusedError(
            f"The change was reviewed under another policy (from: {_quoted(policy.origin)}) than that of "
            f"{question.base}. Review it again."
        )
    if policy.deviations:
        keys = ", ".join(map(_quoted, policy.deviations))
        raise _RefusedError(f"The review did not follow the policy of {question.base} in {keys}.")


def _check_reviewers(question: _Question, statement: Statement) -> None:
    if question.any_policy or _is_local(statement):
        return
    answered = {review.reviewer: review.agent for review in statement.reviewers}
    unmet = question.required.unmet(answered)
    if unmet:
        seat = unmet[0]
        wanted = " or ".join(dict.fromkeys(agent.name for agent in question.required.reviewers[seat]))
        found = f"'{_quoted(answered[seat].name)}' answered" if seat in answered else "no agent answered"
        more = f" The same applies to {', '.join(unmet[1:])}." if unmet[1:] else ""
        raise _RefusedError(
            f"{question.base} requires the agent '{wanted}' as {seat}, with its settings; {found}.{more} Set "
            f"another agent in burnish.toml of {question.base}, or accept any with --any-policy."
        )


def _check_evidence(question: _Question, statement: Statement) -> None:
    """A seal that lists gaps must say so in its kind, which must be allowed."""
    if _is_reported(statement):
        return
    below = [file for file in statement.files if not file.enough]
    if not statement.files or (below and not {SealKind.UNPROVEN, SealKind.ACCEPTED} & set(statement.kinds)):
        named = _quoted(below[0].path) if below else "any file"
        raise _RefusedError(f"The seal contradicts itself: it does not show that {named} was examined.")
    unexcused = [review for review in statement.reviewers if review.missing and not review.excused]
    if unexcused and SealKind.APPROVED in statement.kinds:
        raise _RefusedError(f"The seal contradicts itself: {unexcused[0].reviewer} had no evidence.")
    accepted = {"", ValidationStatus.SKIPPED.value} if not question.settings.validate.commands else set[str]()
    if statement.validation not in {ValidationStatus.PASSED.value, *accepted}:
        raise _RefusedError(f"The [validate] commands of {question.base} did not pass on this tree.")


def _check_findings(question: _Question, statement: Statement) -> None:
    """Whatever would block is fixed, or a kind of the seal says that it is not, or the base waives it to this day."""
    if _is_reported(statement):
        return
    listed = {waiver.finding for waiver in question.settings.waivers}
    excused = {SealKind.WAIVED, SealKind.LOCAL_POLICY} & set(statement.kinds)
    for finding in statement.findings:
        if not finding.blocking:
            continue
        if finding.status in _DISMISSED and finding.id not in listed and not excused:
            raise _RefusedError(f"{question.base} does not waive the finding {finding.id}: {_quoted(finding.title)}.")
        if finding.status is FindingStatus.OPEN and SealKind.ACCEPTED not in statement.kinds:
            raise _RefusedError(f"The seal contradicts itself: a blocking finding is open: {_quoted(finding.title)}.")


_CHECKS: Sequence[Callable[[_Question, Statement], None]] = (
    _check_merge_base,
    _check_kinds,
    _check_protocol,
    _check_policy,
    _check_reviewers,
    _check_evidence,
    _check_findings,
)


def _check_files(repository: Repository, statement: Statement) -> None:
    problem = differences(repository, statement)
    if problem:
        raise _RefusedError(f"The seal does not list the change correctly: {problem}.")


def _check_signature(question: _Question, seal: StoredSeal) -> str:
    """Who signed the seal, of those whose signature counts; nothing where no signature is asked for."""
    signer = ""
    for signers in question.signers:
        if not seal.signature:
            raise _RefusedError("The seal is not signed, and a signature is required.")
        found = signer_of(seal.body, seal.signature, signers)
        if found is None:
            raise _RefusedError("The seal is signed, but not by an allowed signer.")
        signer = signer or found
    return signer


def _check_run(run: Run, seal: StoredSeal, statement: Statement) -> None:
    """The run that the ledger knows by this name made this very seal."""
    if run.outcome not in (Outcome.APPROVED, Outcome.ACCEPTED) and not run.is_reported:
        state = f"has ended {run.outcome.value}" if run.outcome else "has not ended"
        raise _RefusedError(f"The ledger contradicts the seal: run {run.id} {state}.")
    made_by = [(review.reviewer, review.agent) for review in run.last_answered]
    made = (run.seal, run.tree, run.seal_kinds, context_of(run).merge_base, made_by)
    claimed_by = [(review.reviewer, review.agent.name) for review in statement.reviewers]
    if made != (seal.digest, statement.tree, statement.kinds, statement.merge_base, claimed_by):
        raise _RefusedError(f"The ledger contradicts the seal: run {run.id} did not make it.")


def _notes(statement: Statement) -> Iterator[str]:
    if _is_reported(statement):
        yield "NOT APPROVED: the change did not pass the gate"
        yield from (
            f"open: {finding.severity.value}, {_quoted(finding.title)}"
            + (f" in {_quoted(finding.file)}" * bool(finding.file))
            for finding in statement.findings
            if finding.blocking and finding.status is FindingStatus.OPEN
        )
        if statement.validation == ValidationStatus.FAILED.value:
            yield "the [validate] commands failed"
    for file in statement.files:
        if not file.enough:
            yield f"{_quoted(file.path)}: {file.level.words}"
    for review in statement.reviewers:
        if review.missing:
            yield f"{_quoted(review.reviewer)} had no evidence: {_quoted(review.missing)}"
    for finding in statement.findings:
        if finding.status in _DISMISSED:
            place = f" in {_quoted(finding.file)}" if finding.file else ""
            told = f"{finding.status.value}: {finding.severity.value}, {_quoted(finding.title)}{place}"
            yield f"{told} ({_quoted(finding.note)})" if finding.note else told


def _quoted(text: str) -> str:
    """A text of the seal, which anyone can have written, for one line of a terminal."""
    line = " ".join(clean_text(text).split())
    return line if len(line) <= _TEXT else f"{line[:_TEXT]}…"


def read_signers(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise VerifyError(
            f"The allowed signers in '{path}' cannot be read: {error.strerror}.",
            hint="See ALLOWED SIGNERS in ssh-keygen(1).",
        ) from None
