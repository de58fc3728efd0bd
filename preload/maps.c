/* Hooks of mmap and its kin. Only maps that the job itself asks for come here: libc's own (for
 * large blocks, thread stacks, libraries) are made inside libc. A shared map belongs to space shm,
 * any other to mmap. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include "libprof/range_map.h"
#include "preload/capture.h"
#include "preload/job.h"
#include "preload/maps.h"
#include "preload/real.h"
#include "preload/start.h"
#include "preload/tick.h"

enum { MAX_PIECES = 64 };

static uintptr_t page_up(uintptr_t n)
{
    return (n + 4095) & ~(uintptr_t)4095;
}

/* What was taken out of the live set before a call, to be counted or put back after it: all of it,
 * for once the address is free another thread may map it. */
struct taken {
    struct seep_range few[MAX_PIECES];
    struct seep_range *pieces;
    unsigned n;
    size_t bytes; /* of `pieces`, when they are too many; 0: they are in `few` */
};

static void take(struct taken *taken, uintptr_t start, uintptr_t end)
{
    taken->pieces = taken->few;
    taken->bytes = 0;
    taken->n = seep_range_take(start, end, taken->few, MAX_PIECES);
    while (taken->n >= MAX_PIECES) {
        size_t bytes = (taken->bytes ? taken->bytes : sizeof(taken->few)) * 4;
        struct seep_range *more = seep_os_pages(bytes);
        if (!more)
            return;
        memcpy(more, taken->pieces, taken->n * sizeof(*more));
        if (taken->bytes)
            seep_os_unmap(taken->pieces, taken->bytes);
        taken->pieces = more;
        taken->bytes = bytes;
        unsigned capacity = (unsigned)(bytes / sizeof(*more));
        unsigned n = seep_range_take(start, end, more + taken->n, capacity - taken->n);
        taken->n += n;
        if (taken->n < capacity)
            return;
    }
}

static void drop(struct taken *taken)
{
    if (taken->bytes)
        seep_os_unmap(taken->pieces, taken->bytes);
}

static void put_back(const struct taken *taken)
{
    for (unsigned i = 0; i < taken->n; i++)
        (void)seep_range_put(&taken->pieces[i]);
}

static void note_gone(const struct seep_range *piece)
{
    struct seep_block block = {
        .site = piece->site, .birth = piece->birth, .bytes = piece->end - piece->start};
    seep_site_freed(&seep_tls.thread->sites, &block, piece->last, block.bytes, *seep_period);
}

/* Forgets what of a range was mapped, and counts it as gone. */
static void forget(uintptr_t start, uintptr_t end)
{
    struct seep_range pieces[MAX_PIECES];
    unsigned n;
    do {
        n = seep_range_take(start, end, pieces, MAX_PIECES);
        for (unsigned i = 0; i < n; i++)
            note_gone(&pieces[i]);
    } while (n == MAX_PIECES);
}

static void note_made(unsigned space, uintptr_t start, uintptr_t bytes,
                      const struct seep_regs *regs)
{
    struct seep_thread *thread = seep_tls.thread;
    struct seep_range range = {.start = start, .end = start + bytes};
    seep_tick(thread);
    range.site = seep_capture(thread, regs, space);
    range.birth = *seep_period;
    if (!range.site || !seep_range_put(&range)) {
        seep_arena_drop(range.site ? SEEP_DROP_MEMORY : seep_arena_reason());
        return;
    }
    seep_site_allocated(&thread->sites, seep_site_at(range.site), 1, bytes, bytes, range.birth);
}

static void mapped(enum seep_hook hook, void *at, size_t bytes, int protection, int flags,
                   struct seep_regs regs)
{
    if (at == MAP_FAILED || seep_start_is_allocator(regs.ra) || !seep_enter())
        return;
    int saved_errno = errno;
    uintptr_t start = (uintptr_t)at, n = page_up(bytes);
    seep_note_hook(hook);
    if (flags & MAP_FIXED) {
        forget(start, start + n);
        seep_stack_range_unmap(start, start + n);
    }
    bool address_space_only = protection == PROT_NONE && (flags & MAP_NORESERVE);
    if (!address_space_only) {
        int type = flags & MAP_TYPE;
        bool shared = type == MAP_SHARED || type == MAP_SHARED_VALIDATE;
        note_made(shared ? SEEP_SPACE_SHM : SEEP_SPACE_MMAP, start, n, &regs);
    }
    errno = saved_errno;
    seep_leave();
}

static void *raw_mmap(void *at, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
    long r = seep_os_call6(SYS_mmap, (long)at, (long)bytes, protection, flags, fd, offset);
    if (seep_os_failed((void *)r)) {
        errno = (int)-r;
        return MAP_FAILED;
    }
    return (void *)r;
}

SEEP_EXPORT void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    void *made = SEEP_REAL(mmap) ? seep_real.mmap(at, bytes, protection, flags, fd, offset)
                                 : raw_mmap(at, bytes, protection, flags, fd, offset);
    mapped(SEEP_HOOK_mmap, made, bytes, protection, flags, SEEP_REGS());
    return made;
}

