/* The splat scenario's Gaussians and its training. */
#include "kernels/formats/image.h"
#include "kernels/lab/scenario.h"
#include "kernels/lab/scenarios/splat_training.h"
#include "kernels/splat/splat_math.h"
#include "tests/kernels/lab/scenarios/splat_fixture.h"
#include "tests/suite.h"

#include <math.h>

enum { SH_FLOATS = 3 * SEEP_GAUSSIAN_SH_STRIDE };

static struct seep_gaussians gaussians_of(const struct seep_views *views)
{
    struct seep_gaussians g;

    ck_assert_int_eq(seep_gaussians_init(views, stream, &g), 0);
    return g;
}

/* ---- Gaussians ------------------------------------------------------------------------------- */

TEST(a_point_becomes_a_gaussian_of_its_colour_as_wide_as_its_neighbours_are_far)
{
    float points[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 2, 0}, {0, 0, 3}, {100, 0, 0}};
    uint8_t colors[5][3] = {{0, 128, 255}};
    struct seep_views views = {.points = points, .colors = colors, .n_points = 5, .extent = 1};
    struct seep_gaussians g = gaussians_of(&views);

    ck_assert_uint_eq(g.n, 5);
    ck_assert_mem_eq(g.trained.parameters.means, points, sizeof points);
    for (int k = 0; k < 3; k++) {
        ck_assert_float_eq_tol(g.trained.scales[0][k], 2, 1e-5f); /* (1 + 2 + 3) / 3 */
        double color = 0.5 + SEEP_SH_0 * (double)g.trained.parameters.sh[k];
        ck_assert_double_eq_tol(color, colors[0][k] / 255.0, 1e-6);
    }
    ck_assert_float_eq_tol(g.trained.opacities[4], 0.1f, 1e-6f);
    ck_assert_float_eq(g.trained.parameters.rotations[3][0], 1);
    seep_gaussians_fini(&g);
}

static float mark(size_t i, size_t k)
{
    return (float)(1000 * i + k);
}

TEST(what_is_pulled_most_becomes_two_and_the_rest_stays)
{
    struct seep_views views = read_scene(1e9);
    struct seep_gaussians g = gaussians_of(&views);
    const size_t n = g.n, more = 7;
    const size_t parents[] = {3, 20, 21, 77, 150, 298, 299};

    for (size_t i = 0; i < n; i++) {
        g.trained.first.logits[i] = mark(i, 1);
        for (size_t k = 0; k < SH_FLOATS; k++)
            g.trained.parameters.sh[i * SH_FLOATS + k] = mark(i, k);
    }
    for (size_t i = 0; i < more; i++)
        g.pull[parents[i]] = 1 + (float)i;
    g.pull[5] = NAN; /* one that went wrong is not favoured */
    float(*means)[3] = malloc(n * sizeof *means);
    memcpy(means, g.trained.parameters.means, n * sizeof *means);
    /* Every one is small against such an extent. */
    ck_assert_int_eq(seep_gaussians_densify(&g, n + more, 1e6f, 1), 0);
    ck_assert_uint_eq(g.n, n + more);
    ck_assert_mem_eq(g.trained.parameters.means, means, n * sizeof *means);
    for (size_t i = 0; i < n; i++)
        ck_assert_float_eq(g.trained.first.logits[i], mark(i, 1));
    for (size_t i = 0; i < more; i++) {
        ck_assert_mem_eq(g.trained.parameters.means[n + i], means[parents[i]], sizeof *means);
        ck_assert_float_eq(g.trained.first.logits[n + i], 0);
        for (size_t k = 0; k < SH_FLOATS; k++)
            ck_assert_float_eq(g.trained.parameters.sh[(n + i) * SH_FLOATS + k],
                               mark(parents[i], k));
        ck_assert_float_eq(g.pull[parents[i]], 0);
    }
    free(means);
    seep_gaussians_fini(&g);
    seep_views_fini(&views);
}

