/* Splatting where lists are long, tiles many, and arrays lie oddly: on every stream there is. Pairs
 * are held against what makes them right, pictures and gradients against the double reference. */
#include "tests/kernels/splat/raster_fixture.h"
#include "tests/suite.h"

enum { MAX_STREAMS = 3 };

static struct seep_stream *streams[MAX_STREAMS];
static int n_in_use;

static void open_streams(void)
{
    for (n_in_use = 0; n_in_use < n_streams(); n_in_use++)
        streams[n_in_use] = make_stream(n_in_use);
}

static void close_streams(void)
{
    for (int k = 0; k < n_in_use; k++)
        seep_stream_destroy(streams[k]);
}

static float uniform(uint64_t *state) /* −1 … 1 */
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (float)(*state >> 40) / (float)(1 << 23) - 1;
}

struct scene {
    int width, height, sh_degree, sh_stride;
    size_t n;
    float spread, scale, opacity; /* of means across, of lengths, of the most opaque */
};

/* Gaussians before the camera, some at the same depth, some culled, and some with a NaN. */
static void fill_scene(struct seep_splat_host *host, const struct scene *s)
{
    struct seep_splat_model *m = &host->model;
    uint64_t state = s->n;

    ck_assert_int_eq(seep_splat_host_init(host, s->n, s->sh_degree), 0);
    free(host->sh);
    host->sh = calloc(s->n * (size_t)s->sh_stride * 3 + 1, sizeof(float));
    ck_assert_ptr_nonnull(host->sh);
    m->sh = host->sh;
    m->sh_stride = s->sh_stride;
    for (size_t i = 0; i < s->n; i++) {
        host->means[i][0] = s->spread * uniform(&state);
        host->means[i][1] = s->spread * uniform(&state);
        host->means[i][2] = i % 5 == 1 ? 2 : 2 + uniform(&state);
        for (int k = 0; k < 3; k++)
            host->scales[i][k] = s->scale * expf(uniform(&state));
        for (int k = 0; k < 4; k++)
            host->rotations[i][k] = uniform(&state) + (k == 0 ? 1.5f : 0);
        host->opacities[i] = s->opacity * (0.55f + 0.45f * uniform(&state));
        if (i % 31 == 30)
            host->means[i][2] = -1;
        if (i % 37 == 36)
            host->scales[i][1] = NAN;
    }
    for (size_t i = 0; i < s->n * (size_t)s->sh_stride * 3; i++)
        host->sh[i] = uniform(&state);
}

static struct seep_splat_camera camera_of(const struct scene *s)
{
    float width = (float)s->width, height = (float)s->height;

    return (struct seep_splat_camera){
        .width = s->width,
        .height = s->height,
        .fx = width,
        .fy = width * 1.1f,
        .cx = width / 2 - 0.3f,
        .cy = height / 2 + 0.2f,
        .rotation = {{0.8f, 0, -0.6f}, {0, 1, 0}, {0.6f, 0, 0.8f}},
        .translation = {1.2f, 0.05f, 0.4f},
        .background = {0.1f, 0.5f, 0.9f},
    };
}

/* Everything that projection and binning need, each array `odd` bytes into its block. */
struct lists {
    struct seep_stream *stream;
    void *blocks[32];
    int n_blocks;
};

static void *lists_take(struct lists *l, const void *from, size_t bytes, size_t odd)
{
    char *block = NULL;

    ck_assert_int_lt(l->n_blocks, 32);
    ck_assert_int_eq(seep_stream_alloc(l->stream, bytes + odd, (void **)&block), 0);
    l->blocks[l->n_blocks++] = block;
    if (from)
        ck_assert_int_eq(seep_stream_upload(l->stream, block + odd, from, bytes), 0);
    return block + odd;
}

static struct seep_splat_model lists_model(struct lists *l, const struct seep_splat_model *m,
                                           size_t odd)
{
    struct seep_splat_model on = *m;

    on.means = lists_take(l, m->means, m->n * sizeof *m->means, odd);
    on.scales = lists_take(l, m->scales, m->n * sizeof *m->scales, odd);
    on.rotations = lists_take(l, m->rotations, m->n * sizeof *m->rotations, odd);
    on.opacities = lists_take(l, m->opacities, m->n * sizeof *m->opacities, odd);
    on.sh = lists_take(l, m->sh, m->n * (size_t)m->sh_stride * 3 * sizeof *m->sh, odd);
    return on;
}

