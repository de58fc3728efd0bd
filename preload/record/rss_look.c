/* The kind of most maps is told by their lines in /proc/self/smaps. Those of private anonymous maps
 * do not tell it, and the kernel joins neighbouring maps of different owners. So these are examined
 * page by page: what seep, the job's own maps and the live set know of each page, and which pages
 * are resident.
 *
 * In libc's heaps, pages of large live blocks are known one by one. Small blocks are taken as
 * resident: the rest of the recorded live bytes, up to the rest of the heaps. Anything else in use
 * there was allocated past the hooks (heap_walk.h) and stays unexplained. */
#include "preload/record/rss_look.h"

#include <string.h>
#include <sys/resource.h>

#include "libprof/format/page_format.h"
#include "libprof/runtime/store/live_walk.h"
#include "libprof/runtime/store/own_pages.h"
#include "libprof/runtime/store/site_table.h"
#include "preload/objects/modules.h"
#include "preload/pages/heap_walk.h"
#include "preload/pages/smaps.h"
#include "preload/pages/written_pages.h"
#include "preload/record/map_resident.h"

enum kind {
    UNEXPLAINED,
    HEAP, /* in maps that contain blocks */
    LIVE, /* of a large live block */
    MAPS,
    SHM,
    STACKS,
    FILES,
    SEEP,
    N_KINDS
};

enum {
    CHUNK_BITS = 24, /* no chunk extends beyond one region of the live map, or one of libc's
                      * heaps */
    CHUNK_PAGES = (1 << CHUNK_BITS) / SEEP_LEAST_PAGE_BYTES, /* at most */
    LARGE_BLOCK = 256 * 1024,
    LARGEST_GUARD = 64 * 1024, /* glibc's on 64-bit Arm, whatever its pages are, and its largest */
    LIVE_PAGE = 1 << SEEP_PAGE_BITS,
    MIN_STACK = 8 << 20,
    DENSE = 8, /* if 1/n of the pages have blocks, the other pages are libc's as well */
};

#define HEAP_SPAN                                                                                  \
    ((uintptr_t)64 << 20)               /* HEAP_MAX_SIZE of glibc: its arenas begin at multiples   \
                                         */
#define SPARSE_MAP (UINT64_C(64) << 30) /* larger ones are looked at as a whole if nearly empty */

bool seep_rss_other_malloc;

struct look {
    uint64_t bytes[N_KINDS];
    uint64_t large_bytes;           /* of the large live blocks seen */
    uint64_t heap_unrecorded_bytes; /* of bytes[HEAP] */
    uint64_t copied_bytes;          /* of bytes[MAPS]: of files */
    struct seep_written written;    /* of bytes[LIVE] */
    uintptr_t large_end;            /* of the one that extends furthest … */
    uint32_t large_site;            /* … and its site */
    uintptr_t file_end;             /* of the last map of a file … */
    enum kind file_kind;            /* … and what that was */
    uintptr_t guard_end;            /* of the last map that may be the guard of a stack */
    uint64_t largest_stack;         /* by the limit that sets the stack size of new threads */
};

/* One chunk of a map at a time. */
static SEEP_LARGE uint8_t kinds[CHUNK_PAGES], resident[CHUNK_PAGES];
static SEEP_LARGE uint32_t sites[CHUNK_PAGES]; /* of pages of large live blocks */

struct chunk {
    uintptr_t start, end;
    uint32_t n; /* pages */
    unsigned page_bits;
};

static uint32_t page_of(const struct chunk *c, uintptr_t at)
{
    return (uint32_t)((at - c->start) >> c->page_bits);
}

static void paint(const struct chunk *c, uintptr_t from, uintptr_t to, enum kind kind)
{
    from = from > c->start ? from : c->start;
    to = to < c->end ? to : c->end;
    if (from < to)
        memset(kinds + page_of(c, from), (int)kind, page_of(c, to) - page_of(c, from));
}

static void paint_block(const struct chunk *c, uintptr_t from, uintptr_t to, uint32_t site)
{
    from = from > c->start ? from : c->start;
    to = to < c->end ? to : c->end;
    for (uint32_t i = from < to ? page_of(c, from) : 0; from < to && i < page_of(c, to); i++)
        sites[i] = site;
    paint(c, from, to, LIVE);
}

