/* The rules by which Gaussians are binned to tiles, on every stream, each held to a plain
 * reference: boxes and squares worked out in double precision, and for REACHED every pixel. */
#include "kernels/splat/splat_reference_view.h"
#include "tests/kernels/splat/raster_fixture.h"
#include "tests/suite.h"

enum { TILE = SEEP_SPLAT_TILE, WIDTH = 250, HEIGHT = 180, MANY = 1000 };
enum { TILES_X = (WIDTH + TILE - 1) / TILE, TILES_Y = (HEIGHT + TILE - 1) / TILE };

/* What a room comes to by a rule, on the host. */
struct result {
    size_t n, n_pairs, n_seen;
    struct seep_splat_print *prints;
    uint32_t *offsets, *gaussians, *tile_start;
    float *image;
    struct seep_splat_gradients gradients;
};

static void *fetch(struct seep_stream *stream, const void *from, size_t bytes)
{
    void *to = malloc(bytes + 1);

    ck_assert_ptr_nonnull(to);
    if (bytes)
        ck_assert_int_eq(seep_stream_download(stream, to, from, bytes), 0);
    return to;
}

static void run_rule(const struct seep_splat_camera *c, const struct seep_splat_model *model,
                     enum seep_splat_tile_rule rule, struct seep_stream *stream, struct result *r)
{
    size_t values = (size_t)c->width * (size_t)c->height * 3;
    float *image_grad = malloc(values * sizeof *image_grad);
    uint64_t seed = 3;
    struct seep_splat_room room;

    for (size_t i = 0; i < values; i++)
        image_grad[i] = (float)next_number(&seed);
    r->n = model->n;
    r->image = malloc(values * sizeof *r->image);
    ck_assert(image_grad && r->image);
    alloc_gradients(&r->gradients, model);
    ck_assert_int_eq(seep_splat_room_init(&room, stream, c, model), 0);
    room.projected.rule = rule;
    ck_assert_int_eq(seep_splat_room_forward(&room, r->image), 0);
    ck_assert_int_eq(seep_splat_room_backward(&room, image_grad), 0);
    ck_assert_int_eq(seep_splat_room_download(&room, &r->gradients), 0);
    r->n_pairs = room.projected.n_pairs;
    r->n_seen = room.projected.n_seen;
    r->prints = fetch(stream, room.projected.prints, r->n * sizeof *r->prints);
    r->offsets = fetch(stream, room.projected.offsets, (r->n + 1) * sizeof *r->offsets);
    r->gaussians = fetch(stream, room.bins.gaussians, r->n_pairs * sizeof *r->gaussians);
    r->tile_start = fetch(stream, room.bins.tile_start,
                          ((size_t)((c->width + 15) / 16 * ((c->height + 15) / 16)) + 1) * 4);
    seep_splat_room_fini(&room);
    free(image_grad);
}

static void free_result(struct result *r)
{
    free(r->prints);
    free(r->offsets);
    free(r->gaussians);
    free(r->tile_start);
    free(r->image);
    free_gradients(&r->gradients);
}

/* Gaussians of make_scene(), some of them needles across the picture, faint, huge, or far beside
 * it. */
static void make_mixture(struct seep_splat_host *h, uint64_t seed)
{
    make_scene(h, MANY, 1, 2, seed);
    for (size_t i = 0; i < MANY; i++) {
        for (int k = 0; k < 3; k++)
            h->scales[i][k] *= i % 7 == 0 ? 4 : 0.4f;
        if (i % 5 == 0)
            h->scales[i][0] *= 20;
        if (i % 4 == 0)
            h->opacities[i] *= 0.02f; /* some under 1/255 */
        if (i % 97 == 0)
            h->means[i][0] *= 30;
        if (i % 101 == 0)
            h->opacities[i] = 0;
        if (i % 103 == 0)
            h->scales[i][1] = NAN;
    }
}

/* ---- the reference ------------------------------------------------------------------------- */

struct shape {
    bool there; /* before the camera and finite */
    double mean[2], conic[3], cov[3], opacity;
};

