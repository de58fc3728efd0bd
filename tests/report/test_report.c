/* report.json: the numbers of several processes together, symbols, the schema. */
#include "tests/report_fixture.h"

/* ---- numbers ----------------------------------------------------------------------------- */

TEST(totals_add_up_over_processes)
{
    builder_site(&a, python_stack(&a, "/home/user/t.py", 1), 0, 10, 1000, 4, 400, 1);
    builder_site(&a, python_stack(&a, "/home/user/t.py", 2), 2, 1, 4096, 1, 4096, 1);
    builder_site(&c, python_stack(&c, "/home/user/t.py", 1), 0, 5, 500, 0, 0, 1);
    builder_header(&a)->end_ns = builder_header(&c)->end_ns;
    analyse(2, NULL, true);
    ck_assert_double_eq(number("spaces/host/allocations"), 15);
    ck_assert_double_eq(number("spaces/host/live_bytes"), 1100);
    ck_assert_double_eq(number("spaces/shm/frees"), 1);
    ck_assert_ptr_null(at(report, "spaces/mmap"));
    ck_assert_ptr_null(at(report, "processes/1/spaces/shm"));
    ck_assert_double_eq(number("processes/1/spaces/host/live_bytes"), 500);
    ck_assert_uint_eq(json_array_size(at(report, "sites")), 2);
    ck_assert_uint_eq(json_array_size(at(report, "sites/1/processes")), 2);
}

static uint64_t until_10(uint32_t period, void *arg)
{
    (void)arg;
    return period < 10 ? 100 : 0;
}

static uint64_t from_20(uint32_t period, void *arg)
{
    (void)arg;
    return period >= 20 && period < 30 ? 60 : 0;
}

/* 100 KiB until 1.0 s of the first process; 60 KiB from 3.0 s of the job in the second: never
 * together. */
TEST(the_peak_of_the_sum_is_not_the_sum_of_the_peaks)
{
    builder_level(&a, python_stack(&a, "/home/user/t.py", 1), 0, 1024, 60, until_10, NULL);
    builder_level(&c, python_stack(&c, "/home/user/t.py", 2), 0, 1024, 40, from_20, NULL);
    builder_timeline(&a, 60, 1 << 20);
    builder_timeline(&c, 40, 1 << 20);
    analyse(2, NULL, false);
    ck_assert_double_eq(number("processes/0/spaces/host/peak_bytes"), 100 * 1024);
    ck_assert_double_eq(number("processes/1/spaces/host/peak_bytes"), 60 * 1024);
    ck_assert_double_eq(number("spaces/host/peak_bytes"), 100 * 1024);
    ck_assert_double_eq(number("processes/0/rss_peak_bytes"), 1 << 20);
}

/* A job of nine minutes whose rows are a second apart: the launcher saw it once in each. */
TEST(a_timeline_with_more_rows_than_a_process_writes_is_thinned)
{
    enum { LAST = 5110, GAP = 10 };
    struct seep_job *job = builder_job(100, START, 0, 0);

    builder_timeline(&a, LAST, 1 << 20);
    for (uint32_t i = 0; i + 1 < SEEP_TIMELINE_ROWS; i++)
        job->seen.rows[job->seen.n++] =
            (struct seep_seen_row){.t_ns = START + (i * GAP + GAP / 2 + 1) * UINT64_C(100000000),
                                   .rss_bytes = 2 << 20,
                                   .process_plus_1 = 1};
    analyse(1, job, true);
    const size_t n = json_array_size(at(report, "timeline/t_s"));
    ck_assert_uint_gt(n, SEEP_TIMELINE_ROWS / 2);
    ck_assert_uint_le(n, SEEP_TIMELINE_ROWS);
    ck_assert_uint_eq(json_array_size(at(report, "timeline/rss_bytes")), n);
    ck_assert_double_eq_tol(json_number_value(json_array_get(at(report, "timeline/t_s"), n - 1)),
                            511.1, 0.001);
}

static uint64_t always_7(uint32_t period, void *arg)
{
    (void)arg;
    return period > 0 ? 7 : 0;
}

