/* report.json and its text: the numbers of several processes together, the schema, harmless
 * strings. */
#include "libprof/analysis.h"
#include "libprof/profile_read.h"
#include "libprof/report_text.h"
#include "libprof/text.h"
#include "tests/profile_builder.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { START = 1000000000 };

static struct builder a, c;
static json_t *report;

static void setup(void)
{
    builder_init(&a, 100, START);
    builder_init(&c, 200, START + UINT64_C(1000000000));
    builder_header(&c)->ppid = 100;
    builder_header(&c)->process_plus_1 = 2;
    report = NULL;
}

static void teardown(void)
{
    json_decref(report);
    builder_fini(&a);
    builder_fini(&c);
}

static struct seep_profile *open_one(const struct builder *b)
{
    struct seep_profile *p = NULL;

    ck_assert_int_eq(seep_profile_from_bytes("100-1.seep", b->bytes, b->n_bytes, &p, NULL), 0);
    return p;
}

static void analyse(size_t n, struct seep_job *job, bool all)
{
    struct seep_profile *p[] = {open_one(&a), n > 1 ? open_one(&c) : NULL};
    struct seep_analysis_options opts = {.all_sites = all};

    ck_assert_int_eq(seep_analyse_profiles(p, n, job, &opts, &report, NULL), 0);
}

/* By way of files, so that /proc and the files of modules are looked at. */
static void analyse_folder(struct seep_job *job, bool all)
{
    char dir[] = "/tmp/seep-report-XXXXXX", command[64];
    const char *const dirs[] = {dir};
    struct seep_analysis_options opts = {.all_sites = all};

    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(builder_write(&a, dir, "100-1.seep"), 0);
    if (job)
        ck_assert_int_eq(builder_write_job(job, dir), 0);
    free(job);
    int rc = seep_analyse(dirs, 1, &opts, &report, NULL);
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(rc, 0);
}

static const json_t *at(const json_t *root, const char *path)
{
    char part[64];

    while (root && *path) {
        size_t n = strcspn(path, "/");
        snprintf(part, sizeof part, "%.*s", (int)n, path);
        root = json_is_array(root) ? json_array_get(root, (size_t)atoi(part))
                                   : json_object_get(root, part);
        path += n + (path[n] == '/');
    }
    return root;
}

static double number(const char *path)
{
    const json_t *value = at(report, path);

    ck_assert_msg(json_is_number(value), "%s is no number", path);
    return json_number_value(value);
}

static const char *string(const char *path)
{
    const char *text = json_string_value(at(report, path));

    ck_assert_msg(text != NULL, "%s is no string", path);
    return text;
}

static uint32_t python_stack(struct builder *b, const char *file, unsigned line)
{
    return builder_stack(b, 0, builder_python(b, file, "work", line));
}

/* What the text holds; all of it in memory. */
static char *text_of(bool colour)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    ck_assert_int_eq(seep_report_text(report, out, colour), 0);
    fclose(out);
    return text;
}

static uint64_t two_a_step(uint32_t period, void *arg)
{
    (void)arg;
    return period >= 5 ? 2 * (period - 4) : 0;
}

static void leaking_job(bool all)
{
    builder_level(&a, python_stack(&a, "/home/user/project/train.py", 40), 0, 4096, 105, two_a_step,
                  NULL);
    builder_timeline(&a, 105, 50 << 20);
    builder_header(&a)->limit_ram_bytes = UINT64_C(1) << 30;
    analyse(1, builder_job(100, START, 100, 5), all);
}

/* ---- numbers ----------------------------------------------------------------------------- */

START_TEST(totals_add_up_over_processes)
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
END_TEST

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
START_TEST(the_peak_of_the_sum_is_not_the_sum_of_the_peaks)
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
END_TEST

static uint64_t always_7(uint32_t period, void *arg)
{
    (void)arg;
    return period > 0 ? 7 : 0;
}

START_TEST(peaks_at_one_time_add_up)
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
END_TEST

START_TEST(lifetimes_are_quantiles_of_the_frees)
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
END_TEST

static const struct {
    uint32_t first, last;
    uint64_t frees;
    int known; /* -1: it is not */
} short_lives[] = {{5, 5, 3, 0}, {5, 5, 0, -1}, {1, 900, 3, -1}, {5, 6, 3, -1}};

START_TEST(lifetimes_that_nobody_noted_are_not_told)
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
END_TEST

/* The second profile is the first one's process after an exec. */
START_TEST(a_pid_is_named_once_after_an_exec)
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
END_TEST

