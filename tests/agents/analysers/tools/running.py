"""Real tools on real small files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from burnish.agents.panel.interface import AnalyserTool, Hit, RuleSelection, TextEdit, ToolName
from burnish.agents.panel.programs import program
from burnish.agents.panel.tools.kingfisher import given_files
from burnish.system.process import Command, Finished, run_now

SECONDS = 120.0


def write(folder: Path, files: Mapping[str, str | bytes]) -> tuple[str, ...]:
    """Put files into a folder; their names in return."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return tuple(files)


def write_for(tool: AnalyserTool, folder: Path, files: Mapping[str, str | bytes]) -> tuple[str, ...]:
    """Put files where a tool expects them; their names in return."""
    if tool.name is ToolName.KINGFISHER:
        for name, content in files.items():
            write(folder, given_files(name, content if isinstance(content, bytes) else content.encode()))
    else:
        write(folder, files)
    return tuple(files)


def start(tool: AnalyserTool, folder: Path, files: Sequence[str], choice: RuleSelection, path: str = "") -> Finished:
    """Run a tool as burnish does: in the folder, with next to nothing in its environment."""
    call = tool.invocation(files, choice)
    environment = {"HOME": "/nonexistent", "PATH": "/usr/bin:/bin", "NO_COLOR": "1", **call.environment}
    command = Command(
        argv=(path or program(tool.name), *call.arguments),
        folder=str(folder),
        environment=environment,
        stdin=call.stdin,
    )
    return run_now(command, seconds=SECONDS)


def look(
    tool: AnalyserTool, folder: Path, files: Mapping[str, str | bytes], choice: RuleSelection | None = None
) -> tuple[Hit, ...]:
    """What a tool finds in these files, by file, line and rule."""
    names = write_for(tool, folder, files)
    return in_order(tool.read(start(tool, folder, names, choice or RuleSelection()), names))


def in_order(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    return tuple(sorted(hits, key=lambda hit: (hit.file, hit.line or 0, hit.rule)))


def places(hits: Sequence[Hit]) -> list[tuple[str, int | None, str]]:
    """Where each rule was broken."""
    return [(hit.file, hit.line, hit.rule) for hit in hits]


def edited(text: str, edits: Sequence[TextEdit]) -> str:
    """A text after edits that do not overlap, counted as `TextEdit` says."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for edit in sorted(edits, key=lambda edit: (edit.line, edit.column), reverse=True):
        start = starts[edit.line - 1] + edit.column - 1
        end = starts[edit.end_line - 1] + edit.end_column - 1
        text = text[:start] + edit.text + text[end:]
    return text
