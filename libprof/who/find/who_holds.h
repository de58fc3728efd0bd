/* Asks the copy of a process who holds what its lines of code made. */
#ifndef SEEP_LIBPROF_WHO_FIND_WHO_HOLDS_H
#define SEEP_LIBPROF_WHO_FIND_WHO_HOLDS_H

#include "libprof/who/find/dump.h"
#include "libprof/who/find/small_objects.h"

enum { SEEP_WHO_ANSWERS = 16 };

struct seep_who_question {
    struct seep_dump *dump;             /* what was taken */
    const struct seep_snapshot *head;   /* what the process says of itself */
    struct seep_snapshot_block *blocks; /* its blocks, followed by its maps, */
    uint32_t *line_of_block; /* and the line that made each, counted from 1; 0: none. Both are of
                              * malloc(), and the callee's, who frees them once it has nodes */
    uint32_t n_lines;
    bool keys; /* texts of dict keys may be shown */
};

struct seep_who_answers {
    struct seep_answer lines[SEEP_WHO_ANSWERS]; /* the largest first */
    size_t n;
    struct seep_small_objects small;
    size_t n_nodes;
    const char *why_not; /* why the answers are incomplete; NULL: they are complete */
};

/* Answers for the lines with most bytes, and for small objects. Returns 0 or -SEEP_ENOMEM.
 * Allocates at most 240 bytes for each block, object and map, and 16 for each reference that is met
 * (of the objects of a PyTorch job some 150 in all); seep_who_answers_fini() in either case. */
SEEP_MUST_CHECK int seep_who_holds(const struct seep_who_question *question,
                                   struct seep_who_answers *answers);
void seep_who_answers_fini(struct seep_who_answers *answers);

/* Names a path's root by the symbol of its C variable, if the file on disk has it. */
void seep_who_name_global(const struct seep_maps *maps, struct seep_path *path);

/* A path of a holders file. A new reference, or NULL without memory. */
json_t *seep_who_path_json(const struct seep_answer_path *path);

/* The part of an answer that goes into a line of a holders file: state, explained, lost and cyclic
 * bytes, paths. A new reference, or NULL without memory. */
json_t *seep_who_json(const struct seep_answer *answer);

#endif
