"""`burnish init`: look at a repository, try its tests, and write the burnish.toml that follows from it.

Nothing is written before the user has seen it, and no file that is there is ever replaced. An agent that costs money is
named only if the user asks for it.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import msgspec

from burnish.agents.panel.project_tests.comparison import compare
from burnish.agents.panel.project_tests.projects import language_of
from burnish.agents.panel.project_tests.running import TestRun, plans_for, run_tests
from burnish.agents.panel.project_tests.values import NoTests, TestPlan, TestResult
from burnish.agents.project_copies import prepared_view
from burnish.agents.services import GRACE_SECONDS
from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.reviews import Failure
from burnish.core.text import clean_text
from burnish.core.values import Value, replace
from burnish.ledger.sqlite import open_ledger
from burnish.runtime.context import Governance, RunContext
from burnish.runtime.services import RUN_MARKER, LocalServices
from burnish.settings.documents import MAX_DOCUMENT_BYTES, read_document
from burnish.settings.loading import REPOSITORY_FILE, PolicyOrigin, SettingsSources, user_file
from burnish.settings.loading import load as load_settings
from burnish.settings.types import Settings, ValidateSettings, ValidationCommand
from burnish.system import clock, survivors
from burnish.system.identifiers import new_run_id
from burnish.system.nofollow import create_file
from burnish.usecases.git_hooks import install_hooks
from burnish.usecases.list_agents import AgentRow, LocalSettings, Readiness, list_agents, resolve_local_settings
from burnish.usecases.plan_run import refuse_inside
from burnish.usecases.run_folders import cache_folder, make_run_folder, remove_run_folders
from burnish.workspace.errors import SubjectError
from burnish.workspace.folders import read_inside
from burnish.workspace.hooks import HookName
from burnish.workspace.pushes import remote_host
from burnish.workspace.repository import Repository

TRIAL_SECONDS = 120.0
"""How long a trial of the tests of one project may take."""
SKILL_PATH = ".agents/skills/burnish/SKILL.md"
GITHUB_PATH = ".github/workflows/burnish.yml"
GITLAB_PATH = ".gitlab/burnish.yml"
GITLAB_MAIN = ".gitlab-ci.yml"
GITLAB_INCLUDE = f"include:\n  - local: {GITLAB_PATH}\n"
_EFFECT = "trial"
_COMMENTS_AT = 32
_HEAD = """\
# How burnish reviews changes to this repository. It reads this file from the
# base of a change, so that a change cannot weaken its own gate.
# `burnish config show` prints the settings that hold; `burnish doctor` checks.
"""
_NO_TESTS_AT_ALL = NoTests(reason="no tests", absent=True)


class InitError(BurnishError):
    kind = ErrorKind.USAGE


class Extra(Enum):
    """What can be set up beside burnish.toml, by the letter that asks for it."""

    HOOK = "h"
    CI = "c"
    SKILL = "s"


class CiSystem(Enum):
    """Where pull requests are checked, by the name that is in the host's."""

    GITHUB = "github"
    GITLAB = "gitlab"


_REQUESTS = {CiSystem.GITHUB: "pull request on GitHub", CiSystem.GITLAB: "merge request on GitLab"}


class InitRequest(Value):
    tests: str = ""
    """A command that replaces the tests that burnish finds by itself."""
    agent: str = ""
    """The model that reviews and fixes, too."""
    extras: tuple[Extra, ...] = ()
    ci: CiSystem | None = None
    """For `Extra.CI`; None for the one that the repository uses."""
    dry_run: bool = False


class InitSurface(NamedTuple):
    """How the use case talks to the user."""

    tell: Callable[[str], None]
    show: Callable[[str], None]
    """Shows the content of a file."""
    progress: Callable[[str], None]
    """Is told what is being tried, and how far that is."""
    ask: Callable[[str], str] | None = None
    """Asks a question; None where none may be asked."""


class Initialised(Value):
    """What was done, and what the user should know of it."""

    declined: bool = False
    written: tuple[str, ...] = ()
    """Files, from the root of the repository."""
    base: str = ""
    needs_more: bool = False
    """Whether a commit here is not yet on the base: it must be pushed or merged."""
    left_out: tuple[Extra, ...] = ()
    ci: CiSystem | None = None
    """Which one was set up, or would be."""
    hook: bool = False
    """Whether pushes from this clone are checked from now on."""
    to_do: tuple[str, ...] = ()
    """What the user must still do by hand for what was written, in sentences."""
    usable_models: tuple[str, ...] = ()
    """Those that were not added."""

    @property
    def wrote_policy(self) -> bool:
        return REPOSITORY_FILE in self.written