static struct shape shape_of(const struct seep_splat_camera *c,
                             const struct seep_reference_model *m, size_t i)
{
    struct seep_reference_view view;
    struct shape s = {.opacity = m->opacities[i]};

    seep_reference_see(c, m, i, false, &view);
    double det = view.conic[0] * view.conic[2] - view.conic[1] * view.conic[1];
    s.there = view.depth > 0.2f && det > 0 && isfinite(view.mean2d[0] + view.mean2d[1] + det);
    for (int k = 0; k < 2; k++)
        s.mean[k] = view.mean2d[k];
    for (int k = 0; k < 3; k++)
        s.conic[k] = view.conic[k];
    s.cov[0] = view.conic[2] / det;
    s.cov[1] = -view.conic[1] / det;
    s.cov[2] = view.conic[0] / det;
    return s;
}

/* A bound that rounding may put on either side. */
static bool is_close(double a, double to)
{
    return fabs(a - to) < 2e-3;
}

/* diff-gaussian-rasterization, line by line: preprocessCUDA() and getRect(). False: undecided. */
static bool square_of(const struct shape *s, int tiles[4])
{
    const int grid[2] = {TILES_X, TILES_Y};
    double det = s->cov[0] * s->cov[2] - s->cov[1] * s->cov[1];
    double mid = 0.5 * (s->cov[0] + s->cov[2]), lambda1 = mid + sqrt(fmax(0.1, mid * mid - det));
    double wide = 3 * sqrt(lambda1), my_radius = ceil(wide);
    bool sure = !is_close(wide, my_radius) && !is_close(wide, my_radius - 1);

    for (int k = 0; k < 2; k++) {
        double p = s->mean[k] - 0.5; /* ndc2Pix() puts the first pixel's centre at 0 */
        double from = (p - my_radius) / TILE, to = (p + my_radius + TILE - 1) / TILE;
        sure = sure && !is_close(from, nearbyint(from)) && !is_close(to, nearbyint(to));
        tiles[k] = (int)fmin(grid[k], fmax(0, (int)fmax(fmin(from, 1e6), -1e6)));
        tiles[k + 2] = (int)fmin(grid[k], fmax(0, (int)fmax(fmin(to, 1e6), -1e6)));
    }
    return sure;
}

/* Pixel centres within 3 sigma and within alpha's reach. False: undecided. */
static bool box_of(const struct shape *s, int tiles[4])
{
    const int size[2] = {WIDTH, HEIGHT};
    double mid = 0.5 * (s->cov[0] + s->cov[2]);
    double r = 3 * sqrt(mid + sqrt(mid * mid - s->cov[0] * s->cov[2] + s->cov[1] * s->cov[1]));
    double reach = 2 * log(255 * s->opacity);
    bool sure = !is_close(reach, 0);

    for (int k = 0; k < 2; k++) {
        double half = reach > 0 ? fmin(r, sqrt(reach * s->cov[2 * k])) : -1;
        double low = s->mean[k] - half - 0.5, high = s->mean[k] + half - 0.5;
        sure = sure && !is_close(low, nearbyint(low)) && !is_close(high, nearbyint(high));
        low = fmax(ceil(low), 0);
        high = fmin(floor(high), size[k] - 1);
        tiles[k] = low <= high ? (int)low / TILE : 0;
        tiles[k + 2] = low <= high ? (int)high / TILE + 1 : 0;
    }
    return sure;
}

static double form_at(const struct shape *s, double dx, double dy)
{
    return s->conic[0] * dx * dx + 2 * s->conic[1] * dx * dy + s->conic[2] * dy * dy;
}

static double clamped(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}

/* The least of the quadratic form over the tile's pixel centres as a rectangle: 0 with the mean in
 * it, else on one of its four edges, each a parabola. */
static double least_of_tile(const struct shape *s, int x, int y)
{
    double low[2], high[2], least = INFINITY;
    const int at[2] = {x, y}, size[2] = {WIDTH, HEIGHT};

    for (int k = 0; k < 2; k++) {
        low[k] = at[k] * TILE + 0.5 - s->mean[k];
        high[k] = fmin((at[k] + 1) * TILE, size[k]) - 0.5 - s->mean[k];
    }
    if (low[0] <= 0 && high[0] >= 0 && low[1] <= 0 && high[1] >= 0)
        return 0;
    for (int side = 0; side < 2; side++) {
        double dx = side ? high[0] : low[0], dy = side ? high[1] : low[1];
        double by_x = clamped(-s->conic[1] / s->conic[2] * dx, low[1], high[1]);
        double by_y = clamped(-s->conic[1] / s->conic[0] * dy, low[0], high[0]);
        least = fmin(least, fmin(form_at(s, dx, by_x), form_at(s, by_y, dy)));
    }
    return least;
}

