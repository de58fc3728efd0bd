/* A digest: what the reports of any number of processes have in common, in a bounded size.
 *
 * It is a set of rows. A row has a key (what it is about, and the power of two that a process's
 * value lies in) and sums over processes; two digests are merged by adding the rows with equal
 * keys. Adding is associative and commutative, and a digest is written in one order, so any order
 * and any tree of merging gives the same bytes. To stay bounded, a digest forgets what is small:
 * each of its levels is the least at which what is left fits, and depends on nothing but on what
 * was merged (digest_fit.h). Numbers end at SEEP_DIGEST_MOST, where sums stay.
 *
 * Threads: none may share one. Out of memory is sticky: `failed` is set, and the caller looks
 * before it uses the result. */
#ifndef SEEP_LIBPROF_DIGEST_DIGEST_H
#define SEEP_LIBPROF_DIGEST_DIGEST_H

#include "libprof/base/error.h"
#include "libprof/base/hash_index.h"
#include "libprof/words/parts.h"
#include "libprof/words/patterns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEEP_DIGEST_MOST ((uint64_t)INT64_MAX)

enum {
    SEEP_DIGEST_VERSION = 1,
    SEEP_DIGEST_COURSE = 32, /* cells of a course */
    SEEP_DIGEST_TOPS = 8,    /* processes named at each end of a distribution */
    SEEP_DIGEST_BUCKETS = 65,
    SEEP_DIGEST_RANKS = 1 << 18,     /* ranks that are told apart */
    SEEP_DIGEST_SOURCES = 1 << 14,   /* recorded folders that are told apart, */
    SEEP_DIGEST_HOSTS = 10 * 1024,   /* hosts, */
    SEEP_DIGEST_FEW = 4,             /* and of commands, folders, ids of jobs and the like */
    SEEP_DIGEST_HOST_TEXT = 64,      /* with its NUL; longer names are cut */
    SEEP_DIGEST_TEXT = 4096,         /* of any text */
    SEEP_DIGEST_EXAMPLE_TEXT = 2000, /* of a finding as one process had it */
    SEEP_DIGEST_DEPTH = 256,         /* frames of a stack, the innermost ones */
};

enum seep_digest_kind {
#define SEEP_DIGEST_KIND(id, ...) SEEP_DIGEST_##id,
#include "libprof/digest/digest_kinds.def"
#undef SEEP_DIGEST_KIND
    SEEP_N_DIGEST_KINDS
};

/* Measures of a node's rank: what a cell has. */
enum seep_digest_measure {
#define SEEP_DIGEST_MEASURE(id, ...) SEEP_DIGEST_MEASURE_##id,
#include "libprof/digest/digest_measures.def"
#undef SEEP_DIGEST_MEASURE
    SEEP_N_DIGEST_MEASURES
};

/* A process by name, and a value of it. Texts are ids in `texts`. */
struct seep_digest_who {
    uint64_t value;
    uint32_t host, pid;
    int32_t rank, local_rank; /* −1: none */
};

struct seep_digest_key {
    uint8_t kind;     /* enum seep_digest_kind */
    uint8_t role;     /* of processes: a row of process_roles.def */
    uint8_t bucket;   /* seep_digest_bucket() of each value; 0 where a kind has none */
    uint32_t subject; /* text: a measure, a space, a pattern, an end; 0 none */
    uint32_t about;   /* index + 1 in `stacks` or `subjects`; 0 none */
};

/* What only findings have. */
struct seep_digest_found {
    uint64_t growth_sum, growth_most; /* thousandths of bytes per step; nothing shrinks */
    uint64_t blocks;                  /* that the values consist of */
    uint64_t first_step;              /* the earliest */
    uint64_t ranks;                   /* how many of the processes are ranks by number, */
    int32_t least_rank, most_rank;    /* and which; −1: none */
    uint32_t least_host, most_host;   /* texts, by strcmp(): equal if it is on one host */
    uint32_t example;                 /* text: as the process had it that `max` names, as JSON */
};

struct seep_digest_row {
    struct seep_digest_key key;
    uint64_t n, sum;            /* processes, and the sum of their values */
    struct seep_digest_who max; /* the largest value and whose it is */
    uint32_t found;             /* index + 1 in `finding_rows`, for findings */
    /* Over the steps: what the processes held, times the steps they held it for, in KiB. */
    uint64_t course[SEEP_DIGEST_COURSE];
};

