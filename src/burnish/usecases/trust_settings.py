"""Which settings hold in a repository, and what of its working tree the user trusts.

Policy, prompts, protocols and the files that commands name are read from the base of the change. What only the working
tree has may be the work of the change itself: it is used once the user has trusted exactly that content, and only
then.
"""

import shlex
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from burnish.core.errors import BurnishError
from burnish.core.values import Value, replace
from burnish.prompts.rendering import PromptError
from burnish.prompts.resolution import PromptRole, resolve_prompt
from burnish.protocols.loader import BUILT_IN
from burnish.protocols.loader import load as load_protocol
from burnish.runtime.context import Offline
from burnish.settings.documents import DocumentError, Problem
from burnish.settings.loading import REPOSITORY_FILE, Flags, LayerName, Merged, PolicyOrigin, SettingsSources, user_file
from burnish.settings.loading import load as load_settings
from burnish.settings.permissions import Sensitive
from burnish.settings.trust import Trusted, TrustStore, digest_of, file_digest
from burnish.settings.types import PromptSettings, Settings
from burnish.system import clock
from burnish.workspace.errors import SubjectError
from burnish.workspace.repository import Repository

_TARGETS = ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME")
"""What GitHub and GitLab call the branch that a change will be merged into."""


class Base(Value):
    name: str
    commit: str
    """Empty where there is none."""
    asked: str | None = None
    """As the user named it; None where burnish found it."""


class WorkingContent(Value):
    """What of a working tree would be used that the base does not have."""

    repository: str
    base: Base
    files: dict[str, bytes] = msgspec.field(default_factory=dict[str, bytes])
    sensitive: tuple[Sensitive, ...] = ()

    @property
    def digest(self) -> str:
        return digest_of(self.files)

    @property
    def command(self) -> str:
        return "burnish trust" + (f" --base {shlex.quote(self.base.asked)}" if self.base.asked else "")

    @property
    def notice(self) -> str:
        names = ", ".join(self.files)
        told = f"{self.base.name} has no {names}, and you have not trusted the working tree's version."
        unused = ", ".join(dict.fromkeys(each.key for each in self.sensitive))
        effect = f"These settings do not apply: {unused}." if unused else "It is not used."
        return f"{told} {effect} '{self.command} --show' shows what it would do; '{self.command}' trusts it."


AskTrust = Callable[[WorkingContent], bool]
"""Asks the user at the terminal whether a content is trusted."""


class ResolvedSettings(Value):
    """The settings that hold, and the files of the working tree that may be used."""

    merged: Merged
    content: WorkingContent
    trusted: bool
    """Whether the content is used; also true where there is none."""
    offline: Offline = Offline()

    @property
    def files(self) -> Mapping[str, bytes]:
        return self.content.files if self.trusted else {}

    @property
    def file_digests(self) -> dict[str, str]:
        return {name: file_digest(content) for name, content in self.files.items()}

    @property
    def policy_notices(self) -> tuple[str, ...]:
        """What the user should know of settings that are not used, or used by trust alone."""
        if not self.content.files:
            return self.merged.refusals
        told = _trusted_notice(self.content, self.offline) if self.trusted else self.content.notice
        return (*self.merged.refusals, told)

    @property
    def notices(self) -> tuple[str, ...]:
        return (*self.merged.notices, *self.policy_notices)


def resolve_settings(
    repository: Repository,
    base: Base,
    environment: Mapping[str, str],
    flags: Flags | None = None,
    ask: AskTrust | None = None,
) -> ResolvedSettings:
    """The settings that hold, under the user's trust or without it. Raises `DocumentError`."""
    sources = _sources(repository, base, environment, flags or Flags())
    in_full = load_settings(replace(sources, trusted=True))
    content = _content(repository, base, in_full)
    if not content.files:
        only_tightens = in_full.policy is PolicyOrigin.WORKING_TREE
        return ResolvedSettings(
            merged=load_settings(sources) if only_tightens else in_full, content=content, trusted=True
        )
    if _is_trusted(repository, content, environment, ask):
        merged = replace(in_full, policy=PolicyOrigin.WORKING_TREE)
        return ResolvedSettings(merged=merged, content=content, trusted=True, offline=_offline(merged, content))
    with explained(content):
        return ResolvedSettings(merged=load_settings(sources), content=content, trusted=False)


