#include "libprof/who/graph/memory.h"

#include "libprof/base/hash_index.h"
#include "libprof/base/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    CHUNK = 1 << SEEP_MEMORY_CHUNK_BITS,
    PAGES = CHUNK / SEEP_MEMORY_PAGE,
    HUGE_PAGE = 2 << 20,
    SLAB = 2 * HUGE_PAGE, /* the most that one call asks the kernel for */
};

/* Chunks lie in mappings of their own: parts that are never written take no memory, but for the
 * rest of a huge page. A process is read while it stands still, and filling small pages takes half
 * as long again. */
struct seep_memory_slab {
    struct seep_memory_slab *next;
    uint8_t *bytes;
    size_t used;
};

void seep_memory_init(struct seep_memory *memory, seep_memory_source *source, void *context,
                      uint64_t max_bytes)
{
    *memory = (struct seep_memory){.source = source, .context = context, .max_bytes = max_bytes};
}

void seep_memory_fini(struct seep_memory *memory)
{
    while (memory->slabs) {
        struct seep_memory_slab *slab = memory->slabs;
        memory->slabs = slab->next;
        munmap(slab->bytes, SLAB);
        free(slab);
    }
    free(memory->chunks);
    memory->chunks = NULL;
    seep_hash_fini(&memory->by_number);
}

/* Begins at a huge page, if the kernel has them. */
static uint8_t *map_slab(void)
{
    const size_t all = SLAB + HUGE_PAGE;
    uint8_t *bytes = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (bytes == MAP_FAILED)
        return NULL;
    const size_t before = -(uintptr_t)bytes % HUGE_PAGE, after = all - SLAB - before;
    if (before)
        munmap(bytes, before);
    if (after)
        munmap(bytes + before + SLAB, after);
    (void)madvise(bytes + before, SLAB, MADV_HUGEPAGE);
    return bytes + before;
}

static uint8_t *chunk_bytes(struct seep_memory *memory)
{
    struct seep_memory_slab *slab = memory->slabs;

    if (!slab || slab->used == SLAB) {
        uint8_t *bytes = map_slab();
        slab = bytes ? malloc(sizeof *slab) : NULL;
        if (!slab) {
            if (bytes)
                munmap(bytes, SLAB);
            return NULL;
        }
        *slab = (struct seep_memory_slab){.next = memory->slabs, .bytes = bytes};
        memory->slabs = slab;
    }
    slab->used += CHUNK;
    return slab->bytes + slab->used - CHUNK;
}

static bool has_room(struct seep_memory *memory, struct seep_memory_chunk *chunk)
{
    if (chunk->bytes)
        return true;
    if (memory->bytes + CHUNK <= memory->max_bytes)
        chunk->bytes = chunk_bytes(memory);
    if (!chunk->bytes)
        memory->full = true;
    else
        memory->bytes += CHUNK;
    return chunk->bytes != NULL;
}

/* Only for the chunk that got room last. */
static void give_back(struct seep_memory *memory, struct seep_memory_chunk *chunk)
{
    memory->slabs->used -= CHUNK;
    memory->bytes -= CHUNK;
    chunk->bytes = NULL;
}

/* Valid until the next call. */
static struct seep_memory_chunk *chunk_of(struct seep_memory *memory, uint64_t number)
{
    const uint64_t hash = seep_hash_two(number, 0);
    uint32_t at = seep_hash_begin(&memory->by_number, hash), id;

    while ((id = seep_hash_next(&memory->by_number, hash, &at)) != SEEP_HASH_NONE)
        if (memory->chunks[id].number_plus_1 == number + 1)
            return &memory->chunks[id];
    if (memory->n >= SEEP_HASH_NONE ||
        seep_grow(&memory->chunks, &memory->capacity, memory->n + 1, sizeof *memory->chunks) ||
        seep_hash_add(&memory->by_number, hash, (uint32_t)memory->n)) {
        memory->full = true;
        return NULL;
    }
    memory->chunks[memory->n] = (struct seep_memory_chunk){.number_plus_1 = number + 1};
    return &memory->chunks[memory->n++];
}

