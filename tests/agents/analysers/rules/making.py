"""Hits, files and trees, made short for tests."""

from collections.abc import Iterable, Mapping

from burnish.agents.panel.interface import Hit, SourceFile, ToolName
from burnish.core.values import Value
from burnish.settings.types import AnalyserSettings

DEFAULTS = AnalyserSettings()


def hit(
    name: str, file: str = "src/app.py", line: int | None = 1, message: str = "It is wrong.", level: str = ""
) -> Hit:
    """A hit by `tool:rule`."""
    tool, _, rule = name.partition(":")
    return Hit(tool=ToolName(tool), rule=rule, file=file, line=line, message=message, level=level)


def files(*paths: str) -> tuple[SourceFile, ...]:
    return tuple(SourceFile(path=path) for path in paths)


def wanting(**rules: str) -> AnalyserSettings:
    """Settings with a severity for rules; `ruff__S101` stands for `ruff:S101`."""
    return AnalyserSettings(rules={name.replace("__", ":"): word for name, word in rules.items()})


class Tree(Value):
    """A tree in memory."""

    files: dict[str, str]

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(self.files)

    def read(self, paths: Iterable[str]) -> Mapping[str, bytes]:
        return {path: self.files[path].encode() for path in paths if path in self.files}

    def holding(self, words: Iterable[str]) -> Mapping[str, set[str]]:
        return {word: {path for path, text in self.files.items() if word in text} for word in words}
