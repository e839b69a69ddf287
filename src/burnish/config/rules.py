"""Rules that the types of the settings cannot hold. Each fault names its key and says what to do."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from burnish.config.settings import AUTO, NO_FALLBACK, OFF, AgentSettings, RoleChoice, Settings
from burnish.core.findings import Severity
from burnish.protocols.checking import Mismatch, did_you_mean, quoted
from burnish.protocols.positions import KeyPath

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SIGNER = re.compile(r"\S\s+(?:\S.*\s)?(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[a-z0-9@.-]+\s+AAAA")
_RULE = re.compile(r"[a-z][a-z-]*:\S+")
_RESERVED_NAMES = (NO_FALLBACK, "false", "true", "null", "review", "fix", "build", "default")
_NAME_HINT = "Use letters, digits, '.', '_' and '-', at most 64; the names of roles and 'none' mean something else."


def faults(settings: Settings) -> tuple[Mismatch, ...]:
    """Everything that is wrong with settings whose types are right."""
    return (
        *_protocol_faults(settings),
        *_variable_faults(("allow_environment",), settings.allow_environment),
        *_agent_faults(settings),
        *_role_faults(settings),
        *_number_faults(settings),
        *_command_faults(settings),
        *_path_faults(settings),
        *_analyser_faults(settings),
        *_seal_faults(settings),
    )


def choices(settings: Settings) -> Iterator[tuple[KeyPath, RoleChoice]]:
    """Every choice of an agent, with its key."""
    roles = settings.roles
    for name, choice in (("default", roles.default), ("review", roles.review), ("fix", roles.fix)):
        yield ("roles", name), choice
    yield ("roles", "build"), roles.build
    for name, choice in roles.reviewers.items():
        yield ("roles", "reviewers", name), choice
    levels = roles.complexity
    for level, table in (("low", levels.low), ("medium", levels.medium), ("high", levels.high)):
        for name, choice in table.items():
            yield ("roles", "complexity", level, name), choice


def unknown_agent(settings: Settings, name: str) -> tuple[str, str]:
    """Message and hint for an agent that nobody knows."""
    hint = did_you_mean(name, settings.agent_names) or (
        f"Add a table [agents.{name}]; known so far: {quoted(settings.agent_names)}."
    )
    return f"there is no agent '{name}'.", hint


def own_fallback(name: str) -> tuple[str, str]:
    """Message and hint for an agent that is to follow itself."""
    return f"'{name}' cannot follow itself.", "Name another agent, or write fallback = false."


def _protocol_faults(settings: Settings) -> Iterator[Mismatch]:
    if not settings.protocol.strip():
        hint = "Name a built-in protocol, or the path of your own."
        yield Mismatch(path=("protocol",), message="the name is empty.", hint=hint)


def _agent_faults(settings: Settings) -> Iterator[Mismatch]:
    for name, agent in settings.agents.items():
        path: KeyPath = ("agents", name)
        if not _NAME.fullmatch(name) or name in _RESERVED_NAMES:
            yield Mismatch(path=path, message=f"'{name}' cannot be the name of an agent.", hint=_NAME_HINT)
        yield from _agent_command_faults(path, agent)
        yield from _variable_faults((*path, "environment"), agent.environment)


def is_variable(name: str) -> bool:
    """Whether a name can be that of a variable of the user's."""
    return _VARIABLE.fullmatch(name) is not None and not name.startswith("BURNISH_")


def _variable_faults(path: KeyPath, names: tuple[str, ...]) -> Iterator[Mismatch]:
    for index, variable in enumerate(names):
        if not is_variable(variable):
            message = f"'{variable}' cannot be let through."
            hint = "Write the name of one variable; those that begin with BURNISH_ are set by burnish."
            yield Mismatch(path=(*path, index), message=message, hint=hint)


def _agent_command_faults(path: KeyPath, agent: AgentSettings) -> Iterator[Mismatch]:
    here: KeyPath = (*path, "command")
    if not agent.command and agent.kind.needs_command:
        hint = 'Name the program and its arguments: command = ["./review.sh"].'
        yield Mismatch(path=here, message=f"missing; kind '{agent.kind.value}' needs it.", hint=hint)
    if agent.command and not agent.command[0].strip():
        yield Mismatch(path=here, message="the program is empty.", hint="Name the program first.")
    for index, part in enumerate(agent.command):
        climbs = part.startswith("../") or (index in agent.relative_parts and ".." in PurePosixPath(part).parts)
        if climbs:
            hint = "Files of the repository are run as they are in the base; for others write the absolute path."
            yield Mismatch(path=(*here, index), message=f"'{part}' leads out of the repository.", hint=hint)


def _role_faults(settings: Settings) -> Iterator[Mismatch]:
    for path, choice in choices(settings):
        named = [("agent", choice.agent)] if choice.agent else []
        if choice.fallback not in (None, NO_FALLBACK):
            named.append(("fallback", str(choice.fallback)))
        for key, name in named:
            if settings.agent(name) is None:
                message, hint = unknown_agent(settings, name)
                yield Mismatch(path=(*path, key), message=message, hint=hint)
        if choice.agent and choice.agent == choice.fallback:
            message, hint = own_fallback(choice.agent)
            yield Mismatch(path=(*path, "fallback"), message=message, hint=hint)
    for index, name in enumerate(settings.roles.by_round):
        if settings.agent(name) is None:
            message, hint = unknown_agent(settings, name)
            yield Mismatch(path=("roles", "by_round", index), message=message, hint=hint)


