/* COCO annotations: what a Mask R-CNN loader reads, and the masks it makes of them. */
#include "kernels/formats/coco.h"
#include "kernels/formats/coco_runs.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct seep_coco *parse(const char *text)
{
    struct seep_error err = {.text = ""};
    struct seep_coco *coco = NULL;
    int rc = seep_coco_from_bytes(text, strlen(text), &coco, &err);

    ck_assert_msg(rc == 0, "%s", err.text);
    return coco;
}

/* A file of one image, 4 wide and 3 high, and one annotation of that shape. */
static const char *with_shape(const char *shape)
{
    static char text[4096];

    snprintf(text, sizeof text,
             "{\"info\": {}, \"images\": [{\"id\": 9, \"width\": 4, \"height\": 3, \"file_name\": "
             "\"a/b.jpg\"}], \"annotations\": [{\"id\": 1, \"image_id\": 9, \"category_id\": 18, "
             "\"iscrowd\": 0, \"area\": 2.5, \"bbox\": [1, 2, 3.5, 4], \"segmentation\": %s}]}",
             shape);
    return text;
}

/* The mask as rows of '.' and '#'. */
static const char *mask_of(const struct seep_coco_annotation *annotation, uint32_t width,
                           uint32_t height)
{
    static char text[1024];
    uint8_t *mask = malloc((size_t)width * height);
    char *to = text;

    ck_assert_ptr_nonnull(mask);
    ck_assert_int_eq(seep_coco_mask(annotation, width, height, mask), 0);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            ck_assert_uint_le(mask[(size_t)y * width + x], 1);
            *to++ = mask[(size_t)y * width + x] ? '#' : '.';
        }
        *to++ = y + 1 < height ? ' ' : 0;
    }
    free(mask);
    return text;
}

TEST(an_annotation_keeps_what_the_file_says)
{
    struct seep_coco *coco = parse(with_shape("[[0, 0, 4, 0, 4, 3], [1, 1, 2, 1, 2, 2.25, 1, 2]]"));

    ck_assert_uint_eq(coco->n_images, 1);
    ck_assert_uint_eq(coco->images[0].id, 9);
    ck_assert_uint_eq(coco->images[0].width, 4);
    ck_assert_uint_eq(coco->images[0].height, 3);
    ck_assert_str_eq(coco->images[0].file, "a/b.jpg");
    ck_assert_uint_eq(coco->n_annotations, 1);
    const struct seep_coco_annotation *a = coco->annotations;
    ck_assert_uint_eq(a->id, 1);
    ck_assert_uint_eq(a->image_id, 9);
    ck_assert_uint_eq(a->category_id, 18);
    ck_assert(!a->is_crowd);
    ck_assert_double_eq(a->area, 2.5);
    ck_assert_double_eq(a->bbox[2], 3.5);
    ck_assert_uint_eq(a->n_rings, 2);
    ck_assert_uint_eq(a->ring_starts[1], 3);
    ck_assert_uint_eq(a->ring_starts[2], 7);
    ck_assert_double_eq(a->xy[5][1], 2.25);
    seep_coco_free(coco);
}

