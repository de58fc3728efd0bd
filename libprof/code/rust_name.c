#include "libprof/code/rust_name.h"

#include <ctype.h>
#include <string.h>

enum { DEEPEST = 64, MAX_STEPS = 4096 }; /* references back may make a short symbol very long */

struct rust {
    const char *begin, *at; /* behind "_R" */
    char *to;
    size_t n, capacity;
    unsigned depth, steps;
    bool silent; /* parsed, not written */
    bool wrong;
};

static void type_of(struct rust *r);
static void path_of(struct rust *r);

static void write(struct rust *r, const char *text, size_t n)
{
    for (size_t i = 0; i < n && !r->silent && r->n + 1 < r->capacity; i++)
        r->to[r->n++] = text[i];
}

static void say(struct rust *r, const char *text)
{
    write(r, text, strlen(text));
}

static char next(struct rust *r)
{
    if (!*r->at || ++r->steps > MAX_STEPS) {
        r->wrong = true;
        return '\0';
    }
    return *r->at++;
}

static bool eat(struct rust *r, char c)
{
    if (*r->at != c)
        return false;
    r->at++;
    return true;
}

/* 0 for "_", one more than its digits of base 62 otherwise. */
static size_t number(struct rust *r)
{
    size_t n = 0;
    char c;

    if (eat(r, '_'))
        return 0;
    while ((c = next(r)) && c != '_') {
        const size_t digit = isdigit((unsigned char)c)   ? (size_t)(c - '0')
                             : islower((unsigned char)c) ? (size_t)(c - 'a') + 10
                             : isupper((unsigned char)c) ? (size_t)(c - 'A') + 36
                                                         : 62;
        r->wrong |= digit == 62;
        n = n < (size_t)1 << 32 ? n * 62 + digit : n; /* a crate's hash, not a place */
    }
    return n + 1;
}

static void name(struct rust *r)
{
    size_t n = 0;

    (void)eat(r, 'u'); /* punycode is shown as it is */
    if (!isdigit((unsigned char)*r->at))
        r->wrong = true;
    while (isdigit((unsigned char)*r->at) && n < 1 << 16)
        n = n * 10 + (size_t)(*r->at++ - '0');
    (void)eat(r, '_');
    if (r->wrong || n > strlen(r->at)) {
        r->wrong = true;
        return;
    }
    write(r, r->at, n);
    r->at += n;
}

/* Of equal names the number tells them apart, which no reader needs. */
static void identifier(struct rust *r)
{
    if (eat(r, 's'))
        (void)number(r);
    name(r);
}

static void quietly(struct rust *r, void (*part)(struct rust *))
{
    const bool was = r->silent;

    r->silent = true;
    part(r);
    r->silent = was;
}

/* What stands at an earlier place of the symbol. */
static void back(struct rust *r, void (*part)(struct rust *))
{
    const char *here = r->at - 1;
    const size_t place = number(r);
    const char *behind = r->at;

    if (r->wrong || r->begin + place >= here) {
        r->wrong = true;
        return;
    }
    r->at = r->begin + place;
    part(r);
    r->at = behind;
}

static void implementation(struct rust *r)
{
    if (eat(r, 's'))
        (void)number(r);
    quietly(r, path_of);
}

static void constant(struct rust *r)
{
    if (eat(r, 'B')) {
        back(r, constant);
        return;
    }
    if (eat(r, 'p'))
        return;
    type_of(r);
    while (!r->wrong && next(r) != '_')
        ;
}

static void arguments(struct rust *r)
{
    while (!r->wrong && !eat(r, 'E')) {
        if (eat(r, 'L'))
            (void)number(r);
        else if (eat(r, 'K'))
            constant(r);
        else
            type_of(r);
    }
}

static void nested(struct rust *r)
{
    const char namespace = next(r);

    path_of(r);
    if (eat(r, 's'))
        (void)number(r);
    if (*r->at == '0') { /* it has no name */
        r->at++;
        say(r, namespace == 'C' ? "::{closure}" : "::{shim}");
        return;
    }
    say(r, "::");
    name(r);
}

