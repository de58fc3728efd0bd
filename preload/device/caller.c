#include "preload/device/caller.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>

#include "libprof/record/large.h"
#include "libprof/record/os.h"
#include "preload/objects/elf_find.h"
#include "preload/objects/modules.h"
#include "preload/record/thread.h"

enum { MOST_NEEDED = 256, REMEMBERED = 128 };

static const char *const names[] = {
#define SEEP_HOOK(name, type, parameters) #name,
#include "libprof/format/hooks.def"
#undef SEEP_HOOK
};

/* ---- what was found -------------------------------------------------------------------------- */

static struct seep_lock lock; /* of who searches */

/* By object and hook, each entered once: an object that was loaded anew has another id. */
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
    struct seep_loaded list[MOST_NEEDED];
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

/* The loader knows an object by the name that it was needed by, which its path ends with. */
static void add_named(struct scope *scope, const char *name)
{
    char path[SEEP_PATH_BYTES];
    struct seep_loaded object;
    for (unsigned i = 0; seep_modules_at(i, &object, path, sizeof(path)); i++) {
        if (strcmp(base_of(path), base_of(name)) != 0)
            continue;
        if (scope->n < MOST_NEEDED && !is_in(scope, &object))
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

/* Who loads a library with RTLD_GLOBAL gives it to objects that do not name it. */
static void *search_everywhere(const char *name)
{
    struct seep_loaded object, self;
    char path[SEEP_PATH_BYTES];
    void *real = NULL;
    const bool known = seep_modules_known((uintptr_t)search_everywhere, &self);
    for (unsigned i = 0; !real && seep_modules_at(i, &object, path, sizeof(path)); i++) {
        struct seep_elf_exports e;
        if ((!known || object.start != self.start) &&
            seep_elf_open(&e, object.bias, object.dynamic))
            real = (void *)seep_elf_address(&e, name);
    }
    return real;
}

static void *search(const struct seep_loaded *caller, const char *name)
{
    static SEEP_LARGE struct scope scope; /* the lock's */
    void *real = NULL;
    (void)seep_modules_refresh();
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

static void *find(uintptr_t ra, enum seep_hook hook)
{
    struct seep_loaded caller;
    void *real = NULL;
    if (!seep_modules_find(ra, &caller))
        return NULL;
    const uint64_t key = key_of(&caller, hook);
    if (recall(key, &real) || !seep_os_lock(&lock))
        return real;
    real = search(&caller, names[hook]);
    if (real)
        remember(key, real);
    seep_os_unlock(&lock);
    return real;
}

/* Behind the guard: a handler that forks in between is to leave the lock alone. */
void *seep_caller_real(uintptr_t ra, enum seep_hook hook)
{
    seep_guard_raise();
    void *real = find(ra, hook);
    seep_guard_lower();
    return real;
}

struct seep_lock *seep_caller_lock(void)
{
    return &lock;
}

void seep_caller_after_fork(void)
{
    lock.word = 0;
}

void *seep_caller_ask_loader(uintptr_t ra, enum seep_hook hook)
{
    Dl_info caller, own, its;
    void *real = NULL;
    if (!dladdr((void *)ra, &caller) || !caller.dli_fname)
        return NULL;
    void *object = dlopen(caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (object) {
        real = dlsym(object, names[hook]);
        (void)dlclose(object);
    }
    /* Of the program itself the loader searches all that is global, and we come first. */
    const bool is_ours =
        real && dladdr((void *)names, &own) && dladdr(real, &its) && own.dli_fbase == its.dli_fbase;
    return is_ours ? NULL : real;
}
