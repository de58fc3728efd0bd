/* Hooks of C++'s operator new and delete. Those of libstdc++ and libc++ call malloc, where blocks
 * are recorded: here they are only passed on. Allocators with operators of their own (jemalloc,
 * tcmalloc) never call malloc, so blocks are recorded here. Nothing is held over the real call,
 * which may throw. */
#include <string.h>

#include "preload/hooks/new.h"
#include "preload/objects/elf_find.h"
#include "preload/objects/modules.h"
#include "preload/objects/real.h"
#include "preload/record/record.h"

/* A function and whether its blocks may pass malloc by. */
struct provider {
    void *function;
    bool own;
};

static struct provider providers[SEEP_N_HOOKS];

/* One is true once a block of a non-standard provider came from malloc; the other once one did
 * not. */
static bool any_passed_on, any_kept;

static const struct {
    enum seep_hook hook;
    const char *name;
} operators[] = {
#define SEEP_HOOK(name, type, parameters) {SEEP_HOOK_##name, #name},
#include "libprof/format/hooks.def"
#undef SEEP_HOOK
};

static bool is_standard(const char *path)
{
    return strstr(path, "libstdc++.so") || strstr(path, "libc++");
}

/* If a library brought the C++ runtime along with dlopen (as in Python), RTLD_NEXT does not
 * search it. Nor may the loader be asked when an operator is called: it may be running a
 * constructor that waits for the caller. */
void seep_new_find(const struct seep_object *object)
{
    struct seep_elf_exports e;
    if (!is_standard(object->path) || !seep_elf_open(&e, object->bias, object->dynamic))
        return;
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (strncmp(operators[i].name, "_Zn", 3) != 0 && strncmp(operators[i].name, "_Zd", 3) != 0)
            continue;
        struct provider *provider = &providers[operators[i].hook];
        const void *next = ((void *const *)&seep_real)[operators[i].hook];
        void *found = next ? NULL : (void *)seep_elf_address(&e, operators[i].name);
        if (found && !provider->function)
            __atomic_store_n(&provider->function, found, __ATOMIC_RELEASE);
    }
}

void seep_new_forget(void)
{
    struct seep_loaded loaded;
    for (unsigned hook = 0; hook < SEEP_N_HOOKS; hook++)
        if (providers[hook].function &&
            !seep_modules_known((uintptr_t)providers[hook].function, &loaded))
            __atomic_store_n(&providers[hook].function, NULL, __ATOMIC_RELEASE);
}

static __attribute__((noinline)) void *resolve(enum seep_hook hook)
{
    void *const next = ((void *const *)&seep_real)[hook];
    char path[1024];
    seep_guard_raise(); /* a signal handler would ask for the same locks */
    if (!next) {
        seep_modules_on_object = seep_new_find; /* a process that records nothing has no start */
        (void)seep_modules_refresh();
    } else {
        providers[hook].own =
            seep_modules_path((uintptr_t)next, path, sizeof(path)) && !is_standard(path);
        __atomic_store_n(&providers[hook].function, next, __ATOMIC_RELEASE);
    }
    seep_guard_lower();
    return __atomic_load_n(&providers[hook].function, __ATOMIC_ACQUIRE);
}

/* Once, and before what is said of it: another thread may learn, or forget, it meanwhile. */
static inline void *real_of(enum seep_hook hook)
{
    void *function = __atomic_load_n(&providers[hook].function, __ATOMIC_ACQUIRE);
    return __builtin_expect(function != NULL, 1) ? function : resolve(hook);
}

#define REAL(name) ((__typeof__(seep_real.name))real_of(SEEP_HOOK_##name))
#define OWN(name)  __builtin_expect(providers[SEEP_HOOK_##name].own, 0)

/* How much this thread has recorded. */
static uint32_t ticks(void)
{
    return seep_tls.thread ? seep_tls.thread->ticks : 0;
}

static bool recorded(void *block)
{
    struct seep_block held;
    seep_record_hold(block, &held);
    if (held.site)
        seep_record_put_back(block, &held);
    return held.site != 0;
}

/* `before`: ticks() before the call. A runtime that was linked statically into a library is not a
 * standard one, but gets its blocks from malloc all the same, and malloc has recorded them. */
static void made(enum seep_hook hook, void *block, size_t bytes, uint32_t before,
                 struct seep_regs regs)
{
    if (!block || !seep_enter())
        return;
    seep_note_hook(hook);
    if (ticks() != before && (seep_arena.header->coarsest || recorded(block))) {
        any_passed_on = true;
    } else {
        any_kept = true;
        seep_record_allocation(block, bytes, &regs);
    }
    seep_leave();
}

static void gone(enum seep_hook hook, void *block)
{
    if (!block || (any_passed_on && !any_kept) || !seep_enter())
        return;
    seep_note_hook(hook);
    seep_record_free(block);
    seep_leave();
}

/* Without a C++ runtime nobody can call these; if somebody does, malloc is as good. */
#define NEW(name, parameters, arguments)                                                           \
    SEEP_EXPORT void *name parameters;                                                             \
    SEEP_EACH_EVENT SEEP_EXPORT void *name parameters                                              \
    {                                                                                              \
        __typeof__(seep_real.name) real = REAL(name);                                              \
        if (!real)                                                                                 \
            return SEEP_REAL(malloc)(bytes);                                                       \
        if (!OWN(name))                                                                            \
            return real arguments;                                                                 \
        uint32_t before = ticks();                                                                 \
        void *block = real arguments;                                                              \
        made(SEEP_HOOK_##name, block, bytes, before, SEEP_REGS());                                 \
        return block;                                                                              \
    }

#define DELETE(name, parameters, arguments)                                                        \
    SEEP_EXPORT void name parameters;                                                              \
    SEEP_EACH_EVENT SEEP_EXPORT void name parameters                                               \
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
