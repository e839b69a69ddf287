# shellcheck shell=sh disable=SC2154 # python and package are set above
# What the hooks of a client run: `burnish-hook.sh hook|guard|gate`, with the event on the standard input.
what=${1:-}

if [ -x "$python" ] && [ -f "$package/__main__.py" ]; then
    case $what in
    hook) exec "$python" -I -S "$package/plugin/hook.py" ;;
    guard) exec "$python" -P -m burnish.usecases.guard_command ;;
    *) exec "$python" -P -m burnish plugin "$@" ;;
    esac
fi
# On another machine, or after burnish has moved.
if command -v burnish >/dev/null 2>&1; then
    exec burnish plugin "$@"
fi

# burnish is gone. What it guards must not pass because of that; everything else goes on.
gone="burnish is neither at $package nor on the PATH. Install it again, or remove the hooks that call $0."
event=$(cat)
case $what in
guard)
    case $event in
    *git*--no-v* | *git*--for* | *git*[hH]ooks[pP]ath* | *git*' -'[nf]*)
        echo "This command cannot be checked: $gone" >&2
        exit 2 ;;
    esac ;;
gate)
    # An agent may stop; that nothing was checked is said aloud.
    echo '{"systemMessage": "burnish did not check this change: it is not installed any more."}' ;;
hook)
    # A review is under way if the session has a card. A call that names no session concerns all of them.
    cards=${XDG_STATE_HOME:-${HOME:-}/.local/state}/burnish/sessions
    session=$(printf '%s' "$event" | sed -n 's/.*"session_id" *: *"\([A-Za-z0-9_-]*\)".*/\1/p' | head -n 1)
    card=$cards/$session.json
    [ -n "$session" ] || card=$(find "$cards" -name '*.json' 2>/dev/null | head -n 1)
    case $event in
    *'"UserPromptSubmit"'*/burnish:*)
        echo "There is no review: $gone" >&2
        exit 2 ;;
    esac
    [ -n "$card" ] && [ -e "$card" ] || exit 0
    case $event in
    *'"PreToolUse"'*)
        echo "A review is under way, and this cannot be checked: $gone To end the review: rm '$card'" >&2
        exit 2 ;;
    *)
        echo '{"systemMessage": "A review was under way. It is NOT complete, and nothing is approved: burnish is gone."}' ;;
    esac ;;
esac
exit 0
