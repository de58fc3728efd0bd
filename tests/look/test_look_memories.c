/* What is held in the memory of devices, as tensors' storages say it in host memory. */
#include "libprof/look/look_course.h"
#include "libprof/look/look_tree.h"
#include "tests/who/ways/heap_fixture.h"

enum { CUDA = 1, META = 14, MIB = 1 << 20 };

static struct seep_look_holders holders;

static void close_it(void)
{
    seep_look_holders_fini(&holders);
}

static uint64_t new_vtable(const char *name)
{
    uint64_t info = static_bytes(16), table = static_bytes(32) + 16;

    put(info + 8, c_text(name));
    put(table - 8, info);
    return table;
}

/* A storage, with two words of counts or, as newer versions have it, with one. */
static uint64_t new_storage(bool newer, unsigned device, unsigned number, uint64_t at_device,
                            uint64_t bytes)
{
    uint64_t storage = block(80, 0), words = storage + (newer ? 16 : 24);

    put(storage, new_vtable("N3c1011StorageImplE"));
    put(storage + 8, newer ? UINT64_C(1) << 32 | 1 : 1);
    put(words, at_device);
    put(words + 24, UINT64_C(0xabcdef0000) | number << 8 | device); /* the rest is left over */
    put(words + 32, bytes);
    return storage;
}

/* An object with one field. */
static uint64_t new_node(uint64_t field)
{
    uint64_t node = new_object(types.node, 32, 0);

    put(node + 16, field);
    return node;
}

static void look_at(bool cut)
{
    const struct seep_take_limits limits = {0};
    struct seep_taken taken = {.blocks.most = MAX_BLOCKS, .is_cut = cut};

    for (size_t i = 0; i < n_blocks; i++)
        seep_block_add(&taken.blocks, SEEP_BLOCK_CHUNK, blocks[i].start, blocks[i].bytes);
    ck_assert_int_eq(seep_maps_parse(&taken.dump.maps, maps_text, strlen(maps_text)), 0);
    seep_memory_init(&taken.dump.memory, read_fixture, NULL, 64 << 20);
    taken.python = (struct seep_python){.layout = layout_of_fixture(), .runtime = runtime};
    ck_assert_int_eq(seep_taken_survey(&taken, &limits, true), 0);
    ck_assert_int_eq(seep_look_holders_find(&holders, &taken, true), 0);
    seep_taken_fini(&taken);
}

static void look(void)
{
    look_at(false);
}

static const struct seep_look_holder *holder_of(const char *path, size_t *rank)
{
    for (*rank = 0; *rank < holders.n; ++*rank) {
        char *text = seep_path_text(&holders.list[*rank].path);
        const bool found = text && strstr(text, path);
        free(text);
        if (found)
            return &holders.list[*rank];
    }
    ck_abort_msg("nothing is held by %s", path);
}

static size_t memory_of(const char *name)
{
    for (size_t m = 0; m < holders.n_memories; m++)
        if (strcmp(holders.memories[m].name, name) == 0)
            return m;
    ck_abort_msg("nothing is on %s", name);
}

/* _i: which layout of storages. */
TEST(who_holds_memory_of_a_device_is_told, .to = 2)
{
    enum { TENSORS = 10 };
    uint64_t items[TENSORS], variables[4];
    const char *const names[] = {"images", "again", "planned", "table"};
    size_t rank, host_rank;

    begin(11);
    for (uint64_t i = 0; i < TENSORS; i++)
        items[i] = new_node(new_storage(_i, CUDA, 1, UINT64_C(0x7000000000) + i * MIB, MIB));
    variables[0] = new_list(items, TENSORS);
    variables[1] = new_node(new_storage(_i, CUDA, 1, UINT64_C(0x7000000000), MIB));
    variables[2] = new_node(new_storage(_i, META, 0, 0, UINT64_C(1) << 40));
    variables[3] = new_node(block(MIB, 0));
    make_main(names, variables, 4);
    look();
    const size_t cuda = memory_of("cuda:1");
    ck_assert_uint_eq(holders.n_memories, 2);
    ck_assert_uint_eq(holders.memories[cuda].bytes, TENSORS * MIB);
    const struct seep_look_holder *images = holder_of("images", &rank);
    ck_assert_uint_eq(images->retained[cuda], TENSORS * MIB);
    ck_assert_uint_lt(images->retained[SEEP_LOOK_HOST], 64 << 10);
    ck_assert_int_eq(images->length, TENSORS);
    const struct seep_look_holder *table = holder_of("table", &host_rank);
    ck_assert_uint_eq(table->retained[cuda], 0);
    ck_assert_uint_lt(rank, host_rank);
}

TEST(what_a_cycle_keeps_of_a_device_is_told)
{
    uint64_t ring, tensor;
    size_t rank;

    begin(11);
    tensor = new_node(new_storage(false, CUDA, 0, UINT64_C(0x7000000000), 3 * MIB));
    ring = new_object(types.tuple, 24 + 16, 0);
    put(ring + SEEP_PY_SIZE, 2);
    put(ring + 24, ring);
    put(ring + 32, tensor);
    make_main(NULL, NULL, 0);
    look();
    const struct seep_look_holder *cycle = holder_of("cycle", &rank);
    ck_assert_int_eq(cycle->state, SEEP_HOLD_CYCLE);
    ck_assert_uint_eq(cycle->retained[memory_of("cuda:0")], 3 * MIB);
}

