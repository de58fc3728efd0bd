/* What one statement does with a name that stands in it. Only the files of this folder include it.
 */
#ifndef SEEP_LIBPROF_SOURCE_NAME_USE_H
#define SEEP_LIBPROF_SOURCE_NAME_USE_H

#include "libprof/source/kept_in.h"
#include "libprof/source/python_source.h"

/* A statement, and what is asked of it more than once. */
struct seep_in_statement {
    const struct seep_tokens *tokens;
    size_t first, to; /* its tokens */
    size_t equals;    /* the last "=" of assignments; 0: none */
    bool empty;       /* what is to the right of it is None, [], 0, deque(maxlen=9), … */
};

struct seep_in_statement seep_in_statement(const struct seep_tokens *tokens, size_t first,
                                           size_t to);

/* Whether token `i` is there and reads so. */
static inline bool seep_in_reads(const struct seep_in_statement *in, size_t i, const char *word)
{
    return i >= in->first && i < in->to && seep_token_is(in->tokens, i, word);
}

/* Whether token `i` has a dot before it. */
static inline bool seep_in_dotted(const struct seep_in_statement *in, size_t i)
{
    return i > in->first && seep_in_reads(in, i - 1, ".");
}

/* Whether token `i` is that name, with or without something and a dot before it. */
bool seep_in_names(const struct seep_in_statement *in, size_t i, const char *name, bool dotted);

/* Whether the statement assigns the plain name at `i`, so that it is its function's own. */
bool seep_in_binds(const struct seep_in_statement *in, size_t i);

/* Whether the statement copies something: x.clone(), copy.deepcopy(x), or assigns x.item(). */
bool seep_in_copies(const struct seep_in_statement *in);

/* What the statement does with the name at token `i`. */
enum seep_store_how seep_name_use_at(const struct seep_in_statement *in, size_t i);

/* Whether the statement gives what the name at `i` holds, or what lies in it, to other names, those
 * among the tokens [*from, *to): outs = self.outs; for k, outs in self.all.items(). */
bool seep_in_aliases(const struct seep_in_statement *in, size_t i, size_t *from, size_t *to);

#endif
