"""`burnish init`: set up burnish for a repository."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from burnish.report.account import NextStep
from burnish.report.live import StatusLine
from burnish.report.output import at_terminal, print_error, print_line
from burnish.report.words import step_words
from burnish.usecases.init_repository import CiSystem, Extra, Initialised, InitRequest, InitSurface, init_repository

_HELP = """Set up burnish for this repository: look at it, try its tests, and write burnish.toml.

burnish shows the file before it writes it, and asks at most three questions. With --yes, or without a terminal, it asks
none and says what it chose. An existing file is never changed. No model, hook or CI is added unless you say so.

\b
burnish init                    look, ask, write
burnish init --dry-run          only show what would be written
burnish init --yes --hook       no questions; from now on, git push needs a valid seal
burnish init --ci github        also write the workflow that checks every pull request
burnish init --skill            also write the skill for coding agents
burnish init --tests 'make check'

Exit codes: 0 written, 1 you declined, 2 there is a burnish.toml already, or nothing can be set up here."""


_LEFT_OUT = {
    Extra.HOOK: "the pre-push hook (burnish hook install pre-push)",
    Extra.CI: "the check in CI (burnish init --ci {ci})",
    Extra.SKILL: "the skill for coding agents (burnish init --skill)",
}


@click.command("init", help=_HELP)
@click.option("--yes", is_flag=True, help="Ask nothing.")
@click.option("--dry-run", is_flag=True, help="Show burnish.toml, and write nothing.")
@click.option("--tests", metavar="COMMAND", default="", help="The command that runs the tests.")
@click.option("--agent", metavar="NAME", default="", help="A model client that reviews and fixes, too. Costs money.")
@click.option("--hook", is_flag=True, help="Also install the pre-push hook: git push needs a valid seal.")
@click.option(
    "--ci", type=click.Choice([system.value for system in CiSystem]), help="Also write the check for GitHub or GitLab."
)
@click.option("--skill", is_flag=True, help="Also write the skill for coding agents.")
def init(*, yes: bool, **options: Any) -> int:
    asked = {Extra.HOOK: options["hook"], Extra.CI: options["ci"], Extra.SKILL: options["skill"]}
    request = InitRequest(
        tests=options["tests"],
        agent=options["agent"],
        extras=tuple(extra for extra, wanted in asked.items() if wanted),
        ci=CiSystem(options["ci"]) if options["ci"] else None,
        dry_run=options["dry_run"],
    )
    interactive = at_terminal() and not yes and not request.dry_run
    status = StatusLine()

    def tell(line: str) -> None:
        status.clear()
        print_line(line)

    surface = InitSurface(tell=tell, show=_show, progress=status.update, ask=_ask if interactive else None)
    try:
        done = init_repository(Path.cwd(), os.environ, request, surface)
    finally:
        status.clear()
    if done.declined:
        print_line("Nothing was written.")
        return 0 if request.dry_run else 1
    for line in _end(done, interactive=interactive):
        print_line(line)
    return 0


def _show(text: str) -> None:
    print_line(text.rstrip("\n"))


def _ask(question: str) -> str:
    print_error(question)
    try:
        return input()
    except EOFError:
        raise click.Abort from None


def _end(done: Initialised, *, interactive: bool) -> Iterator[str]:
    """What was written, what was chosen without a question, what makes it count, and the one next step."""
    yield from (f"wrote {name}" for name in done.written)
    if not interactive and done.wrote_policy:
        models = f"a model (--agent {' or '.join(done.usable_models)})" if done.usable_models else ""
        ci = done.ci.value if done.ci else ""
        left = [*filter(None, [models]), *(_LEFT_OUT[extra].format(ci=ci) for extra in done.left_out)]
        if left:
            yield "Nothing was asked, so these were left out:"
            yield from (f"  {each}" for each in left)
    base = done.base or "the base"
    if done.wrote_policy:
        yield f"burnish.toml counts once it is committed on {base}. Until then it is used only after 'burnish trust'."
    yield from done.to_do
    if done.written:
        seal = ". A push needs a seal from now on: burnish review && git push" if done.hook else ""
        where = (f"; then bring it to {base}" if done.needs_more else "") + seal
        step = NextStep(
            command=f'git add {" ".join(done.written)} && git commit --message "Review changes with burnish"',
            does=f"commits what was written{where}",
        )
        yield from step_words(step)
