"""The settings as typed values, with their defaults. Nothing here reads a file or knows where a value came from."""

import posixpath
import re
import shlex
from enum import Enum
from pathlib import PurePosixPath

import msgspec

from burnish.core.budget import Budget, Cap
from burnish.core.reviews import ContractName
from burnish.core.state import SealKind
from burnish.core.values import Value, replace
from burnish.settings.agent_kinds import AgentKind

NO_FALLBACK = "none"
"""The word for an agent without a fallback."""

DEFAULT_COST_USD = 5.0
"""The cap where a paid agent may be called and none is set."""
DEFAULT_TOKENS = 2_000_000
"""The same for those whose price is not known, so that no cap on money can hold them."""

_INTERPRETER = re.compile(r"(?:python|pypy|bash|sh|zsh|dash|ksh|fish|node|bun|deno|ruby|perl|php|lua)[0-9.]*(?:\.exe)?")

OFF = "off"
"""The word that stands where a severity could, for what is not reported at all."""


AUTO = "auto"
PROJECT_CHECKS = ("mypy", "pyright", "tsc", "go-vet", "cargo", "lint", "pre-commit", "lefthook")
"""The repository's own checks that burnish can run."""
"""The word for what burnish finds out by itself."""


class SandboxWanted(Enum):
    AUTO = "auto"
    REQUIRED = "required"
    OFF = "off"


class AgentSettings(Value):
    kind: AgentKind
    command: tuple[str, ...] = ()
    model: str = ""
    contract: ContractName | None = None
    """The form in which it answers, where that is not the protocol's."""
    timeout: float | None = None
    silent: float | None = None
    environment: tuple[str, ...] = ()
    """Names of variables that are let through to it."""
    examines: tuple[str, ...] = ()
    """Globs of the files that it examines, where that is not the whole change."""
    max_turns: int | None = None
    """How often its model may be called in one piece of work, for clients that can be told."""
    resume: bool = False
    """Whether a fixer or builder goes on with its own session in the next round. Reviewers never do."""
    project_settings: bool = True
    """Whether fixers and builders follow what the project says to their client. Reviewers never do."""

    @property
    def relative_parts(self) -> tuple[int, ...]:
        """The parts of the command that name a file of the repository.

        Such a file is run as it is in the base, or else a change could replace its own reviewer. These are the
        program where it contains a slash, and every part that begins with `./`.
        """
        parts = enumerate(self.command)
        return tuple(index for index, part in parts if _names_repository_file(part, is_program=index == 0))

    @property
    def script_part(self) -> int | None:
        """Where an interpreter's script would stand, if its first word is one: `python3 tools/review.py`.

        Whether it is a file of the repository depends on the repository.
        """
        if not self.command or not _INTERPRETER.fullmatch(PurePosixPath(self.command[0]).name):
            return None
        words = enumerate(self.command)
        first = next((index for index, word in words if index > 0 and not word.startswith("-")), None)
        return None if first is None or self.command[first].startswith("/") else first

    @property
    def named_files(self) -> tuple[str, ...]:
        """The files of the repository that the command may name, by their path from its root."""
        script = () if self.script_part is None else (self.script_part,)
        names = (PurePosixPath(self.command[index]) for index in (*self.relative_parts, *script))
        return tuple(dict.fromkeys(str(name) for name in names if ".." not in name.parts))


def _names_repository_file(part: str, *, is_program: bool) -> bool:
    return part.startswith("./") or (is_program and "/" in part and not part.startswith("/"))


class RoleChoice(Value):
    """Who plays a role. What is not set is taken from the choice that is less specific."""

    agent: str = ""
    fallback: str | None = None
    """`none` for no fallback."""


class ComplexityChoices(Value):
    """Choices that hold for subjects of one complexity only, by role or by the name of a reviewer."""

    low: dict[str, RoleChoice] = msgspec.field(default_factory=dict[str, RoleChoice])
    medium: dict[str, RoleChoice] = msgspec.field(default_factory=dict[str, RoleChoice])
    high: dict[str, RoleChoice] = msgspec.field(default_factory=dict[str, RoleChoice])


