#include "preload/device/layout.h"

#include "libprof/contract.h"
#include "preload/device/device_blocks.h"
#include "preload/job/job.h"

/* A new peak is written if it is larger by a sixteenth, or, if by less, after a while. */
enum { NOTABLE_SHARE = 16 };
static const uint64_t A_WHILE_NS = UINT64_C(10000000000);

_Static_assert(sizeof(struct seep_layout_piece) <= SEEP_CHUNK_BYTES, "a chunk each");
_Static_assert(SEEP_MAX_DEVICES <= 32, "a bit for each");

static struct seep_lock lock;

static struct {
    struct {
        uint32_t first[2]; /* pieces of the chains, which are written in turn */
        unsigned turn;
    } of[SEEP_N_LAYOUT_REASONS];
    uint64_t peak_bytes, peak_t_ns; /* that are written, or about to be */
} layouts[SEEP_MAX_DEVICES];

uint32_t seep_layout_due;

/* ---- which blocks ---------------------------------------------------------------------------- */

struct wanted {
    unsigned device_space, tensor_space;
    uint32_t n;   /* blocks */
    bool tensors; /* those are put now, or else what they lie in */
    struct seep_layout_piece *piece;
    uint32_t left_out;
    uint64_t left_out_bytes;
};

/* 0: the block is not in the device's memory. */
static uint32_t kind_of(const struct wanted *w, unsigned keyspace, const struct seep_block *block)
{
    if (keyspace == w->tensor_space)
        return SEEP_LAYOUT_TENSOR;
    if (keyspace == w->device_space) /* announced by the program */
        return SEEP_LAYOUT_SEGMENT;
    if ((keyspace != SEEP_KEYSPACE_DEVICE && keyspace != SEEP_KEYSPACE_MAPPED) ||
        !seep_device_blocks_is_in(block, w->device_space))
        return 0;
    return keyspace == SEEP_KEYSPACE_MAPPED ? SEEP_LAYOUT_MAPPED : SEEP_LAYOUT_SEGMENT;
}

static void count(unsigned keyspace, uintptr_t address, const struct seep_block *block, void *arg)
{
    struct wanted *w = arg;
    (void)address;
    w->n += kind_of(w, keyspace, block) != 0;
}

static void put(unsigned keyspace, uintptr_t address, const struct seep_block *block, void *arg)
{
    struct wanted *w = arg;
    const uint32_t kind = kind_of(w, keyspace, block);
    if (!kind || (kind == SEEP_LAYOUT_TENSOR) != w->tensors)
        return;
    if (w->piece && w->piece->n_blocks >= SEEP_LAYOUT_PIECE_BLOCKS)
        w->piece = w->piece->next ? seep_arena_at(w->piece->next) : NULL;
    if (!w->piece) {
        w->left_out++;
        w->left_out_bytes += block->bytes;
        return;
    }
    w->piece->blocks[w->piece->n_blocks++] = (struct seep_layout_block){
        .address = address, .bytes = block->bytes, .site = block->site, .kind = kind};
}

/* Where not all have room, a tensor is left out, and never a segment, which may hold thousands. */
static bool put_all(struct wanted *w)
{
    w->tensors = false;
    if (!seep_device_blocks_each(put, w))
        return false;
    w->tensors = true;
    return seep_device_blocks_each(put, w);
}

/* ---- the chain ------------------------------------------------------------------------------- */

static struct seep_layout_piece *piece_at(uint32_t ref)
{
    return ref ? seep_arena_at(ref) : NULL;
}

/* Sites need the profile's room more: layouts use it only while half of it is free. */
static uint32_t take_piece(void)
{
    uint32_t ref = 0;
    if (!seep_os_lock(&seep_arena.lock))
        return 0;
    const struct seep_header *header = seep_arena.header;
    if (!seep_arena_counting &&
        SEEP_HEADER_BYTES + (uint64_t)header->n_chunks * SEEP_CHUNK_BYTES < header->max_bytes / 2)
        ref = seep_arena_take(SEEP_CHUNK_LAYOUTS, SEEP_CHUNK_BYTES, 64);
    seep_os_unlock(&seep_arena.lock);
    return ref;
}

/* Pieces for `n` blocks, the ones used last time first, all withdrawn. */
static void prepare(uint32_t *link, uint32_t n)
{
    const uint32_t wanted = (n + SEEP_LAYOUT_PIECE_BLOCKS - 1) / SEEP_LAYOUT_PIECE_BLOCKS;
    for (uint32_t i = 0; i < SEEP_LAYOUT_PIECES; i++) {
        if (!*link && (i >= wanted || !(*link = take_piece())))
            return;
        struct seep_layout_piece *piece = piece_at(*link);
        __atomic_store_n(&piece->t_ns, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&piece->end_t_ns, 0, __ATOMIC_RELEASE);
        __atomic_thread_fence(__ATOMIC_RELEASE); /* withdrawn before it is overwritten */
        piece->n_blocks = 0;
        link = &piece->next;
    }
}

