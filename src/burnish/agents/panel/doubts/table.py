"""Reasons to doubt a hit, from the code around it that its tool did not see. A doubtful hit is medium at most.

Each kind was found by reading what must be fixed in whole projects (docs/benchmarks.md): the tool is right about the
line, and the program works all the same. Where the code cannot be parsed, nothing is doubted.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from burnish.agents.panel.doubts.configuration import (
    is_a_pattern,
    is_example_address,
    is_example_call,
    is_example_of_an_api,
    is_in_a_comment,
    is_in_a_docstring,
    is_in_a_long_text,
    is_in_an_archive,
    is_of_a_server_for_tests,
    is_of_firebase,
    is_of_maintainers,
    is_profile,
    is_search_of_a_page,
    is_shown,
    is_verified_otherwise,
    looks_made_up,
)
from burnish.agents.panel.doubts.javascript import (
    asks_for_a_feature,
    handles_its_errors,
    has_another_method,
    is_built,
    is_fixed_code,
    is_fixed_text,
    is_for_debugging,
    is_made_by_a_build,
    is_named_twice,
    is_no_component,
    is_no_test,
    is_of_no_protocol,
    is_query_of_the_program,
    is_recovered_on_purpose,
    is_script_of_a_page,
    is_script_of_developers,
    matches_nothing,
    names_tables,
    runs_a_whole_command,
    shows_its_own_text,
)
from burnish.agents.panel.doubts.python import (
    has_an_alias,
    is_asked_for_by_a_try,
    is_behind_an_error,
    is_chosen,
    is_command_of_the_program,
    is_compared_or_filled,
    is_demonstrated,
    is_documented,
    is_for_debuggers,
    is_given_by_the_module,
    is_imported_late,
    is_interface,
    is_joined,
    is_kept_as_it_is,
    is_list_of_work,
    is_looked_up,
    is_made_each_time,
    is_never_run,
    is_no_dict,
    is_no_query,
    is_not_evaluated,
    is_not_of_django,
    is_of_another_style,
    is_refused,
    is_registered_or_declared,
    is_safe_to_load,
    is_shared_on_purpose,
    is_sum,
    is_written_apart,
    leaves_with_the_change,
    makes_no_page,
    must_fail,
    returns_nothing,
    runs_its_own_code,
    takes_any_names,
    unpickles_its_own_data,
    waits_only_where_it_may,
)
from burnish.agents.panel.doubts.python_types import (
    is_called_by_another_name,
    is_guarded,
    is_held_function,
    is_local_annotation,
    is_of_another_type,
    is_parameter_called,
    is_tried,
)
from burnish.agents.panel.doubts.shell import (
    is_asked_for,
    is_coprocess,
    is_descriptor,
    is_for_zsh,
    is_known_to_be_set,
    is_label,
    is_of_another_shell,
    is_pipe_itself,
    is_read_otherwise,
    runs_its_arguments,
)
from burnish.agents.panel.doubts.source import SourceCode
from burnish.agents.panel.interface import Hit, ToolName
from burnish.agents.panel.novelty import LinesOf
from burnish.agents.panel.own_checks.reporting import OwnRule
from burnish.agents.panel.selectors import plain
from burnish.core.values import replace

Doubt = Callable[[Hit, SourceCode], bool]


def _any_of(*doubts: Doubt) -> Doubt:
    return lambda hit, source: any(doubt(hit, source) for doubt in doubts)


_OF_TOOLS: Mapping[ToolName, Doubt] = {
    ToolName.OXLINT: is_built,
    ToolName.TY: is_guarded,
    ToolName.HADOLINT: is_of_another_shell,
    ToolName.KINGFISHER: _any_of(looks_made_up, is_in_a_long_text),
}
_UNKNOWN_NAME = (ToolName.OXLINT, "no-undef")
_UNDEFINED = (ToolName.RUFF, "F821")
_MANY_FILES = 8
"""A name that so many files use and none defines is given to them, such as to plugins by what loads them."""
_MANY_NAMES = 8
"""One name that is nowhere defined is a mistake. So many different ones come from something that oxlint cannot see."""
_ARGUMENTS = ("missing-argument", "unknown-argument", "too-many-positional-arguments", "parameter-already-assigned")
_DOUBTS: Mapping[tuple[ToolName, str], Doubt] = {
    (ToolName.RUFF, "B002"): is_written_apart,
    (ToolName.RUFF, "B006"): is_kept_as_it_is,
    (ToolName.RUFF, "B015"): must_fail,
    (ToolName.RUFF, "B030"): is_sum,
    (ToolName.RUFF, "B039"): is_shared_on_purpose,
    (ToolName.RUFF, "B909"): is_list_of_work,
    (ToolName.RUFF, "PLE4703"): leaves_with_the_change,
    (ToolName.RUFF, "F811"): is_registered_or_declared,
    (ToolName.RUFF, "F507"): takes_any_names,
    (ToolName.RUFF, "FAST003"): has_an_alias,
    (ToolName.KINGFISHER, "betterleaks.linkedin-client-secret"): is_profile,
    (ToolName.KINGFISHER, "betterleaks.linkedin-client-id"): is_profile,
    (ToolName.KINGFISHER, "betterleaks.algolia-api-key"): is_search_of_a_page,
    (ToolName.KINGFISHER, "betterleaks.gcp-api-key"): is_of_firebase,
    (ToolName.RUFF, "F821"): is_not_evaluated,
    (ToolName.RUFF, "F823"): is_asked_for_by_a_try,
    (ToolName.RUFF, "F822"): is_given_by_the_module,
    (ToolName.RUFF, "PLE0604"): is_joined,
    (ToolName.RUFF, "F601"): is_made_each_time,
    (ToolName.RUFF, "S201"): is_for_debuggers,
    (ToolName.RUFF, "T100"): is_for_debuggers,
    (ToolName.AST_GREP, "py-dict-changed"): is_no_dict,
    (ToolName.AST_GREP, "py-unreachable"): is_behind_an_error,
    (ToolName.AST_GREP, "py-random-secret"): is_chosen,
    (ToolName.AST_GREP, "py-coroutine-dropped"): is_never_run,
    (ToolName.BURNISH, OwnRule.UNDECLARED_PACKAGE.value): is_imported_late,
    (ToolName.AST_GREP, "py-broad-handler-does-nothing"): is_documented,
    (ToolName.AST_GREP, "js-html-from-text"): shows_its_own_text,
    (ToolName.AST_GREP, "js-html-from-value"): is_built,
    (ToolName.RUFF, "PLE0302"): is_interface,
    **{(ToolName.RUFF, f"PLE03{code}"): is_refused for code in ("03", "04", "05", "07", "08", "09")},
    (ToolName.RUFF, "PLW0177"): is_looked_up,
    (ToolName.KINGFISHER, "betterleaks.generic-credential-uri"): is_example_address,
    (ToolName.KINGFISHER, "betterleaks.mongodb-connection-string"): is_example_address,
    (ToolName.KINGFISHER, "betterleaks.aws-amazon-bedrock-api-key-short-lived"): is_a_pattern,
    (ToolName.KINGFISHER, "betterleaks.curl-auth-user"): is_example_call,
    (ToolName.KINGFISHER, "betterleaks.curl-auth-header"): is_example_call,
    (ToolName.BURNISH, OwnRule.ACCESS_KEY.value): _any_of(is_in_a_comment, is_in_a_docstring),
    (ToolName.KINGFISHER, "betterleaks.private-key"): is_shown,
    (ToolName.KINGFISHER, "betterleaks.jwt"): _any_of(is_example_address, is_example_of_an_api),
    (ToolName.KINGFISHER, "betterleaks.docker-swarm-join-token"): is_example_of_an_api,
    (ToolName.KINGFISHER, "betterleaks.docker-swarm-unlock-key"): is_example_of_an_api,
    (ToolName.KINGFISHER, "betterleaks.kubernetes-secret-yaml"): is_in_an_archive,
    (ToolName.BURNISH, OwnRule.PASSWORD.value): _any_of(is_of_a_server_for_tests, is_example_of_an_api),
    (ToolName.BURNISH, OwnRule.NOT_VERIFIED.value): is_asked_for,
    (ToolName.AST_GREP, "js-not-verified"): _any_of(is_asked_for, is_built),
    (ToolName.AST_GREP, "go-not-verified"): _any_of(is_verified_otherwise, is_asked_for),
    (ToolName.AST_GREP, "js-focused-test"): _any_of(is_no_test, is_built),
    **{
        (ToolName.AST_GREP, rule): is_built
        for rule in ("js-assignment-in-condition", "js-callback-without-return", "js-parseint-callback")
    },
    (ToolName.OXLINT, "jest/no-focused-tests"): is_no_test,
    (ToolName.OXLINT, "no-debugger"): is_for_debugging,
    (ToolName.OXLINT, "no-async-promise-executor"): handles_its_errors,
    (ToolName.AST_GREP, "sh-eval-of-argument"): runs_its_arguments,
    (ToolName.AST_GREP, "js-random-secret"): is_of_no_protocol,
    (ToolName.AST_GREP, "py-secret-logged"): is_demonstrated,
    (ToolName.RUFF, "PLE0101"): returns_nothing,
    (ToolName.RUFF, "PLE1205"): is_of_another_style,
    (ToolName.RUFF, "RUF024"): is_compared_or_filled,
    **{(ToolName.RUFF, rule): waits_only_where_it_may for rule in ("ASYNC210", "ASYNC212", "ASYNC220", "ASYNC251")},
    (ToolName.RUFF, "S102"): runs_its_own_code,
    (ToolName.RUFF, "S307"): runs_its_own_code,
    (ToolName.RUFF, "S301"): unpickles_its_own_data,
    (ToolName.RUFF, "S302"): unpickles_its_own_data,
    (ToolName.RUFF, "S506"): is_safe_to_load,
    **{(ToolName.RUFF, rule): is_command_of_the_program for rule in ("S602", "S605", "S609")},
    (ToolName.RUFF, "S608"): is_no_query,
    **{(ToolName.RUFF, rule): is_not_of_django for rule in ("S610", "S611")},
    (ToolName.RUFF, "S701"): makes_no_page,
    (ToolName.BURNISH, OwnRule.MISSING_MODULE.value): is_made_by_a_build,
    (ToolName.TY, "import-not-found"): is_tried,
    **{(ToolName.TY, rule): is_called_by_another_name for rule in _ARGUMENTS},
    (ToolName.TY, "call-non-callable"): is_parameter_called,
    (ToolName.TY, "missing-attribute"): is_of_another_type,
    (ToolName.TY, "invalid-await"): is_held_function,
    (ToolName.TY, "unsupported-operator"): is_local_annotation,
    (ToolName.OXLINT, "no-undef"): is_script_of_a_page,
    (ToolName.OXLINT, "no-script-url"): is_fixed_code,
    (ToolName.OXLINT, "react/no-direct-mutation-state"): is_no_component,
    (ToolName.OXLINT, "no-eval"): is_fixed_text,
    (ToolName.OXLINT, "no-implied-eval"): is_fixed_text,
    (ToolName.OXLINT, "no-empty-character-class"): matches_nothing,
    (ToolName.OXLINT, "oxc/const-comparisons"): is_named_twice,
    (ToolName.OXLINT, "no-constant-binary-expression"): asks_for_a_feature,
    (ToolName.AST_GREP, "js-command-from-text"): is_script_of_developers,
    (ToolName.AST_GREP, "go-recover-dropped"): is_recovered_on_purpose,
    (ToolName.AST_GREP, "rust-shell-from-text"): runs_a_whole_command,
    (ToolName.AST_GREP, "js-sql-from-text"): is_query_of_the_program,
    (ToolName.AST_GREP, "go-sql-from-text"): names_tables,
    (ToolName.AST_GREP, "go-sql-in-variable"): names_tables,
    (ToolName.OXLINT, "unicorn/no-invalid-fetch-options"): has_another_method,
    (ToolName.ZIZMOR, "template-injection"): is_of_maintainers,
    (ToolName.SHELLCHECK, "SC1064"): is_read_otherwise,
    (ToolName.SHELLCHECK, "SC1065"): is_coprocess,
    (ToolName.SHELLCHECK, "SC1097"): is_read_otherwise,
    (ToolName.SHELLCHECK, "SC2078"): is_label,
    **{(ToolName.SHELLCHECK, f"SC{code}"): is_for_zsh for code in (2277, 2296, 2298, 2299, 2300, 2301)},
    (ToolName.SHELLCHECK, "SC2115"): is_known_to_be_set,
    (ToolName.BURNISH, OwnRule.DELETES_ROOT.value): is_known_to_be_set,
    (ToolName.SHELLCHECK, "SC2261"): is_descriptor,
    (ToolName.SHELLCHECK, "SC2260"): is_pipe_itself,
}


def with_doubts(hits: Iterable[Hit], lines: LinesOf) -> tuple[Hit, ...]:
    """The hits; those that the code around them makes doubtful say so."""
    found = tuple(hits)
    sources: dict[str, SourceCode] = {}
    unknown = {hit.message for hit in found if _is_of(hit, *_UNKNOWN_NAME)}
    undefined = Counter(message for message, _ in {(hit.message, hit.file) for hit in found if _is_undefined(hit)})

    def is_doubtful(hit: Hit) -> bool:
        rule = plain(hit.rule)
        if hit.tool is ToolName.AST_GREP:
            rule = rule.partition(".")[0]  # which says the language, where it is not that of most
        doubts = [_OF_TOOLS.get(hit.tool), _DOUBTS.get((hit.tool, rule))]
        if len(unknown) >= _MANY_NAMES and _is_of(hit, *_UNKNOWN_NAME):
            return True  # a macro, or a page whose other scripts define them
        if _is_undefined(hit) and undefined[hit.message] >= _MANY_FILES:
            return True
        if hit.doubtful or not any(doubts):
            return hit.doubtful
        if hit.file not in sources:
            sources[hit.file] = SourceCode(lines(hit.file) or ())
        return any(doubt(hit, sources[hit.file]) for doubt in doubts if doubt)

    return tuple(replace(hit, doubtful=is_doubtful(hit)) for hit in found)


def _is_undefined(hit: Hit) -> bool:
    return _is_of(hit, *_UNDEFINED) or _is_of(hit, *_UNKNOWN_NAME)


def _is_of(hit: Hit, tool: ToolName, rule: str) -> bool:
    return hit.tool is tool and plain(hit.rule) == rule
