/* The profile folder as the launcher makes it. */
#include "tests/suite.h"
#include "viewer/job_folder.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char base[] = "/tmp/seep-folder-XXXXXX";
static struct seep_job_folder folder;
static struct seep_error err;
static char *const command[] = {"python3", "train.py", "--lr", "", "0.1", NULL};

static void set_up(void)
{
    strcpy(base + strlen(base) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(base));
    ck_assert_int_eq(chdir(base), 0);
    memset(&err, 0, sizeof err);
}

static void tear_down(void)
{
    char line[256];

    ck_assert_int_eq(chdir("/"), 0);
    snprintf(line, sizeof line, "/bin/rm -rf %s", base);
    ck_assert_int_eq(system(line), 0);
}

static int make(const char *dir)
{
    memset(&err, 0, sizeof err);
    return seep_job_folder_make(&folder, dir, NULL, command, &err);
}

static void touch(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);

    ck_assert_int_ge(fd, 0);
    close(fd);
}

/* So that it is not taken for one that is meant for the profile alone. */
static void touch_in(const char *dir)
{
    char path[64];

    snprintf(path, sizeof path, "%s/other", dir);
    touch(path);
}

static mode_t mode_of(const char *path)
{
    struct stat st;

    ck_assert_int_eq(stat(path, &st), 0);
    return st.st_mode & 07777;
}

TEST(the_folder_and_the_job_file_are_private_and_complete)
{
    struct stat st;

    ck_assert_int_eq(make("p.d"), 0);
    ck_assert(folder.made);
    ck_assert_int_eq(folder.path[0], '/');
    ck_assert_uint_eq(mode_of("p.d"), 0700);
    ck_assert_uint_eq(mode_of("p.d/job.seepjob"), 0600);
    ck_assert_int_eq(stat("p.d/job.seepjob", &st), 0);
    ck_assert_int_eq(st.st_size, (off_t)sizeof(struct seep_job));
    ck_assert_int_ge(st.st_blocks * 512, (off_t)SEEP_JOB_FIRST_BYTES); /* a full disk shows now */
    const struct seep_job *job = folder.job;
    ck_assert(job->magic == SEEP_JOB_MAGIC);
    ck_assert_uint_eq(job->version, SEEP_FORMAT_VERSION);
    ck_assert_uint_eq(job->launcher_pid, (uint32_t)getpid());
    ck_assert_uint_eq(job->argv_bytes, 27);
    ck_assert_mem_eq(job->argv,
                     "python3\0train.py\0--lr\0\0"
                     "0.1",
                     27);
    ck_assert_str_eq(job->cwd, base);
    ck_assert_uint_gt(job->limit_bytes, 0);
    ck_assert_uint_eq(job->ended_ns, 0);
}

TEST(the_kernels_kill_of_a_reader_is_not_the_jobs)
{
    const char *file = "events";
    FILE *f;

    ck_assert_int_eq(make("p.d"), 0);
    snprintf(folder.limits.oom_file, sizeof folder.limits.oom_file, "%s/%s", base, file);
    folder.limits.oom_kills = 4;
    f = fopen(file, "w");
    fputs("oom_kill 4\n", f);
    fclose(f);
    ck_assert(!seep_job_folder_own_oom_kill(&folder)); /* somebody else has killed it */
    f = fopen(file, "w");
    fputs("oom_kill 6\n", f);
    fclose(f);
    ck_assert(seep_job_folder_own_oom_kill(&folder));
    seep_job_folder_ended(&folder, SIGKILL);
    ck_assert_uint_eq(folder.job->oom_kills, 1);
    ck_assert(seep_job_folder_own_oom_kill(&folder));
    ck_assert(!seep_job_folder_own_oom_kill(&folder));
}

static bool is_named(const char *name)
{
    return strcmp(strrchr(folder.path, '/') + 1, name) == 0;
}

TEST(a_profile_is_never_overwritten)
{
    ck_assert_int_eq(make("p.d"), 0);
    ck_assert(!folder.beside);
    ck_assert_int_eq(make("p.d"), 0);
    ck_assert(folder.beside && is_named("p.2.d"));
    ck_assert_int_eq(mkdir("q", 0700), 0);
    touch("q/1-2.seep");
    ck_assert_int_eq(make("q/"), 0);
    ck_assert(folder.beside && is_named("q.2"));
    ck_assert_int_eq(access("q/job.seepjob", F_OK), -1);
    ck_assert_int_eq(make("q"), 0);
    ck_assert(is_named("q.3"));
}

TEST(the_folders_above_it_are_made)
{
    ck_assert_int_eq(make("runs/today/p.d"), 0);
    ck_assert_int_eq(access("runs/today/p.d/job.seepjob", F_OK), 0);
    ck_assert_int_eq(make("runs/other/p.d"), 0);
    seep_job_folder_undo(&folder);
    ck_assert_int_eq(access("runs/other", F_OK), -1);
    ck_assert_int_eq(access("runs/today", F_OK), 0);
}

