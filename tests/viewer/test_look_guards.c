/* What guards a job while it is looked at: its copy ends where memory is short, it goes on when it
 * has stood still for long enough, and its end is noticed. */
#include "tests/suite.h"
#include "viewer/look/guarded_remote.h"
#include "viewer/look/target_end.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Waits to be killed, or ends with a status at once. */
static pid_t child_of(int status)
{
    const pid_t pid = fork();

    if (pid == 0) {
        while (status < 0)
            pause();
        _exit(status);
    }
    ck_assert_int_gt(pid, 0);
    return pid;
}

TEST(a_copy_is_ended_where_the_jobs_memory_is_short)
{
    struct seep_room_watch watch;
    struct seep_memory_room room;
    const pid_t copy = child_of(-1);
    int status;

    ck_assert_int_eq(seep_room_watch_begin(&watch, getpid()), 0);
    seep_room_watch_read(&watch, getpid(), &room);
    if (room.left_bytes == SEEP_MEMORY_NO_NUMBER) {
        kill(copy, SIGKILL);
        seep_room_watch_end(&watch);
        SKIP("this machine does not say how much memory is left");
    }
    seep_room_watch_copy(&watch, copy, UINT64_MAX); /* no room leaves a sixteenth of that */
    ck_assert_int_eq(waitpid(copy, &status, 0), copy);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    seep_room_watch_end(&watch);
    ck_assert(watch.ended_copy);
}

TEST(a_copy_that_was_ended_already_is_left_alone)
{
    struct seep_room_watch watch;
    const pid_t other = child_of(-1);

    ck_assert_int_eq(seep_room_watch_begin(&watch, getpid()), 0);
    seep_room_watch_copy(&watch, 0, UINT64_MAX);
    seep_room_watch_end(&watch);
    ck_assert(!watch.ended_copy);
    ck_assert_int_eq(waitpid(other, NULL, WNOHANG), 0);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
}

/* ---- for how long it is read ----------------------------------------------------------------- */

static size_t all_there(struct seep_remote *remote, const struct seep_memory_piece *pieces,
                        size_t n)
{
    (void)remote;
    return n ? pieces[0].n : 0;
}

static int one_run(struct seep_remote *remote, uint64_t start, uint64_t end, bool files_too,
                   seep_page_run_taker *take, void *arg)
{
    (void)files_too;
    remote->cut = true;
    return take(arg, start, end);
}

static int count(void *n, uint64_t start, uint64_t end)
{
    *(uint64_t *)n += end - start;
    return 0;
}

TEST(nothing_is_read_when_it_has_stood_still_for_long_enough)
{
    struct seep_remote of = {.gather = all_there, .own_pages = one_run};
    struct seep_room_watch watch = {0};
    struct seep_guarded_remote guarded;
    uint64_t pages = 0;
    char byte;

    seep_guarded_remote_init(&guarded, &of, &watch, UINT64_MAX, 0);
    ck_assert(seep_remote_read(&guarded.remote, 4096, &byte, 1));
    ck_assert_int_eq(guarded.remote.own_pages(&guarded.remote, 0, 4096, false, count, &pages), 0);
    ck_assert_uint_eq(pages, 4096);
    ck_assert(guarded.remote.cut); /* as what it stands for */
    guarded.most_ns = 1;
    while (!seep_guarded_remote_is_over(&guarded)) {
    }
    ck_assert(guarded.is_late);
    ck_assert(!seep_remote_read(&guarded.remote, 4096, &byte, 1));
    ck_assert_int_lt(guarded.remote.own_pages(&guarded.remote, 0, 4096, false, count, &pages), 0);
    ck_assert_uint_eq(pages, 4096);
}

TEST(nothing_is_read_when_seeps_own_memory_is_short)
{
    struct seep_remote of = {.gather = all_there, .own_pages = one_run};
    struct seep_room_watch watch = {0};
    struct seep_guarded_remote guarded;
    char byte;

    seep_guarded_remote_init(&guarded, &of, &watch, 0, 0);
    ck_assert(seep_remote_read(&guarded.remote, 4096, &byte, 1));
    watch.is_short = true;
    ck_assert(!seep_remote_read(&guarded.remote, 4096, &byte, 1));
    ck_assert(!guarded.is_late);
}

/* ---- what became of it ----------------------------------------------------------------------- */

static const struct {
    int status, signal;
    bool is_reaped; /* by who started it, so that nobody knows its status */
    enum seep_target_end end;
    const char *said;
} ends[] = {
    {-1, SIGKILL, false, SEEP_TARGET_KILLED, ", killed by signal 9"},
    {-1, SIGUSR1, false, SEEP_TARGET_ENDED, ", killed by signal 10"},
    {3, 0, false, SEEP_TARGET_ENDED, ", with status 3"},
    {-1, SIGKILL, true, SEEP_TARGET_ENDED, ""},
};

TEST(a_process_that_ended_is_told_with_how_it_did, .to = N(ends))
{
    const pid_t pid = child_of(ends[_i].status);
    struct seep_target target;
    struct seep_error err = {0};
    char text[160];
    siginfo_t ended;

    if (ends[_i].signal) {
        seep_target_note(&target, pid);
        ck_assert_int_eq(seep_target_ended(&target, "here", &err), SEEP_TARGET_LIVES);
        kill(pid, ends[_i].signal);
    } else {
        seep_target_note(&target, pid);
    }
    waitid(P_PID, (id_t)pid, &ended, WEXITED | (ends[_i].is_reaped ? 0 : WNOWAIT));
    ck_assert_int_eq(seep_target_ended(&target, "here", &err), ends[_i].end);
    snprintf(text, sizeof text, "process %d ended here%s", (int)pid, ends[_i].said);
    ck_assert_str_eq(err.text, text);
    waitpid(pid, NULL, 0);
}

/* By a folder that looks like a cgroup's. */
TEST(a_kill_for_lack_of_memory_in_its_cgroup_is_told)
{
    const pid_t pid = child_of(-1);
    struct seep_target target;
    struct seep_error err = {0};
    char path[SEEP_MEMORY_CGROUP_BYTES + 16];

    seep_target_note(&target, pid);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    target.group = (struct seep_memory_cgroup){.version = 2, .folder = "/tmp/seep-kills-XXXXXX"};
    target.oom_kills = 4;
    ck_assert_ptr_nonnull(mkdtemp(target.group.folder));
    snprintf(path, sizeof path, "%s/memory.events", target.group.folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("low 0\noom 1\noom_kill 5\noom_group_kill 0\n", file);
    fclose(file);
    const enum seep_target_end end = seep_target_ended(&target, "here", &err);
    unlink(path);
    rmdir(target.group.folder);
    ck_assert_int_eq(end, SEEP_TARGET_KILLED);
    ck_assert_ptr_nonnull(strstr(err.text, "this look may have caused it"));
}

SUITE("look_guards")
