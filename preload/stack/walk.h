/* Native stacks, fast: a cache from return address to the rule that finds the next one.
 *
 * A step is one look-up and one or two loads. libunwind is not used, except for comparison in the
 * tests: it checks addresses by writing them into a pipe, whose descriptors would be among the
 * job's own. Never reads outside the stack that the thread runs on. Threads: any, each with its own
 * seep_walk. */
#ifndef SEEP_PRELOAD_STACK_WALK_H
#define SEEP_PRELOAD_STACK_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "libprof/arch/arch.h"
#include "preload/stack/stack_range.h"

/* The caller's registers at a hook: what the function that called the hook sees after the return.
 */
struct seep_regs {
    uintptr_t cfa; /* its stack pointer */
    uintptr_t ra;  /* where the hook returns to */
    uintptr_t fp;  /* its frame pointer */
};

/* Reads the registers in the function that uses this macro, which must keep a frame pointer. */
#define SEEP_REGS()                                                                                \
    ((struct seep_regs){.cfa = SEEP_ARCH_CALLER_STACK(),                                           \
                        .ra = seep_arch_code_address((uintptr_t)__builtin_return_address(0)),      \
                        .fp = *(uintptr_t *)__builtin_frame_address(0)})

/* Where a walk read the stack: the positions of all words that it depends on, from the first
 * frame's stack pointer, in steps of 8 bytes. The same words at the same places make the same walk,
 * so a stack is recognised by reading them all at once, with no step waiting for another.
 *
 * A shape takes two cache lines, which the processor fetches as one: between two allocations the
 * job's own data has passed through the caches, and every line touched here must be loaded again.
 *
 * A long stack has several shapes. A full one ends where a frame ends, and the next begins there as
 * if that frame's caller had called a hook. */
enum {
    SEEP_MAX_SHAPE = 88,
    SEEP_MIN_SHAPE_SETS = 2048,
    SEEP_MAX_SHAPE_SETS = 32 * 1024, /* 8 MiB */
    SEEP_SHAPE_WAYS = 2,
    SEEP_SHAPE_FAR = INT8_MIN, /* three bytes follow, least first: for larger frames */
    SEEP_WALK_GUESSES = 4,
};

struct seep_shape {
    /* The key, with ra and the context: how far below the stack's top the walk starts. Successive
     * threads do the same at the same depth, on other stacks. */
    _Alignas(128) uintptr_t depth;
    uintptr_t ra;
    uint64_t places; /* the hash's part from ra and the positions of the words */
    uint32_t context;
    uint32_t reach; /* the largest distance */
    uint32_t fp_at; /* distance of the word that the frame pointer was loaded from; UINT32_MAX:
                     * still the initial one */
    uint8_t n;
    uint8_t first_far;   /* first far step; n: none */
    uint8_t uses_fp : 1; /* also depends on the initial frame pointer */
    uint8_t stop_at_eval : 1;
    uint8_t goes_on : 1; /* to another shape, for which fp_at and ra_below are */
    int8_t steps[SEEP_MAX_SHAPE];
    uint8_t ra_below; /* where it goes on: by how many words its return address is below reach */
};
_Static_assert(sizeof(struct seep_shape) == 128, "two lines");

struct seep_walk {
    struct seep_stacks stacks;
    uint32_t
        context; /* by the caller: selects, among the shapes seen at one place, the one to expect */
    uint32_t shape_mask;                          /* sets − 1 */
    struct seep_shape (*shapes)[SEEP_SHAPE_WAYS]; /* latest first in each set */
};

/* Gets the table of shapes of a walk that is all zero. False: no memory. */
bool seep_walk_init(struct seep_walk *walk);

/* Doubles that table, unless it is as large as it may be or there is no memory. */
void seep_walk_grow(struct seep_walk *walk);

/* A hash that identifies this stack, from the words of shapes that were seen here. Guess 0 takes
 * the latest; 1 the one before for the first shape; 2 and 3 the same, with the one before for all
 * following shapes. False: no such shape. A stack that hashes like one that seep_walk_native() has
 * walked is that stack. */
bool seep_walk_guess(const struct seep_walk *walk, const struct seep_regs *regs, bool stop_at_eval,
                     unsigned guess, uint64_t *hash);

/* Stores return addresses, innermost first; returns how many. With `stop_at_eval` the walk ends
 * before the first frame of the Python evaluation loop. `*hash` is what seep_walk_guess() will give
 * for the same stack. */
unsigned seep_walk_native(struct seep_walk *walk, const struct seep_regs *regs, bool stop_at_eval,
                          uintptr_t *addresses, unsigned capacity, uint64_t *hash);

/* Weights of a multilinear hash, all odd and independent, so words need not wait for each other. */
enum { SEEP_HASH_KEYS = 1024 };
extern uint64_t seep_hash_keys[SEEP_HASH_KEYS];
void seep_walk_start(void);

/* Set before the start where the program is no helper: its tables get their memory at once. Even a
 * Python that does nothing uses all their pages. */
extern bool seep_walk_many;

static inline uint64_t seep_hash_finish(uint64_t sum)
{
    sum ^= sum >> 32;
    sum *= UINT64_C(0xd6e8feb86659fd93);
    return sum ^ sum >> 32;
}

/* Forgets all rules: code has been unloaded. */
void seep_walk_forget(void);

#endif
