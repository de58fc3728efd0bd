#include "libprof/runtime/store/os_page.h"

#include <sys/auxv.h>

#include "libprof/format/page_format.h"

uintptr_t seep_os_page_known;

static uintptr_t ask(void)
{
    const uintptr_t told = getauxval(AT_PAGESZ);
    const uintptr_t page = seep_is_page_size(told) ? told : SEEP_LEAST_PAGE_BYTES;
    __atomic_store_n(&seep_os_page_known, page, __ATOMIC_RELAXED);
    return page;
}

uintptr_t seep_os_page_bytes(void)
{
    const uintptr_t known = __atomic_load_n(&seep_os_page_known, __ATOMIC_RELAXED);
    return __builtin_expect(known != 0, 1) ? known : ask();
}

unsigned seep_os_page_bits(void)
{
    return (unsigned)__builtin_ctzl(seep_os_page_bytes());
}

uintptr_t seep_os_page_down(uintptr_t at)
{
    return at & -seep_os_page_bytes();
}

uintptr_t seep_os_page_up(uintptr_t at)
{
    const uintptr_t page = seep_os_page_bytes();
    return (at + page - 1) & -page;
}