START_TEST(small_sites_are_left_out_unless_asked_for)
{
    builder_site(&a, python_stack(&a, "/home/user/t.py", 1), 0, 1, 1000000, 0, 0, 1);
    builder_site(&a, python_stack(&a, "/home/user/t.py", 2), 0, 1, 999, 0, 0, 1);
    builder_site(&a, python_stack(&a, "/home/user/t.py", 3), 0, 1, 1100, 0, 0, 1);
    builder_header(&a)->spaces[0].peak_bytes = 1000000;
    analyse(1, NULL, _i == 1);
    ck_assert_uint_eq(json_array_size(at(report, "sites")), _i ? 3 : 2);
}
END_TEST

/* A hostile profile costs what it is worth: nothing is large in a space that never held anything.
 */
START_TEST(sites_that_held_nothing_are_left_out_unless_asked_for)
{
    for (unsigned line = 1; line <= 50; line++) {
        uint32_t site =
            builder_site(&a, python_stack(&a, "/home/user/t.py", line), 0, 1, 0, 0, 0, 1);
        ((struct seep_site *)builder_at(&a, site))->peak_bytes = 0;
    }
    analyse(1, NULL, _i == 1);
    ck_assert_uint_eq(json_array_size(at(report, "sites")), _i ? 50 : 0);
}
END_TEST

enum { MOST_SITES = 2000 };

START_TEST(sites_beyond_a_number_are_left_out_unless_asked_for)
{
    for (unsigned line = 100; line < 100 + MOST_SITES; line++)
        builder_site(&a, python_stack(&a, "/home/user/big.py", line), 1, 1, 1 << 20, 1, 1 << 20, 1);
    builder_header(&a)->spaces[1].peak_bytes = 100 << 20;
    leaking_job(_i == 1);
    ck_assert_uint_eq(json_array_size(at(report, "findings")), 1);
    ck_assert_uint_eq(json_array_size(at(report, "sites")), _i ? MOST_SITES + 1 : MOST_SITES);
    const json_t *smallest = json_array_get(at(report, "sites"), _i ? MOST_SITES : MOST_SITES - 1);
    ck_assert_str_eq(json_string_value(json_object_get(smallest, "space")), "host");
    ck_assert_str_eq(string("findings/0/sites/0"),
                     json_string_value(json_object_get(smallest, "id")));
    char *gaps = json_dumps(at(report, "coverage/not_seen"), 0);
    ck_assert_int_eq(strstr(gaps, "1 more site is left out") != NULL, !_i);
    free(gaps);
}
END_TEST

/* Stacks of 500 frames, each frame with a name of 4000 bytes and a file of as many. */
START_TEST(stacks_beyond_a_size_are_left_out_unless_asked_for)
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
END_TEST

/* ---- processes --------------------------------------------------------------------------- */

static const struct {
    int has_status, wait_status;
    uint32_t exit_kind;
    int32_t exit_value;
    const char *kind;
    int value;
} exits[] = {
    {1, 9, SEEP_EXIT_NONE, 0, "signal", 9},     {1, 3 << 8, SEEP_EXIT_NONE, 0, "exit", 3},
    {1, 6, SEEP_EXIT_EXIT, 0, "signal", 6},     {0, 0, SEEP_EXIT_EXIT, 7, "exit", 7},
    {0, 0, SEEP_EXIT_SIGNAL, 11, "signal", 11}, {0, 0, SEEP_EXIT_NONE, 0, "unknown", -1},
};

START_TEST(every_exit_is_told)
{
    struct seep_job *job = builder_job(100, START, 0, 0);

    job->processes[0].has_status = (uint32_t)exits[_i].has_status;
    job->processes[0].wait_status = exits[_i].wait_status;
    builder_header(&a)->exit_kind = exits[_i].exit_kind;
    builder_header(&a)->exit_value = exits[_i].exit_value;
    analyse(1, job, false);
    ck_assert_str_eq(string("processes/0/exit/kind"), exits[_i].kind);
    if (exits[_i].value >= 0)
        ck_assert_double_eq(number("processes/0/exit/value"), exits[_i].value);
    else
        ck_assert(json_is_null(at(report, "processes/0/exit/value")));
}
END_TEST

