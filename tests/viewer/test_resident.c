/* Resident memory counts the job's processes, and no others. */
#include "tests/suite.h"
#include "viewer/watch/resident.h"

#include <check.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static uint64_t sampled(uint64_t start_ns, uint32_t has_status)
{
    struct seep_job *job = calloc(1, sizeof *job);
    struct seep_resident resident = {0};

    ck_assert_ptr_nonnull(job);
    job->n_processes = 1;
    job->processes[0] = (struct seep_process){
        .pid = (uint32_t)getpid(), .start_ns = start_ns, .has_status = has_status};
    seep_resident_sample(&resident, job);
    uint64_t bytes = job->processes[0].rss_peak_bytes;
    free(job);
    return bytes;
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

TEST(a_process_that_runs_is_measured)
{
    ck_assert_uint_gt(sampled(now_ns(), 0), 0);
}

/* The entry's process ended unseen, long before; this one has its pid now. */
TEST(a_stranger_with_a_dead_process_s_pid_is_not_measured)
{
    ck_assert_uint_eq(sampled(1, 0), 0);
}

TEST(a_process_that_was_reaped_is_not_measured)
{
    ck_assert_uint_eq(sampled(now_ns(), 1), 0);
}

TEST(a_job_with_processes_of_another_pid_namespace_has_no_known_pss)
{
    struct seep_job *job = calloc(1, sizeof *job);
    struct seep_resident resident = {0};

    ck_assert_ptr_nonnull(job);
    job->n_processes = 2;
    job->processes[0] = (struct seep_process){
        .pid = (uint32_t)getpid(), .ppid = (uint32_t)getppid(), .start_ns = now_ns()};
    job->processes[1] = (struct seep_process){.pid = 0, .start_ns = now_ns()};
    seep_resident_sample(&resident, job);
    ck_assert_uint_gt(job->pss_peak_bytes, 0);
    job->processes[1].pid = 1; /* its parent cannot be seen from there */
    resident = (struct seep_resident){0};
    seep_resident_sample(&resident, job);
    ck_assert_uint_eq(job->pss_peak_bytes, 0);
    free(job);
}

/* ---- what is kept of passes ------------------------------------------------------------------ */

static struct seep_job *seen_before(uint32_t n_passes, uint64_t last_ns)
{
    struct seep_job *job = calloc(1, sizeof *job);

    ck_assert_ptr_nonnull(job);
    job->n_processes = 1;
    job->processes[0] = (struct seep_process){.pid = (uint32_t)getpid(), .start_ns = now_ns()};
    job->seen.gap_ms = 200;
    for (uint32_t i = 0; i < 2 * n_passes; i++) /* two processes in each */
        job->seen.rows[job->seen.n++] =
            (struct seep_seen_row){.t_ns = last_ns - (n_passes - 1 - i / 2) * UINT64_C(1000000),
                                   .rss_bytes = i / 2 + 1,
                                   .process_plus_1 = i % 2 + 1};
    return job;
}

TEST(what_a_pass_sees_is_kept_for_reports)
{
    struct seep_job *job = seen_before(0, 0);
    struct seep_resident resident = {0};

    seep_resident_sample(&resident, job);
    ck_assert_uint_eq(job->seen.n, 1);
    ck_assert_uint_gt(job->seen.rows[0].rss_bytes, 0);
    ck_assert_uint_gt(job->seen.rows[0].anonymous_bytes, 0);
    ck_assert_uint_eq(job->seen.rows[0].process_plus_1, 1);
    resident = (struct seep_resident){0};
    seep_resident_sample(&resident, job); /* too soon after the last */
    ck_assert_uint_eq(job->seen.n, 1);
    free(job);
}

TEST(once_all_rows_are_taken_every_second_pass_goes_with_all_of_its_processes)
{
    struct seep_job *job = seen_before(SEEP_SEEN_ROWS / 2, now_ns() - UINT64_C(10000000000));
    struct seep_resident resident = {0};

    seep_resident_sample(&resident, job);
    ck_assert_uint_eq(job->seen.n, SEEP_SEEN_ROWS / 2 + 1);
    ck_assert_uint_eq(job->seen.gap_ms, 400);
    for (uint32_t i = 0; i < SEEP_SEEN_ROWS / 2; i++) {
        ck_assert_uint_eq(job->seen.rows[i].rss_bytes, i / 2 * 2 + 1);
        ck_assert_uint_eq(job->seen.rows[i].process_plus_1, i % 2 + 1);
    }
    free(job);
}

SUITE("resident")
