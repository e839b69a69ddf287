"""The `findings` contract: a review written as markdown.

Real documents vary widely, so every variant is read, and where parts of one disagree the worse reading holds: the
larger of listed and claimed counts, the worse of two severities, a rejection over an empty list. A text is clean only
when it denies every finding that must be fixed and nothing in it says otherwise; a text that is no review, or half of
one, is unreadable, and so is one that denies every finding and reports one in its prose. See
`burnish.contracts.markdown` for how it is read.
"""

import re

from burnish.contracts.json_text import read_documents, speaks_against
from burnish.contracts.markdown.claims import Claims, take_claims
from burnish.contracts.markdown.denials import says_unread
from burnish.contracts.markdown.doubts import doubt_in
from burnish.contracts.markdown.former import is_former
from burnish.contracts.markdown.lines import LineKind, MarkdownDocument, list_mark, plain_fences, scan
from burnish.contracts.markdown.listing import gather, loose_items, says_that_it_did_not_read
from burnish.contracts.markdown.outline import LISTING, Section, SectionKind, outline
from burnish.contracts.markdown.render import FindingsDocument, render
from burnish.contracts.markdown.verdicts import StatedVerdict, read_verdict
from burnish.contracts.paths import IsFile, no_repository
from burnish.contracts.text import UnreadableError, bounded, first_text_in
from burnish.core.findings import Finding, Severity
from burnish.core.reviews import Answer
from burnish.core.text import clean_text

__all__ = ["MAX_PROSE", "FindingsDocument", "contradiction", "parse", "render"]

_MAX_MADE_UP = 20
_MAX_CORRECTIONS = 50
_MUST_FIX = (Severity.CRITICAL, Severity.HIGH)
_FORM = "Answer with the sections Critical, Important and Minor, each with its findings or with 'None.', and a summary."
_ASKED_FORM = re.compile(r"\((?:must|should) fix\)|\bcode review findings\b", re.IGNORECASE)
"""Headings of the form that reviewers are asked for, whose last sections may not be missing."""
MAX_PROSE = 100_000
"""Characters of prose around a clean answer. More than that is a transcript, and is not searched for doubts."""


def parse(text: str, is_file: IsFile) -> Answer:
    """Read a review. `text` comes from `burnish.contracts.text.decode`."""
    return _Judgement(scan(text), is_file).answer()


def contradiction(prose: str) -> str:
    """What the prose around a clean answer says against it: a finding, or a sentence. Empty where it says nothing."""
    if not prose.strip():
        return ""
    if len(prose) > MAX_PROSE:
        raise UnreadableError(
            f"There are {len(prose):,} characters of prose around the answer; the limit is {MAX_PROSE:,}.",
            hint="Ask the reviewer for its answer only, not for its transcript.",
        )
    document = scan(_QUOTE_MARKS.sub("", prose))
    if document.cut:
        raise UnreadableError("The prose around the answer has a line that is too long.", hint=_FORM)
    return _Judgement(document, no_repository, is_review=False).said_otherwise()


_QUOTE_MARKS = re.compile(r"^\s*>[> ]*", re.MULTILINE)


