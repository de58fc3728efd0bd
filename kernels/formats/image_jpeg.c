/* JPEG through libjpeg-turbo. Its errors return by longjmp; everything that survives it is in
 * struct decoder or struct encoder. */
#include "kernels/formats/image_codec.h"

#include <jpeglib.h>

#include <jerror.h>
#include <setjmp.h>
#include <stdlib.h>

/* A progressive file of a few bytes a scan can keep a decoder busy for hours; encoders write about
 * ten scans. */
enum { MAX_SCANS = 64 };

/* Coefficients of a progressive picture are 2 bytes each, all held at once. */
#define MAX_DECODER_BYTES (1L << 30)

struct trap {
    struct jpeg_error_mgr manager; /* first: libjpeg hands it back */
    jmp_buf back;
    char text[JMSG_LENGTH_MAX];
};

struct decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_progress_mgr progress;
    struct trap trap;
    uint8_t *pixels;
};

struct encoder {
    struct jpeg_compress_struct jpeg;
    struct trap trap;
};

static void fail(j_common_ptr jpeg)
{
    struct trap *trap = (struct trap *)jpeg->err;

    trap->manager.format_message(jpeg, trap->text);
    longjmp(trap->back, 1);
}

/* Ignores warnings, except that the file ends before the picture. */
static void warn(j_common_ptr jpeg, int level)
{
    if (level < 0)
        jpeg->err->num_warnings++;
    if (level < 0 && jpeg->err->msg_code == JWRN_JPEG_EOF)
        fail(jpeg);
}

static void limit_scans(j_common_ptr jpeg)
{
    struct trap *trap = (struct trap *)jpeg->err;

    if (jpeg->is_decompressor && ((j_decompress_ptr)jpeg)->input_scan_number > MAX_SCANS) {
        snprintf(trap->text, sizeof trap->text, "more than %d scans", MAX_SCANS);
        longjmp(trap->back, 1);
    }
}

static bool is_out_of_memory(const struct trap *trap)
{
    return trap->manager.msg_code == JERR_OUT_OF_MEMORY;
}

static struct jpeg_error_mgr *trap_init(struct trap *trap)
{
    struct jpeg_error_mgr *manager = jpeg_std_error(&trap->manager);

    manager->error_exit = fail;
    manager->emit_message = warn;
    return manager;
}

/* Checks libjpeg's header against our limits. */
static int check_header(const struct seep_image_source *source, struct jpeg_decompress_struct *jpeg)
{
    bool grey = jpeg->jpeg_color_space == JCS_GRAYSCALE;
    int rc = seep_image_check_size(source, jpeg->image_width, jpeg->image_height, grey ? 1 : 3);

    if (rc)
        return rc;
    if (jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK)
        return seep_error_set(source->err, SEEP_EFORMAT, source->file, 0,
                              "a CMYK picture: convert it to RGB");
    if (!grey && jpeg->jpeg_color_space != JCS_YCbCr && jpeg->jpeg_color_space != JCS_RGB)
        return seep_error_set(source->err, SEEP_EFORMAT, source->file, 0,
                              "%d colour components are not supported", jpeg->num_components);
    if (jpeg->arith_code)
        return seep_error_set(source->err, SEEP_EFORMAT, source->file, 0,
                              "arithmetic coding is not supported");
    return 0;
}

/* Every 8x8 block takes at least one bit of a Huffman code: a shorter file was cut off. */
static int check_length(const struct seep_image_source *source,
                        const struct jpeg_decompress_struct *jpeg)
{
    uint64_t blocks =
        ((uint64_t)jpeg->image_width + 7) / 8 * (((uint64_t)jpeg->image_height + 7) / 8);

    if (blocks / 8 <= source->n)
        return 0;
    return seep_error_set(source->err, SEEP_EFORMAT, source->file, source->n,
                          "%u x %u pixels, but %zu bytes", jpeg->image_width, jpeg->image_height,
                          source->n);
}

static int decode(const struct seep_image_source *source, bool size_only, struct decoder *d,
                  struct seep_image *out)
{
    struct jpeg_decompress_struct *jpeg = &d->jpeg;

    jpeg_create_decompress(jpeg);
    d->progress.progress_monitor = limit_scans;
    jpeg->progress = &d->progress;
    jpeg->mem->max_memory_to_use = MAX_DECODER_BYTES;
    jpeg_mem_src(jpeg, source->bytes, (unsigned long)source->n);
    jpeg_read_header(jpeg, TRUE);
    int rc = check_header(source, jpeg);
    out->width = jpeg->image_width;
    out->height = jpeg->image_height;
    out->channels = jpeg->jpeg_color_space == JCS_GRAYSCALE ? 1 : 3;
    if (rc || size_only)
        return rc;
    rc = check_length(source, jpeg);
    if (rc)
        return rc;
    size_t row_bytes = (size_t)out->width * out->channels;
    d->pixels = malloc(row_bytes * out->height);
    if (!d->pixels)
        return seep_error_set(source->err, SEEP_ENOMEM, source->file, 0,
                              "no memory for the pixels");
    jpeg->out_color_space = out->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(jpeg);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = d->pixels + row_bytes * jpeg->output_scanline;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_decompress(jpeg);
    return 0;
}

int seep_jpeg_decode(const struct seep_image_source *source, bool size_only, struct seep_image *out)
{
    struct decoder *d = calloc(1, sizeof *d);
    int rc;

    if (!d)
        return seep_error_set(source->err, SEEP_ENOMEM, source->file, 0, "no memory");
    d->jpeg.err = trap_init(&d->trap);
    if (setjmp(d->trap.back)) {
        uint64_t left = d->jpeg.src ? d->jpeg.src->bytes_in_buffer : 0;
        rc = seep_error_set(source->err, is_out_of_memory(&d->trap) ? SEEP_ENOMEM : SEEP_EFORMAT,
                            source->file, source->n > left ? source->n - left : 0, "%s",
                            d->trap.text);
    } else {
        rc = decode(source, size_only, d, out);
    }
    jpeg_destroy_decompress(&d->jpeg);
    if (rc)
        free(d->pixels);
    else
        out->pixels = d->pixels;
    free(d);
    return rc;
}

static void encode(FILE *stream, const struct seep_image *image, int quality, struct encoder *e)
{
    struct jpeg_compress_struct *jpeg = &e->jpeg;

    jpeg_create_compress(jpeg);
    jpeg_stdio_dest(jpeg, stream);
    jpeg->image_width = image->width;
    jpeg->image_height = image->height;
    jpeg->input_components = (int)image->channels;
    jpeg->in_color_space = image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, quality, TRUE);
    jpeg_start_compress(jpeg, TRUE);
    while (jpeg->next_scanline < jpeg->image_height) {
        JSAMPROW row = image->pixels + (size_t)image->width * image->channels * jpeg->next_scanline;
        jpeg_write_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_compress(jpeg);
}

int seep_jpeg_encode(FILE *stream, const char *path, const struct seep_image *image, int quality,
                     struct seep_error *err)
{
    struct encoder *e = calloc(1, sizeof *e);
    int rc;

    if (!e)
        return seep_error_set(err, SEEP_ENOMEM, path, 0, "no memory");
    e->jpeg.err = trap_init(&e->trap);
    if (setjmp(e->trap.back)) {
        rc = seep_error_set(err, is_out_of_memory(&e->trap) ? SEEP_ENOMEM : SEEP_EIO, path, 0, "%s",
                            e->trap.text);
    } else {
        encode(stream, image, quality, e);
        rc = 0;
    }
    jpeg_destroy_compress(&e->jpeg);
    free(e);
    return rc;
}