TEST(peaks_at_one_time_add_up)
{
    builder_level(&a, python_stack(&a, "/home/user/t.py", 1), 0, 1024, 60, always_7, NULL);
    builder_level(&c, python_stack(&c, "/home/user/t.py", 2), 0, 1024, 40, always_7, NULL);
    builder_timeline(&a, 60, 1 << 20);
    builder_timeline(&c, 40, 1 << 20);
    analyse(2, NULL, false);
    ck_assert_double_eq(number("spaces/host/peak_bytes"), 14 * 1024);
    size_t n = json_array_size(at(report, "timeline/t_s"));
    ck_assert_uint_gt(n, 10);
    ck_assert_uint_eq(json_array_size(at(report, "timeline/spaces/host/live_bytes")), n);
    ck_assert_uint_eq(json_array_size(at(report, "timeline/rss_bytes")), n);
    ck_assert_uint_eq(json_array_size(at(report, "timeline/step")), n);
}

TEST(lifetimes_are_quantiles_of_the_frees)
{
    struct seep_point point = {1, 1, 10};
    uint32_t site =
        builder_site(&a, python_stack(&a, "/home/user/t.py", 1), 0, 1000, 10000, 1000, 10000, 90);
    struct seep_detail *d = builder_at(&a, builder_detail(&a, site, &point, 1));

    d->lifetimes[seep_lifetime_bucket(3)] = 300;
    d->lifetimes[seep_lifetime_bucket(80)] = 20;
    d->max_lifetime = 85;
    analyse(1, NULL, true);
    ck_assert_double_eq(number("sites/0/lifetime_steps/p50"), 0);
    ck_assert_double_eq(number("sites/0/lifetime_steps/p99"), 80);
    ck_assert_double_eq(number("sites/0/lifetime_steps/max"), 85);
}

static const struct {
    uint32_t first, last;
    uint64_t frees;
    int known; /* -1: it is not */
} short_lives[] = {{5, 5, 3, 0}, {5, 5, 0, -1}, {1, 900, 3, -1}, {5, 6, 3, -1}};

TEST(lifetimes_that_nobody_noted_are_not_told, .to = N(short_lives))
{
    uint32_t site = builder_site(&a, python_stack(&a, "/home/user/t.py", 1), 0, 10, 1000,
                                 short_lives[_i].frees, 10, short_lives[_i].last);
    static const char *const keys[] = {"p50", "p99", "max"};
    char path[64];

    ((struct seep_site *)builder_at(&a, site))->first_period = short_lives[_i].first;
    analyse(1, builder_job(100, START, 900, 1), true);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        snprintf(path, sizeof path, "sites/0/lifetime_steps/%s", keys[i]);
        if (short_lives[_i].known < 0)
            ck_assert_msg(json_is_null(at(report, path)), "%s is told", path);
        else
            ck_assert_double_eq(number(path), short_lives[_i].known);
    }
}

/* The second profile is the first one's process after an exec. */
TEST(a_pid_is_named_once_after_an_exec)
{
    builder_fini(&c);
    builder_init(&c, 100, START + UINT64_C(2000000000));
    builder_header(&a)->exit_kind = SEEP_EXIT_EXEC;
    builder_level(&a, python_stack(&a, "/home/user/t.py", 1), 0, 4096, 20, two_a_step, NULL);
    builder_level(&c, python_stack(&c, "/home/user/t.py", 1), 0, 4096, 105, two_a_step, NULL);
    builder_timeline(&c, 105, 50 << 20);
    analyse(2, builder_job(100, START, 100, 5), true);
    ck_assert_uint_eq(json_array_size(at(report, "processes")), 2);
    ck_assert_uint_eq(json_array_size(at(report, "sites/0/processes")), 1);
    ck_assert_double_eq(number("sites/0/processes/0"), 100);
    ck_assert_uint_eq(json_array_size(at(report, "findings/0/processes")), 1);
}

TEST(small_sites_are_left_out_unless_asked_for, .to = 2)
{
    builder_site(&a, python_stack(&a, "/home/user/t.py", 1), 0, 1, 1000000, 0, 0, 1);
    builder_site(&a, python_stack(&a, "/home/user/t.py", 2), 0, 1, 999, 0, 0, 1);
    builder_site(&a, python_stack(&a, "/home/user/t.py", 3), 0, 1, 1100, 0, 0, 1);
    builder_header(&a)->spaces[0].peak_bytes = 1000000;
    analyse(1, NULL, _i == 1);
    ck_assert_uint_eq(json_array_size(at(report, "sites")), _i ? 3 : 2);
}