class Complexity(Enum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class RoleSettings(Value):
    """Who does what. The order is: complexity, then the role or reviewer, then the default."""

    default: RoleChoice = RoleChoice()
    review: RoleChoice = RoleChoice()
    fix: RoleChoice = RoleChoice()
    build: RoleChoice = RoleChoice()
    reviewers: dict[str, RoleChoice] = msgspec.field(default_factory=dict[str, RoleChoice])
    complexity: ComplexityChoices = ComplexityChoices()
    by_round: tuple[str, ...] = ()
    """Fixers of the first, second, … round; the last one stays."""

    def for_complexity(self, complexity: Complexity | None) -> dict[str, RoleChoice]:
        return {} if complexity is None else getattr(self.complexity, complexity.value)


class ValidationCommand(Value):
    """One of the project's own commands: a line for the user's shell, or a program with its arguments."""

    line: str = ""
    argv: tuple[str, ...] = ()

    @property
    def arguments(self) -> tuple[str, ...]:
        """What to start. Only a line that the user wrote ever meets a shell."""
        return ("sh", "-c", self.line) if self.line else self.argv

    @property
    def text(self) -> str:
        return self.line or " ".join(self.argv)

    @property
    def scripts(self) -> tuple[str, ...]:
        """The files of the repository that the command starts: its program, and what is written with `./`."""
        try:
            words = tuple(shlex.split(self.line)) if self.line else self.argv
        except ValueError:  # a line with an open quote is the shell's to refuse
            return ()
        named = (word for at, word in enumerate(words) if _names_repository_file(word, is_program=at == 0))
        return tuple(posixpath.normpath(word) for word in named)


class ValidateSettings(Value):
    """The project's own commands, by name and in the order of the file, and the coverage that fixers must keep."""

    commands: dict[str, ValidationCommand] = msgspec.field(default_factory=dict[str, ValidationCommand])
    coverage_floor: float | None = None
    """In percent."""


class BudgetLimits(Value):
    """Caps on usage. None where none is set."""

    cost_usd: float | None = None
    tokens: int | None = None
    minutes: float | None = None

    @property
    def amounts(self) -> dict[Cap, float]:
        return Budget(cost_usd=self.cost_usd, tokens=self.tokens, minutes=self.minutes).caps


class LimitSettings(BudgetLimits):
    """Caps for one run, and for all runs of one ticket, or of one epic, together."""

    ticket: BudgetLimits = BudgetLimits()
    epic: BudgetLimits = BudgetLimits()


class WorkspaceSettings(Value):
    """What a clone needs before an agent can work in it."""

    prepare: tuple[str, ...] = ()
    """Lines for the user's shell, run once in each clone."""
    seed: tuple[str, ...] = ()
    """Globs of ignored files that are copied from the checkout."""
    file_megabytes: int = 4096
    """How large a single file may become that an agent or a command writes."""


class PathRule(Value):
    path: str
    text: str


class ReviewSettings(Value):
    rules: tuple[PathRule, ...] = ()
    ignore: tuple[str, ...] = ()


class PromptSettings(Value):
    """Paths of the user's own prompts; empty means the usual places, then the built-in ones."""

    reviewer: str = ""
    fixer: str = ""
    builder: str = ""


class Timeouts(Value):
    """Seconds after which work is ended."""

    agent: float = 1800.0
    silent: float = 600.0
    """Without any output."""
    validation: float = 1800.0


class ContextSettings(Value):
    diff_characters: int = 50_000
    output_characters: int = 50_000


class AnalyserSettings(Value):
    """What the embedded analysers look for, and how their findings count."""

    rules: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """A rule, or the beginning of several, by `tool:rule`: the severity of its findings, or `off`."""
    generated: tuple[str, ...] = ()
    """Globs of further generated files; they are left out."""
    uncovered: str = "medium"
    """The severity of changed lines that no test runs, or `off`."""
    tests: str = AUTO
    """`off` where the project's own tests are not run. Only the policy of the base can say so."""
    test_seconds: float = 600.0
    """How long the tests may take, on the base and on the change."""
    flaky: tuple[str, ...] = ()
    """Tests that are known to fail at random, by name, function, file or glob: their failures do not block."""
    mutations: float | str = 20.0
    """How many seconds tests may run on wrong versions of the changed lines, or `off`."""
    checks: str | tuple[str, ...] = AUTO
    """Which of the repository's own checks are run: `off`, or their names. Only the policy of the base can say so."""
    check_seconds: float = 120.0
    """How long each of these checks may take, on the base and on the change."""
    unsafe_fixes: bool = False
    """Whether fixes are made that may change what the code does."""


class Allowance(Enum):
    """What a seal may be, beside approved: its kinds, and one that nothing vouches for."""

    ACCEPTED = SealKind.ACCEPTED.value
    SELF_REVIEWED = SealKind.SELF_REVIEWED.value
    UNPROVEN = SealKind.UNPROVEN.value
    WAIVED = SealKind.WAIVED.value
    LOCAL_POLICY = SealKind.LOCAL_POLICY.value
    UNSIGNED = "unsigned"
    """It was made elsewhere and carries no signature that is known: anyone who can write refs can have written it."""


class SealSettings(Value):
    signing_key: str = ""
    """Path of an SSH key; empty means that of git, where `sign` asks for a signature."""
    sign: bool = False
    """Whether seals are signed with the SSH key that git signs with. Only users can ask for it."""
    signers: tuple[str, ...] = ()
    """Whose signatures count: files of the base in the format of ssh-keygen, or lines of such a file."""
    allow: tuple[Allowance, ...] = ()
    """What `verify` accepts beside a seal of kind `approved`."""


class Unproven(Enum):
    """What becomes of a change that nothing blocks, but that was not examined as a whole."""

    FAIL = "fail"
    WARN = "warn"
    """It is approved, with a seal that says so."""


class GateSettings(Value):
    unproven: Unproven = Unproven.FAIL
    enforce: bool = True
    """Whether a review that does not pass fails. If not, it is only reported, and its seal says so."""


class Waiver(Value):
    """A finding that does not block. Only `finding` decides; the rest is for people."""

    finding: str
    reason: str
    about: str = ""
    by: str = ""
    date: str = ""


class KeepSettings(Value):
    """What is kept of the prompts, transcripts and logs of runs that have ended."""

    days: float = 90.0
    megabytes: float = 2_000.0
    """Of all runs of a repository together."""


class Settings(Value):
    protocol: str = "default"
    sandbox: SandboxWanted = SandboxWanted.AUTO
    allow_environment: tuple[str, ...] = ()
    """Names of the user's variables that a repository may let through to its agents. Only users can set it."""
    model: str = ""
    """For agents that have none of their own."""
    records: bool | None = None
    """Whether records are written into the checkout; None leaves it to the protocol."""
    agents: dict[str, AgentSettings] = msgspec.field(default_factory=dict[str, AgentSettings])
    roles: RoleSettings = RoleSettings()
    validate: ValidateSettings = ValidateSettings()
    limits: LimitSettings = LimitSettings()
    workspace: WorkspaceSettings = WorkspaceSettings()
    review: ReviewSettings = ReviewSettings()
    prompts: PromptSettings = PromptSettings()
    timeouts: Timeouts = Timeouts()
    context: ContextSettings = ContextSettings()
    seal: SealSettings = SealSettings()
    analysers: AnalyserSettings = AnalyserSettings()
    gate: GateSettings = GateSettings()
    waivers: tuple[Waiver, ...] = ()
    keep: KeepSettings = KeepSettings()

    def agent(self, name: str) -> AgentSettings | None:
        """An agent by its name, complete: with the general model and time limits where it has none of its own.

        The name of a kind that needs no command stands for an agent of that kind, also where none is configured.
        """
        found = self.agents.get(name) or _implicit(name)
        if found is None:
            return None
        return replace(
            found,
            model=found.model or self.model,
            timeout=self.timeouts.agent if found.timeout is None else found.timeout,
            silent=self.timeouts.silent if found.silent is None else found.silent,
        )

    @property
    def agent_names(self) -> tuple[str, ...]:
        """Every name that `agent` knows: the configured ones first."""
        return (*self.agents, *(name for name in IMPLICIT_AGENTS if name not in self.agents))


IMPLICIT_AGENTS = tuple(kind.value for kind in AgentKind if not kind.needs_command)


def _implicit(name: str) -> AgentSettings | None:
    return AgentSettings(kind=AgentKind(name)) if name in IMPLICIT_AGENTS else None
