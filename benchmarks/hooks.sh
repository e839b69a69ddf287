#!/usr/bin/env bash
# The steps of a review's hooks as a script with jq would do them: read the call, read the state, decide, write.
# One call: hooks.sh EVENT, with the client's JSON on standard input. Only the benchmark uses it.
set -eu
event=$1
input=$(cat)
cwd=$(jq -r .cwd <<<"$input")
state=$cwd/.agents/tmp/state.json
[ -f "$state" ] || exit 0
[ "$(jq -r .plugin "$state")" = burnish ] || exit 0
[ "$(jq -r .status "$state")" = in_progress ] || exit 0
phase=$(jq -r .currentPhase "$state")
round=$(jq -r .iteration "$state")
folder=$cwd/.agents/tmp/phases/review-$round
reviewers="critic pedant witness security-reviewer silent-failure-hunter"

case $event in
PreToolUse-Agent)
    kind=$(jq -r .tool_input.subagent_type <<<"$input")
    case " $reviewers review-fixer " in
    *" ${kind#burnish:} "*) ;;
    *) jq -n --arg r "[PHASE $phase] not wanted" '{hookSpecificOutput:{hookEventName:"PreToolUse",permissionDecision:"deny",permissionDecisionReason:$r}}' ;;
    esac ;;
PreToolUse-Edit)
    file=$(jq -r .tool_input.file_path <<<"$input")
    case $file in
    "$cwd"/.agents/*) ;;
    "$cwd"/*) jq -n --arg r "[PHASE $phase] no edits" '{hookSpecificOutput:{hookEventName:"PreToolUse",permissionDecision:"deny",permissionDecisionReason:$r}}' ;;
    esac ;;
SubagentStop)
    kind=$(jq -r .agent_type <<<"$input")
    reviewer=${kind#burnish:}
    message=$(jq -r .last_assistant_message <<<"$input")
    jq -e '.issues | type == "array"' <<<"$message" >/dev/null
    jq -e '.summary.verdict' <<<"$message" >/dev/null
    mkdir -p "$folder"
    jq --arg at "$(date -u +%FT%TZ)" '. + {reviewed_at: $at}' <<<"$message" >"$folder/.new"
    mv "$folder/.new" "$folder/r1-$reviewer.json"
    total=0 verdict=clean all='{}'
    for one in $reviewers; do
        [ -f "$folder/r1-$one.json" ] || exit 0
        count=$(jq '.issues | length' "$folder/r1-$one.json")
        said=$(jq -r .summary.verdict "$folder/r1-$one.json")
        total=$((total + count))
        [ "$said" = clean ] || verdict=issues_found
        all=$(jq --arg k "${one//-/_}" --arg v "$said" --argjson n "$count" '.[$k] = {verdict: $v, issues: $n}' <<<"$all")
    done
    jq --arg v $verdict --argjson n $total '. + {overall_verdict: $v, total_issues: $n}' <<<"$all" >"$folder/r1-verdict.json"
    next=R2
    [ $total -gt 0 ] || next=DONE
    jq --arg p $next --arg at "$(date -u +%FT%TZ)" '.currentPhase = $p | .updatedAt = $at | .iterations[-1].r1.status = "complete"' "$state" >"$state.new"
    mv "$state.new" "$state" ;;
Stop)
    [ "$(jq -r '.stop_hook_active' <<<"$input")" != null ]
    missing=""
    for one in $reviewers; do [ -f "$folder/r1-$one.json" ] || missing="$missing burnish:$one"; done
    most=$(jq -r .maxIterations "$state")
    task=$(jq -r .task "$state")
    jq -n --arg r "[PHASE $phase] round $round of $most: $task. Start:$missing" '{decision: "block", reason: $r}' ;;
esac
