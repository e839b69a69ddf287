"""What every hook of the plugin calls: `python -I -S hook.py`, with the client's JSON on standard input.

Most calls come from sessions without a review. They look at one path and leave, with nothing imported but what the
interpreter has built in; so this file imports everything else late. With a review, gates read one small card
(`gates`); only the hooks that move the loop load the rest (`driving`).

Whatever happens, the answer is explicit: the client ignores a hook that crashes, so a gate denies, and the others say
what went wrong. Nothing that comes in is believed, and nothing of it is logged.
"""

import posix
import sys

MOST_BYTES = 32 * 1024 * 1024
SESSIONS = b"/burnish/sessions/"
_ID = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-"
_KEY = b'"session_id"'
_LOOSE = b"SessionStart"


def main() -> int:
    """Answer one call."""
    data = b""
    try:
        data = _input()
        _print(answer_to(data, posix.environ))
    except BaseException as error:  # noqa: BLE001 - a hook that crashes would let everything pass
        return _refuse(data, type(error).__name__)
    return 0


def answer_to(data: bytes, environment: "dict[bytes, bytes]") -> str:
    """What the client is told; nothing where burnish has nothing to do with the call."""
    folder = _folder(environment)
    card = _card(folder, data)
    if card is None:
        return ""
    _prepare_imports()
    from burnish.plugin.gates import answer  # noqa: PLC0415 - see above

    return answer(data, card, folder, MOST_BYTES)


def _input() -> bytes:
    parts: list[bytes] = []
    size = 0
    while size <= MOST_BYTES:
        part = posix.read(0, 1 << 20)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _folder(environment: "dict[bytes, bytes]") -> bytes:
    """Where the cards of sessions are: `burnish.plugin.cards` writes them."""
    state = environment.get(b"XDG_STATE_HOME", b"")
    if not state.startswith(b"/"):
        state = environment.get(b"HOME", b"") + b"/.local/state"
    return state + SESSIONS


def _card(folder: bytes, data: bytes) -> bytes | None:
    """The path of the session's card; None where burnish has nothing to do with this call."""
    if b"/burnish:" in data and b'"UserPromptSubmit"' in data:
        return folder + (_session(data) or b"-") + b".json"
    session = _session(data)
    if session is None:  # whose call it is cannot be told: it concerns every review that is under way
        return folder + b"-.json" if _names(folder) else None
    path = folder + session + b".json"
    try:
        posix.stat(path)
    except OSError:
        return path if _LOOSE in data and _names(folder) else None
    return path


def _names(folder: bytes) -> list[bytes]:
    try:
        return [name for name in posix.listdir(folder) if name.endswith(b".json")]
    except OSError:
        return []


def _session(data: bytes) -> bytes | None:
    """The session's name, where it stands there once and plainly."""
    if len(data) > MOST_BYTES or data.count(_KEY) != 1:
        return None
    rest = data[data.index(_KEY) + len(_KEY) :][:200].lstrip(b" \t\r\n")
    name, quote, _ = rest[1:].lstrip(b" \t\r\n")[1:].partition(b'"')
    plain = rest[:1] == b":" and quote and 0 < len(name) <= 128 and not name.strip(_ID)
    return name if plain else None


def _prepare_imports() -> None:
    """Make burnish importable: the interpreter was started without its site packages."""
    package = __file__.rpartition("/burnish/")[0]
    if package not in sys.path:
        sys.path.insert(0, package)


def _print(text: str) -> None:
    if text:
        _write(1, text.encode(errors="replace"))


def _write(descriptor: int, text: bytes) -> None:
    while text:
        text = text[posix.write(descriptor, text) :]


def _refuse(data: bytes, kind: str) -> int:
    """Something went wrong that should not: gates deny, the others let pass and say so. Nothing counts as reviewed."""
    what = f"burnish: its hook failed ({kind}), so nothing is counted as reviewed. /burnish:stop ends the review."
    try:
        if b'"PreToolUse"' in data or b"hook_event_name" not in data:
            _print(
                '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
                f'"permissionDecisionReason":"{what}"}}}}'
            )
        else:
            _print(f'{{"systemMessage":"{what}"}}')
    except OSError:
        return 2  # for a gate, this is a denial, too
    return 0


if __name__ == "__main__":
    sys.exit(main())
