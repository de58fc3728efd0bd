#include "libprof/source/python_source.h"

#include "libprof/base/hash_index.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NESTED = 100 };

struct reader {
    struct seep_python_source *out;
    uint32_t open[MAX_NESTED]; /* scopes, the module first */
    size_t n_open;
    size_t decorators; /* decorator statements right before this one */
    int rc;
};

static bool is(const struct reader *r, size_t token, const char *word)
{
    return seep_token_is(&r->out->tokens, token, word);
}

static bool is_one_of(const struct reader *r, size_t token, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is(r, token, words[i]))
            return true;
    return false;
}

/* Whether statements may follow its colon. */
static bool is_compound(const struct reader *r, size_t token)
{
    static const char *const words[] = {"if",  "elif", "else",   "for",   "while", "with",
                                        "try", "def",  "except", "class", "async", "finally"};

    return is_one_of(r, token, words, sizeof words / sizeof *words);
}

/* The colon that ends the header that begins at `from`, else `to`. */
static size_t end_of_header(const struct reader *r, size_t from, size_t to)
{
    size_t lambdas = 0;

    for (size_t i = from; i < to; i++) {
        if (r->out->tokens.list[i].depth)
            continue;
        if (is(r, i, "lambda"))
            lambdas++;
        else if (is(r, i, ":") && lambdas)
            lambdas--;
        else if (is(r, i, ":"))
            return i;
    }
    return to;
}

static void close_scopes(struct reader *r, const struct seep_token *first)
{
    while (r->n_open > 1 && r->out->scopes[r->open[r->n_open - 1]].indent >= first->indent)
        r->n_open--;
}

static uint32_t open_scope(struct reader *r, enum seep_scope_kind kind, size_t header, size_t colon,
                           size_t name)
{
    struct seep_python_source *s = r->out;
    const struct seep_token *t = &s->tokens.list[header];

    if (r->n_open == MAX_NESTED) {
        r->rc = -SEEP_EFORMAT;
        return 0;
    }
    if (seep_grow(&s->scopes, &s->scopes_capacity, s->n_scopes + 1, sizeof *s->scopes)) {
        r->rc = -SEEP_ENOMEM;
        return 0;
    }
    const uint32_t line = r->decorators ? s->list[s->n - r->decorators].line : t->line;
    s->scopes[s->n_scopes] = (struct seep_scope){.kind = kind,
                                                 .parent = r->open[r->n_open - 1],
                                                 .name = (uint32_t)name,
                                                 .header = (uint32_t)header,
                                                 .to = (uint32_t)colon,
                                                 .line = line,
                                                 .indent = t->indent};
    for (size_t i = 0; i < r->decorators; i++)
        s->list[s->n - 1 - i].made = (uint32_t)s->n_scopes;
    r->open[r->n_open++] = (uint32_t)s->n_scopes;
    return (uint32_t)s->n_scopes++;
}

static struct seep_statement *add(struct reader *r, size_t from, size_t to)
{
    struct seep_python_source *s = r->out;
    const uint32_t scope = r->open[r->n_open - 1];

    if (from == to)
        return NULL;
    if (seep_grow(&s->list, &s->capacity, s->n + 1, sizeof *s->list)) {
        r->rc = -SEEP_ENOMEM;
        return NULL;
    }
    struct seep_statement *new = &s->list[s->n++];
    *new = (struct seep_statement){.first = (uint32_t)from,
                                   .n = (uint32_t)(to - from),
                                   .line = s->tokens.list[from].line,
                                   .last = s->tokens.list[to - 1].last,
                                   .scope = scope};
    for (size_t i = 0; i < r->n_open; i++)
        s->scopes[r->open[i]].last = new->last;
    return new;
}

static void add_header(struct reader *r, size_t from, size_t colon)
{
    const size_t word = from + is(r, from, "async");
    const bool class = is(r, word, "class"), named = class || is(r, word, "def");
    const uint32_t made =
        named && word + 1 < colon
            ? open_scope(r, class ? SEEP_SCOPE_CLASS : SEEP_SCOPE_FUNCTION, from, colon, word + 1)
            : 0;
    struct seep_statement *header = r->rc ? NULL : add(r, from, colon);

    if (header && made) {
        header->made = made;
        header->scope = r->out->scopes[made].parent;
    }
}

