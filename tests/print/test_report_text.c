/* The report's text: harmless strings, words and numbers that read well. */
#include "libprof/report_read/report_view.h"
#include "tests/report_fixture.h"

/* What the text holds; all of it in memory. */
static char *text_of(bool colour)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    ck_assert_int_eq(
        seep_report_text(report, NULL, out, &(struct seep_report_look){.colour = colour}), 0);
    fclose(out);
    return text;
}

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
    {"\xe2\x80\x8f"
     "evil",
     "?evil"},
    {"\xd8\x9c"
     "evil",
     "?evil"},
    {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
    {"\xf5\x80\x80\x80", "????"},
};

TEST(strings_of_a_profile_cannot_harm_a_terminal, .to = N(dirty))
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

static const struct {
    struct seep_device_use use;
    const char *line;
} devices[] = {
    {{0}, "devices  GPU 2: tensors at most 0 B; PyTorch reserves 3.0 MiB\n"},
    {{.capacity_bytes = 8 << 20, .used_bytes = 4 << 20, .used_peak_bytes = 5 << 20, .looks = 1},
     "5.0 MiB) of 8.0 MiB\n"},
    {{.capacity_bytes = 8 << 20, .used_bytes = 4 << 20, .all_used_bytes = 6 << 20, .looks = 1},
     "; other processes use 2.0 MiB"},
};

TEST(a_device_is_told_by_what_is_known_of_it, .to = N(devices))
{
    struct seep_device_notes *notes = &builder_header(&a)->devices;

    notes->tensors[2] = (struct seep_tensor_books){.reports = 5, .reserved_bytes = 3 << 20};
    notes->use[2] = devices[_i].use;
    analyse(1, NULL, true);
    char *text = text_of(false);
    ck_assert_msg(strstr(text, devices[_i].line) != NULL, "%s", text);
    free(text);
}

/* Looks of a device whose times do not rise, and of one that no device has, are none. */
TEST(what_is_used_of_a_device_is_there_over_time)
{
    struct seep_device_notes *notes = &builder_header(&a)->devices;
    static const struct seep_device_look looks[] = {
        {START + 40, 7, 40, 1}, {START + 20, 9, 20, 1}, {START + 60, 8, 60, 1}, {START, 5, 1, 99}};

    memcpy(notes->looks, looks, sizeof looks);
    notes->n_looks = UINT32_MAX;
    builder_timeline(&a, 105, 50 << 20);
    analyse(1, builder_job(100, START, 100, 5), false);
    const json_t *t = at(report, "timeline/t_s"),
                 *used = at(report, "timeline/devices/1/used_bytes");
    ck_assert_uint_eq(json_object_size(at(report, "timeline/devices")), 1);
    ck_assert_uint_eq(json_array_size(used), json_array_size(t));
    for (size_t i = 0; i < json_array_size(t); i++) {
        const double ns = json_number_value(json_array_get(t, i)) * 1e9;
        const json_t *its = json_array_get(used, i);
        ck_assert_int_eq(json_is_null(its), ns < 39.5);
        ck_assert_int_eq((int)json_integer_value(its), ns < 39.5 ? 0 : ns < 59.5 ? 7 : 8);
    }
}

TEST(what_the_runtime_refused_is_told_without_totals, .to = 2)
{
    builder_header(&a)->devices.ooms[0] =
        (struct seep_device_oom){.t_ns = START + 100,
                                 .asked_bytes = 1 << 20,
                                 .device = 2,
                                 .source = _i ? SEEP_OOM_BY_RUNTIME : SEEP_OOM_BY_ALLOCATOR};
    analyse(1, NULL, true);
    char *text = text_of(false);
    ck_assert_ptr_nonnull(
        strstr(text, _i ? "CUDA out of memory (GPU 2): 1.0 MiB requested"
                        : "CUDA out of memory (tensors on GPU 2): 1.0 MiB requested"));
    ck_assert((strstr(text, "were in use") != NULL) == !_i);
    free(text);
}

TEST(sizes_read_well)
{
    static const struct {
        double bytes;
        const char *text;
    } sizes[] = {{0, "0 B"},          {1, "1 B"},           {1.5, "1.5 B"},
                 {1023, "1023 B"},    {1024, "1.0 KiB"},    {1536, "1.5 KiB"},
                 {-2048, "-2.0 KiB"}, {1048575, "1.0 MiB"}, {26214400, "25.0 MiB"},
                 {1e24, "867362 EiB"}};
    char text[SEEP_SIZE_TEXT];

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        ck_assert_str_eq(seep_text_size(sizes[i].bytes, text), sizes[i].text);
}

/* ---- text -------------------------------------------------------------------------------- */

TEST(the_text_begins_with_the_line_to_look_at)
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

/* Without steps there are slices of time, wherever a step would be named. */
TEST(a_job_without_steps_is_told_by_time_slices)
{
    struct seep_job *job = builder_job(100, START, 0, 0);

    builder_level(&a, python_stack(&a, "/home/user/project/train.py", 40), 0, 65536, 205,
                  two_a_step, NULL);
    builder_timeline(&a, 205, 50 << 20);
    builder_header(&a)->limit_ram_bytes = UINT64_C(1) << 30;
    analyse(1, job, false);
    ck_assert_str_eq(string("job/step_source"), "time");
    char *text = text_of(false);
    ck_assert_ptr_nonnull(strstr(text, "unbounded-growth"));
    ck_assert_ptr_nonnull(strstr(text, " a time slice"));
    ck_assert_ptr_nonnull(strstr(text, "in time slice "));
    for (char *p = text; (p = strstr(p, "step")); p++)
        ck_assert_msg(p[4] == '(' || /* a function's name */
                          (p >= text + 9 && strncmp(p - 9, "training step", 13) == 0),
                      "%.60s", p);
    free(text);
}

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

