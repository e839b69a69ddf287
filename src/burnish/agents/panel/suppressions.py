"""Comments that silence a tool. The change under review cannot use them to hide what the tools find.

Tools are given texts in which no such comment works (`disarmed`), on both sides of a change, so that what was hidden
before the change is old and what it hides itself is new. What a comment of the change covers is then marked:
`rulings` says what that means for its severity.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from burnish.agents.panel.comparison import LineComparison, compare
from burnish.agents.panel.interface import Hidden, Hit, ToolName
from burnish.agents.panel.selectors import EVERYTHING, plain, selects
from burnish.core.values import Value, replace

LinesOf = Callable[[str], Sequence[str] | None]

_WORKING = re.compile(
    rb"(?:\bruff(?=[ \t]*:[ \t]*(?:file-)?(?:ignore|disable|enable)\b)"
    rb"|\b(?:eslint|oxlint)(?=-(?:disable|enable)\b)"
    rb"|(?<=/\*)[ \t\r\n]*eslint(?=[ \t\r\n])"
    rb"|\bshellcheck(?=[ \t][^\n]*\bdisable=)"
    rb"|\bast-grep-ignore\b"
    rb"|\bzizmor(?=[ \t]*:[ \t]*ignore\b)"
    rb"|\bhadolint(?=[ \t]+(?:global[ \t]+)?ignore\b)"
    rb"|(?<=#)[ \t]*ty(?=[ \t]*:[ \t]*ignore\b))",
    re.IGNORECASE,
)
"""The word of each comment without which its tool does not take it for one."""


_NOQA = re.compile(rb"\bnoqa\b", re.IGNORECASE)
_COMMENT = re.compile(rb"#[^\r\n]*")
"""Where ruff looks for it. Elsewhere it is a name, such as that of a module."""


def disarmed(content: bytes) -> bytes:
    """The same text, of the same length, with no comment in it that silences a tool."""
    without = (
        _COMMENT.sub(lambda comment: _NOQA.sub(_other_word, comment[0]), content) if _NOQA.search(content) else content
    )
    return _WORKING.sub(_other_word, without)


def _other_word(found: re.Match[bytes]) -> bytes:
    return found[0][:-1] + (b"x" if found[0][-1:] not in b"xX" else b"y")


_LONG = 256 * 1024
_PYTHON = (".py", ".pyi", ".pyw")
_SHELL = (".sh", ".bash", ".ksh", ".dash", ".bats", ".rb")
_WORDS = rb"[^\n\r\\'\"`${}<>*\xe2]*\r?(?=\n)"
"""To the end of a line, with nothing in it that ends a text, a comment or a line, or that runs inside of a text."""
_HASH_LINE = re.compile(rb"(?<=\n)[ \t]*#" + _WORDS)
_SLASH_LINE = re.compile(rb"(?<=\n)[ \t]*//" + _WORDS)
_ENDS_AT_A_COMMENT = re.compile(rb"<<[^\n]*#")
"""The beginning of a text of a shell that may end at a line which looks like a comment."""


def without_padding(path: str, content: bytes) -> bytes:
    """A long text without the lines that are comments, in as many lines as before.

    The time that ast-grep takes grows with the square of the comments in a file: padding must not keep it busy.
    A line may look like a comment inside of a text. So only lines go without which a text is a text as before.
    """
    if len(content) <= _LONG:
        return content
    if not path.endswith((*_PYTHON, *_SHELL)):
        return _SLASH_LINE.sub(b"", content)
    if path.endswith(_SHELL) and _ENDS_AT_A_COMMENT.search(content):
        return content
    return _HASH_LINE.sub(b"", content)


class Suppression(Value):
    """One comment that silences tools."""

    text: str
    """The comment itself, which tells whether the base has the same."""
    tools: frozenset[ToolName]
    line: int
    rules: tuple[str, ...] = ()
    """Empty for all of them."""
    whole_file: bool = False
    """Whether it silences more than the statement beside or below it."""

    def covers(self, hit: Hit) -> bool:
        if hit.tool not in self.tools or hit.line is None:
            return False
        last = max(hit.line, hit.end_line or hit.line)
        beside = hit.line <= self.line <= last or self.line == hit.line - 1
        return (self.whole_file or beside) and (not self.rules or self._names(hit))

    def _names(self, hit: Hit) -> bool:
        rule = plain(hit.rule)
        return any(selects(hit.tool, plain(name), rule) or plain(name).endswith(f"/{rule}") for name in self.rules)


class _Form(Value):
    """How comments of one kind are written: `rules`, `wide` and `others` are groups of the pattern.

    `others` are rules of a tool that burnish does not know: such a comment is for one statement, and for a reason.
    """

    pattern: re.Pattern[str]
    tools: frozenset[ToolName]


def _form(pattern: str, *tools: ToolName) -> _Form:
    return _Form(pattern=re.compile(pattern, re.IGNORECASE), tools=frozenset(tools))


_NAMES = r"(?P<rules>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)"
_FORMS = (
    _form(rf"#\s*(?P<wide>(?:ruff|flake8)\s*:\s*)?noqa(?:\s*:\s*{_NAMES})?", ToolName.RUFF),
    _form(r"#\s*ruff\s*:\s*(?P<wide>file-ignore|disable)?(?:ignore)?\s*\[(?P<rules>[^\]]*)\]", ToolName.RUFF),
    _form(
        r"(?:eslint|oxlint)-disable(?:-next-line|-line|(?P<wide>(?![\w-])))[ \t]*"
        r"(?P<rules>[\w@/,\s-]*?)(?=\s--\s|\*/|$)",
        ToolName.OXLINT,
        ToolName.ESLINT,
    ),
    _form(r"(?P<wide>/\*)\s*eslint\s", ToolName.OXLINT, ToolName.ESLINT),
    _form(r"#\s*shellcheck\s[^#]*?\bdisable=(?P<rules>[\w,-]*)", ToolName.SHELLCHECK),
    _form(r"ast-grep-ignore(?:\s*:\s*(?P<rules>[\w.,\s-]+))?", ToolName.AST_GREP),
    _form(r"#\s*zizmor\s*:\s*ignore\[(?P<rules>[^\]]*)\]", ToolName.ZIZMOR),
    _form(r"#\s*ty\s*:\s*ignore(?:\s*\[(?P<rules>[^\]]*)\])?", ToolName.TY),
    _form(r"#\s*type\s*:\s*ignore(?:\s*\[(?P<others>[^\]]*)\])?", ToolName.TY),
    _form(r"#\s*hadolint\s+(?P<wide>global\s+)?ignore\s*=\s*(?P<rules>[\w,\s]*)", ToolName.HADOLINT),
)
_ALL = frozenset({"all", "*"})
_QUICK = re.compile(r"noqa|ruff|lint-disable|eslint|shellcheck|-grep-ignore|zizmor|hadolint|ignore", re.IGNORECASE)


def suppressions(lines: Sequence[str]) -> Iterator[Suppression]:
    """Every comment in a file that silences a tool."""
    for number, line in enumerate(lines, start=1):
        if not _QUICK.search(line):
            continue
        for form in _FORMS:
            for match in form.pattern.finditer(line):
                yield _suppression(form, match, number, lines)


def _suppression(form: _Form, match: re.Match[str], number: int, lines: Sequence[str]) -> Suppression:
    groups = match.groupdict()
    names = tuple(name for name in re.split(r"[,\s]+", groups.get("rules") or "") if name)
    blanket = any(name.lower() in _ALL for name in names)
    # shellcheck takes one that stands before the first command for the whole file.
    first = ToolName.SHELLCHECK in form.tools and all(
        not line.strip() or line.lstrip().startswith("#") for line in lines[: number - 1]
    )
    return Suppression(
        text="".join(match[0].split()),
        tools=form.tools,
        line=number,
        rules=(EVERYTHING,) if groups.get("others") else () if blanket else names,
        whole_file=first or groups.get("wide") is not None,
    )


def without_suppressions(line: str) -> str:
    """A line without the comments that silence tools: what a finding in it is known by."""
    if not _QUICK.search(line):
        return line
    for form in _FORMS:
        match = form.pattern.search(line)
        if match is not None:
            line = f"{line[: match.start()].rstrip().removesuffix('//').removesuffix('/*').removesuffix('#').rstrip()}"
    return line


def marked(
    hits: Iterable[Hit], *, head_lines: LinesOf, base_lines: LinesOf, renamed: Mapping[str, str]
) -> tuple[Hit, ...]:
    """The hits of a change, each with what hides it. `renamed` maps new paths to old ones."""

    @cache
    def silenced(path: str) -> tuple[Suppression, ...]:
        return tuple(suppressions(head_lines(path) or ()))

    @cache
    def before(path: str) -> "_Before":
        old = renamed.get(path)
        return _Before((base_lines(old) or ()) if old is not None else (), head_lines(path) or ())

    def hidden(hit: Hit) -> Hidden:
        covering = [one for one in silenced(hit.file) if one.covers(hit)]
        if not covering:
            return Hidden.NOT
        if all(before(hit.file).has(one, hit) for one in covering):
            return Hidden.BEFORE
        blanket = any(not one.rules or one.whole_file for one in covering if not before(hit.file).has(one, hit))
        return Hidden.BLANKET if blanket else Hidden.NAMED

    return tuple(replace(hit, hidden=hidden(hit)) for hit in hits)


class _Before:
    """What the base has of the comments of a file."""

    def __init__(self, base: Sequence[str], head: Sequence[str]) -> None:
        self._base = [_bare(line) for line in base]
        self._lines = frozenset(self._base)
        self._head = [_bare(line) for line in head]
        self._comparison: LineComparison = compare(self._base, self._head)

    def has(self, one: Suppression, hit: Hit) -> bool:
        """Whether the base already silenced the tool in this place: by this comment, for this statement."""
        if not self._base:
            return False
        if one.whole_file:
            return self._head[one.line - 1] in self._lines
        return self._was_there(one.line, one.text) and (hit.line == one.line or self._was_there(hit.line or 0, ""))

    def _was_there(self, line: int, text: str) -> bool:
        """Whether a line is an old one, or was made by editing one that holds this text, too."""
        if line in self._comparison.unchanged:
            return True
        blocks = (block for block in self._comparison.replaced if line in block.head)
        return any(text in self._base[number - 1] for block in blocks for number in block.base)


def _bare(line: str) -> str:
    return "".join(line.split())
