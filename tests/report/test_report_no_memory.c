/* Without enough memory there is no report, never a truncated one. Every allocation of its JSON
 * fails once. */
#include "tests/report_fixture.h"

static long failing = -1; /* that many allocations go well, and the next one does not */

static void *allocate(size_t n)
{
    if (failing >= 0 && failing-- == 0)
        return NULL;
    return malloc(n);
}

/* A job with findings, a finding's neighbours, samples, a helper, a device and things that were not
 * seen. */
static int make(json_t **made)
{
    struct seep_job *job = builder_job(100, START, 100, 5);
    struct seep_header *h = builder_header(&a);

    job->n_processes = 2;
    job->processes[1] = (struct seep_process){.pid = 300,
                                              .ppid = 100,
                                              .name = "tool",
                                              .flags = SEEP_PROCESS_COUNTED,
                                              .counts = {{.allocations = 7, .peak_bytes = 9}}};
    job->folded[0] = (struct seep_folded){.name = "true", .n = 20};
    h->n_rss_samples = 1;
    h->rss_peak = h->rss_samples[0] = (struct seep_rss_sample){
        .t_ns = START + 100, .period = 6, .rss_bytes = 1 << 20, .heap_live_bytes = 1 << 20};
    h->devices.tensors[0].reports = 7;
    h->devices.use[0] = (struct seep_device_use){.capacity_bytes = 1 << 30, .looks = 1};
    h->devices.n_looks = 1;
    h->devices.looks[0] = (struct seep_device_look){.t_ns = START + 1, .used_bytes = 1};
    h->devices.ooms[0] =
        (struct seep_device_oom){.t_ns = START + 100, .asked_bytes = 1 << 20, .period = 50};
    h->devices.allocator_settings = SEEP_ALLOCATOR_COLLECTS;
    h->coverage_seen[0] = 1;
    h->dropped[SEEP_DROP_BOUND] = 1;
    struct seep_profile *p[] = {open_one(&a)};
    const struct seep_analysis_options opts = {.series = true, .layouts = true};
    return seep_analyse_profiles(p, 1, job, &opts, made, NULL);
}

static void add_layout(void)
{
    const uint32_t ref = builder_record(&a, SEEP_CHUNK_LAYOUTS, NULL, SEEP_CHUNK_BYTES, 64);
    struct seep_layout_piece *its = builder_at(&a, ref);

    its->t_ns = its->end_t_ns = START + 100;
    its->asked_bytes = 1 << 20;
    its->reason = SEEP_LAYOUT_FAILED;
    its->period = 50;
    its->n_pieces = 1;
    its->n_blocks = 2;
    its->blocks[0] = (struct seep_layout_block){0x1000, 4096, 0, SEEP_LAYOUT_SEGMENT};
    its->blocks[1] = (struct seep_layout_block){0x1000, 512, 0, SEEP_LAYOUT_TENSOR};
}

TEST(a_report_is_whole_or_none)
{
    json_t *whole = NULL, *made = NULL;
    size_t n_failed = 0;
    long k = 0;

    builder_level(&a, python_stack(&a, "/home/user/project/train.py", 40), 0, 4096, 105, two_a_step,
                  NULL);
    builder_site(&a, python_stack(&a, "/home/user/t.py", 1), 2, 1, 4096, 1, 4096, 1);
    builder_timeline(&a, 105, 50 << 20);
    add_layout();
    json_set_alloc_funcs(allocate, free);
    ck_assert_int_eq(make(&whole), 0);
    for (bool done = false; !done; k++) {
        failing = k;
        int rc = make(&made);
        done = failing >= 0;
        failing = -1;
        ck_assert_msg(rc == 0 || rc == -SEEP_ENOMEM, "allocation %ld: %d", k, rc);
        if (rc) {
            n_failed++;
            continue;
        }
        for (size_t i = 0; i < json_array_size(at(made, "timeline/t_s")); i++)
            ck_assert_ptr_nonnull(json_array_get(at(made, "timeline/rss_bytes"), i));
        ck_assert_msg(json_equal(made, whole), "allocation %ld: a report with a hole", k);
        json_decref(made);
    }
    ck_assert_int_gt(k, 1000);
    ck_assert_uint_gt(n_failed, (size_t)k * 9 / 10);
    json_decref(whole);
}

SUITE("report without memory", .setup = setup, .teardown = teardown, .timeout_s = 120)
