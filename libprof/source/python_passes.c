#include "libprof/source/python_passes.h"

#include "libprof/source/name_use.h"

#include <string.h>

enum { NO_STATEMENT = UINT32_MAX, MAX_NAME = 256 };

static const struct seep_token *token_of(const struct seep_in_statement *in, size_t i)
{
    return &in->tokens->list[i];
}

static struct seep_in_statement statement_at(const struct seep_python_source *s, uint32_t i)
{
    const struct seep_statement *st = &s->list[i];

    return seep_in_statement(&s->tokens, st->first, st->first + st->n);
}

/* The shortest one that contains the line. */
static uint32_t find_statement(const struct seep_python_source *s, uint64_t line)
{
    uint32_t best = NO_STATEMENT;

    for (uint32_t i = 0; i < s->n; i++) {
        const struct seep_statement *st = &s->list[i];
        if (line < st->line || line > st->last)
            continue;
        if (best == NO_STATEMENT || st->last - st->line <= s->list[best].last - s->list[best].line)
            best = i;
    }
    return best;
}

/* A bracket behind a name or another bracket: f(…), f()(…), a[0](…). */
static bool is_call(const struct seep_in_statement *in, size_t i)
{
    static const char *const keywords[] = {"in",   "and",    "or",    "not",    "if",
                                           "else", "return", "yield", "for",    "while",
                                           "is",   "lambda", "await", "assert", "del"};

    if (i == in->first || !seep_in_reads(in, i, "("))
        return false;
    for (size_t k = 0; k < sizeof keywords / sizeof *keywords; k++)
        if (seep_in_reads(in, i - 1, keywords[k]))
            return false;
    return token_of(in, i - 1)->kind == SEEP_TOKEN_NAME || seep_in_reads(in, i - 1, ")") ||
           seep_in_reads(in, i - 1, "]");
}

/* Whether token `i` lies in the brackets of a call. */
static bool is_argument(const struct seep_in_statement *in, size_t i)
{
    uint16_t depth = token_of(in, i)->depth;

    for (size_t k = i; k-- > in->first && depth;) {
        if (token_of(in, k)->depth + 1 != depth || token_of(in, k)->kind != SEEP_TOKEN_OPERATOR ||
            !(seep_in_reads(in, k, "(") || seep_in_reads(in, k, "[") || seep_in_reads(in, k, "{")))
            continue;
        if (is_call(in, k))
            return true;
        depth--;
    }
    return false;
}

static bool passes_name(const struct seep_in_statement *in, const char *name)
{
    for (size_t i = in->first; i < in->to; i++)
        if (seep_in_names(in, i, name, false) && !seep_in_reads(in, i + 1, "=") &&
            !seep_in_reads(in, i + 1, ".") && is_argument(in, i))
            return true;
    return false;
}

/* f(g(x)): what g() makes goes to f(). */
static bool passes_result(const struct seep_in_statement *in)
{
    for (size_t i = in->first; i < in->to; i++)
        if (is_call(in, i) && is_argument(in, i))
            return true;
    return false;
}

/* name = …, for name in …; false: it has no name, or several. */
static bool name_of(const struct seep_in_statement *in, char name[MAX_NAME])
{
    const size_t at = in->first + seep_in_reads(in, in->first, "for");
    const struct seep_token *t = token_of(in, at);

    if (at >= in->to || t->kind != SEEP_TOKEN_NAME || t->n >= MAX_NAME ||
        (at == in->first ? in->equals != at + 1 : !seep_in_reads(in, at + 1, "in")))
        return false;
    memcpy(name, in->tokens->text + t->at, t->n);
    name[t->n] = '\0';
    return true;
}

static void add(struct seep_passes *passes, uint32_t statement)
{
    if (passes->n < SEEP_PASSES_MAX)
        passes->list[passes->n] = statement;
    passes->n++;
}

void seep_python_passes_find(const struct seep_python_source *s, uint64_t line,
                             struct seep_passes *passes)
{
    const uint32_t made = find_statement(s, line);
    char name[MAX_NAME];

    *passes = (struct seep_passes){0};
    if (made == NO_STATEMENT)
        return;
    const struct seep_in_statement in = statement_at(s, made);
    passes->returned =
        seep_in_reads(&in, in.first, "return") || seep_in_reads(&in, in.first, "yield");
    if (!passes->returned && name_of(&in, name)) {
        for (uint32_t i = 0; i < s->n; i++) {
            const struct seep_in_statement other = statement_at(s, i);
            if (i != made && s->list[i].scope == s->list[made].scope && passes_name(&other, name))
                add(passes, i);
        }
    } else if (!passes->returned && passes_result(&in)) {
        add(passes, made);
    }
    passes->n = passes->n <= SEEP_PASSES_MAX ? passes->n : 0;
}
