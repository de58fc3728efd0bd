#include "libprof/source/name_owner.h"

#include <stdlib.h>
#include <string.h>

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

int seep_name_owner_init(struct seep_name_owner *o, const struct seep_python_source *source,
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

void seep_name_owner_fini(struct seep_name_owner *o)
{
    free(o->binds);
    *o = (struct seep_name_owner){0};
}

bool seep_name_is_theirs(const struct seep_name_owner *o, const struct seep_in_statement *in,
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