static void path_of(struct rust *r)
{
    const bool type_only = *r->at == 'M';

    if (++r->depth > DEEPEST)
        r->wrong = true;
    switch (r->wrong ? '\0' : next(r)) {
    case 'C':
        identifier(r);
        break;
    case 'N':
        nested(r);
        break;
    case 'M':
    case 'X':
        implementation(r);
        /* fall through */
    case 'Y':
        say(r, "<");
        type_of(r);
        if (!type_only) {
            say(r, " as ");
            path_of(r);
        }
        say(r, ">");
        break;
    case 'I':
        path_of(r);
        quietly(r, arguments);
        break;
    case 'B':
        back(r, path_of);
        break;
    default:
        r->wrong = true;
    }
    r->depth--;
}

static void binder(struct rust *r)
{
    if (eat(r, 'G'))
        (void)number(r);
}

static void function_type(struct rust *r)
{
    binder(r);
    (void)eat(r, 'U');
    if (eat(r, 'K') && !eat(r, 'C'))
        quietly(r, name);
    say(r, "fn");
    quietly(r, arguments);
    quietly(r, type_of);
}

static void bounds(struct rust *r)
{
    binder(r);
    for (bool more = false; !r->wrong && !eat(r, 'E'); more = true) {
        if (more)
            say(r, " + ");
        path_of(r);
        while (eat(r, 'p')) {
            quietly(r, name);
            quietly(r, type_of);
        }
    }
    if (!eat(r, 'L'))
        r->wrong = true;
    (void)number(r);
}

static void tuple(struct rust *r)
{
    say(r, "(");
    for (bool more = false; !r->wrong && !eat(r, 'E'); more = true) {
        if (more)
            say(r, ", ");
        type_of(r);
    }
    say(r, ")");
}

static void basic(struct rust *r, char c)
{
    static const char *const names[26] = {"i8",   "bool",  "char",  "f64", "str", "f32", NULL,
                                          "u8",   "isize", "usize", NULL,  "i32", "u32", "i128",
                                          "u128", "_",     NULL,    NULL,  "i16", "u16", "()",
                                          "...",  NULL,    "i64",   "u64", "!"};

    if (!islower((unsigned char)c) || !names[c - 'a'])
        r->wrong = true;
    else
        say(r, names[c - 'a']);
}

static void type_of(struct rust *r)
{
    const char c = *r->at;

    if (++r->depth > DEEPEST)
        r->wrong = true;
    if (r->wrong || strchr("CNMXYI", c)) {
        path_of(r);
    } else {
        (void)next(r);
        switch (c) {
        case 'B':
            back(r, type_of);
            break;
        case 'R':
        case 'Q':
            if (eat(r, 'L'))
                (void)number(r);
            say(r, c == 'R' ? "&" : "&mut ");
            type_of(r);
            break;
        case 'P':
        case 'O':
            say(r, c == 'P' ? "*const " : "*mut ");
            type_of(r);
            break;
        case 'A':
        case 'S':
            say(r, "[");
            type_of(r);
            if (c == 'A')
                quietly(r, constant);
            say(r, "]");
            break;
        case 'T':
            tuple(r);
            break;
        case 'F':
            function_type(r);
            break;
        case 'D':
            say(r, "dyn ");
            bounds(r);
            break;
        default:
            basic(r, c);
        }
    }
    r->depth--;
}

bool seep_rust_name(const char *symbol, char *to, size_t capacity)
{
    struct rust r = {.begin = symbol + 2, .at = symbol + 2, .to = to, .capacity = capacity};

    if (strncmp(symbol, "_R", 2) != 0 || !capacity)
        return false;
    while (isdigit((unsigned char)*r.at)) /* of a version that is not known */
        return false;
    path_of(&r);
    to[r.n] = '\0';
    return !r.wrong && r.n;
}

size_t seep_rust_without_hash(const char *name)
{
    enum { HASH = 19 }; /* "::h" and 16 digits */
    const size_t n = strlen(name);

    if (n <= HASH || strncmp(name + n - HASH, "::h", 3) != 0 ||
        strspn(name + n - HASH + 3, "0123456789abcdef") != HASH - 3)
        return n;
    return n - HASH;
}
