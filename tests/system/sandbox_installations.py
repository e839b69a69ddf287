"""A home in which clients are installed in all the ways that there are, and which holds things that nobody may see.

Each function installs one and returns its program, with the folder in which a user's PATH would have it.
"""

import os
import shutil
import sys
import venv
from collections.abc import Callable
from pathlib import Path

PRIVATE = (
    *(".claude/.credentials.json", ".claude.json", ".claude/projects/notes", ".codex/auth.json", ".codex/history"),
    *(".gemini/oauth_creds.json", ".qwen/oauth_creds.json", ".copilot/config.json", ".config/opencode/config.json"),
    *(".local/share/opencode/auth.json", ".ssh/id_ed25519"),
)
"""What no sandbox may show."""
PERSONAL = ("notes", ".local/share/mail/inbox", ".config/editor/tokens", ".local/state/shell/history")
"""What bubblewrap does not show either."""
WORDS = "runs with its package, its dependency and its interpreter"

Installation = Callable[[Path, Path], Path]


def furnish(home: Path) -> None:
    for name in (*PRIVATE, *PERSONAL):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(f"private:{name}\n")


def link_or_copy(source: Path, target: Path) -> Path:
    """A program of some hundred megabytes: linked where the file system and the user's rights allow it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
    return target


def symlink(place: Path, target: str | Path) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)
    return place


def script(place: Path, text: str) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    place.chmod(0o755)
    return place


def node_package(packages: Path, flat: bool = True) -> Path:
    """A client for Node in a folder of packages, with a dependency beside or below it; the file that is run."""
    package = packages / "@vendor" / "client"
    (package / "bundle").mkdir(parents=True)
    (package / "package.json").write_text('{"name": "client", "words": "runs with its package"}')
    dependency = (packages if flat else package / "node_modules") / "helper"
    dependency.mkdir(parents=True)
    (dependency / "index.js").write_text('module.exports = "its dependency and its interpreter"')
    lines = 'console.log(require("../package.json").words + ", " + require("helper"))\n'
    return script(package / "bundle" / "client.js", f"#!/usr/bin/env node\n{lines}")


def native(home: Path, program: Path) -> Path:
    """The installer of claude: a link to one of several versions."""
    version = link_or_copy(program, home / ".local" / "share" / "claude" / "versions" / "2.1.325")
    return symlink(home / ".local" / "bin" / "claude", version)


def beside_the_login(home: Path, program: Path) -> Path:
    """An older installer of claude, which puts everything into one folder."""
    local = home / ".claude" / "local"
    link_or_copy(program, local / "node_modules" / ".bin" / "claude")
    return script(local / "claude", f'#!/bin/sh\nexec "{local}/node_modules/.bin/claude" "$@"\n')


def standalone(home: Path, program: Path) -> Path:
    """The installer of codex: releases beside its login."""
    packages = home / ".codex" / "packages" / "standalone"
    link_or_copy(program, packages / "releases" / "0.163.0" / "codex")
    symlink(packages / "current", "releases/0.163.0")
    return symlink(home / ".local" / "bin" / "codex", packages / "current" / "codex")


def wheel(home: Path, program: Path) -> Path:
    """A package of Python that brings the program, in the environment of burnish itself."""
    package = home / "burnish" / "lib" / "python3.11" / "site-packages" / "client_bin"
    (package / "resources").mkdir(parents=True)
    (package / "resources" / "words").write_text(WORDS)
    return link_or_copy(program, package / "bin" / "client")


def npm_in_local(home: Path, program: Path) -> Path:
    del program
    node_package(home / ".local" / "lib" / "node_modules", flat=False)
    return symlink(home / ".local" / "bin" / "client", "../lib/node_modules/@vendor/client/bundle/client.js")


def npm_global(home: Path, program: Path) -> Path:
    del program
    node_package(home / ".npm-global" / "lib" / "node_modules", flat=False)
    return symlink(home / ".npm-global" / "bin" / "client", "../lib/node_modules/@vendor/client/bundle/client.js")


def nvm(home: Path, program: Path) -> Path:
    """With an interpreter of its own."""
    version = home / ".nvm" / "versions" / "node" / "v20"
    link_or_copy(program, version / "bin" / "node")
    node_package(version / "lib" / "node_modules", flat=False)
    return symlink(version / "bin" / "client", "../lib/node_modules/@vendor/client/bundle/client.js")


def pnpm(home: Path, program: Path) -> Path:
    """A script beside the packages, which are links into a store."""
    del program
    folder = home / ".local" / "share" / "pnpm"
    node_package(folder / "global" / "5" / ".pnpm" / "client@1" / "node_modules")
    symlink(folder / "global" / "5" / "node_modules" / "@vendor", "../.pnpm/client@1/node_modules/@vendor")
    entry = "global/5/node_modules/@vendor/client/bundle/client.js"
    return script(folder / "client", f'#!/bin/sh\nexec node "$(dirname "$0")/{entry}" "$@"\n')


def pnpm_with_bin(home: Path, program: Path) -> Path:
    """As before, with the scripts in a folder of their own."""
    made = pnpm(home, program)
    return script(made.parent / "bin" / "client", made.read_text().replace("global/5", "../global/5"))


def volta(home: Path, program: Path) -> Path:
    """One shim for all programs, which finds the real one by its own name."""
    del program
    folder = home / ".volta"
    node_package(folder / "tools" / "image" / "packages" / "client" / "lib" / "node_modules")
    entry = "tools/image/packages/client/lib/node_modules/@vendor/client/bundle/client.js"
    script(folder / "bin" / "volta-shim", f'#!/bin/sh\nexec node "$VOLTA_HOME/{entry}" "$@"\n')
    return symlink(folder / "bin" / "client", "volta-shim")


def pipx(home: Path, program: Path) -> Path:
    """A virtual environment whose Python is a link to another."""
    del program
    folder = home / ".local" / "share" / "pipx" / "venvs" / "client"
    venv.create(folder, symlinks=True, with_pip=False)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    (folder / "lib" / version / "site-packages" / "client.py").write_text(f"WORDS = {WORDS!r}\n")
    script(folder / "bin" / "client", f"#!{folder}/bin/python\nimport client\nprint(client.WORDS)\n")
    return symlink(home / ".local" / "bin" / "client", folder / "bin" / "client")
