/* The profile file of this process: creation, growth, records. Runtime part: no malloc, no stdio.
 *
 * One file for each process, see profile_format.h. For seep_arena_take() the caller must hold
 * `seep_arena.lock`; for seep_arena_create() and seep_arena_leave() no other thread may use the
 * arena; the rest may be called at any time. */
#ifndef SEEP_LIBPROF_RUNTIME_STORE_ARENA_H
#define SEEP_LIBPROF_RUNTIME_STORE_ARENA_H

#include "libprof/format/profile_format.h"
#include "libprof/runtime/store/os.h"

struct seep_arena {
    struct seep_header *header; /* NULL: no profile */
    bool full;                  /* disk full or limit reached: no more chunks, ever */
    struct seep_lock lock;
    uint64_t end_allocated;              /* file bytes known to have disk behind them */
    uint64_t cursor[SEEP_CHUNK_N_TYPES]; /* next free file offset of each type */
    uint64_t limit[SEEP_CHUNK_N_TYPES];  /* end of the chunk that contains it; 0: none yet */
    uint64_t device, inode;
    uint64_t reserved_bytes; /* of address space, from seep_arena_base on */
    uint64_t *folder_bytes;  /* sum of all files of the folder, shared by its processes; NULL:
                              * none */
    uint64_t max_folder_bytes;
    enum seep_drop full_reason;
    uint64_t begin;        /* where this process's own records begin in the file */
    uint32_t releases;     /* see seep_arena_release() */
    bool held_back;        /* the last chunk requested is held back for later */
    uint64_t retry_ns;     /* CLOCK_MONOTONIC_COARSE; not 0: growing failed, and is not tried again
                            * before */
    uint64_t retry_gap_ns; /* doubles with each failure */
    uint32_t overflow[SEEP_MAX_SPACES + SEEP_MAX_COARSENESS]; /* site indices: see site_table.c */
    char path[SEEP_PATH_BYTES];
};

extern struct seep_arena seep_arena;

/* What each event reads of it. */
extern char *seep_arena_base;    /* address of file offset 0 in the mapping of the chunks */
extern bool seep_arena_counting; /* no file yet: counts in private memory, without stacks */

/* Creates and maps the profile `path` with a header whose constant fields come from `constants`
 * (magic and check are set here). -EXFULL: --max-folder leaves no room for it. `max_bytes` bounds
 * the file, but one that inherits always has room for some records of its own. Returns 0 or a
 * negative errno. */
int seep_arena_create(const char *path, const struct seep_header *constants);

/* The same without a file, in private memory, with room for the sites that count allocations
 * without stacks (seep_arena_counting). */
int seep_arena_count(const struct seep_header *constants);

/* Creates the file after all: it receives what was counted, and all refs stay valid. `constants` as
 * above, with the same start and inherited_end. What other threads count at that moment may be
 * lost. */
int seep_arena_persist(const char *path, const struct seep_header *constants);

/* Gets room for some more megabytes at once, if possible: later it may not be. The caller holds the
 * lock. */
void seep_arena_stock_up(void);

/* Where in its file the records of a child that is forked now begin. It maps the page that its
 * first chunk lies in anew, so there must be none of the parent's in that page: where pages are
 * larger than a chunk's distance from one, a chunk or two stay empty. */
uint64_t seep_arena_end(void);

/* In a forked child, at once: drops the parent's header mapping so that nothing more is written
 * there. Refs stay readable. Nothing can be taken until seep_arena_create(). */
void seep_arena_leave(void);

/* Room for one record of `bytes` (≤ chunk size, 8-aligned), zeroed, aligned to `align` (8 or 64).
 * Returns its ref, or 0 if the file cannot grow, now or ever. */
uint32_t seep_arena_take(enum seep_chunk_type type, uint32_t bytes, uint32_t align);

/* A training step has ended, or a minute has passed: half of what is held back may be used from now
 * on. Before the first call only half of a file's room may be used: so what a job does only once,
 * before it trains or as it begins (a compiler's thousands of stacks), leaves room for what every
 * step does. Without the lock. */
void seep_arena_release(void);

/* Why nothing could be recorded just now. Without the lock: a good guess. */
enum seep_drop seep_arena_reason(void);

static inline void *seep_arena_at(uint32_t ref)
{
    return seep_arena_base + (uint64_t)ref * 8;
}

static inline uint32_t seep_arena_ref(const void *record)
{
    return (uint32_t)((uint64_t)((const char *)record - seep_arena_base) / 8);
}

static inline void seep_arena_drop_n(enum seep_drop reason, uint64_t n)
{
    if (seep_arena.header)
        __atomic_fetch_add(&seep_arena.header->dropped[reason], n, __ATOMIC_RELAXED);
}

static inline void seep_arena_drop(enum seep_drop reason)
{
    seep_arena_drop_n(reason, 1);
}

#endif
