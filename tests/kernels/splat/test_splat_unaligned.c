/* Arrays that lie at a multiple of four bytes and no more (prints: of 16): a caller may carve them
 * out of one block. The same numbers must come out as from aligned ones. */
#include "tests/kernels/splat/raster_fixture.h"
#include "tests/suite.h"

enum { GAUSSIANS = 300, ODD = 4, PRINT_ODD = 16, ARRAYS = 19, PRINTS = 5 };

struct array {
    void **at;
    size_t bytes;
};

/* All of a room's arrays with room for its pairs. */
static void list_arrays(struct seep_splat_room *r, struct array out[ARRAYS])
{
    struct seep_splat_model *m = &r->model;
    struct seep_splat_projected *p = &r->projected;
    struct seep_splat_gradients *g = &r->gradients;
    size_t n = m->n, sh = n * (size_t)m->sh_stride * 3 * sizeof(float);
    size_t pixels = (size_t)r->camera.width * (size_t)r->camera.height;
    size_t tiles = (size_t)((r->camera.width + 15) / 16) * (size_t)((r->camera.height + 15) / 16);
    const struct array all[ARRAYS] = {
        {(void **)&m->means, n * sizeof *m->means},
        {(void **)&m->scales, n * sizeof *m->scales},
        {(void **)&m->rotations, n * sizeof *m->rotations},
        {(void **)&m->opacities, n * sizeof *m->opacities},
        {(void **)&m->sh, sh},
        {(void **)&p->prints, n * sizeof *p->prints},
        {(void **)&p->offsets, (n + 1) * sizeof *p->offsets},
        {(void **)&r->bins.gaussians, r->pairs_room * sizeof *r->bins.gaussians},
        {(void **)&r->bins.tile_start, (tiles + 1) * sizeof *r->bins.tile_start},
        {(void **)&r->picture.image, pixels * 3 * sizeof *r->picture.image},
        {(void **)&r->picture.transmittance, pixels * sizeof *r->picture.transmittance},
        {(void **)&r->picture.last, pixels * sizeof *r->picture.last},
        {(void **)&r->image_grad, pixels * 3 * sizeof *r->image_grad},
        {(void **)&g->means, n * sizeof *g->means},
        {(void **)&g->scales, n * sizeof *g->scales},
        {(void **)&g->rotations, n * sizeof *g->rotations},
        {(void **)&g->opacities, n * sizeof *g->opacities},
        {(void **)&g->sh, sh},
        {(void **)&g->means2d, n * sizeof *g->means2d},
    };

    memcpy(out, all, sizeof all);
}

static size_t odd_of(int array)
{
    return array == PRINTS ? PRINT_ODD : ODD;
}

/* Each array becomes a copy that lies some bytes into a block; `aligned` keeps the old ones. */
static void make_odd(struct seep_splat_room *r, void *aligned[ARRAYS])
{
    struct array arrays[ARRAYS];

    list_arrays(r, arrays);
    for (int k = 0; k < ARRAYS; k++) {
        size_t bytes = arrays[k].bytes, odd = odd_of(k);
        void *block, *copy = malloc(bytes);
        ck_assert_int_eq(seep_stream_alloc(r->stream, bytes + odd, &block), 0);
        ck_assert_int_eq(seep_stream_download(r->stream, copy, *arrays[k].at, bytes), 0);
        ck_assert_int_eq(seep_stream_upload(r->stream, (char *)block + odd, copy, bytes), 0);
        free(copy);
        aligned[k] = *arrays[k].at;
        *arrays[k].at = (char *)block + odd;
    }
}

static void make_aligned(struct seep_splat_room *r, void *aligned[ARRAYS])
{
    struct array arrays[ARRAYS];

    list_arrays(r, arrays);
    for (int k = 0; k < ARRAYS; k++) {
        seep_stream_free(r->stream, (char *)*arrays[k].at - odd_of(k));
        *arrays[k].at = aligned[k];
    }
}

enum { PICTURE, RESULTS = 7 }; /* the picture, and gradients of six arrays */

/* The picture and all gradients, one after the other; sizes: how many numbers each has. */
static double *results(struct seep_splat_room *r, const float *image_grad, size_t sizes[RESULTS])
{
    size_t n = r->model.n, pixels = (size_t)r->camera.width * (size_t)r->camera.height, total = 0;
    size_t sh = n * (size_t)r->model.sh_stride * 3;
    const size_t all_sizes[RESULTS] = {pixels * 3, 3 * n, 3 * n, 4 * n, n, sh, 2 * n};
    struct seep_splat_gradients g;
    float *image = calloc(pixels, 3 * sizeof *image);

    memcpy(sizes, all_sizes, sizeof all_sizes);
    for (size_t k = 0; k < RESULTS; k++)
        total += sizes[k];
    double *all = calloc(total, sizeof *all), *to = all;
    alloc_gradients(&g, &r->model);
    ck_assert(image && all);
    ck_assert_int_eq(seep_splat_room_forward(r, image), 0);
    ck_assert_int_eq(seep_splat_room_backward(r, image_grad), 0);
    ck_assert_int_eq(seep_splat_room_download(r, &g), 0);
    const float *from[RESULTS] = {image,       *g.means, *g.scales, *g.rotations,
                                  g.opacities, g.sh,     *g.means2d};
    for (size_t k = 0; k < RESULTS; k++)
        for (size_t i = 0; i < sizes[k]; i++)
            *to++ = (double)from[k][i];
    free_gradients(&g);
    free(image);
    return all;
}

/* To the bit, but for gradients on CUDA, where sums come in any order. */
static void check_same(const double *odd, const double *expected, size_t n, bool to_the_bit)
{
    double most = 0, apart = 0;

    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(expected[i]));
        apart = fmax(apart, fabs(odd[i] - expected[i]));
        ck_assert(!isnan(odd[i]));
    }
    ck_assert_double_gt(most, 0);
    ck_assert_double_le(apart, to_the_bit ? 0 : 1e-5 * most);
}

TEST(arrays_at_any_multiple_of_four_bytes_give_the_same, .to = n_streams())
{
    struct seep_stream *stream = make_stream(_i);
    struct seep_splat_camera c = make_camera(70, 45);
    struct seep_splat_host h;
    struct seep_splat_room r;
    void *aligned[ARRAYS];
    static float image_grad[70 * 45 * 3];
    uint64_t seed = 3;
    size_t sizes[RESULTS], from = 0;

    make_scene(&h, GAUSSIANS, 3, 2, 12);
    for (size_t i = 0; i < sizeof image_grad / sizeof *image_grad; i++)
        image_grad[i] = (float)next_number(&seed);
    ck_assert_int_eq(seep_splat_room_init(&r, stream, &c, &h.model), 0);
    double *expected = results(&r, image_grad, sizes);
    make_odd(&r, aligned);
    double *odd = results(&r, image_grad, sizes);
    make_aligned(&r, aligned);
    for (int k = 0; k < RESULTS; from += sizes[k++])
        check_same(odd + from, expected + from, sizes[k], k == PICTURE || _i != CUDA_0);
    free(odd);
    free(expected);
    seep_splat_room_fini(&r);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}

SUITE("splat unaligned")
