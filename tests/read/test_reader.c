/* Reading profiles: what the shim writes comes back, of one process and of many, ended or running.
 */
#include "tests/read/reader_fixture.h"

TEST(a_site_comes_back_with_its_stack_and_counts)
{
    struct seep_model m;

    builder_site(&b, stack_of_three(&b), 0, 7, 7000, 3, 3000, 5);
    struct seep_profile *p = profile_of(&b);
    merge_all(&m, &p, 1, NULL);
    ck_assert_uint_eq(m.n_sites, 1);
    const struct seep_model_site *site = &m.sites[0];
    ck_assert_uint_eq(site->totals.allocations, 7);
    ck_assert_uint_eq(site->totals.frees, 3);
    ck_assert_uint_eq(seep_totals_live(&site->totals), 4000);
    const struct seep_dict_frame *f = &m.dict.frames[m.dict.stacks[site->stack].frame];
    ck_assert_int_eq(f->kind, SEEP_FRAME_NATIVE);
    ck_assert_uint_eq(f->where, 0x1234);
    ck_assert_str_eq(seep_dictionary_text(&m.dict, m.dict.modules[f->source].path),
                     "/usr/lib/libc10.so");
    uint32_t parent = m.dict.stacks[site->stack].parent;
    ck_assert_str_eq(function_at(&m, parent), "load");
    ck_assert_uint_eq(m.dict.frames[m.dict.stacks[parent].frame].where, 20);
    ck_assert_str_eq(function_at(&m, m.dict.stacks[parent].parent), "main");
    seep_model_fini(&m);
}

TEST(threads_and_processes_with_one_stack_are_one_site)
{
    struct seep_model m;
    struct builder c;
    struct seep_profile *p[2];

    builder_init(&c, 101, UINT64_C(2000000000));
    uint32_t stack = stack_of_three(&b);
    builder_site(&b, stack, 0, 1, 100, 0, 0, 5);
    uint32_t second = builder_site(&b, stack, 0, 2, 200, 0, 0, 5);
    ((struct seep_site *)builder_at(&b, second))->slot_plus_1 = 2;
    builder_string(&c, "so that the references differ");
    builder_site(&c, stack_of_three(&c), 0, 4, 400, 1, 100, 9);
    p[0] = profile_of(&b);
    p[1] = profile_of(&c);
    merge_all(&m, p, 2, NULL);
    ck_assert_uint_eq(m.n_sites, 1);
    ck_assert_uint_eq(m.sites[0].totals.allocations, 7);
    ck_assert_uint_eq(seep_totals_live(&m.sites[0].totals), 600);
    ck_assert_uint_eq(m.sites[0].n_slots, 3);
    seep_model_fini(&m);
    builder_fini(&c);
}

TEST(remote_frees_count_and_inherited_ones_do_not)
{
    struct seep_model m;
    struct seep_point point = {5, 2, 200};

    uint32_t site = builder_site(&b, stack_of_three(&b), 0, 5, 500, 1, 100, 6);
    struct seep_detail *d = builder_at(&b, builder_detail(&b, site, &point, 1));
    d->remote_frees = 2;
    d->remote_freed_bytes = 200;
    d->inherited_frees = 50;
    d->inherited_freed_bytes = 5000;
    struct seep_profile *p = profile_of(&b);
    merge_all(&m, &p, 1, NULL);
    ck_assert_uint_eq(m.sites[0].totals.frees, 3);
    ck_assert_uint_eq(seep_totals_live(&m.sites[0].totals), 200);
    ck_assert_uint_eq(m.extras[0].inherited_freed_bytes, 5000);
    seep_model_fini(&m);
}

TEST(a_detail_below_the_header_is_a_count_of_periods)
{
    struct seep_model m;

    uint32_t site = builder_site(&b, stack_of_three(&b), 0, 5, 500, 0, 0, 6);
    ((struct seep_site *)builder_at(&b, site))->detail = 3;
    struct seep_profile *p = profile_of(&b);
    merge_all(&m, &p, 1, NULL);
    ck_assert_uint_eq(m.sites[0].extra, 0);
    ck_assert_uint_eq(m.sites[0].totals.allocations, 5);
    seep_model_fini(&m);
}

