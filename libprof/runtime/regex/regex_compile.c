/* Reads an expression from left to right; each part appends codes whose jumps are relative and stay
 * within the part, so a part can be moved and copied. */
#include "libprof/runtime/regex/regex.h"

#include <string.h>

enum { MAX_REPEATS = 255, NO_END = -1, DEEPEST = 32 };

static const char nothing_to_repeat[] = "there is nothing to repeat";

struct reading {
    struct seep_regex *regex;
    const char *at;
    const char *wrong; /* the first error; NULL: none */
    unsigned depth;
};

static void say(struct reading *r, const char *wrong)
{
    if (!r->wrong)
        r->wrong = wrong;
}

/* ---- codes ----------------------------------------------------------------------------------- */

static unsigned here(const struct reading *r)
{
    return r->regex->n_codes;
}

/* Moves the codes from `at` on by `n`. */
static bool make_room(struct reading *r, unsigned at, unsigned n)
{
    struct seep_regex *regex = r->regex;
    if (regex->n_codes + n > SEEP_REGEX_CODES) {
        say(r, "it is too long");
        return false;
    }
    memmove(&regex->codes[at + n], &regex->codes[at],
            (regex->n_codes - at) * sizeof(regex->codes[0]));
    regex->n_codes = (uint16_t)(regex->n_codes + n);
    return true;
}

static void insert(struct reading *r, unsigned at, enum seep_regex_what what, int first, int second)
{
    if (make_room(r, at, 1))
        r->regex->codes[at] =
            (struct seep_regex_code){(int16_t)what, (int16_t)first, (int16_t)second};
}

static void append(struct reading *r, enum seep_regex_what what, int first, int second)
{
    insert(r, here(r), what, first, second);
}

static void copy(struct reading *r, unsigned from, unsigned n)
{
    const unsigned to = here(r);
    if (make_room(r, to, n))
        memmove(&r->regex->codes[to], &r->regex->codes[from], n * sizeof(r->regex->codes[0]));
}

/* ---- sets ------------------------------------------------------------------------------------ */

static void add_byte(uint8_t *set, unsigned byte)
{
    set[byte / 8] |= (uint8_t)(1u << byte % 8);
}

static void add_range(uint8_t *set, unsigned first, unsigned last)
{
    for (unsigned byte = first; byte <= last; byte++)
        add_byte(set, byte);
}

/* In the C locale. */
static bool add_class(uint8_t *set, const char *name, size_t n)
{
    static const struct {
        const char *name;
        const char *ranges; /* pairs of a first and a last byte */
    } classes[] = {
        {"alpha", "AZaz"}, {"digit", "09"},     {"alnum", "09AZaz"},        {"upper", "AZ"},
        {"lower", "az"},   {"space", "\t\r  "}, {"blank", "\t\t  "},        {"punct", "!/:@[`{~"},
        {"print", " ~"},   {"graph", "!~"},     {"cntrl", "\1\37\177\177"}, {"xdigit", "09AFaf"},
    };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (strlen(classes[i].name) != n || strncmp(classes[i].name, name, n) != 0)
            continue;
        for (const char *range = classes[i].ranges; *range; range += 2)
            add_range(set, (uint8_t)range[0], (uint8_t)range[1]);
        return true;
    }
    return false;
}

static void invert(uint8_t *set)
{
    for (unsigned i = 0; i < 32; i++)
        set[i] = (uint8_t)~set[i];
}

/* An empty set; NULL: there is no room, which is reported. */
static uint8_t *new_set(struct reading *r)
{
    struct seep_regex *regex = r->regex;
    if (regex->n_sets == SEEP_REGEX_SETS) {
        say(r, "it has too many sets");
        return NULL;
    }
    append(r, SEEP_REGEX_SET, regex->n_sets, 0);
    return regex->sets[regex->n_sets++];
}

/* [:alpha:] after [: was read. */
static void read_class(struct reading *r, uint8_t *set)
{
    const char *end = strstr(r->at, ":]");
    if (!end || !add_class(set, r->at, (size_t)(end - r->at)))
        say(r, "there is no such character class");
    r->at = end ? end + 2 : r->at + strlen(r->at);
}

/* One byte of a set, and of a range another one. */
static void read_member(struct reading *r, uint8_t *set)
{
    const unsigned first = (uint8_t)*r->at++;
    if (first == '[' && (*r->at == '.' || *r->at == '=')) {
        say(r, "collating elements are not supported");
        return;
    }
    if (r->at[0] != '-' || !r->at[1] || r->at[1] == ']') {
        add_byte(set, first);
        return;
    }
    const unsigned last = (uint8_t)r->at[1];
    if (last < first || (last == '[' && (r->at[2] == '.' || r->at[2] == '=')))
        say(r, "a range of characters ends before it begins");
    add_range(set, first, last);
    r->at += 2;
}

/* [abc] after [ was read. */
static void read_set(struct reading *r)
{
    const bool inverted = *r->at == '^';
    uint8_t *set = new_set(r);
    r->at += inverted;
    for (bool first = true; set && !r->wrong && (*r->at != ']' || first); first = false) {
        if (!*r->at) {
            say(r, "a [ has no ]");
        } else if (r->at[0] == '[' && r->at[1] == ':') {
            r->at += 2;
            read_class(r, set);
        } else {
            read_member(r, set);
        }
    }
    r->at += !r->wrong;
    if (set && inverted)
        invert(set);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void read_escaped(struct reading *r)
{
    const char c = *r->at;
    const bool is_word = c == 'w' || c == 'W', is_space = c == 's' || c == 'S';
    uint8_t *set = is_word || is_space ? new_set(r) : NULL;
    if (!c) {
        say(r, "it ends with a backslash");
        return;
    }
    r->at++;
    if (set) {
        (void)add_class(set, is_word ? "alnum" : "space", 5);
        if (is_word)
            add_byte(set, '_');
        if (c == 'W' || c == 'S')
            invert(set);
    } else if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               strchr("<>`'", c)) {
        say(r, "a backslash stands before a letter or digit that has no meaning then (a digit is "
               "[0-9])");
    } else {
        append(r, SEEP_REGEX_BYTE, (uint8_t)c, 0);
    }
}

