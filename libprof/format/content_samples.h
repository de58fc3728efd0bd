/* Which words of a large block are looked at to tell whether it holds addresses. The copy of a
 * process and the reader of that copy must look at the same ones: what one takes for a picture the
 * other must not search.
 *
 * Half of them lie in the block's head: a table that is filled from its start may have its entries
 * nowhere else. They are not evenly spaced: in a table of pairs of a number and an address, steps
 * of a multiple of 16 bytes would lead from number to number. */
#ifndef SEEP_LIBPROF_FORMAT_CONTENT_SAMPLES_H
#define SEEP_LIBPROF_FORMAT_CONTENT_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

enum {
    SEEP_CONTENT_LARGE = 1 << 20, /* bytes; all words of a smaller block are looked at */
    SEEP_CONTENT_HEAD = 16 << 10, /* bytes of a large block that are kept in any case */
    SEEP_CONTENT_SAMPLES = 256,
    SEEP_CONTENT_FEW_PAGES = 128, /* of the machine: samples miss the entries of a table that is
                                   * nearly empty, but then few of its pages were ever used */
};

/* The address of sample `i` of a block of at least SEEP_CONTENT_LARGE bytes; a multiple of 8, on
 * the block's pages. */
static inline uint64_t seep_content_sample(uint64_t start, uint64_t bytes, size_t i)
{
    enum { HALF = SEEP_CONTENT_SAMPLES / 2, WORD = 8 };
    const uint64_t part = (i < HALF ? SEEP_CONTENT_HEAD : bytes) / HALF;
    const uint64_t stray = (i + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 40;
    const uint64_t at = part * (i % HALF) + stray % (part / WORD) * WORD;

    return (start & ~(uint64_t)(WORD - 1)) + at;
}

#endif
