#include "libprof/store/live_blocks.h"

SEEP_LARGE struct seep_live_page **seep_live_roots[SEEP_N_ROOTS];
SEEP_HOT bool seep_live_packed;
uint32_t seep_live_spilled;

static struct seep_lock slab_lock;

static char *slab, *slab_end;
static size_t slabs_bytes;

/* Slabs grow with what was taken before, so there are few of them. */
static bool slab_make(void)
{
    enum { SMALL = 256 * 1024, MANY_SMALL = 4 << 20, SHARE = 16 };
    size_t bytes = SMALL;
    char *fresh = NULL;
    if (slabs_bytes >= MANY_SMALL) {
        bytes = (slabs_bytes / SHARE / SEEP_HUGE_PAGE + 1) * SEEP_HUGE_PAGE;
        fresh = seep_os_table(bytes);
    }
    if (!fresh) {
        if (!(fresh = seep_os_pages(bytes = SMALL)))
            return false;
        seep_os_populate(fresh, SMALL);
    }
    slab = fresh;
    slab_end = fresh + bytes;
    slabs_bytes += bytes;
    return true;
}

/* Zeroed memory that is never given back: what a page of the heap needed once, it needs again. */
static void *slab_take(size_t bytes)
{
    if ((size_t)(slab_end - slab) < bytes && !slab_make())
        return NULL;
    void *taken = slab;
    slab += bytes;
    return taken;
}

/* Stores the address of zeroed pages of `bytes` at `slot`, unless another thread has already done
 * so. */
