/* Which part of a launch of several processes this process is, by the variables of its launchers
 * (cluster_variables.def): the same for `seep run` and for the library in a job. Runtime part:
 * pure, no errno, some 200 bytes of stack. Any texts are safe. */
#ifndef SEEP_LIBPROF_RUNTIME_PROGRAM_CLUSTER_H
#define SEEP_LIBPROF_RUNTIME_PROGRAM_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libprof/format/rank_format.h"

/* −1: not told. */
struct seep_cluster {
    /* The first row that tells a rank decides; rows that tell the same rank add what it lacks, for
     * they speak of the same process. (A rank that the job has numbered itself is not the task of
     * the launcher around it.) */
    int32_t rank, local_rank, world_size, local_size;
    int32_t node, restart; /* of the first row that tells; no node below a launcher that starts
                            * nodes and does not number them */
    const char *job_id;    /* of the last row that tells; NULL: none. Not owned, as it is told */
    const char *step_id;   /* of that row's step */
    /* Its number on the node among the processes of a launch of several, or else its rank there;
     * −1: no launcher started several. */
    int32_t part;
};

/* Reads them. `get` returns a variable's value or NULL. */
void seep_cluster_read(const char *(*get)(const char *name), struct seep_cluster *c);

/* The same in the form of a profile; leaves *notes as it is where nothing changes. */
void seep_cluster_note(const struct seep_cluster *c, struct seep_rank_notes *notes);

/* The name of the folder of such a part, "HOST-PART"; without a part "HOST". What is not a letter,
 * digit, '.', '_' or '-' becomes '_'. */
enum { SEEP_CLUSTER_FOLDER_BYTES = 80 };
void seep_cluster_folder(const char *host, int32_t part, char name[SEEP_CLUSTER_FOLDER_BYTES]);

#endif
