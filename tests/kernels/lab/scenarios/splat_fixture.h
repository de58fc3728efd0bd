/* A small made-up scene in a folder of its own, for the tests of the splat scenario. */
#ifndef SEEP_TESTS_KERNELS_SCENARIOS_SPLAT_FIXTURE_H
#define SEEP_TESTS_KERNELS_SCENARIOS_SPLAT_FIXTURE_H

#include "kernels/lab/scenarios/splat_made_up.h"
#include "kernels/lab/scenarios/splat_views.h"

#include <check.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PHOTOS = 12, POINTS = 300, WIDTH = 48, HEIGHT = 36 };

static char scene[64];
static struct seep_stream *stream;

static inline void make_scene(void)
{
    const struct seep_made_up size = {PHOTOS, POINTS, WIDTH, HEIGHT};
    struct seep_error err = {0};

    strcpy(scene, "/tmp/seep-splat-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(scene));
    ck_assert_msg(seep_made_up_write(scene, &size, 1, &err) == 0, "%s %s", err.file, err.text);
    ck_assert_int_eq(seep_stream_create_cpu(1, &stream), 0);
}

static inline int remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void)s;
    (void)type;
    (void)at;
    return remove(path);
}

static inline void remove_scene(void)
{
    seep_stream_destroy(stream);
    ck_assert_int_eq(nftw(scene, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static inline struct seep_views read_scene(double most_pixels)
{
    struct seep_error err = {0};
    struct seep_views views;

    ck_assert_msg(seep_views_read(scene, NULL, most_pixels, 50, 1, &views, &err) == 0, "%s %s",
                  err.file, err.text);
    return views;
}

#endif
