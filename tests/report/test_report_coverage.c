/* What could not be seen is reported: processes that could not record, were only counted, or could
 * not be entered; steps and stacks that did not count. */
#include "libprof/read/job_read.h"
#include "tests/report/coverage_fixture.h"

#include <errno.h>

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

TEST(processes_that_were_only_counted_are_helpers_and_nothing_is_missing)
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

TEST(processes_that_were_folded_are_one_entry_each_name)
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

TEST(a_process_that_should_have_a_profile_is_missed, .to = 2)
{
    struct seep_job *job = stepped_job();

    counted(job, 300, "true")->flags = _i ? SEEP_PROCESS_PROFILE | SEEP_PROCESS_COUNTED : 0;
    analyse(1, job, false);
    ck_assert(json_is_false(at(report, "job/complete")));
    ck_assert(not_seen("pid 300: no profile"));
    ck_assert_uint_eq(json_object_size(at(report, "processes/1/spaces")), 0);
}

TEST(looks_that_memory_was_short_for_say_what_was_missing)
{
    struct seep_job *job = stepped_job();

    job->processes[0].n_looks_short = 2;
    job->processes[0].look_need_mib = 310;
    job->processes[0].look_left_mib = 120;
    builder_header(&a)->snapshots.refused[SEEP_REFUSED_MEMORY] = 1;
    analyse(1, job, false);
    ck_assert_int_eq((int)number("coverage/holders/refused/memory"), 3);
    ck_assert(not_seen("who holds memory: 3 snapshots were not read, because memory was short (310 "
                       "MiB needed, 120 MiB left): use --holders off or a larger limit"));
}

TEST(looks_beyond_the_bound_of_seeps_own_memory_say_so)
{
    struct seep_job *job = stepped_job();

    job->processes[0].n_looks_over = 1;
    job->processes[0].over_need_mib = 52;
    job->processes[0].over_left_mib = 40;
    analyse(1, job, false);
    ck_assert_int_eq((int)number("coverage/holders/refused/overhead"), 1);
    ck_assert(not_seen("who holds memory: 1 snapshot was not read, because --overhead bounds "
                       "seep's memory (52 MiB needed, 40 MiB left): allow it more, or use "
                       "--holders off"));
}

TEST(copies_that_were_read_and_those_that_were_not_are_counted)
{
    struct seep_job *job = stepped_job();

    job->snapshots = (struct seep_snapshot_reads){.n_read = 5, .n_failed = 2, .n_barred = 1};
    builder_header(&a)->snapshots.refused[SEEP_REFUSED_CUDA] = 3;
    builder_header(&a)->snapshots.refused[SEEP_N_SNAPSHOT_REFUSALS - 1] = UINT32_MAX;
    analyse(1, job, false);
    ck_assert_int_eq((int)number("coverage/holders/taken"), 5);
    ck_assert_uint_eq(json_object_size(at(report, "coverage/holders/refused")), 4);
    ck_assert_int_eq((int)number("coverage/holders/refused/cuda"), 3);
    ck_assert_int_eq((int)number("coverage/holders/refused/reader-died"), 2);
    ck_assert_int_eq((int)number("coverage/holders/refused/not-permitted"), 1);
    ck_assert_double_eq(number("coverage/holders/refused/other"), UINT32_MAX);
    ck_assert(not_seen("who holds memory: 2 of 8 snapshots could not be read: the copy of the"));
    ck_assert(
        not_seen("who holds memory: 1 of 8 snapshots could not be read: the system does not"));
}

TEST(where_every_reader_came_to_its_end_nothing_is_said)
{
    struct seep_job *job = stepped_job();

    job->snapshots = (struct seep_snapshot_reads){.n_read = 5};
    analyse(1, job, false);
    ck_assert(!not_seen("who holds memory"));
}

/* A job of nothing but small processes has no profile at all. */
TEST(a_job_without_profiles_is_reported_from_its_table)
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
     "pid 300 (postgres): its profile could not be created: No space"},
    {SEEP_TROUBLE_SANDBOX, 0, 0, "pid 300 (postgres): its own seccomp filter"},
    {SEEP_TROUBLE_FOLDER, 54, 0, "pid 300 (postgres): --max-folder was reached"},
    {999, -5, 0, "its profile could not be extended"},
};

TEST(a_process_in_trouble_is_named_with_its_reason, .to = N(troubles))
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

static const struct {
    uint16_t entry;
    const char *said;
} entries[] = {
    {SEEP_ENTRY_STATIC, "pid 300 and 1 more became /bin/busybox, which is a static program"},
    {SEEP_ENTRY_RIGHTS, "which gains rights"},
    {SEEP_ENTRY_MACHINE, "not a 64-bit program for this processor"},
    {SEEP_ENTRY_LIBC, "another C library"},
    {SEEP_ENTRY_SANITIZER, "brings a sanitizer"},
    {SEEP_ENTRY_DAMAGED, "a damaged program"},
    {60000, "which cannot be entered"},
};