class TestsTried(Value):
    """The tests of one project, and what came of them when they were tried."""

    __test__ = False

    command: str = ""
    """As a person would type it; empty where there is none."""
    project: str = ""
    ran: bool = False
    """Whether a review could judge by them."""
    says: str = ""
    hint: str = ""

    @property
    def words(self) -> str:
        where = f" in {self.project}" if self.project else ""
        return f"{self.command}{where}: {self.says}" if self.command else f"{self.says}{where}"


class _Survey(Value):
    """What was found in a repository."""

    repository: Repository
    local: LocalSettings
    branch: str
    base: str
    """The branch that changes are merged into; empty where it was not found."""
    languages: dict[str, int]
    """The number of files by language, the most frequent first."""
    ci: CiSystem | None
    models: tuple[AgentRow, ...]
    """Paid clients that are installed, usable or not."""

    @property
    def usable_models(self) -> tuple[str, ...]:
        return tuple(row.name for row in self.models if row.readiness is Readiness.USABLE)

    @property
    def policy_at(self) -> str:
        """Where there is a burnish.toml already: in the working tree, or only in the base."""
        if os.path.lexists(self.repository.root / REPOSITORY_FILE):
            return REPOSITORY_FILE
        in_base = bool(self.local.base) and self.repository.read_file(self.local.base, REPOSITORY_FILE) is not None
        return f"{self.base or 'HEAD'}:{REPOSITORY_FILE}" if in_base else ""


def init_repository(
    folder: Path, environment: Mapping[str, str], request: InitRequest, surface: InitSurface
) -> Initialised:
    """Look, try, propose, ask at most three questions, and write. Raises `InitError` where there is a burnish.toml."""
    found = _survey(folder, environment)
    found = replace(found, ci=request.ci or found.ci)
    for line in _survey_lines(found):
        surface.tell(line)
    if found.policy_at and request.extras and not request.dry_run:
        return _write(found, None, request.extras, surface)
    command, tried = _choose_tests(found, environment, request.tests, surface)
    model = _choose_model(found, request.agent, surface)
    parts = [*_tests_parts(tried, command), *_model_parts(found, model)]
    text = _HEAD + "".join(f"\n{part.text}" for part in parts)
    _check(text, environment, command)
    if found.policy_at:
        _refuse_existing(found, parts, surface)
    surface.tell(f"{'This would be' if request.dry_run else 'This will be'} {REPOSITORY_FILE}:")
    surface.show(text)
    extras = None if request.dry_run else _choose_extras(found, request.extras, surface)
    if extras is None:
        return Initialised(declined=True)
    written = _write(found, text, extras, surface)
    return written if model else replace(written, usable_models=found.usable_models)


# --- looking -----------------------------------------------------------------------------------------------------


def _survey(folder: Path, environment: Mapping[str, str]) -> _Survey:
    """Look, and run nothing of the project's."""
    refuse_inside(environment, "sets up no repository")
    repository = Repository.discover(folder)
    if repository.root == repository.common_dir:
        raise InitError("This repository is bare: it has no working tree.", hint="Run 'burnish init' in a clone of it.")
    if repository.git.objects("HEAD^{commit}")[0] is None:
        raise InitError("There are no commits here yet.", hint="Commit your files first: git add --all && git commit")
    local = resolve_local_settings(folder, environment)
    counted = Counter(language.value for path in repository.files("HEAD") if (language := language_of(path)))
    branch = repository.current_branch() or "HEAD"
    rows = (row for row in list_agents(local, environment) if row.program)
    return _Survey(
        repository=repository,
        local=local,
        branch=branch,
        base=_base(repository, branch),
        languages=dict(counted.most_common()),
        ci=_ci(repository),
        models=tuple(row for row in rows if row.kind.is_paid and not row.kind.needs_command),
    )


def _base(repository: Repository, branch: str) -> str:
    """The base of changes to come. On the default branch of a repository without a remote, that is this branch."""
    try:
        return repository.default_base(branch)
    except SubjectError:
        return branch if branch in ("main", "master") else ""


def _ci(repository: Repository) -> CiSystem | None:
    """The CI system that the repository's files are for; where they do not tell, the host of its remote."""
    marks = {CiSystem.GITHUB: ".github", CiSystem.GITLAB: GITLAB_MAIN}
    there = [system for system, name in marks.items() if os.path.lexists(repository.root / name)]
    if len(there) == 1:
        return there[0]
    host = remote_host(repository)
    return next((system for system in CiSystem if system.value in host), None)