/*   p  with its rule */
static void lists_project(struct lists *l, const struct seep_splat_camera *camera,
                          const struct seep_splat_model *model, size_t odd,
                          struct seep_splat_projected *p, int status)
{
    size_t n = model->n, bytes = 0;

    p->prints = lists_take(l, NULL, n * sizeof *p->prints, odd * 4); /* of 16 bytes */
    p->offsets = lists_take(l, NULL, (n + 1) * sizeof *p->offsets, odd);
    ck_assert_int_eq(seep_splat_project(camera, model, p, NULL, &bytes, l->stream), 0);
    void *scratch = lists_take(l, NULL, bytes, 0);
    ck_assert_int_eq(seep_splat_project(camera, model, p, scratch, &bytes, l->stream), status);
}

static void lists_free(struct lists *l)
{
    for (int k = 0; k < l->n_blocks; k++)
        seep_stream_free(l->stream, l->blocks[k]);
}

/* What of the lists a host looks at. */
struct seen_lists {
    uint32_t *gaussians, *tile_start, *offsets;
    struct seep_splat_print *prints;
    size_t n_tiles, n_pairs, n_seen;
    enum seep_splat_tile_rule rule;
};

static void *download(struct lists *l, const void *from, size_t bytes)
{
    void *to = malloc(bytes + 1);

    ck_assert_ptr_nonnull(to);
    ck_assert_int_eq(seep_stream_download(l->stream, to, from, bytes), 0);
    return to;
}

/* Every pair once, in its tile, in the order of depth and index: with the right number of pairs,
 * that is all there is to say of them. */
static void assert_sorted(const struct seen_lists *s, size_t n, unsigned tiles_x)
{
    size_t n_seen = 0;

    for (size_t i = 0; i < n; i++) {
        const uint16_t *t = s->prints[i].tiles;
        size_t pairs = s->offsets[i + 1] - s->offsets[i];
        size_t box = (size_t)(t[2] - t[0]) * (size_t)(t[3] - t[1]);
        ck_assert(s->rule == SEEP_SPLAT_TILES_REACHED ? pairs <= box : pairs == box);
        n_seen += pairs > 0;
    }
    ck_assert_uint_eq(s->n_seen, n_seen);
    ck_assert_uint_eq(s->n_pairs, s->offsets[n]);
    ck_assert_uint_eq(s->tile_start[0], 0);
    ck_assert_uint_eq(s->tile_start[s->n_tiles], s->n_pairs);
    for (size_t tile = 0; tile < s->n_tiles; tile++) {
        unsigned x = (unsigned)(tile % tiles_x), y = (unsigned)(tile / tiles_x);
        for (size_t at = s->tile_start[tile]; at < s->tile_start[tile + 1]; at++) {
            uint32_t i = s->gaussians[at];
            ck_assert(i < n && x >= s->prints[i].tiles[0] && x < s->prints[i].tiles[2] &&
                      y >= s->prints[i].tiles[1] && y < s->prints[i].tiles[3]);
            if (at == s->tile_start[tile])
                continue;
            uint32_t before = s->gaussians[at - 1];
            ck_assert(s->prints[before].depth < s->prints[i].depth ||
                      (!(s->prints[before].depth > s->prints[i].depth) && before < i));
        }
    }
}

static void check_lists(const struct scene *s, size_t odd, enum seep_splat_tile_rule rule,
                        struct seep_stream *stream)
{
    struct lists l = {.stream = stream};
    struct seep_splat_camera camera = camera_of(s);
    unsigned tiles_x = ((unsigned)s->width + 15) / 16, tiles_y = ((unsigned)s->height + 15) / 16;
    struct seen_lists seen = {.n_tiles = (size_t)tiles_x * tiles_y};
    struct seep_splat_host host;
    struct seep_splat_projected p = {.rule = rule};
    struct seep_splat_bins bins;
    size_t bytes = 0;

    fill_scene(&host, s);
    struct seep_splat_model model = lists_model(&l, &host.model, odd);
    lists_project(&l, &camera, &model, odd, &p, 0);
    ck_assert_uint_gt(p.n_pairs, 0);
    bins.gaussians = lists_take(&l, NULL, p.n_pairs * sizeof(uint32_t), odd);
    bins.tile_start = lists_take(&l, NULL, (seen.n_tiles + 1) * sizeof(uint32_t), odd);
    ck_assert_int_eq(seep_splat_bin(&camera, s->n, &p, &bins, NULL, &bytes, stream), 0);
    void *scratch = lists_take(&l, NULL, bytes, 0);
    bytes -= 1;
    ck_assert_int_eq(seep_splat_bin(&camera, s->n, &p, &bins, scratch, &bytes, stream),
                     -SEEP_EINVAL);
    bytes += 1;
    ck_assert_int_eq(seep_splat_bin(&camera, s->n, &p, &bins, scratch, &bytes, stream), 0);

