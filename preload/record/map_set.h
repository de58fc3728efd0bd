/* What calls that map and unmap change in the live set of maps and in the counters of their sites.
 * All of it inside the guard only. */
#ifndef SEEP_PRELOAD_RECORD_MAP_SET_H
#define SEEP_PRELOAD_RECORD_MAP_SET_H

#include "libprof/runtime/store/range_map.h"
#include "preload/record/thread.h"
#include "preload/stack/walk.h"

/* A call has made [start, start + bytes): counted at the stack of `regs`, as its state says. */
void seep_map_made(unsigned space, enum seep_range_state state, uintptr_t start, uintptr_t bytes,
                   const struct seep_regs *regs);

/* A block of `site` is about to be freed. If the calling thread has just made a shared map of that
 * size to move a tensor to, then the map replaces the block, and counts from now on at the stack
 * that allocated the block. */
void seep_map_inherit(struct seep_thread *thread, uint64_t block_bytes, uint32_t site);

/* Counts mapped memory in [start, end) as gone, and forgets it. */
void seep_map_gone(uintptr_t start, uintptr_t end);

/* [start, end) becomes usable: counts what was only reserved. */
void seep_map_committed(uintptr_t start, uintptr_t end, const struct seep_regs *regs);

/* Whether memory at `address`, which an allocator returns, counts as that allocator's block: not if
 * it is shared. A map that contains it no longer counts. */
bool seep_map_handed_out(uintptr_t address);

/* The pages of [start, end) were given back, of shared maps or of all others. */
void seep_map_released(uintptr_t start, uintptr_t end, bool shared);

/* Maps taken out of the live set before a call, to be counted or put back after it: all of them,
 * because once an address is free another thread may map it. */
struct seep_map_taken {
    struct seep_range few[8];
    struct seep_range *pieces;
    unsigned n;
    size_t bytes; /* of `pieces`, when they are too many; 0: they are in `few` */
};

/* Ends with seep_map_drop(), before it one of the others. */
void seep_map_take(struct seep_map_taken *taken, uintptr_t start, uintptr_t end);
void seep_map_put_back(const struct seep_map_taken *taken);
void seep_map_note_gone(const struct seep_map_taken *taken);
void seep_map_drop(struct seep_map_taken *taken);

/* The pages of [old, old + old_bytes), which were taken, are now at [fresh, fresh + new_bytes);
 * with `keeps`, their addresses are still mapped, to nothing. */
void seep_map_moved(const struct seep_map_taken *taken, uintptr_t old, uintptr_t old_bytes,
                    uintptr_t fresh, uintptr_t new_bytes, bool keeps, const struct seep_regs *regs);

#endif
