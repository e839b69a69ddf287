"""The words of code review: which of them mean the same, which are opposites, and which kinds of problems they name.

Data, and how it is read. It is general knowledge of the field (CWE, common linters, what reviewers write), not of any
project. A kind that is missing here costs recall only: such findings are compared by their words. What things of a
program are called (a password and a token, an amount and a currency) is never made equal.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

_SYNONYMS = """
not: no without missing lack lacks lacking absent absence nothing nowhere omit omits omitted never none neither nor
    cannot cant neglects forgets forgot forgotten
check: checks checking checked validate validates validated validating validation verify verification verified ensure
    ensures guard guarded guards
valid: valid
catch: caught catches catching
null: none nil nullable nullpointerexception undefined nonetype attributeerror optional
error: exception failure failures err
swallow: ignore suppress discard hide hides hidden mask masks silent silently quietly swallows dropped
sanitize: escape escaping neutralize purify sanitise encode
untrusted: user-controlled attacker-controlled user-supplied client-supplied attacker malicious tainted arbitrary
    user-provided external
concat: concatenate interpolate interpolation f-string fstring format formatting splice embed embedded build built
query: queries
leak: leaks leaked leaking
close: closes closed closing dispose release released releases
file: files descriptor
lock: mutex semaphore synchronize synchronized synchronise synchronization locking locks
race: races toctou
thread: threads goroutine goroutines concurrent concurrently concurrency simultaneous simultaneously parallel
bound: bounds limit limits limited bounded cap
forever: indefinitely infinite infinitely endless endlessly
hang: hangs block blocks blocking stall
crash: crashes panic panics panicking abort aborts blows
path: paths branch branches
test: tests tested testing coverage
unused: unneeded leftover unreferenced
secret: credential credentials
hardcode: hardcoded hard-coded hardcodes embeds
permission: authorization authorisation authorize authorized permissions authorise privilege ownership owns owner
login: authentication authenticate authenticated
log: logs logged logging logger
duplicate: duplicates duplicated duplication repeat repeats repeated repeating
redundant: unnecessary unnecessarily needless needlessly superfluous pointless
wait: delay delays backoff back-off pause sleep interval
attempt: tries try attempts
twice: doubly again doubled double-counts double-count double-counted double-charged double-charges
apply: application applies applied applying
long: longer lengthy
wrong: incorrect incorrectly wrongly mistaken
insecure: unsafe vulnerable weak insecurely
float: floating double-precision
random: pseudo-random pseudorandom prng randomness
crypto: cryptographic cryptographically cryptography
iterate: iteration iterating iterates loop loops looping iterable
mutate: mutation modify modified modifies modification mutated mutating
remove: removed removes delete deletes deleted evict evicted purge
expose: exposes exposed reveal reveals disclose discloses
deserialize: deserialization deserialisation unpickle unpickled pickle unmarshal
compare: comparison compares compared comparing equality
empty: emptiness blank
call: calls called calling invoke invoked invocation
function: functions method methods routine
variable: variables
argument: arguments parameter parameters param params
import: imports imported
docstring: docstrings documentation documented doc docs
magic: unexplained
retry: retries retried retrying
timeout: timeouts deadline
memory: heap ram
overflow: overflows overrun overflowing
index: indexes indices
certificate: certificates cert ssl tls
disable: disabled disables
enable: enabled enables
origin: origins
wildcard: asterisk any each per every everyone anyone all
default: defaults
share: shared shares
encoding: charset
transaction: transactions
rollback: rolled
stale: outdated
type: types typing
dead: unreachable
code: statement statements lines
may: can could might possibly possible
"""
"""A word, and what is taken for it."""

_NEGATED = """
checked validated verified sanitized sanitised escaped handled quoted tested bounded limited caught awaited closed
released synchronized encrypted hashed salted pinned initialized initialised protected filtered guarded authenticated
authorized documented covered signed locked encoded trusted
"""
"""What `un` is put before: `unchecked` is `not checked`."""

_OPPOSITES = """
short long; few many; small large; low high; lower upper; before after; early late; first last; start end; min max;
minimum maximum; overflow underflow; increment decrement; strict lenient; strict permissive; strict loose;
public private; enable disable; readable writable; up down; above below; fast slow; narrow broad; positive negative;
inclusive exclusive; read write; encrypt decrypt; ascending descending; too not; open close; add remove; allow deny
"""

_SIBLINGS = """
password token key cookie email phone address certificate session jwt pin iban ssn
md5 sha1 des rc4 salt
secure httponly samesite domain
signature expiry expiration audience issuer algorithm
header body query url path cookie
get post put patch delete
create read update delete
sessions files orders invoices payments users projects accounts
encryption versioning logging backup replication
log store print transmit display
subject sender recipient
width height depth
latitude longitude
year month day hour minute second
source target destination
username password
left right
insert update delete select
success error warning
http https ftp
file socket connection lock cursor stream transaction thread
"""
"""Words of which a problem has one."""

_KINDS = """
sql-injection: sql inject; query inject; query|sql concat input|untrusted|string|sanitize|user|request; query|sql
    parameterize; query|sql !sanitize
