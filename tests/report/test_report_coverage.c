/* What could not be seen is said: resident memory by what it is, growth that no line explains,
 * processes that could not record, were only counted, or could not be entered. */
#include "libprof/read/job_read.h"
#include "tests/report_fixture.h"

#include <errno.h>

#define MIB (UINT64_C(1) << 20)

enum { STEPS = 100, FIRST = 5 };

static bool not_seen(const char *what)
{
    const json_t *list = at(report, "coverage/not_seen");

    for (size_t i = 0; i < json_array_size(list); i++) {
        if (strstr(json_string_value(json_array_get(list, i)), what))
            return true;
    }
    return false;
}

static char *printed(bool all)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    ck_assert_int_eq(
        all ? seep_report_text_all(report, out, false) : seep_report_text(report, out, false), 0);
    fclose(out);
    return text;
}

/* Lines are broken where they are long. */
static void join_lines(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++) {
        if (*from == '\n' || (*from == ' ' && to > text && to[-1] == ' '))
            *to = to > text && to[-1] == ' ' ? 0 : ' ';
        else
            *to = *from;
        to += *to != 0;
    }
    *to = 0;
}

static bool prints(const char *what, bool all)
{
    char *text = printed(all);

    join_lines(text);
    bool found = strstr(text, what) != NULL;

    free(text);
    return found;
}

static struct seep_rss_sample sample_at(uint32_t step, uint64_t unexplained, uint64_t heap_free)
{
    return (struct seep_rss_sample){
        .t_ns = START + (FIRST + step) * UINT64_C(100000000),
        .period = FIRST + step - 1,
        .rss_bytes = 400 * MIB + unexplained + heap_free,
        .heap_live_bytes = 200 * MIB,
        .heap_free_bytes = heap_free,
        .maps_bytes = 100 * MIB,
        .shm_bytes = 50 * MIB,
        .stacks_bytes = 10 * MIB,
        .files_bytes = 30 * MIB,
        .seep_bytes = 10 * MIB,
        .unexplained_bytes = unexplained,
    };
}

static void add_sample(struct builder *b, struct seep_rss_sample sample)
{
    struct seep_header *h = builder_header(b);

    h->rss_samples[h->n_rss_samples++] = sample;
    if (sample.rss_bytes > h->rss_peak.rss_bytes)
        h->rss_peak = sample;
}

/* Some of the job's own, so that the report has lines. */
static struct seep_job *stepped_job(void)
{
    builder_site(&a, python_stack(&a, "/home/user/t.py", 1), 0, 1, 1000, 0, 0, 1);
    builder_timeline(&a, FIRST + STEPS, 500 * MIB);
    return builder_job(100, START, STEPS, FIRST);
}

/* ---- resident memory ----------------------------------------------------------------------- */

START_TEST(rss_at_its_peak_is_told_by_what_it_is)
{
    struct seep_job *job = stepped_job();

    add_sample(&a, sample_at(20, 20 * MIB, 5 * MIB));
    add_sample(&a, sample_at(40, 90 * MIB, 10 * MIB));
    add_sample(&a, sample_at(60, 30 * MIB, 10 * MIB));
    analyse(1, job, false);
    for (int i = 0; i < 2; i++) {
        const json_t *rss = at(report, i ? "processes/0/rss" : "coverage/rss");
        ck_assert_int_eq(json_integer_value(at(rss, "peak_bytes")), 500 * (json_int_t)MIB);
        ck_assert_int_eq(json_integer_value(at(rss, "step")), 40);
        ck_assert_int_eq(json_integer_value(at(rss, "explained/heap_live")), 200 * (json_int_t)MIB);
        ck_assert_int_eq(json_integer_value(at(rss, "explained/heap_free")), 10 * (json_int_t)MIB);
        ck_assert_int_eq(json_integer_value(at(rss, "explained/maps")), 100 * (json_int_t)MIB);
        ck_assert_int_eq(json_integer_value(at(rss, "explained/shm")), 50 * (json_int_t)MIB);
        ck_assert_int_eq(json_integer_value(at(rss, "explained/stacks")), 10 * (json_int_t)MIB);
        ck_assert_int_eq(json_integer_value(at(rss, "explained/files")), 30 * (json_int_t)MIB);
        ck_assert_int_eq(json_integer_value(at(rss, "seep_bytes")), 10 * (json_int_t)MIB);
        ck_assert_int_eq(json_integer_value(at(rss, "unexplained_bytes")), 90 * (json_int_t)MIB);
        ck_assert(json_is_null(at(rss, "unexplained_growth_bytes_per_step")));
    }
    ck_assert(prints("RSS 500.0 MiB at its peak: 200.0 MiB heap, 10.0 MiB free in libc's", false));
    ck_assert(prints("90.0 MiB (18 %) not explained", false));
}
END_TEST

