/* Hooks of the malloc family. An allocation is recorded after the real call, a free before it: in
 * between another thread cannot own the address. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "preload/objects/real.h"
#include "preload/record/record.h"

/* `error`: of the real call, which returned no block. */
static __attribute__((noinline, cold)) void refused(enum seep_hook hook, int error, size_t bytes,
                                                    const struct seep_regs *regs)
{
    int saved_errno = errno;
    if (error != ENOMEM || !bytes || !seep_enter())
        return;
    seep_note_hook(hook);
    seep_host_oom_note(bytes, regs, SEEP_SPACE_HOST);
    errno = saved_errno;
    seep_leave();
}

static inline void allocated(enum seep_hook hook, void *block, size_t bytes, struct seep_regs regs)
{
    if (__builtin_expect(!block, 0)) {
        refused(hook, errno, bytes, &regs);
        return;
    }
    if (!seep_enter())
        return;
    seep_note_hook(hook);
    seep_record_allocation(block, bytes, &regs);
    seep_leave();
}

SEEP_EACH_EVENT SEEP_EXPORT void *malloc(size_t bytes)
{
    void *block = SEEP_REAL(malloc)(bytes);
    allocated(SEEP_HOOK_malloc, block, bytes, SEEP_REGS());
    return block;
}

SEEP_EACH_EVENT SEEP_EXPORT void *calloc(size_t n, size_t each)
{
    void *block = SEEP_REAL(calloc)(n, each);
    size_t bytes = n * each;
    if (__builtin_expect(!block, 0) && __builtin_mul_overflow(n, each, &bytes))
        bytes = SIZE_MAX;
    allocated(SEEP_HOOK_calloc, block, bytes, SEEP_REGS());
    return block;
}

SEEP_EACH_EVENT SEEP_EXPORT void free(void *block)
{
    if (!block)
        return;
    if (seep_enter()) {
        seep_record_free(block);
        seep_leave();
    }
    SEEP_REAL(free)(block);
}

SEEP_EXPORT void cfree(void *block);
SEEP_EXPORT void cfree(void *block)
{
    free(block);
}

/* From C23; older C libraries lack it. There free() is as good, as the standard says. */
#define FREE(name, parameters, arguments)                                                          \
    SEEP_EXPORT void name parameters;                                                              \
    SEEP_EXPORT void name parameters                                                               \
    {                                                                                              \
        if (!block)                                                                                \
            return;                                                                                \
        if (seep_enter()) {                                                                        \
            seep_note_hook(SEEP_HOOK_##name);                                                      \
            seep_record_free(block);                                                               \
            seep_leave();                                                                          \
        }                                                                                          \
        if (seep_real.name)                                                                        \
            seep_real.name arguments;                                                              \
        else                                                                                       \
            SEEP_REAL(free)(block);                                                                \
    }

FREE(free_sized, (void *block, size_t bytes), (block, bytes))
FREE(free_aligned_sized, (void *block, size_t align, size_t bytes), (block, align, bytes))

static SEEP_EACH_EVENT void *reallocate(enum seep_hook hook, void *block, size_t bytes,
                                        struct seep_regs regs)
{
    struct seep_block held = {0};
    if (!seep_enter())
        return SEEP_REAL(realloc)(block, bytes);
    seep_note_hook(hook);
    if (block) {
        seep_record_move_begins();
        seep_record_hold(block, &held);
    }
    void *fresh = SEEP_REAL(realloc)(block, bytes);
    int saved_errno = errno;
    /* realloc(block, 0) frees, and glibc then returns NULL. */
    if (held.site && (fresh || !bytes))
        seep_record_release(block, &held);
    else if (held.site)
        seep_record_put_back(block, &held);
    if (fresh)
        seep_record_allocation(fresh, bytes, &regs);
    else if (bytes && saved_errno == ENOMEM)
        seep_host_oom_note(bytes, &regs, SEEP_SPACE_HOST);
    seep_record_move_ends();
    errno = saved_errno;
    seep_leave();
    return fresh;
}

SEEP_EACH_EVENT SEEP_EXPORT void *realloc(void *block, size_t bytes)
{
    return reallocate(SEEP_HOOK_realloc, block, bytes, SEEP_REGS());
}

SEEP_EXPORT void *reallocarray(void *block, size_t n, size_t each)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, each, &bytes)) {
        struct seep_regs regs = SEEP_REGS();
        refused(SEEP_HOOK_reallocarray, ENOMEM, SIZE_MAX, &regs);
        errno = ENOMEM;
        return NULL;
    }
    return reallocate(SEEP_HOOK_reallocarray, block, bytes, SEEP_REGS());
}

SEEP_EACH_EVENT SEEP_EXPORT int posix_memalign(void **block, size_t align, size_t bytes)
{
    int result = SEEP_REAL(posix_memalign)(block, align, bytes);
    struct seep_regs regs = SEEP_REGS();
    if (__builtin_expect(result == 0, 1))
        allocated(SEEP_HOOK_posix_memalign, *block, bytes, regs);
    else
        refused(SEEP_HOOK_posix_memalign, result, bytes, &regs);
    return result;
}

#define ALLOCATE(name, parameters, arguments)                                                      \
    SEEP_EXPORT void *name parameters                                                              \
    {                                                                                              \
        void *block = SEEP_REAL(name) arguments;                                                   \
        allocated(SEEP_HOOK_##name, block, bytes, SEEP_REGS());                                    \
        return block;                                                                              \
    }

ALLOCATE(aligned_alloc, (size_t align, size_t bytes), (align, bytes))
ALLOCATE(memalign, (size_t align, size_t bytes), (align, bytes))
ALLOCATE(valloc, (size_t bytes), (bytes))
ALLOCATE(pvalloc, (size_t bytes), (bytes))

SEEP_EXPORT size_t malloc_usable_size(void *block)
{
    return SEEP_REAL(malloc_usable_size)(block);
}
