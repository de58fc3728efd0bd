#include "libprof/runtime/store/live_place.h"

#include "libprof/runtime/store/live_blocks.h"
#include "libprof/runtime/store/own_pages.h"

/* The library's own variables, as its linker names them. */
extern const char __bss_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

uint64_t seep_live_place(void)
{
    static struct seep_live_place place;
    const uint32_t *n_own;

    place.own = (uintptr_t)seep_own_table(&n_own);
    place.n_own = (uintptr_t)n_own;
    place.roots = (uintptr_t)seep_live_roots;
    place.data = (uintptr_t)__bss_start;
    place.data_end = (uintptr_t)_end;
    place.version = SEEP_LIVE_VERSION;
    place.magic = SEEP_LIVE_MAGIC;
    return (uintptr_t)&place;
}
