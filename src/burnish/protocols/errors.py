"""What is wrong in a document of the user's, said so that it can be found and put right: file, line, key, hint."""

from collections.abc import Sequence

from burnish.core.errors import BurnishError, ErrorKind
from burnish.core.values import Value


class Problem(Value, omit_defaults=False):
    """One thing that is wrong in one document. Line and key are there where the problem has a place."""

    file: str
    line: int | None = None
    key: str = ""
    message: str
    hint: str = ""

    @property
    def place(self) -> str:
        """`mine.toml:12`, or as much of it as is known."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def sentence(self) -> str:
        """Place, key and message in one line, without the hint."""
        return ": ".join(part for part in (self.place, self.key, self.message) if part)

    @property
    def text(self) -> str:
        """The whole problem in one line."""
        return f"{self.sentence} Hint: {self.hint}" if self.hint else self.sentence


class DocumentError(BurnishError):
    """A document that cannot be used, with every problem that was found in it."""

    kind = ErrorKind.CONFIGURATION

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        if len(self.problems) == 1:
            super().__init__(self.problems[0].sentence, hint=self.problems[0].hint)
        else:
            lines = "".join(f"\n  {problem.text}" for problem in self.problems)
            super().__init__(f"There are {len(self.problems)} faults.{lines}")


class ProtocolError(DocumentError):
    """A protocol that cannot be used. A run is never started with one."""