/* ---- growth ---------------------------------------------------------------------------------- */

/* A look at two holders, of which the second one belongs to the first; `unused`: this look also
 * met a device before theirs. */
static void add_moment(struct seep_look_course *course, int64_t length, uint64_t device_bytes,
                       bool unused)
{
    struct seep_look_moment *m = &course->moments[course->n];
    struct seep_look_holders *h = &m->holders;
    const size_t at = unused ? 2 : 1;

    *m = (struct seep_look_moment){.t_s = (double)course->n * 60, .way = "live"};
    course->n++;
    h->n = 2;
    h->list = calloc(h->n, sizeof *h->list);
    h->n_memories = at + 1;
    h->memories[1] = (struct seep_look_memory){.device = CUDA << 8 | 3, .name = "cuda:3"};
    h->memories[at] = (struct seep_look_memory){.device = CUDA << 8, .name = "cuda:0"};
    for (uint32_t i = 0; i < 2; i++) {
        h->list[i] = (struct seep_look_holder){.key = i + 1,
                                               .state = SEEP_HOLD_HELD,
                                               .length = i ? -1 : length,
                                               .bound = -1,
                                               .objects = i ? (uint64_t)length : 1,
                                               .within = i ? 0 : SEEP_LOOK_NO_HOLDER};
        h->list[i].retained[SEEP_LOOK_HOST] = 1000;
        h->list[i].retained[at] = device_bytes;
    }
}

TEST(growth_on_a_device_alone_is_growth)
{
    static struct seep_look_course course;
    struct seep_look_change changes[2];

    course.n = 0;
    for (int i = 1; i <= 4; i++)
        add_moment(&course, i, (uint64_t)i * MIB, i % 2);
    seep_look_changes(&course, changes);
    ck_assert_int_eq(changes[0].growth, SEEP_LOOK_ENDLESS);
    ck_assert_double_eq(changes[0].bytes_per_minute[SEEP_LOOK_HOST], 0);
    ck_assert_double_eq(changes[0].bytes_per_minute[1], MIB);
    ck_assert(!changes[0].by_another);
    ck_assert(changes[1].by_another);
    seep_look_course_fini(&course);
}

TEST(what_stays_on_a_device_does_not_grow)
{
    static struct seep_look_course course;
    struct seep_look_change changes[2];

    course.n = 0;
    for (int i = 1; i <= 4; i++)
        add_moment(&course, i, 5 * MIB, i % 2);
    seep_look_changes(&course, changes);
    ck_assert_int_eq(changes[0].growth, SEEP_LOOK_SAME);
    ck_assert(!changes[1].by_another);
    seep_look_course_fini(&course);
}

/* ---- several processes ----------------------------------------------------------------------- */

/* One that has a table in host memory, and a cache on a device. */
static const char process_text[] =
    "{'pid': 7, 'looks': [{'live_bytes': 1000, 'device_bytes': {'cuda:0': 50}}], 'holders': ["
    "{'key': 'table', 'retained_bytes': 600, 'objects': 1, 'growth': 'no', 'device_bytes': {}},"
    "{'key': 'cache', 'retained_bytes': 1, 'objects': 1, 'growth': 'no',"
    " 'device_bytes': {'cuda:0': 45}, 'device_growth_bytes_per_minute': {'cuda:0': 1.5}}]}";

TEST(what_processes_hold_on_a_device_is_added_up)
{
    char text[sizeof process_text];

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = process_text[i] == '\'' ? '"' : process_text[i];
    json_t *process = json_loads(text, 0, NULL);
    json_t *processes = json_pack("[O, o]", process, process);
    json_t *merged = seep_look_tree_holders(processes), *cache = json_array_get(merged, 0);

    ck_assert_str_eq(json_string_value(json_object_get(cache, "key")), "cache");
    ck_assert_int_eq(
        json_integer_value(json_object_get(json_object_get(cache, "device_bytes"), "cuda:0")), 90);
    ck_assert_double_eq(json_real_value(json_object_get(
                            json_object_get(cache, "device_growth_bytes_per_minute"), "cuda:0")),
                        3);
    json_decref(merged);
    json_decref(processes);
}

/* Memory that was not kept may hold it. */
TEST(nobody_holds_what_was_seen_only_if_all_was_seen, .to = 2)
{
    const char *const names[] = {"table"};
    uint64_t table;
    size_t lost = 0;

    begin(11);
    table = new_node(block(MIB, 0));
    block(MIB, 0);
    make_main(names, &table, 1);
    look_at(_i);
    for (size_t i = 0; i < holders.n; i++)
        lost += holders.list[i].state == SEEP_HOLD_LOST;
    ck_assert_uint_eq(lost, !_i);
    ck_assert_uint_ge(holders.lost_bytes, MIB);
}

SUITE("look: memories", NULL, close_it);