static const struct {
    const char *shape, *mask;
} shapes[] = {
    {"[[0, 0, 4, 0, 4, 3, 0, 3]]", "#### #### ####"},
    {"[[1, 1, 3, 1, 3, 2, 1, 2]]", ".... .##. ...."},
    /* the same ring the other way round, and beyond the picture */
    {"[[1, 2, 3, 2, 3, 1, 1, 1]]", ".... .##. ...."},
    {"[[-9, -9, 2, -9, 2, 99, -9, 99]]", "##.. ##.. ##.."},
    /* centres decide: 0.5 … 3.5 takes the pixels 0 … 2, as a pixel on the right edge is outside */
    {"[[0.5, 0.5, 3.5, 0.5, 3.5, 2.5, 0.5, 2.5]]", "###. ###. ...."},
    {"[[0.51, 0.51, 3.5, 0.51, 3.5, 2.51, 0.51, 2.51]]", ".... .##. .##."},
    /* the lower left half */
    {"[[0, 0, 3, 3, 0, 3]]", ".... #... ##.."},
    /* a bow tie and a ring with a hole are even-odd; two rings are both */
    {"[[0, 0, 4, 0, 4, 3, 0, 3, 0, 0, 1, 1, 3, 1, 3, 2, 1, 2, 1, 1]]", "#### #..# ####"},
    {"[[0, 0, 2, 0, 2, 1, 0, 1], [1, 0, 3, 0, 3, 1, 1, 1]]", "###. .... ...."},
    /* too few points to hold anything, and none */
    {"[[1, 1, 2, 2]]", ".... .... ...."},
    {"[]", ".... .... ...."},
    {"null", ".... .... ...."},
    /* by columns, zeros first */
    {"{\"size\": [3, 4], \"counts\": [0, 12]}", "#### #### ####"},
    {"{\"size\": [3, 4], \"counts\": [1, 1, 4, 3, 3]}", "..#. #.#. ..#."},
    {"{\"size\": [3, 4], \"counts\": [11, 1]}", ".... .... ...#"},
    {"{\"size\": [3, 4], \"counts\": [2, 0, 0, 5, 5]}", ".##. .#.. ##.."},
    {"{\"size\": [3, 4], \"counts\": \"231O3\"}", ".##. .##. #..."},
};

TEST(a_shape_covers_the_pixels_it_should, .to = N(shapes))
{
    struct seep_coco *coco = parse(with_shape(shapes[_i].shape));

    ck_assert_str_eq(mask_of(coco->annotations, 4, 3), shapes[_i].mask);
    seep_coco_free(coco);
}

TEST(a_disc_has_the_area_of_a_disc)
{
    enum { SIDE = 200, POINTS = 720 };
    const double pi = acos(-1), radius = 80;
    double(*xy)[2] = malloc(POINTS * sizeof *xy);
    size_t starts[2] = {0, POINTS}, inside = 0;
    uint8_t *mask = malloc((size_t)SIDE * SIDE);

    for (int i = 0; i < POINTS; i++) {
        xy[i][0] = 100.3 + radius * cos(2 * pi * i / POINTS);
        xy[i][1] = 99.6 + radius * sin(2 * pi * i / POINTS);
    }
    const struct seep_coco_annotation disc = {.n_rings = 1, .ring_starts = starts, .xy = xy};
    ck_assert_int_eq(seep_coco_mask(&disc, SIDE, SIDE, mask), 0);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
        inside += mask[i];
    ck_assert_double_eq_tol((double)inside, pi * radius * radius, 40);
    free(xy);
    free(mask);
}

/* Strings that pycocotools has written, found in its issues (and short ones by hand from the
 * description of the coding): how many runs, what they add up to, the ones, the first run. */
static const struct {
    const char *text;
    size_t n_runs;
    uint64_t total, ones, first;
} strings[] = {
    {"", 0, 0, 0, 0},
    {"061", 3, 7, 6, 0},
    {"231N", 4, 7, 4, 2},
    {"b1", 1, 50, 0, 50},
    {"`0", 1, 16, 0, 16},
    {"T3", 1, 100, 0, 100},
    {"01;000", 6, 25, 3, 0},
    {"ea_d21__11O0001O00000001O01O00a^40_aK000[k]30eTbL010O0000001O000000000010O00000001O01O000000"
     "01O01O0000010O00000001O000001O0001O0000010O0000000000010O0000000000010O0000000010O00000000001"
     "0O00000001O01OO10001O000000P]jP1",
     197, 1520 * 2704, 223, 2768437},
    {"ZbQ:1ma06J3N2N1O2M4K6K3N1N3M3J7K4M2N3M2M5K7J3N1O2N2L4N2M3N1O2L4M3M3N2M2M5K4M4L3N1N4K4K5N2O10"
     "O0100O1O10O0110O000O100101OO0O0100O11O00O010O1010OO100O1013L000O01004MOO10O010020O0OO010010O0"
     "00O10O1100O1OO100O2N2N010O001O2O0O001O2O1N2N001O1O1O1O1O001N2O1N3N0O2O1N3K5J5L3N3L4H8E;L4M2O2"
     "L4K5K5N2M2O3L4K4M3N2N2M4K5K4M5Khl?",
     305, 576 * 752, 15186, 329290},
};

