/* A library whose initialiser runs before the shim's (built with -z initfirst, and loaded after
 * it), and which finds an allocator there that fails correctly. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails_with_enomem(size_t n, size_t each)
{
    errno = 0;
    return reallocarray(NULL, n, each) == NULL && errno == ENOMEM;
}

__attribute__((constructor)) static void initialise(void)
{
    volatile size_t huge = SIZE_MAX / 2;
    char *block = reallocarray(NULL, 100, 3);
    const char *said = "as it should\n";

    if (!block || !(block = reallocarray(memset(block, 1, 300), 200, 3)) || block[299] != 1)
        said = "no block\n";
    else if (!fails_with_enomem(huge, 4) || !fails_with_enomem(huge, 1))
        said = "no errno\n";
    free(block);
    if (write(1, said, strlen(said)) < 0)
        abort();
}
