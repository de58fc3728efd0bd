#include "libprof/who/graph/memory.h"

#include "libprof/arch/arch.h"
#include "libprof/base/hash_index.h"
#include "libprof/base/text.h"
#include "libprof/format/address_bits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    CHUNK = 1 << SEEP_MEMORY_CHUNK_BITS,
    SLAB = 4 << 20,
    AT_ONCE = 1 << 20, /* bytes that one call reads; they stay in the CPU's cache */
};

/* Chunks lie in mappings of their own: parts that are never written read as zeros and, without huge
 * pages, take no memory. A process that is read while it stands still waits less with them. */
struct seep_memory_slab {
    struct seep_memory_slab *next;
    uint8_t *bytes;
    size_t used;
};

void seep_memory_init(struct seep_memory *memory, seep_memory_source *source, void *context,
                      uint64_t max_bytes)
{
    *memory = (struct seep_memory){.source = source,
                                   .context = context,
                                   .max_bytes = max_bytes,
                                   .n_recent = SEEP_MEMORY_RECENT};
}

/* Where pages pass by: each has one place, by its number. */
struct seep_memory_passing {
    seep_memory_bulk_source *source;
    void *context;
    const struct seep_memory_range *ranges;
    size_t n_ranges, last; /* the range that was asked for last */
    uint64_t next;         /* the number of the page behind those that were read last */
    uint8_t *bytes;        /* of the pages of memory->recent */
};

/* Pages that are read at once: a call takes as long as three of them; those behind the last one. */
enum { TOGETHER = 4, AHEAD = 16, MIN_PASSING = 1 << 9, PASSING_SHARE = 4 };

