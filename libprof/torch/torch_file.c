/* Snapshots in files, plain, packed by gzip, or in a page of memory_viz. */
#include "libprof/torch/packed_file.h"
#include "libprof/torch/torch_page.h"
#include "libprof/torch/torch_profile.h"

#include <string.h>

enum { LOOKED_AT = SEEP_TORCH_PAGE_BYTES, BUFFER_BYTES = 128 * 1024 };

/* What a packed file has before its damage, or before it was cut, is read. */
static int64_t read_file(void *context, void *buffer, size_t n)
{
    const int got = gzread(context, buffer, (unsigned)(n < INT32_MAX ? n : INT32_MAX));
    int why = Z_OK;

    if (got >= 0)
        return got;
    (void)gzerror(context, &why);
    return why == Z_ERRNO ? -1 : 0;
}

static bool has_text(const uint8_t *bytes, size_t n, const char *text)
{
    return memmem(bytes, n, text, strlen(text));
}

/* A dict that begins with its segments, or (before 2.0) a list of them. */
static bool begins(const uint8_t *bytes, size_t n)
{
    return seep_pickle_begins(bytes, n) &&
           (has_text(bytes, n, "segments") || has_text(bytes, n, "device_traces") ||
            (has_text(bytes, n, "address") && has_text(bytes, n, "total_size")));
}

bool seep_torch_is_at(const char *path)
{
    uint8_t bytes[LOOKED_AT];
    gzFile file = seep_packed_open(path, NULL);
    const int n = file ? gzread(file, bytes, sizeof bytes) : -1;

    if (file)
        gzclose(file);
    return n > 0 && (begins(bytes, (size_t)n) || seep_torch_page_begins((char *)bytes, (size_t)n));
}

int seep_torch_profile_read(const char *path, uint32_t number, struct seep_made_profile *profile,
                            struct seep_error *err)
{
    gzFile file = seep_packed_open(path, err);

    if (!file)
        return -SEEP_EIO;
    gzbuffer(file, BUFFER_BYTES);
    const struct seep_pickle_source whole = {file, read_file};
    struct seep_torch_page page;
    const bool is_page = seep_torch_page_open(&page, &whole);
    if (!is_page)
        (void)gzrewind(file);
    const int rc = seep_torch_profile_make(
        is_page ? &(struct seep_pickle_source){&page, seep_torch_page_read} : &whole, path, number,
        profile, err);
    gzclose(file);
    return rc;
}
