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
"""The word for what burnish finds out by itself."""
PROJECT_CHECKS = ("mypy", "pyright", "tsc", "go-vet", "cargo", "lint", "pre-commit", "lefthook")
"""The repository's own checks that burnish can run."""


class SandboxWanted(Enum):
    AUTO = "auto"
    REQUIRED = "required"
    OFF = "off"


class AgentSettings(Value):
    kind: AgentKind
    """What the agent is."""
    command: tuple[str, ...] = ()
    """The program and its arguments. `command` and `acp` need it. Only your own settings can name another program for a
    model's client."""
    model: str = ""
    """A model name that the agent understands; else `model`."""
    contract: ContractName | None = None
    """The format of its answers, if it is not the protocol's."""
    timeout: float | None = None
    """Time limit of one task in seconds; else `timeouts.agent`."""
    silent: float | None = None
    """Time limit without output in seconds; else `timeouts.silent`."""
    environment: tuple[str, ...] = ()
    """Names of variables to pass to it. In a repository's file, only those that you allow count."""
    examines: tuple[str, ...] = ()
    """Patterns of the files that it examines, if that is not the whole change: only those count as read by it. A SARIF
    answer counts for the files that its log lists, unless this names others."""
    max_turns: int | None = None
    """How often it may call its model in one task, if the client supports a limit."""
    resume: bool = False
    """Whether a fixer or builder continues its own session in the next round. Reviewers never do."""
    project_settings: bool = True
    """Whether fixers and builders use the project's settings for their client. Reviewers never do."""

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
    """The agent of a role or reviewer, for subjects that `--complexity low` names."""
    medium: dict[str, RoleChoice] = msgspec.field(default_factory=dict[str, RoleChoice])
    """The same for `--complexity medium`."""
    high: dict[str, RoleChoice] = msgspec.field(default_factory=dict[str, RoleChoice])
    """The same for `--complexity high`."""