TEST(the_text_of_a_running_job_speaks_of_now, .to = 2)
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
    ck_assert_int_eq(says("24.0 MiB (24 blocks) is loaded before step 1 and kept so far"), _i);
    ck_assert_int_eq(says("24.0 MiB (24 blocks) is loaded before step 1 and kept to the end"), !_i);
}

TEST(one_of_a_kind_has_no_plural)
{
    builder_site(&a, python_stack(&a, "/home/user/t.py", 1), 0, 1, 1000, 0, 0, 1);
    builder_header(&a)->dropped[SEEP_DROP_BOUND] = 1;
    analyse(1, builder_job(100, START, 1, 1), false);
    json_object_set_new(json_object_get(report, "job"), "epochs", json_integer(1));
    ck_assert(says("seep: too short to tell in 1 step\n"));
    ck_assert(says("job      1 step by optimizer, 1 epoch, "));
    ck_assert(says(", 1 event dropped\n"));
    ck_assert(says(", 1 allocation\n"));
    json_object_set_new(json_object_get(report, "job"), "steps", json_integer(0));
    json_object_set_new(json_object_get(report, "job"), "step_source", json_string("time"));
    ck_assert(says("seep: too short to tell in 0 time slices\n"));
    ck_assert(says("job      0 time slices, 1 epoch, "));
}

/* Thirteen steps, the first three of which are the warm-up and the last of which is the end, leave
 * nine. */
TEST(that_nothing_was_found_in_a_few_steps_is_no_result, .to = 2)
{
    const unsigned steps = _i ? 14 : 13;

    builder_site(&a, python_stack(&a, "/home/user/t.py", 1), 0, 1, 1000, 0, 0, 1);
    analyse(1, builder_job(100, START, steps, 1), false);
    ck_assert_int_eq(says("seep: too short to tell in 13 steps\n"
                          "Growth shows in 10 steps after the warm-up; this job has 9.\n\n"),
                     !_i);
    ck_assert_int_eq(says("seep: no finding in 14 steps\n\n"), _i);
    ck_assert_int_eq(seep_get_too_early(report), !_i);
}

TEST(a_job_that_runs_is_young_and_not_short)
{
    uint64_t now = START;

    run_on(&now);
    builder_site(&a, python_stack(&a, "/home/user/t.py", 1), 0, 1, 1000, 0, 0, 1);
    builder_timeline(&a, 20, 1 << 20);
    builder_header(&a)->end_ns = 0;
    analyse_folder(builder_job(builder_header(&a)->pid, now, 5, 1), false);
    ck_assert(says("seep: too early to tell in 5 steps so far\n"));
    ck_assert(says("Growth shows in 10 steps after the warm-up; this job has 1 so far.\n\n"));
}

static const struct {
    const char *entries, *pids; /* of the report's processes, and of its finding */
    const char *text;
} pids[] = {
    {"[{'pid': 1, 'role': 'trainer'}]", "[1]", ", in trainer process 1\n"},
    {"[{'pid': 7, 'role': 'helper'}, {'pid': 7, 'role': 'trainer'}]", "[7]",
     ", in trainer process 7\n"},
    {"[{'pid': 7, 'role': 'helper'}, {'pid': 7, 'role': 'trainer'}]", "[7, 7]",
     ", in trainer process 7\n"},
    {"[{'pid': 1, 'role': 'loader-worker'}, {'pid': 2, 'role': 'trainer'},"
     " {'pid': 3, 'role': 'loader-worker'}]",
     "[1, 2, 3]", ", in trainer process 2, loader-worker processes 1 3\n"},
    {"[{'pid': 1, 'role': 'rank'}, {'pid': 9, 'role': 'trainer'}]", "[1, 2, 3, 4, 5, 6]",
     ", in rank process 1, processes 2 3 4 and 2 more\n"},
    {"[]", "[]", ", host memory), grows by 8.0 KiB a step\n"},
};

TEST(each_pid_stands_beside_its_own_role, .to = N(pids))
{
    leaking_job(false);
    json_t *finding = json_array_get(json_object_get(report, "findings"), 0);
    char entries[256];

    snprintf(entries, sizeof entries, "%s", pids[_i].entries);
    for (char *p = entries; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    json_object_set_new(report, "processes", json_loads(entries, 0, NULL));
    json_object_set_new(finding, "processes", json_loads(pids[_i].pids, 0, NULL));
    setenv("COLUMNS", "200", 1);
    ck_assert(says(pids[_i].text));
    unsetenv("COLUMNS");
}

TEST(no_text_is_made_of_what_is_no_report)
{
    static const char *const others[] = {"{}", "[]", "{\"format\": \"seep-report\"}", "7",
                                         "{\"format\": 1, \"job\": {}}"};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        json_t *other = json_loads(others[i], JSON_DECODE_ANY, NULL);
        ck_assert_int_eq(
            seep_report_text(other, NULL, stdout, &(struct seep_report_look){.colour = false}),
            -SEEP_EINVAL);
        json_decref(other);
    }
}

TEST(text_of_a_report_with_missing_parts_is_no_crash)
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

TEST(a_full_disk_is_an_error_of_the_text)
{
    leaking_job(false);
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        return;
    setvbuf(full, NULL, _IONBF, 0);
    ck_assert_int_eq(
        seep_report_text(report, NULL, full, &(struct seep_report_look){.colour = false}),
        -SEEP_EIO);
    fclose(full);
}

SUITE("report text", .setup = setup, .teardown = teardown)
