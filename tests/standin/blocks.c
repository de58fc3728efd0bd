/* The memory that the devices gave: private maps of the process, in the order of their addresses. A
 * freed address is soon reused, often by another thread. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/standin/inside.h"
#include "tests/standin/raw.h"

enum { PAGE = 4096, MAX_BLOCKS = 1 << 20, BESIDE = 1000 };

#define HOST_KINDS (1u << STANDIN_PINNED | 1u << STANDIN_REGISTERED)
/* What takes memory of a device, and what has none of its own. */
#define COSTS_NOTHING                                                                              \
    (HOST_KINDS | 1u << STANDIN_RESERVED | 1u << STANDIN_MAPPED | 1u << STANDIN_ALIAS)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct standin_block
    *blocks; /* by address; addresses and physical memory are never the same */
static size_t n_blocks;
static uint64_t live[STANDIN_KINDS][STANDIN_MOST_DEVICES + 1];
static bool contexts[STANDIN_MOST_DEVICES];

int standin_devices(void)
{
    uint64_t n = standin_number_of("STANDIN_DEVICES", 2);
    return (int)(n < STANDIN_MOST_DEVICES ? n : STANDIN_MOST_DEVICES);
}

uint64_t standin_capacity(void)
{
    return standin_number_of("STANDIN_CAPACITY", 8ull << 30);
}

static uint64_t context_bytes(void)
{
    return standin_number_of("STANDIN_CONTEXT", 64ull << 20);
}