TEST(a_string_of_pycocotools_is_read_and_written_as_it_does, .to = N(strings))
{
    const char *text = strings[_i].text;
    uint64_t total = 0, ones = 0;
    uint32_t *runs = NULL;
    size_t n = 0;

    ck_assert_int_eq(seep_coco_runs_from_text(text, strlen(text), &runs, &n), 0);
    ck_assert_uint_eq(n, strings[_i].n_runs);
    for (size_t i = 0; i < n; i++) {
        total += runs[i];
        ones += i % 2 ? runs[i] : 0;
    }
    ck_assert_uint_eq(total, strings[_i].total);
    ck_assert_uint_eq(ones, strings[_i].ones);
    if (n)
        ck_assert_uint_eq(runs[0], strings[_i].first);
    char *back = seep_coco_runs_to_text(runs, n);
    ck_assert_str_eq(back, text);
    free(back);
    free(runs);
}

TEST(any_run_lengths_survive_the_string)
{
    static const uint32_t edges[] = {0, 1, 15, 16, 17, 31, 32, 511, 512, 1u << 31, UINT32_MAX};
    enum { EDGES = sizeof edges / sizeof *edges, N = EDGES * EDGES };
    uint32_t runs[N], *back = NULL;
    size_t n = 0;

    for (size_t i = 0; i < N; i++)
        runs[i] = edges[i % 2 ? i / EDGES : i % EDGES];
    char *text = seep_coco_runs_to_text(runs, N);
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(seep_coco_runs_from_text(text, strlen(text), &back, &n), 0);
    ck_assert_uint_eq(n, N);
    ck_assert_mem_eq(back, runs, sizeof runs);
    free(text);
    free(back);
}

static const char *const bad_strings[] = {
    "/", "p", " 1", "1\n", "P", "1PPPPPPPPPP0", "N", "100N", "PPPPPP4", "\xff",
};

TEST(a_string_that_holds_no_run_lengths_is_refused, .to = N(bad_strings))
{
    uint32_t *runs = NULL;
    size_t n = 0;
    const char *text = bad_strings[_i];

    ck_assert_msg(seep_coco_runs_from_text(text, strlen(text), &runs, &n) == -SEEP_EFORMAT,
                  "\"%s\" was taken for run lengths", text);
}

static const char *const bad_shapes[] = {
    "7",
    "\"1\"",
    "[7]",
    "[[]]",
    "[[1, 2, 3]]",
    "[[1, \"2\"]]",
    "[[1, 1e300]]",
    "[[1, 2], []]",
    "{}",
    "{\"size\": [3, 4]}",
    "{\"size\": [3, 4], \"counts\": []}",
    "{\"size\": [3, 4], \"counts\": [13]}",
    "{\"size\": [3, 4], \"counts\": [11]}",
    "{\"size\": [3, 4], \"counts\": [13, -1]}",
    "{\"size\": [3, 4], \"counts\": [12.0]}",
    "{\"size\": [3, 4], \"counts\": [4294967296]}",
    "{\"size\": [3, 4], \"counts\": \"\"}",
    "{\"size\": [4, 3], \"counts\": [12]}",
    "{\"size\": [3], \"counts\": [12]}",
    "{\"size\": [3, 4, 1], \"counts\": [12]}",
};

TEST(a_shape_that_is_none_of_its_image_is_refused, .to = N(bad_shapes))
{
    struct seep_error err = {.text = ""};
    struct seep_coco *coco = NULL;
    const char *text = with_shape(bad_shapes[_i]);

    ck_assert_msg(seep_coco_from_bytes(text, strlen(text), &coco, &err) == -SEEP_EFORMAT,
                  "taken: %s", bad_shapes[_i]);
    ck_assert_ptr_nonnull(strstr(err.text, "annotation 0"));
}

