/* Hooks of C++'s operator new and delete. Those of libstdc++ and libc++ come to malloc, where they
 * are recorded: here they are only passed on. Allocators that bring their own (jemalloc, tcmalloc)
 * never come to malloc, and are recorded here. Nothing is held over the real call, which may throw.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "preload/real.h"
#include "preload/record.h"

/* A function and whether its blocks pass malloc by. */
struct provider {
    void *function;
    bool own;
};

static struct provider providers[SEEP_N_HOOKS];

static int find_library(struct dl_phdr_info *info, size_t size, void *data)
{
    const char **path = data;
    (void)size;
    if (info->dlpi_name &&
        (strstr(info->dlpi_name, "/libstdc++.so") || strstr(info->dlpi_name, "/libc++.so")))
        *path = info->dlpi_name;
    return *path != NULL;
}

/* Where the runtime of C++ came with a library that was loaded for itself (as Python does), it is
 * not among the objects that RTLD_NEXT searches. */
static void *look_in_library(const char *name)
{
    const char *path = NULL;
    dl_iterate_phdr(find_library, &path);
    void *library = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    return library ? dlsym(library, name) : NULL; /* kept open: it is in use */
}

static __attribute__((noinline)) void *resolve(enum seep_hook hook, void *next, const char *name)
{
    Dl_info where;
    seep_tls.depth++; /* the loader's own allocations are not the job's */
    void *function = next ? next : look_in_library(name);
    seep_tls.depth--;
    if (!function)
        return NULL;
    bool standard = !dladdr(function, &where) || !where.dli_fname ||
                    strstr(where.dli_fname, "libstdc++.so") || strstr(where.dli_fname, "libc++");
    providers[hook].own = !standard;
    __atomic_store_n(&providers[hook].function, function, __ATOMIC_RELEASE);
    return function;
}

#define REAL(name)                                                                                 \
    ((__typeof__(seep_real.name))(__builtin_expect(providers[SEEP_HOOK_##name].function != NULL,   \
                                                   1)                                              \
                                      ? providers[SEEP_HOOK_##name].function                       \
                                      : resolve(SEEP_HOOK_##name, (void *)seep_real.name, #name)))
#define OWN(name) __builtin_expect(providers[SEEP_HOOK_##name].own, 0)

static void made(enum seep_hook hook, void *block, size_t bytes, struct seep_regs regs)
{
    if (!block || !seep_enter())
        return;
    seep_note_hook(hook);
    seep_record_allocation(block, bytes, &regs);
    seep_leave();
}

static void gone(enum seep_hook hook, void *block)
{
    if (!block || !seep_enter())
        return;
    seep_note_hook(hook);
    seep_record_free(block);
    seep_leave();
}

/* Without a runtime of C++ nobody can call these; if somebody does, malloc is as good. */
#define NEW(name, parameters, arguments)                                                           \
    SEEP_EXPORT void *name parameters;                                                             \
    SEEP_EXPORT void *name parameters                                                              \
    {                                                                                              \
        __typeof__(seep_real.name) real = REAL(name);                                              \
        if (!real)                                                                                 \
            return SEEP_REAL(malloc)(bytes);                                                       \
        if (!OWN(name))                                                                            \
            return real arguments;                                                                 \
        void *block = real arguments;                                                              \
        made(SEEP_HOOK_##name, block, bytes, SEEP_REGS());                                         \
        return block;                                                                              \
    }

#define DELETE(name, parameters, arguments)                                                        \
    SEEP_EXPORT void name parameters;                                                              \
    SEEP_EXPORT void name parameters                                                               \
    {                                                                                              \
        __typeof__(seep_real.name) real = REAL(name);                                              \
        if (!real) {                                                                               \
            SEEP_REAL(free)(block);                                                                \
            return;                                                                                \
        }                                                                                          \
        if (OWN(name))                                                                             \
            gone(SEEP_HOOK_##name, block);                                                         \
        real arguments;                                                                            \
    }

NEW(_Znwm, (size_t bytes), (bytes))
NEW(_Znam, (size_t bytes), (bytes))
NEW(_ZnwmRKSt9nothrow_t, (size_t bytes, const void *tag), (bytes, tag))
NEW(_ZnamRKSt9nothrow_t, (size_t bytes, const void *tag), (bytes, tag))
NEW(_ZnwmSt11align_val_t, (size_t bytes, size_t align), (bytes, align))
NEW(_ZnamSt11align_val_t, (size_t bytes, size_t align), (bytes, align))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t, (size_t bytes, size_t align, const void *tag),
    (bytes, align, tag))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t, (size_t bytes, size_t align, const void *tag),
    (bytes, align, tag))
DELETE(_ZdlPv, (void *block), (block))
DELETE(_ZdaPv, (void *block), (block))
DELETE(_ZdlPvm, (void *block, size_t bytes), (block, bytes))
DELETE(_ZdaPvm, (void *block, size_t bytes), (block, bytes))
DELETE(_ZdlPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag))
DELETE(_ZdaPvRKSt9nothrow_t, (void *block, const void *tag), (block, tag))
DELETE(_ZdlPvSt11align_val_t, (void *block, size_t align), (block, align))
DELETE(_ZdaPvSt11align_val_t, (void *block, size_t align), (block, align))
DELETE(_ZdlPvmSt11align_val_t, (void *block, size_t bytes, size_t align), (block, bytes, align))
DELETE(_ZdaPvmSt11align_val_t, (void *block, size_t bytes, size_t align), (block, bytes, align))
