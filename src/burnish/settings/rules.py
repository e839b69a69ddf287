"""Rules that the types of the settings cannot hold. Each fault names its key and says what to do."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

import msgspec

from burnish.core.errors import KeyPath, Violation
from burnish.core.findings import Severity
from burnish.settings.agent_kinds import AgentKind
from burnish.settings.documents import children, did_you_mean, quoted
from burnish.settings.types import AUTO, NO_FALLBACK, OFF, PROJECT_CHECKS, AgentSettings, RoleChoice, Settings

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SIGNER = re.compile(r"\S\s+(?:\S.*\s)?(?:ssh|ecdsa|sk-ssh|sk-ecdsa)-[a-z0-9@.-]+\s+AAAA")
_RULE = re.compile(r"[a-z][a-z-]*:\S+")
_RESERVED_NAMES = (NO_FALLBACK, "false", "true", "null", "review", "fix", "build", "default")
_NAME_HINT = "Use letters, digits, '.', '_' and '-', at most 64. The names of roles and 'none' are reserved."


def faults(settings: Settings) -> tuple[Violation, ...]:
    """Everything that is wrong with settings whose types are right."""
    return (
        *_empty_texts(settings),
        *_variable_faults(("allow_environment",), settings.allow_environment),
        *_agent_faults(settings),
        *_role_faults(settings),
        *_number_faults(settings),
        *_path_faults(settings),
        *_analyser_faults(settings),
        *_seal_faults(settings),
        *_epic_faults(settings),
    )


def choices(settings: Settings) -> Iterator[tuple[KeyPath, RoleChoice]]:
    roles, levels = settings.roles, settings.roles.complexity
    for name in ("default", "review", "fix", "build"):
        yield ("roles", name), getattr(roles, name)
    for name, choice in roles.reviewers.items():
        yield ("roles", "reviewers", name), choice
    for level, table in (("low", levels.low), ("medium", levels.medium), ("high", levels.high)):
        for name, choice in table.items():
            yield ("roles", "complexity", level, name), choice


def own_fallbacks(settings: Settings) -> Iterator[Violation]:
    for path, choice in choices(settings):
        if choice.agent and choice.agent == choice.fallback:
            hint = "Choose another agent, or set fallback = false."
            yield Violation(
                path=(*path, "fallback"), message=f"'{choice.agent}' cannot be its own fallback.", hint=hint
            )


def unknown_agent(settings: Settings, name: str) -> tuple[str, str]:
    hint = did_you_mean(name, settings.agent_names) or (
        f"Add a table [agents.{name}]. Known agents: {quoted(settings.agent_names)}."
    )
    return f"there is no agent '{name}'.", hint


def _empty_texts(settings: Settings) -> Iterator[Violation]:
    protocol = "Use the name of a built-in protocol, or the path of your own."
    waiver = "'burnish findings RUN waive ID --reason TEXT' prints the lines to add."
    texts: list[tuple[KeyPath, str, str, str]] = [
        (("protocol",), settings.protocol, "the name is empty.", protocol),
        *(
            (("validate", "commands", name), command.line or "".join(command.argv[:1]), "the command is empty.", hint)
            for hint in ("Set the command, or remove the key.",)
            for name, command in settings.validate.commands.items()
        ),
        *(
            (("workspace", "prepare", index), line, "the command is empty.", "Set the command, or remove it.")
            for index, line in enumerate(settings.workspace.prepare)
        ),
        *(
            (("waivers", index, key), text, "it is empty.", waiver)
            for index, each in enumerate(settings.waivers)
            for key, text in (("finding", each.finding), ("reason", each.reason))
        ),
    ]
    for path, text, message, hint in texts:
        if not text.strip():
            yield Violation(path=path, message=message, hint=hint)


def _agent_faults(settings: Settings) -> Iterator[Violation]:
    for name, agent in settings.agents.items():
        path: KeyPath = ("agents", name)
        if not _NAME.fullmatch(name) or name in _RESERVED_NAMES:
            yield Violation(path=path, message=f"'{name}' cannot be the name of an agent.", hint=_NAME_HINT)
        yield from _agent_command_faults(path, agent)
        yield from _variable_faults((*path, "environment"), agent.environment)


def is_variable(name: str) -> bool:
    """Whether a name can be that of a variable of the user's."""
    return _VARIABLE.fullmatch(name) is not None and not name.startswith("BURNISH_")


def _variable_faults(path: KeyPath, names: tuple[str, ...]) -> Iterator[Violation]:
    for index, variable in enumerate(names):
        if not is_variable(variable):
            message = f"'{variable}' cannot be passed on."
            hint = "Use the name of one variable. burnish itself sets those that start with BURNISH_."
            yield Violation(path=(*path, index), message=message, hint=hint)


def _agent_command_faults(path: KeyPath, agent: AgentSettings) -> Iterator[Violation]:
    here: KeyPath = (*path, "command")
    if not agent.command and agent.kind.needs_command:
        hint = 'Set the program and its arguments: command = ["./review.sh"].'
        yield Violation(path=here, message=f"missing; kind '{agent.kind.value}' needs it.", hint=hint)
    if agent.command and not agent.command[0].strip():
        yield Violation(path=here, message="the program is empty.", hint="Put the program first.")
    for index, part in enumerate(agent.command):
        climbs = part.startswith("../") or (index in agent.relative_parts and ".." in PurePosixPath(part).parts)
        if climbs:
            hint = "burnish runs files of the repository as they are in the base; use absolute paths for other files."
            yield Violation(path=(*here, index), message=f"'{part}' is outside the repository.", hint=hint)


