"""A user with logins and a checkout, two agents at work for it, and one of them a real client that tries to get out.

What it tries, its model asks it to: lines for the client's own shell, each of which prints whether it got through.
"""

import asyncio
import os
import re
import shutil
from pathlib import Path

import pytest

from burnish.agents.interface import Reply, Role
from burnish.agents.logins import copy_credentials, hidden_logins
from burnish.core.values import Value, replace
from burnish.settings.agent_kinds import AgentKind
from burnish.system import process
from burnish.system.process import Command, ProcessLimits, run_now
from burnish.system.sandbox import DEFAULT_SECRETS, Confinement, Sandbox, SandboxKind, confine
from burnish.testing.model_server.scenario import ModelAnswer, RunCommand
from burnish.testing.model_server.server import model_server
from burnish.testing.repositories import RepositoryBuilder
from tests.agents.clients.live import ISSUES_SCHEMA, Stage
from tests.system.sandbox_installations import link_or_copy, symlink

PATH = "/usr/local/bin:/usr/bin:/bin"
SECRET = "the-secret-of-the-user"  # noqa: S105 - it is looked for, and opens nothing
ESCAPES = Path(__file__).parent.parent / "system" / "escapes.py"
_CLEAN = '{"issues": [], "former": null, "summary": {"critical": 0, "warning": 0, "info": 0, "verdict": "clean"}}'
_LOGINS = {
    "claude": ".claude/.credentials.json",
    "codex": ".codex/auth.json",
    "gemini": ".gemini/oauth_creds.json",
    "opencode": ".local/share/opencode/auth.json",
}
_GIT = "git -c user.name=x -c user.email=x@example.com"

ATTEMPTS = {
    "write-checkout": 'echo evil > "$CHECKOUT/app.py"',
    "create-in-checkout": 'echo evil > "$CHECKOUT/evil"',
    "commit-in-checkout": f'cd "$CHECKOUT" && {_GIT} commit -q --allow-empty -m evil',
    "hook-in-checkout": 'echo evil > "$CHECKOUT/.git/hooks/evil"',
    "write-through-a-link": 'ln -s "$CHECKOUT" "$TMPDIR/link" && echo evil >> "$TMPDIR/link/app.py"',
    "read-ledger": 'cat "$CHECKOUT/.git/burnish/ledger.db"',
    "read-settings-of-git": 'cat "$CHECKOUT/.git/config"',
    "read-login-of-another-agent": 'cat "$OTHER/home/login"',
    "write-home-of-another-agent": 'echo evil > "$OTHER/home/evil"',
    "write-desk-of-another-agent": 'echo evil > "$OTHER/desk/answer"',
    "list-desk-of-another-agent": 'cat "$OTHER/desk/findings.json"',
    "environment-of-another": 'tr "\\0" "\\n" < /proc/$OTHER_PID/environ | grep TOKEN',
    "environments-of-all": f'cat /proc/[0-9]*/environ | tr "\\0" "\\n" | grep "^TOKEN={SECRET}"',
    "signal-to-burnish": "kill -CONT $BURNISH_PID",
    "signal-to-another": "kill -CONT $OTHER_PID",
    **{f"login-of-{name}": f'cat "$OF_USER/{file}"' for name, file in _LOGINS.items()},
    **{f"login-of-{name}-through-proc": f'cat "/proc/self/root$OF_USER/{file}"' for name, file in _LOGINS.items()},
}
"""What nobody may, reviewer or fixer."""
UNSEEN = {
    "write-home": 'echo evil > "$OF_USER/evil"',
    "write-ledger": 'echo evil > "$CHECKOUT/.git/burnish/ledger.db"',
    "write-login": 'mkdir -p "$OF_USER/.codex" && echo evil > "$OF_USER/.codex/auth.json"',
}
"""What nobody may either; bubblewrap lets them write, to an empty folder of their own in place of the hidden one."""
AS_REVIEWER = {
    "write-clone": 'echo evil > "$CLONE/app.py"',
    "create-in-clone": 'echo evil > "$CLONE/evil"',
    "commit-in-clone": f'cd "$CLONE" && {_GIT} commit -q --allow-empty -m evil',
}
WIRING = {
    "settings-of-its-git": f'cd "$CLONE" && {_GIT} config core.fsmonitor evil',
    "hook-of-its-git": 'mkdir -p "$CLONE/.git/hooks" && echo evil > "$CLONE/.git/hooks/post-commit"',
    "another-git": 'cd "$CLONE" && mv .git moved',
}
"""What a fixer may not do to its own clone."""
ALLOWED = {
    "its-own-login": 'grep -q of-the-user "$OWN/$LOGIN"',
    "its-temporary-folder": 'echo kept > "$TMPDIR/kept"',
    "its-code": 'cat "$CLONE/app.py"',
}
AS_FIXER = {
    "edit": 'echo "x = 2" > "$CLONE/app.py"',
    "create": 'echo "x = 2" > "$CLONE/new.py"',
    "commit": f'cd "$CLONE" && git add -A && {_GIT} commit -q -m mine',
}