TEST(points_whose_period_does_not_rise_are_skipped)
{
    struct seep_model m;
    struct seep_point points[] = {{3, 1, 10}, {5, 2, 20}, {4, 9, 90}, {5, 8, 80}, {8, 3, 30}};

    uint32_t site = builder_site(&b, stack_of_three(&b), 0, 9, 90, 0, 0, 9);
    builder_detail(&b, site, points, 5);
    struct seep_profile *p = profile_of(&b);
    merge_all(&m, &p, 1, builder_job(100, UINT64_C(1000000000), 20, 1));
    ck_assert_uint_eq(m.slots[0].n_points, 4);
    const struct seep_model_point *got = &m.points[m.slots[0].points_at];
    ck_assert_int_eq(got[0].step, 3);
    ck_assert_int_eq(got[1].step, 5);
    ck_assert_uint_eq(got[1].bytes, 20);
    ck_assert_int_eq(got[2].step, 8);
    ck_assert_int_eq(got[3].step, 9);
    ck_assert_uint_eq(got[3].bytes, 90);
    seep_model_fini(&m);
}

/* ---- forks ------------------------------------------------------------------------------- */

TEST(a_child_uses_its_parents_stacks)
{
    struct seep_model m;
    struct builder c;

    uint32_t stack = stack_of_three(&b);
    builder_site(&b, stack, 0, 1, 100, 0, 0, 1);
    builder_init_fork(&c, &b, "100-1.seep", 101, UINT64_C(2000000000));
    uint32_t own = builder_stack(&c, stack, builder_native(&c, "/usr/lib/libc10.so", "00ff", 0x99));
    builder_site(&c, stack, 0, 1, 50, 0, 0, 1);
    builder_site(&c, own, 0, 1, 25, 0, 0, 1);
    ck_assert_int_eq(builder_write(&b, dir, "100-1.seep"), 0);
    ck_assert_int_eq(builder_write(&c, dir, "101-2.seep"), 0);
    const char *dirs[] = {dir};
    memset(&m, 0, sizeof m);
    ck_assert_int_eq(seep_model_merge_folders(&m, dirs, 1, NULL), 0);
    ck_assert_uint_eq(m.n_sites, 2);
    ck_assert_uint_eq(m.sites[0].totals.allocated_bytes, 150);
    ck_assert_str_eq(function_at(&m, m.dict.stacks[m.sites[0].stack].parent), "load");
    ck_assert_uint_eq(m.dict.stacks[m.sites[1].stack].parent, m.sites[0].stack);
    ck_assert(!m.processes[1].orphaned);
    seep_model_fini(&m);
    builder_fini(&c);
}

static const char *const bad_parents[] = {"gone.seep", "../100-1.seep", "",
                                          ".",         "101-2.seep",    "/etc/passwd"};

TEST(a_child_without_its_parent_keeps_its_counts, .to = N(bad_parents))
{
    struct seep_model m;
    struct builder c;

    uint32_t stack = stack_of_three(&b);
    builder_init_fork(&c, &b, bad_parents[_i], 101, UINT64_C(2000000000));
    builder_site(&c, stack, 0, 1, 50, 0, 0, 1);
    ck_assert_int_eq(builder_write(&c, dir, "101-2.seep"), 0);
    const char *dirs[] = {dir};
    memset(&m, 0, sizeof m);
    ck_assert_int_eq(seep_model_merge_folders(&m, dirs, 1, NULL), 0);
    ck_assert_uint_eq(m.sites[0].totals.allocated_bytes, 50);
    ck_assert(m.dict.frames[m.dict.stacks[m.sites[0].stack].frame].pseudo);
    ck_assert(m.processes[0].orphaned);
    seep_model_fini(&m);
    builder_fini(&c);
}

/* ---- clocks and folders ------------------------------------------------------------------ */