START_TEST(a_loader_worker_is_known_by_its_loop)
{
    uint32_t loop = builder_stack(
        &c, 0,
        builder_python(&c, "/usr/lib/python3/dist-packages/torch/utils/data/_utils/worker.py",
                       "_worker_loop", 302));
    uint32_t item =
        builder_stack(&c, loop, builder_python(&c, "/home/user/d.py", "__getitem__", 9));
    struct seep_job *job = builder_job(100, START, 50, 1);

    job->n_processes = 2;
    job->processes[1] = (struct seep_process){.pid = 200, .ppid = 100, .follows = 1};
    builder_site(&a, python_stack(&a, "/home/user/t.py", 1), 0, 1, 100, 0, 0, 1);
    builder_site(&c, item, 0, 1, 100, 0, 0, 1);
    analyse(2, job, true);
    ck_assert_str_eq(string("processes/0/role"), "trainer");
    ck_assert_str_eq(string("processes/1/role"), "loader-worker");
    ck_assert_str_eq(string("sites/1/role"), "dataset");
    ck_assert_double_eq(number("job/steps"), 50);
}
END_TEST

START_TEST(stepping_processes_with_ranks_are_ranks)
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
END_TEST

START_TEST(what_was_not_seen_is_said)
{
    struct seep_job *job = builder_job(100, START, 0, 0);

    job->n_processes = 2;
    job->processes[1].pid = 777;
    builder_header(&a)->python_support = 2;
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
END_TEST

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

START_TEST(complete_is_what_has_ended_and_was_read_whole)
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
END_TEST

START_TEST(hooks_are_named_by_their_place)
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
END_TEST

/* ---- strings ----------------------------------------------------------------------------- */

static const struct {
    const char *raw, *clean;
} dirty[] = {
    {"plain.py", "plain.py"},
    {"\033[31mred\007", "?[31mred?"},
    {"a\nb\tc\rd\x7f", "a?b?c?d?"},
    {"gr\xc3\xb6\xc3\x9f"
     "e.py",
     "gr\xc3\xb6\xc3\x9f"
     "e.py"},
    {"\xff\xfe", "??"},
    {"\xc3", "?"},
    {"\xc0\xaf", "??"},
    {"\xed\xa0\x80", "???"},
    {"\xc2\x9b"
     "31m",
     "?31m"},
    {"\xe2\x80\xae"
     "evil",
     "?evil"},
    {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
    {"\xf5\x80\x80\x80", "????"},
};

START_TEST(strings_of_a_profile_cannot_harm_a_terminal)
{
    char *clean = seep_text_clean(dirty[_i].raw, strlen(dirty[_i].raw));

    ck_assert_str_eq(clean, dirty[_i].clean);
    free(clean);
    snprintf(builder_header(&a)->cwd, sizeof builder_header(&a)->cwd, "/%s", dirty[_i].raw);
    builder_site(&a, python_stack(&a, dirty[_i].raw, 1), 0, 1, 1000, 0, 0, 1);
    analyse(1, NULL, true);
    ck_assert_str_eq(string("sites/0/stack/0/file"), dirty[_i].clean);
    char *text = text_of(false);
    for (const char *p = text; *p; p++)
        ck_assert_msg(*p == '\n' || (unsigned char)*p >= 0x20, "control character %d", *p);
    ck_assert_ptr_nonnull(strstr(text, dirty[_i].clean));
    free(text);
}
END_TEST

START_TEST(sizes_read_well)
{
    static const struct {
        double bytes;
        const char *text;
    } sizes[] = {{0, "0 B"},
                 {1, "1 B"},
                 {1.5, "1.5 B"},
                 {1023, "1023 B"},
                 {1024, "1.0 KiB"},
                 {1536, "1.5 KiB"},
                 {-2048, "-2.0 KiB"},
                 {1048575, "1.0 MiB"},
                 {26214400, "25.0 MiB"},
                 {1e24, "867361.7 EiB"}};
    char text[SEEP_SIZE_TEXT];

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        ck_assert_str_eq(seep_text_size(sizes[i].bytes, text), sizes[i].text);
}
END_TEST

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

START_TEST(every_call_in_a_function_of_assembly_has_its_name)
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
END_TEST

/* ---- text -------------------------------------------------------------------------------- */

START_TEST(the_text_begins_with_the_line_to_look_at)
{
    leaking_job(false);
    char *text = text_of(false);
    char *where = strstr(text, "train.py:40 in work");
    ck_assert_ptr_nonnull(where);
    int lines = 0;
    for (const char *p = text; p < where; p++)
        lines += *p == '\n';
    ck_assert_int_le(lines, 3);
    ck_assert_ptr_nonnull(strstr(text, "unbounded-growth"));
    ck_assert_ptr_nonnull(strstr(text, "8.0 KiB"));
    ck_assert_ptr_nonnull(strstr(text, "1.0 GiB"));
    ck_assert_ptr_nonnull(strstr(text, "to do:"));
    ck_assert_ptr_null(strchr(text, '\033'));
    ck_assert_msg(strstr(text, "/home/user/project/train.py") == NULL,
                  "paths below the cwd are short");
    free(text);
    text = text_of(true);
    ck_assert_ptr_nonnull(strchr(text, '\033'));
    free(text);
}
END_TEST

/* Makes the first profile that of this very process, which runs. */
static void run_on(uint64_t *now)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    *now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
    builder_fini(&a);
    builder_init(&a, (uint32_t)getpid(), *now);
    builder_header(&a)->exit_kind = SEEP_EXIT_NONE;
    builder_header(&a)->end_ns = 0;
    memset(builder_header(&a)->host, 0, sizeof builder_header(&a)->host);
    gethostname(builder_header(&a)->host, sizeof builder_header(&a)->host - 1);
}

static bool says(const char *what)
{
    char *text = text_of(false);
    bool found = strstr(text, what) != NULL;

    free(text);
    return found;
}

START_TEST(the_text_of_a_running_job_speaks_of_now)
{
    uint64_t now = START;

    if (_i)
        run_on(&now);
    builder_site(&a, python_stack(&a, "/home/user/cameras.py", 33), 0, 24, 24 << 20, 0, 0, 9);
    builder_timeline(&a, 60, 1 << 20);
    if (_i)
        builder_header(&a)->end_ns = 0;
    analyse_folder(builder_job(builder_header(&a)->pid, now, 50, 10), false);
    ck_assert_str_eq(string("processes/0/exit/kind"), _i ? "running" : "exit");
    ck_assert_str_eq(string("findings/0/pattern"), "eager-retention");
    ck_assert_int_eq(says(" live now, "), _i);
    ck_assert_int_eq(says(" live at exit, "), !_i);
    ck_assert_int_eq(says("50 steps so far\n"), _i);
    ck_assert_int_eq(says(" s, still running"), _i);
    ck_assert_int_eq(says("24 items loaded before step 1 and kept so far: 24.0 MiB"), _i);
    ck_assert_int_eq(says("24 items loaded before step 1 and kept to the end: 24.0 MiB"), !_i);
}
END_TEST

START_TEST(one_of_a_kind_has_no_plural)
{
    builder_site(&a, python_stack(&a, "/home/user/t.py", 1), 0, 1, 1000, 0, 0, 1);
    builder_header(&a)->dropped[SEEP_DROP_BOUND] = 1;
    analyse(1, builder_job(100, START, 1, 1), false);
    json_object_set_new(json_object_get(report, "job"), "epochs", json_integer(1));
    ck_assert(says("seep: no finding in 1 step\n"));
    ck_assert(says("job      1 step by optimizer, 1 epoch, "));
    ck_assert(says(", 1 event dropped\n"));
    ck_assert(says(", 1 allocation\n"));
    json_object_set_new(json_object_get(report, "job"), "steps", json_integer(0));
    json_object_set_new(json_object_get(report, "job"), "step_source", json_string("time"));
    ck_assert(says("seep: no finding in 0 time slices\n"));
    ck_assert(says("job      0 steps by time slices, 1 epoch, "));
}
END_TEST

static const struct {
    const char *entries, *pids; /* of the report's processes, and of its finding */
    const char *text;
} pids[] = {
    {"[{'pid': 1, 'role': 'trainer'}]", "[1]", ", trainer 1\n"},
    {"[{'pid': 7, 'role': 'helper'}, {'pid': 7, 'role': 'trainer'}]", "[7]", ", trainer 7\n"},
    {"[{'pid': 7, 'role': 'helper'}, {'pid': 7, 'role': 'trainer'}]", "[7, 7]", ", trainer 7\n"},
    {"[{'pid': 1, 'role': 'loader-worker'}, {'pid': 2, 'role': 'trainer'},"
     " {'pid': 3, 'role': 'loader-worker'}]",
     "[1, 2, 3]", ", trainer 2, loader-worker 1 3\n"},
    {"[{'pid': 1, 'role': 'rank'}, {'pid': 9, 'role': 'trainer'}]", "[1, 2, 3, 4, 5, 6]",
     ", rank 1, process 2 3 4 and 2 more\n"},
    {"[]", "[]", " of host, +8.0 KiB a step\n"},
};

START_TEST(each_pid_stands_beside_its_own_role)
{
    leaking_job(false);
    json_t *finding = json_array_get(json_object_get(report, "findings"), 0);
    char entries[256];

    snprintf(entries, sizeof entries, "%s", pids[_i].entries);
    for (char *p = entries; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    json_object_set_new(report, "processes", json_loads(entries, 0, NULL));
    json_object_set_new(finding, "processes", json_loads(pids[_i].pids, 0, NULL));
    ck_assert(says(pids[_i].text));
}
END_TEST

START_TEST(no_text_is_made_of_what_is_no_report)
{
    static const char *const others[] = {"{}", "[]", "{\"format\": \"seep-report\"}", "7",
                                         "{\"format\": 1, \"job\": {}}"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        json_t *other = json_loads(others[i], JSON_DECODE_ANY, NULL);
        ck_assert_int_eq(seep_report_text(other, stdout, false), -SEEP_EINVAL);
        json_decref(other);
    }
}
END_TEST

START_TEST(text_of_a_report_with_missing_parts_is_no_crash)
{
    static const char *const keys[] = {"processes", "spaces",   "findings",
                                       "sites",     "timeline", "coverage"};

    leaking_job(false);
    json_object_set_new(json_array_get(json_object_get(report, "findings"), 0), "frame",
                        json_null());
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        free(text_of(true));
        json_object_set_new(report, keys[i], i % 2 ? json_integer(7) : json_array());
    }
    free(text_of(true));
}
END_TEST

START_TEST(a_full_disk_is_an_error_of_the_text)
{
    leaking_job(false);
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        return;
    setvbuf(full, NULL, _IONBF, 0);
    ck_assert_int_eq(seep_report_text(report, full, false), -SEEP_EIO);
    fclose(full);
}
END_TEST

/* ---- schema ------------------------------------------------------------------------------ */

static void dump(const char *dir, const char *name)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s.json", dir, name);
    ck_assert_int_eq(json_dump_file(report, path, 0), 0);
    json_decref(report);
    report = NULL;
}

