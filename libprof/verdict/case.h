/* What the judge sees of one line: its sites and their signs. */
#ifndef SEEP_LIBPROF_VERDICT_CASE_H
#define SEEP_LIBPROF_VERDICT_CASE_H

#include "libprof/code/code.h"
#include "libprof/code/library_caches.h"
#include "libprof/measure/growth.h"
#include "libprof/measure/resident/resident_pace.h"
#include "libprof/measure/sawtooth.h"
#include "libprof/who/merge/kept_by.h"
#include "libprof/who/merge/line_holders.h"

struct seep_held {
    uint64_t bytes, blocks;
};

/* What one of the line's sites holds at the ends of steps. */
struct seep_site_signs {
    struct seep_held start; /* step 0: before training */
    struct seep_held first; /* step 1 */
    struct seep_held last;  /* the last judged step */
    struct seep_held from;  /* as the steps that growth was measured in begin */
    struct seep_held kept;  /* at the end of the steps that growth was measured in; if processes
                             * ended before that, their peak */
    bool is_network;        /* its own stack is network code, whatever the line is */
};

/* Whether it gained something in the steps that growth was measured in. */
static inline bool seep_site_grew(const struct seep_site_signs *its)
{
    return its->kept.bytes > its->from.bytes;
}

/* What it gained since step 1. */
static inline uint64_t seep_site_gained(const struct seep_site_signs *its)
{
    return its->kept.bytes > its->first.bytes ? its->kept.bytes - its->first.bytes : 0;
}

/* The level as stairs: now and then a larger block replaces an old one. */
struct seep_staircase {
    bool climbs; /* it never falls back by more than a tenth; otherwise ignore the other fields */
    int jumps;
    int32_t last_jump;  /* step */
    int64_t jumped;     /* bytes that the jumps added */
    int64_t start, end; /* bytes before the first jump and after the last */
    int64_t least_blocks, most_blocks;
};

/* Growth that fades: epoch by epoch, items picked at random by each of several workers, or with
 * replacement, or a library's caches add clearly less each time. An endless leak adds as much. */
struct seep_fading {
    bool fades;
    int64_t first, last; /* bytes that the first and the last whole epoch added */
};

/* Whether growth has an end: the reason that decides. */
enum seep_prospect {
#define SEEP_PROSPECT(kind, id, ...) SEEP_##kind##_##id,
#define SEEP_PROSPECT_ALSO(...)
#include "libprof/verdict/prospects.def"
#undef SEEP_PROSPECT
#undef SEEP_PROSPECT_ALSO
};

/* What kinds of functions are between the line and the allocation. */
struct seep_makers {
    bool known;  /* looked for */
    bool named;  /* operators have names there: a flag that is not set is really false */
    bool joins;  /* makes a larger object from an old one and something new: cat, append */
    bool copies; /* from another device, the host or another type */
    bool loads;  /* objects from a file */
};

/* The loader workers that hold about as much as the largest one. */
struct seep_worker_signs {
    uint32_t n;
    uint64_t each_bytes; /* the least that any of them holds */
    uint64_t sum_bytes, sum_blocks;
    uint64_t others_bytes; /* held by other processes */
};

struct seep_signs {
    bool timed;        /* the axis is time slices, not training steps */
    bool enough_steps; /* the judged steps can show something */
    bool is_data;      /* dataset, loader or camera */
    bool is_network;   /* the stack passes through network code, and is not data code */
    struct seep_growth growth;
    struct seep_sawtooth sawtooth;
    struct seep_staircase staircase;
    struct seep_fading fading;
    struct seep_worker_signs workers; /* zeros where no loader worker is among the processes */
    struct seep_kept_by kept_by;      /* what heap snapshots say of it */
    bool holder_is_of_others;         /* what they say of its line may be of other memory there */
    struct seep_makers makers;        /* looked for if the level is a staircase, and on devices */
    const struct seep_library_cache *cache; /* the library's cache that keeps it; NULL: none
                                             * known */
    bool is_replaced;    /* what is live at a step's end is gone soon after: see renewal.h */
    bool of_arenas;      /* most of what it gained, or else holds, are arenas of Python's */
    bool is_kept_stream; /* drawn from a stream, and hardly any of it freed */
    enum seep_prospect prospect;
    unsigned graph_nodes;   /* sites that make nodes of autograd graphs; 0 where nothing piles up */
    unsigned graph_results; /* sites of a network's forward whose results pile up together, where
                             * nothing is known of nodes */
    uint64_t graphs; /* graphs that are live at once without becoming more, by the nodes of this
                      * line or, on a device, of its function on the host; 0: not so */
    struct seep_site_signs *sites; /* in the order of the case's sites */
    size_t capacity;
};

/* What a pattern sees: sites that share a line, and how they behave. */
struct seep_case {
    const struct seep_code *code;
    const struct seep_model *m;                 /* the code's, which most look at */
    const struct seep_span *span;               /* that is judged: one of these two */
    const struct seep_span *whole, *after;      /* of the job; of what follows its training */
    const struct seep_resident_trend *resident; /* of the job */
    const struct seep_signs *signs;
    const struct seep_line_holders *holders;
    const uint32_t *sites;
    size_t n_sites;
    uint32_t frame;
    uint16_t space;
    enum seep_part part;
    uint16_t parts;                         /* of the largest site's stack */
    bool has_workers;                       /* loader workers are among the processes */
    const struct seep_library_cache *cache; /* all of its sites make what this cache keeps; or
                                             * NULL */
    bool is_small_objects;       /* all arenas of Python's: who holds what is in them is known */
    bool offset_by_sibling_line; /* other lines of its function lose what this line gains */
    uint64_t space_peak;         /* of the job */
};

/* What can be seen of one line is computed once, by code that may fail, before any pattern is
 * tried. A pattern is then a predicate over these signs that cannot fail (signs.c).
 *
 * Computes the signs of a case whose other fields are all set. Returns 0 or -SEEP_ENOMEM.
 * Allocates: *signs, which the next call reuses: zero-initialise once, seep_signs_fini() at the
 * end. */
SEEP_MUST_CHECK int seep_signs_compute(struct seep_case *c, struct seep_signs *signs);
void seep_signs_fini(struct seep_signs *signs);

/* Whether all that is known is PyTorch's memory snapshot: it has no names of operators, nothing of
 * what allocates nothing, and no epochs. */
static inline bool seep_case_is_of_torch(const struct seep_case *c)
{
    return c->m->processes[c->m->main].recording.of_torch;
}

#endif