/* ---- heaps -------------------------------------------------------------------------------- */

static uintptr_t nearest_page(uintptr_t at)
{
    return seep_os_page_down(at + seep_os_page_bytes() / 2);
}

static void paint_large(struct look *look, const struct chunk *c, uintptr_t start,
                        const struct seep_block *block)
{
    const uintptr_t end = start + block->bytes;
    if (block->bytes < LARGE_BLOCK || block->bytes >> 47 ||
        seep_site_at(block->site)->space != SEEP_SPACE_HOST)
        return;
    look->large_bytes += block->bytes;
    if (end > look->large_end) {
        look->large_end = end;
        look->large_site = block->site;
    }
    paint_block(c, nearest_page(start), nearest_page(end), block->site);
    if (block->site < seep_sites_first_own)
        seep_written_add(&look->written, start, end, block->site);
}

/* Paints what the live set knows of the chunk: a page of memory is one or several of its pages.
 * Returns how many of memory have, or have had, blocks. */
static uint32_t paint_blocks(struct look *look, const struct chunk *c)
{
    struct seep_live_page *page = seep_live_page(c->start);
    uint32_t n_known = 0, known_plus_1 = 0;
    for (uintptr_t at = c->start; page && at < c->end; at += LIVE_PAGE, page++) {
        struct seep_block block;
        uintptr_t begins;
        if (!page->words[0] && !page->words[1])
            continue;
        const uint32_t i = page_of(c, at);
        n_known += known_plus_1 != i + 1;
        known_plus_1 = i + 1;
        if (kinds[i] != LIVE)
            kinds[i] = HEAP;
        if (seep_live_large(page, &begins, &block))
            paint_large(look, c, at + begins, &block);
    }
    return n_known;
}

/* Whether it is in one of libc's further arenas: with more than a block at its start. */
static bool in_arena(uintptr_t map_start, uintptr_t at)
{
    uintptr_t start = at & ~(HEAP_SPAN - 1);
    return start >= map_start && seep_live_any(start + LIVE_PAGE, start + HEAP_SPAN / 64);
}

/* Returns whether the chunk belongs to one of libc's heaps. */
static bool paint_heap(struct look *look, const struct chunk *c, uintptr_t map_start,
                       enum kind base)
{
    paint_block(c, c->start, look->large_end ? nearest_page(look->large_end) : 0, look->large_site);
    uint32_t n_known = paint_blocks(look, c);
    bool libcs = base == HEAP || (base == UNEXPLAINED && in_arena(map_start, c->start));
    if (base == UNEXPLAINED &&
        (libcs || n_known * DENSE >= c->n || (seep_rss_other_malloc && n_known))) {
        for (uint32_t i = 0; i < c->n; i++)
            kinds[i] = kinds[i] == UNEXPLAINED ? HEAP : kinds[i];
    }
    return libcs && !seep_rss_other_malloc;
}

/* How much of the chunk's heap pages is in use but not recorded: at most what is resident of
 * them. */
static void walk_heap(struct look *look, const struct chunk *c, uint64_t heap_pages)
{
    uint64_t unrecorded = heap_pages ? seep_heap_walk(c->start, c->end) : 0;
    const uint64_t most = heap_pages << c->page_bits;
    look->heap_unrecorded_bytes += unrecorded < most ? unrecorded : most;
}

/* ---- whose pages -------------------------------------------------------------------------- */

static void paint_maps(const struct chunk *c, uintptr_t start, uintptr_t end)
{
    uint64_t mapped = seep_map_overlap(start, end);
    if (mapped >= end - start || (mapped && end - start <= seep_os_page_bytes())) {
        paint(c, start, end, MAPS);
    } else if (mapped) {
        uintptr_t middle = seep_os_page_down(start + (end - start) / 2);
        paint_maps(c, start, middle);
        paint_maps(c, middle, end);
    }
}

static void paint_own(const struct chunk *c)
{
    struct seep_own_range piece;
    for (uint32_t at = 0; seep_own_next(&at, c->start, c->end, &piece);)
        paint(c, piece.start, piece.end, SEEP);
}