TEST(a_large_gaussian_is_split_into_two_smaller_ones_about_its_place)
{
    struct seep_views views = read_scene(1e9);
    struct seep_gaussians g = gaussians_of(&views);
    const size_t n = g.n;
    float mean[3], scale = g.trained.scales[8][1];

    g.pull[8] = 1;
    memcpy(mean, g.trained.parameters.means[8], sizeof mean);
    ck_assert_int_eq(seep_gaussians_densify(&g, n + 1, 1e-6f, 1), 0);
    const float *one = g.trained.parameters.means[8], *two = g.trained.parameters.means[n];
    float apart = 0;
    for (int k = 0; k < 3; k++) {
        ck_assert_float_eq_tol((one[k] + two[k]) / 2, mean[k], 1e-5f);
        apart = fmaxf(apart, fabsf(one[k] - two[k]));
    }
    ck_assert_float_gt(apart, 0.01f * scale);
    ck_assert_float_lt(apart, 12 * scale);
    for (size_t i = 8; i <= n; i += n - 8) {
        ck_assert_float_eq_tol(g.trained.scales[i][1], scale / 1.6f, 1e-5f * scale);
        ck_assert_float_eq_tol(expf(g.trained.parameters.log_scales[i][1]), scale / 1.6f,
                               1e-5f * scale);
    }
    seep_gaussians_fini(&g);
    seep_views_fini(&views);
}

TEST(a_length_taken_for_its_logarithm_is_about_1_and_a_bound_brings_it_back)
{
    struct seep_views views = read_scene(1e9);
    struct seep_gaussians g = gaussians_of(&views);
    float largest, blown, scale = g.trained.scales[5][1];

    ck_assert_int_eq(seep_gaussians_largest_scale(&g, &largest), 0);
    ck_assert_float_lt(largest, 1);
    ck_assert_float_le(scale, largest);
    ck_assert_int_eq(seep_gaussians_mistake_scales(&g), 0);
    ck_assert_float_eq(g.trained.parameters.log_scales[5][1], scale);
    ck_assert_float_eq_tol(g.trained.scales[5][1], expf(scale), 1e-6f);
    ck_assert_int_eq(seep_gaussians_largest_scale(&g, &blown), 0);
    ck_assert_float_ge(blown, 1);
    g.trained.scales[7][0] = largest / 2;
    ck_assert_int_eq(seep_gaussians_clamp_scales(&g, largest), 0);
    ck_assert_float_eq(g.trained.scales[5][1], largest);
    ck_assert_float_eq(g.trained.scales[7][0], largest / 2);
    ck_assert_float_eq_tol(expf(g.trained.parameters.log_scales[5][1]), largest, 1e-5f);
    seep_gaussians_fini(&g);
    seep_views_fini(&views);
}

TEST(the_transparent_go_with_all_their_rows)
{
    struct seep_views views = read_scene(1e9);
    struct seep_gaussians g = gaussians_of(&views);
    const size_t n = g.n;
    size_t pruned;

    for (size_t i = 0; i < n; i++) {
        g.trained.parameters.logits[i] = mark(i, 0);
        g.trained.second.sh[i * SH_FLOATS + 7] = mark(i, 7);
        g.pull[i] = (float)i;
        g.trained.opacities[i] = i % 3 ? 0.5f : 0.004f;
    }
    ck_assert_int_eq(seep_gaussians_prune(&g, 0.005f, &pruned), 0);
    ck_assert_uint_eq(pruned, (n + 2) / 3);
    ck_assert_uint_eq(g.n, n - pruned);
    for (size_t i = 0; i < g.n; i++) {
        size_t was = i / 2 * 3 + 1 + i % 2;
        ck_assert_float_eq(g.trained.parameters.logits[i], mark(was, 0));
        ck_assert_float_eq(g.trained.second.sh[i * SH_FLOATS + 7], mark(was, 7));
        ck_assert_float_eq(g.pull[i], (float)was);
    }
    ck_assert_int_eq(seep_gaussians_prune(&g, 2, &pruned), 0); /* someone must stay */
    ck_assert_uint_eq(pruned, 0);
    seep_gaussians_fini(&g);
    seep_views_fini(&views);
}

TEST(a_reset_leaves_nobody_opaque_and_their_moments_0)
{
    struct seep_views views = read_scene(1e9);
    struct seep_gaussians g = gaussians_of(&views);

    g.trained.first.logits[4] = 3;
    g.trained.second.logits[4] = 3;
    g.trained.parameters.logits[5] = -9;
    g.trained.opacities[5] = 1e-4f;
    ck_assert_int_eq(seep_gaussians_reset_opacities(&g), 0);
    ck_assert_float_eq_tol(g.trained.opacities[4], 0.01f, 1e-6f);
    ck_assert_float_eq_tol(1 / (1 + expf(-g.trained.parameters.logits[4])), 0.01f, 1e-6f);
    ck_assert_float_eq(g.trained.first.logits[4], 0);
    ck_assert_float_eq(g.trained.second.logits[4], 0);
    ck_assert_float_eq(g.trained.opacities[5], 1e-4f);
    ck_assert_float_eq(g.trained.parameters.logits[5], -9);
    seep_gaussians_fini(&g);
    seep_views_fini(&views);
}