/* The wall clock was set back between the two: by it the child is older than its parent. */
TEST(a_step_of_the_wall_clock_does_not_part_a_child_from_its_parent)
{
    struct seep_model m = {0};
    struct builder c;

    uint32_t stack = stack_of_three(&b);
    builder_init_fork(&c, &b, "100-1.seep", 101, UINT64_C(1500000000));
    builder_header(&c)->start_unix_ns -= UINT64_C(60000000000);
    builder_site(&c, stack, 0, 1, 50, 0, 0, 1);
    ck_assert_int_eq(builder_write(&b, dir, "100-1.seep"), 0);
    ck_assert_int_eq(builder_write(&c, dir, "101-2.seep"), 0);
    const char *dirs[] = {dir};
    ck_assert_int_eq(seep_model_merge_folders(&m, dirs, 1, NULL), 0);
    ck_assert_uint_eq(m.processes[1].id.pid, 101);
    ck_assert(!m.processes[1].orphaned);
    ck_assert_uint_eq(m.end_ns - m.start_ns, 1500000000);
    seep_model_fini(&m);
    builder_fini(&c);
}

/* Two hosts' monotonic clocks have nothing in common; their wall clocks have. */
TEST(processes_of_several_hosts_lie_on_one_clock)
{
    struct seep_model m = {0};
    struct builder c;

    builder_init(&c, 101, UINT64_C(900000000000000));
    builder_header(&c)->start_unix_ns = builder_header(&b)->start_unix_ns + 500000000;
    strcpy(builder_header(&c)->host, "otherhost");
    ck_assert_int_eq(builder_write(&b, dir, "100-1.seep"), 0);
    ck_assert_int_eq(builder_write(&c, dir, "101-2.seep"), 0);
    const char *dirs[] = {dir};
    ck_assert_int_eq(seep_model_merge_folders(&m, dirs, 1, NULL), 0);
    ck_assert_uint_eq(m.processes[1].start_ns - m.processes[0].start_ns, 500000000);
    ck_assert_uint_eq(m.end_ns - m.start_ns, 1500000000);
    seep_model_fini(&m);
    builder_fini(&c);
}

TEST(a_folder_given_twice_counts_once)
{
    struct seep_model m = {0};
    char again[128];

    snprintf(again, sizeof again, "%s/../%s/", dir, dir + 5);
    builder_site(&b, stack_of_three(&b), 0, 1, 50, 0, 0, 1);
    ck_assert_int_eq(builder_write(&b, dir, "100-1.seep"), 0);
    const char *dirs[] = {dir, again, dir};
    ck_assert_int_eq(seep_model_merge_folders(&m, dirs, 3, NULL), 0);
    ck_assert_uint_eq(m.n_processes, 1);
    seep_model_fini(&m);
}

TEST(a_folder_that_cannot_be_read_leaves_the_others)
{
    struct seep_model m = {0};
    const char *dirs[] = {"/nonexistent/seep", dir};

    ck_assert_int_eq(builder_write(&b, dir, "100-1.seep"), 0);
    ck_assert_int_eq(seep_model_merge_folders(&m, dirs, 2, NULL), 0);
    ck_assert_uint_eq(m.n_processes, 1);
    ck_assert_uint_ge(m.n_not_read, 1);
    ck_assert_str_eq(m.not_read[0].name, "/nonexistent/seep");
    seep_model_fini(&m);
}

TEST(an_empty_folder_is_said_to_be_empty, .to = 2)
{
    struct seep_model m = {0};
    struct seep_error err = {0};
    struct seep_job *job = builder_job(100, 1, 0, 0);
    const char *dirs[] = {dir};

    if (_i)
        ck_assert_int_eq(builder_write_job(job, dir), 0);
    ck_assert_int_eq(seep_model_merge_folders(&m, dirs, 1, &err), -SEEP_ENODATA);
    ck_assert_str_eq(err.text, "no profile is in it: name a folder that `seep run` has written");
    seep_model_fini(&m);
    free(job);
}

/* ---- processes one after the other ------------------------------------------------------- */

