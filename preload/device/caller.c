#include "preload/device/caller.h"

#include <elf.h>
#include <string.h>

#include "libprof/runtime/store/os.h"
#include "libprof/runtime/store/placement.h"
#include "preload/objects/elf_find.h"
#include "preload/objects/loader.h"
#include "preload/objects/modules.h"
#include "preload/record/thread.h"

enum { MAX_NEEDED = 256, REMEMBERED = 128 };

static const char *const names[] = {
#define SEEP_HOOK(name, type, parameters) #name,
#include "libprof/format/hooks.def"
#undef SEEP_HOOK
};

static __thread uintptr_t passed_on_to; /* the result of the last search */

static bool is_ours(uintptr_t start, uintptr_t end)
{
    return (uintptr_t)names >= start && (uintptr_t)names < end;
}

/* ---- what was found -------------------------------------------------------------------------- */

static struct seep_lock lock; /* of who searches */

/* By object and hook, each entered once: an object that was loaded again has another id. */
static struct {
    uint64_t key; /* stored last; 0: free */
    void *real;
} found[REMEMBERED];

static uint64_t key_of(const struct seep_loaded *caller, enum seep_hook hook)
{
    return (uint64_t)caller->id << 32 | ((uint32_t)hook + 1);
}

static bool recall(uint64_t key, void **real)
{
    for (unsigned i = 0; i < REMEMBERED; i++) {
        const uint64_t its = __atomic_load_n(&found[i].key, __ATOMIC_ACQUIRE);
        if (its == key)
            *real = found[i].real;
        if (its == key || !its)
            return its == key;
    }
    return false;
}

static void remember(uint64_t key, void *real)
{
    unsigned i = 0;
    while (i < REMEMBERED && found[i].key && found[i].key != key)
        i++;
    if (i < REMEMBERED && !found[i].key) {
        found[i].real = real;
        __atomic_store_n(&found[i].key, key, __ATOMIC_RELEASE);
    }
}

/* ---- the search ------------------------------------------------------------------------------ */

/* Objects in the order in which they are searched, each once. */
struct scope {
    struct seep_loaded list[MAX_NEEDED];
    unsigned n;
};

static bool is_in(const struct scope *scope, const struct seep_loaded *object)
{
    for (unsigned i = 0; i < scope->n; i++)
        if (scope->list[i].start == object->start)
            return true;
    return false;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The loader knows an object by the name under which it was needed, and its path ends with that. */
static void add_named(struct scope *scope, const char *name)
{
    char path[SEEP_PATH_BYTES];
    struct seep_loaded object;
    for (unsigned i = 0; seep_modules_at(i, &object, path, sizeof(path)); i++) {
        if (strcmp(base_of(path), base_of(name)) != 0)
            continue;
        if (scope->n < MAX_NEEDED && !is_in(scope, &object))
            scope->list[scope->n++] = object;
        return;
    }
}

static void add_needed(struct scope *scope, const struct seep_elf_exports *e,
                       const ElfW(Dyn) * dynamic)
{
    for (; dynamic->d_tag != DT_NULL; dynamic++)
        if (dynamic->d_tag == DT_NEEDED)
            add_named(scope, e->names + dynamic->d_un.d_val);
}

/* The first object of the loader's list that exports it, except us; or only those after us, if
 * asked for. */
static void *search_list(const char *name, bool behind_us)
{
    struct seep_object object;
    void *real = NULL;
    const struct link_map *map = seep_loader_first();
    for (unsigned i = 0; map && !real && i < SEEP_LOADER_MOST; i++) {
        struct seep_elf_exports e;
        const bool is_there = seep_loader_describe(map, 0, &object);
        const bool is_us = is_there && is_ours(object.start, object.end);
        if (is_there && !is_us && !behind_us && seep_elf_open(&e, object.bias, object.dynamic))
            real = (void *)seep_elf_address(&e, name);
        behind_us = behind_us && !is_us;
        map = seep_loader_next(map);
    }
    return real;
}

/* A library loaded with RTLD_GLOBAL also serves objects that do not name it: first come, first
 * served, as the loader does it. This search needs only the loader's list, so it also serves when
 * there was no room to look up the caller. */
static void *search_everywhere(const char *name)
{
    return search_list(name, false);
}

/* Another preload between the program and us that exports the function passes calls on to what
 * comes after it. */
static bool stands_in_front(const struct seep_loaded *caller)
{
    struct seep_object object;
    const struct link_map *map = seep_loader_first();
    for (unsigned i = 0; map && i < SEEP_LOADER_MOST; i++, map = seep_loader_next(map)) {
        if (!seep_loader_describe(map, 0, &object))
            continue;
        if (is_ours(object.start, object.end))
            return false;
        if (object.start == caller->start)
            return i > 0;
    }
    return false;
}

static void *search(const struct seep_loaded *caller, const char *name)
{
    static SEEP_LARGE struct scope scope; /* the lock's */
    void *real = NULL;
    (void)seep_modules_refresh();
    if (stands_in_front(caller))
        return search_list(name, true);
    scope.list[0] = *caller;
    scope.n = 1;
    for (unsigned i = 0; i < scope.n && !real; i++) {
        struct seep_elf_exports e;
        const struct seep_loaded *object = &scope.list[i];
        if (seep_elf_open(&e, object->bias, object->dynamic))
            real = (void *)seep_elf_address(&e, name);
        if (e.names && object->dynamic)
            add_needed(&scope, &e, object->dynamic);
    }
    return real ? real : search_everywhere(name);
}

/* If we passed a call on to a function that ends with a jump to another hooked function, we appear
 * as that one's caller. */
static bool find_caller(uintptr_t ra, struct seep_loaded *caller)
{
    return seep_modules_find(ra, caller) &&
           (!is_ours(caller->start, caller->end) ||
            (seep_modules_find(passed_on_to, caller) && !is_ours(caller->start, caller->end)));
}

static void *find(uintptr_t ra, enum seep_hook hook)
{
    struct seep_loaded caller;
    void *real = NULL;
    if (!find_caller(ra, &caller))
        return search_everywhere(names[hook]);
    const uint64_t key = key_of(&caller, hook);
    if (recall(key, &real))
        return real;
    if (!seep_os_lock(&lock))
        return search_everywhere(names[hook]);
    real = search(&caller, names[hook]);
    if (real)
        remember(key, real);
    seep_os_unlock(&lock);
    return real;
}

/* Inside the guard: a handler that forks in between must not touch the lock. */
void *seep_caller_real(uintptr_t ra, enum seep_hook hook)
{
    seep_guard_raise();
    void *real = find(ra, hook);
    passed_on_to = (uintptr_t)real;
    seep_guard_lower();
    return real;
}

void *seep_caller_anyone(const char *name)
{
    return search_everywhere(name);
}

struct seep_lock *seep_caller_lock(void)
{
    return &lock;
}

void seep_caller_after_fork(void)
{
    lock.word = 0;
}
