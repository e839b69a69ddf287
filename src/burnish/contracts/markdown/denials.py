"""Sentences that say that there is nothing to report, or that the reviewer could not look.

A denial takes findings away, so it is read narrowly: "None found." is one, "None of the inputs are validated" is a
finding. What is not surely a denial is none.
"""

from functools import lru_cache

from burnish.contracts.markdown.patterns import Pattern, any_of, search, words
from burnish.contracts.markdown.severities import plain

_NOUN = any_of(
    words("issues? findings? problems? concerns? blockers? bugs? vulnerabilit(?:y|ies) defects? suggestions? nits?"),
    words("comments? regressions? violations? improvements?"),
)
_SEVERITY = any_of(
    words("critical important minor high medium low major blocking warning info"),
    "must[- ]fix",
    "should[- ]fix",
    "nice[- ]to[- ]have",
)
ADJECTIVE = any_of(
    _SEVERITY,
    words("severity priority level new significant serious security further additional remaining outstanding code"),
    words("review known other such actionable real obvious notable open unresolved or and any style functional"),
    words("substantive material correctness more quality performance architectural"),
)
_ADJECTIVES = rf"((?:{ADJECTIVE}[\s,/]+){{0,8}})"
_SEEN = any_of(
    words(
        "found identified detected reported noted observed discovered spotted present remain(?:ing)? introduced left"
    ),
    words("outstanding open raised seen uncovered surfaced flagged here"),
)
_WHERE = r"(?:in|with|on|within|across) (?:this|the|these|any|all|my) (?:[\w-]+ ){0,3}" + any_of(
    words("round review changes? diff pr branch code files? changeset implementation commits? story"), "pull request"
)
_WHEN = any_of(
    "at (?:this time|this point|present|the moment|all)",
    "this (?:round|time)",
    "so far",
    "to (?:report|fix|note|address|list|raise)",
)
_VERB = any_of("were", "was", "are", "is", "have been", "has been", "had been")
_END = rf"(?:\s+(?:{_VERB} )?(?:{_SEEN}|{_WHEN}|{_WHERE}))*\s*(?:$|[.;!,()\[\]—–:-])"
"""What may follow the thing that is denied. Anything else makes it another sentence."""

_SUBJECT = any_of(
    "there (?:are|were|is) ", "(?:i|we) (?:found|see|have|identified|have found) ", "found ", "identified ", "reported "
)
_NO_FINDINGS = Pattern(rf"{_SUBJECT}?(?:currently )?(?:no|zero|0)\s+{_ADJECTIVES}{_NOUN}{_END}")
_DID_NOT_FIND = Pattern(
    r"(?:i |we )?(?:did not|didn't|do not|don't|could not|couldn't) (?:find|identify|see|spot|detect) (?:any )"
    rf"{_ADJECTIVES}{_NOUN}{_END}"
)
_NONE = Pattern(
    any_of(words("none nothing nil n/?a no 0 zero empty -+ — –"), "not applicable")
    + r"(?: (?:new|else|critical|important|minor|blocking|major|significant|of note))?"
    + _END
)
_WHOLE = Pattern(r"(?:all (?:clear|good)|clean|clear|looks good|lgtm|pass(?:ed)?)\s*[.!]?")
_SETTLED_NOUN = Pattern(r"\b(?:issues?|findings?|items?|fix(?:es)?|problems?|concerns?|blockers?)\b")
_SETTLED_VERB = Pattern(
    r"\b(?:have been|has been|were|are|is|was|now|been|properly|correctly|successfully) (?:[\w-]+ ){0,3}"
    r"(?:fixed|resolved|addressed|verified|closed|applied|confirmed)\b"
)
_OPEN_AGAIN = Pattern(
    rf"\b{words('not except but still partial(?:ly)? however unresolved incomplete although though incorrectly')}\b"
    r"|\b(?:must|should|need)\b"
)
_CONTRAST = search(
    rf"\b{words('however but although though except besides nevertheless unless yet')}\b",
    r"\b(?:apart from|other than|aside from|that said)\b",
)
_ELSEWHERE = search(
    rf"\b{words('important minor below suggestions? nits? low medium improvements?')}\b",
    r"\b(?:following sections?|nice to have)\b",
)
_SENTENCE = Pattern(r"(?<=[.!;])\s+|\n+")
_SEVERITY_WORD = Pattern(rf"\b{_SEVERITY}\b")
_LOOKED_AT = 2_000


def sentences(text: str) -> list[str]:
    """Cut a text into sentences, roughly; a file name's dot is no end."""
    return [part for part in _SENTENCE.split(text) if part.strip()]


def bare(text: str) -> str:
    """A sentence in lower case without marks around it."""
    return plain(text).strip(" \t-–—•>()[]:|\"'") or text.strip()


def _sentence_says_none(sentence: str) -> bool:
    text = bare(sentence)
    if _WHOLE.fullmatch(text) or _DID_NOT_FIND.match(text) or _NO_FINDINGS.match(text):
        return True
    found = _NONE.match(text)
    if not found:
        return says_all_settled(text)
    rest = text[found.end() :].strip()
    # "None: …" may go on with what is wrong; only a rest that itself denies or settles is believed.
    goes_on = bool(rest) and text[found.end() - 1] in ":-—–"
    return not goes_on or _sentence_says_none(rest)


