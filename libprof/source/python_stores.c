#include "libprof/source/python_stores.h"

#include "libprof/base/hash_index.h"
#include "libprof/source/name_owner.h"
#include "libprof/source/name_use.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_USES = 64,    /* of a name in one statement, examined */
    MAX_ALIASES = 16, /* of a name in a file */
    MAX_NAME = 256,   /* of an alias */
};

/* net.register_forward_hook(…), p.register_hook(…) */
static bool registers_hook(const struct seep_in_statement *in)
{
    static const char before[] = "register_", behind[] = "hook";

    for (size_t i = in->first + 1; i < in->to; i++) {
        const struct seep_token *t = &in->tokens->list[i];
        const char *name = in->tokens->text + t->at;
        if (seep_in_dotted(in, i) && seep_in_reads(in, i + 1, "(") &&
            t->n >= strlen(before) + strlen(behind) && memcmp(name, before, strlen(before)) == 0 &&
            memcmp(name + t->n - strlen(behind), behind, strlen(behind)) == 0)
            return true;
    }
    return false;
}

/* "@lru_cache(maxsize=None)" before "def name". */
static bool decorates_with_cache(const struct seep_name_owner *owner,
                                 const struct seep_statement *st,
                                 const struct seep_in_statement *in)
{
    if (!seep_in_reads(in, in->first, "@") || !st->made ||
        !seep_token_is(in->tokens, owner->source->scopes[st->made].name, owner->asked->name) ||
        !seep_name_is_theirs(owner, in, st->scope, in->first))
        return false;
    for (size_t i = in->first + 1; i < in->to && !in->tokens->list[i].depth; i++)
        if (seep_in_reads(in, i, "lru_cache") || seep_in_reads(in, i, "cache"))
            return true;
    return false;
}

/* The strongest use that the statement makes of the name. */
static enum seep_store_how use_in(const struct seep_name_owner *owner,
                                  const struct seep_statement *st,
                                  const struct seep_in_statement *in)
{
    enum seep_store_how most = SEEP_STORES_NOTHING;
    int left = MAX_USES;

    if (seep_in_reads(in, in->first, "del") ||
        (st->made && !seep_in_reads(in, in->first, "@"))) /* of functions and classes: defaults */
        return SEEP_STORES_NOTHING;
    for (size_t i = in->first; i < in->to && most != SEEP_STORES_MORE && left; i++) {
        if (!seep_in_names(in, i, owner->asked->name, seep_in_dotted(in, i)) ||
            !seep_name_is_theirs(owner, in, st->scope, i))
            continue;
        left--;
        const enum seep_store_how use = seep_name_use_at(in, i);
        most = use > most ? use : most;
    }
    return most;
}

static enum seep_store_how use_of(const struct seep_name_owner *owner,
                                  const struct seep_statement *st,
                                  const struct seep_in_statement *in)
{
    bool found;

    if (owner->asked->in == SEEP_KEPT_IN_HOOKS)
        found = registers_hook(in);
    else if (owner->asked->in == SEEP_KEPT_IN_CACHE)
        found = decorates_with_cache(owner, st, in);
    else
        return use_in(owner, st, in);
    return found ? SEEP_STORES_MORE : SEEP_STORES_NOTHING;
}

static struct seep_in_statement statement_at(const struct seep_python_source *source, uint32_t i)
{
    const struct seep_statement *st = &source->list[i];

    return seep_in_statement(&source->tokens, st->first, st->first + st->n);
}

static int add_store(struct seep_stores *stores, uint32_t statement,
                     const struct seep_in_statement *in, enum seep_store_how how)
{
    if (how == SEEP_STORES_NOTHING)
        return 0;
    if (seep_grow(&stores->list, &stores->capacity, stores->n + 1, sizeof *stores->list))
        return -SEEP_ENOMEM;
    stores->list[stores->n++] =
        (struct seep_store){.statement = statement, .how = how, .copies = seep_in_copies(in)};
    return 0;
}

/* ---- by other names -------------------------------------------------------------------------- */

/* Finds where a function adds to the object through its own name for it: the token `alias`. */
static int find_by_alias(const struct seep_python_source *source, uint32_t function, size_t alias,
                         struct seep_stores *stores)
{
    char name[MAX_NAME];
    const struct seep_token *t = &source->tokens.list[alias];
    int rc = 0;