def _survey_lines(found: _Survey) -> Iterator[str]:
    yield f"base:      {found.base or 'not found: name it with --base when you review'}"
    languages = ", ".join(f"{name} ({_files(number)})" for name, number in found.languages.items())
    yield f"languages: {languages or 'none that burnish can test'}"
    models = ", ".join(f"{row.name} ({row.readiness.value})" for row in found.models)
    yield f"models:    {models or 'no client is installed; the five checks need none'}"


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{number} files"


# --- trying ------------------------------------------------------------------------------------------------------


def _choose_tests(
    found: _Survey, environment: Mapping[str, str], command: str, surface: InitSurface
) -> tuple[str, tuple[TestsTried, ...]]:
    """The command that was named, if there is one, and what came of the trial."""
    command = clean_text(command).strip()
    tried = _try_and_tell(found, environment, command, surface)
    able = any(each.ran for each in tried)
    if command and not able:
        raise InitError(f"The tests could not be run: {tried[0].words}.", hint="Name a command that works: --tests.")
    if able or surface.ask is None or found.policy_at:
        return command, tried
    answer = clean_text(surface.ask("Which command runs the tests? Press Enter if there are none:")).strip()
    if not answer:
        return "", tried
    again = _try_and_tell(found, environment, answer, surface)
    if any(each.ran for each in again):
        return answer, again
    surface.tell("           It is left out. Name one that works in burnish.toml, or with --tests.")
    return "", tried


def _try_and_tell(
    found: _Survey, environment: Mapping[str, str], command: str, surface: InitSurface
) -> tuple[TestsTried, ...]:
    surface.tell(f"tests:     trying them on a copy of the last commit, for at most {TRIAL_SECONDS:.0f} s …")
    tried = _try_tests(found, environment, command, surface.progress)
    for each in tried or (TestsTried(says="none were found"),):
        surface.tell(f"tests:     {each.words}")
        if each.hint and not each.ran:
            surface.tell(f"           {each.hint}")
    return tried


def _try_tests(
    found: _Survey, environment: Mapping[str, str], command: str, progress: Callable[[str], None]
) -> tuple[TestsTried, ...]:
    """Run the tests of every project once, on a copy of the last commit and in the sandbox, as a review would.

    Nothing is left of the trial, no file and no process.
    """
    run = new_run_id(clock.now())
    copies = make_run_folder(environment, run)
    try:
        with open_ledger(copies / "ledger") as ledger:
            services = LocalServices(
                run=run,
                repository=found.repository,
                ledger=ledger,
                context=RunContext(
                    settings=_trial_settings(found.local.settings, command),
                    policy=PolicyOrigin.BUILT_IN,
                    merge_base="HEAD",
                    governance=Governance(offline=found.local.offline),
                ),
                environment=environment,
                copies=copies,
                cache=cache_folder(environment),
                folder=copies,
                activity=lambda _effect, doing: progress(doing),
            )
            return asyncio.run(_try_all(services, progress))
    finally:
        survivors.end_all(RUN_MARKER, run, GRACE_SECONDS)
        remove_run_folders(environment, run)


def _trial_settings(settings: Settings, command: str) -> Settings:
    seconds = min(settings.analysers.test_seconds, TRIAL_SECONDS)
    validate = ValidateSettings(commands={"tests": ValidationCommand(line=command)}) if command else settings.validate
    return replace(settings, validate=validate, analysers=replace(settings.analysers, test_seconds=seconds))


async def _try_all(services: LocalServices, progress: Callable[[str], None]) -> tuple[TestsTried, ...]:
    stop = asyncio.Event()
    head = services.repository.commit_of("HEAD")
    paths = sorted(path for path in services.repository.files(head) if language_of(path) is not None)
    clone = await services.clone(_EFFECT, head, head, writable=True)
    view = await prepared_view(services, clone, _EFFECT, stop, paths)
    if isinstance(view, Failure):
        return (TestsTried(says=view.message, hint="Mend [workspace] prepare in burnish.toml."),)
    tried: list[TestsTried] = []
    for project, plans in plans_for(view, paths, services).items():
        for plan in plans:
            if isinstance(plan, NoTests):
                tried.append(TestsTried(project=project, says=plan.reason, hint=plan.hint))
                continue
            progress(plan.text)
            effect = f"{_EFFECT}:{len(tried)}"
            tests = TestRun(view=view, plan=plan, effect=effect, told=effect, label=plan.text)
            tried.append(_told(plan, await run_tests(services, tests, stop)))
    return tuple(tried)


