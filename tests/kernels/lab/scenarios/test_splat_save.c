/* What a job has trained, as a file. */
#include "kernels/formats/gaussian_ply.h"
#include "kernels/lab/scenarios/splat_save.h"
#include "tests/kernels/lab/scenarios/splat_fixture.h"
#include "tests/suite.h"

/* The stream is the CPU's: its memory can be read here. */
TEST(the_file_has_every_parameter_to_the_bit)
{
    struct seep_views views = read_scene(1e9);
    struct seep_error err = {0};
    struct seep_gaussians g;
    struct seep_gaussian_ply *read;
    char path[128];

    ck_assert_int_eq(seep_gaussians_init(&views, stream, &g), 0);
    snprintf(path, sizeof path, "%s/point_cloud.ply", scene);
    ck_assert_int_eq(seep_gaussians_can_save(path, &err), 0);
    ck_assert_int_eq(access(path, F_OK), -1);
    ck_assert_int_eq(seep_gaussians_save(&g, path, &err), 0);
    ck_assert_int_eq(seep_gaussian_ply_read(path, &read, &err), 0);
    const struct seep_splat_parameters *a = &g.trained.parameters, *b = &read->parameters;
    ck_assert_uint_eq(read->n, POINTS);
    ck_assert_int_eq(read->sh_degree, 3);
    ck_assert_mem_eq(a->means, b->means, sizeof *a->means * POINTS);
    ck_assert_mem_eq(a->log_scales, b->log_scales, sizeof *a->log_scales * POINTS);
    ck_assert_mem_eq(a->rotations, b->rotations, sizeof *a->rotations * POINTS);
    ck_assert_mem_eq(a->logits, b->logits, sizeof *a->logits * POINTS);
    ck_assert_mem_eq(a->sh, b->sh, sizeof *a->sh * 48 * POINTS);
    seep_gaussian_ply_free(read);
    seep_gaussians_fini(&g);
    seep_views_fini(&views);
}

TEST(a_folder_that_is_not_there_is_told_before)
{
    struct seep_error err = {0};

    ck_assert_int_eq(seep_gaussians_can_save("/nowhere/x.ply", &err), -SEEP_EIO);
    ck_assert_str_eq(err.file, "/nowhere/x.ply");
}

SUITE("splat_save", .setup = make_scene, .teardown = remove_scene)