START_TEST(rss_of_processes_is_printed_where_much_is_not_explained_or_all_is_asked_for)
{
    struct seep_job *job = stepped_job();

    add_sample(&a, sample_at(40, _i ? 90 * MIB : 20 * MIB, 0));
    analyse(1, job, false);
    ck_assert_int_eq(prints(", Python 3.11.2 RSS ", false), _i);
    ck_assert(prints(", Python 3.11.2 RSS ", true));
}
END_TEST

START_TEST(peaks_of_processes_add_up)
{
    struct seep_job *job = stepped_job();

    job->n_processes = 2;
    job->processes[1] = (struct seep_process){.pid = 200, .ppid = 100, .start_ns = START + 1000};
    add_sample(&a, sample_at(40, 20 * MIB, 0));
    add_sample(&c, sample_at(40, 60 * MIB, 0));
    analyse(2, job, false);
    ck_assert_uint_eq((uint64_t)number("coverage/rss/peak_bytes"), 880 * MIB);
    ck_assert_uint_eq((uint64_t)number("coverage/rss/unexplained_bytes"), 80 * MIB);
}
END_TEST

START_TEST(no_sample_is_no_figure)
{
    analyse(1, stepped_job(), false);
    ck_assert(json_is_null(at(report, "coverage/rss")));
    ck_assert(json_is_null(at(report, "processes/0/rss")));
    ck_assert(!prints("at its peak", true));
}
END_TEST

/* Bytes that are not explained, and free in libc's arenas, at a step. */
static uint64_t grows(uint32_t step)
{
    return 20 * MIB + step * MIB;
}

static uint64_t stays(uint32_t step)
{
    return 50 * MIB + step % 3 * 4096;
}

static uint64_t levels_off(uint32_t step)
{
    return step < 40 ? 20 * MIB + step * MIB : 60 * MIB;
}

static uint64_t grows_a_little(uint32_t step)
{
    return 20 * MIB + step * 1000;
}

static uint64_t comes_and_goes(uint32_t step)
{
    return 20 * MIB + step * 7 % 20 * 5 * MIB;
}

static void sample_steps(uint64_t (*unexplained)(uint32_t), uint64_t (*heap_free)(uint32_t),
                         uint32_t gap)
{
    for (uint32_t step = 2; step <= STEPS; step += gap)
        add_sample(&a, sample_at(step, unexplained(step), heap_free(step)));
}

static const json_t *finding_without_line(void)
{
    const json_t *findings = at(report, "findings");

    for (size_t i = 0; i < json_array_size(findings); i++) {
        if (json_is_null(json_object_get(json_array_get(findings, i), "frame")))
            return json_array_get(findings, i);
    }
    return NULL;
}

START_TEST(growth_that_nobody_recorded_is_a_finding_without_a_line)
{
    struct seep_job *job = stepped_job();

    sample_steps(grows, stays, 2);
    analyse(1, job, false);
    const json_t *f = finding_without_line();
    ck_assert_ptr_nonnull(f);
    ck_assert_str_eq(json_string_value(at(f, "pattern")), "undetermined");
    ck_assert_str_eq(json_string_value(at(f, "severity")), "info");
    ck_assert_str_eq(json_string_value(at(f, "space")), "host");
    ck_assert_str_eq(json_string_value(at(f, "title")),
                     "memory that seep cannot see grows by 1.0 MiB every step");
    ck_assert_uint_eq(json_array_size(at(f, "sites")), 0);
    ck_assert_int_eq(json_integer_value(at(f, "processes/0")), 100);
    double slope = json_number_value(at(f, "growth_bytes_per_step/value"));
    ck_assert(slope > 0.98 * (double)MIB && slope < 1.02 * (double)MIB);
    slope = number("coverage/rss/unexplained_growth_bytes_per_step/value");
    ck_assert(slope > 0.98 * (double)MIB && slope < 1.02 * (double)MIB);
    ck_assert(json_is_false(at(report, "coverage/rss/heap_free_grows")));
    ck_assert(prints("undetermined memory that was not recorded", false));
    ck_assert(prints("not explained, which grows by 1.0 MiB a step", false));
}
END_TEST