/* A hostile profile costs what it is worth: nothing is large in a space that never held anything.
 */
TEST(sites_that_held_nothing_are_left_out_unless_asked_for, .to = 2)
{
    for (unsigned line = 1; line <= 50; line++) {
        uint32_t site =
            builder_site(&a, python_stack(&a, "/home/user/t.py", line), 0, 1, 0, 0, 0, 1);
        ((struct seep_site *)builder_at(&a, site))->peak_bytes = 0;
    }
    analyse(1, NULL, _i == 1);
    ck_assert_uint_eq(json_array_size(at(report, "sites")), _i ? 50 : 0);
}

enum { MAX_SITES = 2000 };

TEST(sites_beyond_a_number_are_left_out_unless_asked_for, .to = 2)
{
    for (unsigned line = 100; line < 100 + MAX_SITES; line++)
        builder_site(&a, python_stack(&a, "/home/user/big.py", line), 1, 1, 1 << 20, 1, 1 << 20, 1);
    builder_header(&a)->spaces[1].peak_bytes = 100 << 20;
    leaking_job(_i == 1);
    ck_assert_uint_eq(json_array_size(at(report, "findings")), 1);
    ck_assert_uint_eq(json_array_size(at(report, "sites")), _i ? MAX_SITES + 1 : MAX_SITES);
    const json_t *smallest = json_array_get(at(report, "sites"), _i ? MAX_SITES : MAX_SITES - 1);
    ck_assert_str_eq(json_string_value(json_object_get(smallest, "space")), "host");
    ck_assert_str_eq(string("findings/0/sites/0"),
                     json_string_value(json_object_get(smallest, "id")));
    char *gaps = json_dumps(at(report, "coverage/not_seen"), 0);
    ck_assert_int_eq(strstr(gaps, "1 more site is left out") != NULL, !_i);
    free(gaps);
}

/* Stacks of 500 frames, each frame with a name of 4000 bytes and a file of as many. */
TEST(stacks_beyond_a_size_are_left_out_unless_asked_for, .to = 2)
{
    char name[4001] = "", file[4001] = "/";
    uint32_t stack = 0;

    memset(name, 'n', sizeof name - 1);
    memset(file + 1, 'f', sizeof file - 2);
    for (unsigned i = 0; i < 500; i++)
        stack = builder_stack(&a, stack, builder_python(&a, file, name, 1));
    for (unsigned line = 1; line <= 50; line++)
        builder_site(&a, builder_stack(&a, stack, builder_python(&a, file, name, line)), 0, 1, 1000,
                     0, 0, 1);
    analyse(1, NULL, _i == 1);
    size_t n = json_array_size(at(report, "sites"));
    if (_i)
        ck_assert_uint_eq(n, 50);
    else
        ck_assert(n >= 10 && n * 500 * 8000 <= 64 << 20);
}

enum { LEAKS = 40, MAX_FINDINGS = 32 };

TEST(findings_beyond_a_number_are_counted)
{
    char name[16];

    for (unsigned i = 0; i < LEAKS; i++) {
        snprintf(name, sizeof name, "work_%u", i);
        builder_level(&a, builder_stack(&a, 0, builder_python(&a, "/home/user/t.py", name, i + 1)),
                      0, 4096, 105, two_a_step, NULL);
    }
    builder_timeline(&a, 105, 50 << 20);
    analyse(1, builder_job(100, START, 100, 5), false);
    ck_assert_uint_eq(json_array_size(at(report, "findings")), MAX_FINDINGS);
    ck_assert_double_eq(number("findings_left_out/leak"), LEAKS - MAX_FINDINGS);
    ck_assert_double_eq(number("findings_left_out/info"), 0);
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);
    ck_assert_int_eq(
        seep_report_text(report, NULL, out, &(struct seep_report_look){.colour = false}), 0);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "and 8 more (8 leak): the list is bounded."));
    free(text);
}

