/* Pictures as the loaders get them: JPEG and PNG, whole, odd and damaged. */
#include "kernels/formats/image.h"
#include "tests/suite.h"

#include <check.h>
#include <png.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jpeglib.h> /* needs stdio.h before it */

static char folder[32], path[64];

static void set_up(void)
{
    strcpy(folder, "/tmp/seep-image-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/picture", folder);
}

static void tear_down(void)
{
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
}

/* A smooth picture: JPEG keeps it within a few levels. */
static struct seep_image *gradient(uint32_t width, uint32_t height, unsigned channels)
{
    struct seep_image *image = calloc(1, sizeof *image);

    ck_assert_ptr_nonnull(image);
    *image = (struct seep_image){.width = width, .height = height, .channels = channels};
    image->pixels = malloc((size_t)width * height * channels);
    ck_assert_ptr_nonnull(image->pixels);
    for (size_t i = 0; i < (size_t)width * height * channels; i++) {
        size_t c = i % channels, x = i / channels % width, y = i / channels / width;
        image->pixels[i] = (uint8_t)(40 + c * 30 + x + (channels > 1 ? y : 0));
    }
    return image;
}

static int worst_difference(const struct seep_image *a, const struct seep_image *b)
{
    int worst = 0;

    ck_assert_uint_eq(a->width, b->width);
    ck_assert_uint_eq(a->height, b->height);
    ck_assert_uint_eq(a->channels, b->channels);
    for (size_t i = 0; i < (size_t)a->width * a->height * a->channels; i++) {
        int difference = abs(a->pixels[i] - b->pixels[i]);
        worst = difference > worst ? difference : worst;
    }
    return worst;
}

static struct seep_image *read_back(void)
{
    struct seep_error err = {.text = ""};
    struct seep_image *image = NULL;
    int rc = seep_image_read(path, &image, &err);

    ck_assert_msg(rc == 0, "%s", err.text);
    return image;
}

static size_t file_bytes(uint8_t **bytes)
{
    FILE *f = fopen(path, "rb");
    struct stat st;

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fstat(fileno(f), &st), 0);
    *bytes = malloc((size_t)st.st_size);
    ck_assert_ptr_nonnull(*bytes);
    ck_assert_uint_eq(fread(*bytes, 1, (size_t)st.st_size, f), (size_t)st.st_size);
    fclose(f);
    return (size_t)st.st_size;
}

static void write_bytes(const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
    ck_assert_int_eq(fclose(f), 0);
}

static const unsigned channel_counts[] = {1, 3, 4};

/* The file holds the picture, no value of it off by more than `most`. Frees the picture. */
static void comes_back(struct seep_image *image, int most)
{
    struct seep_image *back = read_back();

    ck_assert_int_le(worst_difference(image, back), most);
    seep_image_free(image);
    seep_image_free(back);
}

TEST(a_png_mask_loses_no_pixel, .to = 3)
{
    struct seep_image *image = gradient(61, 47, channel_counts[_i]);

    ck_assert_int_eq(seep_image_write_png(path, image, NULL), 0);
    comes_back(image, 0);
}

TEST(a_jpeg_photo_comes_back_close_to_what_was_written, .to = 2)
{
    struct seep_image *image = gradient(61, 47, channel_counts[_i]);

    ck_assert_int_eq(seep_image_write_jpeg(path, image, 95, NULL), 0);
    comes_back(image, 6);
}

/* JPEGs that the writer of our own does not make. */
static void write_foreign_jpeg(struct seep_image *image, J_COLOR_SPACE in, bool progressive)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr manager;
    FILE *f = fopen(path, "wb");

    ck_assert_ptr_nonnull(f);
    jpeg.err = jpeg_std_error(&manager);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, f);
    jpeg.image_width = image->width;
    jpeg.image_height = image->height;
    jpeg.input_components = (int)image->channels;
    jpeg.in_color_space = in;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 95, TRUE);
    if (progressive)
        jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    for (uint32_t y = 0; y < image->height; y++) {
        JSAMPROW row = image->pixels + (size_t)image->width * image->channels * y;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    fclose(f);
}