/* 100 bytes each at the end of a second's life; the second one begins `after` ns later. */
static void two_processes(struct seep_model *m, uint64_t after,
                          void (*change)(struct seep_header *))
{
    struct builder c;
    struct seep_profile *p[2];

    builder_init(&c, 101, UINT64_C(1000000000) + after);
    builder_site(&b, stack_of_three(&b), 0, 1, 100, 0, 0, 1);
    builder_site(&c, stack_of_three(&c), 0, 1, 100, 0, 0, 1);
    if (change)
        change(builder_header(&b));
    p[0] = profile_of(&b);
    p[1] = profile_of(&c);
    merge_all(m, p, 2, NULL);
    complete(m);
    builder_fini(&c);
}

static void exec(struct seep_header *h)
{
    h->exit_kind = SEEP_EXIT_EXEC;
}

static void be_killed(struct seep_header *h)
{
    h->exit_kind = SEEP_EXIT_NONE;
    h->end_ns = 0;
}

static const struct {
    uint64_t after;
    void (*change)(struct seep_header *);
    uint64_t live;
} pairs[] = {
    {0, NULL, 200},          /* side by side */
    {50000000, NULL, 200},   /* one ends with the job, or almost */
    {500000000, NULL, 100},  /* … well before it */
    {1000000001, NULL, 100}, /* one after the other */
    {1000000001, exec, 100},
    {0, exec, 100},               /* replaced, whatever the time */
    {50000000, be_killed, 200},   /* its last sign of life is not its end */
    {3000000000, be_killed, 100}, /* … but this is a stranger, long after */
};

TEST(live_is_what_was_live_at_one_time, .to = N(pairs))
{
    struct seep_model m;

    two_processes(&m, pairs[_i].after, pairs[_i].change);
    const struct seep_totals *t = &m.spaces[0].totals;
    ck_assert_uint_eq(seep_totals_live(t), pairs[_i].live);
    ck_assert_uint_ge(t->peak_bytes, pairs[_i].live);
    ck_assert_uint_eq(t->allocated_bytes, 200);
    seep_model_fini(&m);
}

/* A program replaced by one without a profile: who reaped the pid knows how that ended. */
TEST(an_exec_into_the_unknown_ends_as_its_reaper_says)
{
    struct seep_model m;
    struct seep_job *job = builder_job(100, UINT64_C(1000000000), 0, 0);

    builder_header(&b)->exit_kind = SEEP_EXIT_EXEC;
    job->processes[0].has_status = 1;
    job->processes[0].wait_status = 7 << 8;
    struct seep_profile *p = profile_of(&b);
    merge_all(&m, &p, 1, job);
    complete(&m);
    ck_assert_int_eq(m.processes[0].ended.kind, SEEP_ENDED_EXIT);
    ck_assert(!m.processes[0].ended.replaced); /* by nothing that is in the job */
    ck_assert_int_eq(m.processes[0].ended.value, 7);
    seep_model_fini(&m);
}

/* Two trainings of ten steps in a row: each has a stretch of the axis to itself. */
TEST(trainings_in_a_row_do_not_share_steps)
{
    struct seep_model m;
    struct builder c;
    struct seep_profile *p[2];
    struct seep_job *job = builder_job(100, UINT64_C(1000000000), 10, 5);

    builder_init(&c, 101, UINT64_C(2500000000));
    builder_header(&c)->process_plus_1 = 2;
    builder_seal(&c);
    job->n_processes = 2;
    job->processes[1] = job->processes[0];
    job->processes[1].pid = 101;
    p[0] = profile_of(&b);
    p[1] = profile_of(&c);
    merge_all(&m, p, 2, job);
    complete(&m);
    ck_assert_uint_eq(m.n_steps, 10);
    ck_assert_int_eq(seep_model_step(&m, &m.processes[0], 5), 1);
    ck_assert_int_eq(seep_model_step(&m, &m.processes[0], 14), 10);
    ck_assert_int_eq(m.processes[0].end_step, 11);
    ck_assert_int_gt(seep_model_step(&m, &m.processes[1], 0), 10);
    ck_assert_int_eq(
        seep_model_step(&m, &m.processes[1], 14) - seep_model_step(&m, &m.processes[1], 5), 9);
    ck_assert_int_eq(m.processes[1].end_step, INT32_MAX);
    seep_model_fini(&m);
    builder_fini(&c);
}