TEST(a_model_comes_back_from_its_checkpoint_and_a_cut_one_is_refused)
{
    struct seep_views views = read_scene(1e9);
    struct seep_gaussians g = gaussians_of(&views), back;
    FILE *file = tmpfile();

    ck_assert_ptr_nonnull(file);
    for (size_t i = 0; i < g.n; i++)
        g.trained.second.rotations[i][2] = mark(i, 2);
    ck_assert_int_eq(seep_gaussians_checkpoint(&g, file), 0);
    long bytes = ftell(file);
    rewind(file);
    ck_assert_int_eq(seep_gaussians_restore(file, stream, &back), 0);
    ck_assert_uint_eq(back.n, g.n);
    ck_assert_mem_eq(back.trained.parameters.sh, g.trained.parameters.sh,
                     g.n * SH_FLOATS * sizeof(float));
    ck_assert_mem_eq(back.trained.second.rotations, g.trained.second.rotations,
                     g.n * sizeof *g.trained.second.rotations);
    ck_assert_mem_eq(back.trained.opacities, g.trained.opacities, g.n * sizeof(float));
    seep_gaussians_fini(&back);
    ck_assert_int_eq(ftruncate(fileno(file), bytes - 1), 0);
    rewind(file);
    ck_assert_int_eq(seep_gaussians_restore(file, stream, &back), -SEEP_EIO);
    fclose(file);
    seep_gaussians_fini(&g);
    seep_views_fini(&views);
}

TEST(there_are_never_fewer_and_never_more_than_twice_as_many)
{
    struct seep_views views = read_scene(1e9);
    struct seep_gaussians g = gaussians_of(&views);

    ck_assert_int_eq(seep_gaussians_densify(&g, g.n - 1, 1, 1), -SEEP_EINVAL);
    ck_assert_int_eq(seep_gaussians_densify(&g, 2 * g.n + 1, 1, 1), -SEEP_EINVAL);
    ck_assert_int_eq(seep_gaussians_densify(&g, 2 * g.n, 1, 1), 0);
    ck_assert_uint_eq(g.n, 2 * POINTS);
    seep_gaussians_fini(&g);
    seep_views_fini(&views);
}

TEST(densification_ends_in_the_first_half_with_the_number_that_was_asked_for)
{
    size_t n = 1000;

    for (unsigned i = 0; i < SEEP_SPLAT_DENSIFICATIONS; i++) {
        size_t next = seep_splat_densified(i, 1000, 16000);
        ck_assert_uint_gt(next, n);
        ck_assert_uint_le(next, 2 * n);
        n = next;
        ck_assert_uint_ge(seep_splat_densification_step(i, 5), 1);
        ck_assert_uint_lt(seep_splat_densification_step(i, 1000), 500);
    }
    ck_assert_uint_eq(n, 16000);
}

/* ---- training -------------------------------------------------------------------------------- */

static struct seep_splat_result train(const struct seep_views *views,
                                      enum seep_camera_policy policy, bool carries, unsigned epochs,
                                      const char *pictures)
{
    const struct seep_splat_job job = {.views = views,
                                       .policy = policy,
                                       .carries = carries,
                                       .epochs = epochs,
                                       .n_last = 4 * views->n_points,
                                       .seed = 1,
                                       .pictures = pictures,
                                       .stream = stream};
    struct seep_splat_result result;
    struct seep_error err = {0};

    ck_assert_msg(seep_splat_train(&job, &result, &err) == 0, "%s %s", err.file, err.text);
    ck_assert_uint_eq(result.steps, epochs * views->n);
    ck_assert_uint_eq(result.n_last, 4 * views->n_points);
    return result;
}

TEST(training_brings_the_pictures_nearer_to_the_photos)
{
    struct seep_views views = read_scene(1e9);
    struct seep_splat_result r = train(&views, SEEP_CAMERAS_EVICTING, false, 15, NULL);

    ck_assert_double_ge(r.last.psnr_db, r.first.psnr_db + 5);
    ck_assert_double_le(r.last.l1, 0.6 * r.first.l1);
    seep_views_fini(&views);
}

