"""Python code as a syntax tree: the one door of the panel to `ast.parse`.

The code is that of a change, so it may be anything. Besides its errors, the parser of CPython 3.11 raises SystemError
for code that is nested deeply and is called from deep within a program. A tree that is too deep for functions that call
themselves for each level counts as one that cannot be parsed, too.
"""

import ast
from threading import Lock

_DEEPEST = 120
_ONE_AT_A_TIME = Lock()
"""CPython 3.11 counts the depth of trees for all threads together: two that parse at once can make both fail."""


def parse_python(source: str | bytes) -> ast.Module | None:
    """The tree, or None where there is none to work with."""
    try:
        with _ONE_AT_A_TIME:
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError, SystemError):
        return None
    return tree if _is_shallow(tree) else None


def _is_shallow(tree: ast.Module) -> bool:
    level: list[ast.AST] = [tree]
    for _ in range(_DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return True
    return False
