/* PNG through libpng. Its errors return by longjmp; everything that survives it is in struct
 * state. */
#include "kernels/formats/byte_file.h"
#include "kernels/formats/image_codec.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* Texts and colour profiles, unpacked. */
enum { MAX_CHUNK_BYTES = 8 << 20 };

struct state {
    png_structp png;
    png_infop info;
    const struct seep_image_source *source; /* reading */
    size_t at;
    FILE *stream; /* writing */
    uint8_t *pixels;
    bool no_memory; /* libpng reports it like any other error */
    jmp_buf back;
    char text[128];
};

static void fail(png_structp png, png_const_charp text)
{
    struct state *s = png_get_error_ptr(png);

    snprintf(s->text, sizeof s->text, "%s", text);
    longjmp(s->back, 1);
}

static void ignore(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void *allocate(png_structp png, png_alloc_size_t n)
{
    struct state *s = png_get_mem_ptr(png);
    void *memory = malloc(n);

    s->no_memory |= !memory;
    return memory;
}

static void release(png_structp png, void *memory)
{
    (void)png;
    free(memory);
}

static void take(png_structp png, png_bytep to, size_t n)
{
    struct state *s = png_get_io_ptr(png);

    if (n > s->source->n - s->at)
        png_error(png, "the file ends early");
    memcpy(to, s->source->bytes + s->at, n);
    s->at += n;
}

/* Whatever the file holds becomes 8-bit grey, RGB or RGBA. */
static void ask_for_bytes(struct state *s)
{
    bool alpha = png_get_color_type(s->png, s->info) & PNG_COLOR_MASK_ALPHA ||
                 png_get_valid(s->png, s->info, PNG_INFO_tRNS);

    png_set_expand(s->png);
    png_set_scale_16(s->png);
    if (alpha)
        png_set_gray_to_rgb(s->png);
    png_set_interlace_handling(s->png);
    png_read_update_info(s->png, s->info);
}

static int check_header(struct state *s, struct seep_image *out)
{
    const struct seep_image_source *source = s->source;

    out->width = png_get_image_width(s->png, s->info);
    out->height = png_get_image_height(s->png, s->info);
    int rc = seep_image_check_size(source, out->width, out->height, 1);
    if (rc)
        return rc;
    uint64_t packed = ((uint64_t)png_get_rowbytes(s->png, s->info) + 1) * out->height;
    if (packed / SEEP_MAX_DEFLATE_RATIO > source->n)
        return seep_error_set(source->err, SEEP_EFORMAT, source->file, source->n,
                              "%u x %u pixels, but %zu bytes", out->width, out->height, source->n);
    return 0;
}

static int decode(struct state *s, bool size_only, struct seep_image *out)
{
    const struct seep_image_source *source = s->source;

    png_set_user_limits(s->png, SEEP_IMAGE_MAX_SIDE, SEEP_IMAGE_MAX_SIDE);
    png_set_chunk_malloc_max(s->png, MAX_CHUNK_BYTES);
    png_set_read_fn(s->png, s, take);
    png_read_info(s->png, s->info);
    if (size_only) {
        out->width = png_get_image_width(s->png, s->info);
        out->height = png_get_image_height(s->png, s->info);
        return seep_image_check_size(source, out->width, out->height, 1);
    }
    int rc = check_header(s, out);
    if (rc)
        return rc;
    ask_for_bytes(s);
    out->channels = png_get_channels(s->png, s->info);
    rc = seep_image_check_size(source, out->width, out->height, out->channels);
    if (rc)
        return rc;
    size_t row_bytes = (size_t)out->width * out->channels;
    if (png_get_rowbytes(s->png, s->info) != row_bytes)
        png_error(s->png, "rows have an unexpected length");
    s->pixels = malloc(row_bytes * out->height);
    if (!s->pixels)
        return seep_error_set(source->err, SEEP_ENOMEM, source->file, 0,
                              "no memory for the pixels");
    int passes = png_get_interlace_type(s->png, s->info) == PNG_INTERLACE_ADAM7 ? 7 : 1;
    for (int pass = 0; pass < passes; pass++) {
        for (uint32_t y = 0; y < out->height; y++)
            png_read_row(s->png, s->pixels + row_bytes * y, NULL);
    }
    png_read_end(s->png, NULL);
    return 0;
}

int seep_png_decode(const struct seep_image_source *source, bool size_only, struct seep_image *out)
{
    struct state *s = calloc(1, sizeof *s);
    int rc;

    if (!s)
        return seep_error_set(source->err, SEEP_ENOMEM, source->file, 0, "no memory");
    s->source = source;
    if (setjmp(s->back)) {
        rc = seep_error_set(source->err, s->no_memory ? SEEP_ENOMEM : SEEP_EFORMAT, source->file,
                            s->at, "%s", s->text);
    } else {
        s->png =
            png_create_read_struct_2(PNG_LIBPNG_VER_STRING, s, fail, ignore, s, allocate, release);
        s->info = s->png ? png_create_info_struct(s->png) : NULL;
        rc = s->info ? decode(s, size_only, out)
                     : seep_error_set(source->err, SEEP_ENOMEM, source->file, 0, "no memory");
    }
    png_destroy_read_struct(&s->png, &s->info, NULL);
    if (rc)
        free(s->pixels);
    else
        out->pixels = s->pixels;
    free(s);
    return rc;
}

static int encode(struct state *s, const struct seep_image *image)
{
    int type = image->channels == 1   ? PNG_COLOR_TYPE_GRAY
               : image->channels == 3 ? PNG_COLOR_TYPE_RGB
                                      : PNG_COLOR_TYPE_RGB_ALPHA;

    png_init_io(s->png, s->stream);
    png_set_IHDR(s->png, s->info, image->width, image->height, 8, type, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(s->png, s->info);
    for (uint32_t y = 0; y < image->height; y++)
        png_write_row(s->png, image->pixels + (size_t)image->width * image->channels * y);
    png_write_end(s->png, s->info);
    return 0;
}

int seep_png_encode(FILE *stream, const char *path, const struct seep_image *image,
                    struct seep_error *err)
{
    struct state *s = calloc(1, sizeof *s);
    int rc;

    if (!s)
        return seep_error_set(err, SEEP_ENOMEM, path, 0, "no memory");
    s->stream = stream;
    if (setjmp(s->back)) {
        rc = seep_error_set(err, s->no_memory ? SEEP_ENOMEM : SEEP_EIO, path, 0, "%s", s->text);
    } else {
        s->png =
            png_create_write_struct_2(PNG_LIBPNG_VER_STRING, s, fail, ignore, s, allocate, release);
        s->info = s->png ? png_create_info_struct(s->png) : NULL;
        rc = s->info ? encode(s, image) : seep_error_set(err, SEEP_ENOMEM, path, 0, "no memory");
    }
    png_destroy_write_struct(&s->png, &s->info);
    free(s);
    return rc;
}
