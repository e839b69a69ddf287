"""`burnish trust`: let settings count that only the working tree has."""

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypedDict

import click

from burnish.cli.options import base_option
from burnish.report.output import at_terminal, flat, print_error, print_json, print_line
from burnish.settings.permissions import Effect
from burnish.settings.trust import Trusted, TrustError, TrustStore, file_digest
from burnish.usecases.plan_run import refuse_inside
from burnish.usecases.trust_settings import (
    WorkingContent,
    base_of,
    is_trusted,
    repository_name,
    store_for,
    trust,
    trustable,
)
from burnish.workspace.repository import Repository

_HELP = """Trust the settings of this working tree, exactly as they are now.

burnish reads its settings from the base of a change, so that a change cannot weaken its own gate. If the base has none,
settings in the working tree that run commands, give agents variables or weaken the gate apply only if you trust them:
burnish.toml and every file that it names. If the content changes, you have to trust it again. Trust is stored outside
the repository.

The command shows what would be used, then asks. Without a terminal it needs --yes.

Exit codes: 0 trusted, or nothing needs trust; 1 not trusted; 2 usage."""
_LONGEST_VALUE = 200


class PolicyBaseObject(TypedDict):
    name: str
    commit: str | None


class SensitiveObject(TypedDict):
    key: str
    value: Any
    effect: Annotated[str, Effect]
    """The worst that the setting can do."""


class TrustObject(TypedDict):
    """What `burnish trust` prints."""

    version: int
    repository: str
    base: PolicyBaseObject
    needs_trust: bool
    trusted: bool
    digest: str | None
    """Of all the content that needs trust."""
    files: dict[str, str]
    """The digest of each file, by its path."""
    settings: list[SensitiveObject]


class TrustedObject(TypedDict):
    repository: str
    digest: str
    files: list[str]
    trusted_at: str
    """Date and time, in UTC."""


class TrustListObject(TypedDict):
    """What `burnish trust --list` prints."""

    version: int
    trusted: list[TrustedObject]


class RevokedObject(TypedDict):
    """What `burnish trust --revoke` prints."""

    version: int
    revoked: list[TrustedObject]


@click.command("trust", help=_HELP)
@base_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--show", is_flag=True, help="Show what needs trust and whether you trust it; change nothing.")
@click.option("--list", "listing", is_flag=True, help="List everything you trust, in all repositories.")
@click.option("--revoke", is_flag=True, help="Revoke all trust in this repository.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object. Never prompts.")
def trust_command(*, base: str | None, yes: bool, show: bool, listing: bool, revoke: bool, as_json: bool) -> int:
    refuse_inside(os.environ, "trusts nothing")
    if sum((yes, show, listing, revoke)) > 1:
        raise click.UsageError("--yes, --show, --list and --revoke cannot be combined.")
    if listing:
        return _list(TrustStore(os.environ).entries(), as_json=as_json)
    repository = Repository.discover(Path.cwd())
    if revoke:
        return _revoke(repository, as_json=as_json)
    content = trustable(repository, base_of(repository, base), os.environ)
    trusted = bool(content.files) and is_trusted(repository, content, os.environ)
    if show or trusted or not content.files:
        return _show(content, trusted=trusted, as_json=as_json)
    if not (yes or (at_terminal() and not as_json)):
        raise TrustError(
            "burnish cannot ask: there is no terminal.",
            hint=f"Review it with '{content.command} --show', then trust it with '{content.command} --yes'.",
        )
    if not yes and not ask_trust(content):
        print_error("Nothing was trusted.")
        return 1
    trust(repository, content, os.environ)
    return _show(content, trusted=True, as_json=as_json, in_full=yes)


def ask_trust(content: WorkingContent) -> bool:
    """Show what a working tree would do, and ask whether that is trusted."""
    for line in _lines(content):
        print_error(line)
    print_error("Trust exactly this content? [y/N]")
    try:
        return input().strip().lower() in ("y", "yes")
    except EOFError:
        return False


def _show(content: WorkingContent, *, trusted: bool, as_json: bool, in_full: bool = True) -> int:
    if as_json:
        print_json(_view(content, trusted=trusted))
    elif not content.files:
        print_line(f"Nothing needs your trust: {content.base.name} has every setting that applies.")
    else:
        for line in _lines(content) if in_full else ():
            print_line(line)
        print_line(
            "You trust this content." if trusted else f"You do not trust this content. To trust it: {content.command}"
        )
    return 0 if trusted or not content.files else 1


def _lines(content: WorkingContent) -> Iterator[str]:
    yield f"{content.base.name} does not have these files; burnish would use those of the working tree:"
    for name, data in content.files.items():
        yield f"  {flat(name)}  sha256 {file_digest(data)[:16]}"
    if content.sensitive:
        yield "They set:"
    for each in content.sensitive:
        value = json.dumps(each.value, ensure_ascii=False)
        shown = value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}…"
        yield f"  {flat(each.key)} = {flat(shown)}  ({each.effect.value})"


def _view(content: WorkingContent, *, trusted: bool) -> TrustObject:
    return {
        "version": 1,
        "repository": content.repository,
        "base": {"name": content.base.name, "commit": content.base.commit or None},
        "needs_trust": bool(content.files),
        "trusted": trusted,
        "digest": content.digest if content.files else None,
        "files": {name: file_digest(data) for name, data in content.files.items()},
        "settings": [{"key": each.key, "value": each.value, "effect": each.effect.value} for each in content.sensitive],
    }


def _list(entries: tuple[Trusted, ...], *, as_json: bool) -> int:
    if as_json:
        print_json(TrustListObject(version=1, trusted=[_entry(each) for each in entries]))
        return 0
    for each in entries:
        print_line(f"{flat(each.repository)}  {_day(each)}  sha256 {each.digest[:16]}  {flat(', '.join(each.files))}")
    if not entries:
        print_line("You trust nothing.")
    return 0


def _revoke(repository: Repository, *, as_json: bool) -> int:
    removed = store_for(repository, os.environ).remove(repository_name(repository))
    if as_json:
        print_json(RevokedObject(version=1, revoked=[_entry(each) for each in removed]))
    else:
        count = "1 content is" if len(removed) == 1 else f"{len(removed)} contents are"
        print_line(f"{count} no longer trusted." if removed else "You had trusted nothing here.")
    return 0


def _entry(each: Trusted) -> TrustedObject:
    return {
        "repository": each.repository,
        "digest": each.digest,
        "files": list(each.files),
        "trusted_at": datetime.fromtimestamp(each.trusted_at, UTC).isoformat(timespec="seconds"),
    }


def _day(each: Trusted) -> str:
    return datetime.fromtimestamp(each.trusted_at, UTC).strftime("%Y-%m-%d")