/* Reads all pages at once if possible, else one by one: a chunk may reach beyond a mapping, and
 * some of it may have been loaded. */
static void fetch(struct seep_memory *memory, struct seep_memory_chunk *chunk)
{
    const uint64_t start = (chunk->number_plus_1 - 1) << SEEP_MEMORY_CHUNK_BITS;

    const bool had_room = chunk->bytes; /* loaded before, even if nothing in it could be read */

    if (!memory->source || !has_room(memory, chunk))
        return;
    if (!chunk->pages) {
        size_t n = memory->source(memory->context, start, chunk->bytes, CHUNK) / SEEP_MEMORY_PAGE;
        chunk->pages = (uint16_t)((UINT32_C(1) << n) - 1);
    }
    for (size_t page = 0; page < PAGES; page++)
        if (!(chunk->pages >> page & 1) &&
            memory->source(memory->context, start + page * SEEP_MEMORY_PAGE,
                           chunk->bytes + page * SEEP_MEMORY_PAGE,
                           SEEP_MEMORY_PAGE) == SEEP_MEMORY_PAGE)
            chunk->pages |= (uint16_t)(1u << page);
    chunk->asked = UINT16_MAX;
    if (!chunk->pages && !had_room)
        give_back(memory, chunk);
}

static const struct seep_memory_chunk *asked_chunk(struct seep_memory *memory, uint64_t address)
{
    const uint64_t number = address >> SEEP_MEMORY_CHUNK_BITS;
    const size_t page = (size_t)(address % CHUNK) / SEEP_MEMORY_PAGE;
    struct seep_memory_chunk *recent = &memory->recent[number % SEEP_MEMORY_RECENT];

    if (recent->number_plus_1 == number + 1 && (recent->pages | recent->asked) >> page & 1)
        return recent;
    struct seep_memory_chunk *chunk = chunk_of(memory, number);
    if (!chunk)
        return NULL;
    if (!((chunk->pages | chunk->asked) >> page & 1))
        fetch(memory, chunk);
    *recent = *chunk;
    return recent;
}

/* ---- many at once ---------------------------------------------------------------------------- */

/* Pieces that one call of the source reads. Table entries move as the table grows, so chunks are
 * found again by address. */
struct load {
    struct seep_memory *memory;
    seep_memory_bulk_source *source;
    void *context;
    struct seep_memory_piece pieces[SEEP_MEMORY_PIECES];
    size_t n;
};

static void note_read(struct load *load, const struct seep_memory_piece *piece, size_t bytes)
{
    struct seep_memory_chunk *chunk =
        chunk_of(load->memory, piece->address >> SEEP_MEMORY_CHUNK_BITS);
    const size_t first = (size_t)(piece->address % CHUNK) / SEEP_MEMORY_PAGE;
    const size_t n = bytes / SEEP_MEMORY_PAGE;

    if (chunk && n)
        chunk->pages |= (uint16_t)(((UINT32_C(1) << n) - 1) << first);
}

/* Reads the rest of a piece page by page, from the first page that could not be read. */
static void read_rest(struct load *load, const struct seep_memory_piece *piece, size_t bytes)
{
    for (size_t at = bytes / SEEP_MEMORY_PAGE * SEEP_MEMORY_PAGE + SEEP_MEMORY_PAGE; at < piece->n;
         at += SEEP_MEMORY_PAGE) {
        const struct seep_memory_piece page = {piece->address + at, piece->to + at,
                                               SEEP_MEMORY_PAGE};
        note_read(load, &page, load->source(load->context, &page, 1));
    }
}