static void add_line(struct reader *r, size_t from, size_t to)
{
    close_scopes(r, &r->out->tokens.list[from]);
    while (from < to && !r->rc && is_compound(r, from)) {
        const size_t colon = end_of_header(r, from, to);
        add_header(r, from, colon);
        r->decorators = 0;
        from = colon + 1;
    }
    for (size_t i = from; i <= to && from < to && !r->rc; i++) {
        if (i < to && !(is(r, i, ";") && !r->out->tokens.list[i].depth))
            continue;
        r->decorators = is(r, from, "@") ? r->decorators + 1 : 0;
        add(r, from, i);
        from = i + 1;
    }
}

int seep_python_source_read(struct seep_python_source *source, const char *text, size_t n)
{
    struct reader r = {.out = source, .n_open = 1};

    *source = (struct seep_python_source){0};
    r.rc = seep_tokens_read(&source->tokens, text, n);
    if (!r.rc && seep_grow(&source->scopes, &source->scopes_capacity, 1, sizeof *source->scopes))
        r.rc = -SEEP_ENOMEM;
    if (r.rc)
        return r.rc;
    source->scopes[0] = (struct seep_scope){.kind = SEEP_SCOPE_MODULE, .line = 1};
    source->n_scopes = 1;
    for (size_t i = 0, from = 0; i < source->tokens.n && !r.rc; i++) {
        if (source->tokens.list[i].kind != SEEP_TOKEN_END)
            continue;
        if (from < i)
            add_line(&r, from, i);
        from = i + 1;
    }
    return r.rc;
}

void seep_python_source_fini(struct seep_python_source *source)
{
    seep_tokens_fini(&source->tokens);
    free(source->list);
    free(source->scopes);
    *source = (struct seep_python_source){0};
}

uint32_t seep_python_function_at(const struct seep_python_source *source, uint64_t line)
{
    uint32_t best = 0;

    /* Of the scopes around a line, the one that begins last is the innermost. */
    for (uint32_t i = 1; i < source->n_scopes; i++) {
        const struct seep_scope *s = &source->scopes[i];
        if (s->kind == SEEP_SCOPE_FUNCTION && s->line <= line && line <= s->last)
            best = i;
    }
    return best;
}

uint32_t seep_python_class_of(const struct seep_python_source *source, uint32_t scope)
{
    while (scope && source->scopes[scope].kind != SEEP_SCOPE_CLASS)
        scope = source->scopes[scope].parent;
    return scope;
}

/* The last part of a dotted name, its length in *n; *rest is the length without it. */
static const char *last_part(const char *name, size_t length, size_t *n, size_t *rest)
{
    size_t from = length;

    while (from && name[from - 1] != '.')
        from--;
    *n = length - from;
    *rest = from ? from - 1 : 0;
    return name + from;
}

bool seep_python_scope_is(const struct seep_python_source *source, uint32_t scope,
                          const char *qualname)
{
    size_t left = strlen(qualname), n;

    for (bool first = true; left; scope = source->scopes[scope].parent, first = false) {
        const char *part = last_part(qualname, left, &n, &left);
        if (n == 8 && memcmp(part, "<locals>", 8) == 0 && !first)
            part = last_part(qualname, left, &n, &left);
        if (!scope)
            return false;
        const struct seep_token *name = &source->tokens.list[source->scopes[scope].name];
        if (name->n != n || memcmp(source->tokens.text + name->at, part, n) != 0)
            return false;
        if (!left)
            return true;
    }
    return false;
}

const char *seep_python_scope_name(const struct seep_python_source *source, uint32_t scope,
                                   char *text, size_t capacity)
{
    size_t free_bytes = capacity - 1;

    if (!scope)
        return snprintf(text, capacity, "<module>") > 0 ? text : "";
    /* Fills the room from its end backwards. */
    text[free_bytes] = '\0';
    for (bool first = true; scope; scope = source->scopes[scope].parent, first = false) {
        const struct seep_token *name = &source->tokens.list[source->scopes[scope].name];
        if (name->n + !first > free_bytes)
            break;
        if (!first)
            text[--free_bytes] = '.';
        free_bytes -= name->n;
        memcpy(text + free_bytes, source->tokens.text + name->at, name->n);
    }
    return memmove(text, text + free_bytes, capacity - free_bytes);
}
