/* What the suites that read profiles share: a folder, a builder, and functions from profiles to a
 * model. */
#ifndef SEEP_TESTS_READ_READER_FIXTURE_H
#define SEEP_TESTS_READ_READER_FIXTURE_H

#include "libprof/analysis.h"
#include "libprof/model/live_level.h"
#include "libprof/model/stages/model_build.h"
#include "libprof/read/profile_read.h"
#include "tests/profile_builder.h"
#include "tests/suite.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct builder b;
static char dir[64];

static inline void setup(void)
{
    builder_init(&b, 100, UINT64_C(1000000000));
    strcpy(dir, "/tmp/seep-reader-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
}

static inline void teardown(void)
{
    char path[512];
    struct dirent *entry;
    DIR *stream = opendir(dir);

    while (stream && (entry = readdir(stream))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
        unlink(path);
    }
    if (stream)
        closedir(stream);
    rmdir(dir);
    builder_fini(&b);
}

/* train.py:10 in main > train.py:20 in load, with a native frame inside. */
static inline uint32_t stack_of_three(struct builder *to)
{
    uint32_t outer = builder_stack(to, 0, builder_python(to, "/home/user/train.py", "main", 10));
    uint32_t middle =
        builder_stack(to, outer, builder_python(to, "/home/user/train.py", "load", 20));

    return builder_stack(to, middle, builder_native(to, "/usr/lib/libc10.so", "00ff", 0x1234));
}

static inline struct seep_profile *profile_of(const struct builder *from)
{
    struct seep_profile *profile = NULL;
    struct seep_error err = {0};
    int rc = seep_profile_from_bytes("100-1.seep", from->bytes, from->n_bytes, &profile, &err);

    ck_assert_msg(rc == 0, "%s", err.text);
    return profile;
}

/* The model of profiles in memory; the first profile's step axis is that of `job`. */
static inline void merge_all(struct seep_model *m, struct seep_profile **profiles, size_t n,
                             struct seep_job *job)
{
    memset(m, 0, sizeof *m);
    ck_assert_int_eq(seep_model_merge_profiles(m, profiles, n, job, NULL), 0);
}

/* What is left to do with a merged model, where no code is known to be a worker's loop. */
static inline void complete(struct seep_model *m)
{
    bool *no_loop = calloc(m->dict.n_frames, sizeof *no_loop);

    ck_assert_ptr_nonnull(no_loop);
    ck_assert_int_eq(
        seep_model_complete(m, &(struct seep_model_options){.is_worker_loop = no_loop}), 0);
    free(no_loop);
}

static inline const char *function_at(const struct seep_model *m, uint32_t stack)
{
    return seep_dictionary_text(&m->dict, m->dict.frames[m->dict.stacks[stack].frame].function);
}

#endif