    if (t->kind != SEEP_TOKEN_NAME || t->n >= sizeof name)
        return 0;
    memcpy(name, source->tokens.text + t->at, t->n);
    name[t->n] = '\0';
    for (uint32_t i = 0; i < source->n && !rc; i++) {
        const struct seep_in_statement in = statement_at(source, i);
        enum seep_store_how most = SEEP_STORES_NOTHING;
        if (source->list[i].scope != function || source->list[i].made)
            continue;
        for (size_t k = in.first; k < in.to; k++) {
            const bool is_it = seep_in_names(&in, k, name, false);
            const enum seep_store_how use = is_it ? seep_name_use_at(&in, k) : SEEP_STORES_NOTHING;
            most = use > most ? use : most;
        }
        rc = most > SEEP_STORES_WHOLE ? add_store(stores, i, &in, most) : 0;
    }
    return rc;
}

/* Finds additions to `self.outs` in a function that says `outs = self.outs`, and then appends to
 * that. */
static int find_by_aliases(const struct seep_name_owner *owner, struct seep_stores *stores)
{
    const struct seep_python_source *source = owner->source;
    int rc = 0, left = MAX_ALIASES;

    for (uint32_t i = 0; i < source->n && left && !rc; i++) {
        const struct seep_statement *st = &source->list[i];
        const struct seep_in_statement in = statement_at(source, i);
        for (size_t k = in.first; k < in.to && left && !rc; k++) {
            size_t from, to;
            if (!seep_in_names(&in, k, owner->asked->name, seep_in_dotted(&in, k)) ||
                !seep_in_aliases(&in, k, &from, &to) ||
                !seep_name_is_theirs(owner, &in, st->scope, k))
                continue;
            left--;
            for (; from < to && !rc; from++)
                rc = find_by_alias(source, st->scope, from, stores);
        }
    }
    return rc;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool any_adds(const struct seep_stores *stores)
{
    for (size_t i = 0; i < stores->n; i++)
        if (stores->list[i].how > SEEP_STORES_WHOLE)
            return true;
    return false;
}

static int by_statement(const void *a, const void *b)
{
    const struct seep_store *p = a, *q = b;

    return (p->statement > q->statement) - (p->statement < q->statement);
}

/* One statement may contain two names for the same object. */
static void put_in_order(struct seep_stores *stores)
{
    size_t n = 0;

    qsort(stores->list, stores->n, sizeof *stores->list, by_statement);
    for (size_t i = 0; i < stores->n; i++)
        if (!n || stores->list[n - 1].statement != stores->list[i].statement)
            stores->list[n++] = stores->list[i];
    stores->n = n;
}

int seep_python_stores_find(const struct seep_python_source *source,
                            const struct seep_stores_asked *asked, struct seep_stores *stores)
{
    struct seep_name_owner owner;
    int rc = seep_name_owner_init(&owner, source, asked);

    for (uint32_t i = 0; i < source->n && !rc; i++) {
        const struct seep_in_statement in = statement_at(source, i);
        rc = add_store(stores, i, &in, use_of(&owner, &source->list[i], &in));
    }
    if (!rc && !any_adds(stores) && asked->in != SEEP_KEPT_IN_HOOKS &&
        asked->in != SEEP_KEPT_IN_CACHE) {
        rc = find_by_aliases(&owner, stores);
        if (stores->n)
            put_in_order(stores);
    }
    seep_name_owner_fini(&owner);
    return rc;
}

void seep_stores_fini(struct seep_stores *stores)
{
    free(stores->list);
    *stores = (struct seep_stores){0};
}

bool seep_python_has_class(const struct seep_python_source *source, const char *name)
{
    for (uint32_t i = 1; i < source->n_scopes; i++)
        if (source->scopes[i].kind == SEEP_SCOPE_CLASS &&
            seep_token_is(&source->tokens, source->scopes[i].name, name))
            return true;
    return false;
}

char *seep_python_statement_text(const struct seep_python_source *source, uint32_t statement,
                                 size_t most)
{
    static const char cut[] = "…";
    const struct seep_statement *st = &source->list[statement];
    char *text = malloc(most + sizeof cut);
    size_t n = 0, end = 0;

    for (size_t i = st->first; text && i < st->first + st->n; i++) {
        const struct seep_token *t = &source->tokens.list[i];
        const bool apart = i > st->first && t->at > end;
        if (n + apart + t->n > most) {
            memcpy(text + n, cut, sizeof cut);
            return text;
        }
        if (apart)
            text[n++] = ' ';
        memcpy(text + n, source->tokens.text + t->at, t->n);
        n += t->n;
        end = t->at + t->n;
    }
    if (text)
        text[n] = '\0';
    return text;
}
