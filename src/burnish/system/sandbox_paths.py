"""Paths as a sandbox must see them: which a command may touch, where links lead, what a program needs beside itself.

A sandbox that hides the user's home must still show the interpreter of the command if it lives there (pyenv, nvm), with
its libraries, and every link on the way. It reads names and links, and the first line of scripts, nothing else.
"""

import os
import pwd
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path

from burnish.core.values import Value
from burnish.system.process_start import Command, find_program

DEFAULT_SECRETS = (
    *("~/.ssh", "~/.gnupg", "~/.netrc", "~/.git-credentials", "~/.config/git/credentials", "~/.Xauthority"),
    *("~/.aws", "~/.azure", "~/.config/gcloud", "~/.config/doctl", "~/.config/hcloud", "~/.oci", "~/.boto", "~/.s3cfg"),
    *("~/.kube", "~/.docker", "~/.config/containers", "~/.config/helm", "~/.terraform.d", "~/.vault-token"),
    *("~/.config/gh", "~/.config/glab-cli", "~/.config/hub", "~/.config/rclone", "~/.config/sops", "~/.config/op"),
    *("~/.password-store", "~/.local/share/password-store", "~/.local/share/keyrings", "~/.local/share/kwalletd"),
    *("~/.config/keepassxc", "~/.config/Bitwarden", "~/.config/Bitwarden CLI"),
    *("~/.pypirc", "~/.npmrc", "~/.yarnrc", "~/.yarnrc.yml", "~/.config/pnpm", "~/.bunfig.toml"),
    *("~/.gem/credentials", "~/.composer/auth.json"),
    *("~/.cargo/credentials", "~/.cargo/credentials.toml", "~/.m2/settings.xml", "~/.gradle/gradle.properties"),
    *("~/.pgpass", "~/.my.cnf", "~/.config/heroku", "~/.config/wrangler", "~/.config/netlify"),
    # Logins of agents that burnish does not run itself; those of the others are on their cards.
    *("~/.qwen", "~/.local/share/crush", "~/.config/crush", "~/.config/goose"),
    *("~/.copilot", "~/.config/github-copilot", "~/.cursor", "~/.config/cursor", "~/.config/amp", "~/.local/share/amp"),
    *("~/.factory", "~/.kimi", "~/.kiro", "~/.local/share/amazon-q", "~/.continue", "~/.aider.conf.yml"),
    *("~/.mozilla", "~/.config/google-chrome", "~/.config/chromium", "~/.config/BraveSoftware", "~/.thunderbird"),
    *("~/.bash_history", "~/.zsh_history", "~/.python_history", "~/.psql_history", "~/.local/share/fish"),
    *("/etc/shadow", "/etc/gshadow", "/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key"),
    *("/etc/ssh/ssh_host_ed25519_key", "/etc/krb5.keytab", "/run/secrets", "/var/lib/kubelet", "/etc/kubernetes"),
)
"""What no agent needs to see, whatever it works on."""
ROOT = Path("/")
_MOST_LINKS = 40
_MOST_INTERPRETERS = 4
_MOST_LINKED_PROGRAMS = 200
_SYSTEM_FOLDERS = frozenset(
    Path(name) for name in ("/", "/usr", "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/lib", "/etc", "/var", "/dev")
)
"""Some users of the system itself have these as their home."""
_SHARED_FOLDERS = frozenset(Path(name) for name in ("/", "/tmp", "/var/tmp", "/run", "/home"))  # noqa: S108 - compared
_SHARED_IN_HOME = (
    *(".local", ".local/share", ".local/state", ".local/lib", ".config", ".cache"),
    *("Desktop", "Documents", "Downloads"),
)
"""Folders in which everything meets: never shown whole for the sake of one program."""
_MANAGERS = frozenset({".volta", ".bun", "pnpm"})
"""Their programs in `bin` are shims for what lies elsewhere in the manager's folder."""


class Mount(Value):
    """Something that a command sees at another path than its own, instead of what is there. Only bubblewrap can."""

    source: str
    target: str
    writable: bool = False


class Confinement(Value):
    """What a command may touch. Of two paths that hold, the deeper decides; at the same path, what is given.

    Everything that a clone borrows from must be named: the object folders of its alternates, the common directory of a
    linked worktree. It is not looked up here, as a confined command may have written those files itself.
    """

    readable: tuple[str, ...] = ()
    """Seen beside the folders of the system, which are read-only, too."""
    writable: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    """Read-only below something writable, and held in place. Only bubblewrap can: Landlock has no rule that takes away,
    and granting everything but these would forbid new files beside them."""
    hidden: tuple[str, ...] = DEFAULT_SECRETS
    owned: tuple[str, ...] = ()
    """Seen below folders that all belong to this user. Some programs refuse a file if another user owns a folder on the
    way to it, and in a user namespace even `/` belongs to another. Without one the owners are the real ones."""
    mounts: tuple[Mount, ...] = ()
    """In this order, over everything else: nothing that was there at or below a target is seen. A command whose folder
    is the source of one, or below it, starts at the same place of its target."""
    temporary: str
    """Its own writable folder, also its TMPDIR and HOME unless its environment names others."""
    network: bool = True