def _told(plan: TestPlan, result: TestResult) -> TestsTried:
    """What a review would make of this result."""
    lacking = compare(_NO_TESTS_AT_ALL, result).missing
    if lacking is not None:
        return TestsTried(command=plan.text, project=plan.project, says=lacking.reason, hint=lacking.hint)
    failing, number = len(result.failing), len(result.failing) + len(result.passing)
    if result.passed:
        says = f"{number} passed in {result.seconds:.1f} s" if number else f"passed in {result.seconds:.1f} s"
    else:
        says = f"{failing} of {number} fail" if failing else f"exit code {result.code}"
    return TestsTried(command=plan.text, project=plan.project, ran=True, says=says)


# --- proposing ---------------------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """Some lines of a burnish.toml, and the key or table that they set; none where they are comments."""

    key: str
    text: str


def _tests_parts(tried: Sequence[TestsTried], command: str) -> Iterator[_Part]:
    yield _Part("protocol", _line("protocol", "default", "five checks that need no model: bugs, style, tests, …"))
    if command:
        yield _Part("validate", "[validate]\n" + _line("tests", command, "must pass before a change is approved"))
        return
    able = [each for each in tried if each.ran]
    if able:
        lines = "".join(f"#   {_flat(each.words)}\n" for each in able)
        yield _Part("", f"# burnish finds these tests by itself. Tried on the last commit:\n{lines}")
    else:
        why = _flat(tried[0].words) if tried else "none were found"
        yield _Part("", f'# Tests: {why}. To name the command:\n#   [validate]\n#   tests = "…"\n')


def _choose_model(found: _Survey, wanted: str, surface: InitSurface) -> str:
    usable = found.usable_models
    if wanted or not usable or surface.ask is None or found.policy_at:
        return wanted
    question = f"Shall a model review and fix, too? That costs money. Type its name ({', '.join(usable)}), or Enter:"
    answer = surface.ask(question).strip()
    if answer and answer not in usable:
        surface.tell(f"           There is no usable model '{_flat(answer)}': none is added.")
    return answer if answer in usable else ""


def _model_parts(found: _Survey, name: str) -> Iterator[_Part]:
    if not name:
        return
    row = next((row for row in found.models if row.name == name), None)
    if row is None:
        hint = "'burnish agent list' lists the agents. Without --agent, the five checks review alone."
        raise InitError(f"The model client '{_flat(name)}' is not installed here.", hint=hint)
    if not row.readiness.is_good:
        raise InitError(f"'{name}' is {row.readiness.value}.", hint=row.remedy)
    yield _Part("agents", f"[agents.{name}]\n" + _line("kind", row.kind.value, "each user's own login"))
    yield _Part(
        "roles",
        "[roles]\n"
        + _line("review", name, "one more reviewer beside the five checks: one call in each round")
        + _line("fix", name, "else burnish fix makes only the fixes that analysers are sure of"),
    )
    yield _Part("limits", "[limits]\n" + _line("cost_usd", 5.0, "what one run may cost at most"))


def _line(key: str, value: str | float, comment: str) -> str:
    setting = f"{key} = {msgspec.json.encode(value).decode()}"
    return f"{setting:<{_COMMENTS_AT}} # {comment}\n"


def _flat(text: str) -> str:
    """Text of a project as part of a comment, in which it must not begin a line of its own."""
    return " ".join(clean_text(text).split())


def _check(text: str, environment: Mapping[str, str], command: str) -> None:
    """Parse a proposal as a review would: no file is written that burnish cannot use."""
    raw = text.encode()
    sources = SettingsSources(
        base_file=lambda path: raw if path == REPOSITORY_FILE else None,
        working_file=lambda _path: None,
        user_file=user_file(environment),
        environment=environment,
    )
    commands = load_settings(sources).settings.validate.commands
    if command and commands["tests"].line != command:
        raise InitError(f"The command '{command}' cannot be written to {REPOSITORY_FILE}.", hint="Put it in a script.")


def _refuse_existing(found: _Survey, parts: Sequence[_Part], surface: InitSurface) -> None:
    """Show what an existing burnish.toml lacks, and leave it as it is."""
    place = found.policy_at
    raw = read_inside(found.repository.root, REPOSITORY_FILE, MAX_DOCUMENT_BYTES)
    if raw is None:  # only the base has one, or it is a link
        raw = found.repository.read_file(found.local.base or "HEAD", REPOSITORY_FILE) or b""
    there = read_document(raw, place).values
    missing = [part.text for part in parts if part.key and part.key not in there]
    if missing:
        surface.tell(f"burnish would add to {place}:")
        surface.show("\n".join(missing))
    hint = "Add the lines above by hand" if missing else "It sets all that burnish would"
    raise InitError(
        f"There is a {place} already. Nothing was changed.",
        hint=f"{hint}. 'burnish init' with --hook, --ci or --skill adds only that.",
    )


