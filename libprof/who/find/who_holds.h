/* Asks the copy of a process who holds what its lines of code made. */
#ifndef SEEP_LIBPROF_WHO_FIND_WHO_HOLDS_H
#define SEEP_LIBPROF_WHO_FIND_WHO_HOLDS_H

#include "libprof/who/find/dump.h"
#include "libprof/who/find/line_groups.h"
#include "libprof/who/find/small_objects.h"
#include "libprof/who/graph/cells.h"

enum { SEEP_WHO_ANSWERS = 16 };

/* What is known of a copy once it was surveyed: all that is needed to answer. */
struct seep_who {
    struct seep_heap heap; /* sites of nodes are those of blocks, and of lines later */
    struct seep_cells cells;
    size_t n_objects; /* of Python, blocks and maps */
    struct seep_reach reach;
    struct seep_site_sums sites; /* of blocks, and of what the process has mapped */
    /* Called when it is known how many nodes there are, before all else is made of them. False: it
     * is given up, with -SEEP_ENOMEM. NULL: never. */
    bool (*admits)(void *arg, uint64_t n_nodes);
    void *arg;
    const char *why_not;  /* why answers are incomplete; NULL: they are complete */
    bool knows_no_python; /* its version of Python is unknown, */
    bool has_no_gil;      /* or its objects are others, for it has no GIL, */
    bool has_mimalloc;    /* or it allocates them in another way */
    bool lacks_blocks;    /* set by the caller: not all live blocks were added */
    bool too_many;        /* there are more objects than can be searched */
};

struct seep_who_answers {
    struct seep_answer lines[SEEP_WHO_ANSWERS]; /* the largest first */
    size_t n;
    struct seep_small_objects small;
    size_t n_nodes;
    const char *why_not; /* as above */
};

/* Adds one of the blocks of the malloc family. Returns 0 or -SEEP_ENOMEM. Allocates; in all cases
 * seep_who_fini(). */
SEEP_MUST_CHECK int seep_who_add(struct seep_who *who, const struct seep_snapshot_block *block);

/* Surveys what was taken of the process, with all its blocks and these maps[n], which may be arenas
 * of Python's. Returns 0 or -SEEP_ENOMEM. Afterwards dump->maps are needed, but no memory. Takes
 * some 50 bytes for each block, object and map. */
SEEP_MUST_CHECK int seep_who_survey(struct seep_who *who, struct seep_dump *dump,
                                    const struct seep_snapshot *head,
                                    const struct seep_snapshot_block *maps, size_t n, bool keys);
void seep_who_fini(struct seep_who *who);

/* Answers for the lines with most bytes, and for small objects. `line_of_site`: [who->sites.n] the
 * line that each site belongs to, counted from 1; 0: none. `keys`: texts of dict keys may be shown.
 * Once. Returns 0 or -SEEP_ENOMEM. Allocates; seep_who_answers_fini() in either case. */
SEEP_MUST_CHECK int seep_who_holds(struct seep_who *who, const struct seep_maps *maps,
                                   const uint32_t *line_of_site, uint32_t n_lines, bool keys,
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
