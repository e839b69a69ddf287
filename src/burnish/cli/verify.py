"""`burnish verify`: for people, pre-push hooks and CI."""

import os
from pathlib import Path

import click

from burnish.cli.output import print_json, say
from burnish.core.state import SealKind
from burnish.usecases.verifying import Demands, verify
from burnish.workspace.repository import Repository
from burnish.workspace.seals import Verdict

_HELP = """Does the exact tree of REF (default: HEAD) carry a seal that holds?

The seal must be of kind 'approved', made under the protocol that the base's burnish.toml names, with the policy read
from the base. Change one byte, and the seal is void.

Exit codes: 0 sealed, 1 not, 2 usage."""


@click.command("verify", help=_HELP)
@click.argument("ref", default="HEAD")
@click.option("--base", metavar="REF", help="Whose policy must have governed. Default: origin/HEAD, main, master.")
@click.option("--protocol", metavar="P", help="Ask for this protocol instead of the policy's.")
@click.option("--any-protocol", is_flag=True, help="Any protocol will do.")
@click.option("--any-policy", is_flag=True, help="Any origin of the policy will do.")
@click.option(
    "--allow",
    multiple=True,
    type=click.Choice([SealKind.ACCEPTED.value, SealKind.SELF_REVIEWED.value]),
    help="Other kinds of seals that will do. Repeatable.",
)
@click.option("--signers", metavar="FILE", type=click.Path(path_type=Path), help="Allowed signers, for ssh-keygen.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def verify_command(
    ref: str,
    *,
    base: str | None,
    protocol: str | None,
    any_protocol: bool,
    any_policy: bool,
    allow: tuple[str, ...],
    signers: Path | None,
    as_json: bool,
) -> int:
    demands = Demands(
        base=base,
        protocol=protocol,
        any_protocol=any_protocol,
        any_policy=any_policy,
        kinds=(SealKind.APPROVED, *(SealKind(kind) for kind in allow)),
        signers=signers,
    )
    verdict = verify(Repository.discover(Path.cwd()), ref, demands, os.environ)
    _show(ref, verdict, as_json=as_json)
    return 0 if verdict.ok else 1


def _show(ref: str, verdict: Verdict, *, as_json: bool) -> None:
    if not as_json:
        say(f"{ref}: {'sealed' if verdict.ok else 'not sealed'}. {verdict.reason}")
        return
    seal = None if verdict.seal is None else {"ref": verdict.seal.ref, "digest": verdict.seal.digest}
    print_json({"version": 1, "ref": ref, "sealed": verdict.ok, "reason": verdict.reason, "seal": seal})
