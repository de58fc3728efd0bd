/* How a process keeps its live set in its own memory (libprof/runtime/store/live_blocks.h says why
 * so), and where it does: for code that reads the process's memory from outside, which treats all
 * of it as untrusted. Addresses are the process's. */
#ifndef SEEP_LIBPROF_FORMAT_LIVE_FORMAT_H
#define SEEP_LIBPROF_FORMAT_LIVE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "libprof/format/address_bits.h"

/* A page of the live set is 4 KiB of addresses, whatever the machine's page is. */
enum {
    SEEP_PAGE_BITS = 12,
    SEEP_REGION_BITS = 26, /* 64 MiB: 16,384 pages, 256 KiB */
    SEEP_ROOT_BITS = 36,   /* 64 GiB: 1,024 regions */
    SEEP_REGION_PAGES = 1 << (SEEP_REGION_BITS - SEEP_PAGE_BITS),
    SEEP_ROOT_REGIONS = 1 << (SEEP_ROOT_BITS - SEEP_REGION_BITS),
    SEEP_N_ROOTS = 1 << (SEEP_ADDRESS_BITS - SEEP_ROOT_BITS),
    SEEP_PAGE_GRANULES = 1 << (SEEP_PAGE_BITS - 4),
    SEEP_PAGE_WORDS = 2,
    SEEP_LINE_WORDS = 8, /* a line of the processor's caches */
    SEEP_TABLE_LINES = 31,
    SEEP_TABLE_DEPTH = 12, /* tables from a page to one of its words, at most */
};

struct seep_block {
    uint32_t site;  /* site index: file offset / 64; 0: none */
    uint32_t birth; /* period */
    uint64_t bytes;
};

/* Of a page: its words, the last of which may lead to a table of further ones. */
struct seep_live_page {
    uint64_t words[SEEP_PAGE_WORDS];
};

/* What a word is, by its bits from the highest on:
 *
 *   a block        1   granule 8   0   site 24   birth 18   bytes 12
 *   a large block  1   granule 8   1   site 24   birth, the lower 30 bits
 *   the rest of it 0   granule 8   1   1   0   birth, the upper 2 bits   bytes 48
 *   a link         0   0       8   0   lines 5   log2(words of a line) − 1: 2   address / 2: 47
 *   nothing        0, or 1 where a block was
 *
 * The granule is where in its page the block begins, in 16 bytes. A large block is one whose birth
 * or size has no room in one word; its two words are each in any place of the page's. */
enum {
    SEEP_WORD_GRANULE_SHIFT = 55,
    SEEP_WORD_KIND_SHIFT = 54, /* below it is what the word says */
    SEEP_WORD_SITE_SHIFT = 30,
    SEEP_WORD_BIRTH_BITS = 18,
    SEEP_WORD_BYTES_BITS = 12,
    SEEP_WORD_LOWER_BIRTH_BITS = 30,
    SEEP_WORD_LARGE_BYTES_BITS = 48,
    SEEP_LINK_WIDTH_SHIFT = 47,
    SEEP_LINK_LINES_SHIFT = 49,
};

#define SEEP_WORD_EMPTIED  UINT64_C(1)
#define SEEP_WORD_IS_BLOCK (UINT64_C(1) << 63)
#define SEEP_WORD_IS_LARGE (UINT64_C(1) << SEEP_WORD_KIND_SHIFT)
#define SEEP_WORD_IS_REST  (UINT64_C(1) << 53)

static inline uint64_t seep_word_bits(uint64_t word, unsigned shift, unsigned n)
{
    return word >> shift & ((UINT64_C(1) << n) - 1);
}

static inline bool seep_word_is_empty(uint64_t word)
{
    return word <= SEEP_WORD_EMPTIED;
}

static inline bool seep_word_is_link(uint64_t word)
{
    return !((word - SEEP_WORD_EMPTIED - 1) >> SEEP_WORD_KIND_SHIFT);
}

/* To a table of whole lines. */
static inline bool seep_word_is_wide_link(uint64_t word)
{
    const uint64_t wide = UINT64_C(1) << (SEEP_LINK_WIDTH_SHIFT + 1);
    return (word & (~(SEEP_WORD_IS_LARGE - 1) | wide)) == wide;
}

static inline uint32_t seep_word_granule(uint64_t word)
{
    return (uint32_t)seep_word_bits(word, SEEP_WORD_GRANULE_SHIFT, 8);
}

static inline uint64_t seep_link_to(uint64_t word)
{
    return seep_word_bits(word, 0, SEEP_LINK_WIDTH_SHIFT) * 2;
}

/* How many words a line of the table has: 8, or 2 or 4 if it is the only one. */
static inline unsigned seep_link_width(uint64_t word)
{
    return 2u << seep_word_bits(word, SEEP_LINK_WIDTH_SHIFT, 2);
}

static inline unsigned seep_link_lines(uint64_t word)
{
    return (unsigned)(word >> SEEP_LINK_LINES_SHIFT);
}

/* The block whose word this is; if it is large, `rest` is its second one. */
static inline struct seep_block seep_word_block(uint64_t word, uint64_t rest)
{
    const bool large = (word & SEEP_WORD_IS_LARGE) != 0;
    const uint64_t late = seep_word_bits(rest, SEEP_WORD_LARGE_BYTES_BITS, 2)
                          << SEEP_WORD_LOWER_BIRTH_BITS;
    return (struct seep_block){
        .site = (uint32_t)seep_word_bits(word, SEEP_WORD_SITE_SHIFT, 24),
        .birth =
            (uint32_t)(large ? late | seep_word_bits(word, 0, SEEP_WORD_LOWER_BIRTH_BITS)
                             : seep_word_bits(word, SEEP_WORD_BYTES_BITS, SEEP_WORD_BIRTH_BITS)),
        .bytes = large ? seep_word_bits(rest, 0, SEEP_WORD_LARGE_BYTES_BITS)
                       : seep_word_bits(word, 0, SEEP_WORD_BYTES_BITS),
    };
}

/* The highest bits, from SEEP_WORD_KIND_SHIFT on, of a large block's second word. */
static inline uint64_t seep_word_kind_of_rest(uint32_t granule)
{
    return (uint64_t)granule << 1 | 1;
}

#define SEEP_LIVE_MAGIC UINT64_C(0x6576696c70656573) /* "seeplive" */
enum { SEEP_LIVE_VERSION = 3 };

/* In the process, at `live` of its profile's header. */
struct seep_live_place {
    uint64_t magic;
    uint32_t version;
    uint32_t reserved;
    uint64_t roots; /* struct seep_live_page **[SEEP_N_ROOTS] */
    uint64_t own;   /* struct seep_own_range[]: seep's own memory; 0 or 1 as start: not in use */
    uint64_t n_own; /* uint32_t: entries beyond were never in use */
    uint64_t data, data_end; /* the library's variables */
};

#endif
