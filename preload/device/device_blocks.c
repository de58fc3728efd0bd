#include "preload/device/device_blocks.h"

#include <string.h>

#include "libprof/contract.h"
#include "preload/job/job.h"

/* Shelf and address form one key of the live map, above every address that the heap can have. */
enum { FIRST_ANNOUNCED = SEEP_SPACE_SHM + 1, KEYSPACE_SHIFT = 56 };

static bool is_name(const char *name)
{
    size_t n = 0;
    for (; name[n]; n++) {
        char c = name[n];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == ':' || c == '-' || c == '_';
        if (!plain || n + 1 >= sizeof(seep_arena.header->spaces[0].name))
            return false;
    }
    return n > 0;
}

/* The hooks' own spaces cannot be announced: their blocks have been counted. */
unsigned seep_device_blocks_find(const char *name)
{
    const struct seep_space *spaces = seep_arena.header->spaces;
    for (unsigned i = 0; i < SEEP_MAX_SPACES; i++) {
        if (!__atomic_load_n(&spaces[i].name[0], __ATOMIC_ACQUIRE))
            return 0;
        if (strcmp(spaces[i].name, name) == 0)
            return i < FIRST_ANNOUNCED ? 0 : i;
    }
    return 0;
}

static bool is_of_hooks(const char *name)
{
    for (unsigned i = 0; i < FIRST_ANNOUNCED; i++) {
        if (strcmp(seep_arena.header->spaces[i].name, name) == 0)
            return true;
    }
    return false;
}

unsigned seep_device_blocks_enter(const char *name)
{
    struct seep_space *spaces = seep_arena.header->spaces;
    unsigned space = seep_device_blocks_find(name);
    if (space || !is_name(name) || is_of_hooks(name))
        return space;
    if (!seep_os_lock(&seep_arena.lock)) {
        seep_arena_drop(SEEP_DROP_STALLED);
        return 0;
    }
    space = seep_device_blocks_find(name); /* another thread may have been first */
    for (unsigned i = FIRST_ANNOUNCED; i < SEEP_MAX_SPACES && !space; i++) {
        if (spaces[i].name[0])
            continue;
        memcpy(spaces[i].name + 1, name + 1, strlen(name));
        __atomic_store_n(&spaces[i].name[0], name[0], __ATOMIC_RELEASE);
        space = i;
    }
    seep_os_unlock(&seep_arena.lock);
    if (!space)
        seep_arena_drop(SEEP_DROP_NO_SPACE);
    return space;
}

enum { PREFIX = 6 };

struct name {
    char text[PREFIX + sizeof(":00")];
};

static struct name name_of(const char *prefix, unsigned device)
{
    static const char digits[] = "0123456789";
    struct name name = {""};
    unsigned n = PREFIX;
    memcpy(name.text, prefix, PREFIX);
    name.text[n++] = ':';
    if (device >= 10)
        name.text[n++] = digits[device / 10 % 10];
    name.text[n++] = digits[device % 10];
    return name;
}

unsigned seep_device_blocks_of_device(const char *prefix, unsigned device)
{
    return seep_device_blocks_enter(name_of(prefix, device).text);
}

unsigned seep_device_blocks_find_of_device(const char *prefix, unsigned device)
{
    return seep_device_blocks_find(name_of(prefix, device).text);
}

unsigned seep_device_blocks_number(const char *prefix, unsigned space)
{
    const char *name = seep_arena.header->spaces[space].name;
    unsigned n = 0;
    if (memcmp(name, prefix, PREFIX) != 0 || name[PREFIX] != ':' || !name[PREFIX + 1])
        return SEEP_MAX_DEVICES;
    for (const char *c = name + PREFIX + 1; *c; c++) {
        if (*c < '0' || *c > '9' || n >= SEEP_MAX_DEVICES)
            return SEEP_MAX_DEVICES;
        n = n * 10 + (unsigned)(*c - '0');
    }
    return n < SEEP_MAX_DEVICES ? n : SEEP_MAX_DEVICES;
}

_Static_assert((int)SEEP_KEYSPACE_FIRST_OF_DEVICE >= (int)SEEP_MAX_SPACES, "apart from spaces");

static uintptr_t key_of(unsigned keyspace, uintptr_t address)
{
    uintptr_t mask = ((uintptr_t)1 << KEYSPACE_SHIFT) - 1;
    return (uintptr_t)keyspace << KEYSPACE_SHIFT | (address & mask);
}

bool seep_device_blocks_take(unsigned keyspace, const void *address, struct seep_block *block)
{
    SEEP_CHECK(seep_is_inside());
    return seep_live_take(key_of(keyspace, (uintptr_t)address), block);
}

void seep_device_blocks_settle(const struct seep_block *block)
{
    seep_site_freed(&seep_tls.thread->sites, block, 1, block->bytes, *seep_period);
}

void seep_device_blocks_put_back(unsigned keyspace, const void *address,
                                 const struct seep_block *block)
{
    if (!seep_live_put(key_of(keyspace, (uintptr_t)address), block))
        seep_arena_drop(SEEP_DROP_MEMORY);
}

uint64_t seep_device_blocks_gone(unsigned keyspace, const void *address)
{
    SEEP_CHECK(seep_is_inside());
    struct seep_block block;
    if (!seep_device_blocks_take(keyspace, address, &block))
        return 0;
    seep_device_blocks_settle(&block);
    return block.bytes;
}

void seep_device_blocks_made(unsigned keyspace, const void *address, uint64_t bytes, uint32_t site)
{
    SEEP_CHECK(seep_is_inside());
    struct seep_thread *thread = seep_tls.thread;
    struct seep_block block = {.bytes = bytes, .site = site, .birth = *seep_period};
    if (!site) {
        seep_arena_drop(seep_arena_reason());
        return;
    }
    (void)seep_device_blocks_gone(keyspace, address); /* its free was missed */
    if (!seep_live_put(key_of(keyspace, (uintptr_t)address), &block)) {
        seep_arena_drop(SEEP_DROP_MEMORY);
        return;
    }
    seep_site_allocated(&thread->sites, seep_site_at(block.site), 1, bytes, bytes, block.birth);
}

bool seep_device_blocks_is_in(const struct seep_block *block, unsigned space)
{
    return block->site >= SEEP_HEADER_BYTES / 64 && seep_site_at(block->site)->space == space;
}

void seep_device_blocks_clear(unsigned space)
{
    const uintptr_t first = key_of(SEEP_KEYSPACE_FIRST_OF_DEVICE, 0),
                    last = key_of(SEEP_KEYSPACE_LAST_OF_DEVICE, UINTPTR_MAX);
    struct seep_block block;
    size_t at = 0;
    while (seep_live_spill_take_next(&at, first, last, seep_device_blocks_is_in, space, &block))
        seep_device_blocks_settle(&block);
}

struct visit {
    seep_device_blocks_visitor *each;
    void *arg;
};

static void visit_key(uintptr_t key, const struct seep_block *block, void *arg)
{
    const struct visit *visit = arg;
    visit->each((unsigned)(key >> KEYSPACE_SHIFT), key & (((uintptr_t)1 << KEYSPACE_SHIFT) - 1),
                block, visit->arg);
}

bool seep_device_blocks_each(seep_device_blocks_visitor *visit, void *arg)
{
    struct visit its = {visit, arg};
    return seep_live_spill_visit(key_of(FIRST_ANNOUNCED, 0),
                                 key_of(SEEP_KEYSPACE_LAST_OF_DEVICE, UINTPTR_MAX), visit_key,
                                 &its);
}