static void read_choice(struct reading *r);

static void read_group(struct reading *r)
{
    if (++r->depth > DEEPEST)
        say(r, "its ( ) lie too deep");
    else
        read_choice(r);
    r->depth--;
    if (*r->at != ')')
        say(r, "a ( has no )");
    else
        r->at++;
}

/* One character, set or group. */
static void read_atom(struct reading *r)
{
    const char c = *r->at++;
    switch (c) {
    case '.':
        append(r, SEEP_REGEX_ANY, 0, 0);
        break;
    case '[':
        read_set(r);
        break;
    case '(':
        read_group(r);
        break;
    case '^':
        append(r, SEEP_REGEX_BEGIN, 0, 0);
        break;
    case '$':
        append(r, SEEP_REGEX_END, 0, 0);
        break;
    case '\\':
        read_escaped(r);
        break;
    case '*':
    case '+':
    case '?':
    case '{':
        say(r, nothing_to_repeat);
        break;
    default:
        append(r, SEEP_REGEX_BYTE, (uint8_t)c, 0);
        break;
    }
}

/* ---- repeats --------------------------------------------------------------------------------- */

static int read_number(struct reading *r)
{
    int n = 0;
    if (*r->at < '0' || *r->at > '9')
        return -1;
    for (; *r->at >= '0' && *r->at <= '9'; r->at++)
        n = n <= MAX_REPEATS ? n * 10 + (*r->at - '0') : n;
    if (n > MAX_REPEATS)
        say(r, "it repeats something too often");
    return n;
}

/* {2}, {2,} or {2,3} after { was read. */
static void read_bounds(struct reading *r, int *least, int *most)
{
    *least = read_number(r);
    *most = *least;
    if (*r->at == ',') {
        r->at++;
        *most = *r->at == '}' ? NO_END : read_number(r);
        *least = *least < 0 ? 0 : *least;
    }
    if (*least < 0 || *r->at != '}' || (*most != NO_END && *most < *least))
        say(r, "{ } must be like {2}, {2,} or {2,3}");
    else
        r->at++;
}

/* Makes the part of `n` codes at `from` optional; if `endless`, it may also repeat. */
static void optional(struct reading *r, unsigned from, unsigned n, bool endless)
{
    insert(r, from, SEEP_REGEX_FORK, 1, (int)n + 1 + endless);
    if (endless)
        append(r, SEEP_REGEX_JUMP, -(int)n - 1, 0);
}

static void repeat(struct reading *r, unsigned from, int least, int most)
{
    const unsigned n = here(r) - from;
    if (most == 0) {
        r->regex->n_codes = (uint16_t)from;
        return;
    }
    for (int i = 1; i < least && !r->wrong; i++)
        copy(r, from, n);
    if (most == NO_END) {
        if (least)
            append(r, SEEP_REGEX_FORK, -(int)n, 1);
        else
            optional(r, from, n, true);
        return;
    }
    if (least == 0)
        optional(r, from, n, false);
    for (int i = least ? least : 1; i < most && !r->wrong; i++) {
        const unsigned at = here(r);
        copy(r, least ? from : from + 1, n); /* behind the fork */
        optional(r, at, n, false);
    }
}

static void read_repeated(struct reading *r)
{
    const unsigned from = here(r);
    const bool is_place = *r->at == '^' || *r->at == '$';
    read_atom(r);
    if (is_place && *r->at && strchr("*+?{", *r->at))
        say(r, nothing_to_repeat);
    while (!r->wrong && *r->at && strchr("*+?{", *r->at)) {
        int least = 0, most = NO_END;
        const char c = *r->at++;
        if (c == '{')
            read_bounds(r, &least, &most);
        else
            least = c == '+', most = c == '?' ? 1 : NO_END;
        if (!r->wrong)
            repeat(r, from, least, most);
    }
}

/* Alternatives with | between them, up to ) or the end. */
static void read_choice(struct reading *r)
{
    const unsigned from = here(r);
    while (!r->wrong && *r->at && *r->at != '|' && *r->at != ')')
        read_repeated(r);
    if (r->wrong || *r->at != '|')
        return;
    r->at++;
    insert(r, from, SEEP_REGEX_FORK, 1, (int)(here(r) - from) + 2);
    const unsigned jump = here(r);
    append(r, SEEP_REGEX_JUMP, 0, 0);
    if (++r->depth > DEEPEST)
        say(r, "it has too many |");
    else
        read_choice(r);
    r->depth--;
    if (!r->wrong)
        r->regex->codes[jump].first = (int16_t)(here(r) - jump);
}

const char *seep_regex_compile(struct seep_regex *regex, const char *text)
{
    struct reading r = {.regex = regex, .at = text};
    memset(regex, 0, sizeof(*regex));
    read_choice(&r);
    if (*r.at == ')')
        say(&r, "a ) has no (");
    append(&r, SEEP_REGEX_MATCH, 0, 0);
    if (r.wrong)
        memset(regex, 0, sizeof(*regex));
    return r.wrong;
}
