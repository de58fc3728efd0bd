#include "libprof/base/page_bytes.h"

#include <unistd.h>

uint64_t seep_page_bytes(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}
