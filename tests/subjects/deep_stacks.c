/* Keeps a block below FRAMES frames, and makes many distinct stacks:
 *   deep_stacks FRAMES BITS     2^BITS stacks in turn, three times, with a block of 40 bytes each;
 *                               only the blocks of the last turn stay */
#include <stdint.h>
#include <stdlib.h>

static void **kept;
static void *volatile deep;

__attribute__((noipa)) static void descend(int frames)
{
    if (frames > 1)
        descend(frames - 1);
    else
        deep = malloc(1 << 20);
    __asm__ volatile("" ::: "memory"); /* or the recursion becomes a loop */
}

__attribute__((noipa)) static void branch(int bits, uint32_t path, void **slot)
{
    if (bits == 0) {
        free(*slot);
        *slot = malloc(40);
    } else if (path & 1) {
        branch(bits - 1, path >> 1, slot);
        __asm__ volatile("# one" ::: "memory");
    } else {
        branch(bits - 1, path >> 1, slot);
        __asm__ volatile("# other" ::: "memory");
    }
}

int main(int argc, char **argv)
{
    int bits = argc > 2 ? atoi(argv[2]) : 0;
    uint32_t n = (uint32_t)1 << bits;
    kept = calloc(n, sizeof(*kept));
    descend(argc > 1 ? atoi(argv[1]) : 1);
    for (int turn = 0; turn < 3; turn++)
        for (uint32_t path = 0; path < n; path++)
            branch(bits, path, &kept[path]);
    return kept == NULL;
}
