"""A group of commands that are loaded when they are called. Help is shown without loading any of them."""

import difflib
import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import click


class LazyCommand(NamedTuple):
    """A command by where it is: `package.module:attribute`, the section of the help, and its line there.

    One without a section is for burnish itself: no help and no completion names it.
    """

    target: str
    section: str
    help: str


class LazyGroup(click.Group):
    """Sections appear in the order of their first command; a section without a command does not appear."""

    def __init__(
        self,
        name: str,
        lazy: Mapping[str, LazyCommand],
        *,
        help_text: str,
        same: Mapping[str, str] | None = None,
        other_names: Mapping[str, str] | None = None,
        alone: str = "",
    ) -> None:
        """`same`: second names of commands. `other_names`: what other tools call a command, and the command that does
        it here. `alone`: what the group does without a command, as `package.module:attribute`; else it shows its help.
        """
        super().__init__(
            name,
            help=help_text,
            no_args_is_help=not alone,
            invoke_without_command=bool(alone),
            callback=self._run_alone if alone else None,
            context_settings={"help_option_names": ["-h", "--help"]},
        )
        self._lazy = dict(lazy)
        self._same = dict(same or {})
        self._other_names = dict(other_names or {})
        self._alone = alone

    def _run_alone(self, **options: object) -> int:
        del options
        context = click.get_current_context()
        return 0 if context.invoked_subcommand is not None else _loaded(self._alone)(context)

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx  # the commands are the same in every context
        return [name for name, command in self._lazy.items() if command.section]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in self._lazy:
            return None
        target = self._lazy[cmd_name].target
        command: object = _loaded(target)
        if not isinstance(command, click.Command):
            raise TypeError(f"{target} is not a command.")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = self._same.get(args[0], args[0])
        args = [name, *args[1:]]
        if name not in self._lazy and not name.startswith("-"):
            known = self._other_names.get(name)
            close = [known] if known else difflib.get_close_matches(name, self._lazy, n=1)
            question = f" Did you mean '{close[0]}'?" if close else ""
            raise click.UsageError(f"There is no command '{name}'.{question}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self._lazy[name]
            sections.setdefault(command.section, []).append((name, command.help))
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)


def _loaded(target: str) -> Any:
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)
