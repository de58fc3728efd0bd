/* A kernel with pages of 16 or 64 KiB, as far as seep's own calls see it: for tests that are linked
 * with --wrap=seep_os_call6 (LARGE_PAGES in tests/rules.mk). Addresses, lengths and offsets have to
 * be of its pages; where the real kernel would be content with less it says EINVAL, as such a
 * kernel does. Its pages are several real ones, which are resident, or shared, if any of them is.
 * Memory that tests map themselves comes from large_pages_map(). One thread. */
#ifndef SEEP_TESTS_LARGE_PAGES_H
#define SEEP_TESTS_LARGE_PAGES_H

#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libprof/runtime/store/os.h"

static inline uintptr_t large_pages_real(void)
{
    return (uintptr_t)sysconf(_SC_PAGESIZE);
}

/* Smaller than they are here they cannot be. */
static inline void large_pages_set(uintptr_t bytes)
{
    seep_os_page_known = bytes > large_pages_real() ? bytes : large_pages_real();
}

/* Setups of a suite: all its tests once with each size, after set_up(). */
#define LARGE_PAGES_SETUPS(set_up)                                                                 \
    static void set_up##_4_kib(void)                                                               \
    {                                                                                              \
        large_pages_set(4 << 10);                                                                  \
        set_up();                                                                                  \
    }                                                                                              \
    static void set_up##_16_kib(void)                                                              \
    {                                                                                              \
        large_pages_set(16 << 10);                                                                 \
        set_up();                                                                                  \
    }                                                                                              \
    static void set_up##_64_kib(void)                                                              \
    {                                                                                              \
        large_pages_set(64 << 10);                                                                 \
        set_up();                                                                                  \
    }                                                                                              \
    static void (*const large_pages_setups[])(void) = {set_up##_4_kib, set_up##_16_kib,            \
                                                       set_up##_64_kib};

static long large_pages_refused, large_pages_uneven; /* calls; of fallocate(), ends within a page */

static inline bool large_pages_even(long number)
{
    return ((uintptr_t)number & (seep_os_page_bytes() - 1)) == 0;
}

static inline long large_pages_refuse(void)
{
    large_pages_refused++;
    return -EINVAL;
}

/* Somewhere: more is mapped, and what lies beside is given back. */
static inline long large_pages_place(long bytes, long protection, long flags, long fd, long offset)
{
    const long whole = (long)seep_os_page_up((uintptr_t)bytes), page = (long)seep_os_page_bytes();
    const long room = seep_arch_call6(SYS_mmap, 0, whole + page, PROT_NONE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room < 0 && room > -4096)
        return room;
    const long at = (long)seep_os_page_up((uintptr_t)room);
    if (at > room)
        (void)seep_arch_call6(SYS_munmap, room, at - room, 0, 0, 0, 0);
    (void)seep_arch_call6(SYS_munmap, at + whole, room + page - at, 0, 0, 0, 0);
    return seep_arch_call6(SYS_mmap, at, whole, protection, flags | MAP_FIXED, fd, offset);
}

/* Of each large page whether any of its real ones is resident. */
static inline long large_pages_mincore(long at, long bytes, unsigned char *to)
{
    unsigned char real[16];
    const long page = (long)seep_os_page_bytes();
    for (long done = 0; done < bytes; done += page) {
        const long result = seep_arch_call6(SYS_mincore, at + done, page, (long)real, 0, 0, 0);
        if (result < 0)
            return result;
        *to = 0;
        for (long i = 0; i < page / (long)large_pages_real(); i++)
            *to |= real[i] & 1;
        to++;
    }
    return 0;
}

static inline bool large_pages_is_pagemap(long fd)
{
    char link[64], path[64] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%ld", fd);
    return readlink(link, path, sizeof path - 1) > 0 && strstr(path, "/pagemap");
}

static inline long large_pages_pagemap(long fd, uint64_t *to, long bytes, long offset)
{
    const long each = (long)(seep_os_page_bytes() / large_pages_real()), n = bytes / 8,
               first = offset / 8;
    for (long i = 0; i < n; i++) {
        uint64_t real[16] = {0};
        const long got =
            seep_arch_call6(SYS_pread64, fd, (long)real, each * 8, (first + i) * each * 8, 0, 0);
        if (got < each * 8)
            return i * 8;
        to[i] = 0;
        for (long k = 0; k < each; k++)
            to[i] |= real[k];
    }
    return n * 8;
}

long __wrap_seep_os_call6(long number, long a, long b, long c, long d, long e, long f);
long __wrap_seep_os_call6(long number, long a, long b, long c, long d, long e, long f)
{
    switch (number) {
    case SYS_mmap:
        if (!large_pages_even(f) || (d & MAP_FIXED && !large_pages_even(a)))
            return large_pages_refuse();
        if (!a)
            return large_pages_place(b, c, d, e, f);
        b = (long)seep_os_page_up((uintptr_t)b);
        break;
    case SYS_munmap:
    case SYS_madvise:
        if (!large_pages_even(a))
            return large_pages_refuse();
        b = (long)seep_os_page_up((uintptr_t)b);
        break;
    case SYS_mincore:
        return large_pages_even(a) ? large_pages_mincore(a, b, (unsigned char *)c)
                                   : large_pages_refuse();
    case SYS_pread64:
        if (large_pages_is_pagemap(a))
            return large_pages_pagemap(a, (uint64_t *)b, c, d);
        break;
    case SYS_fallocate:
        large_pages_uneven += !large_pages_even(c + d);
        break;
    default:
        break;
    }
    return seep_arch_call6(number, a, b, c, d, e, f);
}

/* Memory of whole pages, of no huge ones, that can be read and written. */
static inline void *large_pages_map(size_t bytes, int protection, int flags)
{
    const long at = large_pages_place((long)bytes, protection, flags | MAP_ANONYMOUS, -1, 0);
    ck_assert_msg(at > 0, "no memory");
    ck_assert_int_eq(madvise((void *)at, bytes, MADV_NOHUGEPAGE), 0);
    return (void *)at;
}

#endif