/* The first piece exists even if it is empty. */
static uint32_t count_pieces(const struct seep_layout_piece *first)
{
    uint32_t n = 0;
    for (const struct seep_layout_piece *piece = first;
         piece && (piece == first || piece->n_blocks); piece = piece_at(piece->next))
        n++;
    return n;
}

struct occasion {
    unsigned device;
    enum seep_layout_reason reason;
    uint64_t asked_bytes;
};

static void publish(struct seep_layout_piece *first, const struct occasion *why,
                    const struct wanted *w)
{
    const uint64_t now = seep_os_clock_ns(CLOCK_MONOTONIC);
    const uint32_t n = count_pieces(first);
    struct seep_layout_piece *piece = first;
    for (uint32_t i = 0; i < n; i++, piece = piece_at(piece->next)) {
        piece->asked_bytes = why->asked_bytes;
        piece->left_out_bytes = w->left_out_bytes;
        piece->left_out = w->left_out;
        piece->period = *seep_period;
        piece->device = (uint16_t)why->device;
        piece->reason = (uint16_t)why->reason;
        piece->number = i;
        piece->n_pieces = n;
        __atomic_store_n(&piece->end_t_ns, now, __ATOMIC_RELEASE);
        __atomic_store_n(&piece->t_ns, now, __ATOMIC_RELEASE);
    }
}

static void write_layout(const struct occasion *why)
{
    struct wanted w = {.device_space = seep_device_blocks_find_of_device("device", why->device),
                       .tensor_space = seep_device_blocks_find_of_device("tensor", why->device)};
    if (!seep_device_blocks_each(count, &w) || !w.n)
        return;
    const unsigned turn = layouts[why->device].of[why->reason].turn;
    uint32_t *first = &layouts[why->device].of[why->reason].first[turn];
    prepare(first, w.n);
    w.piece = piece_at(*first);
    if (!w.piece || !put_all(&w))
        return;
    publish(piece_at(*first), why, &w);
    layouts[why->device].of[why->reason].turn = !turn;
}

void seep_layout_at_oom(unsigned device, enum seep_layout_reason reason, uint64_t asked_bytes)
{
    SEEP_CHECK(seep_is_inside());
    if (device >= SEEP_MAX_DEVICES || !seep_os_lock(&lock))
        return;
    write_layout(&(struct occasion){device, reason, asked_bytes});
    seep_os_unlock(&lock);
}

/* ---- the peak -------------------------------------------------------------------------------- */

static uint64_t taken_bytes(unsigned space)
{
    return __atomic_load_n(&seep_arena.header->spaces[space].live_bytes, __ATOMIC_RELAXED);
}

static bool is_notable(unsigned device, uint64_t bytes, uint64_t now)
{
    const uint64_t before = layouts[device].peak_bytes;
    return bytes > before && (bytes - before > before / NOTABLE_SHARE ||
                              now - layouts[device].peak_t_ns > A_WHILE_NS);
}

static void write_peak(unsigned device)
{
    if (!seep_os_lock(&lock))
        return;
    write_layout(&(struct occasion){.device = device, .reason = SEEP_LAYOUT_AT_PEAK});
    seep_os_unlock(&lock);
}

/* If nothing has reported tensors, there may be none to wait for. */
void seep_layout_grew(unsigned space)
{
    SEEP_CHECK(seep_is_inside());
    const unsigned device = seep_device_blocks_number("device", space);
    if (device >= SEEP_MAX_DEVICES)
        return;
    const uint64_t bytes = taken_bytes(space), now = seep_os_clock_ns(CLOCK_MONOTONIC_COARSE);
    if (!is_notable(device, bytes, now))
        return;
    layouts[device].peak_bytes = bytes;
    layouts[device].peak_t_ns = now;
    __atomic_fetch_or(&seep_layout_due, UINT32_C(1) << device, __ATOMIC_RELAXED);
    if (!seep_arena.header->devices.tensors[device].reports)
        write_peak(device);
}

void seep_layout_at_peak(unsigned device)
{
    const uint32_t bit = UINT32_C(1) << device;
    if (__atomic_fetch_and(&seep_layout_due, ~bit, __ATOMIC_RELAXED) & bit)
        write_peak(device);
}

/* ---- fork ------------------------------------------------------------------------------------ */

struct seep_lock *seep_layout_lock(void)
{
    return &lock;
}

/* The chains are the parent's, and what the child knows of devices is, too. */
void seep_layout_after_fork(void)
{
    lock.word = 0;
    for (unsigned i = 0; i < SEEP_MAX_DEVICES; i++)
        for (unsigned r = 0; r < SEEP_N_LAYOUT_REASONS; r++)
            layouts[i].of[r].first[0] = layouts[i].of[r].first[1] = 0;
}