class Client(Value):
    """One real client at work, with everything that it must not touch around it."""

    root: Path
    stage: Stage
    user: int
    outsider: int

    @property
    def clone(self) -> Path:
        return self.stage.clone

    def names(self) -> dict[str, str]:
        """What its shell calls the places."""
        return {
            "OUTSIDE": str(self.root),
            "OF_USER": str(self.root / "user"),
            "CHECKOUT": str(self.root / "checkout"),
            "CLONE": str(self.clone),
            "OWN": str(self.stage.home),
            "OTHER": str(self.root / "cache" / "other"),
            "OTHER_PID": str(self.outsider),
            "BURNISH_PID": str(os.getpid()),
            "LOGIN": dict(self.lent())[str(self.root / "user" / _LOGINS[self.stage.kind.value])],
        }

    def lent(self) -> tuple[tuple[str, str], ...]:
        return self.stage.client.needs(self.stage.settings, {"HOME": str(self.root / "user")}).files

    def script(self, attempts: dict[str, str]) -> str:
        """Lines for a shell. What they print is made up while they run, so that it is not in the question itself."""
        told = "".join(f"{name}='{value}'; " for name, value in self.names().items())
        lines = [f'( {line} ) >/dev/null 2>&1 && echo "reached $n-{name}"' for name, line in attempts.items()]
        escapes = f'python3 -I "$OUTSIDE/escapes.py" "$CHECKOUT" "$OF_USER/.codex" {self.outsider}'
        return f"{told}n=it; " + "; ".join([*lines, escapes, 'echo "tried $n-all"'])

    def reached(self, text: str) -> set[str]:
        """What got through, of these and of the attempts that are shared with every sandbox."""
        assert "tried it-all" in text, text[-3_000:]
        return {*re.findall(r"reached it-([a-z-]+)", text), *re.findall(r'(\w+)\\*": true', text)}

    def places(self, role: Role) -> Confinement:
        """As the runner gives them."""
        git = self.root / "checkout" / ".git"
        writable = (self.stage.home, self.root / "cache" / "own" / "scratch")
        fixing = role is not Role.REVIEW
        return Confinement(
            readable=(str(git.parent), str(self.clone), str(self.root / "escapes.py")),
            writable=(*map(str, writable), *([str(self.clone)] if fixing else [])),
            protected=tuple(f"{self.clone}/.git/{part}" for part in ("config", "hooks", "info", "objects/info")),
            hidden=(
                *DEFAULT_SECRETS,
                *hidden_logins(os.environ),
                f"{git}/config",
                f"{git}/burnish",
                str(self.root / "cache"),
            ),
            temporary=str(self.stage.temporary),
        )

    def asked_to(self, attempts: dict[str, str], kind: SandboxKind, role: Role) -> set[str]:
        """Have its model ask it to make these attempts; what got through."""
        steps = (ModelAnswer(turn=1, call=(RunCommand(command=self.script(attempts)),)), ModelAnswer(answer=_CLEAN))
        scratch = str(self.root / "cache" / "own" / "scratch") if role is Role.REVIEW else ""
        with model_server({"escape": steps}) as server:
            asked = self.stage.request(schema=ISSUES_SCHEMA, confined=True, scratch=scratch, role=role)
            environment = {**self.stage.environment(server.url("escape")), "HOME": str(self.root / "user")}
            environment["PATH"] = f"{self.root}/user/.local/bin:{PATH}"
            self.stage.furnish(asked, environment)
            credentials = copy_credentials(
                self.stage.client.needs(self.stage.settings, {"HOME": environment["HOME"]}), self.stage.home
            )
            own(self.root / "cache", self.user)
            command = self.stage.client.command(self.stage.settings, asked, environment)
            inside = confine(Sandbox(kind=kind), command, self.places(role))
            finished = asyncio.run(process.run(as_user(inside, self.user, kind), ProcessLimits(seconds=120)))
            found = self.stage.client.read(finished, asked, None)
            assert isinstance(found, Reply), (found, finished.stderr_tail[-2_000:])
            credentials.give_back()
            return self.reached(server.asked("escape")[-1].text)

    def unconfined(self, attempts: dict[str, str]) -> set[str]:
        """The same lines without a client and without a sandbox."""
        environment = {"PATH": PATH, "TMPDIR": str(self.stage.temporary)}
        copy_credentials(
            self.stage.client.needs(self.stage.settings, {"HOME": str(self.root / "user")}), self.stage.home
        )
        own(self.root / "cache", self.user)
        command = Command(argv=("sh", "-c", self.script(attempts)), folder=str(self.root), environment=environment)
        finished = run_now(as_user(command, self.user, SandboxKind.NONE))
        return self.reached(finished.stdout.decode())


