/* Asks what was taken of a process who holds what its lines made. */
#ifndef SEEP_LIBPROF_WHO_FIND_WHO_HOLDS_H
#define SEEP_LIBPROF_WHO_FIND_WHO_HOLDS_H

#include "libprof/who/find/dump.h"
#include "libprof/who/ways/answer.h"

enum { SEEP_WHO_ANSWERS = 16 };

struct seep_who_question {
    struct seep_dump *dump;                   /* what was taken */
    const struct seep_snapshot *head;         /* what it says of itself */
    const struct seep_snapshot_block *blocks; /* its blocks, then its maps, */
    const uint32_t *line_of_block;            /* and which line made each, from 1 on; 0: none */
    uint32_t n_lines;
    bool keys; /* texts of dict keys may be shown */
};

struct seep_who_answers {
    struct seep_answer lines[SEEP_WHO_ANSWERS]; /* the largest first */
    size_t n;
    size_t n_nodes;
    const char *why_not; /* NULL: all that is there was read */
};

/* Answers for the lines with most bytes. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_who_holds(const struct seep_who_question *question,
                                   struct seep_who_answers *answers);

/* Calls the variable of C that a path begins at by its symbol, where the file on disk has it. */
void seep_who_name_global(const struct seep_maps *maps, struct seep_path *path);

/* What an answer adds to the line of a holders file: state, explained, lost and cyclic bytes,
 * paths. A new reference, or NULL without memory. */
json_t *seep_who_json(const struct seep_answer *answer);

#endif
