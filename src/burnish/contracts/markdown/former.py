"""How a review speaks of an earlier round: headings, introductions and marks of findings that are settled, or are not.

What belongs to an earlier round is no new finding. Like a denial this takes findings away, so it is read narrowly.
"""

from functools import lru_cache

from burnish.contracts.markdown.denials import says_all_settled, sentences
from burnish.contracts.markdown.patterns import Pattern, any_of, search, words
from burnish.contracts.markdown.severities import plain

_THING = words("rounds? reviews? findings? issues? fix(?:es)? items? comments?")
_DONE = words("resolved fixed addressed closed")
_LISTED = words("issues? findings? items? problems? bugs? critical important minor high medium low")
_FORMER = search(
    rf"\b{words('previous prior former earlier last past')}\b.{{0,20}}\b{_THING}\b",
    rf"\b{words('verification verified verify(?:ing)? re-?check(?:ed)? resolution disposition status')}\b.{{0,20}}"
    rf"\b{words('of fix(?:es)? findings? issues? round from summary')}\b",
    rf"\b{_DONE}\b\W{{0,3}}\b{any_of(_LISTED, 'since', 'from (?:round|the)', 'in (?:this|round)')}\b",
    rf"\b{_DONE} in the (?:last|previous)\b",
    rf"\b{_LISTED}\b\W{{0,3}}(?:all |already )?{_DONE}\b",
    rf"\bround \d+ {words('verification disposition resolution status follow-up')}\b",
    rf"\bfix(?:es)? {any_of(words('verification verified status review applied confirmed'), 'from round')}\b",
    r"\bfix(?:es)? from the (?:last|previous)\b",
    rf"^{any_of(_DONE, words('verified verification disposition resolution'))}$",
)
_NOT_FORMER = Pattern(
    r"\b"
    + any_of(
        words("new unresolved not unfixed unaddressed remaining remains? open outstanding still must should needs?"),
        words(r"before persist\w* carried pending required partial\w* incomplete\w* only incorrect\w* wrong\w*"),
        words("breaks? fails? never missing without does doesn"),
        "to be",
    )
    + r"\b"
)
_ROUND = Pattern(r"\bround (\d{1,3})\b")
_MAX_INTRODUCTION = 1_000


def rounds_in(text: str) -> list[int]:
    return [int(found[1]) for found in _ROUND.finditer(plain(text))]


@lru_cache(maxsize=1_024)
def is_former(heading: str, current_round: int) -> bool:
    """Whether a heading announces what an earlier round found or what was fixed since, not what is wrong now."""
    text = plain(heading).strip(" :.-–—")
    if _NOT_FORMER.search(text):
        return False
    named = rounds_in(heading)
    return bool(named and min(named) < current_round) or bool(_FORMER.search(text))


def announces_former(paragraph: str) -> bool:
    """Whether a paragraph introduces a list of what was found or fixed before: "All six findings were addressed:"."""
    text = paragraph.strip()
    is_introduction = text.endswith((":", ":**")) or (text.startswith("**") and text.endswith("**"))
    if not is_introduction or len(text) > _MAX_INTRODUCTION:
        return False
    last = sentences(text)[-1]
    return is_former(last, 0) or says_all_settled(last)


_NOT_DONE = any_of(
    "not (?:yet |been |fully )*(?:fixed|addressed|resolved)",
    words("unfixed unresolved unaddressed"),
    "partially (?:fixed|addressed|resolved)",
    rf"still {words('open present missing broken fails failing exists? unfixed unresolved not vulnerable')}",
)
_OPEN_HEADING = search(
    rf"\b{_NOT_DONE}\b",
    r"\boutstanding\b",
    rf"\b(?:remaining|open|persisting|carried[- ](?:over|forward)) {words('issues? findings? problems? items?')}\b",
)
_OPEN_FILLERS = Pattern(
    r"\b"
    + any_of(
        words(
            "issues? findings? problems? items? from rounds? review previous prior earlier the still yet and or in of"
        ),
        words(r"critical important minor high medium low must fix \d+ remaining open list"),
    )
    + r"\b"
)
_NOT_SETTLED = search(rf"\b{_NOT_DONE}\b", "❌")
_LET_BE = Pattern(
    rf"\b{words('downgraded accepted acceptable deferred wontfix withdrawn')}\b|\bby design\b|\bwon't fix\b"
)
_NEGATED = search(
    r"\b(?:no|none|nothing|0|zero)\b[^.]{0,30}\b(?:unresolved|unfixed|unaddressed|still|not)\b",
    r"\b(?:unresolved|open|fixed)\W{1,4}(?:0|none)\b",
)


def is_open(heading: str) -> bool:
    """Whether a heading announces findings of an earlier round that are not fixed, and says nothing else."""
    text = plain(heading)
    if not _OPEN_HEADING.search(text):
        return False
    return not _OPEN_FILLERS.sub("", _OPEN_HEADING.sub(" ", text)).strip(" :.,;()[]#/&-–—")


def says_not_settled(text: str) -> bool:
    """Whether a line about a former finding says that it is still there."""
    lowered = text.lower()
    return bool(_NOT_SETTLED.search(lowered)) and not _NEGATED.search(lowered)


def is_let_be(status: str) -> bool:
    """Whether a status says that an unfixed finding of an earlier round is no longer held against the change."""
    return bool(_LET_BE.search(status.lower()))


_SETTLED = any_of(_DONE, "verified(?: fixed)?", "done", "no longer (?:present|applies)")
_SETTLED_TITLE = search(
    "^✅",
    r"✅\s*$",
    rf"✅[\s*(\[]*{_SETTLED}\b",
    rf"[(\[]\**\s*(?:✅\s*)?{_SETTLED}\s*\**[)\]]",
    rf"\s[—–-]{{1,2}}\s\**(?:✅\s*)?{_SETTLED}\**\s*(?:$|[.;,✅]|in (?:commit|round|pr|`?[0-9a-f]{{7,40}}))",
    rf":\s*\**{_SETTLED}\**\s*$",
)
_UNSETTLED_TITLE = Pattern(
    rf"\b{words('not un never partially incorrectly incompletely half was were be is are')}[\s-]*\**"
    r"(?:fixed|resolved|addressed)"
)
_SETTLED_STATUS = Pattern(rf"^[\s*(\[]*(?:✅|{_SETTLED}\b)")
OPEN_MARK = "(open)"
"""Behind a title it says that the finding is not settled, whatever else the title may look like."""


def is_settled_title(title: str) -> bool:
    """Whether the title of an item carries the mark of a former finding: ~~so~~, ✅, "(FIXED)", "— RESOLVED"."""
    text = title.strip().strip("*").strip()
    if text.startswith("~~"):
        end = text.find("~~", 2)
        rest = text[end + 2 :].strip(" *.:-–—") if end > 0 else text
        return end > 0 and (not rest or bool(_SETTLED_STATUS.match(rest.lower())))
    lowered = text.lower()
    if lowered.endswith(OPEN_MARK) or _UNSETTLED_TITLE.search(lowered):
        return False
    return bool(_SETTLED_TITLE.search(lowered))


def is_settled_status(status: str) -> bool:
    """Whether the `Status:` of an item says that it is done with."""
    return bool(_SETTLED_STATUS.match(status.lower())) and not says_not_settled(status)