class _Judgement:
    """One document, weighed: from what it lists, counts and concludes to one answer."""

    def __init__(self, document: MarkdownDocument, is_file: IsFile, *, is_review: bool = True) -> None:
        self._document = document
        self._is_file = is_file
        self._sections = outline(document)
        if not is_review:
            _let_prose_be(self._sections)
        self._verdict = read_verdict(self._sections)
        self._is_against = self._verdict in (StatedVerdict.AGAINST, StatedVerdict.AGAINST_CRITICAL)
        self._claims = take_claims(self._sections)
        _revive(self._sections, self._claims)
        self._gathered = gather(self._sections, is_file)
        self._findings = list(self._gathered.findings)
        self._corrections: list[str] = []
        for severity, number in self._gathered.counts:
            self._claims.add(severity, number)

    def answer(self) -> Answer:
        self._add_loose_items()
        self._add_open()
        self._refuse_what_is_no_review()
        self._make_up_for_claims()
        self._make_up_for_verdict()
        self._refuse_doubts()
        for path in self._gathered.refused:
            note = f"The location '{bounded(path, 200)}' is not inside the repository and was dropped."
            self._corrections.append(note)
        overflow = sorted(self._gathered.overflow.items(), key=lambda pair: pair[0].rank)
        more = "more findings of severity"
        summed = (_made_up(worse, f"{number} {more} {worse.value} are in the answer") for worse, number in overflow)
        findings = (*self._findings, *summed)
        return Answer(clean=not findings, findings=findings, corrections=tuple(self._corrections[:_MAX_CORRECTIONS]))

    def said_otherwise(self) -> str:
        """What a text reports that is no review of its own, but stands beside a clean one."""
        self._add_open()
        self._make_up_for_claims()
        self._make_up_for_verdict()
        return self._findings[0].title if self._findings else self._doubt()

    def _must_fix(self) -> int:
        return sum(finding.severity in _MUST_FIX for finding in self._findings)

    def _add_loose_items(self) -> None:
        """A list without any section counts as important, as long as nothing else in the text lists or denies."""
        is_structured = self._gathered.has_sections or self._claims.any or self._gathered.denies_all
        if self._findings or (is_structured and not self._is_against):
            return
        self._findings += loose_items(self._sections, self._is_file)
        if self._findings:
            self._corrections.append("Findings without a severity count as high.")

    def _add_open(self) -> None:
        """Take in what is named outside the lists, unless at least as much is listed already."""
        for named in (self._gathered.repeated, self._gathered.unsettled):
            for must_fix in (True, False):
                still_open = [finding for finding in named if (finding.severity in _MUST_FIX) == must_fix]
                listed = [finding for finding in self._findings if (finding.severity in _MUST_FIX) == must_fix]
                if len(still_open) > len(listed):
                    self._findings += still_open
                    self._corrections.append(f"Findings outside the lists count, too: {len(still_open)}.")
        if self._gathered.failed_criteria and not self._must_fix():
            self._findings += self._gathered.failed_criteria
            self._corrections.append("Acceptance criteria that are not met count as findings.")

    def _refuse_what_is_no_review(self) -> None:
        gathered = self._gathered
        if not self._findings and says_that_it_did_not_read(self._sections):
            raise UnreadableError(
                "The reviewer says that it did not see the change.",
                hint="Check that the change is committed, then ask again.",
            )
        has_lists = gathered.has_sections or gathered.denies_all or bool(self._findings)
        if not has_lists and not self._claims.any and not self._is_against:
            raise UnreadableError(
                "The answer is not a review: it neither lists findings nor says that there are none.", hint=_FORM
            )

    def _make_up_for_claims(self) -> None:
        """Where the text counts more than it lists, the larger number holds."""
        claims = self._claims
        claimed = listed = 0
        for severity in Severity:
            claimed += claims.by_severity.get(severity, 0)
            found = sum(finding.severity is severity for finding in self._findings) + self._gathered.overflow[severity]
            listed += found
            if severity is Severity.HIGH:
                claimed = max(claimed, claims.must_fix or 0)
            if claimed > listed:
                self._make_up(severity, claims.by_severity.get(severity, claimed), claimed - listed)
                listed = claimed
            elif found > claims.by_severity.get(severity, found):
                difference = _difference(claims.by_severity[severity], severity.value, found)
                self._corrections.append(f"{difference}: the larger number counts.")
        total = claims.total or 0
        if total > listed:
            ruled_out = {*claims.by_severity, *(_MUST_FIX if claims.must_fix is not None else ())}
            undenied = next((severity for severity in Severity if severity not in ruled_out), Severity.LOW)
            self._make_up(undenied, total, total - listed, what="findings in all")

    def _make_up(self, severity: Severity, counted: int, missing: int, what: str = "") -> None:
        title = _difference(counted, what or severity.value, max(counted - missing, 0))
        self._findings += [_made_up(severity, title)] * min(missing, _MAX_MADE_UP)
        self._corrections.append(f"{title}: the larger number counts.")

    def _make_up_for_verdict(self) -> None:
        """A rejection that lists nothing to fix stands for one finding."""
        rejects = self._is_against and not self._must_fix()
        if not rejects and (self._verdict is not StatedVerdict.CONDITIONAL or self._findings):
            return
        severity = Severity.CRITICAL if self._verdict is StatedVerdict.AGAINST_CRITICAL else Severity.HIGH
        self._findings.append(_made_up(severity, "The review asks for changes without listing what must be fixed"))
        self._corrections.append("The conclusion is against the change, but nothing that must be fixed is listed.")

    def _refuse_doubts(self) -> None:
        """Half a review is no review: what is silent about must-fix findings cannot say that there are none."""
        for severity in self._gathered.empty:
            decides = not self._findings or (severity in _MUST_FIX and not self._must_fix())
            if decides and not self._claims.denies(severity):
                message = f"The section for {severity.value} findings is empty and does not say that there are none."
                raise UnreadableError(message, hint=_FORM)
        if self._findings or self._gathered.overflow:
            return
        if self._document.unclosed:
            raise UnreadableError("The answer breaks off inside a code block.", hint="Ask for the whole review again.")
        if self._document.cut:
            raise UnreadableError("The answer has a line that is too long.", hint=_FORM)
        if said := self._doubt() or _failure_in(self._document):
            message = f"The answer lists no findings, but says: {bounded(clean_text(said), 200)}"
            raise UnreadableError(
                message, hint="Ask for a review that lists its findings, or says throughout that there are none."
            )
        if not self._denies_must_fix():
            message = "The answer lists nothing, but does not say that there are no critical and no important findings."
            raise UnreadableError(message, hint=_FORM)
        if self._is_cut_short():
            raise UnreadableError(
                "The answer ends before its section for minor findings and its summary: it was cut short.", hint=_FORM
            )

    def _denies_must_fix(self) -> bool:
        gathered = self._gathered
        if gathered.denies_all or self._claims.denies_must_fix():
            return True
        denied = {severity for severity in _MUST_FIX if severity in gathered.denied or self._claims.denies(severity)}
        approves = self._verdict is StatedVerdict.FOR and self._concludes()
        return len(denied) == len(_MUST_FIX) or (bool(denied) and approves)

    def _concludes(self) -> bool:
        """Whether a summary or a verdict follows the last list."""
        kinds = [section.kind for section in self._sections]
        last_list = max((place for place, kind in enumerate(kinds) if kind is SectionKind.SEVERITY), default=-1)
        return any(kind in (SectionKind.VERDICT, SectionKind.SUMMARY) for kind in kinds[last_list + 1 :])

    def _is_cut_short(self) -> bool:
        """Whether a document in the form that was asked for has no section below important, and no conclusion."""
        named = {section.severity for section in self._sections if section.kind is SectionKind.SEVERITY} - {None}
        asked_for = any(_ASKED_FORM.search(section.heading) for section in self._sections)
        return asked_for and bool(named) and named <= {*_MUST_FIX} and not self._concludes()

    def _doubt(self) -> str:
        """The first words outside the lists, and in fences that hold no code, that speak against a clean answer."""
        for section in self._sections:
            if says_unread(section.heading):
                return section.heading
            if said := first_text_in(map(doubt_in, _prose_of(section))):
                return said
        fenced = (_Judgement(scan(text), no_repository, is_review=False) for text in plain_fences(self._document))
        return first_text_in(judgement.said_otherwise() for judgement in fenced)


