"""For each tool what it says of one file with a problem and of one without, said by the real tools."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from burnish.agents.panel.interface import RuleSelection, ToolName
from burnish.agents.panel.tools.ast_grep import AstGrep
from burnish.agents.panel.tools.registry import TOOLS
from burnish.core.values import Value
from burnish.system.process import Finished, How
from tests.agents.analysers.tools.running import start, write_for
from tests.agents.analysers.tools.test_ast_grep import RULES
from tests.agents.analysers.tools.test_kingfisher import LINE, SOME

_WORKFLOW = "on: push\npermissions: {}\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo "
_PROBLEMS = {
    ToolName.RUFF: ("a.py", "import os\n", "x = 1\n", RuleSelection(select=("F401",))),
    ToolName.AST_GREP: ("a.js", "try { a() } catch (e) {}\n", "a()\n", RuleSelection()),
    ToolName.OXLINT: ("a.js", "debugger\n", "a()\n", RuleSelection(select=("no-debugger",))),
    ToolName.KINGFISHER: ("a.py", LINE, "x = 1\n", SOME),
    ToolName.ZIZMOR: (
        ".github/workflows/a.yml",
        f"{_WORKFLOW}${{{{ github.head_ref }}}}\n",
        f"{_WORKFLOW}hello\n",
        RuleSelection(),
    ),
    ToolName.SHELLCHECK: ("a.sh", "#!/bin/sh\necho `date`\n", "#!/bin/sh\ndate\n", RuleSelection()),
    ToolName.TY: ("a.py", "def f(a): ...\n\nf()\n", "x = 1\n", RuleSelection(select=("missing-argument",))),
    ToolName.HADOLINT: ("Dockerfile", "FROM ubuntu\n", "FROM ubuntu:22.04\n", RuleSelection()),
}
_ESLINT = '[{"filePath": "/r/a.js", "messages": [%s], "source": "var a"}]'
_ESLINT_MESSAGE = '{"ruleId": "no-var", "severity": 2, "message": "m", "line": 1, "column": 1}'


class Sample(Value):
    """Two runs on one file."""

    file: str
    found: Finished
    clean: Finished


@cache
def sample(tool: ToolName) -> Sample:
    if tool is ToolName.ESLINT:
        found = Finished(how=How.EXITED, code=1, stdout=(_ESLINT % _ESLINT_MESSAGE).encode())
        return Sample(file="a.js", found=found, clean=Finished(how=How.EXITED, code=0, stdout=(_ESLINT % "").encode()))
    file, flawed, clean, choice = _PROBLEMS[tool]
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "rules.yml").write_text(RULES)
        program = AstGrep(folder / "rules.yml") if tool is ToolName.AST_GREP else TOOLS[tool]
        write_for(program, folder, {file: flawed})
        found = start(program, folder, (file,), choice)
        write_for(program, folder, {file: clean})
        return Sample(file=file, found=found, clean=start(program, folder, (file,), choice))