command-injection: command inject; shell inject; shell|command|subprocess|exec|system untrusted; shell=true; os.system
    input|untrusted
code-injection: eval input|untrusted; exec input|untrusted; code inject
xss: xss; cross-site script; !sanitize dom|html|innerhtml|dangerouslysetinnerhtml|render|template|content|markup; html
    inject; innerhtml sanitize|untrusted; dangerouslysetinnerhtml
path-traversal: traversal; untrusted filename|path|file !sanitize|!check|join; zip slip; filename !sanitize|!check;
    outside folder|directory|root
ssrf: ssrf; server-side request forg; untrusted url fetch|request; url fetch server|allow
csrf: csrf; cross-site request forg
open-redirect: open redirect; untrusted redirect
xxe: xxe; external entity
deserialization: deserialize insecure|untrusted|execution; pickle.loads; yaml.load
secret-in-code: hardcode @secret; @secret source|code|repository|commit; @secret environment
secret-in-log: ~log @secret; print @secret
plain-text-password: @secret store plain; @secret plain compare
weak-hash: md5; sha1; sha-1; insecure hash
not-salted: !salt
weak-random: random insecure|!secure; random crypto; random @secret; random predictable; random.choice; random.random;
    predictable @secret
timing-attack: timing attack; constant-time; compare_digest; timing-safe
tls-not-verified: certificate disable; certificate !check; verify=false; insecureskipverify
cors: cors; access-control-allow-origin
missing-authorization: !permission check; !check permission; !permission endpoint|route|handler; idor; permission
    bypass; !check belong; wildcard user remove|read|edit|mutate|delete; read|edit|remove other user
missing-authentication: !login; login bypass; login_required
information-leak: stack trace expose|client|response|user|return; traceback expose|client|response; internal detail
    expose|leak|client|response; error message leak|expose
debug-mode: debug enable; debug=true; debug mode; debug tru
insecure-permissions: world-writable; world-readable; 0777; 0666; 777
root-user: root run|privilege|container|process
unpinned: !pin; pin digest|commit|version; latest tag; latest image
null-dereference: null dereference; !null !check; null !check; may null; null access|return|raise|pointer|derefer
missing-key: keyerror; !check key exist; !key exist; key !exist; !default config|dict|payload|environment
index-out-of-range: index range; indexerror; read past end; out-of-bounds read
off-by-one: off-by-one; off one; fencepost; last !fetch|!process|!include|!read|!reach; skip last|first; boundary
    exclude|include|exclusive|inclusive|reject; bound exclusive|inclusive; range exclusive|skip; wrong compare
    operator; exclude exactly
