/* Any bytes as the memory of a process that says that seep records it: its live set, read from
 * outside. The image is
 *   offset of the live set's place, number of pieces, 4 bytes each; of each piece its offset, 4
 *   bytes, how many bytes it has and how often they are repeated, 2 bytes each; then the bytes of
 *   all pieces.
 * All other memory is zero. The process ends after so many reads: a directory that leads in a
 * circle takes no longer. */
#include "libprof/who/find/live_set.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY_AT UINT64_C(0x10000000)

enum { MEMORY_BYTES = 768 << 10, MAX_PIECES = 64, MAX_READS = 1000, MAX_READ = 4 << 20 };

struct head {
    uint32_t live, n;
};

struct piece {
    uint32_t offset;
    uint16_t bytes, times;
};

/* Is given as its first member. */
struct image {
    struct seep_remote remote;
    uint8_t memory[MEMORY_BYTES];
    size_t reads_left, bytes_left;
};

static size_t gather(struct seep_remote *remote, const struct seep_memory_piece *pieces, size_t n)
{
    struct image *image = (struct image *)remote;
    size_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        const uint64_t at = pieces[i].address - MEMORY_AT;
        if (!image->reads_left || pieces[i].n > image->bytes_left || at >= MEMORY_BYTES ||
            pieces[i].n > MEMORY_BYTES - at)
            return sum;
        image->reads_left--;
        image->bytes_left -= pieces[i].n;
        memcpy(pieces[i].to, image->memory + at, pieces[i].n);
        sum += pieces[i].n;
    }
    return sum;
}

static void put(struct image *image, const struct piece *piece, const uint8_t *bytes)
{
    uint64_t at = piece->offset;

    for (unsigned i = 0; i < piece->times && at + piece->bytes <= MEMORY_BYTES; i++) {
        memcpy(image->memory + at, bytes, piece->bytes);
        at += piece->bytes;
    }
}

/* False: the image is not one. */
static bool make(struct image *image, const uint8_t *data, size_t size, struct head *head)
{
    struct piece pieces[MAX_PIECES];

    if (size < sizeof *head)
        return false;
    memcpy(head, data, sizeof *head);
    size_t at = sizeof *head + head->n * sizeof *pieces;
    if (head->n > MAX_PIECES || at > size)
        return false;
    memcpy(pieces, data + sizeof *head, head->n * sizeof *pieces);
    memset(image, 0, sizeof *image);
    for (uint32_t i = 0; i < head->n && pieces[i].bytes <= size - at; at += pieces[i++].bytes)
        put(image, &pieces[i], data + at);
    image->remote.gather = gather;
    image->reads_left = MAX_READS;
    image->bytes_left = MAX_READ;
    return true;
}

static void check(const struct seep_live_set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        const uint64_t start = set->blocks[i].start;
        const size_t found = seep_live_set_find(set, start);
        if (start >> 47 || start % 16 || (i && start < set->blocks[i - 1].start) || found > i ||
            set->blocks[found].start != start || seep_live_set_find(set, start + 1) != set->n)
            abort();
    }
    for (size_t i = 0; i < set->n_own; i++)
        if (set->own[i].start <= 1 || set->own[i].start >= set->own[i].end)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct image image;
    struct seep_live_set set;
    struct head head;

    if (!make(&image, data, size, &head))
        return 0;
    if (seep_live_set_read(&set, MEMORY_AT + head.live, &image.remote))
        abort();
    check(&set);
    seep_live_set_fini(&set);
    return 0;
}
