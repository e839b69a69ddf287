"""`burnish verify`: for people, pre-push hooks and CI."""

import os
import shlex
from pathlib import Path
from typing import Annotated, Any, TypedDict

import click

from burnish.cli.options import base_option, json_option, person
from burnish.core.state import SealKind
from burnish.report.json_objects import break_glass_object
from burnish.report.json_types import BreakGlassObject
from burnish.report.output import print_error, print_json, print_line
from burnish.report.words import glass_words
from burnish.settings.types import Allowance
from burnish.usecases.break_glass import break_glass, check_reason
from burnish.usecases.trust_settings import target_in_ci
from burnish.usecases.verify_seal import Demands, Verification, read_signers, verify
from burnish.workspace.repository import Repository
from burnish.workspace.seals import StoredSeal

_SHARE = "git push origin 'refs/burnish/break-glass/*:refs/burnish/break-glass/*'"
_HELP = """Check that the exact tree of REF (default: HEAD) has a valid seal.

The seal must be of kind 'approved', made against the merge base of REF and its base, and under the protocol, policy and
reviewers that burnish.toml of the base names. If one byte changes, the seal is no longer valid.

The ledger of this repository must agree, or a signer of the base's policy must have signed the seal. An unsigned seal
from elsewhere proves nothing.

In an emergency, --break-glass --reason TEXT exits with 0 without a valid seal. It records who did so, when and why, and
what was missing; later calls of 'verify' and 'show' display that, and refuse the tree again.

\b
burnish verify                  the commit that is checked out
burnish verify --base origin/main topic

Exit codes: 0 sealed, 1 not sealed, 2 usage or configuration, 4 the ledger cannot be read."""


class StoredSealObject(TypedDict):
    ref: str
    digest: str
    run: str | None
    """The run that made it; null if the seal cannot be read."""
    kinds: list[Annotated[str, SealKind]]


class VerificationObject(TypedDict):
    """What `burnish verify` prints."""

    version: int
    ref: str
    """What was asked for."""
    sealed: bool
    reason: str
    notes: list[str]
    commit: str
    tree: str
    base: str
    merge_base: str | None
    enforced: bool
    """False if the base's policy only reports."""
    break_glass: list[BreakGlassObject]
    vouched_by: str | None
    """`ledger` or `signature`; null if nothing vouches for the seal."""
    signer: str | None
    seal: StoredSealObject | None
    """The seal that was looked at."""
    went_ahead: bool
    """With `--break-glass`: whether it went ahead without a valid seal."""


@click.command("verify", help=_HELP)
@click.argument("ref", default="HEAD")
@base_option
@click.option("--protocol", metavar="P", help="Require this protocol instead of the policy's.")
@click.option("--any-protocol", is_flag=True, help="Accept any protocol.")
@click.option("--any-policy", is_flag=True, help="Accept any policy and any reviewers.")
@click.option(
    "--allow",
    multiple=True,
    type=click.Choice([allowance.value for allowance in Allowance]),
    help="Also accept this kind of seal. Repeatable.",
)
@click.option(
    "--signers", metavar="FILE", type=click.Path(path_type=Path), help="Also require a signature by one of these."
)
@click.option("--break-glass", "emergency", is_flag=True, help="Exit with 0 without a valid seal, and record it.")
@click.option("--reason", metavar="TEXT", help="With --break-glass: why this cannot wait.")
@json_option
def verify_command(
    ref: str,
    *,
    allow: tuple[str, ...],
    signers: Path | None,
    emergency: bool,
    reason: str | None,
    as_json: bool,
    **demands: Any,
) -> int:
    if reason is not None and not emergency:
        raise click.UsageError("--reason belongs to --break-glass.")
    text = check_reason(reason, os.environ) if emergency else ""
    repository = Repository.discover(Path.cwd())
    demands["base"] = demands["base"] or target_in_ci(repository, os.environ)
    known_signers = None if signers is None else read_signers(signers)
    asked = Demands(allow=tuple(map(Allowance, allow)), signers=known_signers, **demands)
    verification = verify(repository, ref, asked)
    broken = emergency and not verification.ok
    if broken:
        verification = break_glass(repository, verification, reason=text, by=person())
    if as_json:
        print_json(_view(ref, verification, went_ahead=broken))
    else:
        print_line(f"{ref}: {_word(verification)}. {verification.reason}")
        for note in (*verification.notes, *map(glass_words, verification.break_glass)):
            print_line(f"  {note}")
        if not verification.ok and verification.seal is None and not broken:
            words = ["burnish", "review", *([] if ref == "HEAD" else [ref])]
            base = ["--base", demands["base"]] if demands["base"] else []
            print_error(f"hint: Review it: {shlex.join([*words, *base])}")
    if broken:
        print_error(f"BREAK-GLASS: {ref} goes ahead WITHOUT a valid seal. {verification.reason}")
        print_error(f"Recorded for tree {verification.tree}. Share the record: {_SHARE}")
    elif emergency:
        print_error("note: the seal is valid, so nothing was recorded.")
    return 0 if verification.ok or broken else 1


def _word(verification: Verification) -> str:
    if not verification.ok:
        return "not sealed"
    return "reported, NOT approved" if verification.is_reported else "sealed"


def _view(ref: str, verification: Verification, *, went_ahead: bool) -> VerificationObject:
    seal = verification.seal
    return {
        "version": 1,
        "ref": ref,
        "sealed": verification.ok,
        "reason": verification.reason,
        "notes": list(verification.notes),
        "commit": verification.commit,
        "tree": verification.tree,
        "base": verification.base,
        "merge_base": verification.merge_base,
        "enforced": verification.enforced,
        "break_glass": [break_glass_object(record) for record in verification.break_glass],
        "vouched_by": verification.vouched_by or None,
        "signer": verification.signer or None,
        "seal": None if seal is None else _seal_view(seal),
        "went_ahead": went_ahead,
    }


def _seal_view(seal: StoredSeal) -> StoredSealObject:
    made = seal.statement
    run, kinds = (None, ()) if made is None else (made.run, made.kinds)
    return {"ref": seal.ref, "digest": seal.digest, "run": run, "kinds": [kind.value for kind in kinds]}
