/* The lines of the job's code: sites that share one are judged together. */
#ifndef SEEP_LIBPROF_VERDICT_LINES_H
#define SEEP_LIBPROF_VERDICT_LINES_H

#include "libprof/code/code.h"

struct seep_line {
    uint32_t frame;
    uint16_t space; /* the host's for host and mmap */
    /* Stacks of a forked worker continue through the trainer's line that started it. */
    bool in_worker_loop;
    uint32_t n;
    uint64_t peak_bytes; /* upper bound: sum of the sites', each up to SEEP_T_SHOWN_BYTES */
    size_t first;        /* in the array of site ids */
};

struct seep_lines {
    struct seep_line *list;
    size_t n, capacity;
    uint32_t *of_site; /* group + 1 */
    uint32_t *sites;   /* ids, by group */
};

/* Groups the sites of a model by line; imports, and frames that stand for no code, are left out.
 * Returns 0 or -SEEP_ENOMEM. Allocates: *lines, all zeros before; free with seep_lines_fini(), also
 * after an error. */
SEEP_MUST_CHECK int seep_lines_find(const struct seep_code *code, struct seep_lines *lines);
void seep_lines_fini(struct seep_lines *lines);

/* The space that lines in `space` are judged in. */
uint16_t seep_space_of_line(const struct seep_model *m, uint16_t space);

#endif
