#include "preload/real.h"

#include <dlfcn.h>
#include <string.h>

#include "preload/fork.h"
#include "preload/thread.h"

struct seep_real seep_real;

enum { POOL_BYTES = 64 * 1024 };

/* Each block is preceded by its size; nothing is ever given back. */
static _Alignas(16) char pool[POOL_BYTES];
static size_t pool_used;

void *seep_bootstrap_take(size_t bytes, size_t align)
{
    if (align < 16)
        align = 16;
    if (bytes > POOL_BYTES || align > 4096)
        return NULL;
    size_t room = bytes + align + 16;
    size_t start = __atomic_fetch_add(&pool_used, (room + 15) & ~(size_t)15, __ATOMIC_RELAXED);
    if (start + room > POOL_BYTES)
        return NULL;
    uintptr_t p = ((uintptr_t)pool + start + 16 + align - 1) & ~(uintptr_t)(align - 1);
    memcpy((void *)(p - sizeof(bytes)), &bytes, sizeof(bytes));
    return (void *)p;
}

bool seep_bootstrap_owns(const void *p)
{
    return (uintptr_t)p - (uintptr_t)pool < POOL_BYTES;
}

size_t seep_bootstrap_size(const void *p)
{
    size_t bytes;
    memcpy(&bytes, (const char *)p - sizeof(bytes), sizeof(bytes));
    return bytes;
}

static bool resolving; /* also by dlsym's own allocations, on this thread: they use the pool */

void seep_real_after_fork(void)
{
    resolving = false;
}

void seep_real_resolve(void)
{
    if (__atomic_exchange_n(&resolving, true, __ATOMIC_ACQ_REL))
        return;
    void *found;
    seep_tls.depth++; /* what dlsym allocates is not the job's */
#define SEEP_HOOK(name, type, parameters)                                                          \
    found = dlsym(RTLD_NEXT, #name);                                                               \
    __atomic_store_n((void **)&seep_real.name, found, __ATOMIC_RELEASE);
#include "preload/hooks.def"
#undef SEEP_HOOK
    (void)dlerror(); /* of those that are not there: not for the job to see */
    seep_fork_watch();
    seep_tls.depth--;
    /* Missing only where libc has dropped them or never had them. */
    if (!seep_real.cfree)
        seep_real.cfree = seep_real.free;
    __atomic_store_n(&resolving, false, __ATOMIC_RELEASE);
}
