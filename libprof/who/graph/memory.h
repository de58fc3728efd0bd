/* The memory of another process, in pages. Either they are kept: what was read once never changes
 * and stays, even when the process is gone, and what is needed of a stopped process is loaded at
 * once (seep_memory_load()). Or they pass by: only those read last are kept, as long as the process
 * stands still (seep_memory_stream()). In both cases another source may supply the rest. All of it
 * is untrusted. Threads: none may share one. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_MEMORY_H
#define SEEP_LIBPROF_WHO_GRAPH_MEMORY_H

#include "libprof/base/hash_index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A page here is what is read and kept at once, whatever the machine's own pages are: those are one
 * or several of it. */
enum {
    SEEP_MEMORY_PAGE = 4096,
    SEEP_MEMORY_CHUNK_BITS = 16,
    SEEP_MEMORY_RECENT = 1 << 13,  /* pages */
    SEEP_MEMORY_PASSING = 1 << 11, /* of them where they pass by, at most: 8 MiB. With 32 it takes a
                                    * tenth less time */
};
#define SEEP_MEMORY_CHUNK (UINT64_C(1) << SEEP_MEMORY_CHUNK_BITS)

/* Copies [address, address + n) to `to`, and returns how many bytes from the start could be read.
 */
typedef size_t seep_memory_source(void *context, uint64_t address, void *to, size_t n);

struct seep_memory_range {
    uint64_t start, end;
};

/* The first of `n` ranges, by address, that ends after `address`; `n`: none does. */
size_t seep_memory_ranges_after(const struct seep_memory_range *ranges, size_t n, uint64_t address);

/* Where to copy bytes to. */
struct seep_memory_piece {
    uint64_t address;
    uint8_t *to;
    size_t n;
};

enum { SEEP_MEMORY_PIECES = 256 };

struct seep_memory_slab;
struct seep_memory_passing;

/* A page that was read or asked for lately. */
struct seep_memory_recent {
    uint64_t number_plus_1; /* address / page; 0: none */
    const uint8_t *bytes;   /* NULL: it cannot be read */
};

struct seep_memory_chunk {
    uint64_t number_plus_1; /* address / chunk; 0: none */
    uint8_t *bytes;         /* NULL: nothing was read */
    uint16_t pages;         /* a bit for each page that could be read, */
    uint16_t asked;         /* and for each that the source was asked for */
};

struct seep_memory {
    seep_memory_source *source;
    void *context;
    uint64_t max_bytes; /* of kept chunks; nothing more is read once they reach it */
    uint64_t bytes;
    bool full;
    bool is_loaded; /* the source supplies what the process has not changed */
    bool dense;     /* nearly all pages of a chunk are kept: it may lie in huge pages */
    struct seep_memory_slab *slabs;   /* what chunks lie in */
    struct seep_memory_chunk *chunks; /* [n] */
    size_t n, capacity;
    struct seep_hash_index by_number;
    uint32_t n_recent;                   /* places of pages below, a power of two */
    struct seep_memory_passing *passing; /* NULL: pages are kept */
    struct seep_memory_recent recent[SEEP_MEMORY_RECENT]; /* by number */
};

void seep_memory_init(struct seep_memory *memory, seep_memory_source *source, void *context,
                      uint64_t max_bytes);
void seep_memory_fini(struct seep_memory *memory);

/* Copies [address, address + n[i]) of each of `n_pieces`, at most SEEP_MEMORY_PIECES, one after the
 * other, and returns how many bytes, counted from the first, could be read before one could not. */
typedef size_t seep_memory_bulk_source(void *context, const struct seep_memory_piece *pieces,
                                       size_t n_pieces);

/* Whether the contents of a page matter. If not, it reads as zeros, and takes no memory. */
typedef bool seep_memory_keeper(void *context, uint64_t address, const uint8_t *page);

struct seep_memory_load {
    seep_memory_bulk_source *source;
    seep_memory_keeper *keeps; /* NULL: all do */
    void *context;             /* for both */
};

/* Reads whole pages of [start, end) of each range, in any order, by large calls. Leaves out pages
 * that cannot be read. If the pages do not fit into max_bytes, it stops and sets `full`. */
void seep_memory_load(struct seep_memory *memory, const struct seep_memory_load *how,
                      const struct seep_memory_range *ranges, size_t n);