#define IMAGE(id, width, file)                                                                     \
    "{\"id\": " id ", \"width\": " width ", \"height\": 3, \"file_name\": \"" file "\"}"
#define FILE_OF(images, annotations)                                                               \
    "{\"images\": [" images "], \"annotations\": [" annotations "]}"

static const char *const bad_files[] = {
    "",
    "nonsense",
    "[]",
    "{\"images\": []}",
    "{\"annotations\": []}",
    FILE_OF("1", ""),
    FILE_OF(IMAGE("-1", "4", "a"), ""),
    FILE_OF(IMAGE("\"1\"", "4", "a"), ""),
    FILE_OF(IMAGE("1.5", "4", "a"), ""),
    FILE_OF(IMAGE("-1.0", "4", "a"), ""),
    FILE_OF(IMAGE("1e300", "4", "a"), ""),
    FILE_OF(IMAGE("1", "0", "a"), ""),
    FILE_OF(IMAGE("1", "65536", "a"), ""),
    FILE_OF(IMAGE("1", "4", ""), ""),
    FILE_OF(IMAGE("1", "4", "/etc/passwd"), ""),
    FILE_OF(IMAGE("1", "4", "a/../../b"), ""),
    FILE_OF(IMAGE("1", "4", "a") ", " IMAGE("1", "4", "b"), ""),
    FILE_OF("", "7"),
    FILE_OF("", "{\"id\": 1, \"image_id\": 2}"),
    FILE_OF("", "{\"id\": 1, \"image_id\": 2, \"category_id\": 3, \"area\": \"4\"}"),
    FILE_OF("", "{\"id\": 1, \"image_id\": 2, \"category_id\": 3, \"bbox\": [1, 2, 3]}"),
};

/* Tables of reals write numbers so. */
TEST(a_whole_number_may_be_written_as_a_real)
{
    const char *text = FILE_OF(IMAGE("9.0", "4.0", "a"), "");
    struct seep_error err = {.text = ""};
    struct seep_coco *coco = NULL;

    ck_assert_int_eq(seep_coco_from_bytes(text, strlen(text), &coco, &err), 0);
    ck_assert_uint_eq(coco->images[0].id, 9);
    ck_assert_uint_eq(coco->images[0].width, 4);
    seep_coco_free(coco);
}

TEST(a_file_that_is_no_coco_is_refused_with_a_word, .to = N(bad_files))
{
    struct seep_error err = {.text = ""};
    struct seep_coco *coco = NULL;

    ck_assert_msg(seep_coco_from_bytes(bad_files[_i], strlen(bad_files[_i]), &coco, &err) ==
                      -SEEP_EFORMAT,
                  "taken: %s", bad_files[_i]);
    ck_assert_str_ne(err.text, "");
}

TEST(a_mask_of_another_size_than_its_run_lengths_is_refused)
{
    uint8_t mask[64];
    struct seep_coco *coco = parse(with_shape("{\"size\": [3, 4], \"counts\": [1, 11]}"));

    ck_assert_int_eq(seep_coco_mask(coco->annotations, 4, 4, mask), -SEEP_EFORMAT);
    ck_assert_int_eq(seep_coco_mask(coco->annotations, 3, 3, mask), -SEEP_EFORMAT);
    ck_assert_int_eq(seep_coco_mask(coco->annotations, 0, 3, mask), -SEEP_EINVAL);
    seep_coco_free(coco);
}

