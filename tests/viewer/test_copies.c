/* The launcher has copies read by a separate process, and an abandoned slot becomes free again. */
#include <check.h>
#include <jansson.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libprof/base/clock.h"
#include "libprof/who/process/copy_memory.h"
#include "tests/profile_builder.h"
#include "tests/suite.h"
#include "viewer/watch/copies.h"

enum { START = 0x1000, PATIENCE_MS = 10000 };

static struct seep_job_folder folder;
static struct seep_copies holders;
static struct seep_snapshot copy;
static struct seep_snapshot_block one_block;
static struct builder profile;

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000 * 1000}, NULL);
}

static struct seep_snapshot_slot *slot(void)
{
    return &folder.job->snapshot;
}

/* The copy is this process, and a child of it reads: the other way round than Yama likes it. Where
 * the kernel forbids that all the same, what depends on it is left out. */
static bool cannot_be_read(void)
{
    static int known; /* 1: it can be, 2: it cannot */
    uint64_t here = 1, there = 0;

    if (known)
        return known == 2;
    fflush(NULL);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    pid_t reader = fork();
    if (reader == 0) {
        struct seep_copy_memory memory;
        seep_copy_memory_init(&memory, getppid());
        int rc = seep_copy_memory_read(&memory, (uintptr_t)&here, &there, sizeof there);
        _exit(rc == 0 && there == here ? 0 : 1);
    }
    int status = 1;
    bool read = reader > 0 && waitpid(reader, &status, 0) == reader && status == 0;
    known = read ? 1 : 2;
    if (!read)
        fputs("what reads a process's memory is left out: the kernel forbids it here\n", stderr);
    return !read;
}

/* The copy is this process, which is not to end. */
static void open_it(void)
{
    char *argv[] = {(char *)"job", NULL}, name[64];
    struct seep_error err = {0};
    char dir[] = "/tmp/seep-copies-XXXXXX";

    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* of each test's own process */
    signal(SIGPIPE, SIG_IGN); /* as the launcher does: a reader may be gone before it is told */
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(seep_job_folder_make(&folder, dir, NULL, argv, &err), 0);
    builder_init(&profile, 100, START);
    uint32_t frame = builder_python(&profile, "/job/train.py", "load", 3);
    uint32_t site =
        builder_site(&profile, builder_stack(&profile, 0, frame), SEEP_SPACE_HOST, 1, 500, 0, 0, 1);
    builder_seal(&profile);
    snprintf(name, sizeof name, "100-%x.seep", START);
    ck_assert_int_eq(builder_write(&profile, dir, name), 0);
    folder.job->started_ns = 0; /* long ago: an evaluation does not wait for an idle CPU */
    folder.job->n_processes = 1;
    folder.job->processes[0] = (struct seep_process){.pid = 100, .start_ns = START, .steps = 9};
    one_block = (struct seep_snapshot_block){.start = 0x10000, .bytes = 500, .site = site / 8};
    copy = (struct seep_snapshot){.magic = SEEP_SNAPSHOT_MAGIC,
                                  .version = SEEP_SNAPSHOT_VERSION,
                                  .blocks = (uintptr_t)&one_block,
                                  .n_blocks = 1,
                                  .step = 9};
    seep_copies_open(&holders, &folder, NULL, false);
}

static void close_it(void)
{
    char command[SEEP_PATH_BYTES + 16];

    seep_copies_close(&holders);
    builder_fini(&profile);
    snprintf(command, sizeof command, "rm -r %s", folder.path);
    ck_assert_int_eq(system(command), 0);
}

static struct seep_reader *reader_in(enum seep_reader_state from, enum seep_reader_state to)
{
    for (int i = 0; i < SEEP_READERS; i++)
        if (holders.readers[i].state >= from && holders.readers[i].state <= to)
            return &holders.readers[i];
    return NULL;
}

static struct seep_reader *at_work(void)
{
    return reader_in(SEEP_READER_WAITS, SEEP_READER_GIVEN_UP);
}

static struct seep_reader *behind(void)
{
    return reader_in(SEEP_READER_RESERVE, SEEP_READER_NEXT);
}

static bool is_in(const struct seep_reader *reader, enum seep_reader_state state)
{
    return reader && reader->state == state;
}