/* Launchers that begin at the same time each get one of their own. */
TEST(launchers_do_not_share_a_folder)
{
    enum { LAUNCHERS = 16 };
    char name[32];

    for (int i = 0; i < LAUNCHERS; i++) {
        const pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0)
            _exit(make("p") ? 1 : 0);
    }
    for (int i = 0, status; i < LAUNCHERS; i++) {
        ck_assert_int_ge(wait(&status), 0);
        ck_assert_int_eq(status, 0);
    }
    for (int i = 1; i <= LAUNCHERS; i++) {
        snprintf(name, sizeof name, i > 1 ? "p.%d/job.seepjob" : "p/job.seepjob", i);
        ck_assert_int_eq(access(name, F_OK), 0);
    }
}

TEST(of_a_job_that_is_not_recorded_nothing_is_written)
{
    ck_assert_int_eq(seep_job_folder_none(&folder), 0);
    seep_job_folder_reaped(&folder, 7, 0);
    seep_job_folder_ended(&folder, 0);
    seep_job_folder_undo(&folder);
    ck_assert_int_eq(rmdir(base), 0);
    ck_assert_int_eq(mkdir(base, 0700), 0);
}

TEST(folders_that_are_there_are_taken)
{
    ck_assert_int_eq(mkdir("empty", 0755), 0);
    ck_assert_int_eq(make("empty"), 0);
    ck_assert(!folder.made);
    ck_assert_uint_eq(mode_of("empty"), 0700);
    ck_assert_int_eq(mkdir("shared", 0755), 0);
    touch("shared/notes.txt");
    ck_assert_int_eq(make("shared/"), 0);
    ck_assert_uint_eq(mode_of("shared"), 0755); /* others may be reading there */
}

TEST(what_cannot_be_made_is_said_and_nothing_stays)
{
    char longest[2000];

    touch("file");
    ck_assert_int_eq(make("file"), -SEEP_EIO);
    ck_assert_int_eq(make("file/p.d"), -SEEP_EIO);
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    ck_assert_int_eq(make(longest), -SEEP_EIO);
    ck_assert_int_eq(make("/proc/seep.d"), -SEEP_EIO);
    ck_assert_ptr_nonnull(strstr(err.text, "No such file"));
}

TEST(a_folder_of_another_users_that_anybody_may_write_to_is_refused)
{
    const struct {
        uid_t owner;
        mode_t mode;
        bool taken;
    } cases[] = {{65534, 0777, false}, {65534, 01777, true}, {65534, 0775, true}, {0, 0777, true}};
    if (geteuid() != 0)
        SKIP("only root could give a folder away");
    for (size_t i = 0; i < N(cases); i++) {
        char name[] = "p0";
        name[1] = (char)('0' + i);
        ck_assert_int_eq(mkdir(name, 0700), 0);
        touch_in(name);
        ck_assert_int_eq(chown(name, cases[i].owner, cases[i].owner), 0);
        ck_assert_int_eq(chmod(name, cases[i].mode), 0);
        ck_assert_int_eq(make(name) == 0, cases[i].taken);
        if (!cases[i].taken)
            ck_assert_ptr_nonnull(strstr(err.text, "belongs to another user"));
    }
}

TEST(a_job_that_did_not_start_leaves_nothing)
{
    ck_assert_int_eq(make("p.d"), 0);
    seep_job_folder_undo(&folder);
    ck_assert_int_eq(access("p.d", F_OK), -1);
    ck_assert_int_eq(mkdir("kept", 0755), 0);
    ck_assert_int_eq(make("kept"), 0);
    seep_job_folder_undo(&folder);
    ck_assert_int_eq(access("kept", F_OK), 0);
    ck_assert_int_eq(access("kept/job.seepjob", F_OK), -1);
}

TEST(how_a_process_ended_goes_to_its_youngest_entry_once)
{
    ck_assert_int_eq(make("p.d"), 0);
    struct seep_process *p = folder.job->processes;
    p[0].pid = 10;
    p[1].pid = 11;
    p[2].pid = 10; /* after an exec */
    folder.job->n_processes = 3;
    seep_job_folder_reaped(&folder, 10, 9);
    seep_job_folder_reaped(&folder, 10, 256);
    seep_job_folder_reaped(&folder, 12, 1);
    ck_assert_uint_eq(p[0].has_status, 0);
    ck_assert_uint_eq(p[1].has_status, 0);
    ck_assert_uint_eq(p[2].has_status, 1);
    ck_assert_int_eq(p[2].wait_status, 9);
    folder.job->n_processes = UINT32_MAX; /* more than the table holds, or nonsense */
    seep_job_folder_reaped(&folder, 11, 7);
    ck_assert_int_eq(p[1].wait_status, 7);
    seep_job_folder_ended(&folder, 512);
    ck_assert_uint_ge(folder.job->ended_ns, folder.job->started_ns);
    ck_assert_int_eq(folder.job->wait_status, 512);
}

SUITE("job_folder", .setup = set_up, .teardown = tear_down)
