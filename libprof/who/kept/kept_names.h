/* The names on a path to kept memory under which source code stores something there. */
#ifndef SEEP_LIBPROF_WHO_KEPT_KEPT_NAMES_H
#define SEEP_LIBPROF_WHO_KEPT_KEPT_NAMES_H

#include "libprof/source/python_stores.h"
#include "libprof/who/merge/holders_read.h"

enum { SEEP_KEPT_MAX_NAMES = 8 };

/* A variable or an attribute. Texts are borrowed from the path. */
struct seep_kept_name {
    enum seep_kept_in in;
    const char *name;
    const char *owner;  /* a class, a function, a module; "" unknown */
    const char *module; /* of a global: its full name */
    const char *file;   /* of a local: the file of its function; "" unknown */
    bool fills;         /* it names a container that is filled entry by entry, */
    bool by_index;      /* and whose length does not grow by a store under an index */
};

/* The names up to the holder, the innermost first. `path`: as in a report. Pure. */
size_t seep_kept_names(const json_t *path, struct seep_kept_name names[SEEP_KEPT_MAX_NAMES]);

#endif
