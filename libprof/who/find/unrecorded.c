#include "libprof/who/find/unrecorded.h"

#include "libprof/who/blocks/glibc_chunks.h"
#include "libprof/who/blocks/glibc_free.h"

enum {
    MOST_CHUNKS = 5 * 1000 * 1000,
    FEW = 64, /* 1/n of the samples may lie elsewhere */
};

static size_t read_window(void *remote_given, uint64_t address, void *to, size_t n)
{
    struct seep_remote *remote = remote_given;
    const struct seep_memory_piece piece = {address, to, n};

    return remote->gather(remote, &piece, 1);
}

int seep_unrecorded_find(struct seep_block_list *chunks, struct seep_remote *remote)
{
    struct seep_maps maps = {0};
    struct seep_window window = {0};

    *chunks = (struct seep_block_list){.most = MOST_CHUNKS};
    int rc = remote->read_maps(remote, &maps);
    if (!rc)
        rc = seep_window_init(&window, read_window, remote);
    if (!rc)
        seep_glibc_heaps(chunks, &window, &maps);
    seep_window_fini(&window);
    seep_maps_fini(&maps);
    return !rc && chunks->no_memory ? -SEEP_ENOMEM : rc;
}

static bool are_all(const struct seep_block_list *chunks, const struct seep_heap *heap)
{
    size_t missed = 0;

    for (size_t i = 0; i < heap->n_samples; i++)
        missed += seep_block_find(chunks->list, chunks->n, heap->samples[i].start) == chunks->n;
    return !chunks->full && missed <= heap->n_samples / FEW;
}

/* What was recorded comes before its chunk, and so is kept where both are. */
int seep_unrecorded_add(struct seep_block_list *chunks, struct seep_dump *dump,
                        struct seep_heap *heap, bool *whole)
{
    *whole = are_all(chunks, heap);
    int rc = seep_glibc_leave_out_free(chunks, &dump->memory, &dump->maps);

    for (size_t i = 0; i < chunks->n && !rc; i++) {
        chunks->list[i].site = 0;
        rc = seep_graph_add(heap, &chunks->list[i]);
    }
    return rc;
}
