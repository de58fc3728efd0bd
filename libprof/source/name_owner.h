/* Which function or class owns a name found in a file. Only the files of this folder include it. */
#ifndef SEEP_LIBPROF_SOURCE_NAME_OWNER_H
#define SEEP_LIBPROF_SOURCE_NAME_OWNER_H

#include "libprof/source/name_use.h"

/* What a file says about the name searched for. */
struct seep_name_owner {
    const struct seep_python_source *source;
    const struct seep_stores_asked *asked;
    uint8_t *binds;   /* by scope: a function binds the name; a class is the owner's, derives from
                       * it, or is its base */
    bool is_imported; /* "from … import name" */
};

/* Returns 0 or -SEEP_ENOMEM. Allocates: *o; free with seep_name_owner_fini(), also after an error.
 */
SEEP_MUST_CHECK int seep_name_owner_init(struct seep_name_owner *o,
                                         const struct seep_python_source *source,
                                         const struct seep_stores_asked *asked);
void seep_name_owner_fini(struct seep_name_owner *o);

/* Whether the name at token `i` of a statement in a scope is the one searched for. */
bool seep_name_is_theirs(const struct seep_name_owner *o, const struct seep_in_statement *in,
                         uint32_t scope, size_t i);

#endif