void seep_memory_fini(struct seep_memory *memory)
{
    seep_memory_stream_end(memory);
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

static uint8_t *map_slab(const struct seep_memory *memory)
{
    uint8_t *bytes = mmap(NULL, SLAB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (bytes == MAP_FAILED)
        return NULL;
    (void)madvise(bytes, SLAB, memory->dense ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return bytes;
}

static uint8_t *chunk_bytes(struct seep_memory *memory)
{
    struct seep_memory_slab *slab = memory->slabs;

    if (!slab || slab->used == SLAB) {
        uint8_t *bytes = map_slab(memory);
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

/* Both are valid until the next call of the second. */
static struct seep_memory_chunk *known_chunk(struct seep_memory *memory, uint64_t number)
{
    const uint64_t hash = seep_hash_two(number, 0);
    uint32_t at = seep_hash_begin(&memory->by_number, hash), id;

    while ((id = seep_hash_next(&memory->by_number, hash, &at)) != SEEP_HASH_NONE)
        if (memory->chunks[id].number_plus_1 == number + 1)
            return &memory->chunks[id];
    return NULL;
}

static struct seep_memory_chunk *chunk_of(struct seep_memory *memory, uint64_t number)
{
    const uint64_t hash = seep_hash_two(number, 0);
    struct seep_memory_chunk *known = known_chunk(memory, number);

    if (known)
        return known;
    if (memory->n >= SEEP_HASH_NONE ||
        seep_grow(&memory->chunks, &memory->capacity, memory->n + 1, sizeof *memory->chunks) ||
        seep_hash_add(&memory->by_number, hash, (uint32_t)memory->n)) {
        memory->full = true;
        return NULL;
    }
    memory->chunks[memory->n] = (struct seep_memory_chunk){.number_plus_1 = number + 1};
    return &memory->chunks[memory->n++];
}

/* One page at a time: of most files little is needed. */
static void fetch(struct seep_memory *memory, struct seep_memory_chunk *chunk, size_t page)
{
    const uint64_t start = (chunk->number_plus_1 - 1) << SEEP_MEMORY_CHUNK_BITS;
    const size_t at = page * SEEP_MEMORY_PAGE;
    const bool had_room = chunk->bytes; /* loaded before, even if nothing in it could be read */

    if (!memory->source || !has_room(memory, chunk))
        return;
    if (memory->source(memory->context, start + at, chunk->bytes + at, SEEP_MEMORY_PAGE) ==
        SEEP_MEMORY_PAGE)
        chunk->pages |= (uint16_t)(1u << page);
    else
        memset(chunk->bytes + at, 0, SEEP_MEMORY_PAGE);
    chunk->asked |= (uint16_t)(1u << page);
    if (!chunk->pages && !had_room)
        give_back(memory, chunk);
}

/* A page of those that are kept, NULL if it cannot be read. */
static const uint8_t *kept_page(struct seep_memory *memory, uint64_t number)
{
    const size_t in_chunk = (size_t)(number % (CHUNK / SEEP_MEMORY_PAGE));
    struct seep_memory_chunk *chunk = chunk_of(memory, number * SEEP_MEMORY_PAGE / CHUNK);

    if (!chunk)
        return NULL;
    if (!((chunk->pages | chunk->asked) >> in_chunk & 1))
        fetch(memory, chunk, in_chunk);
    return chunk->pages >> in_chunk & 1 ? chunk->bytes + in_chunk * SEEP_MEMORY_PAGE : NULL;
}

/* ---- pages that pass by ---------------------------------------------------------------------- */

size_t seep_memory_ranges_after(const struct seep_memory_range *ranges, size_t n, uint64_t address)
{
    size_t low = 0, high = n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The pages of a range from this one on; 0: it is in none. */
static uint64_t pages_from(struct seep_memory_passing *p, uint64_t number)
{
    const uint64_t address = number * SEEP_MEMORY_PAGE;

    if (p->last < p->n_ranges && p->ranges[p->last].start <= address &&
        address < p->ranges[p->last].end)
        return (p->ranges[p->last].end - address) / SEEP_MEMORY_PAGE;
    const size_t i = seep_memory_ranges_after(p->ranges, p->n_ranges, address);
    if (i == p->n_ranges || p->ranges[i].start > address)
        return 0;
    p->last = i;
    return (p->ranges[i].end - address) / SEEP_MEMORY_PAGE;
}

/* Reads a page and those beside it, or if it follows those that were read last, more of those
 * behind it. */
static void read_passing(struct seep_memory *memory, uint64_t number, uint64_t pages)
{
    struct seep_memory_passing *p = memory->passing;
    const size_t place = (size_t)(number & (memory->n_recent - 1));
    uint64_t n = number == p->next ? AHEAD : TOGETHER - number % TOGETHER;

    n = n < pages ? n : pages;
    n = n < memory->n_recent - place ? n : memory->n_recent - place;
    const struct seep_memory_piece piece = {number * SEEP_MEMORY_PAGE,
                                            p->bytes + place * SEEP_MEMORY_PAGE,
                                            (size_t)n * SEEP_MEMORY_PAGE};
    const size_t read = p->source(p->context, &piece, 1) / SEEP_MEMORY_PAGE;
    p->next = number + n;
    for (size_t i = 0; i < n; i++)
        memory->recent[place + i] = (struct seep_memory_recent){
            i < read || !i ? number + i + 1 : 0,
            i < read ? p->bytes + (place + i) * SEEP_MEMORY_PAGE : NULL};
}

static const uint8_t *passing_page(struct seep_memory *memory, uint64_t number)
{
    struct seep_memory_passing *p = memory->passing;
    const size_t place = (size_t)(number & (memory->n_recent - 1));
    struct seep_memory_recent *recent = &memory->recent[place];
    uint8_t *to = p->bytes + place * SEEP_MEMORY_PAGE;
    const uint64_t pages = pages_from(p, number);

    if (pages) {
        read_passing(memory, number, pages);
        return recent->bytes;
    }
    const bool is_read =
        memory->source && memory->source(memory->context, number * SEEP_MEMORY_PAGE, to,
                                         SEEP_MEMORY_PAGE) == SEEP_MEMORY_PAGE;
    *recent = (struct seep_memory_recent){number + 1, is_read ? to : NULL};
    return recent->bytes;
}

static uint32_t pages_to_keep(const struct seep_memory_range *ranges, size_t n)
{
    uint64_t pages = 0;
    uint32_t kept = MIN_PASSING;

    for (size_t i = 0; i < n; i++)
        pages += (ranges[i].end - ranges[i].start) / SEEP_MEMORY_PAGE;
    while (kept < SEEP_MEMORY_PASSING && kept * 2 <= pages / PASSING_SHARE)
        kept *= 2;
    return kept;
}

int seep_memory_stream(struct seep_memory *memory, seep_memory_bulk_source *source, void *context,
                       const struct seep_memory_range *ranges, size_t n)
{
    struct seep_memory_passing *p = calloc(1, sizeof *p);
    const uint32_t kept = pages_to_keep(ranges, n);
    uint8_t *bytes = p ? mmap(NULL, (size_t)kept * SEEP_MEMORY_PAGE, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                       : MAP_FAILED;

    if (bytes == MAP_FAILED) {
        free(p);
        return -SEEP_ENOMEM;
    }
    *p = (struct seep_memory_passing){
        .source = source, .context = context, .ranges = ranges, .n_ranges = n, .bytes = bytes};
    memory->passing = p;
    memory->n_recent = kept;
    memset(memory->recent, 0, sizeof memory->recent);
    return 0;
}

void seep_memory_stream_end(struct seep_memory *memory)
{
    if (!memory->passing)
        return;
    munmap(memory->passing->bytes, (size_t)memory->n_recent * SEEP_MEMORY_PAGE);
    free(memory->passing);
    memory->passing = NULL;
    memory->n_recent = SEEP_MEMORY_RECENT;
    memset(memory->recent, 0, sizeof memory->recent);
}

/* ---- many at once ---------------------------------------------------------------------------- */

/* Pieces that one call of the source reads. They go through a buffer, so that pages of which
 * nothing is kept are never written. Table entries move as the table grows, so chunks are found
 * again by address. */
struct load {
    struct seep_memory *memory;
    const struct seep_memory_load *how;
    uint8_t *buffer; /* [AT_ONCE] */
    size_t used;
    struct seep_memory_piece pieces[SEEP_MEMORY_PIECES];
    size_t n;
};

static bool is_zero(const uint8_t *page)
{
    return !page[0] && memcmp(page, page + 1, SEEP_MEMORY_PAGE - 1) == 0;
}

/* What is not written reads as zeros. */
static bool is_kept(const struct load *load, uint64_t address, const uint8_t *page)
{
    return !is_zero(page) &&
           (!load->how->keeps || load->how->keeps(load->how->context, address, page));
}

static void note_read(struct load *load, const struct seep_memory_piece *piece, size_t bytes)
{
    struct seep_memory_chunk *chunk =
        chunk_of(load->memory, piece->address >> SEEP_MEMORY_CHUNK_BITS);

    for (size_t at = 0; chunk && at + SEEP_MEMORY_PAGE <= bytes; at += SEEP_MEMORY_PAGE) {
        const size_t in_chunk = (size_t)(piece->address % CHUNK) + at;
        if (is_kept(load, piece->address + at, piece->to + at))
            memcpy(chunk->bytes + in_chunk, piece->to + at, SEEP_MEMORY_PAGE);
        else if (chunk->pages >> in_chunk / SEEP_MEMORY_PAGE & 1) /* it was read before */
            memset(chunk->bytes + in_chunk, 0, SEEP_MEMORY_PAGE);
        chunk->pages |= (uint16_t)(1u << in_chunk / SEEP_MEMORY_PAGE);
    }
}

/* Reads the rest of a piece page by page, from the first page that could not be read. */
static void read_rest(struct load *load, const struct seep_memory_piece *piece, size_t bytes)
{
    for (size_t at = bytes / SEEP_MEMORY_PAGE * SEEP_MEMORY_PAGE + SEEP_MEMORY_PAGE; at < piece->n;
         at += SEEP_MEMORY_PAGE) {
        const struct seep_memory_piece page = {piece->address + at, piece->to + at,
                                               SEEP_MEMORY_PAGE};
        note_read(load, &page, load->how->source(load->how->context, &page, 1));
    }
}

static void read_pieces(struct load *load)
{
    for (size_t done = 0; done < load->n;) {
        size_t bytes = load->how->source(load->how->context, load->pieces + done, load->n - done);
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
    load->n = load->used = 0;
}

static void add_piece(struct load *load, uint64_t at, size_t bytes)
{
    load->pieces[load->n++] = (struct seep_memory_piece){at, load->buffer + load->used, bytes};
    load->used += bytes;
    if (load->n == SEEP_MEMORY_PIECES || load->used + CHUNK > AT_ONCE)
        read_pieces(load);
}

void seep_memory_load(struct seep_memory *memory, const struct seep_memory_load *how,
                      const struct seep_memory_range *ranges, size_t n)
{
    struct load load = {.memory = memory, .how = how, .buffer = malloc(AT_ONCE)};

    memory->full = memory->full || !load.buffer;
    for (size_t i = 0; i < n && !memory->full; i++) {
        uint64_t at = ranges[i].start & ~(uint64_t)(SEEP_MEMORY_PAGE - 1);
        while (at < ranges[i].end) {
            struct seep_memory_chunk *chunk = chunk_of(memory, at >> SEEP_MEMORY_CHUNK_BITS);
            uint64_t stop = (at / CHUNK + 1) * CHUNK;
            if (!chunk || !has_room(memory, chunk))
                break;
            if (stop > ranges[i].end)
                stop = (ranges[i].end + SEEP_MEMORY_PAGE - 1) & ~(uint64_t)(SEEP_MEMORY_PAGE - 1);
            add_piece(&load, at, (size_t)(stop - at));
            at = stop;
        }
    }
    read_pieces(&load);
    free(load.buffer);
    memset(memory->recent, 0, sizeof memory->recent);
}

void seep_memory_ask(struct seep_memory *memory, seep_memory_source *source, void *context)
{
    memory->source = source;
    memory->context = context;
    memory->is_loaded = true;
    for (size_t i = 0; i < memory->n; i++)
        memory->chunks[i].asked = 0;
    memset(memory->recent, 0, sizeof memory->recent);
}

/* The bytes from `address` to the end of its page; NULL if it cannot be read. */
static const uint8_t *bytes_at(struct seep_memory *memory, uint64_t address)
{
    address = seep_arch_untagged(address);
    const uint64_t number = address / SEEP_MEMORY_PAGE;
    struct seep_memory_recent *recent = &memory->recent[number & (memory->n_recent - 1)];

    if (address < SEEP_MEMORY_PAGE || !seep_is_address(address))
        return NULL;
    if (recent->number_plus_1 != number + 1) {
        const uint8_t *bytes =
            memory->passing ? passing_page(memory, number) : kept_page(memory, number);
        *recent = (struct seep_memory_recent){number + 1, bytes};
    }
    return recent->bytes ? recent->bytes + address % SEEP_MEMORY_PAGE : NULL;
}

const uint8_t *seep_memory_changed_page(struct seep_memory *memory, uint64_t address)
{
    const uint64_t page = address / SEEP_MEMORY_PAGE * SEEP_MEMORY_PAGE;
    const size_t in_chunk = (size_t)(page % CHUNK) / SEEP_MEMORY_PAGE;

    if (memory->passing)
        return pages_from(memory->passing, page / SEEP_MEMORY_PAGE) ? bytes_at(memory, page) : NULL;
    if (!memory->is_loaded)
        return bytes_at(memory, page);
    const struct seep_memory_chunk *chunk = known_chunk(memory, page >> SEEP_MEMORY_CHUNK_BITS);
    return chunk && (chunk->pages & ~chunk->asked) >> in_chunk & 1
               ? chunk->bytes + in_chunk * SEEP_MEMORY_PAGE
               : NULL;
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

bool seep_memory_has_all(struct seep_memory *memory, uint64_t address, size_t n)
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

    while (n + 1 < capacity && (bytes = bytes_at(memory, address + n))) {
        const size_t room = SEEP_MEMORY_PAGE - (size_t)((address + n) % SEEP_MEMORY_PAGE);
        const size_t most = capacity - 1 - n < room ? capacity - 1 - n : room;
        const uint8_t *end = memchr(bytes, '\0', most);
        const size_t piece = end ? (size_t)(end - bytes) : most;
        memcpy(to + n, bytes, piece);
        n += piece;
        if (end)
            break;
    }
    return seep_text_clean_in_place(to, n);
}
