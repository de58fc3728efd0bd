/* One path to kept memory: from a root that the program can name, through hops, to the blocks. */
#ifndef SEEP_LIBPROF_WHO_MERGE_HOLDERS_PATH_H
#define SEEP_LIBPROF_WHO_MERGE_HOLDERS_PATH_H

#include "libprof/who/merge/holders_check.h"

enum { SEEP_HOLDERS_MAX_HOPS = 256 };

struct seep_holders_path {
    json_t *text, *root, *hops; /* as in reports: made of checked fields only */
    char *way; /* the names of root and hops, without counts: equal in two processes if the same
                * thing holds the memory */
    uint64_t blocks, bytes; /* of the line, reached by it */
    uint64_t sole_bytes;    /* bytes of the line that go with the holders of this path and of those
                             * before */
    bool sole_known;

    /* The container that holds the blocks; all NULL and 0 if there is none. */
    json_t *holder;
    char *container; /* its key: name and type, or else the path to it */
    bool has_name, has_length;
    uint64_t length;
};

/* Takes a path from a file; errors are in *c. Allocates: free with seep_holders_path_fini(),
 * whatever *c says. */
void seep_holders_path_take(struct seep_holders_check *c, const json_t *from,
                            struct seep_holders_path *path);
void seep_holders_path_fini(struct seep_holders_path *path);

#endif
