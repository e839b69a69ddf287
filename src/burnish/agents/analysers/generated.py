"""Which files nobody wrote by hand, so that nobody is asked to mend them: the reason in words."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from burnish.agents.analysers.interface import SourceFile
from burnish.config.globs import matches

MAX_BYTES = 1_000_000
"""No person wrote a longer file of code."""

LONG_LINE = 1_500
"""Characters in a line from which a script or style sheet counts as minified."""

_FOLDERS = {
    **dict.fromkeys(
        ("node_modules", "bower_components", "site-packages", "vendor", "vendored", "_vendor", "third_party",
         "third-party", "thirdparty", "Godeps", "Pods", ".yarn", ".venv", "venv"),
        "vendored",
    ),
    **dict.fromkeys(("generated", "_generated", "__generated__"), "generated"),
    **dict.fromkeys(("dist", "__pycache__"), "built"),
    "__snapshots__": "a snapshot",
}  # fmt: skip
"""Folders anywhere in a path, and what is in them."""

_NAMES = (
    ("a lock file", (
        "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "poetry.lock", "uv.lock",
        "pdm.lock", "Pipfile.lock", "Cargo.lock", "composer.lock", "Gemfile.lock", "go.sum", "flake.lock", "mix.lock",
        "deno.lock", "pixi.lock", "packages.lock.json", "gradle.lockfile", "pubspec.lock", "Podfile.lock",
    )),
    ("minified", ("*.min.js", "*.min.mjs", "*.min.css", "*-min.js", "*.bundle.js")),
    ("generated", (
        "*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*.pb.go", "*.pb.cc", "*.pb.h", "*.g.dart", "*.freezed.dart",
        "*.g.cs", "*.Designer.cs", "*.generated.*", "*_generated.go", "zz_generated*", "*.gen.go", "*.gen.ts",
        "versioneer.py",
    )),
    ("a snapshot", ("*.snap", "*.ambr")),
    ("a source map", ("*.map",)),
)  # fmt: skip
"""Patterns of names, and what such a file is."""

_NOTE = re.compile(
    rb"@generated\b|\bgenerated\b.{0,200}\bedit|\bedit\b.{0,200}\bgenerated\b", re.IGNORECASE | re.DOTALL
)
_FORBIDDING = re.compile(rb"@generated\b|\b(?:do not|don't|never|not be|should not)\b", re.IGNORECASE)
_COMMENT = re.compile(rb"\s*(?:#|//|/?\*|<!--|--|;|%|\"\"\"|''')")
_NOTED_LINES = 20
"""A note that a file is generated stands at its top; further down it is text about such notes."""
_MINIFIABLE = (".js", ".mjs", ".cjs", ".css")


def why_left_out(file: SourceFile, globs: Sequence[str]) -> str | None:
    """Why analysers do not look at a file, or None where they do. `globs` are the user's own."""
    if any(matches(file.path, glob) for glob in globs):
        return "left out by the settings"
    return _by_path(file.path) or _by_content(file)


def _by_path(path: str) -> str | None:
    *folders, name = PurePosixPath(path).parts or ("",)
    for reason, patterns in _NAMES:
        if any(matches(name, pattern) for pattern in patterns):
            return reason
    if "{{" in path:
        return "a template"
    return next((_FOLDERS[folder] for folder in folders if folder in _FOLDERS), None)


def _by_content(file: SourceFile) -> str | None:
    if b"\0" in file.opening:
        return "binary"
    if file.size > MAX_BYTES:
        return f"longer than {MAX_BYTES:,} bytes"
    lines = file.opening.splitlines()
    notes = b"\n".join(line for line in lines[:_NOTED_LINES] if _COMMENT.match(line))
    if _NOTE.search(notes) and _FORBIDDING.search(notes):
        return "generated"
    if file.path.endswith(_MINIFIABLE) and any(len(line) > LONG_LINE for line in lines):
        return "minified"
    return None
