"""The objects of an answer in a JSON contract: found by the key that every such object must have.

Text around them, streams of clients and quoted descriptions of the format are tolerated; anything that could be a
second, unread answer is not.
"""

import json

from burnish.contracts.errors import UnreadableError
from burnish.contracts.json_text import Json, JsonObject, read_documents
from burnish.contracts.streams import FinalMessage, final_message
from burnish.contracts.text import bounded, clean_text


def find_answers(text: str, key: str) -> tuple[JsonObject, ...]:
    """Every different object at the top level that has the key: at least one, in the order of the text."""
    stream = final_message(text)
    found = tuple(_with_key(text, key) if stream is None else _in_stream(stream, key))
    if not found:
        where = "The text" if stream is None else "The final message of the client's stream"
        raise UnreadableError(
            f'{where} has no JSON object with the key "{key}".',
            hint="The answer must be one JSON object in the form that was asked for.",
        )
    return found if len(found) == 1 else _different(found)


def _different(answers: tuple[JsonObject, ...]) -> tuple[JsonObject, ...]:
    """Clients repeat an answer; equal ones are one. Compared as text, for Python takes `true` and `1` for equal."""
    return tuple({json.dumps(answer, sort_keys=True): answer for answer in answers}.values())


def _in_stream(stream: FinalMessage, key: str) -> list[JsonObject]:
    found = [stream.structured] if stream.structured is not None and key in stream.structured else []
    found += _with_key(stream.text, key)
    # An object outside every event can make the answer worse, never be the answer.
    if found and f'"{key}"' in stream.outside:
        found += _with_key(stream.outside, key)
    return found


def _with_key(text: str, key: str) -> list[JsonObject]:
    documents = read_documents(text)
    for broken in documents.broken:
        if f'"{key}"' in broken.text and not broken.template:
            quoted = bounded(" ".join(clean_text(broken.text[:500]).split()), 120)
            raise UnreadableError(
                f"The answer is not valid JSON ({broken.reason}): {quoted}", hint="Ask for the answer again."
            )
    found = [answer for answer in documents.objects if key in answer]
    others = [*documents.lists, *(other for other in documents.objects if key not in other)]
    if found and any(_holds(other, key) for other in others):
        raise UnreadableError(
            f'Beside the answer, an object with the key "{key}" stands inside another: it may be a second answer.',
            hint="Ask for one JSON object and nothing else.",
        )
    return found


def _holds(value: Json, key: str) -> bool:
    """Whether an object with the key is anywhere inside a value."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            if key in one:
                return True
            left += one.values()
        elif isinstance(one, list):
            left += one
    return False