@contextmanager
def explained(content: WorkingContent | None) -> Generator[None]:
    """Around work that fails where settings are missing: the error then says that some are not trusted."""
    try:
        yield
    except DocumentError as error:
        if content is None or not content.sensitive:
            raise
        untrusted = Problem(
            file=REPOSITORY_FILE,
            message="you have not trusted the working tree's version, so its settings do not apply.",
            hint=f"Review it with '{content.command} --show', then run '{content.command}'.",
        )
        raise type(error)([*error.problems, untrusted]) from None


def trustable(repository: Repository, base: Base, environment: Mapping[str, str]) -> WorkingContent:
    """What there is to trust in a working tree. Without files, nothing needs trust."""
    in_full = load_settings(replace(_sources(repository, base, environment, Flags()), trusted=True))
    return _content(repository, base, in_full)


def trust(repository: Repository, content: WorkingContent, environment: Mapping[str, str]) -> None:
    entry = Trusted(
        repository=content.repository,
        digest=content.digest,
        files=tuple(content.files),
        trusted_at=clock.now(),
    )
    store_for(repository, environment).add(entry)


def is_trusted(repository: Repository, content: WorkingContent, environment: Mapping[str, str]) -> bool:
    return store_for(repository, environment).holds(content.repository, content.digest)


def store_for(repository: Repository, environment: Mapping[str, str]) -> TrustStore:
    return TrustStore(environment, within=repository.root)


def repository_name(repository: Repository) -> str:
    """What trust in a repository is kept under: all its work trees share it."""
    return str(repository.common_dir.resolve())


def target_in_ci(repository: Repository, environment: Mapping[str, str]) -> str | None:
    """The branch that CI says the change will be merged into, as this clone has it; None outside of CI.

    Raises `SubjectError` where CI names one that the clone does not have: another base would be a guess.
    """
    name = next((environment[variable] for variable in _TARGETS if environment.get(variable)), None)
    if name is None:
        return None
    for place in (f"origin/{name}", name):
        with suppress(BurnishError):
            repository.commit_of(place)
            return place
    raise SubjectError(
        f"The change will be merged into '{name}', which this clone does not have.",
        hint=f"Fetch it first: `git fetch origin {name}:refs/remotes/origin/{name}`, with the whole history "
        "(fetch-depth: 0, or GIT_DEPTH: 0). Or use --base to name another ref.",
    )


def base_of(repository: Repository, asked: str | None = None) -> Base:
    """The base that was asked for, else the one that a run would take, else what is committed, else nothing."""
    if asked is not None:
        return Base(name=asked, commit=repository.commit_of(asked), asked=asked)
    branch = repository.current_branch() or "HEAD"
    for find in (lambda: repository.default_base(branch), lambda: "HEAD"):
        with suppress(BurnishError):
            name = find()
            return Base(name=name, commit=repository.commit_of(name))
    return Base(name="HEAD", commit="")


def base_file(repository: Repository, base: Base) -> Callable[[str], bytes | None]:
    return lambda path: repository.read_file(base.commit, path) if base.commit else None


def _sources(repository: Repository, base: Base, environment: Mapping[str, str], flags: Flags) -> SettingsSources:
    return SettingsSources(
        base_file=base_file(repository, base),
        working_file=lambda path: _working_file(repository, path),
        user_file=user_file(environment),
        environment=environment,
        flags=flags,
        base_name=base.name,
    )


def _working_file(repository: Repository, path: str) -> bytes | None:
    return read_outside(str(repository.root / path))


def read_outside(path: str) -> bytes | None:
    """A file by its absolute path, or None where it is none."""
    try:
        return Path(path).read_bytes() if Path(path).is_file() else None
    except (OSError, ValueError):
        return None  # a word of a command that is no name


def _is_trusted(
    repository: Repository, content: WorkingContent, environment: Mapping[str, str], ask: AskTrust | None
) -> bool:
    if is_trusted(repository, content, environment):
        return True
    if ask is None or not ask(content):
        return False
    trust(repository, content, environment)
    return True