START_TEST(reports_obey_the_schema)
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
END_TEST

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

int main(void)
{
    Suite *suite = suite_create("report");
    TCase *tcase = tcase_create("all");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, totals_add_up_over_processes);
    tcase_add_test(tcase, the_peak_of_the_sum_is_not_the_sum_of_the_peaks);
    tcase_add_test(tcase, peaks_at_one_time_add_up);
    tcase_add_test(tcase, lifetimes_are_quantiles_of_the_frees);
    tcase_add_loop_test(tcase, lifetimes_that_nobody_noted_are_not_told, 0, N(short_lives));
    tcase_add_test(tcase, a_pid_is_named_once_after_an_exec);
    tcase_add_loop_test(tcase, small_sites_are_left_out_unless_asked_for, 0, 2);
    tcase_add_loop_test(tcase, sites_that_held_nothing_are_left_out_unless_asked_for, 0, 2);
    tcase_add_loop_test(tcase, sites_beyond_a_number_are_left_out_unless_asked_for, 0, 2);
    tcase_add_loop_test(tcase, stacks_beyond_a_size_are_left_out_unless_asked_for, 0, 2);
    tcase_add_loop_test(tcase, every_exit_is_told, 0, N(exits));
    tcase_add_test(tcase, a_loader_worker_is_known_by_its_loop);
    tcase_add_loop_test(tcase, stepping_processes_with_ranks_are_ranks, 0, 2);
    tcase_add_test(tcase, what_was_not_seen_is_said);
    tcase_add_loop_test(tcase, complete_is_what_has_ended_and_was_read_whole, 0, N(ends));
    tcase_add_test(tcase, hooks_are_named_by_their_place);
    tcase_add_loop_test(tcase, strings_of_a_profile_cannot_harm_a_terminal, 0, N(dirty));
    tcase_add_test(tcase, sizes_read_well);
    tcase_add_test(tcase, every_call_in_a_function_of_assembly_has_its_name);
    tcase_add_test(tcase, the_text_begins_with_the_line_to_look_at);
    tcase_add_loop_test(tcase, the_text_of_a_running_job_speaks_of_now, 0, 2);
    tcase_add_test(tcase, one_of_a_kind_has_no_plural);
    tcase_add_loop_test(tcase, each_pid_stands_beside_its_own_role, 0, N(pids));
    tcase_add_test(tcase, no_text_is_made_of_what_is_no_report);
    tcase_add_test(tcase, text_of_a_report_with_missing_parts_is_no_crash);
    tcase_add_test(tcase, a_full_disk_is_an_error_of_the_text);
    tcase_add_test(tcase, reports_obey_the_schema);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
