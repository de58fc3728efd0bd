/* The names on a path to kept memory under which source code puts something there. */
#ifndef SEEP_LIBPROF_WHO_MERGE_KEPT_NAMES_H
#define SEEP_LIBPROF_WHO_MERGE_KEPT_NAMES_H

#include "libprof/source/python_stores.h"
#include "libprof/who/merge/holders_read.h"

enum { SEEP_KEPT_MAX_NAMES = 8 };

/* A variable or an attribute. Texts are the path's. */
struct seep_kept_name {
    enum seep_kept_in in;
    const char *name;
    const char *owner;  /* a class, a function, a module; "" unknown */
    const char *module; /* of a global: its whole name */
    const char *file;   /* of a local: where its function is; "" unknown */
    bool fills;         /* it names a container that is filled entry by entry */
    bool by_index;      /* of those one that a store under an index does not make longer */
};

/* Those up to the holder, the innermost first. `path`: as in a report. Pure. */
size_t seep_kept_names(const json_t *path, struct seep_kept_name names[SEEP_KEPT_MAX_NAMES]);

#endif