    seen.n_pairs = p.n_pairs;
    seen.n_seen = p.n_seen;
    seen.rule = rule;
    seen.offsets = download(&l, p.offsets, (s->n + 1) * sizeof(uint32_t));
    seen.gaussians = download(&l, bins.gaussians, p.n_pairs * sizeof(uint32_t));
    seen.tile_start = download(&l, bins.tile_start, (seen.n_tiles + 1) * sizeof(uint32_t));
    seen.prints = download(&l, p.prints, s->n * sizeof *p.prints);
    assert_sorted(&seen, s->n, tiles_x);
    free(seen.gaussians);
    free(seen.tile_start);
    free(seen.offsets);
    free(seen.prints);
    seep_splat_host_fini(&host);
    lists_free(&l);
}

TEST(pairs_come_by_tile_then_depth_however_many_tiles, .to = SEEP_SPLAT_TILE_RULES)
{
    static const struct scene scenes[] = {
        {16, 16, 0, 1, 700, 0.5f, 0.1f, 1},     /* one tile */
        {100, 100, 0, 1, 1500, 0.7f, 0.02f, 1}, /* small Gaussians */
        {256, 256, 0, 1, 300, 0.5f, 0.3f, 1},   /* 256 tiles: keys of 8 bits */
        {272, 256, 0, 1, 300, 0.5f, 0.3f, 1},   /* 272: of 9 */
        {272, 256, 0, 1, 9, 0.3f, 0.02f, 1},    /* a handful: CUDA sorts them otherwise */
        {640, 480, 0, 1, 40, 0.3f, 3, 1},       /* each over the whole picture */
        {4112, 4096, 0, 1, 60, 0.4f, 0.06f, 1}, /* 65,792: keys beyond 16 bits */
    };

    for (int k = 0; k < n_in_use; k++)
        for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
            check_lists(&scenes[i], 0, (enum seep_splat_tile_rule)_i, streams[k]);
}

TEST(arrays_may_lie_at_any_multiple_of_four_bytes)
{
    static const struct scene scene = {70, 45, 3, 16, 300, 0.5f, 0.1f, 1};

    for (int k = 0; k < n_in_use; k++)
        check_lists(&scene, 4, SEEP_SPLAT_TILES_BOX, streams[k]);
}

TEST(pairs_that_no_longer_fit_32_bits_are_refused)
{
    /* Over a picture of 2^20 tiles, 4096 that cover it all make 2^32 pairs. */
    static const struct scene scene = {16384, 16384, 0, 1, 4700, 0.1f, 100, 1};

    for (int k = 0; k < n_in_use; k++) {
        struct lists l = {.stream = streams[k]};
        struct seep_splat_camera camera = camera_of(&scene);
        struct seep_splat_host host;
        struct seep_splat_projected p = {.n_pairs = 0};

        fill_scene(&host, &scene);
        struct seep_splat_model model = lists_model(&l, &host.model, 0);
        lists_project(&l, &camera, &model, 0, &p, -SEEP_EINVAL);
        seep_splat_host_fini(&host);
        lists_free(&l);
    }
}

struct reference_result {
    struct seep_reference_model model, grads;
    double *image, *image_grad, (*means2d)[2];
    float *image_grad_f;
    size_t values;
};

static void reference_of(const struct scene *s, const struct seep_splat_model *model,
                         struct reference_result *r)
{
    struct seep_splat_camera camera = camera_of(s);
    uint64_t state = 1;

    r->values = (size_t)s->width * (size_t)s->height * 3;
    r->image = calloc(r->values, sizeof *r->image);
    r->image_grad = calloc(r->values, sizeof *r->image_grad);
    r->image_grad_f = calloc(r->values, sizeof *r->image_grad_f);
    r->means2d = calloc(s->n, sizeof *r->means2d);
    for (size_t i = 0; i < r->values; i++)
        r->image_grad[i] = r->image_grad_f[i] = uniform(&state);
    ck_assert_int_eq(seep_reference_model_from(&r->model, model), 0);
    ck_assert_int_eq(seep_reference_model_init(&r->grads, s->n, s->sh_degree, s->sh_stride), 0);
    ck_assert_int_eq(seep_reference_render(&camera, &r->model, r->image, NULL, NULL), 0);
    ck_assert_int_eq(
        seep_reference_backward(&camera, &r->model, r->image_grad, &r->grads, r->means2d), 0);
}

