/* A model once it is built: it needs no file any more, and cannot be filled out of order. */
#include "libprof/model/live_level.h"
#include "libprof/model/stages/model_build.h"
#include "tests/profile_builder.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { MMAP = 1 };

static struct builder b;
static struct seep_model m;

static void setup(void)
{
    builder_init(&b, 100, UINT64_C(1000000000));
    memset(&m, 0, sizeof m);
}

static void teardown(void)
{
    seep_model_fini(&m);
    builder_fini(&b);
}

static void merge(void)
{
    struct seep_profile *p = NULL;

    ck_assert_int_eq(seep_profile_from_bytes("100-1.seep", b.bytes, b.n_bytes, &p, NULL), 0);
    ck_assert_int_eq(seep_model_merge_profiles(&m, &p, 1, NULL, NULL), 0);
}

static void complete(void)
{
    bool *no_loop = calloc(m.dict.n_frames, sizeof *no_loop);

    ck_assert_ptr_nonnull(no_loop);
    ck_assert_int_eq(
        seep_model_complete(&m, &(struct seep_model_options){.is_worker_loop = no_loop}), 0);
    free(no_loop);
}

TEST(what_a_header_says_outlives_its_profile)
{
    struct seep_header *h = builder_header(&b);

    h->rank = 3;
    h->limit_cgroup_bytes = 1 << 30;
    h->dropped[SEEP_DROP_STACK] = 7;
    h->coverage_seen[2] = 1;
    h->n_epochs = 2;
    h->epochs[1].period = 40;
    h->n_rss_samples = 3;
    h->rss_samples[0] = (struct seep_rss_sample){.t_ns = 1, .rss_bytes = 50};
    h->rss_samples[2] = (struct seep_rss_sample){.t_ns = 2, .rss_bytes = UINT64_MAX};
    strcpy(h->exe, "/usr/bin/trainer");
    memcpy(h->argv, "a\0b", 4);
    h->argv_bytes = 4;
    merge();
    const struct seep_model_process *p = &m.processes[0];
    ck_assert_ptr_null(p->profile);
    ck_assert_uint_eq(p->id.pid, 100);
    ck_assert_int_eq(p->id.rank, 3);
    ck_assert_str_eq(p->id.file, "100-1.seep");
    ck_assert_str_eq(p->id.exe, "/usr/bin/trainer");
    ck_assert_mem_eq(p->id.argv, "a\0b", 4);
    ck_assert_uint_eq(p->limits.cgroup_bytes, 1 << 30);
    ck_assert_uint_eq(p->recording.dropped[SEEP_DROP_STACK], 7);
    ck_assert(p->recording.hooks_seen[2] && !p->recording.hooks_seen[1]);
    ck_assert_uint_eq(p->n_epochs, 2);
    ck_assert_uint_eq(p->epoch_periods[1], 40);
    ck_assert_uint_eq(p->samples.n, 2); /* the second was never published */
    ck_assert_uint_eq(p->samples.peak.rss_bytes, UINT64_C(1) << 47);
}

TEST(a_model_has_the_hosts_space_where_nothing_was_recorded_of_it)
{
    builder_site(&b, builder_stack(&b, 0, builder_python(&b, "/a.py", "f", 1)), MMAP, 1, 16, 0, 0,
                 1);
    merge();
    complete();
    ck_assert_int_eq(m.stage, SEEP_MODEL_COMPLETE);
    ck_assert_uint_eq(m.n_spaces, 2);
    ck_assert_int_eq(m.spaces[0].name.class, SEEP_CLASS_MMAP);
    ck_assert(m.spaces[0].recorded);
    ck_assert_int_eq(m.spaces[m.host].name.class, SEEP_CLASS_HOST);
    ck_assert(!m.spaces[m.host].recorded);
}

#ifdef SEEP_CHECKED
TEST(a_stage_out_of_order_is_a_bug_that_shows, .signal = SIGILL)
{
    merge();
    /* Nobody has said yet how the processes ended. */
    ck_assert_int_eq(seep_level_raise_peaks(&m, false), 0);
}
#endif

