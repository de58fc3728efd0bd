/* Python's small objects as one line. It is chance which line asks for the next arena, so by itself
 * no line tells what grows; but snapshots may have seen who got more of what lies in them. */
#ifndef SEEP_LIBPROF_VERDICT_ARENA_GROWTH_H
#define SEEP_LIBPROF_VERDICT_ARENA_GROWTH_H

#include "libprof/verdict/case.h"
#include "libprof/verdict/finding.h"
#include "libprof/verdict/lines.h"
#include "libprof/who/merge/line_holders.h"

struct seep_arena_growth {
    bool found;      /* one holder got at least half of what arenas grew by */
    uint32_t *sites; /* [n_sites] those of all arenas that lines asked for */
    size_t n_sites;
    uint32_t frame;      /* the line that adds to the holder, else the one with most of them */
    double gained_bytes; /* by arenas, while the holder was watched */
};

/* Returns 0 or -SEEP_ENOMEM. Allocates: *out; free with seep_arena_growth_fini(), also after
 * an error. */
SEEP_MUST_CHECK int seep_arena_growth_find(const struct seep_code *code,
                                           const struct seep_lines *lines,
                                           const struct seep_line_holders *holders,
                                           struct seep_arena_growth *out);
/* Adds evidence: how much the holder got of what arenas grew by. */
void seep_arena_growth_note(const struct seep_arena_growth *line,
                            const struct seep_small_rise *rise, struct seep_finding *f);
void seep_arena_growth_fini(struct seep_arena_growth *out);

/* The line that adds to a growing container: CPython itself reallocates the table of a list, dict
 * or set, at the very statement that adds to it. The user's line, in one of the case's processes,
 * at which by far the largest table grew until late in the run; *frame is 0 if there is none, or
 * several are alike. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_container_line(const struct seep_case *c, uint32_t *frame);

#endif