static void reference_free(struct reference_result *r)
{
    seep_reference_model_free(&r->model);
    seep_reference_model_free(&r->grads);
    free(r->image);
    free(r->image_grad);
    free(r->image_grad_f);
    free(r->means2d);
}

static void check_room(const struct scene *s, const struct seep_splat_model *model,
                       const struct reference_result *r, struct seep_stream *stream)
{
    struct seep_splat_camera camera = camera_of(s);
    size_t n = s->n, sh = n * (size_t)s->sh_stride * 3;
    float *image = malloc(r->values * sizeof *image), *g = malloc((13 * n + sh) * sizeof *g);
    struct seep_splat_gradients to = {.means = (float(*)[3])g,
                                      .scales = (float(*)[3])(g + 3 * n),
                                      .rotations = (float(*)[4])(g + 6 * n),
                                      .means2d = (float(*)[2])(g + 10 * n),
                                      .opacities = g + 12 * n,
                                      .sh = g + 13 * n};
    struct seep_splat_room room;

    ck_assert_int_eq(seep_splat_room_init(&room, stream, &camera, model), 0);
    ck_assert_int_eq(seep_splat_room_forward(&room, image), 0);
    ck_assert_int_eq(seep_splat_room_backward(&room, r->image_grad_f), 0);
    ck_assert_int_eq(seep_splat_room_download(&room, &to), 0);
    ck_assert_double_lt(relative_error(image, r->image, r->values), 1e-4);
    ck_assert_double_lt(relative_error(*to.means, *r->grads.means, 3 * n), 1e-3);
    ck_assert_double_lt(relative_error(*to.scales, *r->grads.scales, 3 * n), 1e-3);
    ck_assert_double_lt(relative_error(*to.rotations, *r->grads.rotations, 4 * n), 1e-3);
    ck_assert_double_lt(relative_error(*to.means2d, *r->means2d, 2 * n), 1e-3);
    ck_assert_double_lt(relative_error(to.opacities, r->grads.opacities, n), 1e-3);
    ck_assert_double_lt(relative_error(to.sh, r->grads.sh, sh), 1e-3);
    for (size_t i = 36; i < n; i += 37) /* the one with the NaN */
        ck_assert(to.means[i][0] == 0 && to.opacities[i] == 0 && to.rotations[i][3] == 0 &&
                  to.sh[i * (size_t)s->sh_stride * 3] == 0);
    seep_splat_room_fini(&room);
    free(image);
    free(g);
}

static void check_scene(const struct scene *s)
{
    struct seep_splat_host host;
    struct reference_result r;

    fill_scene(&host, s);
    reference_of(s, &host.model, &r);
    for (int k = 0; k < n_in_use; k++)
        check_room(s, &host.model, &r, streams[k]);
    reference_free(&r);
    seep_splat_host_fini(&host);
}

TEST(a_list_longer_than_a_block_takes_at_once_is_blended_and_differentiated_whole)
{
    /* Faint: light passes hundreds of them. Opaque: it ends early, at another place each pixel. */
    static const struct scene scenes[] = {
        {20, 17, 1, 4, 1500, 0.1f, 0.3f, 0.02f},
        {33, 16, 0, 1, 2500, 0.4f, 0.04f, 0.3f},
        {16, 16, 3, 16, 600, 0.3f, 0.05f, 1},
    };

    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
        check_scene(&scenes[i]);
}

TEST(gradients_of_harmonics_are_right_whatever_is_stored_of_them)
{
    static const int stored[][2] = {{0, 1}, {0, 2}, {0, 3},  {1, 4},
                                    {1, 5}, {2, 9}, {2, 16}, {3, 20}};

    for (size_t i = 0; i < sizeof stored / sizeof *stored; i++) {
        struct scene scene = {50, 35, stored[i][0], stored[i][1], 150, 0.5f, 0.06f, 1};
        check_scene(&scene);
    }
}

SUITE("splat_lists", .setup = open_streams, .teardown = close_streams)