def _content(repository: Repository, base: Base, merged: Merged) -> WorkingContent:
    """Every file of the working tree that these settings use, as it is now."""
    collector = _Collector(repository, base)
    if merged.sensitive:
        collector.read(REPOSITORY_FILE)
    settings = merged.settings
    for agent in settings.agents.values():
        for name in agent.named_files:
            collector.read(name)
    if merged.sensitive:
        for word in _words_of_lines(settings):
            collector.read(word)
    collector.read_prompts(merged)
    collector.read_protocol(merged)
    return WorkingContent(
        repository=repository_name(repository), base=base, files=collector.files, sensitive=merged.sensitive
    )


def _words_of_lines(settings: Settings) -> tuple[str, ...]:
    """The words of the commands that meet a shell, as far as they can be told apart."""
    commands = settings.validate.commands.values()
    lines = [command.line for command in commands if command.line] + list(settings.workspace.prepare)
    words = [word for command in commands for word in command.argv]
    for line in lines:
        with suppress(ValueError):
            words += shlex.split(line, comments=True)
    return tuple(words)


class _Collector:
    """Reads files of the working tree that the base does not have, and remembers what was read."""

    def __init__(self, repository: Repository, base: Base) -> None:
        self._repository = repository
        self._base_file = base_file(repository, base)
        self.files: dict[str, bytes] = {}

    def read(self, path: str) -> bytes | None:
        name = path.removeprefix("./")
        if name in self.files:
            return self.files[name]
        if not name or name.startswith("/") or ".." in Path(name).parts or self._base_file(name) is not None:
            return None
        content = _working_file(self._repository, name)
        if content is not None:
            self.files[name] = content
        return content

    def read_prompts(self, merged: Merged) -> None:
        for role, path in prompt_paths(merged.settings.prompts).items():
            if path.startswith("/"):
                if self._is_working_trees(merged, "prompts", role.value):
                    self._read_outside(path)
                continue
            with suppress(PromptError):  # what is wrong with a prompt is said where it is used
                resolve_prompt(role, path, base_file=self._base_file, working_file=self.read)

    def read_protocol(self, merged: Merged) -> None:
        reference = merged.settings.protocol
        if reference in BUILT_IN or merged.origin("protocol").layer is not LayerName.REPOSITORY:
            return
        with suppress(DocumentError):
            chain = load_protocol(reference, lambda path: self._base_file(path) or self.read(path)).chain
            for name in chain:
                if name not in BUILT_IN and self._is_working_trees(merged, "protocol"):
                    self._read_outside(name)

    def _is_working_trees(self, merged: Merged, *key: str) -> bool:
        return bool(merged.sensitive) and merged.origin(*key).layer is LayerName.REPOSITORY

    def _read_outside(self, path: str) -> None:
        """A file outside of the repository that the working tree's settings name."""
        content = read_outside(path) if path.startswith("/") else None
        if content is not None:
            self.files[path] = content


def prompt_paths(prompts: PromptSettings) -> dict[PromptRole, str]:
    """The user's own prompts by role; empty where the usual places hold."""
    return {
        PromptRole.REVIEWER: prompts.reviewer,
        PromptRole.FIXER: prompts.fixer,
        PromptRole.BUILDER: prompts.builder,
    }


def _offline(merged: Merged, content: WorkingContent) -> Offline:
    """Commands that only the working tree names do not reach the network. The user's own clients do."""

    def is_repositorys(*key: str) -> bool:
        return bool(merged.sensitive) and merged.origin(*key).layer is LayerName.REPOSITORY

    agents = merged.settings.agents.items()
    return Offline(
        prepare=is_repositorys("workspace", "prepare"),
        validate=any(is_repositorys("validate", name) for name in merged.settings.validate.commands),
        agents=tuple(
            name
            for name, agent in agents
            if agent.kind.needs_command
            and (is_repositorys("agents", name, "command") or not content.files.keys().isdisjoint(agent.named_files))
        ),
    )


def _trusted_notice(content: WorkingContent, offline: Offline) -> str:
    told = (
        f"{content.base.name} has no {', '.join(content.files)}: burnish uses the working tree's version, which "
        "you have trusted."
    )
    if not (offline.prepare or offline.validate or offline.agents):
        return told
    return f"{told} Its commands run without network access."