def _role_faults(settings: Settings) -> Iterator[Violation]:
    named: list[tuple[KeyPath, str]] = []
    for path, choice in choices(settings):
        named.append(((*path, "agent"), choice.agent))
        named.append(((*path, "fallback"), "" if choice.fallback in (None, NO_FALLBACK) else choice.fallback))
    named += [(("roles", "by_round", index), name) for index, name in enumerate(settings.roles.by_round)]
    for path, name in named:
        # An agent and a fallback may be left out; a fixer of a round may not.
        if (name or path[1] == "by_round") and settings.agent(name) is None:
            message, hint = unknown_agent(settings, name)
            yield Violation(path=path, message=message, hint=hint)
    yield from own_fallbacks(settings)


def _number_faults(settings: Settings) -> Iterator[Violation]:
    """Every number is a limit, where nothing below or at 0 makes sense, except for the one that is a percentage."""
    for path, number in _numbers(msgspec.to_builtins(settings)):
        if path != ("validate", "coverage_floor"):
            if number <= 0:
                message = f"expected more than 0, got {str(number)[:40]}."
                yield Violation(path=path, message=message, hint="Remove it to use the default.")
        elif not 0 <= number <= 100:
            message = f"expected 0 to 100, got {str(number)[:40]}."
            yield Violation(path=path, message=message, hint="It is a percentage.")


def _numbers(value: object, path: KeyPath = ()) -> Iterator[tuple[KeyPath, float]]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value
    for key, inner in children(value):
        yield from _numbers(inner, (*path, key))


def _path_faults(settings: Settings) -> Iterator[Violation]:
    globs: list[tuple[KeyPath, str]] = [
        *((("workspace", "seed", index), glob) for index, glob in enumerate(settings.workspace.seed)),
        *((("review", "ignore", index), glob) for index, glob in enumerate(settings.review.ignore)),
        *((("analysers", "generated", index), glob) for index, glob in enumerate(settings.analysers.generated)),
        *((("review", "rules", index, "path"), rule.path) for index, rule in enumerate(settings.review.rules)),
    ]
    for path, glob in globs:
        if not glob.strip() or glob.startswith("/") or ".." in PurePosixPath(glob).parts:
            message = f"'{glob}' is not a pattern for files of the repository."
            yield Violation(path=path, message=message, hint="Make it relative to the root, as in 'docs/**/*.md'.")
    prompts = settings.prompts
    for key, value in (("reviewer", prompts.reviewer), ("fixer", prompts.fixer), ("builder", prompts.builder)):
        if ".." in PurePosixPath(value).parts:
            hint = "Use a path relative to the root of the repository, or an absolute path."
            yield Violation(path=("prompts", key), message=f"'{value}' leads out of its folder.", hint=hint)


def _analyser_faults(settings: Settings) -> Iterator[Violation]:
    words = (*(severity.value for severity in Severity), OFF)
    analysers = settings.analysers
    given: list[tuple[KeyPath, str]] = [
        (("analysers", "uncovered"), analysers.uncovered),
        *((("analysers", "rules", rule), severity) for rule, severity in analysers.rules.items()),
    ]
    for path, word in given:
        if word not in words:
            message = f"'{word}' is not a severity."
            yield Violation(path=path, message=message, hint=did_you_mean(word, words) or f"Use {quoted(words)}.")
    if analysers.tests not in (AUTO, OFF):
        message = f"'{analysers.tests}' is not a valid value for tests."
        hint = did_you_mean(analysers.tests, (AUTO, OFF)) or f"Use {quoted((AUTO, OFF))}."
        yield Violation(path=("analysers", "tests"), message=message, hint=hint)
    if isinstance(analysers.mutations, str) and analysers.mutations != OFF:
        message = f"'{analysers.mutations}' is not a number of seconds."
        yield Violation(path=("analysers", "mutations"), message=message, hint=f"Use a number, or {quoted((OFF,))}.")
    yield from _check_faults(analysers.checks)
    for rule in analysers.rules:
        if not _RULE.fullmatch(rule):
            hint = 'Use the tool and its rule, or a prefix of several rules: "ruff:S3" = "low".'
            yield Violation(path=("analysers", "rules", rule), message=f"'{rule}' is not a rule of a tool.", hint=hint)


def _check_faults(checks: str | tuple[str, ...]) -> Iterator[Violation]:
    names = (checks,) if isinstance(checks, str) else checks
    known = (AUTO, OFF) if isinstance(checks, str) else PROJECT_CHECKS
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or f"Use {quoted((AUTO, OFF))}, or a list of {quoted(PROJECT_CHECKS)}."
            yield Violation(path=("analysers", "checks"), message=f"'{name}' is not a valid check.", hint=hint)


def _seal_faults(settings: Settings) -> Iterator[Violation]:
    for index, signer in enumerate(settings.seal.signers):
        if not signer.strip() or "\n" in signer or (not is_signer_line(signer) and not _is_in_repository(signer)):
            hint = "Use the path of a file of the repository, or one line of an allowed-signers file (ssh-keygen(1))."
            yield Violation(
                path=("seal", "signers", index),
                message=f"'{signer}' is neither a file nor an allowed-signers line.",
                hint=hint,
            )


def _epic_faults(settings: Settings) -> Iterator[Violation]:
    kinds = tuple(kind.value for kind in AgentKind)
    for name in settings.epics.agents:
        if name not in kinds:
            hint = did_you_mean(name, kinds) or f"Use {quoted(kinds)}."
            yield Violation(path=("epics", "agents", name), message=f"'{name}' is not a kind of agent.", hint=hint)


def is_signer_line(text: str) -> bool:
    """Whether a text is a line of an allowed-signers file, rather than the path of one: it holds a key."""
    return _SIGNER.search(text) is not None


def _is_in_repository(path: str) -> bool:
    return not path.startswith("/") and ".." not in PurePosixPath(path).parts
