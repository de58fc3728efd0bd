/* One path to kept memory: from a root that the program can name, by way of hops, to the blocks. */
#ifndef SEEP_LIBPROF_WHO_MERGE_HOLDERS_PATH_H
#define SEEP_LIBPROF_WHO_MERGE_HOLDERS_PATH_H

#include "libprof/who/merge/holders_check.h"

enum { SEEP_HOLDERS_MAX_HOPS = 256 };

struct seep_holders_path {
    json_t *text, *root, *hops; /* as reports show them: made of checked fields alone */
    char *way; /* the names of root and hops, without counts: those of two processes are equal where
                  the same thing holds */
    uint64_t blocks, bytes; /* of the line, that it leads to */
    uint64_t sole_bytes; /* of the line, what goes with the holders of this path and those before */
    bool sole_known;

    /* The container that the blocks are many in; all NULL and 0 where there is none. */
    json_t *holder;
    char *container; /* what it is known by: name and type, or else the way to it */
    bool has_name, has_length;
    uint64_t length;
};

/* Takes a path from a file. What is wrong or failed is in *c. Allocates: free with
 * seep_holders_path_fini(), whatever *c says. */
void seep_holders_path_take(struct seep_holders_check *c, const json_t *from,
                            struct seep_holders_path *path);
void seep_holders_path_fini(struct seep_holders_path *path);

#endif