/* Of 16,384 sites, one in sixteen holds more than the others. */
TEST(near_its_bound_a_model_tells_the_largest_sites_apart, .to = 2)
{
    enum { SITES = 1 << 14, PART = 16 };
    uint64_t bytes = 0, n_large = 0;

    for (uint32_t i = 0; i < SITES; i++) {
        const uint64_t its = i % PART ? 600 + i % 7 : 100000 + i;
        builder_site(&b, builder_stack(&b, 0, builder_python(&b, "/a.py", "f", i + 1)), 0, 1, its,
                     0, 0, 1);
        bytes += its;
    }
    m.most_bytes = _i ? 1 << 20 : 0;
    merge();
    complete();
    ck_assert_uint_eq(m.spaces[m.host].totals.allocated_bytes, bytes);
    for (size_t i = 0; i < m.n_sites; i++) {
        bytes -= m.sites[i].totals.allocated_bytes;
        n_large += m.sites[i].totals.allocations == 1 && m.sites[i].totals.allocated_bytes > 1000;
    }
    ck_assert_uint_eq(bytes, 0);
    ck_assert_uint_eq(n_large, SITES / PART);
    if (!_i) {
        ck_assert_uint_eq(m.n_sites, SITES);
        ck_assert_uint_eq(m.n_small_sites, 0);
        return;
    }
    ck_assert_uint_eq(m.n_sites - 1 + m.n_small_sites, SITES);
    ck_assert_uint_gt(m.n_small_sites, SITES / 4);
    ck_assert_uint_gt(m.small_sites_below, 606);
    ck_assert_uint_lt(m.small_sites_below, 100000);
}

static int64_t level_at(uint32_t period)
{
    const int32_t step = seep_model_step(&m, &m.processes[0], period);
    struct seep_level level = {0};
    uint32_t site = 0;

    ck_assert_int_eq(seep_level_sum(&m, &site, 1, SEEP_LEVEL_ALL, &level), 0);
    int64_t bytes = seep_level_at(&level, step).bytes;
    seep_level_fini(&level);
    return bytes;
}

static struct seep_site *a_site_of_many_periods(uint64_t live_bytes)
{
    uint32_t ref = builder_site(&b, builder_stack(&b, 0, builder_python(&b, "/a.py", "f", 1)), 0, 8,
                                live_bytes, 0, 0, 10);
    struct seep_site *site = (struct seep_site *)(b.bytes + (size_t)ref * 8);

    site->first_period = 10;
    site->last_period = 90;
    site->peak_period = 90;
    site->detail = SEEP_MANY_PERIODS;
    return site;
}

/* A line has thousands of such sites: a jump in the last step would be growth that never was. */
TEST(what_never_held_much_grew_evenly_up_to_its_peak)
{
    a_site_of_many_periods(800);
    merge();
    complete();
    ck_assert_int_eq(level_at(90), 800);
    ck_assert_int_eq(level_at(50), 400);
    ck_assert_int_eq(level_at(10), 0);
}

TEST(what_never_held_much_stays_what_it_was_at_its_peak)
{
    struct seep_site *site = a_site_of_many_periods(800);
    site->allocated_bytes += 5000;
    site->freed_bytes += 5000;
    site->peak_bytes = 900;
    site->peak_period = 12;
    merge();
    complete();
    ck_assert_int_eq(level_at(12), 800);
    ck_assert_int_eq(level_at(50), 800);
}

static uint64_t rises_until_40(uint32_t period, void *arg)
{
    (void)arg;
    return 10 * (period < 40 ? period : 40);
}

/* Each block counts for four. */
static uint64_t rises_from_40(uint32_t period, void *arg)
{
    (void)arg;
    return period < 40 ? 0 : 10 * (period - 40) / 4 * 4;
}

static struct seep_site *record_at(uint32_t ref)
{
    return (struct seep_site *)(b.bytes + (size_t)ref * 8);
}

/* A line whose blocks are sampled from period 40 on: a step in its level would be growth that never
 * was. */
