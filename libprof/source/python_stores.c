#include "libprof/source/python_stores.h"

#include <stdlib.h>
#include <string.h>

#include "libprof/base/hash_index.h"
#include "libprof/source/name_use.h"

/* Which function or class owns a name found in a file. Only the files of this folder include it. */

/* What a file says about the name searched for. */
struct seep_name_owner {
    const struct seep_python_source *source;
    const struct seep_stores_asked *asked;
    uint8_t *binds;   /* by scope: a function binds the name; a class is the owner's, derives from
                       * it, or is its base */
    bool is_imported; /* "from … import name" */
};

enum {
    MAX_CLASSES = 512, /* of a file, examined */
    MAX_ANCESTORS = 8,
    MAX_BASES = 64, /* tokens */
    IS_GLOBAL = 2,  /* of a function: it contains "global name" */
};

static bool same_word(const struct seep_tokens *t, size_t a, size_t b)
{
    return t->list[a].n == t->list[b].n &&
           memcmp(t->text + t->list[a].at, t->text + t->list[b].at, t->list[a].n) == 0;
}

/* ---- functions --------------------------------------------------------------------------- */

/* A parameter: a name after "(" or "," of the header itself, or after "*". */
static bool is_parameter(const struct seep_name_owner *o, const struct seep_scope *f)
{
    const struct seep_tokens *t = &o->source->tokens;

    for (size_t i = f->name + 2; i < f->to; i++)
        if (t->list[i].depth == 1 && seep_token_is(t, i, o->asked->name) &&
            (seep_token_is(t, i - 1, "(") || seep_token_is(t, i - 1, ",") ||
             seep_token_is(t, i - 1, "*") || seep_token_is(t, i - 1, "**")))
            return true;
    return false;
}

static void search_bindings(struct seep_name_owner *o)
{
    const struct seep_python_source *s = o->source;

    for (uint32_t i = 1; i < s->n_scopes; i++)
        if (s->scopes[i].kind == SEEP_SCOPE_FUNCTION)
            o->binds[i] = is_parameter(o, &s->scopes[i]);
    for (size_t i = 0; i < s->n; i++) {
        const struct seep_statement *st = &s->list[i];
        const struct seep_in_statement in =
            seep_in_statement(&s->tokens, st->first, st->first + st->n);
        const bool declares =
            seep_in_reads(&in, in.first, "global") || seep_in_reads(&in, in.first, "nonlocal");
        for (size_t k = in.first; k < in.to; k++) {
            if (!seep_in_names(&in, k, o->asked->name, false))
                continue;
            if (declares)
                o->binds[st->scope] |= IS_GLOBAL;
            else if (seep_in_binds(&in, k) && s->scopes[st->scope].kind == SEEP_SCOPE_FUNCTION)
                o->binds[st->scope] |= 1;
            o->is_imported |= seep_in_reads(&in, in.first, "from");
        }
    }
}

/* The nearest function around a scope that binds the name; 0: the module does. */
static uint32_t binder_of(const struct seep_name_owner *o, uint32_t scope)
{
    for (; scope; scope = o->source->scopes[scope].parent)
        if (o->source->scopes[scope].kind == SEEP_SCOPE_FUNCTION && o->binds[scope] == 1)
            return scope;
    return 0;
}

/* ---- classes ----------------------------------------------------------------------------- */

struct classes {
    uint32_t list[MAX_CLASSES];
    size_t n;
};

static size_t end_of_bases(const struct seep_scope *class)
{
    return class->to - class->name < MAX_BASES ? class->to : class->name + MAX_BASES;
}

/* Whether a class has a base among the classes with this mark. */
static bool has_base(const struct seep_name_owner *o, const struct classes *all, uint32_t class,
                     uint8_t mark)
{
    const struct seep_tokens *t = &o->source->tokens;
    const struct seep_scope *c = &o->source->scopes[class];

    for (size_t i = c->name + 1; i < end_of_bases(c); i++) {
        if (t->list[i].kind != SEEP_TOKEN_NAME)
            continue;
        if (mark == 1 && seep_token_is(t, i, o->asked->owner))
            return true;
        for (size_t k = 0; k < all->n; k++)
            if (o->binds[all->list[k]] == mark &&
                same_word(t, i, o->source->scopes[all->list[k]].name))
                return true;
    }
    return false;
}

