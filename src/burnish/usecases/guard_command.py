"""A rule for agents: no commit or push past git's hooks, no forced push.

It reads a shell command, as a client's hook hands it over, and says why it is denied, if it is. It knows quotes, pipes,
substitutions, here-documents, wrappers such as `env` and shells such as `sh -c`. What it cannot follow is denied where
it mentions git and one of the words. It stops habits, not attackers: a script on disk, an alias of git or an encoded
command is not seen. A pre-push hook and CI are what decides.

Only the standard library is used, and little of it: a client waits for this before every command.
"""

import json
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import dropwhile
from typing import Any, NamedTuple

_NO_VERIFY = "it skips the checks of git's hooks"
_FORCE = "it overwrites commits on the remote"
_HOOKS_PATH = "it turns git's hooks off, or replaces them"
_UNCLEAR = "burnish cannot tell what it runs, and it mentions git with --no-verify, --force or core.hooksPath"
_INSTEAD = "Run it without that, and let the hooks check the change. If it must be so, ask the user to run it."

_MENTIONS = re.compile(r"--no-v|--for|hookspath|(?<![\w-])-[a-z]*[nf]\b", re.IGNORECASE)
_LONG = re.compile(r"no-veri|--forc|hookspath|[={, ]['\"]?-[a-z]*[nf]\b", re.IGNORECASE)
_GIT = re.compile(r"(?<![a-z])git(?![a-z])", re.IGNORECASE)
_ANSI_QUOTES = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_BACKTICKS = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:\w+|[@*#?$!-])")
_REDIRECTION = re.compile(r"&>>?|<<<|<<-?|<\(|>\(|<>|[<>]&|>>|>\||[<>]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_OUTPUT = "<("
"""The word that stands for the output of a command, as a file."""
_LONGEST, _DEEPEST = 50_000, 6
"""How many characters are parsed, and how many commands within commands."""

_GITS = {"git", "git.exe"}
_SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish"}
_INTERPRETERS = re.compile(r"(?:python|pypy|perl|ruby|node|php|lua|deno|bun|osascript|tclsh|awk|gawk|make)[\d.]*$")
_WRAPPERS = {
    *("env", "sudo", "doas", "command", "exec", "builtin", "nohup", "nice", "ionice", "time", "timeout", "stdbuf"),
    *("setsid", "xargs", "busybox", "chronic", "caffeinate", "unbuffer", "flock", "strace", "find", "fd", "rtk"),
}
_TAKE_LINES = {"eval", "su", "runuser", "script", "watch", "parallel", "tmux", "screen", "ssh", "alias", "trap"}
"""Programs and words of the shell that take commands as text."""
_RESERVED = {"if", "then", "else", "elif", "do", "while", "until", "!", "{", "}", "coproc", "fi", "done", "esac"}

_BEFORE = {"-C", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--attr-source"}
"""Options of git itself that take a value."""
_VERIFYING = {"commit", "am", "merge", "pull", "rebase", "cherry-pick", "revert", "push", "send-pack", "citool", "gui"}
_COMMIT_VALUES = {
    *("--message", "--file", "--author", "--date", "--template", "--reuse-message", "--reedit-message", "--fixup"),
    *("--squash", "--cleanup", "--trailer", "--pathspec-from-file"),
}
_SHORT_VALUES = {"commit": "mFCct", "push": "o", "merge": "mFsX", "am": "C", "pull": "sX", "rebase": "sXx"}
_KNOWN = {
    *("add", "apply", "archive", "bisect", "blame", "branch", "bundle", "cat-file", "check-ignore", "checkout"),
    *("clean", "clone", "describe", "diff", "fetch", "filter-branch", "filter-repo", "for-each-ref"),
    *("format-patch", "fsck", "gc", "grep", "hash-object", "help", "init", "lfs", "log", "ls-files"),
    *("ls-remote", "ls-tree", "maintenance", "mv", "notes", "prune", "range-diff", "read-tree", "reflog"),
    *("remote", "repack", "replace", "reset", "restore", "rev-list", "rev-parse", "rm", "shortlog", "show"),
    *("sparse-checkout", "stash", "status", "submodule", "switch", "symbolic-ref", "tag", "update-index"),
    *("update-ref", "whatchanged", "worktree", "write-tree"),
}
"""Commands for which neither word means what the rule is about."""


def main() -> int:
    """What the hook of a client runs before each shell command. Exit code 2 denies it; the reason is on stderr."""
    raw = sys.stdin.buffer.read().decode("utf-8", errors="replace")
    try:
        reason = why_denied(_shell_command(json.loads(raw)))
    except Exception:  # noqa: BLE001 - whatever breaks here must not let a command through that it was to look at
        reason = _UNCLEAR if mentions(raw) else ""
    if not reason:
        return 0
    sys.stderr.write(f"burnish denies this command: {reason}. {_INSTEAD}\n")
    return 2


def _shell_command(event: Any) -> str:
    """The command of a tool call, by the names that clients use for it. A list is taken as words."""
    given = event["tool_input"]
    command = next(given[name] for name in ("command", "cmd", "script") if name in given)
    return command if isinstance(command, str) else " ".join(map(_quoted, command))


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


class Word(NamedTuple):
    text: str
    """Without its quotes."""
    opaque: bool = False
    """Whether the shell replaces a part of it."""

    @property
    def is_assignment(self) -> bool:
        return _ASSIGNMENT.match(self.text) is not None


class ShellCommand(NamedTuple):
    words: list[Word]
    inputs: list[str]
    """Here-documents and here-strings."""
    piped: bool = False
    """Whether another command writes its input."""


class _UnparsableError(Exception):
    """The end came too early: an open quote, or an open parenthesis."""


def why_denied(command: str, depth: int = 0) -> str:
    """Why a command is denied; empty where it is not. `depth` counts the commands that run this one from a text."""
    if not _GIT.search(re.sub(r"[\\'\"]", "", command)):
        return ""
    try:
        if len(command) > _LONGEST or depth > _DEEPEST:
            raise _UnparsableError
        commands = _Reader(command).script()
    except (_UnparsableError, RecursionError, UnicodeError):
        return _UNCLEAR if mentions(command) else ""
    judge = _Judge(command, commands, depth)
    return _first(judge.reason(each) for each in commands)


def _first(reasons: Iterable[str]) -> str:
    return next(filter(None, reasons), "")


def mentions(text: str) -> bool:
    """Whether a text that burnish cannot parse speaks of git and of one of the words."""
    return bool(_GIT.search(text) and _MENTIONS.search(text))


class _Reader:
    """Reads a script into its simple commands; those of substitutions and of functions are among them."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._found: list[ShellCommand] = []
        self._awaited: list[tuple[ShellCommand, str, bool, bool]] = []

    def script(self, end: str = "") -> list[ShellCommand]:
        current = ShellCommand([], [])
        while self._at < len(self._text):
            char = self._text[self._at]
            if char in end:
                break
            if char in ";&|()\n" and not self._text.startswith("&>", self._at):
                current = self._operator(current, char)
            elif char in "<>" or self._text.startswith("&>", self._at):
                self._redirection(current)
            elif char.isspace() or self._text.startswith("\\\n", self._at):
                self._at += 1 if char.isspace() else 2
            elif char == "#":
                self._at = self._index("\n", len(self._text))
            else:
                current.words.append(self._word())
        if end and self._at >= len(self._text):
            raise _UnparsableError
        self._keep(current)
        return self._found

    def commands_in_quotes(self) -> list[ShellCommand]:
        """The commands of substitutions in a text that a double quote ends."""
        self._double_quoted([])
        return self._found

    def _keep(self, command: ShellCommand) -> None:
        if command.words or command.inputs:
            self._found.append(command)

    def _operator(self, current: ShellCommand, char: str) -> ShellCommand:
        self._at += 1
        self._keep(current)
        if char == "(":
            self._nested()
        if char == "\n":
            self._here_documents()
        is_pipe = char == "|" and not self._text.startswith("|", self._at)
        if char in "&|" and self._text[self._at : self._at + 1] in ("&", "|"):
            self._at += 1
        return ShellCommand([], [], piped=is_pipe)

    def _nested(self) -> None:
        """What is in parentheses that were just opened."""
        outer, self._found = self._found, []
        self._found = outer + self.script(")")
        self._at += 1

    def _redirection(self, current: ShellCommand) -> None:
        sign = self._matched(_REDIRECTION)
        if sign[0].endswith("("):
            self._nested()
            current.words.append(Word(_OUTPUT, opaque=True))
            return
        if current.words and current.words[-1].text.isdecimal() and self._text[sign.start() - 1].isdecimal():
            current.words.pop()  # the number of a file descriptor
        while self._text[self._at : self._at + 1] in (" ", "\t"):
            self._at += 1
        quoted = self._text[self._at : self._at + 1] in ("'", '"', "\\")
        target = self._word()
        if sign[0] == "<<<":
            current.inputs.append(target.text)
        elif sign[0].startswith("<<"):
            self._awaited.append((current, target.text, sign[0] == "<<-", quoted))

    def _here_documents(self) -> None:
        for command, end, indented, quoted in self._awaited:
            lines: list[str] = []
            while self._at < len(self._text):
                stop = self._index("\n", len(self._text))
                line, self._at = self._text[self._at : stop], stop + 1
                if (line.lstrip("\t") if indented else line) == end:
                    break
                lines.append(line)
            body = "\n".join(lines)
            command.inputs.append(body)
            if not quoted and re.search(r"\$\(|`", body):
                self._found += _Reader(body + '"').commands_in_quotes()
        self._awaited.clear()

    def _word(self) -> Word:
        parts: list[str] = []
        opaque, began = False, self._at
        while self._at < len(self._text) and not (self._text[self._at].isspace() or self._text[self._at] in ";&|()<>"):
            char = self._text[self._at]
            if char == "'":
                end = self._index("'")
                parts.append(self._text[self._at + 1 : end] if end > self._at else "")
                self._at = end + 1
            elif char == '"':
                self._at += 1
                opaque |= self._double_quoted(parts)
            elif char == "\\":
                parts.append(self._text[self._at + 1 : self._at + 2].replace("\n", ""))
                self._at += 2
            elif char in "$`":
                opaque |= self._expansion(parts)
            else:
                parts.append(char)
                self._at += 1
        raw = self._text[began : self._at]
        return Word("".join(parts), opaque or bool(re.search(r"\{[^{}]*(?:,|\.\.)[^{}]*\}", raw)))

    def _double_quoted(self, parts: list[str]) -> bool:
        opaque = False
        while self._at < len(self._text):
            char = self._text[self._at]
            if char == '"':
                self._at += 1
                return opaque
            if char == "\\":
                parts.append(self._text[self._at + 1 : self._at + 2].replace("\n", ""))
                self._at += 2
            elif char in "$`":
                opaque |= self._expansion(parts)
            else:
                parts.append(char)
                self._at += 1
        raise _UnparsableError

    def _expansion(self, parts: list[str]) -> bool:
        """A `$` or a backtick. Says whether the shell puts something else in its place."""
        text = self._text
        if text.startswith("$'", self._at):
            literal = self._matched(_ANSI_QUOTES)[1]
            parts.append(literal.encode("latin-1", "backslashreplace").decode("unicode_escape"))
            return False
        if text.startswith('$"', self._at):  # a translated string: the quote is read next
            self._at += 1
            return False
        if text.startswith("$(", self._at):
            self._at += 2
            self._nested()
            return True
        if text.startswith("`", self._at):
            self._found += _Reader(re.sub(r"\\([`$\\])", r"\1", self._matched(_BACKTICKS)[1])).script()
            return True
        if text.startswith("${", self._at):
            self._braces(parts)
            return True
        if _VARIABLE.match(text, self._at):
            self._matched(_VARIABLE)
            return True
        parts.append("$")
        self._at += 1
        return False

    def _braces(self, parts: list[str]) -> None:
        """`${name}`, and what it may hold beside the name: a default may be one of the words."""
        self._at += 2
        while not self._text.startswith("}", self._at):
            if self._at >= len(self._text):
                raise _UnparsableError
            if self._text[self._at] in "$`":
                self._expansion(parts)
            else:
                parts.append(self._text[self._at])
                self._at += 1
        self._at += 1

    def _matched(self, form: re.Pattern[str]) -> re.Match[str]:
        match = form.match(self._text, self._at)
        if match is None:
            raise _UnparsableError
        self._at = match.end()
        return match

    def _index(self, char: str, missing: int = -1) -> int:
        found = self._text.find(char, self._at + (char == "'"))
        if found < 0 and missing < 0:
            raise _UnparsableError
        return missing if found < 0 else found


class _Judge:
    """Judges the commands of one script. What a variable holds may come from any of them."""

    def __init__(self, whole: str, commands: Sequence[ShellCommand], depth: int) -> None:
        self._whole, self._depth = whole, depth
        handing_on = {"echo", "printf", "set", *re.findall(r"\b([\w-]+)\s*\(\s*\)", whole)}
        self._hints = any(_LONG.search(text) for command in commands for text in _loose(command, handing_on))

    def reason(self, command: ShellCommand) -> str:
        return self._of(command.words, command)

    def _of(self, words: Sequence[Word], command: ShellCommand, *, unknown: bool = False) -> str:
        """`unknown`: whether further arguments come from elsewhere."""
        if any(map(_sets_hooks_path, words)):
            return _HOOKS_PATH
        words = _from_program(words)
        if not words:
            return ""
        name, rest = words[0].text.rpartition("/")[2], words[1:]
        if name in _GITS or (words[0].opaque and _GIT.search(self._whole)):
            return self._of_git(rest, unknown=unknown)
        if name in _WRAPPERS:
            return self._wrapped(rest, command, unknown=unknown or name == "xargs")
        if name in _SHELLS or name in ("source", "."):
            return self._of_shell(rest, command)
        if name in _TAKE_LINES:
            return self._of_lines(rest)
        is_unclear = bool(_INTERPRETERS.match(name)) and any(map(mentions, _code(rest, command)))
        return _UNCLEAR if is_unclear else ""

    def _wrapped(self, words: Sequence[Word], command: ShellCommand, *, unknown: bool) -> str:
        """The command that a wrapper runs: the first word that names a program which matters."""
        for index, word in enumerate(words):
            if word.text in ("-S", "--split-string"):  # of `env`: a whole command in one word
                return self._of_lines(words[index + 1 :])
            name = word.text.rpartition("/")[2]
            if name in _GITS | _SHELLS | _WRAPPERS | _TAKE_LINES or _INTERPRETERS.match(name):
                return self._of(words[index:], command, unknown=unknown)
        return ""

    def _of_shell(self, words: Sequence[Word], command: ShellCommand) -> str:
        for index, word in enumerate(words):
            if re.fullmatch(r"-[a-z]*c[a-z]*", word.text):
                script = next((each for each in words[index + 1 :] if not each.text.startswith("-")), None)
                return "" if script is None else self._of_lines([script])
            if word.text == _OUTPUT:
                return _UNCLEAR if mentions(self._whole) else ""
            if not word.text.startswith(("-", "+")):
                return ""  # a script on disk
        told = _first(why_denied(text, self._depth + 1) for text in command.inputs)
        return told or (_UNCLEAR if command.piped and mentions(self._whole) else "")

    def _of_lines(self, words: Sequence[Word]) -> str:
        texts = [word.text for word in words]
        if any(word.opaque for word in words) and mentions(self._whole):
            return _UNCLEAR
        spaced = [text for text in texts if " " in text]
        candidates = [" ".join(texts), *spaced, *(text.partition("=")[2] for text in spaced)]
        return _first(why_denied(text, self._depth + 1) for text in candidates)

    def _of_git(self, words: Sequence[Word], *, unknown: bool) -> str:
        rest, told = _after_own_options(list(words))
        if told or not rest:
            return told or (_UNCLEAR if unknown and self._hints else "")
        command, arguments = rest[0].text, rest[1:]
        if command == "config":
            return _of_config([word.text for word in arguments])
        if command in ("submodule", "rebase", "bisect", "filter-branch"):
            told = self._of_lines(arguments) or self._wrapped(arguments, ShellCommand([], []), unknown=unknown)
            if told:
                return told
        if command in _KNOWN:
            is_clone = command == "clone" and any("hookspath=" in word.text.lower() for word in arguments)
            return _HOOKS_PATH if is_clone else ""
        options = list(_options(command, arguments))
        told = _first(_of_option(command, word.text) for word in options)
        # What is put in the place of a word may be an option.
        unclear = unknown or rest[0].opaque or any(word.opaque for word in options)
        return told or (_UNCLEAR if unclear and self._hints else "")


def _from_program(words: Sequence[Word]) -> list[Word]:
    """A command from its program on: without words of the shell and variables that are set for it."""
    rest = list(dropwhile(lambda word: word.text in _RESERVED or word.is_assignment, words))
    return _from_program(rest[2:]) if rest and rest[0].text == "function" else rest


def _loose(command: ShellCommand, handing_on: Collection[str]) -> Iterator[str]:
    """What could end up in the arguments of another command: assigned, piped or handed to a function."""
    skip = False
    for word in command.words:
        if word.is_assignment or (not skip and not re.search(r"\s", word.text)):
            yield word.text
        skip = word.text in ("-m", "--message", "-F", "--file") or re.fullmatch(r"-[a-z]*m", word.text) is not None
    if command.words and command.words[0].text in handing_on:
        yield from (f" {word.text}" for word in command.words if re.match(r"\S*\s?--?\w", word.text))


def _code(words: Sequence[Word], command: ShellCommand) -> list[str]:
    """What an interpreter is given as code."""
    return [*(word.text for word in words if re.search(r"[\s('\"]", word.text)), *command.inputs]


def _sets_hooks_path(word: Word) -> bool:
    """`GIT_CONFIG_KEY_0=core.hooksPath` and `GIT_CONFIG_PARAMETERS`, set before a command, by `env` or by `export`."""
    return word.text.startswith("GIT_CONFIG") and "hookspath" in word.text.lower()


def _after_own_options(words: list[Word]) -> tuple[list[Word], str]:
    """What follows the options of git itself; and why one of those is denied."""
    while words and words[0].text.startswith("-"):
        option = words.pop(0).text
        value = words[0].text if words else ""
        if option == "-c" or option.startswith(("-c", "--config-env")):
            named = (value if option in ("-c", "--config-env") else option).lower()
            if "hookspath" in named or "include.path" in named:
                return [], _HOOKS_PATH
            alias = named.partition("=")[2]
            told = why_denied(alias[1:] if alias.startswith("!") else f"git {alias}") if "alias." in named else ""
            if told:
                return [], told
        if option in _BEFORE or option in ("-c", "--config-env"):
            words = words[1:]
    return words, ""


def _of_config(words: Sequence[str]) -> str:
    lower = [word.lower() for word in words]
    key = next((index for index, word in enumerate(lower) if word == "core.hookspath"), None)
    if key is None:
        return ""
    before, after = lower[:key], [word for word in lower[key + 1 :] if not word.startswith("-")]
    reads = {"get", "list", "-l", "--list", "--get", "--get-all", "--get-regexp", "--get-urlmatch"}
    writes = {"set", "unset", "--unset", "--unset-all", "--add", "--replace-all"}
    if writes & set(lower) or (after and not reads & set(before)):
        return _HOOKS_PATH
    return ""


def _options(command: str, words: Sequence[Word]) -> Iterator[Word]:
    """The words that git takes as options or as names; not the values of options, nor what follows `--`."""
    takes = _SHORT_VALUES.get(command, "")
    skip = False
    for word in words:
        if skip:
            skip = False
            continue
        if word.text == "--" and not word.opaque:
            return
        yield word
        cluster = re.fullmatch(rf"-[^-{takes or '-'}]*([{takes or '-'}])", word.text)
        skip = word.text in _COMMIT_VALUES or (bool(takes) and cluster is not None)


def _of_option(command: str, text: str) -> str:
    name = text.partition("=")[0]
    if text.startswith("--"):
        # git takes the beginning of an option for all of it.
        if len(name) > len("--no-v") - 1 and "--no-verify".startswith(name):
            return _NO_VERIFY
        forces = command in ("push", "send-pack") or command not in _VERIFYING
        if forces and (name == "--mirror" or (len(name) > 3 and "--force-with-lease".startswith(name))):
            return _FORCE
        return ""
    if command in ("push", "send-pack"):
        return _FORCE if text.startswith("+") or "f" in _flags(command, text) else ""
    return _NO_VERIFY if command in ("commit", "am") and "n" in _flags(command, text) else ""


def _flags(command: str, text: str) -> str:
    """The letters of short options, without the value of the last one."""
    if not re.match(r"-[a-zA-Z]", text):
        return ""
    takes = _SHORT_VALUES.get(command, "") + ("Su" if command == "commit" else "")
    return re.split(f"[{takes}]", text[1:])[0] if takes else text[1:]


if __name__ == "__main__":
    sys.exit(main())