static void announce(uint32_t process_plus_1)
{
    static uint64_t n;

    slot()->process_plus_1 = process_plus_1;
    slot()->taken_ns = (UINT64_C(1) << 60) + ++n;
    slot()->in_reserve = 0;
    slot()->copy = (uint32_t)getpid();
    slot()->snapshot = (uintptr_t)&copy;
    slot()->source = SEEP_SNAPSHOT_BY_STEP;
    slot()->state = SEEP_SNAPSHOT_READY;
}

/* What the launcher's loop does. */
static void reap_reader(void)
{
    struct rusage usage;
    int status;

    seep_copies_look(&holders);
    ck_assert_ptr_nonnull(at_work());
    ck_assert_uint_eq(slot()->reading, slot()->copy);
    pid_t pid = wait4(at_work()->pid, &status, 0, &usage);
    ck_assert(!seep_copies_reaped(&holders, pid + 1, status, &usage));
    ck_assert(seep_copies_reaped(&holders, pid, status, &usage));
    ck_assert_uint_eq(slot()->reading, 0);
}

static const char *path_of(unsigned step)
{
    static char path[SEEP_PATH_BYTES];

    snprintf(path, sizeof path, "%s/holders-100-%u.json", folder.path, step);
    return path;
}

static bool is_written_of(unsigned step)
{
    return access(path_of(step), R_OK) == 0;
}

static bool is_written(void)
{
    return is_written_of(9);
}

TEST(the_job_knows_that_somebody_reads_until_nobody_does)
{
    ck_assert_uint_eq(slot()->reader, (uint32_t)getpid());
    seep_copies_close(&holders);
    ck_assert_uint_eq(slot()->reader, 0);
}

TEST(a_copy_that_waits_is_read_and_let_go, .left_out = cannot_be_read())
{
    announce(1);
    reap_reader();
    ck_assert_uint_eq(slot()->state, SEEP_SNAPSHOT_DONE);
    ck_assert_uint_eq(folder.job->snapshots.n_read, 1);
    ck_assert_uint_gt(folder.job->snapshots.cpu_ns, 0);
    ck_assert(is_written());
}

/* The stop, and 0.7 µs for each page that it wrote to while there was a copy. */
TEST(what_is_told_is_what_the_process_felt, .left_out = cannot_be_read())
{
    slot()->stop_ns = 5000000;
    slot()->written = 1000;
    announce(1);
    reap_reader();
    json_t *document = json_load_file(path_of(9), 0, NULL);
    ck_assert_int_eq(json_integer_value(json_object_get(document, "stop_ns")), 5700000);
    json_decref(document);
}

static void let_it_be_read(void)
{
    for (int ms = 0; ms < PATIENCE_MS && slot()->state == SEEP_SNAPSHOT_READY; ms++) {
        seep_copies_look(&holders); /* it is not read twice */
        pause_ms(1);
    }
    ck_assert_uint_eq(slot()->state, SEEP_SNAPSHOT_DONE);
    slot()->state = SEEP_SNAPSHOT_FREE;
}

static void announce_in_reserve(void)
{
    announce(1);
    slot()->in_reserve = 1;
    seep_copies_look(&holders);
    ck_assert(is_in(behind(), SEEP_READER_RESERVE));
    let_it_be_read();
    /* The next copy is the same process here, which the reader would take for its own. */
    for (int ms = 0; ms < PATIENCE_MS && !at_work() && slot()->reading; ms++)
        pause_ms(1);
}

/* Of step 9, on which its reader is at work until it is reaped, and of step 12. */
static void announce_one_and_a_later_in_reserve(void)
{
    announce(1);
    seep_copies_look(&holders);
    let_it_be_read();
    copy.step = 12;
    announce_in_reserve();
}

static void reap_worker(void)
{
    struct rusage usage;
    int status;

    ck_assert_ptr_nonnull(at_work());
    pid_t pid = wait4(at_work()->pid, &status, 0, &usage);
    ck_assert(seep_copies_reaped(&holders, pid, status, &usage));
}

/* Until the job ends, somebody may have a better one; the copy itself is gone long before. */
TEST(one_in_reserve_is_let_go_at_once_and_told_as_the_job_ends, .left_out = cannot_be_read())
{
    announce_in_reserve();
    ck_assert(!is_written());
    seep_copies_close(&holders);
    ck_assert(is_written());
    ck_assert_uint_eq(folder.job->snapshots.n_read, 1);
}

TEST(one_in_reserve_is_dropped_for_a_better_one, .left_out = cannot_be_read())
{
    announce_in_reserve();
    announce_in_reserve();
    copy.step = 12;
    announce(1);
    reap_reader();
    ck_assert_ptr_null(behind());
    seep_copies_close(&holders);
    ck_assert_uint_eq(folder.job->snapshots.n_read, 1);
    ck_assert_uint_eq(folder.job->snapshots.n_failed, 0);
    ck_assert(!is_written()); /* of step 9 */
}

