/* Processes that one process keeps starting, and that stay. */
#include "tests/report/coverage_fixture.h"

enum { MOST = 24 };

static const struct {
    uint32_t n, every; /* started every so many steps, … */
    uint32_t live;     /* … each for so many; 0: to the end */
    uint64_t own;      /* bytes of its own */
    bool told;
} jobs[] = {
    {16, 5, 0, 10 * MIB, true},   {16, 1, 0, 10 * MIB, false}, /* a pool that is there early */
    {16, 5, 4, 10 * MIB, false},                               /* a loader's of each epoch */
    {4, 20, 0, 40 * MIB, false},                               /* few */
    {16, 5, 0, 100 << 10, false},                              /* of nothing */
};

static uint64_t at_step(uint32_t step)
{
    return sample_at(step, 0, 0).t_ns;
}

TEST(processes_that_are_started_and_never_end_pile_up, .to = N(jobs))
{
    static struct builder children[MOST];
    struct seep_profile *profiles[MOST + 1];
    struct seep_analysis_options opts = {.all_sites = false};
    struct seep_job *job = stepped_job();

    job->pss_peak_bytes = 500 * MIB;
    for (uint32_t i = 0; i < jobs[_i].n; i++) {
        uint32_t step = 10 + (i + 1) * jobs[_i].every;
        uint64_t end = at_step(jobs[_i].live ? step + jobs[_i].live : STEPS);
        builder_init(&children[i], 300 + i, at_step(step));
        struct seep_header *h = builder_header(&children[i]);
        h->ppid = 100;
        h->process_plus_1 = i + 2;
        h->end_ns = h->last_ns = end;
        job->processes[i + 1] = (struct seep_process){.pid = 300 + i,
                                                      .ppid = 100,
                                                      .start_ns = at_step(step),
                                                      .private_last_bytes = jobs[_i].own};
        profiles[i + 1] = open_one(&children[i]);
    }
    job->n_processes = jobs[_i].n + 1;
    profiles[0] = open_one(&a);
    ck_assert_int_eq(seep_analyse_profiles(profiles, jobs[_i].n + 1, job, &opts, &report, NULL), 0);
    ck_assert_uint_eq(json_array_size(at(report, "findings")), jobs[_i].told);
    if (jobs[_i].told) {
        ck_assert_str_eq(string("findings/0/title"),
                         "Processes pile up: 16 were started and are still alive");
        ck_assert_str_eq(string("findings/0/severity"), "info");
        ck_assert_uint_eq((uint64_t)number("findings/0/live_bytes"), 160 * MIB);
        ck_assert(prints("Process 100 started 16 processes, from step", false));
    }
    for (uint32_t i = 0; i < jobs[_i].n; i++)
        builder_fini(&children[i]);
}

SUITE("piles", .setup = setup, .teardown = teardown)
