"""What a fixer says of each finding, read from its answer: `ID: fixed - how`, one line each, or JSON.

A fixer's answer is prose for people, so this never fails: a finding of which nothing can be read has no answer. It is
read tolerantly (lists, tables, bold, short ids, a few words for each verdict), but never to the better: what is fixed
only in part is not fixed, and a line without a verdict says nothing.
"""

import re
from collections.abc import Collection, Iterator, Mapping

from burnish.contracts.json_text import Json, read_documents
from burnish.contracts.text import UnreadableError, bounded
from burnish.core.events import FixAnswer
from burnish.core.findings import FixVerdict
from burnish.core.text import clean_text

LONGEST_TEXT = 20_000
"""Characters of a fixer's answer that are kept and read."""
_LONGEST_ANSWER = 2_000
_SHORTEST_UNKNOWN = 8

_ID = r"[0-9a-fA-F]{6,64}"
_LINE = re.compile(
    rf"^[\s>|*+\-•#]*(?:\d+[.)]\s*)?(?:\[[ xX✓]?\]\s*)?[\s`*_(\[|#]*(?:[iI][dD]:?\s*)?({_ID})(?![0-9a-zA-Z])(.*)$"
)
_BETWEEN = re.compile(r"^[\s`*_)\]|:;,.=\-–—→>✅❌✔✗]+")
_NEXT_BLOCK = re.compile(r"^\s*(?:$|#|```|[-*+•|]\s|\d+[.)]\s)")

_PARTLY = r"(?:partial|partly|incomplete|almost|mostly|half|not (?:yet|fully|completely|entirely)|only (?:in )?part)"
_NOT_FIXED = re.compile(
    rf"^(?:status\W+)?(?:{_PARTLY}\w*|not[\s-]*(?:been\s+)?(?:fix|address|resolv|done|chang|possible|applicable|handled)\w*"
    r"|un(?:fixed|resolved|addressed)|won'?t[\s-]?fix|wontfix|skip\w*|defer\w*|left\b|open\b|could ?n[o']t|couldn't"
    r"|can ?not|can't|unable|fail\w*|no\b|todo|pending|postponed|out of scope|ignored)",
    re.IGNORECASE,
)
_REFUTED = re.compile(
    r"^(?:status\W+)?(?:refut\w*|false[\s-]positive|false alarm|not (?:a|an) (?:real )?(?:bug|issue|problem|defect)"
    r"|invalid\b|disput\w*|disagree\w*|incorrect finding|no (?:such )?(?:bug|issue|problem)\b|by design|rejected\b)",
    re.IGNORECASE,
)
_FIXED = re.compile(
    r"^(?:status\W+)?(?:(?:now|already|fully|was|is|has been|been)\s+)*"
    r"(?:fix(?:ed)?|resolved?|addressed|done|corrected|repaired|removed|implemented)\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(
    rf"^[\s,;:(\-–—*_`|]*(?:\?|{_PARTLY}|except\b|but not\b|(?:only )?in part\b|to some extent)", re.IGNORECASE
)
_KEYS_OF_ID = ("id", "finding", "finding_id")
_KEYS_OF_VERDICT = ("answer", "status", "verdict", "result", "outcome")
_KEYS_OF_TEXT = ("how", "why", "evidence", "text", "reason", "explanation", "note", "details")


def read_fix_answers(text: str, handed: Collection[str]) -> tuple[FixAnswer, ...]:
    """Every answer in a fixer's text, in its order. `handed` are the full ids of the findings that it was handed."""
    text = clean_text(text)[:LONGEST_TEXT]
    return (*_from_json(text, handed), *_from_lines(text, handed))


def _from_lines(text: str, handed: Collection[str]) -> Iterator[FixAnswer]:
    lines = text.splitlines()
    for number, line in enumerate(lines):
        match = _LINE.match(line)
        if match is None:
            continue
        words = _BETWEEN.sub("", match[2])
        name, verdict = _full(match[1], handed), verdict_of(words)
        if verdict is not None and name:
            yield _answer(name, verdict, _with_following(words, lines[number + 1 :]))


def _with_following(words: str, following: list[str]) -> str:
    """An answer with the lines that continue it: indented, and no list, heading or fence of their own."""
    more: list[str] = []
    for line in following:
        if not line.startswith((" ", "\t")) or _NEXT_BLOCK.match(line) or _LINE.match(line):
            break
        more.append(line.strip())
    return " ".join([words.strip(" |"), *more])


def _from_json(text: str, handed: Collection[str]) -> Iterator[FixAnswer]:
    try:
        documents = read_documents(text)
    except UnreadableError:
        return
    for listed in (*documents.lists, *(_entries(each) for each in documents.objects)):
        for entry in listed:
            if isinstance(entry, dict):
                yield from _entry(entry, handed)


def _entries(document: Mapping[str, Json]) -> list[Json]:
    """The entries of an object: those of its list of answers, or by id, or the object itself."""
    listed = document.get("answers", document.get("findings"))
    if isinstance(listed, list):
        return listed
    by_id = listed if isinstance(listed, dict) else document
    entries: list[Json] = [{"id": key, **value} for key, value in by_id.items() if isinstance(value, dict)]
    return entries or [dict(document)]


def _entry(entry: Mapping[str, Json], handed: Collection[str]) -> Iterator[FixAnswer]:
    name, said = _first(entry, _KEYS_OF_ID), _first(entry, _KEYS_OF_VERDICT)
    verdict = verdict_of(said.replace("_", " "))
    finding = _full(name, handed) if re.fullmatch(_ID, name) else ""
    if finding and verdict is not None:
        yield _answer(finding, verdict, _first(entry, _KEYS_OF_TEXT) or said)


def _first(entry: Mapping[str, Json], keys: Collection[str]) -> str:
    return next((value for key in keys if isinstance(value := entry.get(key), str) and value.strip()), "")


def verdict_of(words: str) -> FixVerdict | None:
    """The verdict that some words begin with; None where they begin with none."""
    if _REFUTED.match(words):
        return FixVerdict.REFUTED
    if _NOT_FIXED.match(words):
        return FixVerdict.NOT_FIXED
    fixed = _FIXED.match(words)
    if fixed is None:
        return None
    return FixVerdict.NOT_FIXED if _HEDGED.match(words[fixed.end() :]) else FixVerdict.FIXED


def _answer(finding: str, verdict: FixVerdict, words: str) -> FixAnswer:
    return FixAnswer(
        finding=finding,
        fixed=verdict is FixVerdict.FIXED,
        refuted=verdict is FixVerdict.REFUTED,
        text=bounded(_without_verdict(words), _LONGEST_ANSWER),
    )


def _without_verdict(words: str) -> str:
    """How, why or by what evidence: what follows the verdict and a dash, or all of it where nothing does."""
    plain = re.match(r"^(?:fixed|not[\s-]fixed|refuted)\b", words, re.IGNORECASE)
    rest = "" if plain is None else _BETWEEN.sub("", words[plain.end() :])
    return rest.strip() or words.strip()


def _full(name: str, handed: Collection[str]) -> str:
    """The id that is meant, in full or by a beginning that only one of them has.

    One that was not handed over stays as it was written; it is none where it may as well be a word, such as `facade`.
    """
    name = name.lower()
    fitting = [one for one in handed if one.startswith(name)]
    if len(fitting) == 1:
        return fitting[0]
    return name if len(name) >= _SHORTEST_UNKNOWN and not name.isalpha() else ""
