/* An allocator's own C23 functions, behind the shim: reports which of them was called. Built by the
 * tests as a shared object and preloaded after libseep.so. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void called(const char *line)
{
    if (write(2, line, strlen(line)) < 0)
        abort();
}

void free_sized(void *block, size_t bytes)
{
    called(bytes == 100 ? "free_sized 100\n" : "free_sized ?\n");
    free(block);
}

void free_aligned_sized(void *block, size_t align, size_t bytes)
{
    called(align == 64 && bytes == 640 ? "free_aligned_sized 64 640\n" : "free_aligned_sized ?\n");
    free(block);
}