static const struct {
    uint64_t (*unexplained)(uint32_t);
    uint32_t gap;
    bool known;
} quiet[] = {{stays, 2, true},
             {levels_off, 2, true},
             {grows_a_little, 2, true},
             {comes_and_goes, 2, true},
             {grows, 14, false}}; /* seven samples */

START_TEST(what_stays_levels_off_or_is_little_is_no_finding)
{
    struct seep_job *job = stepped_job();

    sample_steps(quiet[_i].unexplained, stays, quiet[_i].gap);
    analyse(1, job, false);
    ck_assert_ptr_null(finding_without_line());
    ck_assert_int_eq(json_is_object(at(report, "coverage/rss/unexplained_growth_bytes_per_step")),
                     quiet[_i].known);
    ck_assert(!prints("which grows", false));
}
END_TEST

START_TEST(free_memory_of_the_heap_that_grows_is_said_and_no_finding)
{
    struct seep_job *job = stepped_job();

    sample_steps(stays, grows, 2);
    analyse(1, job, false);
    ck_assert_ptr_null(finding_without_line());
    ck_assert(json_is_true(at(report, "coverage/rss/heap_free_grows")));
    ck_assert(prints("what is free in libc's arenas grows by 1.0 MiB a step", false));
}
END_TEST

static uint64_t back_and_forth(uint32_t period, void *arg)
{
    (void)arg;
    return 10 + period % 2;
}

/* A line that asks for ever new sizes is blamed for what was taken beyond what is live, unless
 * samples say that it is nothing of the heap's. */
START_TEST(what_nobody_recorded_is_no_allocators_cache)
{
    uint32_t site = builder_level(&a, python_stack(&a, "/home/user/project/t.py", 7), 0, 4096,
                                  FIRST + STEPS, back_and_forth, NULL);
    struct seep_detail *d = builder_at(&a, ((struct seep_site *)builder_at(&a, site))->detail);

    d->size_marks = UINT64_MAX;
    d->max_bytes = MIB;
    builder_timeline(&a, FIRST + STEPS, 500 * MIB);
    struct seep_header *h = builder_header(&a);
    for (uint32_t i = 0; i < h->n_timeline; i++)
        h->timeline[i].anonymous_bytes = 50 * MIB + h->timeline[i].period * MIB;
    if (_i)
        sample_steps(grows, stays, 2);
    analyse(1, builder_job(100, START, STEPS, FIRST), false);
    const json_t *findings = at(report, "findings");
    ck_assert_uint_eq(json_array_size(findings), 1);
    ck_assert_str_eq(string("findings/0/pattern"), _i ? "undetermined" : "allocator-cache");
}
END_TEST

/* ---- processes without a profile ----------------------------------------------------------- */

static struct seep_process *counted(struct seep_job *job, uint32_t pid, const char *name)
{
    struct seep_process *e = &job->processes[job->n_processes++];

    *e = (struct seep_process){
        .pid = pid,
        .ppid = 100,
        .start_ns = START + 1000,
        .has_status = 1,
        .flags = SEEP_PROCESS_COUNTED,
        .rss_peak_bytes = 3 * MIB,
        .counts = {{.allocations = 70,
                    .frees = 60,
                    .allocated_bytes = 9000,
                    .live_bytes = 1000,
                    .peak_bytes = 5000}},
    };
    snprintf(e->name, sizeof e->name, "%s", name);
    return e;
}

START_TEST(processes_that_were_only_counted_are_helpers_and_nothing_is_missing)
{
    struct seep_job *job = stepped_job();

    counted(job, 300, "true");
    counted(job, 301, "git");
    job->ended_ns = START + 100;
    analyse(1, job, false);
    ck_assert_uint_eq(json_array_size(at(report, "processes")), 3);
    ck_assert_str_eq(string("processes/2/role"), "helper");
    ck_assert_str_eq(string("processes/2/argv/0"), "git");
    ck_assert_str_eq(string("processes/2/exit/kind"), "exit");
    ck_assert_int_eq((int)number("processes/2/spaces/host/allocations"), 70);
    ck_assert_int_eq((int)number("processes/2/spaces/host/live_bytes"), 1000);
    ck_assert_int_eq((int)number("processes/2/spaces/host/peak_bytes"), 5000);
    ck_assert_int_eq((int)number("spaces/host/allocations"), 141);
    ck_assert_int_eq((int)number("spaces/host/allocated_bytes"), 19000);
    ck_assert_int_eq((int)number("spaces/host/live_bytes"), 1000);
    ck_assert(json_is_true(at(report, "job/complete")));
    ck_assert(!not_seen("no profile"));
    ck_assert(not_seen("2 processes allocated too little for a profile"));
}
END_TEST

