"""Sentences that speak against a clean answer: the review was not made, or it found something.

A denial takes findings away, so it is read narrowly. A doubt takes a clean answer away, and the reviewer is asked
again: it is read widely. What a sentence denies, searches for or calls fixed is taken out of it first; a problem that
is left is one that it reports.
"""

from burnish.contracts.markdown.claims import counts_something
from burnish.contracts.markdown.denials import ADJECTIVE, says_all_settled, says_none, says_unread, sentences
from burnish.contracts.markdown.former import says_not_settled
from burnish.contracts.markdown.lines import list_mark
from burnish.contracts.markdown.patterns import Pattern, any_of, search, words
from burnish.contracts.markdown.severities import plain
from burnish.contracts.markdown.tags import leading_tag
from burnish.contracts.markdown.verdicts import rejects
from burnish.core.findings import Severity

_LOOKED_AT = 1_000

_PROBLEM = any_of(
    words("bugs? issues? problems? vulnerabilit(?:y|ies) defects? flaws? blockers? exploits? injections? backdoors?"),
    words("deadlocks? regressions? concerns? mistakes? weakness(?:es)? loopholes? xss csrf ssrf rce"),
    rf"{words('security logic logical memory resource data race correctness critical serious severe fatal')} "
    + words("holes? errors? leaks? loss corruption conditions? failures? gaps?"),
    r"off.by.one",
    r"use.after.free",
    r"races?|wrong \w+|(?:infinite|endless) loops?|(?:buffer|stack|integer) overflows?|divi(?:des|sion) by zero",
    r"privilege escalation|remote code execution|denial of service|undefined behaviou?r|out of bounds",
    "null (?:pointer )?dereferences?",
    "path traversals?",
    "(?:hard.?coded|leaked|committed) (?:secrets?|passwords?|keys?|credentials?|tokens?)",
    r"missing (?:\w+ )?(?:checks?|validation|tests?|authori[sz]ation|authentication|locks?|await|error handling)",
)
_WORD = r"(?!(?:but|which|that|is|are|was|were|be|because|so|causes?|leads?|means?|found|has|have|and|or)\b)[\w'./#-]+"
_FEW = rf"(?:{_WORD} ){{0,4}}?"
_NEXT = r"(?:,? (?:and|or|nor|as well as) |, ?|/)"
_PROBLEMS = rf"(?:(?:{ADJECTIVE}[\s,/]+){{0,8}}|{_FEW}){_PROBLEM}(?:{_NEXT}{_FEW}{_PROBLEM})*"
"""One problem or a list of them, with the words before each."""
_TO_BE = any_of("(?:has|have|had) been", "is", "are", "was", "were", "being")
_FIXED = words(
    "fixed resolved addressed closed gone handled mitigated prevented avoided eliminated removed covered corrected"
)
_FIXES = any_of(
    words("fix resolv address prevent avoid eliminat remov correct clos mitigat handl solv patch repair add guard")
    + "(?:es|s|ed|ing)",
    "(?:protect|guard|defend)(?:s|ed|ing)? (?:\\w+ )?(?:against|from)",
    "fix(?:es)? (?:for|of)",
    "(?:meant|intended|supposed|order) to (?:fix|resolve|address|prevent|avoid)",
)
_SEARCHES = any_of(
    words("look check search scan hunt watch test review audit inspect screen prob assess") + "(?:s|e|ed|ing)?",
    words("examin analy[sz] evaluat") + "(?:e|es|ed|ing)",
    words("scanned scanning verified analysis pass"),
)
_NAME = r"(?!(?:but|which|that|is|are|was|found|has|have|and|or)\b)[\w'./-]+"
_ITEM = rf"(?!(?:a|an|one|there|i|we|it|this) ){_NAME}(?: {_NAME}){{0,5}}"