/* Tells the sites of large blocks what of those was never touched. */
static void tell_sites(const struct chunk *c)
{
    for (uint32_t i = 0, next; i < c->n; i = next) {
        uint64_t untouched = 0;
        for (next = i; next < c->n && kinds[next] == LIVE && sites[next] == sites[i]; next++)
            untouched += !(resident[next] & 1);
        if (next > i)
            seep_site_looked_at(sites[i], (uint64_t)(next - i) << c->page_bits,
                                untouched << c->page_bits);
        else
            next++;
    }
}

/* Of pages that are swapped out the kernel does not say whether they were touched. */
static void count(const struct seep_vma *vma, const struct chunk *c, bool has_large,
                  uint64_t pages[N_KINDS])
{
    if (!vma->rss_bytes)
        memset(resident, 0, c->n);
    else if (seep_os_call3(SYS_mincore, (long)c->start, (long)(c->end - c->start), (long)resident))
        return; /* unmapped meanwhile */
    for (uint32_t i = 0; i < c->n; i++)
        pages[kinds[i]] += resident[i] & 1;
    if (has_large && !vma->swapped_bytes)
        tell_sites(c);
}

/* The kernel's own count of resident pages decides: it leaves out pages of zeros that were only
 * read. */
static void share_out(struct look *look, uint64_t rss_bytes, const uint64_t pages[N_KINDS],
                      enum kind base)
{
    uint64_t sum = 0, given = 0;
    for (unsigned k = 0; k < N_KINDS; k++)
        sum += pages[k];
    for (unsigned k = 0; k < N_KINDS && sum; k++) {
        uint64_t part = (uint64_t)((double)rss_bytes * (double)pages[k] / (double)sum);
        look->bytes[k] += part;
        given += part;
    }
    look->bytes[base] += rss_bytes > given ? rss_bytes - given : 0;
}

/* A private anonymous map; `base` is the kind of its unknown pages, up to `base_end`. */
static void look_inside(struct look *look, const struct seep_vma *vma, enum kind base,
                        uintptr_t base_end)
{
    uint64_t pages[N_KINDS] = {0}, size = vma->end - vma->start;
    if (size > SPARSE_MAP && vma->rss_bytes < size / 1024) {
        bool mapped = seep_map_overlap(vma->start, vma->end) * 2 >= size;
        look->bytes[mapped ? MAPS : base] += vma->rss_bytes;
        return;
    }
    bool mapped = vma->rss_bytes && seep_map_overlap(vma->start, vma->end);
    for (uintptr_t at = vma->start; at < vma->end;) {
        uintptr_t next = ((at >> CHUNK_BITS) + 1) << CHUNK_BITS;
        struct chunk c = {at, next < vma->end ? next : vma->end, 0, seep_os_page_bits()};
        c.n = page_of(&c, c.end);
        memset(kinds, UNEXPLAINED, c.n);
        paint(&c, c.start, base_end, base);
        /* also without pages: for untouched large blocks */
        bool libcs = paint_heap(look, &c, vma->start, base);
        const bool has_large = look->large_end > c.start;
        if (vma->rss_bytes || has_large) {
            const uint64_t before = pages[HEAP];
            if (mapped)
                paint_maps(&c, c.start, c.end);
            paint_own(&c);
            count(vma, &c, has_large, pages);
            if (libcs)
                walk_heap(look, &c, pages[HEAP] - before);
        }
        at = c.end;
    }
    share_out(look, vma->rss_bytes, pages, base);
}

/* ---- maps --------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
    size_t n = strlen(text), n_with = strlen(with);
    return n >= n_with && strcmp(text + n - n_with, with) == 0;
}

static bool is_shm(const struct seep_vma *vma)
{
    return begins(vma->name, "/dev/shm/") || begins(vma->name, "/memfd:") ||
           begins(vma->name, "/SYSV") || begins(vma->name, "/dev/zero (deleted)") ||
           (vma->shared && !vma->file);
}

static bool is_own(const struct seep_vma *vma)
{
    return ends(vma->name, "/libseep.so") || ends(vma->name, "/" SEEP_JOB_FILE) ||
           (vma->shared && ends(vma->name, SEEP_PROFILE_SUFFIX));
}

/* A program or library has memory beyond its file: .bss. But the kernel also tends to place any
 * file's map right below an anonymous one. */
static uintptr_t end_of_object(uintptr_t file_end)
{
    struct seep_loaded loaded;
    if (!seep_modules_known(file_end - 1, &loaded))
        return file_end;
    return seep_os_page_up(loaded.end);
}