buffer-overflow: buffer overflow; strcpy; !bound !check write|copy|buffer|length; write past end; sprintf overflow;
    out-of-bounds write
use-after-free: use after free; after free; freed memory|access; dangl pointer
integer-overflow: integer overflow; overflow size|count|multiply|int|wrap|usize; wrap around
division-by-zero: division zero; divide zero; zerodivisionerror; zero divisor
resource-leak: resource leak; !close; handle leak; with open; context manager; descriptor leak; connection leak;
    !return pool; defer close; close !call
memory-leak: memory leak; cache grow; !remove cache|entry|map|dict; !bound cache; grow !bound; cache forever
thread-leak: thread leak; thread hang forever|channel|send
race-condition: race; !lock; !atomic thread|counter|increment; update !atomic; !thread-safe; update lost; thread write
    !safe; !hold lock
deadlock: deadlock; circular lock
lock-not-released: lock !close
swallowed-error: swallow error; bare except; except pass; error !report|!log|!propagate|!surface|re-raise; catch
    empty; empty catch; blind error; broad except; handler nothing
unchecked-error: error return swallow; error !check; !check error; err swallow; error !handle
unhandled-rejection: promise rejection; promise !catch; promise !handle; rejection !handle; handle rejection
not-awaited: !await; coroutine await; float promise; foreach async
panic: crash unwrap; unwrap; expect crash
infinite-loop: forever retry; !bound retry|attempt; retry forever; iterate forever; iterate
    !end|!terminate|!stop|!give; retry !bound|!stop|!give
no-timeout: !timeout; request hang forever
no-backoff: !wait retry
n-plus-one: n+1; query iterate; database iterate; query each|every|per|wildcard iterate; select_related; lazy
    each|every|iterate|wildcard
sequential-await: sequential promise.all; sequential await
mutable-default: mutable default; default share; default evaluate once; dangerous default
mutation-while-iterating: mutate iterate; remove iterate; change size iterate
not-transactional: transaction rollback; !transaction; !rollback; !atomic write|insert|update; one transaction;
    !atomic transaction
unused: unused; import !use; assign !use; variable !use
dead-code: dead code; dead; !reach; after return !run
duplicated-code: duplicate code|logic|block|implement|helper; copy past; reuse duplicate
done-twice: twice; double application|charge|count
untested: !test; test !cover; add test
undocumented: !docstring
unquoted-variable: !quote; word split; double quote
naive-time: naive; !timezone; timezone-naive; time zone; utcnow; !tzinfo; utcfromtimestamp
float-money: float @money|decimal; @money decimal; rounding decimal
no-encoding: encoding !specify|!explicit|!set; !encoding; !explicit encoding
string-identity: string compare ==; equals string; reference compare string; == equals
loose-equality: === ==; loose equal; type coercion
missing-dependency: dependency array; !dependency hook|useeffect|usememo|usecallback; exhaustive-deps; stale closure
missing-list-key: key prop; react key
missing-cleanup: !clean; !cleanup; unsubscribe; !remove listener; listener !remove; removeeventlistener
too-complex: complex; cyclomatic; too long function; function too long; code long; hard follow; nest deep
magic-number: magic number
shadowing: shadow
bad-name: ambiguous name; name unclear|mislead|ambiguous|inconsistent; rename
not-null-column: column not null default; not null column
missing-index: !index; full table scan
no-size-limit: !bound upload|body|request|payload size|upload|body; denial service size|upload|body|memory; exhaust
    memory
redos: redos; backtrack; catastrophic regex
prototype-pollution: prototype pollut; __proto__
missing-validation: !check input|argument|amount|value|range|negative|payload|field|limit;
    input|argument|value|payload|amount !check; negative accept