_HARMLESS = search(
    # Denied.
    rf"\b(?:no|zero|0|without|any|neither|nor|free (?:of|from)|not (?:a|an|one)|not a single) {_PROBLEMS}",
    r"\b(?:nothing|none(?: of (?:the )?(?:\w+ ){1,3})?|no \w+(?: \w+)?) ?"
    r"(?:is|are|was|were|seems?|looks?) [\w-]+(?: to \w+)?",
    r"\b(?:not|n't|never|unable to|cannot|failed to) (?:\w+ ){0,2}?"
    rf"{words('find found see spot identify detect notice discover have contain introduce cause reveal show pose')} "
    rf"(?:an? |one |the )?{_PROBLEMS}",
    rf"\b{_PROBLEM}(?: {words('found identified detected reported remaining')})?\s?[:=(]\s?"
    r"(?:none|0|zero|no|nil|n/a|\[\])(?!\w)",
    rf"\b{_PROBLEM} (?:is|are|was|were) (?:not|im|never) ?{words('possible an? present found introduced')}\b",
    rf"\b{_PROBLEM} (?:is|are) (?:ruled out|absent|unlikely)\b",
    rf"\b(?:no longer \w+|never {words('crashes leaks corrupts deadlocks')})(?: (?:an?|the) \w+)?",
    r"\b(?:any|no)thing (?:\w+ )?(?:wrong|problematic|broken|incorrect|suspicious|unsafe|missing)",
    # Looked for.
    rf"\b(?:checked|ruled out) (?:out |the )?{_PROBLEMS}",
    rf"\b{_SEARCHES}\b[^.;:]{{0,60}}? (?:for|against|about) (?:an? )?{_ITEM}(?:{_NEXT}{_ITEM}){{0,12}}",
    rf"\b(?:focus(?:ed|ing|es)?|concentrat(?:ed|ing)|attention) (?:\w+ )?(?:on|to) {_ITEM}(?:{_NEXT}{_ITEM}){{0,12}}",
    rf"\b(?:consider|examin|check|assess|evaluat|review|verifi|trac)(?:ed|ing) (?:the )?"
    rf"(?:potential|possible|common|typical|usual|obvious) {_PROBLEMS}",
    # Fixed by the change, or before it.
    rf"\b{_FIXES} (?:an? |the |all |any |both )?{_PROBLEMS}",
    rf"\b{_PROBLEM}(?: (?:\w+ ){{0,6}}?)?{_TO_BE} (?:(?:now|all|both|correctly|properly|fully|already) )*{_FIXED}\b",
    rf"\b(?:previous|earlier|former|prior|original|reported|underlying|linked|suspected) {_FEW}{_PROBLEM}",
    # Parts of other words.
    rf"\b{_PROBLEM} (?:fix(?:es)?|trackers?|numbers?|ids?|#?\d+|(?:array|list) (?:is|are|below|empty)|key|field|suite"
    r"|tests?|detectors?|detection|scans?|scanners?|handling|prevention|protection|free)\b",
    r"\bdependency injection\b",
    r"^(?:(?:the|my|any|known|reported|list of) )*(?:issues|problems|bugs|concerns)(?: found| identified| list)?\s?:?$",
    rf"\bseparation of concerns\b|\bcross.cutting concerns\b|`{_PROBLEM}`",
)
_REPORTED = search(
    rf"\b{_PROBLEM}\b",
    r"\b(?:found|identified|discovered|spotted|noticed|detected|uncovered) (?:at least |only |just )?"
    r"(?:one|two|three|four|five|several|some|many|a few|a couple|multiple|[1-9]\d*)"
    r"(?=\s*(?:$|[.,;:!)]|of them|that|which|in\b|at\b|critical|serious|must|findings?))",
    rf"\b(?:{_TO_BE}|remains?|looks?|seems?|appears?(?: to be)?) (?:(?:\w+ly|still|also|now) )?"
    + any_of(
        words("vulnerable broken incorrect wrong insecure unsafe injectable exploitable buggy unvalidated unescaped"),
        words("unsaniti[sz]ed unhandled unchecked untested missing dangerous inverted incomplete hard.?coded"),
        f"not {words('validated escaped saniti[sz]ed checked handled closed released awaited correct safe secure')}",
        f"not (?:yet )?{words('implemented met satisfied fulfilled finished')}",
        f"never {words('validated escaped saniti[sz]ed checked handled closed released awaited')}",
    )
    + r"\b",
    rf"\b{words('crashes leaks corrupts deadlocks segfaults')}\b",
    r"\battackers? (?:could|can|may|might|would) (?!no|not|never)",
    r"\b(?:stored|logged|sent|written|printed|kept|saved) in (?:plain|clear) ?text\b",
    r"\b(?:worries|concerns) me\b|\b(?:i am|i'm|we are) (?:\w+ )?(?:worried|concerned)\b",
    r"\bbreaks (?:the|all|existing|backwards?) \w+|\bdereferences (?:a )?null\b|\b(?:is|are) flaky\b",
    r"\bcan be (?:\w+ )?(?:bypassed|exploited|abused|injected|circumvented)\b",
    r"\bpossible to (?:inject|bypass|exploit|crash|circumvent|read any)\b",
    rf"\b{words('secrets? keys? passwords? credentials? tokens?')} (?:is|are|was|were) (?:committed|exposed|leaked)\b",
    r"\bunhandled exceptions?\b|\bswallows (?:every|all|the|any)\b",
    rf"\b(?:{words('tests? build compilation suite ci pipeline')}) (?:(?:still|now|currently) )?"
    r"(?:fails?|failed|(?:is|are) (?:red|failing)|(?:do|does)(?: not|n't) pass)\b"
    r"(?! (?:on|at|in) (?:the )?(?:base|main|master|old)| before| without)",
    rf"\b(?:does not|doesn't|won't|will not|cannot|can't) {words('compile build work parse')}\b",
    rf"\bwill {words('crash fail break leak corrupt')}\b",
    rf"\b(?:{words('some several one two three four five many all')}|[1-9]\d*) (?:\w+ ){{0,2}}?tests? "
    r"(?:fail(?:s|ed)?|(?:is|are) failing)\b",
    r"\b[1-9]\d* (?:tests? )?(?:failed|failing|failures?|errors?)\b",
)
_MADE_UP = search(
    r"^(?:(?:fatal |api |internal )?error|fatal|exception|traceback)\s?[:(]",
    r"\bwould (?:look like|be (?:this|as follows|the following)|have been)\b",
    r"\bif (?:there were|i had|i found|it were|nothing (?:was|were))\b",
    r"\b(?:example|sample|dummy|template|placeholder|hypothetical|expected) (?:of )?(?:an? )?(?:\w+ )?"
    + words("review answer output response report verdict object result"),
    r"\b(?:placeholder|hypothetical(?:ly)?)\b",
    r"\bassum(?:e|ed|ing) (?:that )?(?:\w+ ){0,3}?(?:is|are|was|to be) (?:all )?(?:fine|ok|okay|good|clean|correct)\b",
    r"\b(?:i|we)(?: am|'m| are)?(?: just| only)? guess(?:ed|ing)?\b",
    r"\bdefault(?:ed|ing)? to (?:an? |the )?(?:clean|pass|empty)|\bby default (?:clean|pass)",
    r"\b(?:told|asked|instructed) (?:me |us )?to (?:answer|return|say|report|approve|respond|write)\b",
    r"\breturn(?:s|ed|ing)? (?:an? |the )?default\b|\b(?:clean|empty|pass) (?:\w+ )?for now\b",
    r"\b(?:ignore|disregard) (?:the|this|that|it|everything|my)\b",
    r"\b(?:is|was) not (?:an?|my|the) (?:(?:real|actual|final|complete|full) )?(?:review|answer|verdict|report)\b",
)
_CODE = Pattern(r"`[^`\n]*[_(){}\[\]<>=./:;\"'][^`\n]*`|`\S+`")


