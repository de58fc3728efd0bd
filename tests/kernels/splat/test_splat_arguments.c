/* Invalid arguments of the splatting rasteriser: refused, and nothing is written. */
#include "kernels/splat/splat_math.h"
#include "tests/kernels/splat/raster_fixture.h"
#include "tests/suite.h"

static void spoil_arguments(int how, struct seep_splat_camera *c, struct seep_splat_model *m,
                            struct seep_splat_projected *p)
{
    switch (how) {
    case 0:
        c->width = 0;
        break;
    case 1:
        c->height = 16385;
        break;
    case 2:
        c->fx = 0;
        break;
    case 3:
        c->fy = NAN;
        break;
    case 4:
        c->rotation[1][2] = INFINITY;
        break;
    case 5:
        m->sh_degree = 4;
        break;
    case 6:
        m->sh_degree = -1;
        break;
    case 7:
        m->sh_stride = 3;
        break;
    case 8:
        m->n = (size_t)1 << 31;
        break;
    case 9:
        m->opacities = NULL;
        break;
    case 10:
        p->offsets = NULL;
        break;
    case 11:
        p->prints = (struct seep_splat_print *)((char *)p->prints + 8);
        break;
    default:
        p->prints = NULL;
    }
}

enum { N = 100, GUARD = 256, PATTERN = 0xa5 };

/* A block of the stream's memory that is not to change. */
struct kept {
    void *block;
    size_t bytes;
};

static void fill(struct seep_stream *stream, const struct kept *kept, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void *pattern = malloc(kept[i].bytes);
        ck_assert_ptr_nonnull(pattern);
        memset(pattern, PATTERN, kept[i].bytes);
        ck_assert_int_eq(seep_stream_upload(stream, kept[i].block, pattern, kept[i].bytes), 0);
        free(pattern);
    }
}

static void assert_filled(struct seep_stream *stream, const struct kept *kept, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char *copy = malloc(kept[i].bytes);
        ck_assert_ptr_nonnull(copy);
        ck_assert_int_eq(seep_stream_download(stream, copy, kept[i].block, kept[i].bytes), 0);
        for (size_t k = 0; k < kept[i].bytes; k++)
            ck_assert_msg(copy[k] == PATTERN, "byte %zu of array %zu", k, i);
        free(copy);
    }
}

/* What each stage writes, of N Gaussians with 4 coefficients stored. */
enum { PROJECTED = 2, BINS = 2, PICTURE = 3, GRADIENTS = 6, ALL = 13 };
enum { PIXELS = 41 * 35, TILES = 3 * 3 };

static void list_outputs(const struct seep_splat_room *r, struct kept kept[ALL])
{
    const struct kept all[ALL] = {
        {r->projected.prints, N * 48},
        {r->projected.offsets, (N + 1) * 4},
        {r->bins.gaussians, r->projected.n_pairs * 4},
        {r->bins.tile_start, (TILES + 1) * 4},
        {r->picture.image, PIXELS * 12},
        {r->picture.transmittance, PIXELS * 4},
        {r->picture.last, PIXELS * 4},
        {r->gradients.means, N * 12},
        {r->gradients.scales, N * 12},
        {r->gradients.rotations, N * 16},
        {r->gradients.opacities, N * 4},
        {r->gradients.sh, N * 48},
        {r->gradients.means2d, N * 8},
    };

    memcpy(kept, all, sizeof all);
}

static void open_room(struct seep_splat_room *r, struct seep_splat_host *h,
                      struct seep_stream *stream)
{
    make_scene(h, N, 1, 1, 3);
    ck_assert_int_eq(seep_splat_room_init(r, stream, &straight, &h->model), 0);
    ck_assert_int_eq(seep_splat_room_forward(r, NULL), 0);
    ck_assert_int_eq(seep_splat_room_backward(r, NULL), 0);
}

TEST(wrong_arguments_are_refused_and_nothing_is_written, .to = n_streams())
{
    struct seep_stream *s = make_stream(_i);
    struct seep_splat_host h;
    struct seep_splat_room r;
    struct kept kept[ALL];

    open_room(&r, &h, s);
    size_t bytes = r.scratch_bytes, n_pairs = r.projected.n_pairs;
    list_outputs(&r, kept);
    fill(s, kept, ALL);
    for (int how = 0; how < 13; how++) {
        struct seep_splat_camera c = straight;
        struct seep_splat_model m = r.model;
        struct seep_splat_projected p = r.projected;
        spoil_arguments(how, &c, &m, &p);
        ck_assert_int_eq(seep_splat_project(&c, &m, &p, r.scratch, &bytes, s), -SEEP_EINVAL);
        ck_assert_uint_eq(p.n_pairs, n_pairs);
    }
    ck_assert_int_eq(seep_splat_project(NULL, &r.model, &r.projected, NULL, &bytes, s),
                     -SEEP_EINVAL);
    struct seep_splat_bins bins = {r.bins.gaussians, NULL};
    struct seep_splat_picture picture = {r.picture.image, NULL, r.picture.last};
    ck_assert_int_eq(seep_splat_bin(&straight, N, &r.projected, &bins, r.scratch, &bytes, s),
                     -SEEP_EINVAL);
    ck_assert_int_eq(seep_splat_render(&straight, &r.model, &r.projected, &r.bins, &picture, s),
                     -SEEP_EINVAL);
    ck_assert_int_eq(seep_splat_backward(&straight, &r.model, &r.projected, &r.bins, &r.picture,
                                         NULL, &r.gradients, r.scratch, &bytes, s),
                     -SEEP_EINVAL);
    assert_filled(s, kept, ALL);
    seep_splat_room_fini(&r);
    seep_splat_host_fini(&h);
    seep_stream_destroy(s);
}