static double most_alpha(const struct shape *s, int x, int y)
{
    double most = 0;

    for (int i = x * TILE; i < (x + 1) * TILE && i < WIDTH; i++)
        for (int j = y * TILE; j < (y + 1) * TILE && j < HEIGHT; j++) {
            double form = form_at(s, i + 0.5 - s->mean[0], j + 0.5 - s->mean[1]);
            most = fmax(most, s->opacity * exp(-form / 2));
        }
    return most;
}

/* ---- tests --------------------------------------------------------------------------------- */

static size_t area(const int t[4])
{
    return t[2] > t[0] && t[3] > t[1] ? (size_t)((t[2] - t[0]) * (t[3] - t[1])) : 0;
}

/* All Gaussians but those that rounding decides, and their sum of pairs. */
static void check_boxes(const struct result *r, enum seep_splat_tile_rule rule,
                        const struct seep_splat_camera *c, const struct seep_reference_model *m)
{
    size_t unsure = 0, pairs = 0, expected = 0;

    for (size_t i = 0; i < r->n; i++) {
        struct shape s = shape_of(c, m, i);
        int tiles[4];
        bool sure = rule == SEEP_SPLAT_TILES_SQUARE ? square_of(&s, tiles) : box_of(&s, tiles);
        if (s.there && !sure) {
            unsure++;
            continue;
        }
        bool seen = s.there && s.opacity > 0 && area(tiles);
        uint32_t got = r->offsets[i + 1] - r->offsets[i];
        ck_assert_msg(got == (seen ? area(tiles) : 0), "%zu: %u tiles, not %zu", i, got,
                      area(tiles));
        for (int k = 0; k < 4 && seen; k++)
            ck_assert_int_eq(r->prints[i].tiles[k], tiles[k]);
        pairs += got;
        expected += seen ? area(tiles) : 0;
    }
    ck_assert_uint_eq(pairs, expected);
    ck_assert_uint_gt(pairs, MANY);
    ck_assert_uint_lt(unsure, MANY / 20);
}

/* The mixture by BOX and by another rule; its reference is freed by the caller. */
static void run_beside_box(const struct seep_splat_camera *c, enum seep_splat_tile_rule rule,
                           int kind, struct seep_reference_model *m, struct result *box,
                           struct result *other)
{
    struct seep_stream *stream = make_stream(kind);
    struct seep_splat_host h;

    make_mixture(&h, 5);
    ck_assert_int_eq(seep_reference_model_from(m, &h.model), 0);
    run_rule(c, &h.model, SEEP_SPLAT_TILES_BOX, stream, box);
    run_rule(c, &h.model, rule, stream, other);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}

TEST(boxes_and_squares_are_the_references, .to = n_streams())
{
    struct seep_splat_camera c = make_camera(WIDTH, HEIGHT);
    struct seep_reference_model m;
    struct result box, square;

    run_beside_box(&c, SEEP_SPLAT_TILES_SQUARE, _i, &m, &box, &square);
    check_boxes(&box, SEEP_SPLAT_TILES_BOX, &c, &m);
    check_boxes(&square, SEEP_SPLAT_TILES_SQUARE, &c, &m);
    printf("pairs: box %zu, square %zu; seen: %zu, %zu of %d\n", box.n_pairs, square.n_pairs,
           box.n_seen, square.n_seen, MANY);
    ck_assert_uint_gt(square.n_pairs, box.n_pairs * 5 / 4);
    free_result(&box);
    free_result(&square);
    seep_reference_model_free(&m);
}

/* listed[gaussian][tile] of a result. */
static uint8_t *listed_of(const struct result *r)
{
    uint8_t *listed = calloc(r->n, TILES_X * TILES_Y);

    ck_assert_ptr_nonnull(listed);
    for (size_t tile = 0; tile < TILES_X * TILES_Y; tile++)
        for (size_t at = r->tile_start[tile]; at < r->tile_start[tile + 1]; at++) {
            uint8_t *it = &listed[r->gaussians[at] * (size_t)(TILES_X * TILES_Y) + tile];
            ck_assert_uint_eq(*it, 0);
            *it = 1;
        }
    return listed;
}

