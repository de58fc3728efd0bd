/* What one statement does with a name in it. Only the files of this folder include it. */
#ifndef SEEP_LIBPROF_SOURCE_NAME_USE_H
#define SEEP_LIBPROF_SOURCE_NAME_USE_H

#include "libprof/source/python_source.h"

/* What to look for in a source: a name, its owner, and what a statement may do with it. */

enum seep_kept_in {
    SEEP_KEPT_IN_LOCAL,     /* a variable of the function `owner` */
    SEEP_KEPT_IN_GLOBAL,    /* one of the module itself */
    SEEP_KEPT_IN_IMPORTED,  /* one of another module, by its name or through the module */
    SEEP_KEPT_IN_ATTRIBUTE, /* of an object of the class `owner`, or of that class */
    SEEP_KEPT_IN_HOOKS,     /* what libraries store for register_…hook() */
    SEEP_KEPT_IN_CACHE,     /* of the function `name`, which has a cache decorator */
};

struct seep_stores_asked {
    enum seep_kept_in in;
    const char *name;
    const char *owner; /* a function's qualified name, a class's, a module's; "" unknown */
};

enum seep_store_how {
    SEEP_STORES_NOTHING, /* it is read, or something empty is assigned to it */
    SEEP_STORES_WHOLE,   /* it is assigned: its content may have been made elsewhere */
    SEEP_STORES_ENTRY,   /* stored under a key or an index, which may have held another */
    SEEP_STORES_MORE,    /* appended, added, joined */
};

/* A statement, and what is asked about it more than once. */
struct seep_in_statement {
    const struct seep_tokens *tokens;
    size_t first, to; /* its tokens */
    size_t equals;    /* the last "=" of assignments; 0: none */
    bool empty;       /* its right side is None, [], 0, deque(maxlen=9), … */
};

struct seep_in_statement seep_in_statement(const struct seep_tokens *tokens, size_t first,
                                           size_t to);

/* Whether token `i` exists and reads so. */
static inline bool seep_in_reads(const struct seep_in_statement *in, size_t i, const char *word)
{
    return i >= in->first && i < in->to && seep_token_is(in->tokens, i, word);
}

/* Whether token `i` follows a dot. */
static inline bool seep_in_dotted(const struct seep_in_statement *in, size_t i)
{
    return i > in->first && seep_in_reads(in, i - 1, ".");
}

/* Whether token `i` is that name, with or without something and a dot before it. */
bool seep_in_names(const struct seep_in_statement *in, size_t i, const char *name, bool dotted);

/* Whether the statement assigns the plain name at `i`, which makes it local to its function. */
bool seep_in_binds(const struct seep_in_statement *in, size_t i);

/* Whether the statement copies something: x.clone(), copy.deepcopy(x), or assigns x.item(). */
bool seep_in_copies(const struct seep_in_statement *in);

/* What the statement does with the name at token `i`. */
enum seep_store_how seep_name_use_at(const struct seep_in_statement *in, size_t i);

/* Whether the statement gives the content of the name at `i`, or an element of it, to other names,
 * those among the tokens [*from, *to): outs = self.outs; for k, outs in self.all.items(). */
bool seep_in_aliases(const struct seep_in_statement *in, size_t i, size_t *from, size_t *to);

#endif
