/* Files in memory are counted and listed: the user's own, new ones, and without leaving the mount.
 */
#include "libprof/base/clock.h"
#include "tests/suite.h"
#include "viewer/watch/tmpfs.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    FILE_BYTES = 64 * 1024,
    N_FILES = 40,
    TRIES = 50, /* other programs write to /dev/shm, and delete there, meanwhile */
    PAUSE_MS = 100,
};
#define RUNS_NS                                                                                    \
    UINT64_C(100000000000) /* the job, so far: what a test writes is in the last slice */

static char folder[] = "/dev/shm/seep-test-XXXXXX";
static struct seep_tmpfs tmpfs;
static struct seep_memory_files files;
static struct seep_job *job;
static bool is_tmpfs; /* /dev/shm, here */

#define NEEDS_TMPFS()                                                                              \
    if (!is_tmpfs)                                                                                 \
    SKIP("/dev/shm is no tmpfs that this user may write to")

static void setup(void)
{
    strcpy(folder, "/dev/shm/seep-test-XXXXXX");
    seep_tmpfs_find(&tmpfs, "");
    for (uint32_t i = 0; i < tmpfs.n; i++)
        is_tmpfs |= strcmp(tmpfs.mounts[i].path, "/dev/shm") == 0;
    is_tmpfs = is_tmpfs && mkdtemp(folder);
    job = calloc(1, sizeof *job);
    ck_assert_ptr_nonnull(job);
    job->started_ns = seep_clock_ns(CLOCK_MONOTONIC) - RUNS_NS;
    job->started_unix_ns = seep_clock_ns(CLOCK_REALTIME) - RUNS_NS;
}

static void remove_all(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static void teardown(void)
{
    if (is_tmpfs)
        remove_all();
    free(job);
}

static void put_file(const char *name)
{
    static const char bytes[FILE_BYTES];
    char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int fd = open(path, O_CREAT | O_WRONLY, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, sizeof bytes), sizeof bytes);
    close(fd);
}

static void put_folder(const char *name)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    ck_assert_int_eq(mkdir(path, 0700), 0);
}

static void put_files(const char *format)
{
    char name[64];

    for (int i = 0; i < N_FILES; i++) {
        snprintf(name, sizeof name, format, i);
        char *slash = strchr(name, '/');
        if (slash) {
            *slash = '\0';
            put_folder(name);
            *slash = '/';
        }
        put_file(name);
    }
}

static void pause_for_others(void)
{
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000}, NULL);
}

/* The folder's own part of what was listed. */
static const struct seep_memory_folder *list(const char *path)
{
    seep_tmpfs_list(&tmpfs, job, &files);
    for (uint32_t i = 0; i < files.n; i++)
        if (strcmp(files.folders[i].path, path) == 0)
            return &files.folders[i];
    return NULL;
}

/* Mounts are looked into whatever else they held before. */
static void look_into_all(void)
{
    for (uint32_t i = 0; i < tmpfs.n; i++)
        tmpfs.mounts[i].first_bytes = 0;
}

static const struct seep_memory_folder *listed(const char *path)
{
    const struct seep_memory_folder *its = NULL;

    look_into_all();
    for (int i = 0; i < TRIES && !(its = list(path)); i++)
        pause_for_others();
    ck_assert_ptr_nonnull(its);
    return its;
}

static bool puts_what_is_held(void)
{
    for (int i = 0; i < TRIES; i++) {
        const uint32_t before = seep_tmpfs_held_kib(&tmpfs, 0);
        put_files("batch-%02d");
        if (seep_tmpfs_held_kib(&tmpfs, 0) >= before + N_FILES * FILE_BYTES / 1024 / 2)
            return true;
        remove_all();
        put_folder("");
        pause_for_others();
    }
    return false;
}

TEST(what_is_written_to_dev_shm_is_held_and_listed)
{
    NEEDS_TMPFS();
    const bool held = puts_what_is_held();
    ck_assert(held);
    const struct seep_memory_folder *its = listed(folder);
    ck_assert_uint_eq(its->n_files, N_FILES);
    ck_assert_uint_eq(its->bytes, N_FILES * FILE_BYTES);
    ck_assert_int_eq(strncmp(its->largest, "batch-", 6), 0);
    ck_assert_uint_ge(files.slice_bytes[SEEP_MEMORY_SLICES - 1], FILE_BYTES);
    ck_assert_uint_eq(files.is_cut, 0);
}

TEST(a_directory_for_each_file_counts_with_the_one_above)
{
    NEEDS_TMPFS();
    put_files("tmp%02d/part.bin");
    const struct seep_memory_folder *its = listed(folder);
    ck_assert_uint_eq(its->n_files, N_FILES);
    ck_assert_ptr_nonnull(strstr(its->largest, "/part.bin"));
}

TEST(links_are_not_followed)
{
    char path[128], here[] = ".";

    NEEDS_TMPFS();
    put_files("%02d");
    snprintf(path, sizeof path, "%s/again", folder);
    ck_assert_int_eq(symlink(here, path), 0);
    snprintf(path, sizeof path, "%s/fifo", folder);
    ck_assert_int_eq(mkfifo(path, 0600), 0); /* opening it would wait for a writer */
    ck_assert_uint_eq(listed(folder)->n_files, N_FILES);
}

TEST(files_from_before_the_job_are_not_its_own)
{
    NEEDS_TMPFS();
    put_files("%02d");
    look_into_all();
    job->started_unix_ns = seep_clock_ns(CLOCK_REALTIME) + 1000000000;
    ck_assert_ptr_null(list(folder));
    ck_assert_uint_ge(files.looked_bytes, N_FILES * FILE_BYTES);
}

TEST(the_profile_is_seeps_own)
{
    NEEDS_TMPFS();
    seep_tmpfs_find(&tmpfs, folder);
    look_into_all();
    put_files("%02d");
    ck_assert_uint_eq(seep_tmpfs_held_kib(&tmpfs, UINT64_MAX), 0);
    ck_assert_ptr_null(list(folder));
}

TEST(a_mount_that_holds_no_more_than_before_is_not_listed)
{
    NEEDS_TMPFS();
    put_files("%02d");
    for (int i = 0; i < TRIES; i++) {
        seep_tmpfs_find(&tmpfs, "");
        list(folder);
        if (!files.looked_bytes)
            return;
        pause_for_others();
    }
    ck_abort_msg("a mount that holds no more than before was looked into");
}

/* Their number is what the list costs. */
TEST(there_is_an_end_to_looking)
{
    char path[128];

    NEEDS_TMPFS();
    put_files("%02d");
    for (int i = 0; i < 8300; i++) {
        snprintf(path, sizeof path, "%s/empty-%d", folder, i);
        close(open(path, O_CREAT | O_WRONLY, 0600));
    }
    look_into_all();
    list(folder);
    ck_assert_uint_eq(files.is_cut, 1);
    ck_assert_uint_le(files.n_files, 8192);
}

SUITE("files in memory", .setup = setup, .teardown = teardown)
