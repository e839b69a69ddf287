"""What the fixer says of each finding, and of its work as a whole. Only what was seen to be gone is called fixed."""

from collections.abc import Callable, Iterable, Sequence

from burnish.agents.panel.autofix.drafts import Draft
from burnish.agents.panel.autofix.targets import may_be_fixable, rules_of
from burnish.agents.panel.interface import Hit
from burnish.core.events import FixAnswer
from burnish.core.findings import Finding

NOT_OURS = "not an analyser's finding: a person or a model has to fix it"
NOTHING_SAFE = "no safe fix here"
_WITH_ANOTHER = "fixed together with another finding"


class AutofixOutcome:
    """What became of all targets, from the drafts of their files."""

    def __init__(self, drafts: Sequence[Draft], remark: Callable[[Hit], str]) -> None:
        self.gone = frozenset(number for draft in drafts for number in draft.gone())
        self.made = {target.number: fix for draft in drafts for fix in draft.made for target in fix.targets}
        self.why: dict[int, str] = {}
        """Why a target is still there."""
        self.of_finding: dict[str, list[int]] = {}
        for draft in drafts:
            self.why |= {target.number: remark(hit) for target, hit in draft.wanted()} | draft.refused
            for target in draft.all_targets:
                self.of_finding.setdefault(target.finding, []).append(target.number)


def answer(finding: Finding, outcome: AutofixOutcome) -> FixAnswer:
    """What is said of one finding."""
    rules = rules_of(finding)
    if not rules:
        return FixAnswer(finding=finding.id, fixed=False, text=NOT_OURS)
    targets = outcome.of_finding.get(finding.id, [])
    if not targets and not may_be_fixable(finding):
        return FixAnswer(finding=finding.id, fixed=False, text=_with_suggestion(NOTHING_SAFE, finding))
    if not targets:
        tools = _listed(sorted({rule.tool.value for rule in rules}))
        return FixAnswer(finding=finding.id, fixed=False, text=f"{tools} did not report it again; nothing was changed")
    done = dict.fromkeys(outcome.made[number].words for number in targets if number in outcome.made)
    left = [number for number in targets if number not in outcome.gone]
    if not left:
        return FixAnswer(finding=finding.id, fixed=True, text="; ".join(done) or _WITH_ANOTHER)
    reasons = dict.fromkeys(outcome.why.get(number, NOTHING_SAFE) for number in left)
    text = "; ".join([*(f"{words}, but part of the problem remains" for words in done), *reasons])
    return FixAnswer(finding=finding.id, fixed=False, text=_with_suggestion(text, finding))


def _with_suggestion(text: str, finding: Finding) -> str:
    """The suggestion is often the very fix that was not made."""
    return text if finding.suggestion in text else f"{text}; suggestion: {finding.suggestion}"


def remark(hit: Hit, *, unsafe: bool) -> str:
    """Why what a tool found was left alone."""
    remedy = hit.remedy
    if remedy is None or remedy.safe or unsafe:
        return NOTHING_SAFE if not unsafe else f"{hit.tool.value} has no fix for it"
    return "only with --unsafe-fixes" + (f": {remedy.title}" if remedy.title else "")


def summary(answers: Sequence[FixAnswer], outcome: AutofixOutcome) -> str:
    """The work in one line."""
    fixed = sum(answer.fixed for answer in answers)
    fixes = outcome.made.values()
    if not fixed:
        return f"no automatic fix for {_findings(len(answers))}" if answers else "nothing to fix automatically"
    kind = "safe fixes" if all(fix.safe for fix in fixes) else "fixes"
    tools = sorted({fix.tool.value for fix in fixes})
    return f"{fixed} of {_findings(len(answers))} fixed by {kind} of {_listed(tools)}"


def _findings(number: int) -> str:
    return f"{number} finding" if number == 1 else f"{number} findings"


def _listed(names: Iterable[str]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last
