# shellcheck shell=sh disable=SC2154 # name, python and package are set above
kept="$(dirname "$0")/$name.before-burnish"

# git says on the standard input what is pushed; both hooks need it.
pushed=
[ "$name" != pre-push ] || pushed=$(cat && echo .)

hand_over() {
    if [ "$name" = pre-push ]; then
        printf '%s' "${pushed%.}" | "$@"
    else
        "$@"
    fi
}

# shellcheck disable=SC2016 # for the inner shell
# A shell script is run under the name that it had: husky, for one, finds its files by it.
run_kept() {
    export BURNISH_KEPT="$kept"
    case $(head -c 40 "$kept" | tr -d '\000' | head -n 1) in
    '#!/bin/sh' | '#!/usr/bin/env sh')
        hand_over sh -c '. "$BURNISH_KEPT"' "$0" "$@" ;;
    '#!/bin/bash' | '#!/usr/bin/bash' | '#!/usr/bin/env bash')
        hand_over bash -c '. "$BURNISH_KEPT"' "$0" "$@" ;;
    *)
        hand_over "$kept" "$@" ;;
    esac
}

if [ -x "$kept" ] && [ "${BURNISH_KEPT:-}" != "$kept" ]; then
    (run_kept "$@") || exit $?
fi

# An agent of burnish commits: that run reviews its work.
[ "$name" = pre-push ] || [ -z "${BURNISH_RUN:-}" ] || exit 0

if [ -x "$python" ] && [ -f "$package/__main__.py" ]; then
    hand_over "$python" -P -m burnish hook run "$name" "$@"
elif command -v burnish >/dev/null 2>&1; then
    hand_over burnish hook run "$name" "$@"
else
    echo "burnish: nothing was checked: burnish is neither at $package nor on the PATH." >&2
    echo "Install it again, or remove this hook: $0" >&2
    case $name in
    pre-push) echo "To push without the check: git push --no-verify" >&2 ;;
    pre-commit) echo "To commit without the check: git commit --no-verify" >&2 ;;
    esac
    [ "$name" = post-commit ]
fi