def as_user(command: Command, user: int, kind: SandboxKind) -> Command:
    """The same command, started by another user; the launcher of Landlock by an interpreter that it may run."""
    if user == os.getuid():
        return command
    python = shutil.which("python3", path=PATH)
    if python is None:
        pytest.skip("optional: there is no interpreter that everybody may run")
    argv = (python, *command.argv[1:]) if kind is SandboxKind.LANDLOCK else command.argv
    return replace(command, argv=become(user, *argv))


def become(user: int, *argv: str) -> tuple[str, ...]:
    """The words that start a command as a user."""
    if user == os.getuid():
        return argv
    return ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *argv)


def own(folder: Path, user: int) -> None:
    """Give everything in a folder to a user, but for programs: they may be linked from elsewhere."""
    for path in (folder, *folder.rglob("*")):
        if path.is_dir() or path.stat(follow_symlinks=False).st_nlink == 1:
            os.chown(path, user, -1, follow_symlinks=False)


def make_client(root: Path, kind: AgentKind, program: Path, user: int, outsider: int) -> Client:
    """Furnish everything: the user's home with its logins, a checkout, the places of two agents."""
    for folder in ("cache/own/scratch", "cache/other/home", "cache/other/desk"):
        (root / folder).mkdir(parents=True)
    for file in _LOGINS.values():
        (root / "user" / file).parent.mkdir(parents=True)
        (root / "user" / file).write_text(f'{{"token": "{SECRET}"}}')
    (root / "user" / ".codex" / "key").write_text(SECRET)
    version = link_or_copy(program, root / "user" / ".local" / "share" / kind.value / "versions" / "1")
    symlink(root / "user" / ".local" / "bin" / kind.value, version)
    repository = RepositoryBuilder(root / "checkout").commit({"app.py": "x = 1\n"})
    (repository.path / "victim").write_text("victim")
    (repository.path / "deletable").write_text("deletable")
    (repository.path / ".git" / "hooks").mkdir(exist_ok=True)
    (repository.path / ".git" / "burnish").mkdir()
    (repository.path / ".git" / "burnish" / "ledger.db").write_text(SECRET)
    for name in ("home/login", "desk/findings.json"):
        (root / "cache" / "other" / name).write_text(SECRET)
    (root / "escapes.py").write_text(ESCAPES.read_text())
    client = Client(root=root, stage=Stage(kind, root / "cache" / "own"), user=user, outsider=outsider)
    own(root, user)
    return client
