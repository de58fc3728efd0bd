#include "libprof/source/python_tokens.h"

#include "libprof/base/hash_index.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 200, TAB = 8, MAX_INDENT = 10000 };

struct reader {
    struct seep_tokens *out;
    const char *text;
    uint32_t at, n, line;
    uint16_t depth, indent;
    int rc;
};

static int peek(const struct reader *r, uint32_t ahead)
{
    return r->at + ahead < r->n ? (unsigned char)r->text[r->at + ahead] : 0;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

static void add(struct reader *r, enum seep_token_kind kind, uint32_t from, uint32_t line)
{
    if (seep_grow(&r->out->list, &r->out->capacity, r->out->n + 1, sizeof *r->out->list)) {
        r->rc = -SEEP_ENOMEM;
        return;
    }
    r->out->list[r->out->n++] = (struct seep_token){.at = from,
                                                    .n = r->at - from,
                                                    .line = line,
                                                    .last = r->line,
                                                    .depth = r->depth,
                                                    .indent = r->indent,
                                                    .kind = (uint8_t)kind};
}

static bool line_is_open(const struct reader *r)
{
    return r->out->n && r->out->list[r->out->n - 1].kind != SEEP_TOKEN_END;
}

/* A string from its quote on; `from` is where its prefix begins. */
static void take_string(struct reader *r, uint32_t from)
{
    const char quote = r->text[r->at];
    const bool triple = peek(r, 1) == quote && peek(r, 2) == quote;
    const uint32_t line = r->line;

    for (r->at += triple ? 3 : 1; r->at < r->n; r->at++) {
        const char c = r->text[r->at];
        if (c == '\\' && r->at + 1 < r->n) {
            r->at++;
            r->line += r->text[r->at] == '\n';
        } else if (c == '\n' && !triple) {
            break;
        } else if (c == '\n') {
            r->line++;
        } else if (c == quote && (!triple || (peek(r, 1) == quote && peek(r, 2) == quote))) {
            r->at += triple ? 3 : 1;
            add(r, SEEP_TOKEN_STRING, from, line);
            return;
        }
    }
    r->rc = -SEEP_EFORMAT;
}

static bool is_string_prefix(const struct reader *r, uint32_t from)
{
    uint32_t n = r->at - from;

    if (n > 2 || (peek(r, 0) != '"' && peek(r, 0) != '\''))
        return false;
    for (uint32_t i = from; i < r->at; i++)
        if (!strchr("rRbBuUfFtT", r->text[i]))
            return false;
    return true;
}

static void take_name(struct reader *r)
{
    const uint32_t from = r->at;

    while (is_name(peek(r, 0)) || is_digit(peek(r, 0)))
        r->at++;
    if (is_string_prefix(r, from))
        take_string(r, from);
    else
        add(r, SEEP_TOKEN_NAME, from, r->line);
}

/* 1_000, 0xff, 1.5e-3, 2j: accepts also what Python would reject as a number. */
static void take_number(struct reader *r)
{
    const uint32_t from = r->at;

    while (is_name(peek(r, 0)) || is_digit(peek(r, 0)) || peek(r, 0) == '.') {
        const bool exponent = (r->text[r->at] == 'e' || r->text[r->at] == 'E') &&
                              (peek(r, 1) == '-' || peek(r, 1) == '+') && is_digit(peek(r, 2));
        r->at += exponent ? 2 : 1;
    }
    add(r, SEEP_TOKEN_NUMBER, from, r->line);
}

static uint32_t operator_bytes(const struct reader *r)
{
    static const char *const longer[] = {
        "**=", "//=", "<<=", ">>=", "...", "==", "!=", "<=", ">=", "+=", "-=", "*=",
        "/=",  "%=",  "&=",  "|=",  "^=",  "@=", ":=", "->", "**", "//", "<<", ">>"};

    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        const size_t n = strlen(longer[i]);
        if (r->n - r->at >= n && memcmp(r->text + r->at, longer[i], n) == 0)
            return (uint32_t)n;
    }
    return 1;
}

static void take_operator(struct reader *r)
{
    const uint32_t from = r->at, n = operator_bytes(r);
    const char c = r->text[from];

    if (strchr(")]}", c)) {
        if (!r->depth)
            r->rc = -SEEP_EFORMAT;
        else
            r->depth--;
    }
    r->at += n;
    add(r, SEEP_TOKEN_OPERATOR, from, r->line);
    if (strchr("([{", c) && ++r->depth > MAX_DEPTH)
        r->rc = -SEEP_EFORMAT;
}

static void take_newline(struct reader *r)
{
    if (!r->depth && line_is_open(r)) {
        const uint32_t from = r->at;
        add(r, SEEP_TOKEN_END, from, r->line);
    }
    r->at++;
    r->line++;
}

/* Before the first token of a logical line. */
static void take_indent(struct reader *r)
{
    unsigned columns = 0;

    for (; peek(r, 0) == ' ' || peek(r, 0) == '\t' || peek(r, 0) == '\f'; r->at++) {
        columns = peek(r, 0) == '\t'   ? (columns / TAB + 1) * TAB
                  : peek(r, 0) == '\f' ? 0
                                       : columns + 1;
        columns = columns < MAX_INDENT ? columns : MAX_INDENT;
    }
    r->indent = (uint16_t)columns;
}

static void take_one(struct reader *r)
{
    const int c = peek(r, 0);

    if (c == '\n') {
        take_newline(r);
    } else if (c == '#') {
        while (r->at < r->n && r->text[r->at] != '\n')
            r->at++;
    } else if (c == '\\' && (peek(r, 1) == '\n' || (peek(r, 1) == '\r' && peek(r, 2) == '\n'))) {
        r->at += peek(r, 1) == '\n' ? 2 : 3;
        r->line++;
    } else if (c == ' ' || c == '\t' || c == '\f' || c == '\r') {
        r->at++;
    } else if (is_digit(c) || (c == '.' && is_digit(peek(r, 1)))) {
        take_number(r);
    } else if (is_name(c)) {
        take_name(r);
    } else if (c == '"' || c == '\'') {
        take_string(r, r->at);
    } else if (!c) {
        r->rc = -SEEP_EFORMAT;
    } else {
        take_operator(r);
    }
}

int seep_tokens_read(struct seep_tokens *tokens, const char *text, size_t n)
{
    struct reader r = {.out = tokens, .text = text, .line = 1};

    *tokens = (struct seep_tokens){.text = text};
    if (n > SEEP_SOURCE_MAX_BYTES)
        return -SEEP_EFORMAT;
    r.n = (uint32_t)n;
    r.at = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (r.at < r.n && !r.rc) {
        const bool begins = r.at == 0 || text[r.at - 1] == '\n';
        if (begins && !r.depth && !line_is_open(&r))
            take_indent(&r);
        if (r.at < r.n)
            take_one(&r);
    }
    if (!r.rc && r.depth)
        r.rc = -SEEP_EFORMAT;
    if (!r.rc)
        add(&r, SEEP_TOKEN_END, r.at, r.line);
    return r.rc;
}

void seep_tokens_fini(struct seep_tokens *tokens)
{
    free(tokens->list);
    *tokens = (struct seep_tokens){0};
}

bool seep_token_is(const struct seep_tokens *tokens, size_t i, const char *word)
{
    const struct seep_token *t = &tokens->list[i];

    return i < tokens->n && strlen(word) == t->n && memcmp(tokens->text + t->at, word, t->n) == 0;
}