/* What REACHED leaves of BOX's tiles: each with a pixel of alpha 1/255 or more, and none that the
 * ellipse misses by more than rounding's margin. */
TEST(reached_tiles_are_those_that_hold_a_pixel_of_the_ellipse, .to = n_streams())
{
    struct seep_splat_camera c = make_camera(WIDTH, HEIGHT);
    struct seep_reference_model m;
    struct result box, reached;
    size_t n_box = 0, n_reached = 0, n_needed = 0;

    run_beside_box(&c, SEEP_SPLAT_TILES_REACHED, _i, &m, &box, &reached);
    uint8_t *of_box = listed_of(&box), *of_reached = listed_of(&reached);
    for (size_t i = 0; i < MANY; i++) {
        struct shape s = shape_of(&c, &m, i);
        size_t own = 0;
        for (int tile = 0; tile < TILES_X * TILES_Y; tile++) {
            size_t at = i * TILES_X * TILES_Y + (size_t)tile;
            ck_assert_uint_le(of_reached[at], of_box[at]);
            own += of_reached[at];
            if (!of_box[at])
                continue;
            bool needed = most_alpha(&s, tile % TILES_X, tile / TILES_X) >= 1.0 / 255;
            double beyond =
                least_of_tile(&s, tile % TILES_X, tile / TILES_X) - 2 * log(255 * s.opacity);
            ck_assert_msg(of_reached[at] || !needed, "%zu lacks tile %d", i, tile);
            ck_assert_msg(!of_reached[at] || beyond < 0.05, "%zu has tile %d, %g beyond", i, tile,
                          beyond);
            n_needed += needed;
        }
        ck_assert_uint_eq(own, reached.offsets[i + 1] - reached.offsets[i]);
        n_box += box.offsets[i + 1] - box.offsets[i];
        n_reached += own;
    }
    printf("pairs: box %zu, reached %zu, with a pixel that is drawn %zu; seen: %zu, %zu\n", n_box,
           n_reached, n_needed, box.n_seen, reached.n_seen);
    ck_assert_uint_eq(n_box, box.n_pairs);
    ck_assert_uint_eq(n_reached, reached.n_pairs);
    ck_assert_uint_lt(n_reached, n_box * 9 / 10);
    ck_assert_uint_le(n_reached, n_needed * 21 / 20);
    free(of_box);
    free(of_reached);
    free_result(&box);
    free_result(&reached);
    seep_reference_model_free(&m);
}

/* Sums on CUDA come in the order of lists of 256: their last bits may differ. */
static void assert_same(const void *got, const void *expected, size_t n, int kind)
{
    const float *a = got, *b = expected;
    double difference = 0, whole = 0;

    for (size_t i = 0; i < n && kind != CUDA_0; i++)
        ck_assert_msg(!(a[i] < b[i]) && !(a[i] > b[i]), "%zu: %a, not %a", i, (double)a[i],
                      (double)b[i]);
    for (size_t i = 0; i < n; i++) {
        difference += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        whole += (double)b[i] * (double)b[i];
    }
    ck_assert_double_le(sqrt(difference), 1e-5 * sqrt(whole));
}

/* The picture to the bit; gradients on the CPU in value, where a sum of nothing may be −0. */
TEST(reached_tiles_make_the_same_picture_and_gradients, .to = n_streams())
{
    struct seep_splat_camera c = make_camera(WIDTH, HEIGHT);
    struct seep_splat_host h;
    struct result box, reached;

    struct seep_stream *stream = make_stream(_i);
    for (uint64_t seed = 5; seed < 8; seed++) {
        make_mixture(&h, seed);
        run_rule(&c, &h.model, SEEP_SPLAT_TILES_BOX, stream, &box);
        run_rule(&c, &h.model, SEEP_SPLAT_TILES_REACHED, stream, &reached);
        ck_assert_uint_lt(reached.n_pairs, box.n_pairs);
        ck_assert_mem_eq(reached.image, box.image, WIDTH * HEIGHT * 3 * sizeof(float));
        assert_same(reached.gradients.means, box.gradients.means, 3 * MANY, _i);
        assert_same(reached.gradients.scales, box.gradients.scales, 3 * MANY, _i);
        assert_same(reached.gradients.rotations, box.gradients.rotations, 4 * MANY, _i);
        assert_same(reached.gradients.opacities, box.gradients.opacities, MANY, _i);
        assert_same(reached.gradients.sh, box.gradients.sh, 12 * MANY, _i);
        assert_same(reached.gradients.means2d, box.gradients.means2d, 2 * MANY, _i);
        free_result(&box);
        free_result(&reached);
        seep_splat_host_fini(&h);
    }
    seep_stream_destroy(stream);
}