TEST(a_line_is_one_site_however_its_blocks_were_recorded)
{
    const uint32_t stack = builder_stack(&b, 0, builder_python(&b, "/a.py", "f", 1));
    const double gap = 4096, bytes = 100 * 600;

    builder_level(&b, stack, 0, 100, 100, rises_until_40, NULL);
    const uint32_t coarse = builder_level(&b, stack, 0, 100, 100, rises_from_40, NULL);
    record_at(coarse)->coarseness = 3;
    builder_header(&b)->sample_bytes = 1024;
    builder_header(&b)->coarsest = 3;
    builder_seal(&b);
    merge();
    complete();
    ck_assert_uint_eq(m.n_sites, 1);
    for (uint32_t period = 1; period < 100; period++)
        ck_assert_int_le(labs((long)level_at(period) - 1000 * period), 400);
    ck_assert_double_eq_tol(m.sites[0].sampling_variance, bytes * 100 / expm1(100 / gap), 1e-6);
    ck_assert_uint_eq(m.processes[0].recording.sample_bytes, 4096);
}

TEST(a_coarseness_that_cannot_be_is_none)
{
    const uint32_t ref = builder_site(&b, 0, 0, 8, 800, 0, 0, 10);

    record_at(ref)->coarseness = 255;
    builder_header(&b)->sample_bytes = 1024;
    builder_header(&b)->coarsest = UINT32_MAX;
    builder_seal(&b);
    merge();
    ck_assert_double_eq(m.sites[0].sampling_variance, 0);
    ck_assert_uint_eq(m.processes[0].recording.sample_bytes, 0);
}

/* Three slices passed before a loop's first round, which ended in the fourth; in the eighth there
 * had been 40, and then there were 60 more. */
TEST(steps_that_were_counted_back_lie_over_the_time_in_which_they_passed)
{
    struct seep_job *job = builder_job(100, UINT64_C(1000000000), 100, 8);
    struct seep_profile *p = NULL;
    job->processes[0].back_steps = 40;
    job->processes[0].back_period = 4;
    job->processes[0].period = 8 + 61;
    job->processes[0].step_source = SEEP_STEP_LOOP;
    ck_assert_int_eq(seep_profile_from_bytes("100-1.seep", b.bytes, b.n_bytes, &p, NULL), 0);
    ck_assert_int_eq(seep_model_merge_profiles(&m, &p, 1, job, NULL), 0);
    const struct seep_model_process *its = &m.processes[0];
    ck_assert_uint_eq(m.n_steps, 100);
    ck_assert_int_eq(seep_model_step(&m, its, 3), 0);
    ck_assert_int_eq(seep_model_step(&m, its, 4), 1);
    ck_assert_int_eq(seep_model_step(&m, its, 6), 20);
    ck_assert_int_eq(seep_model_step(&m, its, 8), 40);
    ck_assert_int_eq(seep_model_step(&m, its, 9), 41);
    ck_assert_int_eq(seep_model_step(&m, its, 8 + 60), 100);
    for (uint32_t period = 0; period < 70; period++)
        ck_assert_int_le(seep_model_step(&m, its, period), seep_model_step(&m, its, period + 1));
}

/* What was loaded after a loop was over, and before a training whose first steps were seen only
 * after it, has the period of these steps: it was there before they ended. */
TEST(what_came_in_a_period_of_several_steps_may_have_come_first)
{
    struct seep_job *job = builder_job(100, UINT64_C(1000000000), 100, 8);
    struct seep_profile *p = NULL;
    for (uint32_t period = 7; period <= 9; period++)
        builder_site(&b,
                     builder_stack(&b, 0, builder_python(&b, "load", "/home/user/t.py", period)), 0,
                     160, 16000, 0, 0, period);
    job->processes[0].back_steps = 4;
    job->processes[0].back_period = 8;
    ck_assert_int_eq(seep_profile_from_bytes("100-1.seep", b.bytes, b.n_bytes, &p, NULL), 0);
    ck_assert_int_eq(seep_model_merge_profiles(&m, &p, 1, job, NULL), 0);
    ck_assert_uint_eq(m.n_sites, 3);
    ck_assert_int_eq(m.sites[0].first_step, 0);
    ck_assert_int_eq(m.sites[1].first_step, 1);
    ck_assert_int_eq(m.sites[2].first_step, 5);
}

