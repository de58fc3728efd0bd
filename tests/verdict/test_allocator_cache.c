/* What allocators keep: recognised by memory that they take while live memory stays level, and that
 * nothing else explains. */
#include "tests/verdict/pattern_fixture.h"

enum { RISE = MIB }; /* a step, of what is taken beyond what is live */

static bool has_cache(void)
{
    const json_t *list = json_object_get(report, "findings");
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(list); i++)
        n += strcmp(text(json_array_get(list, i), "pattern"), "allocator-cache") == 0;
    return n > 0;
}

/* ---- the heap: requests of ever new sizes, and pages that rise ---------------------------------
 */

/* The process's own pages: RISE more in each step than what is live. Of that, this much is known to
 * be no allocator's. */
static void judge_heap_asked(uint64_t asked_a_step, uint64_t live_a_step,
                             uint64_t unexplained_a_step, uint64_t rise, unsigned n_sizes)
{
    struct seep_profile *p = NULL;
    struct ramp live = {FIRST, UINT32_MAX, live_a_step / 4096, UINT32_MAX};

    transient(user(7), HOST, asked_a_step, STEPS, 0, 0)->size_marks = (UINT64_C(1) << n_sizes) - 1;
    if (live_a_step)
        builder_level(&b, user(9), HOST, 4096, LAST, ramp, &live);
    builder_timeline(&b, LAST, UINT64_C(300) << 20);
    struct seep_header *h = builder_header(&b);
    for (uint32_t i = 0; i < h->n_timeline; i++)
        h->timeline[i].anonymous_bytes =
            40 * (uint64_t)MIB + h->timeline[i].period * (rise + live_a_step);
    for (uint32_t step = 2; unexplained_a_step && step < STEPS; step += 4) {
        h->rss_peak = h->rss_samples[h->n_rss_samples++] =
            (struct seep_rss_sample){.t_ns = START + (FIRST + step) * UINT64_C(100000000),
                                     .period = FIRST + step - 1,
                                     .rss_bytes = UINT64_C(300) << 20,
                                     .unexplained_bytes = step * unexplained_a_step};
    }
    ck_assert_int_eq(seep_profile_from_bytes("100-1.seep", b.bytes, b.n_bytes, &p, NULL), 0);
    ck_assert_int_eq(seep_analyse_profiles(&p, 1, job, NULL, &report, NULL), 0);
}

static void judge_heap(uint64_t live_a_step, uint64_t unexplained_a_step, uint64_t rise,
                       unsigned n_sizes)
{
    judge_heap_asked(2 * MIB, live_a_step, unexplained_a_step, rise, n_sizes);
}

static const struct {
    uint64_t live, unexplained; /* per cent of RISE, a step */
    bool is_cache;
} heaps[] = {{0, 0, true}, {25, 0, true}, {50, 0, false}, {0, 35, true}, {0, 70, false}};

TEST(pages_that_neither_more_blocks_nor_another_allocator_explain_are_a_cache, .to = N(heaps))
{
    judge_heap(RISE / 100 * heaps[_i].live, RISE / 100 * heaps[_i].unexplained, RISE, 32);
    ck_assert_int_eq(has_cache(), heaps[_i].is_cache);
}

/* A list that grows asks for new sizes, too. */
TEST(what_was_never_asked_for_is_not_kept, .to = 2)
{
    judge_heap_asked(RISE / 10 * (_i ? 4 : 6), 0, 0, RISE, 32);
    ck_assert_int_eq(has_cache(), !_i);
}

/* In all steps together, and in requests of so many sizes. */
static const struct {
    double mib;
    unsigned n_sizes;
    bool is_cache;
} kept[] = {{5, 32, true}, {3, 32, false}, {STEPS, 20, true}, {STEPS, 13, false}};

TEST(what_an_allocator_takes_is_much_and_its_sizes_are_many, .to = N(kept))
{
    judge_heap(0, 0, (uint64_t)(kept[_i].mib * MIB / STEPS), kept[_i].n_sizes);
    ck_assert_int_eq(has_cache(), kept[_i].is_cache);
}

/* ---- a device: segments that rise beside tensors -----------------------------------------------
 */

/* Tensors come and go, ten steps each time, and each time are a few more. */
struct wave {
    double a_step, swing; /* blocks */
};

static uint64_t wave(uint32_t period, void *arg)
{
    const struct wave *w = arg;

    return period < FIRST ? 0 : (uint64_t)(w->a_step * period + w->swing * (period % 10) / 9);
}

/* By a quarter, and by a half of what is taken. */
static struct wave tensors[] = {{0.5, 100}, {1, 160}};

TEST(segments_that_rise_with_what_is_in_use_of_them_are_no_cache, .to = N(tensors))
{
    builder_level(&b, user(7), DEVICE_1, 2 * MIB, LAST, one_a_step, NULL);
    transient(user(7), TENSOR_1, 2 * MIB, STEPS, 0, 0)->size_marks = UINT64_C(0xffffffff);
    builder_level(&b, user(7), TENSOR_1, MIB, LAST, wave, &tensors[_i]);
    (void)findings();
    ck_assert_int_eq(has_cache(), _i == 0);
}

SUITE("allocator cache", .setup = setup, .teardown = teardown)