START_TEST(processes_that_were_folded_are_one_entry_each_name)
{
    struct seep_job *job = stepped_job();

    job->folded[0] = (struct seep_folded){
        .name = "true",
        .n = 2000,
        .rss_peak_bytes = 3 * MIB,
        .counts = {
            {.allocations = 4000, .frees = 4000, .allocated_bytes = 80000, .peak_bytes = 700}}};
    job->folded[SEEP_MAX_FOLDED - 1].n = 7;
    job->n_folded = 2007;
    analyse(1, job, false);
    ck_assert_uint_eq(json_array_size(at(report, "helpers")), 2);
    ck_assert_str_eq(string("helpers/0/name"), "true");
    ck_assert_int_eq((int)number("helpers/0/processes"), 2000);
    ck_assert_int_eq((int)number("helpers/0/spaces/host/allocations"), 4000);
    ck_assert_int_eq((int)number("helpers/0/spaces/host/live_bytes"), 0);
    ck_assert(json_is_null(at(report, "helpers/1/name")));
    ck_assert_int_eq((int)number("spaces/host/allocations"), 4001);
    ck_assert(not_seen("2007 processes allocated too little"));
}
END_TEST

START_TEST(a_process_that_should_have_a_profile_is_missed)
{
    struct seep_job *job = stepped_job();

    counted(job, 300, "true")->flags = _i ? SEEP_PROCESS_PROFILE | SEEP_PROCESS_COUNTED : 0;
    analyse(1, job, false);
    ck_assert(json_is_false(at(report, "job/complete")));
    ck_assert(not_seen("pid 300: no profile"));
    ck_assert_uint_eq(json_object_size(at(report, "processes/1/spaces")), 0);
}
END_TEST

/* A job of nothing but small processes has no profile at all. */
START_TEST(a_job_without_profiles_is_reported_from_its_table)
{
    char dir[] = "/tmp/seep-coverage-XXXXXX", command[64];
    const char *const dirs[] = {dir};
    struct seep_job *job = builder_job(100, START, 0, 1);

    job->processes[0].flags = SEEP_PROCESS_COUNTED;
    job->processes[0].counts[0] = (struct seep_count){
        .allocations = 7, .allocated_bytes = 700, .live_bytes = 700, .peak_bytes = 700};
    job->processes[0].has_status = 1;
    job->processes[0].wait_status = 3 << 8;
    strcpy(job->processes[0].name, "true");
    counted(job, 300, "git");
    job->ended_ns = START + 5000000;
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(builder_write_job(job, dir), 0);
    free(job);
    int rc = seep_analyse(dirs, 1, NULL, &report, NULL);
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(rc, 0);
    ck_assert_uint_eq(json_array_size(at(report, "processes")), 2);
    ck_assert_int_eq((int)number("processes/0/pid"), 100);
    ck_assert_int_eq((int)number("processes/0/exit/value"), 3);
    ck_assert_int_eq((int)number("processes/0/spaces/host/allocations"), 7);
    ck_assert_int_eq((int)number("spaces/host/allocations"), 77);
    ck_assert(json_is_true(at(report, "job/complete")));
    free(printed(true));
}
END_TEST

static const struct {
    uint16_t trouble;
    int32_t trouble_errno;
    uint32_t uid;
    const char *said;
} troubles[] = {
    {SEEP_TROUBLE_PROFILE, EACCES, 65534,
     "pid 300 (postgres) became uid 65534 and could not write a"},
    {SEEP_TROUBLE_GROW, EPERM, 65534, "became uid 65534 and could not write its profile"},
    {SEEP_TROUBLE_PROFILE, ENOSPC, 0,
     "pid 300 (postgres): its profile could not be made: No space"},
    {SEEP_TROUBLE_SANDBOX, 0, 0, "pid 300 (postgres): a seccomp filter of its own"},
    {SEEP_TROUBLE_FOLDER, 54, 0, "pid 300 (postgres): --max-folder was reached"},
    {999, -5, 0, "its profile could not be grown"},
};

START_TEST(a_process_in_trouble_is_named_with_its_reason)
{
    struct seep_job *job = stepped_job();
    struct seep_process *e = counted(job, 300, "postgres");

    e->flags = 0;
    e->trouble = troubles[_i].trouble;
    e->trouble_errno = troubles[_i].trouble_errno;
    e->uid = troubles[_i].uid;
    analyse(1, job, false);
    ck_assert(not_seen(troubles[_i].said));
    ck_assert(!not_seen("no profile"));
}
END_TEST

