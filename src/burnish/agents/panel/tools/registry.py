"""Every tool by its name: an explicit list, in the order in which they are run and shown."""

from collections.abc import Mapping

from burnish.agents.panel.interface import AnalyserTool, SourceFile, ToolName
from burnish.agents.panel.tools.ast_grep import AstGrep
from burnish.agents.panel.tools.eslint import Eslint
from burnish.agents.panel.tools.hadolint import Hadolint
from burnish.agents.panel.tools.kingfisher import Kingfisher
from burnish.agents.panel.tools.oxlint import Oxlint
from burnish.agents.panel.tools.ruff import Ruff
from burnish.agents.panel.tools.shellcheck import Shellcheck
from burnish.agents.panel.tools.ty import Ty
from burnish.agents.panel.tools.zizmor import Zizmor

_ALL: tuple[AnalyserTool, ...] = (
    Ruff(),
    AstGrep(),
    Oxlint(),
    Kingfisher(),
    Zizmor(),
    Shellcheck(),
    Hadolint(),
    Ty(),
    Eslint(),
)
TOOLS: Mapping[ToolName, AnalyserTool] = {tool.name: tool for tool in _ALL}


def takes_code(file: SourceFile) -> bool:
    """Whether a linter looks at files of this kind."""
    return any(tool.takes(file) for name, tool in TOOLS.items() if name is not ToolName.KINGFISHER)
