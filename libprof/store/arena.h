/* The profile file of this process: creation, growth, records. Runtime part: no malloc, no stdio.
 *
 * One file a process, see profile_format.h. seep_arena_take() wants the caller to hold
 * `seep_arena.lock`, seep_arena_create() and seep_arena_leave() that no other thread uses the
 * arena; the rest may be called at any time. */
#ifndef SEEP_LIBPROF_STORE_ARENA_H
#define SEEP_LIBPROF_STORE_ARENA_H

#include "libprof/format/profile_format.h"
#include "libprof/store/os.h"

struct seep_arena {
    struct seep_lock lock;
    struct seep_header *header;          /* NULL: no profile */
    char *base;                          /* address of file offset 0 of the chunk area's mapping */
    uint64_t end_allocated;              /* file bytes that surely have disk behind them */
    uint64_t cursor[SEEP_CHUNK_N_TYPES]; /* next free file offset, a type */
    uint64_t limit[SEEP_CHUNK_N_TYPES];  /* end of the chunk it lies in; 0: none yet */
    uint64_t device, inode;
    uint64_t reserved_bytes; /* of address space, from `base` on */
    bool counting;           /* no file yet: in private memory, and without stacks */
    uint64_t *folder_bytes;  /* of all files of the folder, shared by its processes; NULL: none */
    uint64_t max_folder_bytes;
    bool full; /* disk full or bound reached: no more chunks, ever */
    enum seep_drop full_reason;
    uint64_t begin;        /* of this process's own records in the file */
    uint32_t releases;     /* of what is held back: see seep_arena_release() */
    bool held_back;        /* the last chunk that was asked for is kept for later */
    uint64_t retry_ns;     /* CLOCK_MONOTONIC_COARSE; not 0: growing failed, and may not then */
    uint64_t retry_gap_ns; /* doubles as it goes on failing */
    uint32_t overflow[SEEP_MAX_SPACES]; /* site indices: see site_table.c */
    char path[SEEP_PATH_BYTES];
};

extern struct seep_arena seep_arena;

/* Creates and maps the profile `path` with a header whose constant fields come from `constants`
 * (magic and check are set here). -EXFULL: below --max-folder there
 * is no room for it. `max_bytes` bounds the file; one that inherits has room for some
 * records of its own even so. Returns 0 or a negative errno. */
int seep_arena_create(const char *path, const struct seep_header *constants);

/* The same without a file, in private memory, with room for the sites that count what has no stack
 * (seep_arena.counting). */
int seep_arena_count(const struct seep_header *constants);

/* Makes the file after all: what was counted goes into it, and all refs stay valid. `constants` as
 * above, with the same start and inherited_end. What other threads count just then may be lost. */
int seep_arena_persist(const char *path, const struct seep_header *constants);

/* Gets room for some megabytes more at once, where that is possible: later it may not be. The
 * caller holds the lock. */
void seep_arena_stock_up(void);

/* In a forked child, at once: drops the parent's header mapping so that nothing more is written
 * there. Refs stay readable. Until seep_arena_create() nothing can be taken. */
void seep_arena_leave(void);

/* Room for one record of `bytes` (≤ chunk size, 8-aligned), zeroed, aligned to `align` (8 or 64).
 * Returns its ref, 0 when the file cannot grow, now or for ever. */
uint32_t seep_arena_take(enum seep_chunk_type type, uint32_t bytes, uint32_t align);

/* A step of the training has ended, or a minute: half of what is held back may be used now. Before
 * the first one only half of a file's room may be: what a job does once, before it trains or as it
 * begins to (a compiler's thousands of stacks), leaves room for what it does in every step. Without
 * the lock. */
void seep_arena_release(void);

/* Why nothing could be recorded just now. Without the lock: a good guess. */
enum seep_drop seep_arena_reason(void);

static inline void *seep_arena_at(uint32_t ref)
{
    return seep_arena.base + (uint64_t)ref * 8;
}

static inline uint32_t seep_arena_ref(const void *record)
{
    return (uint32_t)((uint64_t)((const char *)record - seep_arena.base) / 8);
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