type-mismatch: type mismatch; wrong type; incompatible type
deprecated: deprecated
print-left: print left; leftover print; debug print; console.log; print production
todo-left: todo; fixme
signature-not-verified: signature !check; jwt !check
insecure-cookie: cookie flag; cookie secure; cookie httponly; cookie samesite
redundant-copy: redundant clone|copy
stale-cache: cache !invalid; stale cache|serve
"""
"""Phrases that name a kind, with semicolons between: one word of each group; `!` marks what is said to be missing,
`~` what is not."""

_MACROS = {
    "@secret": "secret|password|passwords|passphrase|key|keys|token|tokens|apikey|sensitive|pii|personal|private",
    "@money": "money|monetary|currency|currencies|price|prices|amount|amounts|cost|total",
}

WEAKEST = "missing-validation"
"""A kind that counts only where a sentence names no other: everything can be called a missing check."""

ABOUT_TESTS_OR_STYLE = frozenset(
    {"untested", "undocumented", "duplicated-code", "too-complex", "bad-name", "done-twice"}
)
"""Kinds that say something else about the code than what it does wrong: they go with nothing but themselves."""

LIGHT = frozenset({"may", "with", "instead", "all", "one", "sam", "use", "too"})
"""Canonical words that help to name a kind and say nothing by themselves."""

_STOP_WORDS = """
a about also an and are as at be because been being both bug but by consider detected did do does even for found from
get gets getting had has have here how if in into is issue it its just let lets make makes must new now of on only or
potential potentially probable problem shall should so some still such than that the their then there these they this
those through to used uses using very via was well were when where which while who will would you your
"""

_KEYWORDS = """
none null nil undefined true false self this cls e.g i.e n/a i/o
and as async await break case catch class const continue def default defer delete do elif else except finally fn for
from func function global go if import in is lambda let match mut new not or pass raise return static switch throw try
typeof unsafe var void while with yield
"""
"""What looks like code and names none in particular: literals, keywords, abbreviations."""

_PLAIN_WORDS = """
able about above accept accepted accepts accident across action actual actually add added additional adds after again
all allow allowed allows almost alone along already although always another anyone anything anywhere api appear
application apply approach appropriate argument around array aside assignment assume attack attacker attempt attribute
available avoid aware away base basic because become before begin behavior behaviour behind best better between big
bit block body bottom branch bring broad buffer bug build cache call callback caller can careful careless case catch
caught cause causes certain change changed changes channel choose class clean cleaned clear clearly client close code
column combine come comment common comparison complete completely condition config configuration connection consider
consistent constant contain container contains content context continue control convention convert converted copy
coroutine correct correctly cost could count cover create created creates css csv current cut data database date day
deal decide declaration deep default defect definition depend dependency deploy deployment design detail determine
development dict differ difference different difficult direct directly disk display down during dynamic each eager
easily easy effect either element elements else end endpoint ends enough ensure entire entries entry environment equal
especially even event ever every everything everywhere exact exactly example except exclude excludes execute executed
executes exist existing exists expect expected explicit explicitly export expression extra fact far fast feature fetch
fetched fetches few field file files fill final find fine first flag flow follow force forget form free frequent fresh
front full function further future general generate generator give given glob global globbing goes going good grow
guarantee half handle handled handler handles happen happens hard header held help helper here high hint hold holding
hook html http https huge id idea ideal ids image immediately impact implementation implicit import important improve
include includes inconsistent indeed index infrastructure input inside install installed installing instance instead
instruction intend intended interface invoke issue item items iterable iterate iterator job join joined json keep kept
key kind known large last late later lazily lazy lead leads leave leaves left length less level library likely line
list lists literal little load loaded loads local log logic long look loop lot low mainly make malformed many map mark
match matter may mean means memory merely message method middle might miss misses mistake mode module moment more
mostly move moved much multiple name names near necessary need needs neither network never next nobody normal normally
note nothing notice number numbers object obvious obviously occur occurs off often old once one open operation
operator option original other otherwise out outcome output outside over overall own package page parameter parse
parsed parses part pass passed passes past path pattern perform performance perhaps permit person personal place plain
plus point pointer pool possible possibly practice prefer present pretty prevent prevents previous prior private
probably problem proceed process production program project promise prone proper properly property provide provided
public purpose put query queue quick quickly quite raise raised raises rare rarely rather raw reach react read reading
reads ready real really reason receive received recommend record records reduce refer reference relate relevant rely
remain remember render rendered renders replace replaced report repository request requests require required resource
response rest result results return returned returns review reviewer right risk row rows rule run running runs safe
safely same save scope script second see seem seen send sends sensitive sent separate serious serve server service
session set sets setting settings several severity short should show shown shows side sign similar simple simply since
single size skip skipped skips small socket soft software some someone something sometimes soon source special
specific specify split stack standard start started state statement static status still stop stopped stops storage
store straight strange stream strict strictly string strings structure style substitute sudden suggestion suitable
supplied supply support sure surprise system table take taken talk task tell temporary term test text there thing
think third though thread throw thrown throws time together too tool top total touch toward trace treat trigger
triggered triggers true try turn type unable under understand unexpected unless unlike unlikely until up update
updated updates uri url use user users usual usually utility value values variable various version view vulnerability
wait waits want way whole wide with within without word words work worker works worth wrapper write writes written xml
yaml yet
"""
"""Words of the language of reviews and programs, which do not tell one thing from another."""

_VERDICTS = """
bad break breaks broken check checks crash deadlock duplicate error exceed exception fail failed failing fails ignore
leak lock missing null partial poor reject rejected reuse slow unknown valid validation weak worse worst wrong
"""
"""Plain words that say what is wrong: they tell no things apart, but problems."""

_SUFFIXES = (
    *("izations", "ization", "isations", "isation", "izing", "ising", "izes", "ises", "ized", "ised", "ize", "ise"),
    *("ations", "ation", "ating", "ated", "ates", "ators", "ator", "ately", "ate"),
    *("ities", "ity", "ions", "ion", "ings", "ing", "edly", "ed", "es", "ers", "er", "ly", "s", "e"),
)
_SHORTEST_STEM = 3
_REACH = 3
"""How many words after a negation it is about."""


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """A word without its ending, so that `validate`, `validated` and `validation` are one. Crude, and enough."""
    if len(word) <= _SHORTEST_STEM or not word.isalpha():
        return word
    if word.endswith(("ies", "ied")) and len(word) > len("ties"):
        return word[:-3] + "y"
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            word = word[: -len(suffix)]
            break
    doubled = len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] not in "ls"
    return word[:-1] if doubled else word


@lru_cache(maxsize=16_384)
def canonical(word: str) -> tuple[str, ...]:
    """The words that stand for a case-folded one: its stem or that of its synonym; none for a stop word."""
    if word in _stop_words():
        return ()
    negated = word.removeprefix("un")
    if negated != word and negated in _NEGATED.split():
        return ("not", *canonical(negated))
    synonyms = _synonyms()
    return (synonyms.get(word) or synonyms.get(stem(word)) or stem(word),)


@lru_cache(maxsize=16_384)
def is_known(word: str) -> bool:
    """Whether a word belongs to the vocabulary itself."""
    synonyms = _synonyms()
    return word in _stop_words() or word in synonyms or stem(word) in synonyms or word in _words_of_kinds()


@cache
def _keywords() -> frozenset[str]:
    return frozenset(_KEYWORDS.split())


def is_keyword(word: str) -> bool:
    """Whether a word that is spelled like code belongs to the language, and names nothing of the program."""
    return word in _keywords()


@lru_cache(maxsize=16_384)
def is_thing(word: str) -> bool:
    """Whether a canonical word tells one thing from another, as `currency` does and `parameter` does not."""
    return word.isalpha() and word not in _plain_words() and not is_known(word)


@lru_cache(maxsize=16_384)
def tells(word: str) -> bool:
    """Whether a canonical word says more than the common language of programs."""
    return word not in _plain_stems()


def kinds_of(words: Sequence[str]) -> frozenset[str]:
    """The kinds of problems that the canonical words of one sentence name."""
    missing = _missing(words)
    said = frozenset(words) | missing | frozenset(f"~{word}" for word in words if f"!{word}" not in missing)
    patterns = _patterns()
    possible = (pattern for word in said for pattern in patterns.get(word, ()))
    kinds = frozenset(pattern.kind for pattern in possible if all(group & said for group in pattern.groups))
    return kinds - {WEAKEST} or kinds


def _missing(words: Sequence[str]) -> frozenset[str]:
    """What a sentence says to be missing: the words after each negation."""
    starts = [place + 1 for place, word in enumerate(words) if word == "not"]
    return frozenset(f"!{word}" for start in starts for word in words[start : start + _REACH])


@cache
def opposites() -> tuple[tuple[str, str], ...]:
    """Words that turn a statement into another one, where one text has this and the other that."""
    pairs = (pair.split() for pair in _OPPOSITES.split(";"))
    return tuple((stem(one), stem(other)) for one, other in pairs)


@cache
def siblings() -> tuple[frozenset[str], ...]:
    """Words of which a problem has one: a text with this and a text with that are about two things."""
    return tuple(frozenset(map(stem, line.split())) for line in _SIBLINGS.strip().splitlines())


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(_STOP_WORDS.split())


@cache
def _synonyms() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for head, rest in _rows(_SYNONYMS):
        for word in (head, *rest.split()):
            found[word] = found[stem(word)] = stem(head)
    return found


@cache
def _plain_stems() -> frozenset[str]:
    """The plain words themselves: what is taken for another word says what that word says."""
    return frozenset(stem(word) for word in _PLAIN_WORDS.split() if canonical(word) == (stem(word),))


@cache
def _plain_words() -> frozenset[str]:
    return frozenset(
        form for word in f"{_PLAIN_WORDS} {_VERDICTS}".split() for form in (word, stem(word), *canonical(word))
    )


class _Pattern(NamedTuple):
    """A kind, and words that name it together: one of each group."""

    kind: str
    groups: tuple[frozenset[str], ...]


@cache
def _patterns() -> Mapping[str, Sequence[_Pattern]]:
    """The phrases that name kinds, by each word of their first group."""
    found: defaultdict[str, list[_Pattern]] = defaultdict(list)
    for kind, phrases in _rows(_KINDS):
        for phrase in _expanded(phrases).split(";"):
            pattern = _Pattern(kind, tuple(map(_group, phrase.split())))
            for word in pattern.groups[0]:
                found[word].append(pattern)
    return found


def _rows(text: str) -> Iterator[tuple[str, str]]:
    """The rows of a table, each with its head. A row goes on where a line is indented."""
    for row in re.sub(r"\n +", " ", text).strip().splitlines():
        head, _, rest = row.partition(":")
        yield head, rest


def _expanded(text: str) -> str:
    for name, words in _MACROS.items():
        text = text.replace(name, words)
    return text


def _group(words: str) -> frozenset[str]:
    """The words of which a phrase needs one, in their canonical form."""
    marked = ((word[: -len(word.lstrip("!~"))], word.lstrip("!~")) for word in words.split("|"))
    group = frozenset(f"{mark}{form}" for mark, word in marked for form in canonical(word))
    if not group:
        raise ValueError(f"every word of {words!r} is a stop word")
    return group


@cache
def _words_of_kinds() -> frozenset[str]:
    """The words of all phrases, but for what secrets and money are called: that tells one from another."""
    told_apart = frozenset("|".join(_MACROS.values()).split("|"))
    written = (word for _, phrases in _rows(_KINDS) for word in re.split(r"[\s|;!~]+", _expanded(phrases)))
    return frozenset(form for word in written if word not in told_apart for form in (word, stem(word)))