typedef int stage_call(struct seep_splat_room *r, void *scratch, size_t *bytes);

static int call_project(struct seep_splat_room *r, void *scratch, size_t *bytes)
{
    return seep_splat_project(&r->camera, &r->model, &r->projected, scratch, bytes, r->stream);
}

static int call_bin(struct seep_splat_room *r, void *scratch, size_t *bytes)
{
    return seep_splat_bin(&r->camera, N, &r->projected, &r->bins, scratch, bytes, r->stream);
}

static int call_backward(struct seep_splat_room *r, void *scratch, size_t *bytes)
{
    return seep_splat_backward(&r->camera, &r->model, &r->projected, &r->bins, &r->picture,
                               r->image_grad, &r->gradients, scratch, bytes, r->stream);
}

/* Too little or oddly placed: refused, neither scratch nor outputs are touched. Just enough:
 * nothing is written past it. */
static void check_scratch(struct seep_splat_room *r, stage_call *call, const struct kept *outputs,
                          size_t n_outputs)
{
    struct kept scratch = {NULL, 0};
    size_t needed = 0;

    ck_assert_int_eq(call(r, NULL, &needed), 0);
    scratch.bytes = needed + GUARD;
    ck_assert_int_eq(seep_stream_alloc(r->stream, scratch.bytes, &scratch.block), 0);
    fill(r->stream, &scratch, 1);
    fill(r->stream, outputs, n_outputs);
    size_t bytes = needed - 1;
    ck_assert_int_eq(call(r, scratch.block, &bytes), -SEEP_EINVAL);
    bytes = needed;
    ck_assert_int_eq(call(r, (char *)scratch.block + 32, &bytes), -SEEP_EINVAL);
    assert_filled(r->stream, &scratch, 1);
    assert_filled(r->stream, outputs, n_outputs);
    ck_assert_int_eq(call(r, scratch.block, &bytes), 0);
    ck_assert_int_eq(seep_stream_wait(r->stream), 0);
    struct kept guard = {(char *)scratch.block + needed, GUARD};
    assert_filled(r->stream, &guard, 1);
    seep_stream_free(r->stream, scratch.block);
}

TEST(scratch_too_little_or_askew_is_refused_and_nothing_is_written_past_it, .to = n_streams())
{
    struct seep_stream *stream = make_stream(_i);
    struct seep_splat_host h;
    struct seep_splat_room r;
    struct kept kept[ALL];

    open_room(&r, &h, stream);
    list_outputs(&r, kept);
    check_scratch(&r, call_project, kept, PROJECTED);
    check_scratch(&r, call_bin, kept + PROJECTED, BINS);
    check_scratch(&r, call_backward, kept + PROJECTED + BINS + PICTURE, GRADIENTS);
    seep_splat_room_fini(&r);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}

/* 4200 Gaussians that cover all of 1024 × 1024 tiles. */
TEST(more_pairs_than_can_be_counted_are_refused)
{
    enum { MANY = 4200 };
    struct seep_stream *stream = make_stream(CPU_3);
    struct seep_splat_camera c = {.width = 16384,
                                  .height = 16384,
                                  .fx = 16384,
                                  .fy = 16384,
                                  .cx = 8192,
                                  .cy = 8192,
                                  .rotation = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    static _Alignas(16) struct seep_splat_print prints[MANY];
    static uint32_t offsets[MANY + 1];
    static _Alignas(64) uint64_t scratch[64];
    struct seep_splat_projected p = {.prints = prints, .offsets = offsets};
    struct seep_splat_host h;
    size_t bytes = sizeof scratch;

    ck_assert_int_eq(seep_splat_host_init(&h, MANY, 0), 0);
    for (size_t i = 0; i < MANY; i++) {
        h.means[i][2] = 5;
        h.scales[i][0] = h.scales[i][1] = h.scales[i][2] = 100;
        h.rotations[i][0] = 1;
        h.opacities[i] = 0.9f;
    }
    ck_assert_int_eq(seep_splat_project(&c, &h.model, &p, scratch, &bytes, stream), -SEEP_EINVAL);
    h.model.n = 4095;
    ck_assert_int_eq(seep_splat_project(&c, &h.model, &p, scratch, &bytes, stream), 0);
    ck_assert_uint_eq(p.n_pairs, (size_t)4095 << 20);
    ck_assert_uint_eq(offsets[4095], (uint32_t)4095 << 20);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}

SUITE("splat arguments")