/* ---- processes --------------------------------------------------------------------------- */

static const struct {
    int has_status, wait_status;
    uint32_t exit_kind;
    int32_t exit_value;
    const char *kind;
    int value;
    const char *text;
} exits[] = {
    {1, 9, SEEP_EXIT_NONE, 0, "signal", 9, "killed by SIGKILL"},
    {1, 3 << 8, SEEP_EXIT_NONE, 0, "exit", 3, "ended with status 3"},
    {1, 6, SEEP_EXIT_EXIT, 0, "signal", 6, "killed by SIGABRT"},
    {1, 40, SEEP_EXIT_NONE, 0, "signal", 40, "killed by signal 40"},
    {1, 0, SEEP_EXIT_NONE, 0, "exit", 0, "ended normally"},
    {0, 0, SEEP_EXIT_EXIT, 7, "exit", 7, "ended with status 7"},
    {0, 0, SEEP_EXIT_SIGNAL, 11, "signal", 11, "killed by SIGSEGV"},
    {0, 0, SEEP_EXIT_NONE, 0, "unknown", -1, "nobody saw how it ended"},
};

TEST(every_exit_is_told, .to = N(exits))
{
    struct seep_job *job = builder_job(100, START, 0, 0);

    job->processes[0].has_status = (uint32_t)exits[_i].has_status;
    job->processes[0].wait_status = exits[_i].wait_status;
    builder_header(&a)->exit_kind = exits[_i].exit_kind;
    builder_header(&a)->exit_value = exits[_i].exit_value;
    analyse(1, job, false);
    ck_assert_str_eq(string("processes/0/exit/kind"), exits[_i].kind);
    ck_assert_str_eq(string("processes/0/exit/text"), exits[_i].text);
    ck_assert_str_eq(string("job/exit/text"), exits[_i].text);
    if (exits[_i].value >= 0)
        ck_assert_double_eq(number("processes/0/exit/value"), exits[_i].value);
    else
        ck_assert(json_is_null(at(report, "processes/0/exit/value")));
}

/* What the cgroup counts may be of others, too: no more than SIGKILL ended, and of those all or
 * none by name. */
static const struct {
    uint32_t counted;
    int statuses[2];
    unsigned kills;
    const char *text;
} oom_kills[] = {
    {0, {9, 0}, 0, "killed by SIGKILL"},
    {1, {9, 0}, 1, "killed by the kernel, out of memory (SIGKILL)"},
    {5, {9, 9}, 2, "killed by the kernel, out of memory (SIGKILL)"},
    {1, {9, 9}, 1, "killed by SIGKILL"},
    {3, {6, 0}, 0, "killed by SIGABRT"},
};

TEST(a_kill_for_lack_of_memory_is_told, .to = N(oom_kills))
{
    struct seep_job *job = builder_job(100, START, 0, 0);

    job->oom_kills = oom_kills[_i].counted;
    job->n_processes = 2;
    job->processes[1].pid = 101;
    for (int i = 0; i < 2; i++) {
        job->processes[i].has_status = 1;
        job->processes[i].wait_status = oom_kills[_i].statuses[i];
    }
    analyse(1, job, false);
    ck_assert_double_eq(number("job/oom_kills"), oom_kills[_i].kills);
    ck_assert_str_eq(string("processes/0/exit/text"), oom_kills[_i].text);
}

/* Whose loop it is: of a process that the trainer made, of a thread of that, of one that nobody of
 * the job made. */
static const struct {
    uint32_t tid, parent_plus_1;
    const char *role;
} loops[] = {{200, 1, "loader-worker"}, {201, 1, "helper"}, {200, 0, "helper"}};