/* Leaves this process a single CPU, which a child keeps busy until it is killed. */
static pid_t keep_busy(void)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    pid_t pid = fork();
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    while (pid == 0) {
    }
    return pid;
}

/* One of step 9 that was read as the job began, beside which no CPU is idle. */
static void announce_one_that_waits(void)
{
    folder.job->started_ns = seep_clock_ns(CLOCK_MONOTONIC);
    announce(1);
    seep_copies_look(&holders);
    let_it_be_read();
    for (int ms = 0; ms < 300; ms += 10) {
        seep_copies_look(&holders);
        pause_ms(10);
    }
    ck_assert_uint_ne(slot()->reading, 0);
    ck_assert(is_in(at_work(), SEEP_READER_WAITS));
    ck_assert(!is_written());
}

TEST(one_waits_for_an_idle_cpu_until_it_is_a_small_part_of_the_time, .left_out = cannot_be_read())
{
    pid_t busy = keep_busy();

    announce_one_that_waits();
    folder.job->started_ns -= UINT64_C(10000) * 1000 * 1000;
    seep_copies_look(&holders);
    ck_assert(!is_in(at_work(), SEEP_READER_WAITS));
    kill(busy, SIGKILL);
    reap_worker();
    ck_assert(is_written());
}

TEST(one_that_was_not_evaluated_yet_is_as_the_job_ends, .left_out = cannot_be_read())
{
    pid_t busy = keep_busy();

    announce_one_that_waits();
    kill(busy, SIGKILL);
    copy.step = 12;
    announce_in_reserve();
    seep_copies_close(&holders);
    ck_assert(is_written());
    ck_assert(is_written_of(12));
    ck_assert_uint_eq(folder.job->snapshots.n_read, 2);
}

TEST(as_the_job_ends_one_in_reserve_makes_way_for_one_later_still, .left_out = cannot_be_read())
{
    announce_one_and_a_later_in_reserve();
    copy.step = 18;
    announce(1);
    seep_copies_close(&holders);
    ck_assert(is_written());
    ck_assert(!is_written_of(12));
    ck_assert(is_written_of(18));
    ck_assert_uint_eq(folder.job->snapshots.n_read, 2);
}

TEST(one_that_waits_makes_way_for_one_that_is_asked_for, .left_out = cannot_be_read())
{
    pid_t busy = keep_busy();

    announce_one_that_waits();
    copy.step = 12;
    announce(1);
    slot()->source = SEEP_SNAPSHOT_ASKED;
    seep_copies_look(&holders);
    let_it_be_read();
    ck_assert(!is_in(at_work(), SEEP_READER_WAITS));
    kill(busy, SIGKILL);
    reap_worker();
    reap_worker();
    ck_assert(is_written());
    ck_assert(is_written_of(12));
}

TEST(one_that_is_asked_for_is_evaluated_at_once, .left_out = cannot_be_read())
{
    pid_t busy = keep_busy();

    folder.job->started_ns = seep_clock_ns(CLOCK_MONOTONIC);
    announce(1);
    slot()->source = SEEP_SNAPSHOT_ASKED;
    reap_reader();
    ck_assert(is_written());
    kill(busy, SIGKILL);
}

TEST(one_that_waits_and_is_killed_leaves_the_next_its_turn)
{
    struct rusage usage = {0};
    int status;

    folder.job->started_ns = seep_clock_ns(CLOCK_MONOTONIC);
    announce(1);
    seep_copies_look(&holders);
    kill(at_work()->pid, SIGKILL);
    pid_t pid = waitpid(at_work()->pid, &status, 0);
    ck_assert(seep_copies_reaped(&holders, pid, status, &usage));
    ck_assert(!is_in(at_work(), SEEP_READER_WAITS));
    folder.job->started_ns = 0;
    announce(1);
    reap_reader();
}

/* The job is over before anybody has time for a second one. */
TEST(one_in_reserve_of_later_than_what_was_read_is_told_as_the_job_ends,
     .left_out = cannot_be_read())
{
    announce_one_and_a_later_in_reserve();
    reap_worker();
    ck_assert(is_written());
    ck_assert(!is_written_of(12));
    seep_copies_close(&holders);
    ck_assert(is_written_of(12));
    ck_assert_uint_eq(folder.job->snapshots.n_read, 2);
}

