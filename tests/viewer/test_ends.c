/* How the launcher learns the end of processes that others have reaped. */
#include "libprof/base/clock.h"
#include "tests/kernel_release.h"
#include "tests/suite.h"
#include "viewer/watch/ends.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct seep_job_folder folder;
static struct seep_ends ends;

static void set_up(void)
{
    folder.job =
        mmap(NULL, sizeof *folder.job, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(folder.job, MAP_FAILED);
    strcpy(folder.path, "/somewhere/profile.d");
    ends = (struct seep_ends){0};
}

static void tear_down(void)
{
    seep_ends_close(&ends);
    munmap(folder.job, sizeof *folder.job);
}

/* A program that waits for its input to end, and then ends by `how`. */
static pid_t start(const char *variable, const char *how, int *hold)
{
    int fds[2];

    ck_assert_int_eq(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char *const words[] = {"sh", "-c", (char *)(uintptr_t)how, NULL};
        char *const environment[] = {(char *)(uintptr_t)variable, NULL};
        dup2(fds[0], STDIN_FILENO);
        close(fds[1]);
        execve("/bin/sh", words, environment);
        _exit(99);
    }
    close(fds[0]);
    *hold = fds[1];
    char path[64], text[64] = "";
    /* It is that program by now: the kernel tells its name before its variables. */
    for (int i = 0; i < 10000 && strcmp(text, variable) != 0; i++) {
        snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
        FILE *f = fopen(path, "r");
        if (!f || !fgets(text, sizeof text, f))
            text[0] = '\0';
        if (f)
            fclose(f);
        usleep(1000);
    }
    return pid;
}

static struct seep_process *list(pid_t pid)
{
    struct seep_process *p = &folder.job->processes[folder.job->n_processes++];

    p->pid = (uint32_t)pid;
    p->start_ns = seep_clock_ns(CLOCK_MONOTONIC);
    return p;
}

static bool keeps_status(void)
{
    return kernel_is_since(6, 15);
}

TEST(of_one_that_was_reaped_the_kernel_tells)
{
    static const struct {
        const char *how;
        int status;
    } cases[] = {{"read x; exit 7", 7 << 8}, {"read x; kill -9 $$", SIGKILL}, {"read x; :", 0}};
    for (size_t i = 0; i < N(cases); i++) {
        int hold, status;
        pid_t pid = start("SEEP_OUT=/somewhere/profile.d", cases[i].how, &hold);
        struct seep_process *p = list(pid);
        seep_ends_find(&ends, &folder, 0);
        ck_assert(seep_ends_any_lives(&ends));
        ck_assert_uint_eq(p->has_status, 0);
        close(hold);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        seep_ends_find(&ends, &folder, 0);
        ck_assert_uint_eq(p->has_status, 1);
        ck_assert_int_eq(p->wait_status, keeps_status() ? cases[i].status : SEEP_STATUS_UNSEEN);
        ck_assert(!seep_ends_any_lives(&ends));
        seep_job_folder_reaped(&folder, pid, 5 << 8); /* who knows better, if it was not known */
        ck_assert_int_eq(p->wait_status, keeps_status() ? cases[i].status : 5 << 8);
    }
}

TEST(of_one_that_nobody_reaps_its_own_line_tells)
{
    int hold, status = 0;
    pid_t pid = start("SEEP_OUT=/somewhere/profile.d", "read x; exit 9", &hold);
    struct seep_process *p = list(pid);

    seep_ends_find(&ends, &folder, 0);
    close(hold);
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
    seep_ends_find(&ends, &folder, 0);
    ck_assert_uint_eq(p->has_status, 1);
    ck_assert_int_eq(p->wait_status, 9 << 8);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid); /* and it was left to whom it belongs */
}

TEST(a_stranger_with_such_a_pid_is_not_taken_for_it)
{
    static const char *const variables[] = {"A=B", "SEEP_OUT=/somewhere/profile.d2",
                                            "NOT_SEEP_OUT=/somewhere/profile.d"};
    for (size_t i = 0; i < N(variables); i++) {
        int hold;
        pid_t pid = start(variables[i], "read x; exit 9", &hold);
        struct seep_process *p = list(pid);
        seep_ends_find(&ends, &folder, 0);
        ck_assert(!seep_ends_any_lives(&ends));
        close(hold);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        seep_ends_find(&ends, &folder, 0);
        ck_assert_uint_eq(p->has_status, 0);
    }
}

TEST(the_launchers_own_child_is_left_to_it)
{
    int hold;
    pid_t pid = start("SEEP_OUT=/somewhere/profile.d", "read x; exit 9", &hold);

    list(pid);
    seep_ends_find(&ends, &folder, pid);
    ck_assert(!seep_ends_any_lives(&ends));
    close(hold);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

SUITE("ends", .setup = set_up, .teardown = tear_down)
