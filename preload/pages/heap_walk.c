#include "preload/pages/heap_walk.h"

#include "libprof/runtime/store/live_walk.h"
#include "libprof/runtime/store/os.h"

enum {
    PIECE = 1 << 20, /* at least … */
    PIECES = 4096,   /* … and about so many at most */
    WORD = 8,
    HEADER = 16, /* from the start of a chunk to its block */
    MIN_CHUNK = 32,
    FASTBIN = 128, /* freed chunks up to this size look as if they were in use */
    SLACK = 64,    /* the most that libc adds to a block, beside the header */
    IN_USE_BEFORE = 1,
    FLAGS = 7,
    READS = 256, /* in a look, of 1 to 2 us each, shared by all pieces … */
    FEWEST = 3,  /* … but not fewer for a piece */
    READ_BYTES = 1024,
};

/* What a look may cost, in pages that are searched for recorded blocks, of some 10 ns each. */
enum {
    MAX_STEPS = 8 << 20,
    READ_STEPS = 128,
    PAGE_OF_BLOCKS_STEPS = 1024, /* when the last blocks are searched one by one */
    STEP = 1 << SEEP_PAGE_BITS,
};

struct chunk {
    uintptr_t start, end;      /* end: 0 for none */
    bool recorded, unrecorded; /* neither: free, or unknown */
};

/* From the last walk: where the next one may continue. */
static struct chunk last;
static uintptr_t range_start, range_end; /* the consecutive ranges seen so far */
static uint32_t reads_each, n_reads;
static uint64_t piece, steps;

/* The last recorded block of these ranges before `end`, 0 for none. Searched once. */
static struct {
    uintptr_t end, block;
    uint64_t bytes;
} recorded;

static struct {
    uintptr_t start;
    size_t bytes;
    uint64_t words[READ_BYTES / WORD];
} seen;

void seep_heap_walk_begin(uint64_t resident_bytes)
{
    piece = PIECE * (resident_bytes / PIECE / PIECES + 1);
    const uint64_t each = READS / (resident_bytes / PIECE + 1);
    reads_each = each < FEWEST ? FEWEST : (uint32_t)each;
    last = (struct chunk){0};
    seen.bytes = 0;
    range_end = 0;
    steps = 0;
}

uint64_t seep_heap_walk_steps(void)
{
    return steps;
}

/* The word of a chunk: its size and flags. 0: it cannot be read. */
static uint64_t word_of(uintptr_t chunk)
{
    const uintptr_t at = chunk + WORD;
    if (at < seen.start || at + WORD > seen.start + seen.bytes) {
        const size_t to_end = READ_BYTES - (at & (READ_BYTES - 1));
        n_reads++;
        steps += READ_STEPS;
        seen.start = at;
        seen.bytes = seep_os_read_memory(at, seen.words, to_end);
        if (seen.bytes < WORD)
            return 0;
    }
    return seen.words[(at - seen.start) / WORD];
}

static bool is_size(uint64_t size)
{
    return size >= MIN_CHUNK && size % 16 == 0 && size >> 40 == 0;
}

/* The chunk that begins at `start`, if there can be one and another chunk follows it. */
static bool chunk_at(uintptr_t start, struct chunk *chunk)
{
    const uint64_t size = word_of(start) & ~(uint64_t)FLAGS;
    if (!is_size(size))
        return false;
    const uint64_t next = word_of(start + size);
    if (!is_size(next & ~(uint64_t)FLAGS))
        return false;
    chunk->start = start;
    chunk->end = start + size;
    chunk->unrecorded = (next & IN_USE_BEFORE) && size > FASTBIN && !seep_live_has(start + HEADER);
    return true;
}

static bool first_recorded(uintptr_t start, uintptr_t end, uintptr_t *block, uint64_t *bytes)
{
    const bool found = seep_live_next(start, end, block, bytes);
    steps += ((found ? *block : end) - start) / STEP + 1;
    return found;
}

