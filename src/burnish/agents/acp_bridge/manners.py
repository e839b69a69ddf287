"""What the agent may have: answers to its requests.

This is courtesy, not the wall: the agent is another program with the same rights, and what keeps it in its place is the
sandbox around both. But an agent that asks is told what holds.
"""

from pathlib import Path

from burnish.agents.acp_bridge.stream import Stream
from burnish.agents.acp_bridge.values import Json, JsonObject, May, Options, inner, objects, words

MAX_FILE = 4 * 1024 * 1024
_LOOKING = ("read", "search", "think")
_NOT_FOUND, _NO_SUCH_METHOD, _NOT_ALLOWED = -32002, -32601, -32602


def capabilities(options: Options) -> JsonObject:
    """What the agent is told that it may ask for."""
    files: JsonObject = {"readTextFile": True, "writeTextFile": options.may is May.WRITE}
    return {"fs": files, "terminal": False, **({"_meta": options.extensions} if options.extensions else {})}


def answer(request: JsonObject, options: Options, stream: Stream) -> JsonObject:
    """The answer to one request: with a result, or with an error."""
    asked = inner(request, "params")
    match request.get("method"):
        case "session/request_permission":
            reply = _permission(asked, options, stream)
        case "fs/read_text_file":
            reply = _read(asked, options)
        case "fs/write_text_file":
            reply = _write(asked, options, stream)
        case _:
            reply = _error(_NO_SUCH_METHOD, "Method not found")
    return {"id": request.get("id"), **reply}


def _error(code: int, message: str) -> JsonObject:
    return {"error": {"code": code, "message": message}}


def _permission(asked: JsonObject, options: Options, stream: Stream) -> JsonObject:
    call = inner(asked, "toolCall")
    allowed = _may(call, options)
    kinds = ("allow_once", "allow_always") if allowed else ("reject_once", "reject_always")
    offered = {words(one.get("kind")): one.get("optionId") for one in reversed(objects(asked.get("options")))}
    chosen = next((offered[kind] for kind in kinds if kind in offered), None)
    stream.tell("asked", title=words(call.get("title"))[:200], allowed=allowed and chosen is not None)
    outcome: JsonObject = {"outcome": "cancelled"}
    return {"result": {"outcome": outcome if chosen is None else {"outcome": "selected", "optionId": chosen}}}


def _may(call: JsonObject, options: Options) -> bool:
    kind = words(call.get("kind"))
    places = [words(place.get("path")) for place in objects(call.get("locations"))]
    match options.may:
        case May.WRITE:
            return True
        case May.RUN if kind == "execute":
            return True
        case _:
            return kind in _LOOKING and all(_inside(place, options) is not None for place in places)


def _inside(path: str, options: Options) -> Path | None:
    """Where a path leads, if that is in a folder of the agent's."""
    try:
        found = Path(options.roots[0], path).resolve()
        return found if any(found.is_relative_to(Path(root).resolve()) for root in options.roots) else None
    except (OSError, ValueError, RuntimeError):  # a loop of links, or no path at all
        return None


def _read(asked: JsonObject, options: Options) -> JsonObject:
    path = _inside(words(asked.get("path")), options)
    if path is None:
        return _error(_NOT_ALLOWED, "Only files of the repository can be read")
    try:
        if not path.is_file():  # a pipe would never end
            return _error(_NOT_FOUND, "There is no such file")
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        return _error(_NOT_FOUND, f"The file cannot be read: {error.strerror}")
    if len(data) > MAX_FILE:
        return _error(_NOT_ALLOWED, "The file is too large")
    return {"result": {"content": _part(data.decode("utf-8", errors="replace"), asked)}}


def _part(text: str, asked: JsonObject) -> str:
    first, most = _number(asked.get("line")), _number(asked.get("limit"))
    if first is None and most is None:
        return text
    lines = text.splitlines(keepends=True)[max((first or 1) - 1, 0) :]
    return "".join(lines if most is None else lines[:most])


def _number(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _write(asked: JsonObject, options: Options, stream: Stream) -> JsonObject:
    path = _inside(words(asked.get("path")), options) if options.may is May.WRITE else None
    text = asked.get("content")
    stream.tell("asked", title=f"write {words(asked.get('path'))[:200]}", allowed=path is not None)
    if path is None or ".git" in path.parts or not isinstance(text, str):
        return _error(_NOT_ALLOWED, "This file may not be written")
    try:
        if path.exists() and not path.is_file():
            return _error(_NOT_ALLOWED, "This is no file")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", errors="replace"))
    except OSError as error:
        return _error(_NOT_ALLOWED, f"The file cannot be written: {error.strerror}")
    return {"result": {}}
