/* Locks all its memory and prints the result; the caller has set RLIMIT_MEMLOCK and the user.
 *   usage: lock_all size | current [future|onfault]
 * size: prints the address space in use, in bytes. current: prints "locked BYTES" or "errno N". */
#include "tally.h"

#include <errno.h>
#include <sys/mman.h>

enum { KEPT = 300000 };

static char text[4096];

static unsigned long status_bytes(const char *key)
{
    FILE *file = fopen("/proc/self/status", "r");
    unsigned long kib = 0;
    MUST(file != NULL);
    while (fgets(text, sizeof text, file))
        if (strncmp(text, key, strlen(key)) == 0)
            kib = strtoul(text + strlen(key) + 1, NULL, 10);
    fclose(file);
    return kib * 1024;
}

int main(int argc, char **argv)
{
    MUST(argc >= 2);
    char *kept = malloc(KEPT); /* a map of libc's own */
    MUST(kept != NULL);
    unsigned long size = status_bytes("VmSize:");
    if (strcmp(argv[1], "size") == 0) {
        printf("%lu\n", size);
        return 0;
    }
    int flags = MCL_CURRENT;
    for (int i = 2; i < argc; i++)
        flags |= strcmp(argv[i], "future") == 0 ? MCL_FUTURE : MCL_ONFAULT;
    errno = 4242;
    if (mlockall(flags) != 0) {
        printf("errno %d\n", errno);
        return 0;
    }
    MUST(errno == 4242);
    unsigned long locked = status_bytes("VmLck:");
    char *more = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (flags & MCL_FUTURE)
        MUST(more == MAP_FAILED || status_bytes("VmLck:") > locked);
    else
        MUST(more != MAP_FAILED && status_bytes("VmLck:") == locked);
    printf("locked %lu\n", locked);
    return 0;
}