static void read_pieces(struct load *load)
{
    for (size_t done = 0; done < load->n;) {
        size_t bytes = load->source(load->context, load->pieces + done, load->n - done);
        for (; done < load->n && bytes >= load->pieces[done].n; done++) {
            bytes -= load->pieces[done].n;
            note_read(load, &load->pieces[done], load->pieces[done].n);
        }
        if (done == load->n)
            break;
        note_read(load, &load->pieces[done], bytes);
        read_rest(load, &load->pieces[done], bytes);
        done++;
    }
    load->n = 0;
}

void seep_memory_load(struct seep_memory *memory, seep_memory_bulk_source *source, void *context,
                      const struct seep_memory_range *ranges, size_t n)
{
    struct load load = {.memory = memory, .source = source, .context = context};

    for (size_t i = 0; i < n && !memory->full; i++) {
        uint64_t at = ranges[i].start & ~(uint64_t)(SEEP_MEMORY_PAGE - 1);
        while (at < ranges[i].end) {
            struct seep_memory_chunk *chunk = chunk_of(memory, at >> SEEP_MEMORY_CHUNK_BITS);
            uint64_t stop = (at / CHUNK + 1) * CHUNK;
            if (!chunk || !has_room(memory, chunk))
                break;
            if (stop > ranges[i].end)
                stop = (ranges[i].end + SEEP_MEMORY_PAGE - 1) & ~(uint64_t)(SEEP_MEMORY_PAGE - 1);
            load.pieces[load.n++] =
                (struct seep_memory_piece){at, chunk->bytes + at % CHUNK, (size_t)(stop - at)};
            if (load.n == SEEP_MEMORY_PIECES)
                read_pieces(&load);
            at = stop;
        }
    }
    read_pieces(&load);
    memset(memory->recent, 0, sizeof memory->recent);
}

void seep_memory_ask(struct seep_memory *memory, seep_memory_source *source, void *context)
{
    memory->source = source;
    memory->context = context;
    for (size_t i = 0; i < memory->n; i++)
        memory->chunks[i].asked = 0;
    memset(memory->recent, 0, sizeof memory->recent);
}

/* The bytes from `address` to the end of its page; NULL if it cannot be read. */
static const uint8_t *bytes_at(struct seep_memory *memory, uint64_t address)
{
    if (address < SEEP_MEMORY_PAGE || address >> 47)
        return NULL;
    const struct seep_memory_chunk *chunk = asked_chunk(memory, address);
    size_t at = (size_t)(address & (CHUNK - 1));
    return chunk && chunk->pages >> at / SEEP_MEMORY_PAGE & 1 ? chunk->bytes + at : NULL;
}

bool seep_memory_read(struct seep_memory *memory, uint64_t address, void *to, size_t n)
{
    for (size_t done = 0; done < n;) {
        const uint8_t *bytes = bytes_at(memory, address + done);
        if (!bytes) {
            memset(to, 0, n);
            return false;
        }
        size_t room = SEEP_MEMORY_PAGE - (size_t)((address + done) % SEEP_MEMORY_PAGE);
        size_t piece = n - done < room ? n - done : room;
        memcpy((char *)to + done, bytes, piece);
        done += piece;
    }
    return true;
}

bool seep_memory_has(struct seep_memory *memory, uint64_t address, size_t n)
{
    if (n > UINT64_C(1) << 46)
        return false;
    for (uint64_t at = address, end = address + n; at < end;
         at = (at / SEEP_MEMORY_PAGE + 1) * SEEP_MEMORY_PAGE)
        if (!bytes_at(memory, at))
            return false;
    return true;
}

size_t seep_memory_text(struct seep_memory *memory, uint64_t address, char *to, size_t capacity)
{
    size_t n = 0;
    const uint8_t *bytes;

    while (n + 1 < capacity && (bytes = bytes_at(memory, address + n)) && *bytes)
        to[n++] = (char)*bytes;
    return seep_text_clean_in_place(to, n);
}