/* Marks those that a class of mark 3 names as bases. */
static void mark_bases(struct seep_name_owner *o, const struct classes *all)
{
    const struct seep_tokens *t = &o->source->tokens;

    for (size_t k = 0; k < all->n; k++) {
        const struct seep_scope *c = &o->source->scopes[all->list[k]];
        if (o->binds[all->list[k]] != 3)
            continue;
        for (size_t i = c->name + 1; i < end_of_bases(c); i++)
            for (size_t j = 0; j < all->n; j++)
                if (!o->binds[all->list[j]] &&
                    same_word(t, i, o->source->scopes[all->list[j]].name))
                    o->binds[all->list[j]] = 3;
    }
}

/* Marks the owner (3), what it derives from (3), and what derives from it (1). */
static void search_classes(struct seep_name_owner *o)
{
    const struct seep_python_source *s = o->source;
    struct classes all = {.n = 0};

    for (uint32_t i = 1; i < s->n_scopes && all.n < MAX_CLASSES; i++) {
        if (s->scopes[i].kind != SEEP_SCOPE_CLASS)
            continue;
        all.list[all.n++] = i;
        if (seep_token_is(&s->tokens, s->scopes[i].name, o->asked->owner))
            o->binds[i] = 3;
    }
    for (int pass = 0; pass < MAX_ANCESTORS; pass++)
        mark_bases(o, &all);
    for (int pass = 0; pass < MAX_ANCESTORS; pass++)
        for (size_t k = 0; k < all.n; k++)
            if (!o->binds[all.list[k]] && has_base(o, &all, all.list[k], 1))
                o->binds[all.list[k]] = 1;
}

/* "self.x" in a class unrelated to the owner belongs to another. */
static bool may_be_the_owners(const struct seep_name_owner *o, const struct seep_in_statement *in,
                              uint32_t scope, size_t i)
{
    const bool own = i >= in->first + 2 && !seep_in_dotted(in, i - 2) &&
                     (seep_in_reads(in, i - 2, "self") || seep_in_reads(in, i - 2, "cls"));
    const uint32_t class = own ? seep_python_class_of(o->source, scope) : 0;

    return !class || !*o->asked->owner || o->binds[class];
}

/* ---- the whole --------------------------------------------------------------------------- */

/* Returns 0 or -SEEP_ENOMEM. Allocates: *o; free with name_owner_fini(), also after an error.
 */
static int name_owner_init(struct seep_name_owner *o, const struct seep_python_source *source,
                           const struct seep_stores_asked *asked)
{
    *o = (struct seep_name_owner){.source = source, .asked = asked};
    o->binds = calloc(source->n_scopes, 1);
    if (!o->binds)
        return -SEEP_ENOMEM;
    if (asked->in == SEEP_KEPT_IN_ATTRIBUTE || asked->in == SEEP_KEPT_IN_CACHE)
        search_classes(o);
    else
        search_bindings(o);
    return 0;
}

static void name_owner_fini(struct seep_name_owner *o)
{
    free(o->binds);
    *o = (struct seep_name_owner){0};
}

/* Whether the name at token `i` of a statement in a scope is the one searched for. */
static bool name_is_theirs(const struct seep_name_owner *o, const struct seep_in_statement *in,
                           uint32_t scope, size_t i)
{
    const struct seep_python_source *s = o->source;
    const bool dotted = seep_in_dotted(in, i);
    const bool in_class = scope && s->scopes[scope].kind == SEEP_SCOPE_CLASS;

    switch (o->asked->in) {
    case SEEP_KEPT_IN_LOCAL: {
        const uint32_t binder = dotted ? 0 : binder_of(o, scope);
        return binder && (!*o->asked->owner || seep_python_scope_is(s, binder, o->asked->owner));
    }
    case SEEP_KEPT_IN_GLOBAL:
        return !dotted && !in_class && !binder_of(o, scope);
    case SEEP_KEPT_IN_IMPORTED:
        return dotted ? seep_in_reads(in, i - 2, o->asked->owner)
                      : o->is_imported && !in_class && !binder_of(o, scope);
    case SEEP_KEPT_IN_ATTRIBUTE:
        return dotted ? may_be_the_owners(o, in, scope, i) : in_class && o->binds[scope];
    case SEEP_KEPT_IN_CACHE: /* a method's class */
        return !in_class || o->binds[scope];
    case SEEP_KEPT_IN_HOOKS:
        break;
    }
    return false;
}

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
        !name_is_theirs(owner, in, st->scope, in->first))
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
            !name_is_theirs(owner, in, st->scope, i))
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
                !seep_in_aliases(&in, k, &from, &to) || !name_is_theirs(owner, &in, st->scope, k))
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
    int rc = name_owner_init(&owner, source, asked);

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
    name_owner_fini(&owner);
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