def doubt_in(paragraph: str) -> str:
    """The first sentence that speaks against a clean answer; empty where none does."""
    return next((part for one in sentences(paragraph) for part in _parts(one) if _speaks_against(part)), "")


def _parts(sentence: str) -> list[str]:
    """A sentence as a whole, or in parts that overlap: patterns see a bounded text, and all of it is seen."""
    return [sentence[start : start + _LOOKED_AT] for start in range(0, max(len(sentence) - 200, 1), _LOOKED_AT - 200)]


def _speaks_against(sentence: str) -> bool:
    text = " ".join(plain(_CODE.sub(" it ", sentence)).replace("\u2019", "'").split())
    if says_unread(sentence) or _MADE_UP.search(text) or rejects(text):
        return True
    if _is_tagged(sentence) or says_not_settled(sentence) or counts_something(sentence):
        return True
    return not says_all_settled(sentence) and _REPORTED.search(_HARMLESS.sub(" ", text.replace("-", " "))) is not None


def _is_tagged(line: str) -> bool:
    tag = leading_tag(list_mark(line.lstrip("# "))[1])
    if tag is None or tag.severity is Severity.INFO or not tag.rest:
        return False
    is_counted = tag.rest.strip("*_ ")[:1].isdecimal()  # and what is counted is read as a claim
    return not is_counted and not says_none(tag.rest)