# --- writing -----------------------------------------------------------------------------------------------------


def _choose_extras(found: _Survey, wanted: tuple[Extra, ...], surface: InitSurface) -> tuple[Extra, ...] | None:
    """The last question: whether to write, and what else. None for no."""
    if surface.ask is None:
        return wanted
    offered = dict(_offered(found))
    for extra, words in offered.items():
        surface.tell(f"  {extra.value}  {words}")
    answer = surface.ask(f"Write {REPOSITORY_FILE}? [Y/n, or the letters of what to add to it]").strip().lower()
    if answer in ("", "y", "yes"):
        return wanted
    known = {extra.value: extra for extra in offered}
    letters = answer.replace(",", " ").replace(" ", "")
    if answer not in ("n", "no") and known.keys() >= set(letters):
        return tuple(extra for letter, extra in known.items() if letter in letters or extra in wanted)
    return None


def _offered(found: _Survey) -> Iterator[tuple[Extra, str]]:
    yield Extra.HOOK, "the pre-push hook: git push needs a valid seal, in this clone"
    if found.ci is not None:
        paths = " and ".join(_ci_files(found.ci))
        yield Extra.CI, f"the check of every {_REQUESTS[found.ci]} ({paths})"
    yield Extra.SKILL, f"the skill that tells coding agents how to use burnish ({SKILL_PATH})"


def _write(found: _Survey, policy: str | None, extras: tuple[Extra, ...], surface: InitSurface) -> Initialised:
    """The hook comes first: it is what may be refused, and then nothing has been written."""
    if Extra.HOOK in extras:
        for change in install_hooks(found.repository.root, [HookName.PRE_PUSH]):
            for line in (change.done, *change.notes):
                surface.tell(line)
    files = {} if policy is None else {REPOSITORY_FILE: policy}
    if Extra.CI in extras and found.ci is not None:
        files |= _ci_files(found.ci)
    if Extra.SKILL in extras:
        files[SKILL_PATH] = _packaged("skill.md")
    written = tuple(name for name, text in files.items() if _create(found.repository.root, name, text, surface))
    return Initialised(
        written=written,
        base=found.base,
        needs_more=found.base != found.branch,
        left_out=tuple(extra for extra, _ in _offered(found) if extra not in extras),
        ci=found.ci,
        hook=Extra.HOOK in extras,
        to_do=tuple(_to_do(files, written)),
    )


def _ci_files(system: CiSystem) -> dict[str, str]:
    template = _packaged("ci", f"{system.value}.yml")
    match system:
        case CiSystem.GITHUB:
            return {GITHUB_PATH: template}
        case CiSystem.GITLAB:
            return {GITLAB_PATH: template, GITLAB_MAIN: GITLAB_INCLUDE}


def _to_do(files: Collection[str], written: Collection[str]) -> Iterator[str]:
    """What is left to do by hand: names that burnish cannot know, and lines of files that it does not change."""
    if GITHUB_PATH in written:
        yield f"Replace OWNER and HASH in {GITHUB_PATH}, and make the job 'burnish' a required check."
    if GITLAB_PATH in written:
        yield f"Replace VERSION in {GITLAB_PATH}, and select 'Pipelines must succeed' in the settings of GitLab."
    if GITLAB_MAIN in files and GITLAB_MAIN not in written:
        yield f"If {GITLAB_MAIN} does not include it yet, add there:\n{GITLAB_INCLUDE.rstrip()}"


def _create(root: Path, name: str, text: str, surface: InitSurface) -> bool:
    """Make a file; where there is one of this name, say so and leave it as it is."""
    try:
        create_file(root, name, text.encode())
    except FileExistsError:
        surface.tell(f"{name} is there already; it is left as it is.")
        return False
    except OSError as error:
        raise InitError(
            f"{name} cannot be written: {error.strerror}.", hint="Check its folder, and try again."
        ) from None
    return True


def _packaged(*path: str) -> str:
    """A file that users get as it is. Each is in burnish's own repository, too, as a link or under a link."""
    return resources.files("burnish.usecases").joinpath(*path).read_text(encoding="utf-8")