static void assert_same(const struct seep_coco *a, const struct seep_coco *b)
{
    ck_assert_uint_eq(a->n_images, b->n_images);
    ck_assert_uint_eq(a->n_annotations, b->n_annotations);
    for (size_t i = 0; i < a->n_images; i++) {
        ck_assert_uint_eq(a->images[i].id, b->images[i].id);
        ck_assert_uint_eq(a->images[i].width, b->images[i].width);
        ck_assert_uint_eq(a->images[i].height, b->images[i].height);
        ck_assert_str_eq(a->images[i].file, b->images[i].file);
    }
    for (size_t i = 0; i < a->n_annotations; i++) {
        const struct seep_coco_annotation *p = &a->annotations[i], *q = &b->annotations[i];
        ck_assert_uint_eq(p->id, q->id);
        ck_assert_uint_eq(p->image_id, q->image_id);
        ck_assert_uint_eq(p->category_id, q->category_id);
        ck_assert_int_eq(p->is_crowd, q->is_crowd);
        ck_assert_mem_eq(&p->area, &q->area, sizeof p->area);
        ck_assert_mem_eq(p->bbox, q->bbox, sizeof p->bbox);
        ck_assert_uint_eq(p->n_rings, q->n_rings);
        ck_assert_uint_eq(p->n_runs, q->n_runs);
        if (p->n_rings) {
            ck_assert_mem_eq(p->ring_starts, q->ring_starts, (p->n_rings + 1) * sizeof(size_t));
            ck_assert_mem_eq(p->xy, q->xy, p->ring_starts[p->n_rings] * sizeof *p->xy);
        }
        if (p->n_runs)
            ck_assert_mem_eq(p->runs, q->runs, p->n_runs * sizeof *p->runs);
    }
}

TEST(what_is_written_is_read_back_the_same, .to = 2)
{
    double xy[7][2] = {{0.1, 1.0 / 3}, {640, 0}, {639.99, 1e-9}, {1, 2}, {3, 4}, {5, 6}, {-7, 8}};
    size_t starts[] = {0, 3, 7};
    uint32_t runs[] = {100, 7, 473, 9, 307200 - 589};
    struct seep_coco_image images[] = {{3, 640, 480, (char[]){"über/3 \"x\".png"}},
                                       {1, 65535, 1, (char[]){"1.jpg"}}};
    struct seep_coco_annotation annotations[] = {
        {.id = 5, .image_id = 1, .category_id = 90, .area = 0.1, .n_rings = 2, .xy = xy},
        {.id = 6, .image_id = 3, .category_id = 1, .is_crowd = true, .n_runs = 5, .runs = runs},
        {.id = INT64_MAX, .image_id = 77, .category_id = 0, .bbox = {1, 2, 3, 0.7}},
    };
    const struct seep_coco coco = {images, annotations, 2, 3};
    struct seep_coco *back = NULL;
    char path[] = "/tmp/seep-coco-XXXXXX";
    int fd = mkstemp(path);

    annotations[0].ring_starts = starts;
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert_int_eq(seep_coco_write(path, &coco, _i, NULL), 0);
    ck_assert_int_eq(seep_coco_read(path, &back, NULL), 0);
    assert_same(&coco, back);
    seep_coco_free(back);
    unlink(path);
}

TEST(what_json_cannot_hold_is_not_written)
{
    uint32_t runs[] = {12};
    struct seep_coco_annotation annotations[] = {{.id = 1, .n_runs = 1, .runs = runs}};
    struct seep_coco_image image = {1, 3, 4, (char *)"\xff.jpg"};
    const struct seep_coco coco = {NULL, annotations, 0, 1}, odd_name = {&image, NULL, 1, 0};
    const char *path = "/tmp/seep-coco-not-written.json";

    ck_assert_int_eq(seep_coco_write(path, &odd_name, true, NULL), -SEEP_EINVAL);
    ck_assert_int_eq(seep_coco_write(path, &coco, true, NULL), -SEEP_EINVAL);
    annotations[0].n_runs = 0;
    annotations[0].area = NAN;
    ck_assert_int_eq(seep_coco_write(path, &coco, true, NULL), -SEEP_EINVAL);
    ck_assert_int_ne(access(path, F_OK), 0);
    annotations[0].area = 1;
    ck_assert_int_eq(seep_coco_write("/nonexistent/a.json", &coco, true, NULL), -SEEP_EIO);
}

TEST(a_file_that_is_not_there_is_named)
{
    struct seep_error err = {.text = ""};
    struct seep_coco *coco;

    ck_assert_int_eq(seep_coco_read("/nonexistent/a.json", &coco, &err), -SEEP_EIO);
    ck_assert_str_eq(err.file, "/nonexistent/a.json");
}

SUITE("coco")
