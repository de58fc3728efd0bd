/* Any bytes as a process that `seep look` examines: finds its blocks from its allocators' own data
 * and its holders from what they keep, and prints them. The image is that of fuzz_heap.c; blocks
 * that it lists are added to those that are found. The three bytes after the version: after how
 * many reads the memory vanishes (0: never); which of every eight pages are touched; and the number
 * of looks, between which the heap shrinks. A bit of the version says that its malloc is not
 * glibc's. */
#include "libprof/look/look_course.h"
#include "libprof/who/blocks/live_places.h"

#include <stdlib.h>
#include <string.h>

#define DATA_AT  UINT64_C(0x10000000)
#define HEAP_AT  UINT64_C(0x20000000)
#define ARENA_AT UINT64_C(0x24000000) /* the same bytes, where heaps of arenas and pools may be */

enum { MAX_BYTES = 1 << 20, MAX_BLOCKS = 2000, MAX_LOOKS = 3, PAGE = 4096 };

struct head {
    uint8_t minor, reads, pages, looks;
    uint32_t n_blocks, data_bytes, heap_bytes, runtime;
};

struct placed {
    uint32_t offset, bytes, kind;
};

struct image {
    struct head head;
    const uint8_t *blocks, *data, *heap;
    size_t n_blocks, n_data, n_heap, n_reads;
};

static const char maps_text[] = "10000000-10010000 rw-p 00000000 00:00 1    /usr/bin/python3\n"
                                "20000000-20010000 rw-p 00000000 00:00 0    [heap]\n"
                                "24000000-24010000 rw-p 00000000 00:00 0 \n"
                                "30000000-30001000 ---p 00000000 00:00 0 \n"
                                "30001000-30011000 rw-p 00000000 00:00 0 \n"
                                "31000000-31010000 rw-s 00000000 00:01 7    /dev/shm/images\n";

static size_t read_image(void *context, uint64_t address, void *to, size_t n)
{
    struct image *image = context;
    const bool in_data = address - DATA_AT < image->n_data;
    const uint64_t at = address - (in_data ? DATA_AT : address >= ARENA_AT ? ARENA_AT : HEAP_AT);
    const size_t size = in_data ? image->n_data : image->n_heap;

    if (at >= size || (image->head.reads && ++image->n_reads > image->head.reads))
        return 0;
    n = n < size - at ? n : (size_t)(size - at);
    memcpy(to, (in_data ? image->data : image->heap) + at, n);
    return n;
}

static int touched(void *context, uint64_t start, uint64_t end,
                   int (*take)(void *arg, uint64_t start, uint64_t end), void *arg)
{
    const struct image *image = context;
    int rc = 0;

    for (uint64_t at = start; at < end && !rc; at += PAGE)
        if (!(image->head.pages >> (at / PAGE % 8) & 1))
            rc = take(arg, at, at + PAGE);
    return rc;
}

static void take_places(struct seep_taken *t, struct image *image)
{
    struct seep_window window;
    struct placed placed;

    if (seep_window_init(&window, 4096, read_image, image))
        abort();
    const struct seep_live_question question = {.maps = &t->dump.maps,
                                                .shared = &t->dump.maps,
                                                .python = t->python.layout,
                                                .other_malloc = t->allocator[0],
                                                .window = &window,
                                                .own_pages = touched,
                                                .context = image,
                                                .shared_pages = touched,
                                                .shared_context = image};
    for (size_t i = 0; i < image->n_blocks; i++) {
        memcpy(&placed, image->blocks + i * sizeof placed, sizeof placed);
        seep_block_add(&t->blocks, placed.kind % 2 ? SEEP_BLOCK_CHUNK : SEEP_BLOCK_OBJECT,
                       HEAP_AT + placed.offset, placed.bytes);
    }
    if (seep_live_places(&question, &t->blocks))
        abort();
    seep_window_fini(&window);
}

static void check(const struct seep_look_holders *holders)
{
    if (holders->reached_bytes + holders->cycle_bytes + holders->lost_bytes != holders->live_bytes)
        abort();
    for (size_t i = 0; i < holders->n; i++) {
        const struct seep_look_holder *h = &holders->list[i];
        if (h->retained[SEEP_LOOK_HOST] > holders->live_bytes || !h->objects ||
            (h->within != SEEP_LOOK_NO_HOLDER && h->within >= holders->n))
            abort();
    }
}

static void look(struct image *image, struct seep_look_moment *moment)
{
    const struct seep_take_limits limits = {0};
    struct seep_taken t = {.blocks = {.most = MAX_BLOCKS * 10}};

    if (seep_maps_parse(&t.dump.maps, maps_text, sizeof maps_text - 1))
        abort();
    seep_memory_init(&t.dump.memory, read_image, image, 16 << 20);
    t.python.layout = seep_python_layout_find(0x03000000u + (image->head.minor & 15u) * 0x10000u);
    t.python.runtime = DATA_AT + image->head.runtime;
    if (image->head.minor & 16)
        strcpy(t.allocator, "another");
    take_places(&t, image);
    if (seep_taken_settle(&t) || seep_taken_survey(&t, &limits, true) ||
        seep_look_holders_find(&moment->holders, &t, true))
        abort();
    check(&moment->holders);
    moment->way = "live";
    seep_taken_fini(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct seep_look_course course;
    struct image image = {0};

    if (size < sizeof image.head || size > MAX_BYTES)
        return 0;
    memcpy(&image.head, data, sizeof image.head);
    size_t at = sizeof image.head;
    const size_t room = (size - at) / sizeof(struct placed);
    image.n_blocks = image.head.n_blocks < MAX_BLOCKS ? image.head.n_blocks : MAX_BLOCKS;
    image.n_blocks = image.n_blocks < room ? image.n_blocks : room;
    image.blocks = data + at;
    at += image.n_blocks * sizeof(struct placed);
    image.data = data + at;
    image.n_data = image.head.data_bytes < size - at ? image.head.data_bytes : size - at;
    image.heap = image.data + image.n_data;
    image.n_heap = size - at - image.n_data;
    course.n = 0;
    for (size_t i = 0; i <= image.head.looks % (size_t)MAX_LOOKS; i++) {
        course.moments[i] = (struct seep_look_moment){.t_s = (double)i};
        look(&image, &course.moments[i]);
        course.n++;
        image.n_heap -= image.n_heap / 8;
    }
    json_t *json = seep_look_json(&course);
    if (!json)
        abort();
    json_decref(json);
    seep_look_course_fini(&course);
    return 0;
}
