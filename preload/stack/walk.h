/* Native stacks, fast: a cache from return address to the rule that finds the next one.
 *
 * A step is one look-up and one or two loads. libunwind is not asked: it checks addresses by
 * writing them into a pipe, whose descriptors would be among the job's own. It is what the tests
 * compare with. Never reads outside the stack that the thread runs on. Threads: any, each its own
 * seep_walk. */
#ifndef SEEP_PRELOAD_STACK_WALK_H
#define SEEP_PRELOAD_STACK_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/stack/stack_range.h"

/* The caller's registers at a hook: what the function that called the hook sees after the return.
 */
struct seep_regs {
    uintptr_t cfa; /* its stack pointer */
    uintptr_t ra;  /* where the hook returns to */
    uintptr_t rbp;
};

/* Reads them in the function in which it is written, which must keep a frame pointer. */
#define SEEP_REGS()                                                                                \
    ((struct seep_regs){.cfa = (uintptr_t)__builtin_frame_address(0) + 16,                         \
                        .ra = (uintptr_t)__builtin_return_address(0),                              \
                        .rbp = *(uintptr_t *)__builtin_frame_address(0)})

/* Where a walk read the stack: all words that it depends on, from the first frame's stack pointer
 * on, in steps of 8 bytes. The same words at the same places make the same walk, so a stack is
 * known again by reading them all at once, with no step waiting for the one before.
 *
 * Two cache lines, which the processor fetches as one: between two of a job's allocations its own
 * data has passed through the caches, and every line that is touched here must come back.
 *
 * A long stack is several shapes. One that is full ends at a frame's return address, its farthest
 * word, and the next begins there as if a hook had been called by that frame. */
enum {
    SEEP_MAX_SHAPE = 88,
    SEEP_SHAPE_SETS = 2048,
    SEEP_SHAPE_WAYS = 2,
    SEEP_SHAPE_FAR = INT8_MIN, /* three bytes follow, least first: for larger frames */
    SEEP_WALK_GUESSES = 4,
};

struct seep_shape {
    /* The key, with ra and the context: how far below the stack's top the walk starts. Threads that
     * follow one another do the same at the same place, on other stacks. */
    _Alignas(128) uintptr_t depth;
    uintptr_t ra;
    uint64_t places; /* what the hash has of ra and of where the words lie */
    uint32_t context;
    uint32_t reach;  /* the largest distance */
    uint32_t rbp_at; /* distance of the word that is rbp there; UINT32_MAX: the initial one */
    uint8_t n;
    uint8_t first_far;    /* step, n: none */
    uint8_t uses_rbp : 1; /* depends on the initial rbp too */
    uint8_t stop_at_eval : 1;
    uint8_t goes_on : 1; /* to another shape, where rbp_at is for */
    int8_t steps[SEEP_MAX_SHAPE];
};
_Static_assert(sizeof(struct seep_shape) == 128, "two lines");

struct seep_walk {
    struct seep_stacks stacks;
    uint32_t
        context; /* by the caller: of the shapes met at one place, this tells which to expect */
    struct seep_shape made;                                     /* the one being made */
    struct seep_shape shapes[SEEP_SHAPE_SETS][SEEP_SHAPE_WAYS]; /* of each set the latest first */
};

/* A hash that tells this stack from others, from the words of shapes that were met here. Guess 0
 * takes the latest, 1 the one before for the first shape, 2 and 3 the same with the one before for
 * all that follow. False: none was. A stack that hashes as one that seep_walk_native() has walked
 * is that one. */
bool seep_walk_guess(const struct seep_walk *walk, const struct seep_regs *regs, bool stop_at_eval,
                     unsigned guess, uint64_t *hash);

/* Stores return addresses, innermost first; returns how many. With `stop_at_eval` the walk ends
 * before the first frame of the Python evaluation loop. `*hash` is what seep_walk_guess() will give
 * for the same stack. */
unsigned seep_walk_native(struct seep_walk *walk, const struct seep_regs *regs, bool stop_at_eval,
                          uintptr_t *addresses, unsigned capacity, uint64_t *hash);

/* Weights of a multilinear hash, all odd: independent of each other, so that words need not wait.
 */
enum { SEEP_HASH_KEYS = 1024 };
extern uint64_t seep_hash_keys[SEEP_HASH_KEYS];
void seep_walk_start(void);

static inline uint64_t seep_hash_finish(uint64_t sum)
{
    sum ^= sum >> 32;
    sum *= UINT64_C(0xd6e8feb86659fd93);
    return sum ^ sum >> 32;
}

/* Forgets all rules: code has been unloaded. */
void seep_walk_forget(void);

#endif
