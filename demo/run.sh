#!/bin/sh
# Shows the main job with scripted reviewers: the loop, its decisions and its exit codes are the real ones.
set -u
cd "$(dirname "$0")" || exit 1

expect() {  # the exit code that the next command must have
    wanted=$1
    shift
    printf '\n$ %s\n' "$*"
    "$@"
    code=$?
    if [ "$code" -ne "$wanted" ]; then
        echo "demo: '$*' exited with $code, not with $wanted" >&2
        exit 1
    fi
    printf '(exit %s)\n' "$code"
}

echo "== Act one: findings, a fix, a fresh look, a seal"
expect 0 burnish protocol rehearse becomes-clean.toml
echo
echo "== Act two: a finding that will not go away needs a person"
expect 3 burnish protocol rehearse needs-a-person.toml
echo
echo "== Nothing is clean by default: the summary counts a finding that the document does not list"
expect 1 burnish parse --contract findings --protocol epic answer.md