class Trail(Value):
    """Where a path leads, and the links on the way: each as its place and what is written in it."""

    links: tuple[tuple[Path, str], ...]
    real: Path

    @property
    def places(self) -> tuple[Path, ...]:
        return (*(link for link, _ in self.links), self.real)


def exists(path: Path) -> bool:
    """Whether this user can reach something there."""
    return os.access(path, os.F_OK)


def follow(path: str | Path) -> Trail:
    """Resolve a path link by link."""
    links: list[tuple[Path, str]] = []
    current = ROOT
    waiting = [*reversed(Path.cwd().joinpath(path).parts)]
    while waiting:
        part = waiting.pop()
        step = current.parent if part == ".." else current / part  # an absolute part begins anew
        target = _link_target(step)
        if target is None or len(links) >= _MOST_LINKS:
            current = step
        else:
            links.append((step, target))
            waiting.extend(reversed(Path(target).parts))
    return Trail(links=tuple(links), real=current)


def _link_target(path: Path) -> str | None:
    try:
        return str(path.readlink())
    except OSError:
        return None


def homes() -> tuple[Path, ...]:
    """The user's home folders, as the environment and the system name them, without links."""
    return _homes(os.environ.get("HOME", ""))


@cache
def _homes(variable: str) -> tuple[Path, ...]:
    named = [variable]
    with suppress(KeyError):  # a container may run under a number that has no name
        named.append(pwd.getpwuid(os.getuid()).pw_dir)
    found = dict.fromkeys(follow(home).real for home in named if home.startswith("/"))
    return tuple(home for home in found if home not in _SYSTEM_FOLDERS and exists(home))


def expand(paths: tuple[str, ...]) -> tuple[Path, ...]:
    """Paths that begin with `~` as absolute ones, once for each home."""
    expanded: list[Path] = []
    places = homes()
    for path in paths:
        if path == "~" or path.startswith("~/"):
            expanded.extend(home / path[2:] for home in places)
        else:
            expanded.append(Path(path))
    return tuple(expanded)


def program_trails(command: Command) -> Iterator[Trail]:
    """The command's program, the interpreters that run it, and the folders in which it looks for others."""
    program = command.argv[0]
    for _ in range(_MOST_INTERPRETERS):
        found = find_program(program, command.folder, command.environment)
        if found is None:
            break
        trail = follow(found)
        yield trail
        program = _interpreter(trail.real)
        if not program:
            break
    for place in os.get_exec_path(command.environment):
        if place.startswith("/"):
            yield follow(place)
            yield from _links_in(Path(place))


def _links_in(folder: Path) -> Iterator[Trail]:
    """Programs in a folder of the user's that are links: a virtual environment's Python is often in another place."""
    real = Path(os.path.realpath(folder))
    if not any(real.is_relative_to(home) for home in homes()):
        return
    with suppress(OSError), os.scandir(folder) as listing:
        for found in islice((entry for entry in listing if entry.is_symlink()), _MOST_LINKED_PROGRAMS):
            trail = follow(found.path)
            if exists(trail.real):
                yield trail


def _interpreter(script: Path) -> str:
    """What the first line of a script names, looking through `env`; empty where there is none."""
    try:
        with script.open("rb") as stream:
            line = stream.readline(256)
    except OSError:
        return ""
    words = os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []
    if words and Path(words[0]).name == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words else ""


def hidden_programs(command: Command, hidden: tuple[Path, ...]) -> Iterator[Path]:
    """What a command runs, where that lies in a hidden folder: a client may be installed beside its own login."""
    # Ordinary strings: there are many hidden paths, and this is asked before every start.
    secrets = {os.path.realpath(path) for path in hidden}
    for trail in program_trails(command):
        for place in trail.places:
            inside = not secrets.isdisjoint(map(str, (place, *place.parents)))
            needed = needed_for(place, frozenset(map(Path, secrets))) if inside else None
            if needed is not None:
                yield needed


def needed_for(file: Path, secrets: Collection[Path] = ()) -> Path | None:
    """What must be seen for a program to run: its package, its installation, or its folder; else itself alone.

    A folder that is too much to be seen is never given, for a folder of programs neither: then it is None.
    """
    folder = file if file.is_dir() else file.parent
    for wanted in (_package(file), folder.parent if _is_installation(folder) else None, folder):
        if wanted is not None and wanted not in secrets and not _is_shared(wanted):
            return wanted
    return None if file == folder else file


def _package(file: Path) -> Path | None:
    """The packages of Node among which a file lies, as they use each other; or its one package of Python."""
    for name, beyond in (("node_modules", 1), ("site-packages", 2), ("dist-packages", 2)):
        if name in file.parts:
            return Path(*file.parts[: file.parts.index(name) + beyond])
    return None


def _is_installation(folder: Path) -> bool:
    """Whether programs in a folder use what lies beside it: a manager's shims, or a `bin` with its libraries."""
    if folder.name in ("shims", ".bin") or (folder.name == "bin" and folder.parent.name in _MANAGERS):
        return True
    return folder.name in ("bin", "sbin") and any(exists(folder.parent / name) for name in ("lib", "libexec"))


def _is_shared(folder: Path) -> bool:
    return folder in _SHARED_FOLDERS or any(
        home.is_relative_to(folder) or folder in [home / name for name in _SHARED_IN_HOME] for home in homes()
    )
