#include "libprof/runtime/store/range_map.h"

#include <string.h>

/* A fork may occur while another thread is anywhere in here: the child may then lack a range or
 * have one twice, but nothing leads outside. So a count is raised after its element is stored, and
 * lowered before. */

enum { CHUNK_RANGES = 203, CHUNK_BYTES = 8192, SLAB_BYTES = 128 * 1024 };

struct chunk {
    uint32_t n;
    struct chunk *next_free;
    struct seep_range ranges[CHUNK_RANGES]; /* by address */
};
_Static_assert(sizeof(struct chunk) <= CHUNK_BYTES, "there is room");

struct entry {
    uintptr_t first; /* chunk->ranges[0].start */
    struct chunk *chunk;
};

static struct entry *directory; /* by address; no chunk of it is empty */
static size_t n_chunks, capacity_chunks;
static struct chunk *free_chunks;
static uint32_t n_in_state[SEEP_RANGE_STATES];
static struct seep_lock lock;

/* The number of pieces of each origin; for free origins, the next free one. */
enum { ORIGIN_FREE = 1u << 31 };
static uint32_t *pieces_of;
static uint32_t n_origins = 1, capacity_origins, free_origin; /* 0 is no origin */

/* Where a range is: chunk `entry` of the directory, range `at` of it. */
struct place {
    size_t entry;
    uint32_t at;
};

static inline struct seep_range *range_at(struct place place)
{
    return &directory[place.entry].chunk->ranges[place.at];
}

static inline bool is_there(struct place place)
{
    return place.entry < n_chunks;
}

static inline struct place next(struct place place)
{
    if (++place.at >= directory[place.entry].chunk->n)
        place = (struct place){.entry = place.entry + 1};
    return place;
}