TEST(a_progressive_photo_is_read_like_any_other, .to = 2)
{
    struct seep_image *image = gradient(70, 35, _i ? 3 : 1);

    write_foreign_jpeg(image, _i ? JCS_RGB : JCS_GRAYSCALE, true);
    comes_back(image, 6);
}

TEST(a_cmyk_photo_is_refused_with_a_word_instead_of_wrong_colours)
{
    struct seep_error err = {.text = ""};
    struct seep_image *image = gradient(16, 16, 4), *back;

    write_foreign_jpeg(image, JCS_CMYK, false);
    ck_assert_int_eq(seep_image_read(path, &back, &err), -SEEP_EFORMAT);
    ck_assert_ptr_nonnull(strstr(err.text, "CMYK"));
    ck_assert_str_eq(err.file, path);
    seep_image_free(image);
}

/* PNGs of every kind hold the same ramp: pixel x, y is level 16·(x + y) (mod 256) of 8 bits. */
enum { SIDE = 8 };

static const struct png_kind {
    int type, depth, interlace;
    unsigned channels;
    bool transparent;
} png_kinds[] = {
    {PNG_COLOR_TYPE_GRAY, 4, PNG_INTERLACE_NONE, 1, false},
    {PNG_COLOR_TYPE_GRAY, 16, PNG_INTERLACE_NONE, 1, false},
    {PNG_COLOR_TYPE_GRAY, 8, PNG_INTERLACE_ADAM7, 1, false},
    {PNG_COLOR_TYPE_GRAY_ALPHA, 8, PNG_INTERLACE_NONE, 4, false},
    {PNG_COLOR_TYPE_RGB, 16, PNG_INTERLACE_ADAM7, 3, false},
    {PNG_COLOR_TYPE_RGB_ALPHA, 8, PNG_INTERLACE_ADAM7, 4, false},
    {PNG_COLOR_TYPE_PALETTE, 4, PNG_INTERLACE_NONE, 3, false},
    {PNG_COLOR_TYPE_PALETTE, 4, PNG_INTERLACE_ADAM7, 4, true},
};

static unsigned ramp(size_t x, size_t y)
{
    return (unsigned)(x + y) % 16; /* of 4 bits; times 17 of 8; times 4369 of 16 */
}

static unsigned samples_of(int type)
{
    switch (type) {
    case PNG_COLOR_TYPE_GRAY_ALPHA:
        return 2;
    case PNG_COLOR_TYPE_RGB:
        return 3;
    case PNG_COLOR_TYPE_RGB_ALPHA:
        return 4;
    default:
        return 1;
    }
}

static void fill_row(const struct png_kind *kind, size_t y, uint8_t *row)
{
    unsigned samples = samples_of(kind->type);

    memset(row, 0, (size_t)SIDE * 8);
    for (size_t i = 0; i < SIDE * samples; i++) {
        unsigned level = ramp(i / samples, y);
        if (kind->depth == 4)
            row[i / 2] = (uint8_t)(row[i / 2] | level << (i % 2 ? 0 : 4));
        else if (kind->depth == 8)
            row[i] = (uint8_t)(level * 17);
        else
            row[2 * i] = row[2 * i + 1] = (uint8_t)(level * 17);
    }
}

