/* Hooks of the malloc family. An allocation is recorded after the real call, a free before it: in
 * between another thread cannot own the address. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "preload/real.h"
#include "preload/record.h"

/* Before the real functions are known (dlsym itself may allocate), a static pool serves. */
#define BOOTSTRAP(name) __builtin_expect(!SEEP_REAL(name), 0)

static inline void allocated(enum seep_hook hook, void *block, size_t bytes, struct seep_regs regs)
{
    if (__builtin_expect(!block, 0) || !seep_enter())
        return;
    seep_note_hook(hook);
    seep_record_allocation(block, bytes, &regs);
    seep_leave();
}

SEEP_EXPORT void *malloc(size_t bytes)
{
    if (BOOTSTRAP(malloc))
        return seep_bootstrap_take(bytes, 16);
    void *block = seep_real.malloc(bytes);
    allocated(SEEP_HOOK_malloc, block, bytes, SEEP_REGS());
    return block;
}

SEEP_EXPORT void *calloc(size_t n, size_t each)
{
    size_t bytes;
    if (BOOTSTRAP(calloc)) /* the pool is zero and never used twice */
        return __builtin_mul_overflow(n, each, &bytes) ? NULL : seep_bootstrap_take(bytes, 16);
    void *block = seep_real.calloc(n, each);
    allocated(SEEP_HOOK_calloc, block, n * each, SEEP_REGS());
    return block;
}

SEEP_EXPORT void free(void *block)
{
    if (!block || __builtin_expect(seep_bootstrap_owns(block), 0))
        return;
    if (seep_enter()) {
        seep_record_free(block);
        seep_leave();
    }
    if (!BOOTSTRAP(free))
        seep_real.free(block);
}

SEEP_EXPORT void cfree(void *block);
SEEP_EXPORT void cfree(void *block)
{
    free(block);
}

static void *leave_bootstrap(void *block, size_t bytes)
{
    void *copy = BOOTSTRAP(malloc) ? seep_bootstrap_take(bytes, 16) : seep_real.malloc(bytes);
    size_t known = seep_bootstrap_size(block);
    if (copy)
        memcpy(copy, block, known < bytes ? known : bytes);
    return copy;
}

static void *reallocate(enum seep_hook hook, void *block, size_t bytes, struct seep_regs regs)
{
    struct seep_block held = {0};
    if (__builtin_expect(block && seep_bootstrap_owns(block), 0))
        return leave_bootstrap(block, bytes);
    if (!seep_enter())
        return seep_real.realloc(block, bytes);
    seep_note_hook(hook);
    if (block)
        seep_record_hold(block, &held);
    void *fresh = seep_real.realloc(block, bytes);
    int saved_errno = errno;
    /* realloc(block, 0) frees, and glibc then returns NULL. */
    if (held.site && (fresh || !bytes))
        seep_record_release(block, &held);
    else if (held.site)
        seep_record_put_back(block, &held);
    if (fresh)
        seep_record_allocation(fresh, bytes, &regs);
    errno = saved_errno;
    seep_leave();
    return fresh;
}

SEEP_EXPORT void *realloc(void *block, size_t bytes)
{
    if (BOOTSTRAP(realloc))
        return block ? leave_bootstrap(block, bytes) : seep_bootstrap_take(bytes, 16);
    return reallocate(SEEP_HOOK_realloc, block, bytes, SEEP_REGS());
}

SEEP_EXPORT void *reallocarray(void *block, size_t n, size_t each)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, each, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    if (BOOTSTRAP(realloc))
        return NULL;
    return reallocate(SEEP_HOOK_reallocarray, block, bytes, SEEP_REGS());
}

SEEP_EXPORT int posix_memalign(void **block, size_t align, size_t bytes)
{
    if (BOOTSTRAP(posix_memalign)) {
        *block = seep_bootstrap_take(bytes, align);
        return *block ? 0 : ENOMEM;
    }
    int result = seep_real.posix_memalign(block, align, bytes);
    if (result == 0)
        allocated(SEEP_HOOK_posix_memalign, *block, bytes, SEEP_REGS());
    return result;
}

SEEP_EXPORT void *aligned_alloc(size_t align, size_t bytes)
{
    if (BOOTSTRAP(aligned_alloc))
        return seep_bootstrap_take(bytes, align);
    void *block = seep_real.aligned_alloc(align, bytes);
    allocated(SEEP_HOOK_aligned_alloc, block, bytes, SEEP_REGS());
    return block;
}

SEEP_EXPORT void *memalign(size_t align, size_t bytes)
{
    if (BOOTSTRAP(memalign))
        return seep_bootstrap_take(bytes, align);
    void *block = seep_real.memalign(align, bytes);
    allocated(SEEP_HOOK_memalign, block, bytes, SEEP_REGS());
    return block;
}

SEEP_EXPORT void *valloc(size_t bytes)
{
    if (BOOTSTRAP(valloc))
        return seep_bootstrap_take(bytes, 4096);
    void *block = seep_real.valloc(bytes);
    allocated(SEEP_HOOK_valloc, block, bytes, SEEP_REGS());
    return block;
}

SEEP_EXPORT void *pvalloc(size_t bytes)
{
    if (BOOTSTRAP(pvalloc))
        return seep_bootstrap_take(bytes, 4096);
    void *block = seep_real.pvalloc(bytes);
    allocated(SEEP_HOOK_pvalloc, block, bytes, SEEP_REGS());
    return block;
}

SEEP_EXPORT size_t malloc_usable_size(void *block)
{
    if (block && seep_bootstrap_owns(block))
        return seep_bootstrap_size(block);
    return BOOTSTRAP(malloc_usable_size) ? 0 : seep_real.malloc_usable_size(block);
}