class Complexity(Enum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class RoleSettings(Value):
    """Who does what. The order is: complexity, then the role or reviewer, then the default."""

    default: RoleChoice = RoleChoice()
    """The agent for every role that names none; else the embedded analysers."""
    review: RoleChoice = RoleChoice()
    """The agent that reviews. Under `default`, one more reviewer beside the five checks."""
    fix: RoleChoice = RoleChoice()
    """The agent that fixes."""
    build: RoleChoice = RoleChoice()
    """The agent that makes the change, for `burnish fix --build`."""
    reviewers: dict[str, RoleChoice] = msgspec.field(default_factory=dict[str, RoleChoice])
    """The agent for one reviewer of the panel; else `roles.review`. Under `default`, one more reviewer beside the check
    of that name: `bugs`, `style`, `tests`, `security`, `errors`."""
    complexity: ComplexityChoices = ComplexityChoices()
    by_round: tuple[str, ...] = ()
    """Fixers for the first, second, … round; the last one is used for all further rounds."""

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
    """One of the project's own commands: a shell command line, or an array to run without a shell."""
    coverage_floor: float | None = None
    """The minimum coverage in percent. Fixers and builders are told."""


class BudgetLimits(Value):
    """Caps on usage. None where none is set."""

    cost_usd: float | None = None
    """The most US dollars. For one run, 5.00 if it may call a paid agent and you set no limit."""
    tokens: int | None = None
    """The most tokens. For one run, 2,000,000 if the price of an agent is unknown and you set no limit."""
    minutes: float | None = None
    """The most minutes of work."""

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
    """Shell command lines, run once in each clone, to install dependencies."""
    seed: tuple[str, ...] = ()
    """Patterns of ignored files to copy into each clone."""
    file_megabytes: int = 4096
    """The maximum size of a single file that an agent or command writes."""


class PathRule(Value):
    path: str
    """A pattern of files."""
    text: str
    """Guidance for reviewers about files that match it."""


class ReviewSettings(Value):
    rules: tuple[PathRule, ...] = ()
    ignore: tuple[str, ...] = ()
    """Patterns of files to leave out of reviews. They are listed as left out, and still scanned for secrets."""


class PromptSettings(Value):
    """Paths of the user's own prompts; empty means the usual places, then the built-in ones."""

    reviewer: str = ""
    """Path of your own prompt for reviewers; else the usual places, then the built-in one."""
    fixer: str = ""
    """The same for fixers."""
    builder: str = ""
    """The same for builders."""


class Timeouts(Value):
    """Seconds after which work is ended."""

    agent: float = 1800.0
    """Seconds for one task of an agent."""
    silent: float = 600.0
    """Seconds that an agent may work without output."""
    validation: float = 1800.0
    """Seconds for the commands of `[validate]`."""


class ContextSettings(Value):
    diff_characters: int = 50_000
    """How much of the diff a prompt includes."""
    output_characters: int = 50_000
    """How much of the output of commands a prompt includes."""


class AnalyserSettings(Value):
    """What the embedded analysers look for, and how their findings count."""

    rules: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """By `"TOOL:RULE"`, or the beginning of several rules: the severity of its findings, or `off`."""
    generated: tuple[str, ...] = ()
    """Patterns of further generated files, which are only scanned for secrets."""
    uncovered: str = "medium"
    """The severity of changed lines that no test runs, or `off`."""
    tests: str = AUTO
    """`off`: do not run the project's tests. Counts only in the project's own file; the seal and `verify` show it."""
    test_seconds: float = 600.0
    """Time limit for the tests, on the base and on the change."""
    flaky: tuple[str, ...] = ()
    """Tests that fail at random, by name, function, file or pattern: their failures are shown and do not block."""
    mutations: float | str = 20.0
    """How many seconds tests may run on wrong versions of the changed lines, or `off`."""
    checks: str | tuple[str, ...] = AUTO
    """Which of the repository's own checks run: `auto`, `off` or a list of names. Counts only in the project's own
    file."""
    check_seconds: float = 120.0
    """Time limit for each of these checks, on the base and on the change."""
    unsafe_fixes: bool = False
    """Whether to apply fixes that may change what the code does."""


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
    """Path of an SSH key to sign seals with."""
    sign: bool = False
    """Whether to sign seals with the SSH key that git signs with."""
    signers: tuple[str, ...] = ()
    """Whose signatures `verify` accepts: files of the base in the format of ssh-keygen, or lines of such a file."""
    allow: tuple[Allowance, ...] = ()
    """Kinds of seals that `verify` accepts besides `approved`; also `unsigned`."""


class Unproven(Enum):
    """What becomes of a change that nothing blocks, but that was not examined as a whole."""

    FAIL = "fail"
    WARN = "warn"
    """It is approved, with a seal that says so."""


class GateSettings(Value):
    unproven: Unproven = Unproven.FAIL
    """`warn`: approve a change that was not fully examined, with a seal that says so."""
    enforce: bool = True
    """Whether a review that does not pass fails. If not, it is only reported, and its seal says so."""


class Waiver(Value):
    """A finding that does not block. Only `finding` decides; the rest is for people."""

    finding: str
    """The id of a finding that does not block. `burnish findings export` prints such tables."""
    reason: str
    """Why it does not block, for people."""
    about: str = ""
    """What it is about, for people."""
    by: str = ""
    """Who waived it, for people."""
    date: str = ""
    """When, for people."""


class KeepSettings(Value):
    """What is kept of the prompts, transcripts and logs of runs that have ended."""

    days: float = 90.0
    """How long to keep prompts, transcripts and logs after the end of their run."""
    megabytes: float = 2_000.0
    """How much of them to keep, for all runs of a repository together; the oldest go first."""


class EpicSettings(Value):
    """How `burnish run` works on several tickets at once."""

    parallel: int = 4
    """The maximum number of tickets at work at once."""
    agents: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """The maximum number of tickets at work at once that may call an agent of a kind, by the name of the kind."""
    secrets: bool = True
    """Whether what a ticket adds is scanned for secrets before it is reviewed."""


class BeadSettings(Value):
    """How `burnish run .beads` works through a list of beads."""

    review: bool | None = None
    """Whether what is built is reviewed. Without a review, nothing is merged. The default is true, or what
    `.ouroboros/config.toml` says; where that file says nothing, false."""
    fix_attempts: int | None = None
    """The maximum number of fixes of one bead."""
    iterations: int | None = None
    """How often agents are started for up to `epics.parallel` beads. The default is 50."""
    pause: float | None = None
    """Seconds between two iterations."""
    top: str = ""
    """Work only on this bead and those below it."""


class Settings(Value):
    protocol: str = "default"
    """The rules of a run: the name of a built-in protocol, or the path of your own."""
    sandbox: SandboxWanted = SandboxWanted.AUTO
    """`required`: refuse to run without a sandbox. `off`: only compare the clone before and after."""
    allow_environment: tuple[str, ...] = ()
    """Names of your variables that a repository's agents may receive."""
    model: str = ""
    """The model of agents that set none themselves."""
    records: bool | None = None
    """Whether records are written to the checkout; else the protocol decides."""
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
    epics: EpicSettings = EpicSettings()
    beads: BeadSettings = BeadSettings()

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
        """Every name that can be chosen: the configured ones first. A session begins a review by itself."""
        implicit = (name for name in IMPLICIT_AGENTS if name != AgentKind.SESSION.value)
        return (*self.agents, *(name for name in implicit if name not in self.agents))


IMPLICIT_AGENTS = tuple(kind.value for kind in AgentKind if not kind.needs_command)


def _implicit(name: str) -> AgentSettings | None:
    return AgentSettings(kind=AgentKind(name)) if name in IMPLICIT_AGENTS else None