/* A thread's stack is above a guard page. The kernel may have joined it with what is above it. */
static bool is_stack(const struct look *look, const struct seep_vma *vma)
{
    return look->guard_end == vma->start;
}

/* Written pages of a file that the job has mapped privately; those of programs and libraries, which
 * the loader maps, are their data. */
static uint64_t copied_of(const struct seep_vma *vma)
{
    const bool is_jobs =
        vma->file && !vma->shared && vma->anonymous_bytes && seep_map_overlap(vma->start, vma->end);
    if (!is_jobs)
        return 0;
    return vma->anonymous_bytes < vma->rss_bytes ? vma->anonymous_bytes : vma->rss_bytes;
}

static void take_map(const struct seep_vma *vma, void *arg)
{
    struct look *look = arg;
    const char *name = vma->name;
    uint64_t size = vma->end - vma->start;
    const uint64_t copied = copied_of(vma);
    const bool of_file = vma->file && !vma->shared;
    seep_map_resident(vma->start, vma->end, of_file ? copied : vma->rss_bytes, of_file);
    if (is_shm(vma)) {
        look->bytes[SHM] += vma->rss_bytes;
    } else if (vma->file) {
        look->file_kind = is_own(vma) ? SEEP : FILES;
        look->file_end = vma->end;
        look->bytes[look->file_kind] += vma->rss_bytes - copied;
        look->bytes[MAPS] += copied;
        look->copied_bytes += copied;
    } else if (strcmp(name, "[stack]") == 0) {
        look->bytes[STACKS] += vma->rss_bytes;
    } else if (begins(name, "[v") || begins(name, "[uprobes")) {
        look->bytes[FILES] += vma->rss_bytes;
    } else if (strcmp(name, "[heap]") == 0) {
        look_inside(look, vma, seep_live_any(vma->start, vma->end) ? HEAP : UNEXPLAINED, vma->end);
    } else if (look->file_end == vma->start) {
        look_inside(look, vma, look->file_kind, end_of_object(vma->start));
    } else if (is_stack(look, vma)) {
        look_inside(look, vma, STACKS, vma->start + look->largest_stack);
    } else {
        look_inside(look, vma, UNEXPLAINED, vma->end);
    }
    if (vma->none && !vma->file && size <= LARGEST_GUARD)
        look->guard_end = vma->end;
}

static uint64_t largest_stack(void)
{
    struct rlimit64 limit = {0};
    if (seep_os_call6(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit, 0, 0) < 0 ||
        limit.rlim_cur == RLIM64_INFINITY || limit.rlim_cur < MIN_STACK)
        return MIN_STACK;
    return seep_os_page_down(limit.rlim_cur);
}

bool seep_rss_look(uint64_t host_live_bytes, uint64_t about_bytes, struct seep_rss_sample *sample)
{
    struct look look = {.largest_stack = largest_stack()};
    seep_heap_walk_begin(about_bytes);
    const bool is_read = seep_smaps_read(take_map, &look);
    seep_written_end(&look.written);
    if (!is_read)
        return false;
    uint64_t small = host_live_bytes > look.large_bytes ? host_live_bytes - look.large_bytes : 0;
    if (small > look.bytes[HEAP])
        small = look.bytes[HEAP];
    uint64_t unrecorded = look.bytes[HEAP] - small;
    if (unrecorded > look.heap_unrecorded_bytes)
        unrecorded = look.heap_unrecorded_bytes;
    sample->rss_bytes = 0;
    for (unsigned k = 0; k < N_KINDS; k++)
        sample->rss_bytes += look.bytes[k];
    sample->heap_live_bytes = look.bytes[LIVE] + small;
    sample->heap_free_bytes = look.bytes[HEAP] - small - unrecorded;
    sample->maps_bytes = look.bytes[MAPS];
    sample->copied_bytes = look.copied_bytes;
    sample->written_bytes = look.written.bytes;
    sample->written_site = look.written.site;
    sample->shm_bytes = look.bytes[SHM];
    sample->stacks_bytes = look.bytes[STACKS];
    sample->files_bytes = look.bytes[FILES];
    sample->seep_bytes = look.bytes[SEEP];
    sample->unexplained_bytes = look.bytes[UNEXPLAINED] + unrecorded;
    return true;
}
