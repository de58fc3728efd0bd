/* A call from each of 2^bits stacks: programs such as compilers have as many. */
#ifndef SEEP_TESTS_MANY_STACKS_H
#define SEEP_TESTS_MANY_STACKS_H

#include <stdint.h>

/* Calls `leaf` from one of two call sites for each bit of `path`. */
__attribute__((noipa)) static void from_stack(int bits, uint32_t path, void (*leaf)(void))
{
    if (bits == 0) {
        leaf();
    } else if (path & 1) {
        from_stack(bits - 1, path >> 1, leaf);
        __asm__ volatile("# one" ::: "memory"); /* or they become one call */
    } else {
        from_stack(bits - 1, path >> 1, leaf);
        __asm__ volatile("# other" ::: "memory");
    }
}

#endif
