"""Words as a person can type them into a POSIX shell."""

import shlex

_QUOTES = "'\"`$"
"""Not one of these is left in a word inside of a command inside of quotes: people and editors lose count."""


def shell_line(*words: str) -> str:
    """A command line that a shell splits into exactly these words."""
    return " ".join(map(shell_word, words))


def shell_word(word: str) -> str:
    """One word. It is printable text on one line, whatever the word holds: output is cleaned before it is shown."""
    if word.isprintable():
        return shlex.quote(word)
    escaped = "".join(_escaped(character) for character in word)
    return f'"$(printf %b {shlex.quote(escaped)})"'


def _escaped(character: str) -> str:
    if character == "\n":
        return "\\n"
    if character == "\\":
        return "\\\\"
    if character.isprintable() and character not in _QUOTES:
        return character
    return "".join(f"\\0{byte:03o}" for byte in character.encode("utf-8", errors="surrogateescape"))