TEST(training_what_is_seen_leaves_the_rest_as_it_was)
{
    struct seep_views views = read_scene(1e9);
    struct seep_gaussians g = gaussians_of(&views);
    const struct seep_splat_job job = {.views = &views,
                                       .policy = SEEP_CAMERAS_EVICTING,
                                       .steps_seen = true,
                                       .epochs = 15,
                                       .n_last = 4 * views.n_points,
                                       .seed = 1,
                                       .stream = stream};
    const struct seep_splat_rates rates = seep_splat_rates_of_paper(1);
    uint32_t *offsets = calloc(g.n + 1, sizeof *offsets);
    struct seep_splat_result r;
    struct seep_seen_check check;
    struct seep_error err = {0};

    ck_assert_msg(seep_splat_train(&job, &r, &err) == 0, "%s %s", err.file, err.text);
    ck_assert_double_ge(r.last.psnr_db, r.first.psnr_db + 5);
    ck_assert(r.seen > 0 && r.seen <= 1);
    ck_assert_uint_gt(r.check.n_seen, 0);
    ck_assert_uint_eq(r.check.apart, 0);
    ck_assert_uint_eq(r.check.moved, 0);
    /* A step of half of them: the others keep their numbers, though their gradients are not 0. */
    for (size_t i = 0; i < g.n; i++) {
        offsets[i + 1] = offsets[i] + (i % 2 ? 3 : 0);
        for (int k = 0; k < 3; k++)
            g.gradients.means[i][k] = 1;
    }
    float first[2][3];
    memcpy(first, g.trained.parameters.means, sizeof first);
    ck_assert_int_eq(seep_gaussians_check_seen(&g, &rates, 1, offsets, &check), 0);
    ck_assert_uint_eq(check.n_seen, g.n / 2);
    ck_assert(check.apart == 0 && check.moved == 0);
    ck_assert_mem_eq(g.trained.parameters.means[0], first[0], sizeof first[0]);
    ck_assert_float_ne(g.trained.parameters.means[1][0], first[1][0]);
    free(offsets);
    seep_gaussians_fini(&g);
    seep_views_fini(&views);
}

TEST(a_job_of_one_step_densifies_all_the_same)
{
    struct seep_views views = read_scene(1e9);

    for (size_t i = 1; i < views.n; i++)
        free(views.list[i].photo);
    views.n = 1;
    train(&views, SEEP_CAMERAS_EAGER, false, 1, NULL);
    seep_views_fini(&views);
}

TEST(how_pictures_are_kept_changes_nothing_that_is_learnt)
{
    static const struct {
        enum seep_camera_policy policy;
        bool carries;
    } ways[] = {{SEEP_CAMERAS_CACHED, false},  {SEEP_CAMERAS_EVICTING, false},
                {SEEP_CAMERAS_EVICTING, true}, {SEEP_CAMERAS_ON_HOST, false},
                {SEEP_CAMERAS_DECODED, false}, {SEEP_CAMERAS_FLOATS_ON_HOST, false}};
    struct seep_views views = read_scene(1e9);
    struct seep_splat_result eager = train(&views, SEEP_CAMERAS_EAGER, false, 3, NULL);

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct seep_splat_result r = train(&views, ways[i].policy, ways[i].carries, 3, NULL);
        ck_assert_double_eq(r.last.mse, eager.last.mse);
    }
    seep_views_fini(&views);
}

TEST(pictures_show_what_was_rendered_beside_the_photo)
{
    struct seep_views views = read_scene(1e9);
    struct seep_error err = {0};
    struct seep_image *image;
    char path[160];

    train(&views, SEEP_CAMERAS_EVICTING, false, 2, scene);
    static const unsigned steps[] = {0, 6, 24};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        snprintf(path, sizeof path, "%s/view-0-step-%05u.png", scene, steps[i]);
        ck_assert_msg(seep_image_read(path, &image, &err) == 0, "%s %s", err.file, err.text);
        ck_assert_uint_eq(image->width, 2 * WIDTH);
        ck_assert_uint_eq(image->height, HEIGHT);
        uint8_t *truth;
        ck_assert_int_eq(seep_photo_read(&views.list[0], &truth, &err), 0);
        for (size_t y = 0; y < HEIGHT; y++)
            ck_assert_mem_eq(image->pixels + (2 * y + 1) * 3 * WIDTH, truth + y * 3 * WIDTH,
                             3 * WIDTH);
        free(truth);
        seep_image_free(image);
    }
    seep_views_fini(&views);
}

