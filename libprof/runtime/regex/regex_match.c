/* Follows all paths through the expression at once (Thompson, 1968): the codes that wait for the
 * next byte are a set of bits, so no text takes long. */
#include "libprof/runtime/regex/regex.h"

struct waiting {
    uint64_t bits[SEEP_REGEX_CODES / 64];
};

static bool add(struct waiting *w, unsigned code)
{
    const uint64_t bit = UINT64_C(1) << code % 64;
    const bool fresh = !(w->bits[code / 64] & bit);
    w->bits[code / 64] |= bit;
    return fresh;
}

/* Adds everything reachable from `code` without reading a byte. Each code is added at most once. */
static bool reach(const struct seep_regex *regex, struct waiting *w, unsigned code, bool at_begin,
                  bool at_end)
{
    uint16_t put_by[SEEP_REGEX_CODES];
    unsigned n = 0;
    if (add(w, code))
        put_by[n++] = (uint16_t)code;
    while (n) {
        const unsigned at = put_by[--n];
        const struct seep_regex_code *c = &regex->codes[at];
        unsigned next[2], n_next = 0;
        if (c->what == SEEP_REGEX_MATCH)
            return true;
        if (c->what == SEEP_REGEX_JUMP || c->what == SEEP_REGEX_FORK)
            next[n_next++] = at + (unsigned)c->first;
        if (c->what == SEEP_REGEX_FORK)
            next[n_next++] = at + (unsigned)c->second;
        if ((c->what == SEEP_REGEX_BEGIN && at_begin) || (c->what == SEEP_REGEX_END && at_end))
            next[n_next++] = at + 1;
        for (unsigned i = 0; i < n_next; i++)
            if (add(w, next[i]))
                put_by[n++] = (uint16_t)next[i];
    }
    return false;
}

static bool takes(const struct seep_regex *regex, const struct seep_regex_code *c, uint8_t byte)
{
    return (c->what == SEEP_REGEX_BYTE && c->first == byte) || c->what == SEEP_REGEX_ANY ||
           (c->what == SEEP_REGEX_SET && (regex->sets[c->first][byte / 8] >> byte % 8 & 1));
}

bool seep_regex_matches(const struct seep_regex *regex, const char *text)
{
    struct waiting now = {{0}};
    const char *at = text;
    for (;; at++) {
        struct waiting then = {{0}};
        if (!regex->n_codes || reach(regex, &now, 0, at == text, !*at))
            return regex->n_codes != 0;
        if (!*at)
            return false;
        for (unsigned i = 0; i * 64 < regex->n_codes; i++)
            for (uint64_t left = now.bits[i]; left; left &= left - 1) {
                const unsigned code = i * 64 + (unsigned)__builtin_ctzll(left);
                if (takes(regex, &regex->codes[code], (uint8_t)*at) &&
                    reach(regex, &then, code + 1, false, !at[1]))
                    return true;
            }
        now = then;
    }
}