/* Where alpha is under 1/255 beyond 3 sigma, and before the square's last pixel, tiles that only
 * SQUARE has add nothing. Else what they add is 0.0111 at most a Gaussian. */
TEST(squares_make_the_same_picture_of_faint_gaussians, .to = n_streams())
{
    struct seep_splat_camera c = make_camera(WIDTH, HEIGHT);
    struct seep_splat_host h;
    struct result box, square;
    double difference = 0;

    struct seep_stream *stream = make_stream(_i);
    for (int faint = 0; faint < 2; faint++) {
        make_scene(&h, MANY, 1, 0.5, 11);
        for (size_t i = 0; i < MANY && faint; i++)
            h.opacities[i] *= 0.05f;
        run_rule(&c, &h.model, SEEP_SPLAT_TILES_BOX, stream, &box);
        run_rule(&c, &h.model, SEEP_SPLAT_TILES_SQUARE, stream, &square);
        ck_assert_uint_gt(square.n_pairs, box.n_pairs);
        if (faint)
            ck_assert_mem_eq(square.image, box.image, WIDTH * HEIGHT * 3 * sizeof(float));
        for (size_t k = 0; k < WIDTH * HEIGHT * 3 && !faint; k++)
            difference = fmax(difference, fabs((double)square.image[k] - (double)box.image[k]));
        free_result(&box);
        free_result(&square);
        seep_splat_host_fini(&h);
    }
    ck_assert_double_gt(difference, 0);
    ck_assert_double_lt(difference, 0.05);
    seep_stream_destroy(stream);
}

TEST(both_twins_list_the_same_tiles, .to = SEEP_SPLAT_TILE_RULES, .left_out = n_streams() <= CUDA_0)
{
    struct seep_splat_camera c = make_camera(WIDTH, HEIGHT);
    struct seep_stream *streams[2] = {make_stream(CPU_3), make_stream(CUDA_0)};
    struct seep_splat_host h;
    struct result r[2];
    size_t differ = 0;

    make_mixture(&h, 5);
    for (int k = 0; k < 2; k++)
        run_rule(&c, &h.model, (enum seep_splat_tile_rule)_i, streams[k], &r[k]);
    for (size_t i = 0; i < MANY; i++)
        differ += r[0].offsets[i + 1] - r[0].offsets[i] != r[1].offsets[i + 1] - r[1].offsets[i];
    ck_assert_uint_le(differ, MANY / 300); /* by rounding, at a tile's border */
    for (int k = 0; k < 2; k++) {
        free_result(&r[k]);
        seep_stream_destroy(streams[k]);
    }
    seep_splat_host_fini(&h);
}

TEST(no_other_rule_is_taken)
{
    struct seep_splat_camera c = make_camera(WIDTH, HEIGHT);
    struct seep_stream *stream = make_stream(CPU_1);
    struct seep_splat_host h;
    struct seep_splat_room room;

    make_scene(&h, 10, 1, 1, 1);
    ck_assert_int_eq(seep_splat_room_init(&room, stream, &c, &h.model), 0);
    room.projected.rule = SEEP_SPLAT_TILE_RULES;
    ck_assert_int_eq(seep_splat_room_project(&room), -SEEP_EINVAL);
    room.projected.rule = (enum seep_splat_tile_rule) - 1;
    ck_assert_int_eq(seep_splat_room_project(&room), -SEEP_EINVAL);
    room.projected.rule = SEEP_SPLAT_TILES_BOX;
    ck_assert_int_eq(seep_splat_room_project(&room), 0);
    room.projected.n_seen = 11;
    ck_assert_int_eq(seep_splat_room_bin(&room), -SEEP_EINVAL);
    seep_splat_room_fini(&room);
    seep_splat_host_fini(&h);
    seep_stream_destroy(stream);
}

SUITE("splat tiles", .timeout_s = 300)
