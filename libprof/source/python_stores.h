/* The statements of a Python file that put something into a variable or an attribute: by assigning,
 * appending, storing under a key, or joining. */
#ifndef SEEP_LIBPROF_SOURCE_PYTHON_STORES_H
#define SEEP_LIBPROF_SOURCE_PYTHON_STORES_H

#include "libprof/source/name_use.h"
#include "libprof/source/python_source.h"

struct seep_store {
    uint32_t statement;
    enum seep_store_how how; /* never SEEP_STORES_NOTHING */
    bool copies;             /* it makes what it keeps: x.clone() */
};

struct seep_stores {
    struct seep_store *list; /* by statement, each once */
    size_t n, capacity;
};

/* Adds the stores in `source`. Assigning something empty or constant is not a store. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_python_stores_find(const struct seep_python_source *source,
                                            const struct seep_stores_asked *asked,
                                            struct seep_stores *stores);
void seep_stores_fini(struct seep_stores *stores);

/* Whether the file has a class of that name. */
bool seep_python_has_class(const struct seep_python_source *source, const char *name);

/* A statement as one line of text without comments, at most `most` bytes long. Allocates the result
 * (free() it); NULL without memory. */
char *seep_python_statement_text(const struct seep_python_source *source, uint32_t statement,
                                 size_t most);

#endif