/* Of a job's table that somebody has damaged. */
TEST(steps_counted_back_that_cannot_be_are_none, .to = 4)
{
    static const struct {
        uint32_t steps, period;
    } damaged[] = {{101, 4}, {40, 0}, {40, 9}, {UINT32_MAX, UINT32_MAX}};
    struct seep_job *job = builder_job(100, UINT64_C(1000000000), 100, 8);
    struct seep_profile *p = NULL;
    job->processes[0].back_steps = damaged[_i].steps;
    job->processes[0].back_period = damaged[_i].period;
    ck_assert_int_eq(seep_profile_from_bytes("100-1.seep", b.bytes, b.n_bytes, &p, NULL), 0);
    ck_assert_int_eq(seep_model_merge_profiles(&m, &p, 1, job, NULL), 0);
    ck_assert_int_eq(seep_model_step(&m, &m.processes[0], 8), 1);
    ck_assert_int_eq(seep_model_step(&m, &m.processes[0], 9), 2);
}

/* ---- roles ----------------------------------------------------------------------------------- */

enum { N_ROLES = 3 };

/* A Python program, and two that it has started; none has a rank by its environment. */
static void model_of_three(const uint32_t steps[N_ROLES],
                           const enum seep_step_source sources[N_ROLES])
{
    struct seep_job *job = builder_job(100, UINT64_C(1000000000), 10, 5);
    struct seep_profile *p[N_ROLES] = {0};
    struct builder others[N_ROLES];
    for (uint32_t i = 0; i < N_ROLES; i++) {
        builder_init(&others[i], 100 + i, UINT64_C(1000000000));
        builder_header(&others[i])->process_plus_1 = i + 1;
        builder_header(&others[i])->python_version = 0x030b0000;
        builder_header(&others[i])->rank = -1;
        builder_seal(&others[i]);
        job->processes[i] = job->processes[0];
        job->processes[i].pid = 100 + i;
        job->processes[i].parent_plus_1 = i ? 1 : 0;
        job->processes[i].steps = steps[i];
        job->processes[i].first_step_period = steps[i] ? 5 : 0;
        job->processes[i].step_source = steps[i] ? sources[i] : SEEP_STEP_TIME;
        ck_assert_int_eq(
            seep_profile_from_bytes("p.seep", others[i].bytes, others[i].n_bytes, &p[i], NULL), 0);
    }
    job->n_processes = N_ROLES;
    ck_assert_int_eq(seep_model_merge_profiles(&m, p, N_ROLES, job, NULL), 0);
    complete();
    for (uint32_t i = 0; i < N_ROLES; i++)
        builder_fini(&others[i]);
}

static enum seep_process_role role_of(uint32_t pid)
{
    for (size_t i = 0; i < m.n_processes; i++)
        if (m.processes[i].id.pid == pid)
            return m.processes[i].role;
    ck_abort_msg("no process %u", pid);
}

static const struct {
    uint32_t steps[N_ROLES];
    enum seep_step_source sources[N_ROLES];
    uint32_t main; /* pid */
    enum seep_process_role roles[N_ROLES];
} families[] = {
    /* It waits for two that share a training out. */
    {{0, 50, 60},
     {0, SEEP_STEP_LOOP, SEEP_STEP_LOOP},
     102,
     {SEEP_ROLE_HELPER, SEEP_ROLE_RANK, SEEP_ROLE_RANK}},
    {{0, 50, 60},
     {0, SEEP_STEP_OPTIMIZER, SEEP_STEP_OPTIMIZER},
     102,
     {SEEP_ROLE_HELPER, SEEP_ROLE_RANK, SEEP_ROLE_RANK}},
    /* One is no part of several. */
    {{0, 50, 0},
     {0, SEEP_STEP_LOOP, 0},
     101,
     {SEEP_ROLE_HELPER, SEEP_ROLE_TRAINER, SEEP_ROLE_HELPER}},
    /* It trains, and two prepare what it trains on. */
    {{20, 50, 60},
     {SEEP_STEP_OPTIMIZER, SEEP_STEP_LOOP, SEEP_STEP_LOOP},
     100,
     {SEEP_ROLE_TRAINER, SEEP_ROLE_HELPER, SEEP_ROLE_HELPER}},
    /* One trains, and the other checks what comes of it. */
    {{0, 50, 20},
     {0, SEEP_STEP_OPTIMIZER, SEEP_STEP_LOOP},
     101,
     {SEEP_ROLE_HELPER, SEEP_ROLE_TRAINER, SEEP_ROLE_TRAINER}},
};

