#include "kernels/formats/image.h"

#include "kernels/formats/byte_file.h"
#include "kernels/formats/image_codec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A compressed picture's file; a larger one is refused. */
#define MAX_FILE_BYTES  ((size_t)1 << 30)
#define MAX_PIXEL_BYTES ((uint64_t)1 << 30)

/* Bytes read first to find a size: enough for most cameras' thumbnails and colour profiles. */
enum { FIRST_BYTES = 64 << 10 };

int seep_image_check_size(const struct seep_image_source *source, uint64_t width, uint64_t height,
                          unsigned channels)
{
    if (!width || !height)
        return seep_error_set(source->err, SEEP_EFORMAT, source->file, 0,
                              "the picture has no pixels");
    if (width > SEEP_IMAGE_MAX_SIDE || height > SEEP_IMAGE_MAX_SIDE)
        return seep_error_set(source->err, SEEP_EFORMAT, source->file, 0,
                              "%llu x %llu pixels: at most %d a side are supported",
                              (unsigned long long)width, (unsigned long long)height,
                              SEEP_IMAGE_MAX_SIDE);
    if (width * height * channels > MAX_PIXEL_BYTES)
        return seep_error_set(source->err, SEEP_EFORMAT, source->file, 0,
                              "more than 1 GiB of pixels");
    return 0;
}

static int decode(const struct seep_image_source *source, bool size_only, struct seep_image *out)
{
    static const uint8_t png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static const uint8_t jpeg[3] = {0xff, 0xd8, 0xff};

    if (source->n >= sizeof png && !memcmp(source->bytes, png, sizeof png))
        return seep_png_decode(source, size_only, out);
    if (source->n >= sizeof jpeg && !memcmp(source->bytes, jpeg, sizeof jpeg))
        return seep_jpeg_decode(source, size_only, out);
    return seep_error_set(source->err, SEEP_EFORMAT, source->file, 0, "neither a JPEG nor a PNG");
}

static int decode_new(const struct seep_image_source *source, struct seep_image **out)
{
    struct seep_image *image = calloc(1, sizeof *image);

    if (!image)
        return seep_error_set(source->err, SEEP_ENOMEM, source->file, 0, "no memory");
    int rc = decode(source, false, image);
    if (rc) {
        free(image);
        return rc;
    }
    *out = image;
    return 0;
}

int seep_image_from_bytes(const void *bytes, size_t n, struct seep_image **out,
                          struct seep_error *err)
{
    const struct seep_image_source source = {.bytes = bytes, .n = n, .file = "", .err = err};

    return decode_new(&source, out);
}

int seep_image_read(const char *path, struct seep_image **out, struct seep_error *err)
{
    uint8_t *bytes;
    size_t n;
    int rc = seep_file_read(path, MAX_FILE_BYTES, &bytes, &n, err);

    if (rc)
        return rc;
    const struct seep_image_source source = {.bytes = bytes, .n = n, .file = path, .err = err};
    rc = decode_new(&source, out);
    free(bytes);
    return rc;
}

/* The size from the file's first bytes; of a whole file (n < FIRST_BYTES) the verdict is final. */
static int size_of_beginning(FILE *f, const char *path, bool *final, struct seep_image *image,
                             struct seep_error *err)
{
    uint8_t *bytes = malloc(FIRST_BYTES);

    *final = true;
    if (!bytes)
        return seep_error_set(err, SEEP_ENOMEM, path, 0, "no memory");
    size_t n = fread(bytes, 1, FIRST_BYTES, f);
    int rc;
    if (ferror(f)) {
        rc = seep_error_set(err, SEEP_EIO, path, 0, "%s", strerror(errno));
    } else {
        struct seep_error first = {.text = ""};
        const struct seep_image_source source = {bytes, n, path, &first};
        rc = decode(&source, true, image);
        *final = !rc || n < FIRST_BYTES;
        if (rc && *final)
            rc = seep_error_set(err, -rc, path, first.offset, "%s", first.text);
    }
    free(bytes);
    return rc;
}

int seep_image_size(const char *path, uint32_t *width, uint32_t *height, struct seep_error *err)
{
    struct seep_image image = {.width = 0};
    uint8_t *bytes;
    size_t n;
    bool final;
    int rc;
    /* A pipe that nobody writes to must not block the reader. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "rb");

    if (!f) {
        rc = seep_error_set(err, errno == ENOMEM ? SEEP_ENOMEM : SEEP_EIO, path, 0, "%s",
                            strerror(errno));
        if (fd >= 0)
            close(fd);
        return rc;
    }
    rc = size_of_beginning(f, path, &final, &image, err);
    fclose(f);
    if (!final) {
        rc = seep_file_read(path, MAX_FILE_BYTES, &bytes, &n, err);
        if (rc)
            return rc;
        const struct seep_image_source source = {bytes, n, path, err};
        rc = decode(&source, true, &image);
        free(bytes);
    }
    if (rc)
        return rc;
    *width = image.width;
    *height = image.height;
    return 0;
}

static bool is_writable(const struct seep_image *image)
{
    return image->width && image->height && image->width <= SEEP_IMAGE_MAX_SIDE &&
           image->height <= SEEP_IMAGE_MAX_SIDE && image->pixels &&
           (image->channels == 1 || image->channels == 3 || image->channels == 4);
}

/* `quality` 0: as PNG. */
static int write_whole(const char *path, const struct seep_image *image, int quality,
                       struct seep_error *err)
{
    struct seep_file_writer w;
    int rc = seep_file_writer_open(&w, path, err);

    if (rc)
        return rc;
    rc = quality ? seep_jpeg_encode(w.stream, path, image, quality, err)
                 : seep_png_encode(w.stream, path, image, err);
    if (!rc)
        return seep_file_writer_commit(&w, err);
    seep_file_writer_cancel(&w);
    return rc;
}

int seep_image_write_png(const char *path, const struct seep_image *image, struct seep_error *err)
{
    if (!is_writable(image))
        return seep_error_set(err, SEEP_EINVAL, path, 0, "the picture cannot be written");
    return write_whole(path, image, 0, err);
}

int seep_image_write_jpeg(const char *path, const struct seep_image *image, int quality,
                          struct seep_error *err)
{
    if (!is_writable(image) || image->channels == 4 || quality < 1 || quality > 100)
        return seep_error_set(err, SEEP_EINVAL, path, 0, "JPEG cannot hold this picture");
    return write_whole(path, image, quality, err);
}

void seep_image_free(struct seep_image *image)
{
    if (!image)
        return;
    free(image->pixels);
    free(image);
}