/* Where the job makes none that is later still, its memory is not kept until the end. */
TEST(one_in_reserve_is_told_after_half_a_minute_if_no_other_comes, .left_out = cannot_be_read())
{
    announce_one_and_a_later_in_reserve();
    reap_worker();
    behind()->since_ns -= UINT64_C(29) * 1000 * 1000 * 1000;
    seep_copies_look(&holders);
    ck_assert_ptr_null(at_work());
    behind()->since_ns -= UINT64_C(2) * 1000 * 1000 * 1000;
    seep_copies_look(&holders);
    reap_worker();
    ck_assert(is_written_of(12));
    ck_assert_uint_eq(folder.job->snapshots.n_read, 2);
}

TEST(one_in_reserve_is_not_told_beyond_what_reading_may_cost, .left_out = cannot_be_read())
{
    announce_one_and_a_later_in_reserve();
    reap_worker();
    folder.job->snapshots.cpu_ns = UINT64_C(1) << 62;
    behind()->since_ns = 0;
    seep_copies_look(&holders);
    ck_assert_ptr_null(at_work());
    seep_copies_close(&holders);
    ck_assert(!is_written_of(12));
    ck_assert_uint_eq(folder.job->snapshots.n_read, 1);
    ck_assert_uint_eq(folder.job->snapshots.n_failed, 0);
}

/* The job would make the next one, though what the one at work costs is not known yet. */
TEST(who_reads_one_in_reserve_does_not_say_that_nobody_is_at_work, .left_out = cannot_be_read())
{
    announce_one_and_a_later_in_reserve();
    pause_ms(50);
    ck_assert_uint_ne(slot()->reading, 0);
    reap_worker();
    ck_assert_uint_eq(slot()->reading, 0);
    uint64_t cpu_ns = folder.job->snapshots.cpu_ns;
    seep_copies_close(&holders);
    ck_assert_uint_gt(folder.job->snapshots.cpu_ns, cpu_ns);
}

TEST(one_in_reserve_that_nobody_needed_has_cost_a_cpu_too, .left_out = cannot_be_read())
{
    announce_in_reserve();
    ck_assert_uint_eq(folder.job->snapshots.cpu_ns, 0);
    announce_in_reserve();
    ck_assert_uint_gt(folder.job->snapshots.cpu_ns, 0);
}

TEST(one_in_reserve_serves_where_the_better_one_came_to_nothing, .left_out = cannot_be_read())
{
    announce_in_reserve();
    announce(2);
    reap_reader();
    seep_copies_close(&holders);
    ck_assert(is_written());
}

TEST(one_that_waits_as_the_job_ends_is_read, .left_out = cannot_be_read())
{
    announce(1);
    seep_copies_close(&holders);
    ck_assert_uint_eq(folder.job->snapshots.n_read, 1);
    ck_assert(is_written());
}

/* Of step 9, which waits for an idle CPU, and of step 12, which has its turn after it. */
static pid_t announce_one_that_waits_and_the_next(void)
{
    pid_t busy = keep_busy();

    announce_one_that_waits();
    copy.step = 12;
    announce(1);
    slot()->source = SEEP_SNAPSHOT_ASKED;
    seep_copies_look(&holders);
    ck_assert(is_in(at_work(), SEEP_READER_WAITS));
    ck_assert(is_in(behind(), SEEP_READER_NEXT));
    ck_assert_uint_eq(slot()->reading, slot()->copy);
    return busy;
}

TEST(one_whose_turn_comes_as_the_job_ends_is_told, .left_out = cannot_be_read())
{
    kill(announce_one_that_waits_and_the_next(), SIGKILL);
    let_it_be_read();
    ck_assert(is_in(behind(), SEEP_READER_NEXT));
    seep_copies_close(&holders);
    ck_assert(is_written());
    ck_assert(is_written_of(12));
    ck_assert_uint_eq(folder.job->snapshots.n_read, 2);
}

/* As if a reader said that it will need more than any machine has. */
static void run_short_of_memory(void)
{
    ck_assert_ptr_nonnull(holders.room.claims);
    for (int i = 0; i < SEEP_READERS; i++) {
        holders.room.claims[i].waits = false;
        holders.room.claims[i].need_bytes = UINT64_C(1) << 60;
    }
    holders.room.due_ns = 0;
    seep_copies_look(&holders);
}

