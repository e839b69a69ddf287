"""hadolint: Dockerfiles. Fixes nothing, and can be told only what not to look for: callers choose among the hits."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import msgspec

from burnish.agents.panel.interface import Hit, RuleSelection, SourceFile, ToolInvocation, ToolName
from burnish.agents.panel.tools import reading
from burnish.system.process import Finished

_NO_CONFIGURATION = Path(__file__).with_name("hadolint.yaml")
"""Given by name, so that none is looked for in the tree or in the user's home."""
_NAMES = ("dockerfile", "containerfile")
_OTHER_SUFFIXES = frozenset(
    {
        ".cjs", ".css", ".dockerignore", ".erb", ".go", ".hbs", ".html", ".in", ".j2", ".java", ".jinja", ".jinja2",
        ".js", ".json", ".lua", ".md", ".mjs", ".mustache", ".php", ".py", ".rb", ".rego", ".rs", ".rst", ".sh",
        ".template", ".tmpl", ".toml", ".tpl", ".ts", ".tsx", ".txt", ".vim", ".yaml", ".yml",
    }
)  # fmt: skip
"""Code and documents about Dockerfiles, and templates of which they are made."""


class _Problem(msgspec.Struct, frozen=True):
    code: str
    file: str
    level: str
    line: reading.Place
    message: str


class Hadolint:
    """`Dockerfile`, `Dockerfile.production`, `production.Dockerfile`, and the same with `Containerfile`."""

    name = ToolName.HADOLINT

    def takes(self, file: SourceFile) -> bool:
        path = PurePosixPath(file.path.lower())
        is_named = path.name in _NAMES or path.suffix.removeprefix(".") in _NAMES
        return is_named or (path.name.split(".")[0] in _NAMES and path.suffix not in _OTHER_SUFFIXES)

    def invocation(self, files: Sequence[str], choice: RuleSelection) -> ToolInvocation:
        ignored = (f"--ignore={rule}" for rule in choice.ignore)
        options = ("--format=json", "--no-color", f"--config={_NO_CONFIGURATION}", *ignored)
        return ToolInvocation(arguments=(*options, "--", *reading.as_arguments(self.name, files)))

    def read(self, finished: Finished, files: Sequence[str]) -> tuple[Hit, ...]:
        found = reading.decoded(self.name, reading.output_of(self.name, finished, (0, 1)), tuple[_Problem, ...])
        reading.must_name_something(self.name, finished, found)
        places = reading.located(self.name, (one.file for one in found), files)
        hits = (
            Hit(
                tool=self.name,
                rule=reading.text(one.code),
                file=places[one.file],
                line=one.line,
                message=reading.text(one.message),
                level=one.level.lower(),
                link=_link(one.code),
            )
            for one in found
        )
        return (*hits, *reading.nameless(self.name, files))

    def passed_over(self, finished: Finished, files: Sequence[str]) -> frozenset[str]:  # noqa: ARG002 - see `read`
        return frozenset()


def _link(code: str) -> str:
    if code.startswith("SC"):
        return f"https://www.shellcheck.net/wiki/{reading.text(code)}"
    return f"https://github.com/hadolint/hadolint/wiki/{reading.text(code)}"