/* A stack of frames, which are texts: each a frame of a report as compact JSON. */
struct seep_digest_stack {
    uint8_t part;    /* enum seep_part */
    int16_t look_at; /* frame to look at; −1: none */
    uint16_t n;
    size_t at; /* its frames in `stack_frames`, innermost first */
};

/* What a finding is about. */
struct seep_digest_about {
    uint8_t pattern, severity, part;
    uint32_t space; /* text */
    uint32_t frame; /* text; 0: none */
};

/* The processes at one end of a distribution, the outermost first. */
struct seep_digest_top {
    uint8_t role;
    bool low;
    uint32_t subject; /* text */
    uint32_t n;
    struct seep_digest_who who[SEEP_DIGEST_TOPS];
};

/* The ranks of some neighbouring nodes with one local rank. */
struct seep_digest_cell {
    uint32_t node; /* number of the node >> node_shift */
    uint32_t local_rank;
    uint64_t n;
    uint64_t sum[SEEP_N_DIGEST_MEASURES], most[SEEP_N_DIGEST_MEASURES];
};

/* A set of texts or numbers of which the smallest are kept. */
struct seep_digest_set {
    uint64_t *list; /* rising; texts: ids, in the order of the texts */
    size_t n, capacity;
};

enum seep_digest_number {
#define SEEP_DIGEST_NUMBER(id, ...) SEEP_DIGEST_NUMBER_##id,
#include "libprof/digest/digest_numbers.def"
#undef SEEP_DIGEST_NUMBER
    SEEP_N_DIGEST_NUMBERS
};

struct seep_digest {
    bool failed;
    char **texts; /* [0] is "" */
    size_t n_texts, texts_capacity;
    struct seep_hash_index text_index;
    struct seep_digest_stack *stacks;
    size_t n_stacks, stacks_capacity;
    uint32_t *stack_frames;
    size_t n_stack_frames, stack_frames_capacity;
    struct seep_hash_index stack_index;
    struct seep_digest_about *subjects;
    size_t n_abouts, abouts_capacity;
    struct seep_hash_index about_index;
    struct seep_digest_row *rows;
    size_t n_rows, rows_capacity;
    struct seep_hash_index row_index;
    struct seep_digest_found *finding_rows;
    size_t n_founds, founds_capacity;
    struct seep_digest_top *extremes;
    size_t n_tops, tops_capacity;
    struct seep_digest_cell *cells;
    size_t n_cells, cells_capacity;
    struct seep_hash_index cell_index;

    /* Levels: see digest_fit.h. */
    uint32_t site_level, finding_level, space_level, step_shift, node_shift;

    uint64_t numbers[SEEP_N_DIGEST_NUMBERS];
    uint8_t *ranks; /* [SEEP_DIGEST_RANKS / 8] a bit for each rank of which there is a profile */
    struct seep_digest_set sources, hosts, commands, job_ids, versions, step_sources, cwds;
};

/* Returns 0 or -SEEP_ENOMEM. Allocates; seep_digest_fini(), also after an error. */
SEEP_MUST_CHECK int seep_digest_init(struct seep_digest *d);
void seep_digest_fini(struct seep_digest *d);

static inline uint64_t seep_digest_sum(uint64_t a, uint64_t b)
{
    return a > SEEP_DIGEST_MOST - (b < SEEP_DIGEST_MOST ? b : SEEP_DIGEST_MOST) ? SEEP_DIGEST_MOST
                                                                                : a + b;
}

/* Courses end where readers of JSON with 64-bit floats still count. */
static inline uint64_t seep_digest_course_sum(uint64_t a, uint64_t b)
{
    const uint64_t most = (UINT64_C(1) << 53) - 1, sum = seep_digest_sum(a, b);

    return sum < most ? sum : most;
}

/* The number of bits of a value: 0 for 0, k for 2^(k−1) ≤ value < 2^k. */
static inline uint8_t seep_digest_bucket(uint64_t value)
{
    return value ? (uint8_t)(64 - __builtin_clzll(value)) : 0;
}

#endif
