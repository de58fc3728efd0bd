/* The lab's children: it knows how each of them ends, and what ends the lab ends them. */
#include "kernels/lab/lab.h"
#include "tests/suite.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int succeed(void *arg, struct seep_error *err)
{
    (void)arg, (void)err;
    return 0;
}

static int refuse(void *arg, struct seep_error *err)
{
    return seep_error_set(err, SEEP_EFORMAT, arg, 7, "foreign");
}

static int leave(void *arg, struct seep_error *err)
{
    (void)arg, (void)err;
    _exit(0);
}

static int be_killed(void *arg, struct seep_error *err)
{
    (void)arg, (void)err;
    return raise(SIGKILL);
}

/* Until a signal ends it: it has no handler that would let pause() return. */
static int wait_for_ever(void *arg, struct seep_error *err)
{
    (void)arg, (void)err;
    return pause();
}

static int end_the_parent(void *arg, struct seep_error *err)
{
    kill(getppid(), *(int *)arg);
    return wait_for_ever(arg, err);
}

TEST(what_a_child_returned_is_known_with_its_reason)
{
    char file[] = "room.ply";
    struct seep_error err = {0};

    seep_lab_hold_signals();
    ck_assert_int_eq(seep_lab_in_child(succeed, NULL, &err), 0);
    ck_assert_str_eq(err.text, "");
    ck_assert_int_eq(seep_lab_in_child(refuse, file, &err), -SEEP_EFORMAT);
    ck_assert_str_eq(err.file, "room.ply");
    ck_assert_str_eq(err.text, "foreign");
    ck_assert_uint_eq(err.offset, 7);
    ck_assert_int_eq(seep_lab_in_child(refuse, file, NULL), -SEEP_EFORMAT);
}

TEST(a_child_that_is_killed_or_leaves_has_not_succeeded)
{
    struct seep_error err = {0};

    seep_lab_hold_signals();
    ck_assert_int_eq(seep_lab_in_child(be_killed, NULL, &err), -SEEP_EIO);
    ck_assert_str_eq(err.text, "signal 9 ended a process");
    ck_assert_int_lt(seep_lab_in_child(leave, NULL, NULL), 0);
}

TEST(a_program_that_is_not_there_is_an_error)
{
    char *argv[] = {"/nonexistent/seep", NULL};
    struct seep_error err = {0};
    int status;

    seep_lab_hold_signals();
    ck_assert_int_eq(seep_lab_spawn(argv, NULL, &status, &err), -SEEP_EIO);
    ck_assert_str_eq(err.file, "/nonexistent/seep");
}

TEST(how_a_program_ended_is_in_its_status)
{
    char *argv[] = {"/bin/sh", "-c", "kill -9 $$", NULL};
    int status = 0;

    seep_lab_hold_signals();
    ck_assert_int_eq(seep_lab_spawn(argv, NULL, &status, NULL), 0);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    argv[2] = "exit 3";
    ck_assert_int_eq(seep_lab_spawn(argv, NULL, &status, NULL), 0);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

static int endings[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

/* In a fork of its own: Check must not be what the signal ends. */
TEST(a_signal_ends_the_child_then_the_caller_tidies_up_and_ends_by_it, .to = N(endings))
{
    int number = endings[_i], status = 0, tidied[2];
    char byte = 0;

    ck_assert_int_eq(pipe(tidied), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct seep_error err = {0};
        signal(number, SIG_DFL);
        seep_lab_hold_signals();
        int rc = seep_lab_in_child(end_the_parent, &number, &err);
        if (rc == -SEEP_EIO && strcmp(err.text, "interrupted") == 0 && seep_lab_interrupted() &&
            write(tidied[1], "t", 1) == 1)
            seep_lab_release_signals();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    close(tidied[1]);
    ck_assert_int_eq(read(tidied[0], &byte, 1), 1);
    close(tidied[0]);
    ck_assert_int_eq(byte, 't');
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == number);
}

TEST(a_child_that_begins_after_the_signal_ends_at_once)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        signal(SIGTERM, SIG_DFL);
        seep_lab_hold_signals();
        raise(SIGTERM);
        int rc = seep_lab_in_child(wait_for_ever, NULL, NULL);
        _exit(rc && seep_lab_interrupted() ? 5 : 0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

TEST(without_a_signal_there_is_none_to_end_by)
{
    seep_lab_release_signals();
    seep_lab_hold_signals();
    ck_assert(!seep_lab_interrupted());
    seep_lab_release_signals();
}

TEST(a_folder_without_a_name_is_refused)
{
    struct seep_error err = {0};

    ck_assert_int_eq(seep_lab_make_folder("", &err), -SEEP_EIO);
    ck_assert_str_eq(err.text, "a folder's name is empty");
    ck_assert(seep_lab_is_empty("/nonexistent/folder"));
    ck_assert(!seep_lab_is_empty("/proc/self/exe"));
    ck_assert(!seep_lab_is_empty("/"));
}

SUITE("children")
