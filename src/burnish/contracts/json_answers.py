"""The objects of an answer in a JSON contract: found by the key that every such object must have.

Text around them, streams of clients and quoted descriptions of the format are tolerated; anything that could be a
second, unread answer is not, and nothing that speaks against a clean one.
"""

import json

from burnish.contracts.findings import MAX_PROSE, contradiction
from burnish.contracts.json_text import (
    FinalMessage,
    Json,
    JsonObject,
    failure_of,
    objects_in,
    read_documents,
    speaks_against,
)
from burnish.contracts.markdown.denials import says_unread, sentences
from burnish.contracts.text import UnreadableError, bounded, first_text_in
from burnish.core.reviews import Answer
from burnish.core.text import clean_text
from burnish.core.values import Value, replace


class Found(Value):
    """The answers in a text, and what stands around them: other objects, and prose."""

    answers: tuple[JsonObject, ...]
    others: tuple[Json, ...] = ()
    prose: str = ""
    noise: str = ""
    """Lines between the events of a client's stream. They are the client's words as a rule, not the reviewer's."""

    def settled(self, answer: Answer, *remarks: Json) -> Answer:
        """The answer that was read, unless it is clean and something around it says otherwise.

        `remarks` are what the answer itself says in prose. Where it lists findings that do not keep it from being
        clean, prose may speak of them, but not of a review that was not made.
        """
        if not answer.clean:
            return answer
        told = (*map(failure_of, self.answers), *map(speaks_against, self.others))
        if said := first_text_in(told) or self._said(answer, remarks):
            raise UnreadableError(
                f"The answer is clean, but the text around it says: {bounded(clean_text(said), 200)}",
                hint="Ask for one JSON object that contains everything the reviewer has to say, and nothing else.",
            )
        return answer

    def _said(self, answer: Answer, remarks: tuple[Json, ...]) -> str:
        texts = [self.prose, *(remark for remark in remarks if isinstance(remark, str))]
        read = [*texts, self.noise] if answer.findings else [self.noise]
        unread = next((one for text in read for one in sentences(text[:MAX_PROSE]) if says_unread(one)), "")
        return unread or ("" if answer.findings else first_text_in(map(contradiction, texts)))


def find_answers(said: str | FinalMessage, key: str) -> Found:
    """Every different object at the top level that has the key: at least one, in the order of the text."""
    found = _with_key(said, key) if isinstance(said, str) else _in_stream(said, key)
    if not found.answers:
        where = "The text" if isinstance(said, str) else "The final message of the client's stream"
        raise UnreadableError(
            f'{where} has no JSON object with the key "{key}".',
            hint="The answer must be one JSON object in the requested format.",
        )
    return found if len(found.answers) == 1 else replace(found, answers=_different(found.answers))


def _different(answers: tuple[JsonObject, ...]) -> tuple[JsonObject, ...]:
    """Clients repeat an answer; equal ones are one. Compared as text, for Python takes `true` and `1` for equal."""
    return tuple({json.dumps(answer, sort_keys=True): answer for answer in answers}.values())


def _in_stream(stream: FinalMessage, key: str) -> Found:
    found = _with_key(stream.text, key)
    structured = (stream.structured,) if stream.structured is not None and key in stream.structured else ()
    answers = (*structured, *found.answers)
    # An object outside every event can make the answer worse, never be the answer.
    if answers and f'"{key}"' in stream.outside:
        answers = (*answers, *_with_key(stream.outside, key).answers)
    return replace(found, answers=answers, noise=stream.outside)


def _with_key(text: str, key: str) -> Found:
    documents = read_documents(text)
    for broken in documents.broken:
        if f'"{key}"' in broken.text and not broken.template:
            quoted = bounded(" ".join(clean_text(broken.text[:500]).split()), 120)
            raise UnreadableError(
                f"The answer is not valid JSON ({broken.reason}): {quoted}", hint="Ask for the answer again."
            )
    found = tuple(answer for answer in documents.objects if key in answer)
    others = (*documents.lists, *(other for other in documents.objects if key not in other))
    if found and any(key in one for other in others for one in objects_in(other)):
        raise UnreadableError(
            (f'Besides the answer, another object contains an object with the key "{key}": it may be a second answer.'),
            hint="Ask for one JSON object and nothing else.",
        )
    return Found(answers=found, others=others, prose=documents.prose)
