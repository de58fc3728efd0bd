#include "libprof/runtime/store/address_space.h"

#include <sys/resource.h>

#include "libprof/runtime/store/os.h"

void seep_address_space_read(struct seep_address_space *space)
{
    enum { ADDRESSES, RESIDENT, SHARED, DATA = 5, N };
    char text[128];
    uint64_t pages[N + 1] = {0};
    unsigned field = 0;
    const uint64_t page = seep_os_page_bytes();
    const long n = seep_os_read_file("/proc/self/statm", text, sizeof(text));
    for (long i = 0; i < n && field < N + 1; i++) {
        if (text[i] >= '0' && text[i] <= '9')
            pages[field] = pages[field] * 10 + (uint64_t)(text[i] - '0');
        else
            field++;
    }
    *space = (struct seep_address_space){.bytes = pages[ADDRESSES] * page,
                                         .resident_bytes = pages[RESIDENT] * page,
                                         .shared_bytes = pages[SHARED] * page,
                                         .data_bytes = pages[DATA] * page};
}

uint64_t seep_address_space_limit(int resource)
{
    struct rlimit64 limit = {.rlim_cur = RLIM64_INFINITY};
    if (seep_os_call6(SYS_prlimit64, 0, resource, 0, (long)&limit, 0, 0) < 0 ||
        limit.rlim_cur == RLIM64_INFINITY)
        return 0;
    return limit.rlim_cur;
}
