"""A made-up project of 80,000 lines in four languages, and a change of about 500 lines, the same each time.

The change holds a few things that analysers find, so that the base is looked at, too.
"""

from burnish.testing.repositories import RepositoryBuilder

PYTHON, SCRIPTS, SHELL, WORKFLOWS = 305, 150, 60, 25
"""How many files of each kind."""
_FUNCTIONS = 18
"""In each of them."""
_STEPS = 25
_PYTHON_FUNCTION = '''
def compute_{file}_{number}(values: list[int], factor: int = {number}) -> int:
    """Weigh the values of part {file}."""
    total = 0
    for position, value in enumerate(values):
        if value % {divisor} == 0:
            total += value * factor + position
    return total
'''
_SCRIPT_FUNCTION = """
export function compute{file}x{number}(values, factor = {number}) {{
  let total = 0;
  for (const value of values) {{
    if (value % {divisor} === 0) {{
      total += value * factor;
    }}
  }}
  return total;
}}
"""
_SHELL_FUNCTION = """
step_{file}_{number}() {{
  local target="$1"
  if [ -d "$target" ]; then
    printf '%s\\n' "step {number} of {file}: $target"
  fi
}}
"""
_STEP = """      - name: Step {number} of {file}
        run: make step-{number}
"""
_WORKFLOW = """name: Workflow {file}
on: push
permissions: {{}}
jobs:
  build:
    runs-on: ubuntu-latest
    steps:
"""
_SWALLOWED = """
def load_{file}(path):
    try:
        return open(path).read()
    except Exception:
        pass
"""
_UNDEFINED = """
def total_{file}(rows):
    return sum(row.price for row in rows) + shiping_cost(rows)
"""
_WEAK = """
import hashlib


def fingerprint_{file}(text):
    return hashlib.md5(text.encode()).hexdigest()
"""
_EMPTY_CATCH = """
export function read{file}(text) {{
  try {{
    return JSON.parse(text);
  }} catch (error) {{}}
}}
"""
_UNQUOTED = """
clean_{file}() {{
  cd $1
  rm -rf $2/*
}}
"""
_INJECTION = """      - name: Greet
        run: echo "${{{{ github.event.issue.title }}}}"
"""
_CREDENTIALS = "aws_access_key_id = 'AKIA{}'\naws_secret_access_key = '{}'\n"


def project(builder: RepositoryBuilder) -> RepositoryBuilder:
    """The project on `main`, and the change, checked out."""
    return builder.commit(_base(), "Begin").branch("change").commit(_change(), "Change")


def lines_of(builder: RepositoryBuilder) -> tuple[int, int]:
    """Lines of the whole project, and lines that the change adds or removes."""
    whole = sum(text.count("\n") for text in _base().values())
    stats = builder.git.text("diff", "--numstat", "main...change").splitlines()
    return whole, sum(int(number) for line in stats for number in line.split("\t")[:2])


def _base() -> dict[str, str]:
    return (
        {f"package/part_{file}.py": _python(file) for file in range(PYTHON)}
        | {f"web/part{file}.js": _script(file) for file in range(SCRIPTS)}
        | {f"scripts/part-{file}.sh": _shell(file) for file in range(SHELL)}
        | {f".github/workflows/part-{file}.yml": _workflow(file) for file in range(WORKFLOWS)}
    )


def _change() -> dict[str, str]:
    """Every kind of file: more of the same at the end, and in some of them what should be found."""
    python = {f"package/part_{file}.py": _python(file, 3) for file in range(13)}
    flawed = {
        f"package/part_{file}.py": _python(file, 1) + flaw.format(file=file)
        for file, flaw in enumerate((_SWALLOWED, _UNDEFINED, _WEAK), start=20)
    }
    return {
        **python,
        **flawed,
        **{f"web/part{file}.js": _script(file, 2) + _EMPTY_CATCH.format(file=file) for file in range(4)},
        **{f"scripts/part-{file}.sh": _shell(file, 1) + _UNQUOTED.format(file=file) for file in range(3)},
        ".github/workflows/part-0.yml": _workflow(0) + _INJECTION.format(),
        "package/settings.py": _CREDENTIALS.format("Q3EGWZRJ7B2LKXNV", "k9Tz" + "8vQw2LmXr5YbNc7HdJf4Gs6PaUe3Ri1Ko0Zx"),
    }


def _python(file: int, more: int = 0) -> str:
    return f'"""Part {file}."""\n' + _functions(_PYTHON_FUNCTION, file, more)


def _script(file: int, more: int = 0) -> str:
    return f"// Part {file}\n" + _functions(_SCRIPT_FUNCTION, file, more)


def _shell(file: int, more: int = 0) -> str:
    return f"#!/bin/sh\n# Part {file}\n" + _functions(_SHELL_FUNCTION, file, more)


def _functions(text: str, file: int, more: int) -> str:
    count = _FUNCTIONS + more
    return "".join(text.format(file=file, number=number, divisor=number % 7 + 2) for number in range(count))


def _workflow(file: int) -> str:
    return _WORKFLOW.format(file=file) + "".join(_STEP.format(file=file, number=number) for number in range(_STEPS))
