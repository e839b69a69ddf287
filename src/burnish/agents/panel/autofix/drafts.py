"""One file while it is being mended: what it was, what it is now, and which fixes hold."""

from collections.abc import Iterable, Sequence

from burnish.agents.panel.autofix.blocks import blocks
from burnish.agents.panel.autofix.edits import apply
from burnish.agents.panel.autofix.fixes import Fix, harm, together
from burnish.agents.panel.autofix.halving import Halving
from burnish.agents.panel.autofix.targets import Rule, Target, paired
from burnish.agents.panel.interface import Hit


class Draft:
    """A file, pass by pass: `begin` with fixes, look at each `attempt` and `judge` it, then `finish`."""

    def __init__(self, path: str, content: bytes, targets: Iterable[Target], hits: Sequence[Hit]) -> None:
        self.path = path
        self.original = content
        self.content = content
        self.targets: tuple[Target, ...] = tuple(targets)
        """What is still to be fixed, where it is now."""
        self.made: tuple[Fix, ...] = ()
        self.refused: dict[int, str] = {}
        """Why a fix was taken back, by the number of its target."""
        self._tried: dict[int, tuple[bytes, ...]] = {}
        """What such a fix would have written: only another one is tried again, after others were made."""
        self._closed = False
        self._hits = hits
        self._first_targets = self.targets
        self._first_hits = hits
        self._search: Halving[Fix] = Halving()

    @property
    def all_targets(self) -> tuple[Target, ...]:
        """Also those that are fixed, where they were at first."""
        return self._first_targets

    @property
    def is_changed(self) -> bool:
        return self.content != self.original

    def wanted(self) -> tuple[tuple[Target, Hit], ...]:
        """What is still to be fixed, with what is said of it now."""
        now = {} if self._closed else paired(self.targets, self._hits)
        return tuple((target, now[target.number]) for target in self.targets if target.number in now)

    def gone(self) -> frozenset[int]:
        """Targets that are not reported any more, by a fix of their own or with another one."""
        now = paired(self.targets, self._hits)
        fixed = (target.number for fix in self.made for target in fix.targets)
        return frozenset(fixed) | {target.number for target in self.targets if target.number not in now}

    def begin(self, fixes: Iterable[Fix]) -> None:
        """Take up the fixes that can be made in one pass."""
        self._search = Halving(fix for fix in together(fixes) if not self._is_known(fix))

    def _is_known(self, fix: Fix) -> bool:
        return any(self._tried.get(target.number) == fix.texts for target in fix.targets)

    @property
    def attempt(self) -> bytes | None:
        """The file as it is to be looked at next; None when all fixes of this pass are decided."""
        group = self._search.group
        return self._with(self._search.kept + group) if group else None

    def _with(self, fixes: Sequence[Fix]) -> bytes:
        return apply(self.content, (span for fix in fixes for span in fix.spans))

    def judge(self, hits: Sequence[Hit]) -> None:
        """Take what the tools say of the attempt."""
        group = self._search.group
        found = harm(self._hits, hits, group)
        if not found:
            self._search.holds()
            self._hits = hits
            return
        if len(group) == 1:
            numbers = [target.number for target in group[0].targets]
            self.refused.update(dict.fromkeys(numbers, _reason(group[0], found)))
            self._tried.update(dict.fromkeys(numbers, group[0].texts))
        self._search.fails()

    def finish(self) -> bytes:
        """End a pass: the file with the fixes that hold."""
        after = self._with(self._search.kept)
        changed = blocks(self.content, after)
        fixed = {target.number for fix in self._search.kept for target in fix.targets}
        self.targets = tuple(target.follow(changed) for target in self.targets if target.number not in fixed)
        self.made += self._search.kept
        self.content = after
        self._search = Halving()
        return after

    def refuse(self, reason: str) -> None:
        """Leave the file alone."""
        self._closed = True
        self.refused.update((target.number, reason) for target in self.targets)

    def take_back(self, reason: str) -> bytes:
        """Undo everything; the file as it was."""
        self.refused.update((target.number, reason) for fix in self.made for target in fix.targets)
        self.made = ()
        self.content = self.original
        self.targets = self._first_targets
        self._hits = self._first_hits
        return self.original


def _reason(fix: Fix, rules: Sequence[Rule]) -> str:
    own = {target.rule for target in fix.targets}
    added = [str(rule) for rule in rules if rule not in own]
    if added:
        return f"reverted: it added {', '.join(added)}"
    return f"reverted: {', '.join(str(rule) for rule in rules)} was still reported"
