/* Who holds the memory that a line of code allocated: sums up the paths to its blocks, and says how
 * much would be free without the container that they have in common. */
#ifndef SEEP_LIBPROF_WHO_WAYS_ANSWER_H
#define SEEP_LIBPROF_WHO_WAYS_ANSWER_H

#include "libprof/who/ways/path.h"

enum seep_hold_state {
    SEEP_HOLD_UNKNOWN,   /* no path explains enough */
    SEEP_HOLD_HELD,      /* by one container */
    SEEP_HOLD_SHARED,    /* by several: each alone keeps it alive */
    SEEP_HOLD_CYCLE,     /* by nobody but a cycle of references */
    SEEP_HOLD_LOST,      /* by nobody */
    SEEP_HOLD_REFERENCE, /* by nobody but objects whose reference count is too high */
};

enum { SEEP_ANSWER_PATHS = 4 };

struct seep_answer_path {
    struct seep_path path;
    uint64_t blocks, bytes; /* of the line, that are reached by this path */
    uint64_t sole_bytes;    /* at least so much of the line would be free without this holder and
                             * those of the paths before */
    bool sole_known;
    size_t
        holder_hop; /* the hop that leads out of the holder; path.n if the last one leads to it */
    char holder_name[2 * SEEP_HOP_NAME];
    char holder_type[SEEP_HOP_TYPE];
    int64_t holder_length; /* −1: not a container */
    int64_t holder_bound;  /* −1: none */
};

struct seep_answer {
    uint32_t line;
    uint64_t blocks, bytes, lost_bytes, cycle_bytes;
    uint64_t reference_bytes, small_bytes; /* held by reference counts that are too high: of the
                                            * line; of small objects of all lines */
    uint64_t graph_bytes;                  /* held through nodes of autograd graphs */
    enum seep_hold_state state;
    size_t n_paths;
    struct seep_answer_path paths[SEEP_ANSWER_PATHS];
};

struct seep_holder_query {
    const uint32_t *line_of_site; /* [n_sites] the line that allocated it, 0: none */
    size_t n_sites;
    uint32_t n_lines;
    uint32_t small_site; /* of objects in arenas, which are no line's; 0: none */
    size_t most;         /* answers */
    uint64_t least;      /* bytes that a line needs to get an answer */
    size_t most_runs;    /* bounds the searches for what would be free, in multiples of the first
                          * search */
    bool keys;           /* texts of dict keys may be shown */
};

/* Answers for the lines with most bytes, largest first, from a reach that has run. The reach stays
 * as it is, but for what cycles hold, which is found here. Stores up to `most` answers and returns
 * how many, or -SEEP_ENOMEM. */
int seep_answer_lines(struct seep_reach *reach, const struct seep_holder_query *question,
                      struct seep_answer *answers);

/* Describes the container that a path leads to or through: its name, type, length and bound. */
void seep_answer_holder(struct seep_reach *reach, uint32_t holder, struct seep_answer_path *path);

const char *seep_hold_state_word(enum seep_hold_state state);

#endif