def _number_faults(settings: Settings) -> Iterator[Mismatch]:
    timeouts, context = settings.timeouts, settings.context
    numbers: list[tuple[KeyPath, float | None]] = [
        (("timeouts", "agent"), timeouts.agent),
        (("timeouts", "silent"), timeouts.silent),
        (("timeouts", "validation"), timeouts.validation),
        (("analysers", "test_seconds"), settings.analysers.test_seconds),
        *((("limits", cap.value), amount) for cap, amount in settings.limits.amounts.items()),
        *((("limits", "ticket", cap.value), amount) for cap, amount in settings.limits.ticket.amounts.items()),
        *((("limits", "epic", cap.value), amount) for cap, amount in settings.limits.epic.amounts.items()),
        (("workspace", "file_megabytes"), settings.workspace.file_megabytes),
        (("keep", "days"), settings.keep.days),
        (("keep", "megabytes"), settings.keep.megabytes),
        (("context", "diff_characters"), context.diff_characters),
        (("context", "output_characters"), context.output_characters),
    ]
    for name, agent in settings.agents.items():
        limits_of_agent = (("timeout", agent.timeout), ("silent", agent.silent), ("max_turns", agent.max_turns))
        numbers += [(("agents", name, key), number) for key, number in limits_of_agent]
    for path, number in numbers:
        if number is not None and number <= 0:
            message = f"expected more than 0, got {str(number)[:40]}."
            yield Mismatch(path=path, message=message, hint="Leave it out for the default.")
    floor = settings.validate.coverage_floor
    if floor is not None and not 0 <= floor <= 100:
        message = f"expected 0 to 100, got {str(floor)[:40]}."
        yield Mismatch(path=("validate", "coverage_floor"), message=message, hint="It is a share in percent.")


def _command_faults(settings: Settings) -> Iterator[Mismatch]:
    for name, command in settings.validate.commands.items():
        if not any(part.strip() for part in (command.line, *command.argv[:1])):
            hint = "Write the command, or leave the key out."
            yield Mismatch(path=("validate", "commands", name), message="the command is empty.", hint=hint)
    for index, line in enumerate(settings.workspace.prepare):
        if not line.strip():
            hint = "Write the command, or leave it out."
            yield Mismatch(path=("workspace", "prepare", index), message="the command is empty.", hint=hint)


def _path_faults(settings: Settings) -> Iterator[Mismatch]:
    globs: list[tuple[KeyPath, str]] = [
        *((("workspace", "seed", index), glob) for index, glob in enumerate(settings.workspace.seed)),
        *((("review", "ignore", index), glob) for index, glob in enumerate(settings.review.ignore)),
        *((("analysers", "generated", index), glob) for index, glob in enumerate(settings.analysers.generated)),
        *((("review", "rules", index, "path"), rule.path) for index, rule in enumerate(settings.review.rules)),
    ]
    for path, glob in globs:
        if not glob.strip() or glob.startswith("/") or ".." in PurePosixPath(glob).parts:
            message = f"'{glob}' is no pattern for files of the repository."
            yield Mismatch(path=path, message=message, hint="Write it relative to the root, as in 'docs/**/*.md'.")
    prompts = settings.prompts
    for key, value in (("reviewer", prompts.reviewer), ("fixer", prompts.fixer), ("builder", prompts.builder)):
        if ".." in PurePosixPath(value).parts:
            hint = "Write it relative to the root of the repository, or as an absolute path."
            yield Mismatch(path=("prompts", key), message=f"'{value}' climbs out of its folder.", hint=hint)


def _analyser_faults(settings: Settings) -> Iterator[Mismatch]:
    words = (*(severity.value for severity in Severity), OFF)
    analysers = settings.analysers
    given: list[tuple[KeyPath, str]] = [
        (("analysers", "uncovered"), analysers.uncovered),
        *((("analysers", "rules", rule), severity) for rule, severity in analysers.rules.items()),
    ]
    for path, word in given:
        if word not in words:
            message = f"'{word}' is no severity."
            yield Mismatch(path=path, message=message, hint=did_you_mean(word, words) or f"Use {quoted(words)}.")
    if analysers.tests not in (AUTO, OFF):
        message = f"'{analysers.tests}' says nothing about tests."
        hint = did_you_mean(analysers.tests, (AUTO, OFF)) or f"Use {quoted((AUTO, OFF))}."
        yield Mismatch(path=("analysers", "tests"), message=message, hint=hint)
    for rule in analysers.rules:
        if not _RULE.fullmatch(rule):
            hint = 'Write the tool and its rule, or the beginning of several rules: "ruff:S3" = "low".'
            yield Mismatch(path=("analysers", "rules", rule), message=f"'{rule}' names no rule of a tool.", hint=hint)


def _seal_faults(settings: Settings) -> Iterator[Mismatch]:
    for index, signer in enumerate(settings.seal.signers):
        if not signer.strip() or "\n" in signer or (not is_signer_line(signer) and not _is_in_repository(signer)):
            hint = "Write the path of a file of the repository, or one line of an allowed-signers file (ssh-keygen(1))."
            yield Mismatch(path=("seal", "signers", index), message=f"'{signer}' names no signers.", hint=hint)
    for index, waiver in enumerate(settings.waivers):
        for key, text in (("finding", waiver.finding), ("reason", waiver.reason)):
            if not text.strip():
                hint = "'burnish findings RUN waive ID --reason TEXT' prints the lines to add."
                yield Mismatch(path=("waivers", index, key), message="it is empty.", hint=hint)


def is_signer_line(text: str) -> bool:
    """Whether a text is a line of an allowed-signers file, rather than the path of one: it holds a key."""
    return _SIGNER.search(text) is not None


def _is_in_repository(path: str) -> bool:
    return not path.startswith("/") and ".." not in PurePosixPath(path).parts