TEST(a_process_is_a_rank_or_a_helper_by_what_it_does, .to = N(families))
{
    model_of_three(families[_i].steps, families[_i].sources);
    ck_assert_uint_eq(m.processes[m.main].id.pid, families[_i].main);
    for (uint32_t i = 0; i < N_ROLES; i++)
        ck_assert_int_eq(role_of(100 + i), families[_i].roles[i]);
}

/* ---- a child that comes after its parent's steps --------------------------------------------- */

enum { SECOND = 1000000000 };

/* A parent that makes a step each tenth of a second, and a child of a loop that makes as many a
 * second. */
static const struct {
    enum seep_step_source source;                  /* the parent's */
    uint32_t parent_steps;                         /* in tenths of a second from its start on */
    uint32_t parent_end, child_start, child_steps; /* tenths of a second */
    uint32_t main;                                 /* pid */
    size_t runs;
    enum seep_process_role child;
} waiting[] = {
    {SEEP_STEP_BATCH, 50, 300, 60, 200, 101, 2, SEEP_ROLE_TRAINER},  /* it looked at the data */
    {SEEP_STEP_BATCH, 80, 300, 60, 200, 101, 2, SEEP_ROLE_TRAINER},  /* a few steps beside it */
    {SEEP_STEP_BATCH, 100, 300, 60, 200, 101, 2, SEEP_ROLE_TRAINER}, /* less than a quarter */
    {SEEP_STEP_BATCH, 120, 300, 60, 200, 100, 1, SEEP_ROLE_HELPER},  /* more than a quarter */
    {SEEP_STEP_BATCH, 140, 300, 60, 200, 100, 1, SEEP_ROLE_HELPER},  /* it trains beside it */
    {SEEP_STEP_OPTIMIZER, 500, 800, 560, 200, 100, 2, SEEP_ROLE_TRAINER}, /* a last evaluation */
    {SEEP_STEP_LOOP, 50, 300, 60, 200, 101, 2, SEEP_ROLE_TRAINER},
};

TEST(a_child_that_its_parent_waits_for_is_a_run_of_its_own, .to = N(waiting))
{
    struct seep_job *job = builder_job(100, SECOND, waiting[_i].parent_steps, 2);
    struct seep_profile *p[2] = {0};
    struct builder child;

    job->processes[0].step_source = waiting[_i].source;
    builder_header(&b)->process_plus_1 = 1;
    builder_header(&b)->python_version = 0x030b0000;
    builder_timeline(&b, job->processes[0].period, 1 << 20);
    builder_header(&b)->end_ns = SECOND + waiting[_i].parent_end * (uint64_t)(SECOND / 10);
    const uint64_t start = SECOND + waiting[_i].child_start * (uint64_t)(SECOND / 10);
    builder_init(&child, 101, start);
    builder_header(&child)->process_plus_1 = 2;
    builder_header(&child)->python_version = 0x030b0000;
    builder_timeline(&child, 2 + waiting[_i].child_steps, 1 << 20);
    job->processes[1] = (struct seep_process){.pid = 101,
                                              .ppid = 100,
                                              .parent_plus_1 = 1,
                                              .start_ns = start,
                                              .steps = waiting[_i].child_steps,
                                              .first_step_period = 2,
                                              .period = 2 + waiting[_i].child_steps,
                                              .step_source = SEEP_STEP_LOOP};
    job->n_processes = 2;
    ck_assert_int_eq(seep_profile_from_bytes("1.seep", b.bytes, b.n_bytes, &p[0], NULL), 0);
    ck_assert_int_eq(seep_profile_from_bytes("2.seep", child.bytes, child.n_bytes, &p[1], NULL), 0);
    ck_assert_int_eq(seep_model_merge_profiles(&m, p, 2, job, NULL), 0);
    complete();
    builder_fini(&child);
    ck_assert_uint_eq(m.processes[m.main].id.pid, waiting[_i].main);
    ck_assert_uint_eq(m.n_runs, waiting[_i].runs);
    ck_assert_int_eq(role_of(101), waiting[_i].child);
    ck_assert_uint_eq(m.n_steps,
                      waiting[_i].main == 100 ? waiting[_i].parent_steps : waiting[_i].child_steps);
}

SUITE("model", .setup = setup, .teardown = teardown)