/* The first range that ends after `address`. */
static struct place find(uintptr_t address)
{
    size_t low = 0, high = n_chunks;
    while (low < high) { /* the first chunk that begins after it */
        size_t middle = (low + high) / 2;
        if (directory[middle].first <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return (struct place){0};
    const struct chunk *chunk = directory[low - 1].chunk;
    uint32_t from = 0, to = chunk->n;
    while (from < to) {
        uint32_t middle = (from + to) / 2;
        if (chunk->ranges[middle].end <= address)
            from = middle + 1;
        else
            to = middle;
    }
    return from < chunk->n ? (struct place){.entry = low - 1, .at = from}
                           : (struct place){.entry = low};
}

/* A copy of `old` that is twice as large as `bytes`, or a first piece. */
static void *doubled(const void *old, size_t bytes, size_t first)
{
    void *fresh = seep_os_pages(bytes ? bytes * 2 : first);
    if (fresh && bytes)
        memcpy(fresh, old, bytes);
    return fresh;
}

static bool room_in_directory(size_t more)
{
    if (n_chunks + more <= capacity_chunks)
        return true;
    struct entry *old = directory;
    size_t bytes = capacity_chunks * sizeof(*old);
    struct entry *fresh = doubled(old, bytes, 4096);
    if (!fresh)
        return false;
    __atomic_store_n(&directory, fresh, __ATOMIC_RELEASE); /* the larger one first */
    __atomic_store_n(&capacity_chunks, bytes ? capacity_chunks * 2 : 4096 / sizeof(*old),
                     __ATOMIC_RELEASE);
    if (bytes)
        seep_os_unmap(old, bytes);
    return true;
}

/* Makes sure of two free chunks, as many as one cut may need. */
static bool have_free_chunks(void)
{
    if (free_chunks && free_chunks->next_free)
        return true;
    char *slab = seep_os_pages(SLAB_BYTES);
    for (size_t i = 0; slab && i < SLAB_BYTES; i += CHUNK_BYTES) {
        struct chunk *chunk = (struct chunk *)(slab + i);
        chunk->next_free = free_chunks;
        free_chunks = chunk;
    }
    return slab != NULL;
}

/* A new chunk at `entry` of the directory, with the ranges from `from` on of the one before it, or
 * with none. */
static bool make_chunk(size_t entry, struct chunk *before, uint32_t from)
{
    if (!room_in_directory(1) || (!free_chunks && !have_free_chunks()))
        return false;
    struct chunk *chunk = free_chunks;
    free_chunks = chunk->next_free;
    chunk->n = 0;
    if (before) {
        memcpy(chunk->ranges, before->ranges + from, (before->n - from) * sizeof(chunk->ranges[0]));
        chunk->n = before->n - from;
        before->n = from;
    }
    memmove(&directory[entry + 1], &directory[entry], (n_chunks - entry) * sizeof(*directory));
    directory[entry] = (struct entry){chunk->ranges[0].start, chunk};
    __atomic_store_n(&n_chunks, n_chunks + 1, __ATOMIC_RELEASE);
    return true;
}

/* Makes room for one more range at `place`, which may move. Neighbours added one after the other,
 * upwards or downwards, fill whole chunks. */
static bool make_room(struct place *place)
{
    if (place->at == 0 && place->entry > 0 && directory[place->entry - 1].chunk->n < CHUNK_RANGES) {
        place->entry--;
        place->at = directory[place->entry].chunk->n;
        return true;
    }
    struct chunk *chunk = is_there(*place) ? directory[place->entry].chunk : NULL;
    if (chunk && chunk->n < CHUNK_RANGES)
        return true;
    if (place->at == 0)
        return make_chunk(place->entry, NULL, 0);
    if (!make_chunk(place->entry + 1, chunk, CHUNK_RANGES / 2))
        return false;
    if (place->at >= CHUNK_RANGES / 2)
        *place = (struct place){place->entry + 1, place->at - CHUNK_RANGES / 2};
    return true;
}

static void insert(struct place place, const struct seep_range *range)
{
    struct entry *entry = &directory[place.entry];
    struct chunk *chunk = entry->chunk;
    struct seep_range *at = &chunk->ranges[place.at];
    memmove(at + 1, at, (chunk->n - place.at) * sizeof(*at));
    *at = *range;
    entry->first = chunk->ranges[0].start;
    __atomic_store_n(&chunk->n, chunk->n + 1, __ATOMIC_RELEASE);
    n_in_state[range->state]++;
}

/* Returns the range that has moved to its place, or the next one. */
static struct place erase(struct place place)
{
    struct chunk *chunk = directory[place.entry].chunk;
    struct seep_range *at = &chunk->ranges[place.at];
    n_in_state[at->state]--;
    chunk->n--;
    memmove(at, at + 1, (chunk->n - place.at) * sizeof(*at));
    if (!chunk->n) {
        n_chunks--;
        memmove(&directory[place.entry], &directory[place.entry + 1],
                (n_chunks - place.entry) * sizeof(*directory));
        chunk->next_free = free_chunks;
        free_chunks = chunk;
        return place;
    }
    directory[place.entry].first = chunk->ranges[0].start;
    return place.at < chunk->n ? place : (struct place){.entry = place.entry + 1};
}

static uint32_t new_origin(void)
{
    if (free_origin) {
        uint32_t origin = free_origin;
        free_origin = pieces_of[origin] & ~(uint32_t)ORIGIN_FREE;
        return origin;
    }
    if (n_origins >= capacity_origins) {
        uint32_t *old = pieces_of;
        size_t bytes = capacity_origins * sizeof(*old);
        uint32_t *fresh = doubled(old, bytes, 4096);
        if (!fresh)
            return 0;
        __atomic_store_n(&pieces_of, fresh, __ATOMIC_RELEASE);
        __atomic_store_n(&capacity_origins, bytes ? capacity_origins * 2 : 1024, __ATOMIC_RELEASE);
        if (bytes)
            seep_os_unmap(old, bytes);
    }
    return n_origins++;
}

/* True: it was the last piece of its origin. */
static bool one_piece_less(uint32_t origin)
{
    if (--pieces_of[origin])
        return false;
    pieces_of[origin] = ORIGIN_FREE | free_origin;
    free_origin = origin;
    return true;
}

bool seep_range_put(const struct seep_range *range)
{
    if (range->start >= range->end || !seep_os_lock(&lock))
        return false;
    struct seep_range fresh = *range;
    struct place place = find(fresh.start);
    bool known = fresh.origin && !fresh.last && !(pieces_of[fresh.origin] & ORIGIN_FREE);
    bool ok = make_room(&place) && (known || (fresh.origin = new_origin()));
    if (ok) {
        pieces_of[fresh.origin] = known ? pieces_of[fresh.origin] + 1 : 1;
        fresh.last = false;
        if (fresh.state == SEEP_RANGE_COMMITTED)
            fresh.counted = fresh.end - fresh.start;
        insert(place, &fresh);
    }
    seep_os_unlock(&lock);
    return ok;
}

struct seep_range seep_range_part(const struct seep_range *range, uintptr_t start, uintptr_t end)
{
    __extension__ typedef unsigned __int128 wide;
    struct seep_range piece = *range;
    piece.counted = (uint64_t)((wide)range->counted * (end - start) / (range->end - range->start));
    piece.start = start;
    piece.end = end;
    return piece;
}

static void put_rest(const struct seep_range *rest)
{
    struct place place = find(rest->start);
    if (rest->start < rest->end && make_room(&place))
        insert(place, rest);
}

/* Takes [from, to) out of the range at `place`, which advances to what follows. False: no memory
 * for the two parts that would remain. */
static bool take(struct place *place, uintptr_t from, uintptr_t to, struct seep_range *piece)
{
    struct seep_range whole = *range_at(*place);
    bool inside = whole.start < from && to < whole.end,
         all = whole.start >= from && to >= whole.end;
    if (inside && (!room_in_directory(2) || !have_free_chunks()))
        return false;
    *place = erase(*place);
    *piece = seep_range_part(&whole, from, to);
    if (all) {
        piece->last = one_piece_less(whole.origin);
        return true;
    }
    struct seep_range head = seep_range_part(&whole, whole.start, from),
                      tail = seep_range_part(&whole, to, whole.end);
    if (tail.start < tail.end)
        tail.counted = whole.counted - piece->counted - head.counted;
    else
        head.counted = whole.counted - piece->counted;
    pieces_of[whole.origin] += inside;
    put_rest(&head);
    put_rest(&tail);
    *place = find(to);
    return true;
}

static bool in_states(const struct seep_range *range, unsigned states)
{
    return states >> range->state & 1;
}

unsigned seep_range_take(uintptr_t start, uintptr_t end, unsigned states, struct seep_range *pieces,
                         unsigned capacity)
{
    unsigned n = 0;
    if (start >= end || !seep_os_lock(&lock))
        return 0;
    struct place place = find(start);
    while (n < capacity && is_there(place) && range_at(place)->start < end) {
        const struct seep_range *range = range_at(place);
        uintptr_t from = range->start > start ? range->start : start;
        uintptr_t to = range->end < end ? range->end : end;
        if (from >= to || !in_states(range, states) || !take(&place, from, to, &pieces[n]))
            place = next(place);
        else
            n++;
    }
    seep_os_unlock(&lock);
    return n;
}

unsigned seep_range_release(uintptr_t *start, uintptr_t end, unsigned space, bool but_space,
                            struct seep_range *pieces, unsigned capacity)
{
    unsigned n = 0;
    if (*start >= end || !seep_os_lock(&lock))
        return 0;
    for (struct place place = find(*start); is_there(place) && n < capacity; place = next(place)) {
        struct seep_range *range = range_at(place);
        uintptr_t from = range->start > *start ? range->start : *start;
        uintptr_t to = range->end < end ? range->end : end;
        if (from >= end)
            break;
        *start = to > *start ? to : *start;
        if (from >= to || !in_states(range, SEEP_RANGES_OF_MEMORY) ||
            (range->space == space) == but_space)
            continue;
        uint64_t lost = to - from < range->counted ? to - from : range->counted;
        n_in_state[range->state]--;
        n_in_state[range->state = SEEP_RANGE_BY_TOUCH]++;
        range->counted -= lost;
        pieces[n] = *range;
        pieces[n++].counted = lost;
    }
    seep_os_unlock(&lock);
    return n;
}

bool seep_range_find(uintptr_t address, unsigned states, struct seep_range *found)
{
    if (!seep_os_lock(&lock))
        return false;
    struct place place = find(address);
    while (is_there(place) && !in_states(range_at(place), states))
        place = next(place);
    bool ok = is_there(place);
    if (ok)
        *found = *range_at(place);
    seep_os_unlock(&lock);
    return ok;
}

bool seep_range_correct(const struct seep_range *range, uint32_t site, uint64_t counted,
                        uint64_t *old)
{
    if (!seep_os_lock(&lock))
        return false;
    struct place place = find(range->start);
    struct seep_range *now = is_there(place) ? range_at(place) : NULL;
    bool ok = now && now->start == range->start && now->end == range->end &&
              now->origin == range->origin && now->state == SEEP_RANGE_BY_TOUCH;
    if (ok) {
        *old = now->counted;
        now->counted = counted < now->end - now->start ? counted : now->end - now->start;
        now->site = site;
    }
    seep_os_unlock(&lock);
    return ok;
}

uint64_t seep_range_overlap(uintptr_t start, uintptr_t end, unsigned states)
{
    uint64_t bytes = 0;
    if (start >= end || !seep_os_lock(&lock))
        return 0;
    for (struct place place = find(start); is_there(place); place = next(place)) {
        const struct seep_range *range = range_at(place);
        uintptr_t from = range->start > start ? range->start : start;
        uintptr_t to = range->end < end ? range->end : end;
        if (range->start >= end)
            break;
        if (from < to && in_states(range, states))
            bytes += to - from;
    }
    seep_os_unlock(&lock);
    return bytes;
}

uint32_t seep_range_n(enum seep_range_state state)
{
    return __atomic_load_n(&n_in_state[state], __ATOMIC_RELAXED);
}

void seep_range_after_fork(void)
{
    lock.word = 0;
}

struct seep_lock *seep_range_lock(void)
{
    return &lock;
}