TEST(a_loader_worker_is_known_by_its_loop, .to = N(loops))
{
    uint32_t loop = builder_stack(
        &c, 0,
        builder_python(&c, "/usr/lib/python3/dist-packages/torch/utils/data/_utils/worker.py",
                       "_worker_loop", 302));
    uint32_t item =
        builder_stack(&c, loop, builder_python(&c, "/home/user/d.py", "__getitem__", 9));
    struct seep_job *job = builder_job(100, START, 50, 1);

    job->n_processes = 2;
    job->processes[1] = (struct seep_process){
        .pid = 200, .ppid = 100, .parent_plus_1 = loops[_i].parent_plus_1, .follows = 1};
    builder_site(&a, python_stack(&a, "/home/user/t.py", 1), 0, 1, 100, 0, 0, 1);
    builder_site(&c, item, 0, 1, 100, 0, 0, 1);
    builder_header(&c)->slots[0].tid = loops[_i].tid;
    analyse(2, job, true);
    ck_assert_str_eq(string("processes/0/role"), "trainer");
    ck_assert_str_eq(string("processes/1/role"), loops[_i].role);
    ck_assert_str_eq(string("sites/1/part"), "dataset");
    ck_assert_double_eq(number("job/steps"), 50);
}

/* Without steps the only process trains, however it calls its functions. */
TEST(a_job_that_prefetches_is_no_worker)
{
    uint32_t loop = python_stack(&a, "/home/user/t.py", 1);

    loop = builder_stack(&a, loop, builder_python(&a, "/home/user/t.py", "my_worker_loop", 2));
    builder_site(&a, loop, 0, 1, 100, 0, 0, 1);
    analyse(1, NULL, true);
    ck_assert_str_eq(string("processes/0/role"), "trainer");
}

TEST(stepping_processes_with_ranks_are_ranks, .to = 2)
{
    struct seep_job *job = builder_job(100, START, 50, 1);

    job->n_processes = 2;
    job->processes[1] = job->processes[0];
    job->processes[1].pid = 200;
    builder_header(&a)->rank = 0;
    builder_header(&c)->rank = _i ? 1 : -1;
    analyse(2, job, true);
    ck_assert_str_eq(string("processes/0/role"), _i ? "rank" : "trainer");
    ck_assert_str_eq(string("processes/1/role"), _i ? "rank" : "trainer");
    ck_assert_double_eq(number("processes/0/rank"), 0);
}

TEST(what_was_not_seen_is_said)
{
    struct seep_job *job = builder_job(100, START, 0, 0);

    job->n_processes = 2;
    job->processes[1].pid = 777;
    builder_header(&a)->python_support = SEEP_PYTHON_UNKNOWN_VERSION;
    builder_header(&a)->python_version = 0x030f00f0;
    builder_header(&a)->dropped[SEEP_DROP_BOUND] = 5;
    builder_header(&a)->dropped[SEEP_DROP_FREE_UNKNOWN] = 9;
    analyse(1, job, false);
    char *gaps = json_dumps(at(report, "coverage/not_seen"), 0);
    ck_assert_ptr_nonnull(strstr(gaps, "Python 3.15"));
    ck_assert_ptr_nonnull(strstr(gaps, "5 events dropped"));
    ck_assert_ptr_nonnull(strstr(gaps, "pid 777"));
    ck_assert_ptr_nonnull(strstr(gaps, "no training steps"));
    ck_assert_double_eq(number("job/dropped_events"), 5);
    free(gaps);
}

TEST(a_python_without_a_gil_is_said_to_have_no_frames)
{
    builder_header(&a)->python_support = SEEP_PYTHON_NO_GIL;
    builder_header(&a)->python_version = 0x030e0af0;
    analyse(1, NULL, false);
    char *gaps = json_dumps(at(report, "coverage/not_seen"), 0);
    ck_assert_ptr_nonnull(strstr(gaps, "its Python 3.14 has no GIL (free-threaded)"));
    ck_assert_ptr_null(strstr(gaps, "does not know Python"));
    free(gaps);
}

static const struct {
    uint32_t exit_kind; /* of the one process */
    bool job, ended;    /* a job table; its launcher saw the end */
    bool second;        /* the table knows of a process without a profile */
    bool complete;
} ends[] = {
    {SEEP_EXIT_EXIT, true, true, false, true},   {SEEP_EXIT_EXIT, true, false, false, true},
    {SEEP_EXIT_EXIT, false, false, false, true}, {SEEP_EXIT_EXIT, true, true, true, false},
    {SEEP_EXIT_NONE, true, true, false, true},   {SEEP_EXIT_NONE, true, false, false, false},
    {SEEP_EXIT_NONE, false, false, false, false}};