TEST(one_in_reserve_is_given_up_before_who_is_at_work, .to = 2, .left_out = cannot_be_read())
{
    pid_t busy = 0;

    if (_i)
        busy = announce_one_that_waits_and_the_next();
    else
        announce_one_and_a_later_in_reserve();
    run_short_of_memory();
    ck_assert_ptr_null(behind());
    ck_assert_ptr_nonnull(at_work());
    ck_assert_uint_eq(folder.job->processes[0].n_looks_short, 1);
    ck_assert_uint_eq(slot()->reading, slot()->copy); /* by who is at work */
    if (_i) {
        run_short_of_memory();
        ck_assert(is_in(at_work(), SEEP_READER_GIVEN_UP));
    }
    if (busy)
        kill(busy, SIGKILL);
}

TEST(one_at_work_is_given_up_where_memory_is_short)
{
    announce(1);
    seep_copies_look(&holders);
    const pid_t reader = at_work()->pid;
    kill(reader, SIGSTOP); /* or it may be done already */
    run_short_of_memory();
    ck_assert(is_in(at_work(), SEEP_READER_GIVEN_UP));
    run_short_of_memory();
    seep_copies_close(&holders);
    ck_assert_int_lt(kill(reader, 0), 0);
    ck_assert_uint_eq(folder.job->processes[0].n_looks_short, 1);
    ck_assert_uint_eq(folder.job->snapshots.n_failed, 0);
    ck_assert(!is_written());
}

/* The job would make no other for as long as it runs. */
TEST(who_is_given_up_while_it_reads_one_in_reserve_is_not_said_to_read)
{
    announce(1);
    slot()->in_reserve = 1;
    seep_copies_look(&holders);
    kill(behind()->pid, SIGSTOP);
    slot()->reading = slot()->copy; /* it may have been quick */
    run_short_of_memory();
    ck_assert_ptr_null(behind());
    ck_assert_uint_eq(slot()->reading, 0);
    ck_assert_uint_eq(slot()->state, SEEP_SNAPSHOT_DONE);
}

/* Processes that are none, and one without a profile. */
static const uint32_t wrong[] = {0, 2, SEEP_MAX_PROCESSES + 1, UINT32_MAX};

TEST(what_cannot_be_read_is_let_go_and_counted, .to = N(wrong))
{
    announce(wrong[_i]);
    reap_reader();
    ck_assert_uint_eq(slot()->state, SEEP_SNAPSHOT_DONE);
    ck_assert_uint_eq(folder.job->snapshots.n_failed, 1);
    ck_assert(!is_written());
}

TEST(a_reader_that_is_killed_is_counted_and_the_copy_let_go)
{
    struct rusage usage = {0};
    int status;

    announce(1);
    seep_copies_look(&holders);
    kill(at_work()->pid, SIGKILL);
    pid_t pid = waitpid(at_work()->pid, &status, 0);
    ck_assert(seep_copies_reaped(&holders, pid, status, &usage));
    ck_assert_uint_eq(slot()->state, SEEP_SNAPSHOT_DONE);
    ck_assert_uint_eq(folder.job->snapshots.n_failed + folder.job->snapshots.n_read, 1);
}

/* Its maker and the copy were killed together. */
static const uint32_t states[] = {SEEP_SNAPSHOT_TAKEN, SEEP_SNAPSHOT_DONE};

TEST(a_slot_that_nobody_sees_to_becomes_free, .to = N(states))
{
    announce(1);
    slot()->copy = 0;
    slot()->state = states[_i];
    for (int ms = 0; ms < PATIENCE_MS && slot()->state != SEEP_SNAPSHOT_FREE; ms += 10) {
        seep_copies_look(&holders);
        pause_ms(10);
    }
    ck_assert_uint_eq(slot()->state, SEEP_SNAPSHOT_FREE);
    ck_assert_uint_eq(slot()->process_plus_1, 0);
}

TEST(a_slot_whose_process_lives_stays_its_own)
{
    announce(1);
    slot()->copy = 0;
    slot()->state = SEEP_SNAPSHOT_TAKEN;
    folder.job->processes[0].pid = (uint32_t)getpid();
    folder.job->processes[0].start_ns = UINT64_C(1) << 60;
    for (int ms = 0; ms < 2500; ms += 10) {
        seep_copies_look(&holders);
        pause_ms(10);
    }
    ck_assert_uint_eq(slot()->state, SEEP_SNAPSHOT_TAKEN);
}

SUITE("copies, as the launcher sees them", .setup = open_it, .teardown = close_it)