static uint64_t pages(uint64_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* The first whose address is not below `at`. */
static size_t place_of(uint64_t at)
{
    size_t low = 0, high = n_blocks;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (blocks[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct standin_block *begins_at(const void *at, unsigned kinds)
{
    for (size_t i = place_of((uint64_t)at); i < n_blocks && blocks[i].at == (uint64_t)at; i++)
        if (kinds >> blocks[i].kind & 1)
            return &blocks[i];
    return NULL;
}

static void count(const struct standin_block *b, int sign)
{
    live[b->kind][b->device + 1] += (uint64_t)sign * b->bytes;
    if (!(COSTS_NOTHING >> b->kind & 1))
        standin_use(b->device, sign * (int64_t)b->bytes);
}

static int insert(const struct standin_block *block)
{
    if (!blocks)
        blocks = raw_map(MAX_BLOCKS * sizeof *blocks, PROT_READ | PROT_WRITE, MAP_PRIVATE);
    if (!blocks || n_blocks == MAX_BLOCKS)
        return STANDIN_NO_MEMORY;
    size_t place = place_of(block->at);
    memmove(&blocks[place + 1], &blocks[place], (n_blocks - place) * sizeof *blocks);
    blocks[place] = *block;
    n_blocks++;
    count(block, 1);
    return STANDIN_OK;
}

/* The block's memory goes back. What is reserved lies below what is mapped there. */
static void drop(struct standin_block *block)
{
    struct standin_block b = *block;
    size_t place = (size_t)(block - blocks);
    memmove(block, block + 1, (--n_blocks - place) * sizeof *blocks);
    count(&b, -1);
    if (b.kind == STANDIN_MAPPED)
        raw_map_at((void *)b.at, pages(b.bytes), PROT_NONE,
                   MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    else if (standin_visible() && b.kind != STANDIN_REGISTERED)
        munmap((void *)b.at, pages(b.bytes));
    else if (b.kind != STANDIN_REGISTERED)
        raw_unmap((void *)b.at, pages(b.bytes));
    free(b.beside);
}

static void make_context(int device)
{
    if (contexts[device])
        return;
    contexts[device] = true;
    standin_use(device, (int64_t)context_bytes());
    standin_note_context(device);
}

void standin_context(int device)
{
    pthread_mutex_lock(&lock);
    make_context(device);
    pthread_mutex_unlock(&lock);
}

bool standin_has_context(int device)
{
    return contexts[device];
}

static void *memory_for(enum standin_kind kind, uint64_t bytes)
{
    int prot =
        kind == STANDIN_RESERVED || kind == STANDIN_CREATED ? PROT_NONE : PROT_READ | PROT_WRITE;
    if (!standin_visible())
        return raw_map(pages(bytes), prot, MAP_PRIVATE);
    void *at = mmap(NULL, pages(bytes), prot, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

int standin_take(enum standin_kind kind, int device, uint64_t bytes, void **at)
{
    struct standin_block block = {.bytes = bytes, .kind = kind, .device = device};
    int error = STANDIN_NO_MEMORY;
    *at = NULL;
    if (!bytes)
        return STANDIN_OK;
    if (HOST_KINDS >> kind & 1)
        block.device = -1;
    pthread_mutex_lock(&lock);
    make_context(device);
    if (bytes < 1ull << 46 &&
        (COSTS_NOTHING >> kind & 1 || standin_used(device, 0) + bytes <= standin_capacity()))
        block.at = (uint64_t)memory_for(kind, bytes);
    if (block.at) {
        block.beside = standin_visible() ? malloc(BESIDE) : NULL;
        error = insert(&block);
    }
    pthread_mutex_unlock(&lock);
    *at = error ? NULL : (void *)block.at;
    standin_wait_a_little();
    return error;
}

int standin_give(unsigned kinds, const void *at)
{
    int error = STANDIN_OK;
    if (!at)
        return STANDIN_OK;
    pthread_mutex_lock(&lock);
    struct standin_block *block = begins_at(at, kinds);
    if (!block)
        error = STANDIN_INVALID;
    else if (block->kind == STANDIN_CREATED && block->other)
        block->released = true;
    else
        drop(block);
    pthread_mutex_unlock(&lock);
    standin_wait_a_little();
    return error;
}

bool standin_find(const void *at, struct standin_block *block)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    size_t place = place_of((uint64_t)at + 1);
    /* Addresses that are reserved hold others, and are the last to be asked. */
    for (size_t i = place; i-- > 0 && !found;) {
        const struct standin_block *b = &blocks[i];
        found = (uint64_t)at - b->at < b->bytes && b->kind != STANDIN_RESERVED &&
                b->kind != STANDIN_CREATED;
        if (found)
            *block = *b;
        else if (b->kind != STANDIN_RESERVED && b->kind != STANDIN_CREATED && place - i > 2)
            break;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

int standin_registers(void *at, uint64_t bytes)
{
    struct standin_block block = {
        .at = (uint64_t)at, .bytes = bytes, .kind = STANDIN_REGISTERED, .device = -1};
    if (!at || !bytes)
        return STANDIN_INVALID;
    pthread_mutex_lock(&lock);
    int error = begins_at(at, HOST_KINDS) ? STANDIN_ALREADY_REGISTERED : insert(&block);
    pthread_mutex_unlock(&lock);
    return error;
}

int standin_map(void *at, uint64_t bytes, uint64_t physical)
{
    struct standin_block block = {
        .at = (uint64_t)at, .bytes = bytes, .kind = STANDIN_MAPPED, .other = physical};
    int error = STANDIN_INVALID;
    pthread_mutex_lock(&lock);
    struct standin_block *memory = begins_at((void *)physical, 1u << STANDIN_CREATED);
    if (memory && bytes == memory->bytes && !begins_at(at, 1u << STANDIN_MAPPED)) {
        memory->other++;
        block.device = memory->device;
        raw_map_at(at, pages(bytes), PROT_READ | PROT_WRITE,
                   MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
        error = insert(&block);
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static void unmap_one(struct standin_block *block)
{
    uint64_t physical = block->other;
    drop(block);
    struct standin_block *memory = begins_at((void *)physical, 1u << STANDIN_CREATED);
    if (memory && !--memory->other && memory->released)
        drop(memory);
}

/* All that is mapped in a range, which may be several. */
int standin_unmap(void *at, uint64_t bytes)
{
    uint64_t done = 0;
    pthread_mutex_lock(&lock);
    while (done < bytes) {
        struct standin_block *block = begins_at((char *)at + done, 1u << STANDIN_MAPPED);
        if (!block || block->bytes > bytes - done)
            break;
        done += block->bytes;
        unmap_one(block);
    }
    pthread_mutex_unlock(&lock);
    standin_wait_a_little();
    return done == bytes ? STANDIN_OK : STANDIN_INVALID;
}

void standin_reset(int device)
{
    pthread_mutex_lock(&lock);
    for (size_t i = n_blocks; i-- > 0;)
        if (i < n_blocks && blocks[i].device == device)
            drop(&blocks[i]);
    if (contexts[device])
        standin_use(device, -(int64_t)context_bytes());
    contexts[device] = false;
    pthread_mutex_unlock(&lock);
}

uint64_t standin_live(enum standin_kind kind, int device)
{
    return live[kind][device + 1];
}

void standin_forget(void)
{
    pthread_mutex_init(&lock, NULL);
    n_blocks = 0;
    memset(live, 0, sizeof live);
}

/* A device's address outside of all blocks is an error of the job's, which must not end it here. */
static uint64_t within(const void *at, uint64_t bytes)
{
    struct standin_block block;
    if (!standin_find(at, &block))
        return bytes;
    uint64_t left = block.at + block.bytes - (uint64_t)at;
    if (block.device >= 0 && standin_number_of("STANDIN_UNTOUCHED", 0))
        return 0;
    return bytes < left ? bytes : left;
}

void standin_copy(void *to, const void *from, uint64_t bytes, int value)
{
    bytes = within(to, bytes);
    if (from)
        bytes = within(from, bytes);
    if (from && bytes)
        memmove(to, from, bytes);
    else if (bytes)
        memset(to, value, bytes);
}