static const struct {
    uint16_t entry;
    const char *said;
} entries[] = {
    {SEEP_ENTRY_STATIC, "pid 300 and 1 more became /bin/busybox, which is a static program"},
    {SEEP_ENTRY_RIGHTS, "which gains rights"},
    {SEEP_ENTRY_MACHINE, "not a 64-bit x86 program"},
    {SEEP_ENTRY_LIBC, "another C library"},
    {SEEP_ENTRY_SANITIZER, "brings a sanitizer"},
    {SEEP_ENTRY_DAMAGED, "a damaged program"},
    {60000, "which cannot be entered"},
};

START_TEST(small_programs_with_a_malloc_of_their_own_are_named_once)
{
    struct seep_job *job = stepped_job();

    for (uint32_t pid = 300; pid < 303; pid++)
        counted(job, pid, "tool")->flags |= SEEP_PROCESS_OWN_MALLOC;
    analyse(1, job, false);
    ck_assert(not_seen("pid 300 and 2 more: malloc was never called here: tool brings its own"));
    ck_assert(!not_seen("pid 301"));
}
END_TEST

START_TEST(programs_that_cannot_be_entered_are_named_once)
{
    struct seep_job *job = stepped_job();

    for (uint32_t pid = 300; pid < 302; pid++) {
        struct seep_process *e = counted(job, pid, "sh");
        e->exec_entry = entries[_i].entry;
        strcpy(e->exec_path, "/bin/busybox");
    }
    analyse(1, job, false);
    ck_assert(not_seen(entries[_i].said));
    ck_assert(!not_seen("pid 301"));
}
END_TEST

START_TEST(a_program_that_was_replaced_by_nobody_known_is_said)
{
    struct seep_job *job = stepped_job();

    builder_header(&a)->exit_kind = SEEP_EXIT_EXEC;
    if (_i)
        counted(job, 100, "next");
    analyse(1, job, false);
    ck_assert_int_eq(not_seen("pid 100 was replaced by another program"), !_i);
}
END_TEST

/* ---- steps and stacks ---------------------------------------------------------------------- */

static const struct {
    uint32_t calls, steps;
    bool said;
} calls[] = {{400, 1, true}, {400, 200, false}, {400, 100, false}, {10, 1, false}};

START_TEST(optimizers_that_did_not_count_are_said)
{
    struct seep_job *job = builder_job(100, START, calls[_i].steps, FIRST);

    job->processes[0].optimizer_calls = calls[_i].calls;
    analyse(1, job, false);
    ck_assert_int_eq(not_seen("an optimizer's step() ended 400 times, but only 1 counted"),
                     calls[_i].said);
}
END_TEST

START_TEST(what_was_counted_before_a_profile_is_said)
{
    struct seep_job *job = stepped_job();

    builder_header(&a)->uncounted_stacks_bytes = 3 * MIB;
    analyse(1, job, false);
    ck_assert(not_seen("pid 100: its first 3.0 MiB were counted without stacks"));
}
END_TEST

static const struct {
    const char *allocator, *parent;
    bool malloc, mmap;
    const char *said; /* NULL: nothing */
} mallocs[] = {
    {"/opt/bin/tool", "", false, true, "malloc was never called here: tool brings its own"},
    {"/opt/bin/tool", "", true, true, "malloc was mostly not called here: tool brings its own"},
    {"", "", false, true, "malloc was never called here: python3.11 brings its own"},
    {"", "", false, false, NULL},
    {"", "", true, true, NULL},
    {"", "99-1.seep", false, true, NULL},
};

START_TEST(a_malloc_that_was_never_called_is_said)
{
    struct seep_job *job = stepped_job();
    struct seep_header *h = builder_header(&a);

    strcpy(h->allocator, mallocs[_i].allocator);
    strcpy(h->parent_file, mallocs[_i].parent);
    h->coverage_seen[0] = mallocs[_i].malloc;
    h->coverage_seen[12] = mallocs[_i].mmap;
    analyse(1, job, false);
    ck_assert_str_eq(mallocs[_i].mmap ? string("coverage/hooks/0") : "", mallocs[_i].malloc
                                                                             ? "malloc"
                                                                         : mallocs[_i].mmap ? "mmap"
                                                                                            : "");
    ck_assert_int_eq(not_seen("malloc was "), mallocs[_i].said != NULL);
    if (mallocs[_i].said)
        ck_assert(not_seen(mallocs[_i].said));
}
END_TEST