TEST(complete_is_what_has_ended_and_was_read_whole, .to = N(ends))
{
    struct seep_job *job = ends[_i].job ? builder_job(100, START, 0, 0) : NULL;

    builder_header(&a)->exit_kind = ends[_i].exit_kind;
    if (ends[_i].ended)
        job->ended_ns = START + 1;
    if (ends[_i].second)
        job->processes[job->n_processes++].pid = 777;
    analyse(1, job, false);
    ck_assert_int_eq(json_is_true(at(report, "job/complete")), ends[_i].complete);
}

TEST(hooks_are_named_by_their_place)
{
    builder_header(&a)->coverage_seen[0] = 1;
    builder_header(&a)->coverage_seen[4] = 1;
    builder_header(&a)->coverage_seen[SEEP_MAX_COVERAGE - 1] = 1;
    analyse(1, NULL, false);
    ck_assert_uint_eq(json_array_size(at(report, "coverage/hooks")), 3);
    ck_assert_str_eq(string("coverage/hooks/0"), "malloc");
    ck_assert_str_eq(string("coverage/hooks/1"), "free");
    ck_assert_ptr_nonnull(strstr(string("coverage/hooks/2"), "hook "));
}

/* ---- symbols ----------------------------------------------------------------------------- */

/* Assembly without .type and .size, as people write it. */
__asm__(".text\n"
        "seep_test_blob:\n"
        ".skip 64, 0x90\n"
        "seep_test_next:\n"
        ".skip 64, 0x90\n"
        ".type seep_test_sized, @function\n"
        "seep_test_sized:\n"
        ".skip 64, 0x90\n"
        ".size seep_test_sized, 64\n");
extern const char seep_test_blob[];
extern const char __executable_start[];

static const char *const labels[] = {"seep_test_blob", "seep_test_blob", "seep_test_blob",
                                     "seep_test_next", "seep_test_next", "seep_test_sized",
                                     "seep_test_sized"};

TEST(every_call_in_a_function_of_assembly_has_its_name)
{
    const uintptr_t places[] = {0, 8, 63, 64, 100, 128, 150};
    uintptr_t blob = (uintptr_t)seep_test_blob - (uintptr_t)__executable_start;
    char path[64], self[4096] = "";

    ck_assert_int_gt((int)readlink("/proc/self/exe", self, sizeof self - 1), 0);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        builder_site(&a, builder_stack(&a, 0, builder_native(&a, self, NULL, blob + places[i])), 0,
                     1, 1000 - i, 0, 0, 1);
    analyse_folder(NULL, true);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "sites/%zu/stack/0/function", i);
        ck_assert_str_eq(string(path), labels[i]);
    }
}

/* ---- schema ------------------------------------------------------------------------------ */

static void dump(const char *dir, const char *name)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s.json", dir, name);
    ck_assert_int_eq(json_dump_file(report, path, 0), 0);
    json_decref(report);
    report = NULL;
}

TEST(reports_obey_the_schema)
{
    char dir[] = "/tmp/seep-report-XXXXXX", command[256];

    ck_assert_ptr_nonnull(mkdtemp(dir));
    analyse(2, NULL, true);
    dump(dir, "empty");
    leaking_job(false);
    dump(dir, "leak");
    uint32_t native = builder_native(&a, "/usr/lib/x86_64-linux-gnu/libc.so.6", "00", 5);
    builder_site(&a, builder_stack(&a, 0, native), 0, UINT64_MAX, UINT64_MAX, 0, 0, UINT32_MAX);
    builder_site(&a, 0, 1, 1, 1, 9, 9, 0);
    builder_site(&a, UINT32_MAX, 2, 1, 1, 0, 0, 7);
    analyse(2, builder_job(100, UINT64_MAX, UINT32_MAX, UINT32_MAX), true);
    dump(dir, "hostile");
    snprintf(command, sizeof command,
             "/usr/bin/python3 tests/validate_reports.py %s/*.json && rm -r %s", dir, dir);
    ck_assert_int_eq(system(command), 0);
}

SUITE("report", .setup = setup, .teardown = teardown)