/* ---- running processes ------------------------------------------------------------------- */

/* A report opens all files first: by the time it reads one, a site may have got its first detail.
 */
TEST(details_made_after_a_file_was_opened_are_found)
{
    struct seep_profile *p = NULL;
    struct seep_point points[] = {{1, 1, 16}, {2, 2, 32}};
    char path[128];
    uint32_t n = 0;

    builder_header(&b)->exit_kind = SEEP_EXIT_NONE;
    uint32_t site = builder_site(&b, 0, 0, 1, 16, 0, 0, 1);
    ck_assert_int_eq(builder_write(&b, dir, "100-1.seep"), 0);
    snprintf(path, sizeof path, "%s/100-1.seep", dir);
    ck_assert_int_eq(seep_profile_open(path, &p, NULL), 0);
    uint32_t ref = builder_detail(&b, site, points, 2);
    ck_assert_int_eq(builder_write(&b, dir, "100-1.seep"), 0);
    ck_assert_int_eq(seep_profile_load(p, NULL), 0);
    const struct seep_detail *d =
        seep_profile_at(p, ref, SEEP_CHUNK_DETAILS, sizeof(struct seep_detail), NULL);
    ck_assert_ptr_nonnull(d);
    ck_assert_ptr_nonnull(seep_profile_series(p, d->series, ref, &n));
    ck_assert_uint_eq(n, 2);
    seep_profile_close(p);
}

/* Between a reader's look at the header and its copy of the counters the process goes on: what
 * those counters refer to is in chunks that the header did not name yet. */
TEST(stacks_made_while_the_file_is_read_are_found)
{
    struct seep_profile *p = NULL;
    char path[128];

    builder_header(&b)->exit_kind = SEEP_EXIT_NONE;
    uint32_t site = builder_site(&b, 0, 0, 1, 16, 0, 0, 1);
    ck_assert_int_eq(builder_write(&b, dir, "100-1.seep"), 0);
    snprintf(path, sizeof path, "%s/100-1.seep", dir);
    ck_assert_int_eq(seep_profile_open(path, &p, NULL), 0);
    uint32_t stack = stack_of_three(&b);
    ((struct seep_site *)builder_at(&b, site))->stack = stack;
    ck_assert_int_eq(builder_write(&b, dir, "100-1.seep"), 0);
    ck_assert_int_eq(seep_profile_load(p, NULL), 0);
    ck_assert_ptr_nonnull(
        seep_profile_at(p, stack, SEEP_CHUNK_STACKS, sizeof(struct seep_stack), NULL));
    seep_profile_close(p);
}

TEST(a_process_that_still_runs_is_told_from_one_that_is_gone, .to = 2)
{
    struct timespec now;
    const char *dirs[] = {dir};
    json_t *report = NULL;

    clock_gettime(CLOCK_MONOTONIC, &now);
    struct seep_header *h = builder_header(&b);
    h->exit_kind = SEEP_EXIT_NONE;
    h->pid = (uint32_t)getpid();
    /* The second file's process began long before this one: its pid was used again. */
    h->start_ns = _i ? 1 : (uint64_t)now.tv_sec * 1000000000u;
    gethostname(h->host, sizeof h->host);
    builder_seal(&b);
    ck_assert_int_eq(builder_write(&b, dir, "1-1.seep"), 0);
    struct seep_job *job = builder_job(h->pid, h->start_ns, 0, 0);
    job->ended_ns = _i ? 2 : 0;
    ck_assert_int_eq(builder_write_job(job, dir), 0);
    free(job);
    ck_assert_int_eq(seep_analyse(dirs, 1, NULL, &report, NULL), 0);
    const json_t *process = json_array_get(json_object_get(report, "processes"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(json_object_get(process, "exit"), "kind")),
                     _i ? "unknown" : "running");
    ck_assert(json_is_true(json_object_get(json_object_get(report, "job"), "complete")) == !!_i);
    json_decref(report);
}

SUITE("reader", .setup = setup, .teardown = teardown)