/* ---- hostile ------------------------------------------------------------------------------- */

static void fill(void *bytes, size_t n, uint64_t *random)
{
    uint8_t *p = bytes;

    for (size_t i = 0; i < n; i++) {
        *random = *random * UINT64_C(6364136223846793005) + 1;
        p[i] = *random >> 63 ? (uint8_t)(*random >> 40) : 0xff;
    }
}

START_TEST(any_values_of_the_new_fields_give_a_report)
{
    struct seep_job *job = stepped_job();
    struct seep_header *h = builder_header(&a);
    uint64_t random = (uint64_t)_i;

    for (uint32_t i = 1; i < 40; i++) {
        struct seep_process *e = counted(job, 300 + i, "");
        uint32_t flags = i % 3 ? SEEP_PROCESS_COUNTED : 0;
        fill(&e->rss_peak_bytes, sizeof *e - offsetof(struct seep_process, rss_peak_bytes),
             &random);
        e->flags = flags;
    }
    fill(&job->folder_bytes,
         offsetof(struct seep_job, processes) - offsetof(struct seep_job, folder_bytes), &random);
    fill(&h->address_bytes,
         offsetof(struct seep_header, spaces) - offsetof(struct seep_header, address_bytes),
         &random);
    fill(h->rss_samples, sizeof h->rss_samples, &random);
    for (uint32_t i = 0; i < SEEP_RSS_SAMPLES && _i % 2; i++) {
        h->rss_samples[i].t_ns = START + i;
        h->rss_samples[i].period = FIRST + i;
    }
    struct seep_job *checked = NULL;
    ck_assert_int_eq(seep_job_from_bytes(job, sizeof *job, &checked, NULL), 0);
    free(job);
    analyse(1, checked, true);
    free(printed(true));
    char path[] = "/tmp/seep-coverage-XXXXXX", command[160];
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(json_dumpfd(report, fd, 0), 0);
    close(fd);
    snprintf(command, sizeof command, "/usr/bin/python3 tests/validate_reports.py %s && rm %s",
             path, path);
    ck_assert_int_eq(system(command), 0);
}
END_TEST

#define N(array) ((int)(sizeof(array) / sizeof *(array)))

int main(void)
{
    Suite *suite = suite_create("coverage");
    TCase *tcase = tcase_create("all");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, rss_at_its_peak_is_told_by_what_it_is);
    tcase_add_loop_test(
        tcase, rss_of_processes_is_printed_where_much_is_not_explained_or_all_is_asked_for, 0, 2);
    tcase_add_test(tcase, peaks_of_processes_add_up);
    tcase_add_test(tcase, no_sample_is_no_figure);
    tcase_add_test(tcase, growth_that_nobody_recorded_is_a_finding_without_a_line);
    tcase_add_loop_test(tcase, what_stays_levels_off_or_is_little_is_no_finding, 0, N(quiet));
    tcase_add_test(tcase, free_memory_of_the_heap_that_grows_is_said_and_no_finding);
    tcase_add_loop_test(tcase, what_nobody_recorded_is_no_allocators_cache, 0, 2);
    tcase_add_test(tcase, processes_that_were_only_counted_are_helpers_and_nothing_is_missing);
    tcase_add_test(tcase, processes_that_were_folded_are_one_entry_each_name);
    tcase_add_loop_test(tcase, a_process_that_should_have_a_profile_is_missed, 0, 2);
    tcase_add_test(tcase, a_job_without_profiles_is_reported_from_its_table);
    tcase_add_loop_test(tcase, a_process_in_trouble_is_named_with_its_reason, 0, N(troubles));
    tcase_add_test(tcase, small_programs_with_a_malloc_of_their_own_are_named_once);
    tcase_add_loop_test(tcase, programs_that_cannot_be_entered_are_named_once, 0, N(entries));
    tcase_add_loop_test(tcase, a_program_that_was_replaced_by_nobody_known_is_said, 0, 2);
    tcase_add_loop_test(tcase, optimizers_that_did_not_count_are_said, 0, N(calls));
    tcase_add_test(tcase, what_was_counted_before_a_profile_is_said);
    tcase_add_loop_test(tcase, a_malloc_that_was_never_called_is_said, 0, N(mallocs));
    tcase_add_loop_test(tcase, any_values_of_the_new_fields_give_a_report, 0, 12);
    tcase_set_timeout(tcase, 60);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