TEST(a_photo_lost_in_the_midst_ends_the_job_with_its_name)
{
    struct seep_views views = read_scene(1e9);
    const struct seep_splat_job job = {.views = &views,
                                       .policy = SEEP_CAMERAS_EVICTING,
                                       .carries = true,
                                       .epochs = 2,
                                       .n_last = 4 * views.n_points,
                                       .stream = stream};
    struct seep_splat_result result;
    struct seep_error err = {0};

    /* Of 12 views, 0, 1, 3, 4 … are looked at before the first step; 2 is not. */
    ck_assert_int_eq(unlink(views.list[2].photo), 0);
    ck_assert_int_eq(seep_splat_train(&job, &result, &err), -SEEP_EIO);
    ck_assert_str_eq(err.file, views.list[2].photo);
    seep_views_fini(&views);
}

/* ---- the scenario ---------------------------------------------------------------------------- */

static double measured_of(const char *variant, const char *data, double scale, unsigned epochs,
                          const char *figure, const char *other, double *value)
{
    const struct seep_scenario_options options = {
        .variant = variant, .scale = scale, .data = data, .seed = 1, .epochs = epochs};
    struct seep_error err = {0};
    json_t *measured = json_object();

    ck_assert_msg(seep_splat.run(&options, measured, &err) == 0, "%s %s", err.file, err.text);
    double result = json_number_value(json_object_get(measured, figure));
    *value = json_number_value(json_object_get(measured, other));
    json_decref(measured);
    return result;
}

TEST(the_scenario_runs_on_the_data_that_it_makes)
{
    struct seep_error err = {0};
    double last;
    char data[128];

    snprintf(data, sizeof data, "%s/data", scene);
    ck_assert_int_eq(mkdir(data, 0777), 0);
    ck_assert_int_eq(seep_splat.make_data(data, 0.001, 1, &err), 0);
    for (size_t i = 0; seep_splat.variants[i].name; i++) {
        const char *name = seep_splat.variants[i].name;
        if (strncmp(name, "cat", 3) == 0 || strcmp(name, "preallocated") == 0)
            continue; /* they have a suite of their own: nothing is trained */
        double first = measured_of(name, data, 0.001, 1, "psnr_first", "psnr_last", &last);
        /* 53 steps are too few to become opaque again after the reset. */
        if (strcmp(name, "eager-eval") != 0)
            ck_assert_double_gt(last, first);
    }
    double usual = measured_of("pair-spike", data, 0.001, 1, "pairs_usual", "pairs_largest", &last);
    ck_assert_double_gt(last, 16 * usual);
}

TEST(a_scene_keeps_the_seeds_ratio_of_pictures_to_gaussians_at_any_scale)
{
    static const double scales[] = {1, 0.1, 0.01, 0.002, 0.001, 1e-5};
    const double seed = 600 * 1600.0 * 1066 / 1e6;

    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        struct seep_made_up s = seep_made_up_size(scales[i]);
        double ratio = (double)s.n_photos * s.width * s.height / (double)s.n_points;
        ck_assert_double_eq_tol(ratio / seed, 1, 0.05);
    }
    ck_assert_uint_eq(seep_made_up_size(0.01).n_photos, 600);
    ck_assert_uint_eq(seep_made_up_size(1).n_points, 1000000);
}

/* 23 photographs of a real camera, of 1000 × 658. */
TEST(a_real_scene_is_learnt, .left_out = !getenv("SEEP_DATA"))
{
    char data[4096];
    double last, loss_last;

    snprintf(data, sizeof data, "%s/colmap-scene", getenv("SEEP_DATA"));
    /* Seeds 1 to 4: 4.8 to 6.9 dB, the loss to 0.39 to 0.48. */
    double first = measured_of("lazy-evicting", data, 0.002, 12, "psnr_first", "psnr_last", &last);
    ck_assert_double_ge(last, first + 3);
    double loss_first =
        measured_of("eager", data, 0.002, 12, "loss_first", "loss_last", &loss_last);
    ck_assert_double_le(loss_last, 0.6 * loss_first);
}

SUITE("splat training", .setup = make_scene, .teardown = remove_scene)
