#include "preload/unwind.h"

#include <dlfcn.h>
#include <stddef.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "preload/pyframe.h"

/* The library is opened here and kept out of the global scope: linked, its _Unwind_* and backtrace()
 * would replace those of the job. */
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

static struct {
    int (*get_context)(unw_tdep_context_t *);
    int (*init_local)(unw_cursor_t *, unw_context_t *);
    int (*step)(unw_cursor_t *);
    int (*get_reg)(unw_cursor_t *, unw_regnum_t, unw_word_t *);
} unw;

static void *symbol(void *library, const char *name)
{
    return library ? dlsym(library, name) : NULL;
}

void seep_unwind_start(void)
{
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    *(void **)&unw.get_context = symbol(library, TEXT(unw_tdep_getcontext));
    *(void **)&unw.init_local = symbol(library, TEXT(unw_init_local));
    *(void **)&unw.get_reg = symbol(library, TEXT(unw_get_reg));
    void *step = symbol(library, TEXT(unw_step));
    void *address_space = symbol(library, TEXT(unw_local_addr_space));
    int (*set_policy)(unw_addr_space_t, unw_caching_policy_t);
    *(void **)&set_policy = symbol(library, TEXT(unw_set_caching_policy));
    if (!unw.get_context || !unw.init_local || !unw.get_reg || !step)
        return;
    if (address_space && set_policy)
        (void)set_policy(*(unw_addr_space_t *)address_space, UNW_CACHE_PER_THREAD);
    /* Warm: its first use maps memory and reads tables. */
    unw_context_t context;
    unw_cursor_t cursor;
    int (*step_fn)(unw_cursor_t *);
    *(void **)&step_fn = step;
    if (unw.get_context(&context) == 0 && unw.init_local(&cursor, &context) == 0)
        (void)step_fn(&cursor);
    __atomic_store_n(&unw.step, step_fn, __ATOMIC_RELEASE);
}

bool seep_unwind_available(void)
{
    return unw.step != NULL;
}

unsigned seep_unwind_rest(uintptr_t from, bool stop_at_eval, uintptr_t *addresses, unsigned n,
                          unsigned capacity)
{
    unw_context_t context;
    unw_cursor_t cursor;
    unw_word_t ip = 0;
    if (!unw.step || unw.get_context(&context) != 0 || unw.init_local(&cursor, &context) != 0)
        return n;
    /* The occurrence that was walked last: `n` counts the frames inside of it, so a recursive function
     * is not mistaken for its outer self. */
    unsigned seen = 0, wanted = 0;
    for (unsigned i = 0; i < n; i++)
        wanted += addresses[i] == from;
    for (unsigned depth = 0; seen < wanted; depth++) {
        if (depth > 2 * capacity || unw.step(&cursor) <= 0)
            return n;
        unw.get_reg(&cursor, UNW_REG_IP, &ip);
        seen += ip == from;
    }
    while (n < capacity && unw.step(&cursor) > 0) {
        unw.get_reg(&cursor, UNW_REG_IP, &ip);
        if (!ip || (stop_at_eval && seep_python_is_eval((uintptr_t)ip - 1)))
            break;
        addresses[n++] = (uintptr_t)ip;
    }
    return n;
}
