/* Python's small objects as one line. It is chance which line asks for the next arena, so by itself
 * no line tells what grows; but snapshots may have seen who got more of what lies in them. */
#ifndef SEEP_LIBPROF_JUDGE_ARENA_GROWTH_H
#define SEEP_LIBPROF_JUDGE_ARENA_GROWTH_H

#include "libprof/judge/lines.h"
#include "libprof/patterns/finding.h"
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

#endif