def says_all_settled(sentence: str) -> bool:
    """Whether a sentence says that all earlier findings are fixed."""
    text = bare(sentence)
    if not text.startswith(("all ", "every ", "both ")) or _OPEN_AGAIN.search(text):
        return False
    return bool(_SETTLED_NOUN.search(text)) and bool(_SETTLED_VERB.search(text))


@lru_cache(maxsize=1_024)
def says_none(text: str) -> bool:
    """Whether a paragraph or an item says that there is nothing to report, and nothing against that."""
    parts = sentences(text[:_LOOKED_AT])
    if not parts or not any(_sentence_says_none(part) for part in (parts[0], parts[-1])):
        return False
    words_of_all = plain(text[:_LOOKED_AT])
    contrast = _CONTRAST.search(words_of_all)
    return contrast is None or bool(_ELSEWHERE.search(words_of_all, contrast.end()))


def says_nothing_at_all(text: str) -> bool:
    """Whether a text denies findings of every severity: "No issues found", not "No critical issues"."""
    first = bare(next(iter(sentences(text[:_LOOKED_AT])), ""))
    found = _NO_FINDINGS.match(first) or _DID_NOT_FIND.match(first)
    return found is not None and not _SEVERITY_WORD.search(found.group(1)) and says_none(text)


_LOOK = words("review read look inspect examine analy[sz]e assess evaluate access open view fetch load audit see")
_I = r"(?:^|\b(?:i|we|reviewer|agent)\b\W?(?:[\w']+ ){0,3}?)"
_REVIEWED = any_of(words("reviewed examined inspected analy[sz]ed audited assessed"), "looked at")
_NOT_FIND = r"(?!\s(?:any|a single|anything|for|how|why)\b)"
_UNABLE_TO = any_of(
    "unable to",
    words("cannot can't never won't"),
    "(?:failed|no way|impossible) to",
    "(?:can|could|will|would|did|do|was|were|am|are|have|had)(?: not|n't)(?: been)?(?: yet)?(?: able)?(?: to)?",
    "not (?:yet )?(?:been )?able to",
)
_UNABLE = Pattern(
    r"\b(?:unable to|could not|couldn't|cannot|can't|not able to|failed to|no way to)\s(?:\w+\s){0,3}?"
    + words("read access review view see open load fetch obtain retrieve inspect examine find locate diff compute get")
    + r"\s(?!anything (?:\w+ )?wrong|any (?:\w+ ){0,2}(?:issues?|problems?|findings?|bugs?|concerns?|defects?))"
    + r"(?:[\w'`/.-]+\s){0,4}?"
    + words("diff changes? branch files? code repo(?:sitory)? commits? patch changeset story it")
    + r"\b"
)
_UNREAD = search(
    # What was to be read is not there.
    r"\bdiff (?:is|was|appears(?: to be)?|came back) empty",
    r"\bempty diff",
    r"\bno diff\b",
    r"\bthere (?:is|are|was|were) no (?:changes|diff|commits)",
    r"\bno (?:code )?(?:changes|files|commits) (?:to review|were found|found|between|on this branch)",
    r"\bnothing to review",
    rf"\b{words('diff patch changeset prompt repository checkout branch')} (?:\w+ ){{0,3}}?"
    + any_of(
        words("truncated unreadable corrupt(?:ed)? garbled unavailable inaccessible empty missing"),
        "cut (?:off|short)",
        "too (?:large|long|big)",
        f"not {words('available provided included found shown visible accessible attached readable')}",
    ),
    rf"\b{words('diff patch repository files? code branch changes? commits?')} could not be \w+",
    r"\b(?:was|were|been)(?: not|n't) (?:given|sent|shown|provided) (?:\w+ )?(?:diff|patch|changes?|code|files?)\b",
    rf"\b{words('diff patch repository branch commit files?')} (?:did not|didn't|does not|doesn't|do not|don't) "
    + words("load exist open apply arrive"),
    r"\bno (?:files?|diff|code|changes?|patch) (?:was|were|has been|have been) (?:provided|given|attached|shown)\b",
    # The reviewer could not, would not or did not look.
    rf"{_I}{_UNABLE_TO} (?:[\w']+ ){{0,2}}?{_LOOK}(?:e?d)?\b" + _NOT_FIND,
    rf"{_I}{_UNABLE_TO} (?:[\w']+ ){{0,2}}?(?:{words('complete finish perform conduct carry do make provide give')} "
    r"(?:\w+ ){0,4}?(?:review|analysis|audit|this|it)|help|assist|comply|proceed|continue)\b",
    rf"\b(?:not|n't|never|un)(?: (?:been|be|yet|fully|actually|completely|properly))* ?{_REVIEWED}\b",
    rf"\b(?:nothing|no files?|none of the \w+|no code) (?:was|were|has been|have been|got) "
    rf"(?:read|opened|checked|{_REVIEWED})",
    r"\bno (?:\w+ ){0,2}review (?:was|is|has been|took|could|happened|possible|performed|made|done)",
    r"\bwithout (?:(?:actually|having|even|really) )*"
    rf"{words('review read look examin inspect analy[sz] see')}(?:ing|ed)\b",
    r"\b(?:i|we) (?:\w+ )?(?:refuse|decline)d?\b",
    r"\b(?:i|we) (?:do not|don't|did not|didn't|lack|lacked|have no|had no|never had)(?: have| get| receive)? "
    rf"(?:[\w']+ ){{0,3}}?{words('access permissions? tools? ability visibility diff changes')}\b",
    r"\b(?:i|we) lack(?:ed)? (?:\w+ ){0,3}?(?:context|information|knowledge)\b",
    r"\b(?:permission|access) (?:was |is )?denied",
    # It began, and did not end.
    rf"\b{words('review analysis inspection audit assessment')} (?:[\w']+ ){{0,3}}?"
    + any_of(
        words("failed incomplete impossible aborted interrupted cancell?ed skipped unfinished partial crashed"),
        f"not {words('possible completed? finished done performed made conducted started')}",
        "cut (?:off|short)",
        f"(?:did not|didn't|could not|couldn't|cannot) {words('happen run finish complete succeed start be')}",
        "(?:timed out|took place without)",
    ),
    rf"\b{words('incomplete partial failed aborted unfinished superficial')} (?:code )?review\b",
    r"\b(?:only|just|merely) (?:(?:had time|managed) to )?(?:skim|glanc|look(?:ed)? at|read|review(?:ed)?) ?"
    r"(?:the first|part|parts|some|half|a (?:part|portion|subset|few))\b",
    r"\b(?:i|we) (?:\w+ )?(?:skimmed|glanced|gave up|stopped|quit|aborted)\b",
    r"\b(?:i|we) had to (?:stop|abort|give up|skip|guess)\b",
    r"\bskipp(?:ed|ing) (?:the |this |my )?(?:\w+ )?review\b",
    r"\b(?:have not|haven't|not yet|did not|didn't) (?:yet )?(?:finish|start|begun?|get to)(?:ed)?\b",
    r"\b(?:todo|fixme)\s?:",
    r"\b(?:ran|run|running) out of (?:time|context|tokens|budget|memory|turns|quota|credits?)\b",
    r"\b(?:limit|budget|window|quota) (?:was |is )?(?:exceeded|exhausted|reached) (?:before|while|during|so)\b",
    r"\bbefore (?:i|we) (?:could|was able|were able|managed|got to)\b",
    r"\b(?:i|we|review|session|tool|agent|client) (?:\w+ )?timed out\b",
    r"\b(?:i|we) (?:was|were|got|am|have been) (?:being )?rate[- ]limited\b",
    r"\breview (?:covers? only|only covers?)\b|\b(?:not|n't)(?: have| had)? (?:enough )?time to\b|\bnot enough time\b",
    rf"{_I}(?:could not|couldn't|cannot|can't|unable to) {words('determine tell judge say decide verify know')} "
    r"(?:whether|if|what|anything|much)\b",
    rf"\b{words('reviewing reading inspecting examining')} (?:\w+ ){{0,3}}?(?:was|is) (?:not possible|impossible)\b",
    # Something went wrong on the way.
    r"\b(?:skipped|omitted) (?:most|some|half|all|many) of\b",
    rf"\bonly (?:one|two|some|a few) (?:\w+ )?(?:was|were) (?:read|{_REVIEWED})\b",
    r"\b(?:no ?(?:body|one)|none of us) (?:has |have )?(?:looked|reviewed|read|checked)\b",
    r"\b(?:run|start|repeat) (?:the|this) review again\b|\btry again (?:later|in \d)|^http (?:error )?[45]\d\d\b",
    r"\b(?:not logged in|login required|credit balance|session (?:has )?expired|please log in)\b",
    r"\b(?:had|have) (?:trouble|difficulty|problems) \w+ing\b|\bsomething went wrong\b",
    r"\b(?:encountered|ran into|run into|hit) (?:an?|the|some|several|multiple) (?:[\w-]+ ){0,3}?"
    r"(?:errors?|exceptions?|failures?|timeouts?|tracebacks?|limits?|problems?)\b",
    rf"\b{words('git tool tools bash shell sandbox mcp agent model reviewer')} (?:calls? |commands? |access )?(?:\w+ )?"
    r"(?:failed|crashed|errored|aborted|refused|(?:is|was|were|are) (?:unavailable|denied|blocked|not \w+))\b",
    r"\b(?:error|exception) (?:occurred|happened|prevented|stopped)\b",
    r"\bunfortunately\b",
)


def says_unread(text: str) -> bool:
    """Whether a sentence says that the reviewer did not see the change, or did not come to the end of it."""
    lowered = plain(text[:_LOOKED_AT]).replace("\u2019", "'")
    return bool(_UNABLE.search(lowered)) or bool(_UNREAD.search(lowered))