def _revive(sections: list[Section], claims: Claims) -> None:
    """Take sections under the report on a former round as new ones where the text has no others of their severity.

    Reviewers get the levels of their headings wrong; what is not said anywhere else must not be lost by that.
    """
    former = [section for section in sections if section.kind is SectionKind.FORMER]
    current = {section.severity for section in sections if section.kind is not SectionKind.FORMER}
    if any(section.kind is SectionKind.FINDINGS for section in sections):
        return
    for section in former:
        if section.severity not in {None, *current, *claims.by_severity} and not is_former(section.heading, 0):
            section.kind = SectionKind.SEVERITY


def _let_prose_be(sections: list[Section]) -> None:
    """Under "Findings" beside another answer, prose as a rule says where the findings are; it is no finding itself."""
    for section in sections:
        if section.kind is SectionKind.FINDINGS and not _is_list(section):
            section.kind = SectionKind.OTHER


def _is_list(section: Section) -> bool:
    return any(line.kind is LineKind.HEADING or list_mark(line.text)[0] is not None for line in section.lines)


def _prose_of(section: Section) -> list[str]:
    """The sentences of a section: none of a former round, and none of a list, whose items are read one by one."""
    texts = [line.text for line in section.lines if line.kind is LineKind.TEXT]
    is_listed = section.kind is SectionKind.FORMER or (section.kind in LISTING and _is_list(section))
    return [] if is_listed else texts


def _failure_in(document: MarkdownDocument) -> str:
    """A JSON object inside the text that reports a failure, or findings."""
    try:
        objects = read_documents("\n".join(line.text for line in document.lines)).objects
    except UnreadableError:  # braces of code that is quoted, not an answer
        return ""
    return first_text_in(map(speaks_against, objects))


def _difference(counted: int, what: str, listed: int) -> str:
    return f"The summary counts {counted} {what}, {listed} {'is' if listed == 1 else 'are'} listed"


def _made_up(severity: Severity, title: str) -> Finding:
    return Finding(severity=severity, title=title, synthetic=True)