static void write_foreign_png(const struct png_kind *kind)
{
    FILE *f = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_color palette[16];
    png_byte alphas[16];
    uint8_t rows[SIDE][SIDE * 8];
    png_bytep pointers[SIDE];

    ck_assert_ptr_nonnull(f);
    png_init_io(png, f);
    png_set_IHDR(png, info, SIDE, SIDE, kind->depth, kind->type, kind->interlace,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    for (unsigned i = 0; i < 16; i++) {
        palette[i].red = palette[i].green = palette[i].blue = (png_byte)(i * 17);
        alphas[i] = (png_byte)(i * 17);
    }
    if (kind->type == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 16);
    if (kind->transparent)
        png_set_tRNS(png, info, alphas, 16, NULL);
    png_write_info(png, info);
    for (size_t y = 0; y < SIDE; y++) {
        fill_row(kind, y, rows[y]);
        pointers[y] = rows[y];
    }
    png_write_image(png, pointers);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    fclose(f);
}

TEST(every_kind_of_png_gives_the_levels_it_was_written_with, .to = N(png_kinds))
{
    write_foreign_png(&png_kinds[_i]);
    struct seep_image *image = read_back();
    ck_assert_uint_eq(image->channels, png_kinds[_i].channels);
    ck_assert_uint_eq(image->width, SIDE);
    ck_assert_uint_eq(image->height, SIDE);
    for (size_t i = 0; i < (size_t)SIDE * SIDE * image->channels; i++) {
        size_t x = i / image->channels % SIDE, y = i / image->channels / SIDE;
        ck_assert_uint_eq(image->pixels[i], ramp(x, y) * 17);
    }
    seep_image_free(image);
}

static void write_kind(int kind)
{
    struct seep_image *image = gradient(33, 21, 3);

    switch (kind) {
    case 0:
        ck_assert_int_eq(seep_image_write_png(path, image, NULL), 0);
        break;
    case 1:
        ck_assert_int_eq(seep_image_write_jpeg(path, image, 90, NULL), 0);
        break;
    default:
        write_foreign_jpeg(image, JCS_RGB, true);
    }
    seep_image_free(image);
}

TEST(a_picture_cut_off_anywhere_is_an_error_not_a_grey_half, .to = 3)
{
    uint8_t *bytes;

    write_kind(_i);
    size_t n = file_bytes(&bytes);
    for (size_t cut = 0; cut < n; cut++) {
        struct seep_image *image;
        uint8_t *exact = malloc(cut ? cut : 1);
        memcpy(exact, bytes, cut);
        ck_assert_msg(seep_image_from_bytes(exact, cut, &image, NULL) == -SEEP_EFORMAT,
                      "%zu of %zu bytes were taken for a picture", cut, n);
        free(exact);
    }
    free(bytes);
}

TEST(damaged_bytes_give_a_picture_or_an_error, .to = 3)
{
    uint8_t *bytes;

    write_kind(_i);
    size_t n = file_bytes(&bytes);
    for (size_t i = 0; i < n; i++) {
        struct seep_image *image = NULL;
        bytes[i] ^= 0xff;
        if (!seep_image_from_bytes(bytes, n, &image, NULL))
            seep_image_free(image);
        bytes[i] ^= 0xff;
    }
    free(bytes);
}

TEST(a_size_is_known_without_decoding, .to = 3)
{
    uint32_t width = 0, height = 0;
    uint8_t *bytes;

    write_kind(_i);
    size_t n = file_bytes(&bytes);
    write_bytes(bytes, n - 20); /* the header is enough */
    free(bytes);
    ck_assert_int_eq(seep_image_size(path, &width, &height, NULL), 0);
    ck_assert_uint_eq(width, 33);
    ck_assert_uint_eq(height, 21);
}

TEST(a_size_is_found_behind_a_large_thumbnail)
{
    enum { SEGMENT = 65533, SEGMENTS = 3 };
    uint32_t width = 0, height = 0;
    uint8_t *bytes;

    write_kind(1);
    size_t n = file_bytes(&bytes), at = 2;
    uint8_t *longer = calloc(1, n + (size_t)SEGMENTS * (SEGMENT + 2));
    memcpy(longer, bytes, 2);
    for (int i = 0; i < SEGMENTS; i++, at += SEGMENT + 2) {
        const uint8_t head[] = {0xff, 0xe3, SEGMENT >> 8, SEGMENT & 0xff};
        memcpy(longer + at, head, sizeof head);
    }
    memcpy(longer + at, bytes + 2, n - 2);
    write_bytes(longer, at + n - 2);
    ck_assert_int_eq(seep_image_size(path, &width, &height, NULL), 0);
    ck_assert_uint_eq(width, 33);
    ck_assert_uint_eq(height, 21);
    free(bytes);
    free(longer);
}

TEST(a_header_that_claims_a_huge_picture_takes_no_memory, .to = 2)
{
    /* SOI, then a frame header of 65280 x 65280, or of 16000 x 16000 with nothing behind it. */
    uint8_t jpeg[] = {0xff, 0xd8, 0xff, 0xc0, 0, 17, 8,  0xff, 0,    0xff, 0,   3,  1,
                      0x11, 0,    2,    0x11, 0, 3,  17, 0,    0xff, 0xda, 0,   12, 3,
                      1,    0,    2,    0,    3, 0,  0,  63,   0,    0xff, 0xd9};
    struct seep_error err = {.text = ""};
    struct seep_image *image;

    if (_i) {
        jpeg[7] = jpeg[9] = 16000 >> 8;
        jpeg[8] = jpeg[10] = 16000 & 0xff;
    }
    ck_assert_int_eq(seep_image_from_bytes(jpeg, sizeof jpeg, &image, &err), -SEEP_EFORMAT);
    ck_assert_ptr_nonnull(
        strstr(err.text, _i ? "16000 x 16000 pixels, but" : "a side are supported"));
}

TEST(what_is_no_picture_is_named_so)
{
    struct seep_error err = {.text = ""};
    struct seep_image *image;
    uint32_t width, height;

    write_bytes("GIF89a", 6);
    ck_assert_int_eq(seep_image_read(path, &image, &err), -SEEP_EFORMAT);
    ck_assert_str_eq(err.text, "neither a JPEG nor a PNG");
    ck_assert_str_eq(err.file, path);
    ck_assert_int_eq(seep_image_size(path, &width, &height, NULL), -SEEP_EFORMAT);
    ck_assert_int_eq(seep_image_read(folder, &image, NULL), -SEEP_EIO);
    ck_assert_int_eq(seep_image_size("/nonexistent/a.png", &width, &height, NULL), -SEEP_EIO);
}

TEST(a_picture_that_cannot_be_held_is_not_written)
{
    uint8_t pixels[16] = {0};
    const struct seep_image two = {.width = 2, .height = 2, .channels = 2, .pixels = pixels};
    const struct seep_image none = {.width = 0, .height = 2, .channels = 1, .pixels = pixels};
    const struct seep_image rgba = {.width = 2, .height = 2, .channels = 4, .pixels = pixels};

    ck_assert_int_eq(seep_image_write_png(path, &two, NULL), -SEEP_EINVAL);
    ck_assert_int_eq(seep_image_write_png(path, &none, NULL), -SEEP_EINVAL);
    ck_assert_int_eq(seep_image_write_jpeg(path, &rgba, 90, NULL), -SEEP_EINVAL);
    ck_assert_int_eq(seep_image_write_png("/nonexistent/a.png", &rgba, NULL), -SEEP_EIO);
    ck_assert_int_ne(access(path, F_OK), 0);
}

TEST(a_full_disk_leaves_an_error_and_no_half_picture, .to = 2)
{
    const struct rlimit small = {.rlim_cur = 100, .rlim_max = 100};
    struct seep_image *image = gradient(200, 200, 3);
    struct seep_error err = {.text = ""};

    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    int rc =
        _i ? seep_image_write_png(path, image, &err) : seep_image_write_jpeg(path, image, 95, &err);
    ck_assert_int_eq(rc, -SEEP_EIO);
    ck_assert_str_ne(err.text, "");
    ck_assert_int_ne(access(path, F_OK), 0);
    seep_image_free(image);
}

/* Photos of a real camera, where SEEP_DATA says that they are. */
TEST(the_photos_of_a_real_scene_are_read, .left_out = !getenv("SEEP_DATA"))
{
    char photo[512];
    struct seep_image *image = NULL;
    uint32_t width = 0, height = 0;

    snprintf(photo, sizeof photo, "%s/colmap-scene/images/DSC_5283.jpg", getenv("SEEP_DATA"));
    ck_assert_int_eq(seep_image_size(photo, &width, &height, NULL), 0);
    ck_assert_int_eq(seep_image_read(photo, &image, NULL), 0);
    ck_assert_uint_eq(image->width, width);
    ck_assert_uint_eq(image->height, height);
    ck_assert_uint_eq(image->channels, 3);
    seep_image_free(image);
}

SUITE("image", .setup = set_up, .teardown = tear_down)