TEST(small_programs_with_a_malloc_of_their_own_are_named_once)
{
    struct seep_job *job = stepped_job();

    for (uint32_t pid = 300; pid < 303; pid++)
        counted(job, pid, "tool")->flags |= SEEP_PROCESS_OWN_MALLOC;
    analyse(1, job, false);
    ck_assert(not_seen("pid 300 and 2 more: malloc was never called here: tool brings its own"));
    ck_assert(!not_seen("pid 301"));
}

TEST(programs_that_cannot_be_entered_are_named_once, .to = N(entries))
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

/* ldconfig is asked where a library lies, and is gone: nothing is missing. Whoever the launcher
 * met, or had much, or goes on, or could be entered another way, is told, and all are where nobody
 * looked. */
static const struct {
    uint64_t job_pss, pss, rss;
    uint16_t ended, entry;
    bool said;
} helpers[] = {
    {100 * MIB, 0, 0, 1, SEEP_ENTRY_STATIC, false},
    {100 * MIB, 0, 3 * MIB, 1, SEEP_ENTRY_STATIC, false},
    {100 * MIB, MIB, 3 * MIB, 1, SEEP_ENTRY_STATIC, true},
    {100 * MIB, 0, 20 * MIB, 1, SEEP_ENTRY_STATIC, true},
    {100 * MIB, 0, 0, 0, SEEP_ENTRY_STATIC, true},
    {0, 0, 0, 1, SEEP_ENTRY_STATIC, true},
    {100 * MIB, 0, 0, 1, SEEP_ENTRY_SANITIZER, true},
    {100 * MIB, 0, 0, 1, SEEP_ENTRY_UNREACHABLE, true},
};

TEST(a_static_helper_of_a_moment_is_nothing_that_was_missed, .to = N(helpers))
{
    struct seep_job *job = stepped_job();
    struct seep_process *e = counted(job, 300, "ldconfig");

    job->pss_peak_bytes = helpers[_i].job_pss;
    e->exec_entry = helpers[_i].entry;
    strcpy(e->exec_path, "/sbin/ldconfig");
    e->pss_peak_bytes = helpers[_i].pss;
    e->rss_peak_bytes = helpers[_i].rss;
    e->has_status = helpers[_i].ended;
    analyse(1, job, false);
    ck_assert_int_eq(not_seen("pid 300 became /sbin/ldconfig"), helpers[_i].said);
    ck_assert_uint_eq(json_array_size(at(report, "processes")), 2);
}

TEST(a_program_that_was_replaced_by_nobody_known_is_said, .to = 2)
{
    struct seep_job *job = stepped_job();

    builder_header(&a)->exit_kind = SEEP_EXIT_EXEC;
    if (_i)
        counted(job, 100, "next");
    analyse(1, job, false);
    ck_assert_int_eq(not_seen("pid 100 was replaced by another program"), !_i);
}

/* ---- steps and stacks ---------------------------------------------------------------------- */

static const struct {
    uint32_t calls, steps;
    bool said;
} calls[] = {
    {400, 1, true}, {400, 200, false}, {400, 100, false}, {10, 1, false}, {9000, 30, false}};

TEST(optimizers_that_did_not_count_are_said, .to = N(calls))
{
    struct seep_job *job = builder_job(100, START, calls[_i].steps, FIRST);

    job->processes[0].optimizer_calls = calls[_i].calls;
    analyse(1, job, false);
    ck_assert_int_eq(not_seen("an optimizer's step() ended 400 times, but only 1 counted"),
                     calls[_i].said);
}

TEST(what_was_counted_before_a_profile_is_said)
{
    struct seep_job *job = stepped_job();

    builder_header(&a)->uncounted_stacks_bytes = 3 * MIB;
    analyse(1, job, false);
    ck_assert(not_seen("pid 100: its first 3.0 MiB were counted without stacks"));
}

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

TEST(a_malloc_that_was_never_called_is_said, .to = N(mallocs))
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

/* ---- hostile ------------------------------------------------------------------------------- */

static void fill(void *bytes, size_t n, uint64_t *random)
{
    uint8_t *p = bytes;

    for (size_t i = 0; i < n; i++) {
        *random = *random * UINT64_C(6364136223846793005) + 1;
        p[i] = *random >> 63 ? (uint8_t)(*random >> 40) : 0xff;
    }
}

TEST(any_values_of_the_new_fields_give_a_report, .to = 12)
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

SUITE("coverage", .setup = setup, .teardown = teardown)