static void *create_once(void **slot, size_t bytes)
{
    void *expected = NULL, *fresh = seep_os_pages(bytes);
    if (!fresh)
        return __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (__atomic_compare_exchange_n(slot, &expected, fresh, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return fresh;
    seep_os_unmap(fresh, bytes);
    return expected;
}

struct seep_live_page *seep_live_region_create(uintptr_t address)
{
    void **root = (void **)&seep_live_roots[address >> SEEP_ROOT_BITS];
    void **regions = __atomic_load_n(root, __ATOMIC_ACQUIRE);
    if (!regions && !(regions = create_once(root, SEEP_ROOT_REGIONS * sizeof(void *))))
        return NULL;
    size_t index = (address >> SEEP_REGION_BITS) & (SEEP_ROOT_REGIONS - 1);
    if (!create_once(&regions[index], SEEP_REGION_PAGES * sizeof(struct seep_live_page)))
        return NULL;
    return seep_live_page(address);
}

struct seep_cell *seep_live_cell_create(struct seep_live_page *page)
{
    if (!seep_os_lock(&slab_lock))
        return NULL;
    struct seep_cell *cell = page->cell ? page->cell : slab_take(sizeof(struct seep_cell));
    __atomic_store_n(&page->cell, cell, __ATOMIC_RELEASE);
    seep_os_unlock(&slab_lock);
    return cell;
}

uint32_t *seep_live_shadow_create(struct seep_live_page *page)
{
    size_t bytes = (SEEP_SHADOW_WORDS * sizeof(uint32_t) + 63) & ~(size_t)63;
    if (!seep_os_lock(&slab_lock))
        return NULL;
    uint32_t *shadow = page->shadow ? page->shadow : slab_take(bytes);
    __atomic_store_n(&page->shadow, shadow, __ATOMIC_RELEASE);
    seep_os_unlock(&slab_lock);
    return shadow;
}

bool seep_live_any(uintptr_t start, uintptr_t end)
{
    const uintptr_t region = (uintptr_t)1 << SEEP_REGION_BITS, page = 1 << SEEP_PAGE_BITS;
    const uintptr_t root = (uintptr_t)1 << SEEP_ROOT_BITS, top = (uintptr_t)1 << 47;
    for (uintptr_t at = start & ~(page - 1); at < end && at < top;) {
        const struct seep_live_page *known = seep_live_page(at);
        if (known && (known->cell || known->shadow))
            return true;
        uintptr_t step = known ? page : seep_live_roots[at >> SEEP_ROOT_BITS] ? region : root;
        at = (at & ~(step - 1)) + step;
    }
    return false;
}

/* Blocks that do not fit the shadow array: linear probing, deletions leave a mark. */
struct spilled {
    uintptr_t address; /* 0 never used, 1 deleted */
    struct seep_block block;
};

static struct spilled *table;
static size_t table_mask, table_used; /* used: including deleted ones */
static struct seep_lock table_lock;

static size_t place(uintptr_t address, size_t mask)
{
    return (size_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & mask;
}

static bool rebuild(void)
{
    size_t capacity = 4096;
    while (capacity < (size_t)seep_live_spilled * 4)
        capacity *= 2;
    struct spilled *fresh = seep_os_table(capacity * sizeof(*fresh));
    if (!fresh)
        return false;
    for (size_t i = 0; table && i <= table_mask; i++) {
        if (table[i].address <= 1)
            continue;
        size_t at = place(table[i].address, capacity - 1);
        while (fresh[at].address)
            at = (at + 1) & (capacity - 1);
        fresh[at] = table[i];
    }
    struct spilled *old = table;
    size_t old_mask = table_mask;
    /* A fork may occur between any two of these: the child's values must be within bounds. */
    if (capacity - 1 < table_mask)
        __atomic_store_n(&table_mask, capacity - 1, __ATOMIC_RELEASE);
    __atomic_store_n(&table, fresh, __ATOMIC_RELEASE);
    __atomic_store_n(&table_mask, capacity - 1, __ATOMIC_RELEASE);
    table_used = seep_live_spilled;
    if (old)
        seep_os_unmap(old, (old_mask + 1) * sizeof(*old));
    return true;
}

bool seep_live_spill_put(uintptr_t address, const struct seep_block *block)
{
    if (!seep_os_lock(&table_lock))
        return false;
    bool ok = (table && (table_used + 1) * 3 < table_mask * 2) || rebuild();
    if (ok) {
        size_t at = place(address, table_mask);
        while (table[at].address > 1)
            at = (at + 1) & table_mask;
        table_used += table[at].address == 0;
        table[at].block = *block;
        table[at].address = address;
        __atomic_fetch_add(&seep_live_spilled, 1, __ATOMIC_RELAXED);
    }
    seep_os_unlock(&table_lock);
    return ok;
}

bool seep_live_spill_take(uintptr_t address, struct seep_block *block)
{
    if (!seep_live_spilled || !seep_os_lock(&table_lock))
        return false;
    bool found = false;
    for (size_t at = place(address, table_mask); table[at].address; at = (at + 1) & table_mask) {
        if (table[at].address == address) {
            *block = table[at].block;
            table[at].address = 1;
            __atomic_fetch_sub(&seep_live_spilled, 1, __ATOMIC_RELAXED);
            found = true;
            break;
        }
    }
    seep_os_unlock(&table_lock);
    return found;
}

bool seep_live_spill_next(size_t *at, uintptr_t *address, struct seep_block *block)
{
    while (table && *at <= table_mask) {
        const struct spilled *entry = &table[(*at)++];
        if (entry->address <= 1)
            continue;
        *address = entry->address;
        *block = entry->block;
        return true;
    }
    return false;
}

bool seep_live_spill_take_next(size_t *at, uintptr_t first, uintptr_t last,
                               bool (*wanted)(const struct seep_block *, unsigned what),
                               unsigned what, struct seep_block *block)
{
    bool found = false;
    if (!seep_os_lock(&table_lock))
        return false;
    for (; table && *at <= table_mask && !found; ++*at) {
        struct spilled *entry = &table[*at];
        if (entry->address < first || entry->address > last || !wanted(&entry->block, what))
            continue;
        *block = entry->block;
        entry->address = 1;
        __atomic_fetch_sub(&seep_live_spilled, 1, __ATOMIC_RELAXED);
        found = true;
    }
    seep_os_unlock(&table_lock);
    return found;
}

bool seep_live_spill_visit(uintptr_t first, uintptr_t last, seep_live_visitor *visit, void *arg)
{
    if (!seep_os_lock(&table_lock))
        return false;
    for (size_t at = 0; table && at <= table_mask; at++) {
        if (table[at].address >= first && table[at].address <= last)
            visit(table[at].address, &table[at].block, arg);
    }
    seep_os_unlock(&table_lock);
    return true;
}

void seep_live_after_fork(void)
{
    table_lock.word = 0;
    slab_lock.word = 0;
}

struct seep_lock *seep_live_lock(unsigned which)
{
    return which ? &slab_lock : &table_lock;
}
