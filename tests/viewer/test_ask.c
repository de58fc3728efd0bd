/* Processes of a job are asked for copies through its table: which ones, and for how long. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/suite.h"
#include "viewer/job_folder.h"
#include "viewer/watch/ask.h"

static struct seep_job_folder folder;
static struct seep_asked asked;
static struct seep_error error;

/* All processes of the table are this one, which lives. */
static void open_it(void)
{
    char *argv[] = {(char *)"job", NULL};
    char dir[] = "/tmp/seep-ask-XXXXXX";

    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(seep_job_folder_make(&folder, dir, NULL, argv, &error), 0);
    folder.job->snapshot.reader = (uint32_t)getpid();
}

static void close_it(void)
{
    char command[SEEP_PATH_BYTES + 16];

    snprintf(command, sizeof command, "rm -r %s", folder.path);
    ck_assert_int_eq(system(command), 0);
}

static void add(uint32_t pid, uint32_t flags)
{
    folder.job->processes[folder.job->n_processes++] =
        (struct seep_process){.pid = pid, .start_ns = UINT64_C(1) << 62, .flags = flags};
}

/* What a process does at its next step: it notes that it has tried. Ends once nothing has been
 * wanted for a while. Returns who was asked, first to last, as decimal digits. */
static pid_t answer(void)
{
    pid_t pid = fork();

    if (pid)
        return pid;
    int order = 0;
    for (int idle = 0; idle < 200; idle++) {
        uint32_t wanted = __atomic_load_n(&folder.job->snapshot.wanted, __ATOMIC_ACQUIRE);
        if (wanted) {
            order = order * 10 + (int)wanted;
            __atomic_store_n(&folder.job->snapshot.wanted, 0, __ATOMIC_RELEASE);
            idle = 0;
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    _exit(order);
}

static int order_of(pid_t pid)
{
    int status = 0;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WEXITSTATUS(status);
}

TEST(each_process_that_is_recorded_is_asked_as_what_it_is_now)
{
    add(1, SEEP_PROCESS_PROFILE);                  /* another, which lives as well */
    add((uint32_t)getpid(), SEEP_PROCESS_PROFILE); /* has become the next one */
    add(2, SEEP_PROCESS_COUNTED);
    add((uint32_t)getpid(), SEEP_PROCESS_PROFILE);
    pid_t job = answer();
    ck_assert_int_eq(seep_ask_holders(folder.path, &asked, &error), 0);
    ck_assert_int_eq(order_of(job), 14);
    ck_assert_uint_eq(asked.n_asked, 2);
    ck_assert_uint_eq(asked.n_answered, 2);
}

TEST(one_that_does_not_notice_is_given_up_and_the_wish_taken_back)
{
    add((uint32_t)getpid(), SEEP_PROCESS_PROFILE);
    ck_assert_int_eq(seep_ask_holders(folder.path, &asked, &error), 0);
    ck_assert_uint_eq(asked.n_asked, 1);
    ck_assert_uint_eq(asked.n_answered, 0);
    ck_assert_uint_eq(folder.job->snapshot.wanted, 0);
}

TEST(nobody_is_asked_whose_copy_nobody_would_read)
{
    folder.job->snapshot.reader = 0;
    add((uint32_t)getpid(), SEEP_PROCESS_PROFILE);
    ck_assert_int_eq(seep_ask_holders(folder.path, &asked, &error), -SEEP_EINVAL);
    ck_assert_uint_eq(asked.n_asked, 0);
}

TEST(a_job_that_has_ended_is_told)
{
    folder.job->ended_ns = 1;
    ck_assert_int_eq(seep_ask_holders(folder.path, &asked, &error), -SEEP_EINVAL);
    ck_assert_ptr_nonnull(strstr(error.text, "ended"));
}

TEST(a_folder_without_a_job_is_told)
{
    ck_assert_int_lt(seep_ask_holders("/nonexistent", &asked, &error), 0);
}

SUITE("asking a job that runs", .setup = open_it, .teardown = close_it)