/* From here on pages of ranges[n], by address and of whole pages, come from `source` when somebody
 * asks for them, and only the last pages of all memory are kept: a part of what the ranges have,
 * SEEP_MEMORY_PASSING at most. The ranges outlive this. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_memory_stream(struct seep_memory *memory, seep_memory_bulk_source *source,
                                       void *context, const struct seep_memory_range *ranges,
                                       size_t n);

/* The process goes on: forgets all pages that have passed by. What is asked for from here on cannot
 * be read, or is supplied by the other source. */
void seep_memory_stream_end(struct seep_memory *memory);

/* From now on this source supplies what has not been read: what mapped files contain, which the
 * process has not changed. */
void seep_memory_ask(struct seep_memory *memory, seep_memory_source *source, void *context);

/* Copies all of [address, address + n). If that cannot be read: false, and zeros. */
bool seep_memory_read(struct seep_memory *memory, uint64_t address, void *to, size_t n);

/* The whole page that contains `address`, until the next call. NULL: it cannot be read, or the
 * process has not changed it: then it has no addresses of its heap in it. */
const uint8_t *seep_memory_changed_page(struct seep_memory *memory, uint64_t address);

/* Whether all of it can be read. */
bool seep_memory_has_all(struct seep_memory *memory, uint64_t address, size_t n);

/* Copies a text that ends with a zero byte, cut to `capacity`; returns its length, 0 if there is
 * none. Control characters and bytes that are not UTF-8 become '?'. */
size_t seep_memory_text(struct seep_memory *memory, uint64_t address, char *to, size_t capacity);

/* The address of `n` bytes that were read lately, as most were, until the next call. NULL: they
 * must be read first. */
static inline const uint8_t *seep_memory_seen(const struct seep_memory *memory, uint64_t address,
                                              size_t n)
{
    const uint64_t number = address / SEEP_MEMORY_PAGE;
    const size_t at = (size_t)(address % SEEP_MEMORY_PAGE);
    const struct seep_memory_recent *page = &memory->recent[number & (memory->n_recent - 1)];

    return page->number_plus_1 == number + 1 && page->bytes && at <= SEEP_MEMORY_PAGE - n
               ? page->bytes + at
               : NULL;
}

/* Memory that is read soon: the CPU fetches it meanwhile. */
static inline void seep_memory_expect(const struct seep_memory *memory, uint64_t address)
{
    const uint8_t *seen = seep_memory_seen(memory, address, 1);

    if (seen)
        __builtin_prefetch(seen);
}

/* Whether all of [address, address + n) can be read. */
static inline bool seep_memory_has(struct seep_memory *memory, uint64_t address, size_t n)
{
    return (n <= SEEP_MEMORY_PAGE && seep_memory_seen(memory, address, n)) ||
           seep_memory_has_all(memory, address, n);
}

/* False, and 0, if it cannot be read. */
static inline bool seep_memory_read_word(struct seep_memory *memory, uint64_t address, uint64_t *to)
{
    const uint8_t *seen = seep_memory_seen(memory, address, sizeof *to);

    if (!seen)
        return seep_memory_read(memory, address, to, sizeof *to);
    memcpy(to, seen, sizeof *to);
    return true;
}

/* Two words, as an object begins with. False, and zeros, if they cannot be read. */
static inline bool seep_memory_read_pair(struct seep_memory *memory, uint64_t address,
                                         uint64_t to[2])
{
    const uint8_t *seen = seep_memory_seen(memory, address, 2 * sizeof *to);

    if (!seen)
        return seep_memory_read(memory, address, to, 2 * sizeof *to);
    memcpy(to, seen, 2 * sizeof *to);
    return true;
}

/* 0 if it cannot be read. */
static inline uint64_t seep_memory_word(struct seep_memory *memory, uint64_t address)
{
    uint64_t value;

    (void)seep_memory_read_word(memory, address, &value);
    return value;
}

static inline uint32_t seep_memory_u32(struct seep_memory *memory, uint64_t address)
{
    uint32_t value;
    const uint8_t *seen = seep_memory_seen(memory, address, sizeof value);

    if (seen) {
        memcpy(&value, seen, sizeof value);
        return value;
    }
    return seep_memory_read(memory, address, &value, sizeof value) ? value : 0;
}

static inline uint8_t seep_memory_u8(struct seep_memory *memory, uint64_t address)
{
    uint8_t value;
    const uint8_t *seen = seep_memory_seen(memory, address, sizeof value);

    if (seen)
        return *seen;
    return seep_memory_read(memory, address, &value, sizeof value) ? value : 0;
}

#endif