SEEP_EXPORT void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
    void *made = SEEP_REAL(mmap64) ? seep_real.mmap64(at, bytes, protection, flags, fd, offset)
                                   : raw_mmap(at, bytes, protection, flags, fd, offset);
    mapped(SEEP_HOOK_mmap64, made, bytes, protection, flags, SEEP_REGS());
    return made;
}

static int real_munmap(void *at, size_t bytes)
{
    if (SEEP_REAL(munmap))
        return seep_real.munmap(at, bytes);
    long r = seep_os_call3(SYS_munmap, (long)at, (long)bytes, 0);
    if (r < 0)
        errno = (int)-r;
    return r < 0 ? -1 : 0;
}

/* Taken out before the real call, so that another thread may have the address at once; put back
 * when the call fails. */
SEEP_EXPORT int munmap(void *at, size_t bytes)
{
    if (!seep_enter())
        return real_munmap(at, bytes);
    struct taken taken;
    uintptr_t start = (uintptr_t)at, end = start + page_up(bytes);
    seep_note_hook(SEEP_HOOK_munmap);
    seep_stack_range_unmap(start, end);
    take(&taken, start, (start & 4095) ? start : end); /* else it fails */
    int result = real_munmap(at, bytes);
    int saved_errno = errno;
    if (result != 0)
        put_back(&taken);
    for (unsigned i = 0; result == 0 && i < taken.n; i++)
        note_gone(&taken.pieces[i]);
    drop(&taken);
    errno = saved_errno;
    seep_leave();
    return result;
}

static void note_remapped(const struct seep_range *pieces, unsigned n, uintptr_t old,
                          size_t old_bytes, uintptr_t fresh, size_t new_bytes,
                          const struct seep_regs *regs)
{
    unsigned space = seep_site_at(pieces[0].site)->space;
    /* The head stays as it is. */
    if (fresh == old && new_bytes <= old_bytes && n == 1 && pieces[0].start < old + new_bytes) {
        struct seep_range head = pieces[0], tail = pieces[0];
        if (head.end > old + new_bytes)
            head.end = old + new_bytes;
        tail.start = head.end;
        tail.last = 0;
        (void)seep_range_put(&head);
        if (tail.start < tail.end)
            note_gone(&tail);
        return;
    }
    for (unsigned i = 0; i < n; i++)
        note_gone(&pieces[i]);
    note_made(space, fresh, new_bytes, regs);
}

SEEP_EXPORT void *mremap(void *at, size_t old_bytes, size_t new_bytes, int flags, ...)
{
    void *wanted = NULL;
    if (flags & MREMAP_FIXED) {
        va_list list;
        va_start(list, flags);
        wanted = va_arg(list, void *);
        va_end(list);
    }
    struct seep_regs regs = SEEP_REGS();
    if (!SEEP_REAL(mremap)) {
        errno = ENOSYS;
        return MAP_FAILED;
    }
    if (!seep_enter())
        return seep_real.mremap(at, old_bytes, new_bytes, flags, wanted);
    struct taken taken;
    uintptr_t old = (uintptr_t)at;
    seep_note_hook(SEEP_HOOK_mremap);
    seep_stack_range_unmap(old, old + page_up(old_bytes));
    if (flags & MREMAP_FIXED)
        seep_stack_range_unmap((uintptr_t)wanted, (uintptr_t)wanted + page_up(new_bytes));
    take(&taken, old, old + page_up(old_bytes));
    void *fresh = seep_real.mremap(at, old_bytes, new_bytes, flags, wanted);
    int saved_errno = errno;
    if (fresh == MAP_FAILED) {
        put_back(&taken);
    } else {
        if (flags & MREMAP_FIXED)
            forget((uintptr_t)fresh, (uintptr_t)fresh + page_up(new_bytes));
        if (taken.n)
            note_remapped(taken.pieces, taken.n, old, page_up(old_bytes), (uintptr_t)fresh,
                          page_up(new_bytes), &regs);
        else if (!old_bytes && !seep_start_is_allocator(regs.ra)) /* a second map of shared pages */
            note_made(SEEP_SPACE_SHM, (uintptr_t)fresh, page_up(new_bytes), &regs);
    }
    drop(&taken);
    errno = saved_errno;
    seep_leave();
    return fresh;
}

/* Names for memory that mmap then maps: seen, so that coverage can tell. */
static void seen(enum seep_hook hook)
{
    if (!seep_enter())
        return;
    seep_note_hook(hook);
    seep_leave();
}

SEEP_EXPORT int shm_open(const char *name, int flags, mode_t mode)
{
    seen(SEEP_HOOK_shm_open);
    if (SEEP_REAL(shm_open))
        return seep_real.shm_open(name, flags, mode);
    errno = ENOSYS;
    return -1;
}

SEEP_EXPORT int memfd_create(const char *name, unsigned int flags)
{
    seen(SEEP_HOOK_memfd_create);
    if (SEEP_REAL(memfd_create))
        return seep_real.memfd_create(name, flags);
    errno = ENOSYS;
    return -1;
}

uint64_t seep_maps_overlap(uintptr_t start, uintptr_t end)
{
    (void)start;
    (void)end;
    return 0;
}

void seep_maps_resident(uintptr_t start, uintptr_t end, uint64_t resident_bytes)
{
    (void)start;
    (void)end;
    (void)resident_bytes;
}

bool seep_maps_any_by_touch(void)
{
    return false;
}
