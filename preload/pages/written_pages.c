#include "preload/pages/written_pages.h"

#include "libprof/runtime/store/os.h"
#include "libprof/runtime/store/placement.h"

enum {
    AT_ONCE = 512, /* pages */
    WHOLE_PIECES = 32,
};

#define PRESENT   (UINT64_C(1) << 63)
#define EXCLUSIVE (UINT64_C(1) << 56) /* mapped by no other process; from Linux 4.2 on */

static SEEP_LARGE uint64_t flags[AT_ONCE];

/* Of [first, first + n) pages; 0 where the kernel does not say. */
static uint64_t count(int fd, uintptr_t first, uint64_t n)
{
    const long got = seep_os_call6(SYS_pread64, fd, (long)flags, (long)(n * sizeof *flags),
                                   (long)(first * sizeof *flags), 0, 0);
    uint64_t own = 0;
    for (long i = 0; i < got / (long)sizeof *flags; i++)
        own += (flags[i] & (PRESENT | EXCLUSIVE)) == (PRESENT | EXCLUSIVE);
    return own;
}

static uint64_t count_block(struct seep_written *w, uintptr_t start, uintptr_t end)
{
    const unsigned bits = seep_os_page_bits();
    const uintptr_t first = seep_os_page_up(start) >> bits, last = end >> bits;
    const uint64_t pieces = (last - first + AT_ONCE - 1) / AT_ONCE;
    const uint64_t looked = w->looked_bytes >> bits;
    const uint64_t stride = 1 + (pieces + looked / AT_ONCE) / WHOLE_PIECES;
    uint64_t own = 0, seen = 0;
    if (!w->pagemap_plus_1)
        w->pagemap_plus_1 = seep_os_open("/proc/self/pagemap", O_RDONLY, 0) + 1;
    if (w->pagemap_plus_1 <= 0)
        return 0;
    for (uintptr_t at = first; at < last; at += AT_ONCE * stride) {
        const uint64_t n = last - at < AT_ONCE ? last - at : AT_ONCE;
        own += count(w->pagemap_plus_1 - 1, at, n);
        seen += n;
    }
    w->looked_bytes += seen << bits;
    return seen ? (own * (last - first) / seen) << bits : 0;
}

void seep_written_add(struct seep_written *w, uintptr_t start, uintptr_t end, uint32_t site)
{
    const uint64_t bytes = count_block(w, start, end);
    w->bytes += bytes;
    if (site == w->site) {
        w->lead += bytes;
    } else if (bytes > w->lead) {
        w->site = site;
        w->lead = bytes - w->lead;
    } else {
        w->lead -= bytes;
    }
}

void seep_written_end(struct seep_written *w)
{
    if (w->pagemap_plus_1 > 0)
        seep_os_close(w->pagemap_plus_1 - 1);
}