/* The last recorded block at or after `lowest`, given that none is in [start, end). */
static bool last_recorded(uintptr_t lowest, uintptr_t start, uintptr_t end, uintptr_t *block,
                          uint64_t *bytes)
{
    if (recorded.end < start) {
        if (seep_live_previous(recorded.end, start, block, bytes)) {
            recorded.block = *block;
            recorded.bytes = *bytes;
            steps += PAGE_OF_BLOCKS_STEPS;
        }
        steps += (start - recorded.end) / STEP + 1;
    }
    recorded.end = end;
    *block = recorded.block;
    *bytes = recorded.bytes;
    return recorded.block && recorded.block >= lowest && seep_live_has(recorded.block);
}

/* Where a chunk begins: before the first recorded block in [start, end), or else before the last
 * one ahead of it, if its size fits. 0: unknown. */
static uintptr_t known_chunk(uintptr_t start, uintptr_t end)
{
    uintptr_t block;
    uint64_t bytes;
    if (!first_recorded(start, end, &block, &bytes) &&
        !last_recorded(last.end ? last.end : range_start, start, end, &block, &bytes))
        return 0;
    const uint64_t size = word_of(block - HEADER) & ~(uint64_t)FLAGS;
    return size >= bytes + WORD && size <= bytes + WORD + SLACK ? block - HEADER : 0;
}

/* Bytes of chunks, and of those that are in use and not recorded. */
struct tally {
    uint64_t all, unrecorded;
};

static struct tally nearest; /* of the last piece of these ranges in which chunks were seen */

static uint64_t share_of(uint64_t bytes, const struct tally *tally)
{
    return tally->all ? (uint64_t)((double)bytes * (double)tally->unrecorded / (double)tally->all)
                      : 0;
}

static void add(struct tally *tally, const struct chunk *chunk, uintptr_t end)
{
    const uint64_t bytes = (chunk->end < end ? chunk->end : end) - chunk->start;
    tally->all += bytes;
    tally->unrecorded += chunk->unrecorded ? bytes : 0;
}

/* If the walk breaks off, counts only up to the last recorded block: of the stretch after that it
 * saw only a part. Counts everything if it met no second recorded block. */
static struct tally walk_from(uintptr_t at, uintptr_t end)
{
    struct tally whole = {0, 0}, now = {0, 0};
    n_reads = 0;
    while (at && at < end && n_reads < reads_each && chunk_at(at, &last)) {
        if (last.recorded && now.all)
            whole = now;
        add(&now, &last, end);
        at = last.end;
    }
    if (!now.all)
        last = (struct chunk){0};
    return at < end && whole.all ? whole : now;
}

static uint64_t walk_piece(uintptr_t start, uintptr_t end)
{
    if (steps >= MAX_STEPS)
        return end - start; /* not read: it may be in use */
    if (last.end >= end)
        return last.start <= start && last.unrecorded ? end - start : 0;
    const uint64_t begun = last.end > start ? last.end - start : 0; /* by the chunk before */
    uint64_t unrecorded = last.unrecorded ? begun : 0;
    uintptr_t at = begun ? last.end : known_chunk(start, end);
    if (!at)
        at = last.end; /* nothing is recorded from there on */
    /* Nothing is recorded ahead of the first recorded block: it is like what was seen last. */
    const uint64_t ahead = at > start + begun && at < end ? at - start - begun : 0;
    const struct tally tally = walk_from(at, end);
    unrecorded += share_of(ahead, &nearest) + share_of(end - start - begun - ahead, &tally);
    nearest = tally.all ? tally : nearest;
    return unrecorded;
}

uint64_t seep_heap_walk(uintptr_t start, uintptr_t end)
{
    uint64_t unrecorded = 0;
    if (start != range_end) {
        last = (struct chunk){0};
        nearest = (struct tally){0};
        range_start = recorded.end = start;
        recorded.block = 0;
    }
    range_end = end;
    for (uintptr_t at = start; at < end; at += piece)
        unrecorded += walk_piece(at, end - at < piece ? end : at + piece);
    return unrecorded;
}
