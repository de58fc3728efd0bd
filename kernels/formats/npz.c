#include "kernels/formats/npz.h"

#include "kernels/formats/byte_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

#define MAX_ARRAY_BYTES (UINT64_C(4) << 30)

/* An error that libzip reports as the archive's need not be: where memory runs out or a read fails
 * within the directory, it says that this is no archive. errno was 0 before. */
static int refuse(zip_error_t *reason, const char *file, struct seep_error *err)
{
    int kind = zip_error_code_zip(reason), code = SEEP_EFORMAT;

    if (kind == ZIP_ER_MEMORY || errno == ENOMEM)
        code = SEEP_ENOMEM;
    else if (kind == ZIP_ER_OPEN || kind == ZIP_ER_READ || kind == ZIP_ER_NOENT || errno == EIO)
        code = SEEP_EIO;
    bool by_system = errno == ENOMEM || errno == EIO;
    return seep_error_set(err, code, file, 0, "%s",
                          by_system ? strerror(errno) : zip_error_strerror(reason));
}

/* Reads all of an entry, whose claimed size is n; a read past its end makes libzip verify the
 * checksum. */
static int take_entry(zip_file_t *entry, size_t n, uint8_t *bytes, const char *file,
                      struct seep_error *err)
{
    size_t used = 0;
    zip_int64_t got = 1;
    uint8_t more;

    while (used < n && got > 0) {
        got = zip_fread(entry, bytes + used, n - used);
        used += got > 0 ? (size_t)got : 0;
    }
    if (used == n)
        got = zip_fread(entry, &more, 1);
    if (got < 0)
        return refuse(zip_file_get_error(entry), file, err);
    if (used < n || got > 0)
        return seep_error_set(err, SEEP_EFORMAT, file, 0,
                              "an entry's size differs from the size that it states");
    return 0;
}

/* The entry's size, where that much can lie in an archive of n_archive bytes. */
static int check_entry(zip_t *archive, zip_uint64_t index, uint64_t n_archive, const char *file,
                       size_t *n, struct seep_error *err)
{
    const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    zip_stat_t stat;

    zip_stat_init(&stat);
    if (zip_stat_index(archive, index, 0, &stat) || (stat.valid & needed) != needed)
        return refuse(zip_get_error(archive), file, err);
    if ((stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE) ||
        stat.encryption_method != ZIP_EM_NONE)
        return seep_error_set(err, SEEP_EFORMAT, file, 0,
                              "an entry is neither stored nor deflated");
    if (stat.size > MAX_ARRAY_BYTES || stat.size / SEEP_MAX_DEFLATE_RATIO > n_archive)
        return seep_error_set(err, SEEP_EFORMAT, file, 0, "an array of %llu bytes is too large",
                              (unsigned long long)stat.size);
    *n = (size_t)stat.size;
    return 0;
}

static int read_entry(zip_t *archive, zip_uint64_t index, uint64_t n_archive, const char *file,
                      uint8_t **bytes, size_t *n, struct seep_error *err)
{
    int rc = check_entry(archive, index, n_archive, file, n, err);

    if (rc)
        return rc;
    uint8_t *memory = malloc(*n ? *n : 1);
    if (!memory)
        return seep_error_set(err, SEEP_ENOMEM, file, 0, "no memory for %zu bytes", *n);
    zip_file_t *entry = zip_fopen_index(archive, index, 0);
    if (!entry) {
        rc = refuse(zip_get_error(archive), file, err);
        goto fail;
    }
    rc = take_entry(entry, *n, memory, file, err);
    zip_fclose(entry);
    if (rc)
        goto fail;
    *bytes = memory;
    return 0;
fail:
    free(memory);
    return rc;
}

/* The block of the whole file becomes the array's values. */
static int adopt(uint8_t *bytes, size_t n, const char *file, struct seep_npy *out,
                 struct seep_error *err)
{
    struct seep_error first = {.text = ""};
    size_t begin = 0;
    int rc = seep_npy_header(bytes, n, out, &begin, &first);

    if (rc) {
        free(bytes);
        return seep_error_set(err, -rc, file, first.offset, "%s", first.text);
    }
    memmove(bytes, bytes + begin, n - begin);
    void *fitting = realloc(bytes, n - begin ? n - begin : 1);
    out->values = fitting ? fitting : bytes;
    return 0;
}

static int read_array(zip_t *archive, uint64_t n_archive, const char *file, const char *name,
                      struct seep_npy *out, struct seep_error *err)
{
    char entry[256];
    uint8_t *bytes = NULL;
    size_t n = 0;

    if (snprintf(entry, sizeof entry, "%s.npy", name) >= (int)sizeof entry)
        return seep_error_set(err, SEEP_ENODATA, file, 0, "the array's name is too long");
    zip_int64_t index = zip_name_locate(archive, entry, ZIP_FL_ENC_RAW);
    if (index < 0)
        return seep_error_set(err, SEEP_ENODATA, file, 0, "no array \"%s\"", name);
    int rc = read_entry(archive, (zip_uint64_t)index, n_archive, file, &bytes, &n, err);
    return rc ? rc : adopt(bytes, n, file, out, err);
}

/* Takes the source of n bytes; NULL where `reason` says why there is none. */
static int read_source(zip_source_t *source, zip_error_t *reason, uint64_t n, const char *file,
                       const char *name, struct seep_npy *out, struct seep_error *err)
{
    zip_t *archive = source ? zip_open_from_source(source, ZIP_RDONLY, reason) : NULL;
    int rc;

    if (!archive) {
        rc = refuse(reason, file, err);
        if (source)
            zip_source_free(source);
        return rc;
    }
    rc = read_array(archive, n, file, name, out, err);
    zip_discard(archive);
    return rc;
}

int seep_npz_read(const char *path, const char *name, struct seep_npy *out, struct seep_error *err)
{
    zip_error_t reason;
    struct stat st;

    /* libzip would block on a pipe without a writer. */
    if (stat(path, &st))
        return seep_error_set(err, SEEP_EIO, path, 0, "%s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return seep_error_set(err, SEEP_EIO, path, 0, "not a regular file");
    errno = 0;
    zip_error_init(&reason);
    int rc = read_source(zip_source_file_create(path, 0, -1, &reason), &reason,
                         (uint64_t)st.st_size, path, name, out, err);
    zip_error_fini(&reason);
    return rc;
}

int seep_npz_from_bytes(const void *bytes, size_t n, const char *name, struct seep_npy *out,
                        struct seep_error *err)
{
    zip_error_t reason;

    errno = 0;
    zip_error_init(&reason);
    int rc =
        read_source(zip_source_buffer_create(bytes, n, 0, &reason), &reason, n, "", name, out, err);
    zip_error_fini(&reason);
    return rc;
}
