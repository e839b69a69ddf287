"""`burnish verify`: for people, pre-push hooks and CI."""

import os
import shlex
from pathlib import Path
from typing import Any

import click

from burnish.cli.options import base_option, json_option
from burnish.report.output import print_error, print_json, print_line
from burnish.settings.types import Allowance
from burnish.usecases.trust_settings import target_in_ci
from burnish.usecases.verify_seal import Demands, Verification, read_signers, verify
from burnish.workspace.repository import Repository
from burnish.workspace.seals import StoredSeal

_HELP = """Check that the exact tree of REF (default: HEAD) has a valid seal.

The seal must be of kind 'approved', made against the merge base of REF and its base, and under the protocol, policy and
reviewers that burnish.toml of the base names. If one byte changes, the seal is no longer valid.

The ledger of this repository must agree, or a signer of the base's policy must have signed the seal. An unsigned seal
from elsewhere proves nothing.

\b
burnish verify                  the commit that is checked out
burnish verify --base origin/main topic

Exit codes: 0 sealed, 1 not sealed, 2 usage or configuration, 4 the ledger cannot be read."""


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
@json_option
def verify_command(ref: str, *, allow: tuple[str, ...], signers: Path | None, as_json: bool, **demands: Any) -> int:
    repository = Repository.discover(Path.cwd())
    demands["base"] = demands["base"] or target_in_ci(repository, os.environ)
    known_signers = None if signers is None else read_signers(signers)
    asked = Demands(allow=tuple(map(Allowance, allow)), signers=known_signers, **demands)
    verification = verify(repository, ref, asked)
    if as_json:
        print_json(_view(ref, verification))
    else:
        print_line(f"{ref}: {'sealed' if verification.ok else 'not sealed'}. {verification.reason}")
        for note in verification.notes:
            print_line(f"  {note}")
        if not verification.ok and verification.seal is None:
            words = ["burnish", "review", *([] if ref == "HEAD" else [ref])]
            base = ["--base", demands["base"]] if demands["base"] else []
            print_error(f"hint: Review it: {shlex.join([*words, *base])}")
    return 0 if verification.ok else 1


def _view(ref: str, verification: Verification) -> dict[str, Any]:
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
        "vouched_by": verification.vouched_by or None,
        "signer": verification.signer or None,
        "seal": None if seal is None else _seal_view(seal),
    }


def _seal_view(seal: StoredSeal) -> dict[str, Any]:
    made = seal.statement
    run, kinds = (None, ()) if made is None else (made.run, made.kinds)
    return {"ref": seal.ref, "digest": seal.digest, "run": run, "kinds": [kind.value for kind in kinds]}
