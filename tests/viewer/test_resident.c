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

SUITE("resident")
