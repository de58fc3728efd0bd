/* Any bytes as the memory of a process, with an interpreter in it if the seeds have put one there.
 * Builds its graph, searches it, and asks about it. The image is
 *   minor version of Python, 1 byte; 3 more; number of blocks, bytes of data, bytes of heap, and
 *   offset of _PyRuntime in the data, 4 bytes each; the blocks: offset, bytes, line; data; heap. */
#include "libprof/who/ways/answer.h"
#include "libprof/who/ways/inner.h"

#include <stdlib.h>
#include <string.h>

#define DATA_AT UINT64_C(0x10000000)
#define HEAP_AT UINT64_C(0x20000000)

enum { MAX_BYTES = 1 << 20, MAX_BLOCKS = 2000, N_LINES = 3 };

struct head {
    uint8_t minor, reserved[3];
    uint32_t n_blocks, data_bytes, heap_bytes, runtime;
};

struct placed {
    uint32_t offset, bytes, line;
};

struct image {
    const uint8_t *data, *heap;
    size_t n_data, n_heap;
};

/* Not much more than the seeds have: all of it is searched for addresses each time. */
static const char maps_text[] = "10000000-10010000 rw-p 00000000 00:00 1    /usr/bin/python3\n"
                                "20000000-20010000 rw-p 00000000 00:00 0 \n"
                                "30000000-30001000 ---p 00000000 00:00 0 \n"
                                "30001000-30011000 rw-p 00000000 00:00 0 \n";

static size_t read_image(void *context, uint64_t address, void *to, size_t n)
{
    const struct image *image = context;
    const bool in_data = address - DATA_AT < image->n_data;
    const uint64_t at = address - (in_data ? DATA_AT : HEAP_AT);
    const size_t size = in_data ? image->n_data : image->n_heap;

    if (at >= size)
        return 0;
    n = n < size - at ? n : (size_t)(size - at);
    memcpy(to, (in_data ? image->data : image->heap) + at, n);
    return n;
}

static void ask(struct seep_heap *heap)
{
    static struct seep_answer answers[N_LINES];
    static const uint32_t lines[N_LINES] = {0, 1, 2};
    const struct seep_holder_query question = {.line_of_site = lines,
                                               .n_sites = N_LINES,
                                               .n_lines = N_LINES,
                                               .most = N_LINES,
                                               .least = 1,
                                               .most_runs = 4,
                                               .keys = true};
    const struct seep_root_places places = {HEAP_AT + 64, DATA_AT + 64};
    struct seep_reach reach = {0};

    if (seep_reach_init(&reach, heap, &places, true) || seep_reach_run(&reach) ||
        seep_inner_find(&reach))
        abort();
    int n = seep_answer_lines(&reach, &question, answers);
    if (n < 0)
        abort();
    for (int i = 0; i < n; i++)
        for (size_t k = 0; k < answers[i].n_paths; k++) {
            json_t *json = seep_path_json(&answers[i].paths[k].path);
            if (!json || answers[i].paths[k].sole_bytes > answers[i].bytes)
                abort();
            json_decref(json);
        }
    seep_reach_fini(&reach);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct seep_snapshot_block blocks[MAX_BLOCKS];
    struct seep_memory memory;
    struct seep_maps maps;
    struct seep_heap heap = {0};
    struct head head;
    struct placed placed;

    if (size < sizeof head || size > MAX_BYTES)
        return 0;
    memcpy(&head, data, sizeof head);
    size_t at = sizeof head, n = head.n_blocks < MAX_BLOCKS ? head.n_blocks : MAX_BLOCKS;
    if (n * sizeof placed > size - at)
        return 0;
    for (size_t i = 0; i < n; i++, at += sizeof placed) {
        memcpy(&placed, data + at, sizeof placed);
        blocks[i] = (struct seep_snapshot_block){
            .start = HEAP_AT + placed.offset, .bytes = placed.bytes, .site = placed.line % N_LINES};
    }
    size_t rest = size - at, n_data = head.data_bytes < rest ? head.data_bytes : rest;
    struct image image = {data + at, data + at + n_data, n_data, rest - n_data};
    if (seep_maps_parse(&maps, maps_text, sizeof maps_text - 1))
        abort();
    seep_memory_init(&memory, read_image, &image, 16 << 20);
    heap.python.layout = seep_python_layout_find(0x03000000u + (head.minor & 15u) * 0x10000u);
    heap.python.runtime = DATA_AT + head.runtime;
    if (seep_heap_init(&heap, &memory, &maps, blocks, n))
        abort();
    ask(&heap);
    seep_heap_fini(&heap);
    seep_maps_fini(&maps);
    seep_memory_fini(&memory);
    return 0;
}
