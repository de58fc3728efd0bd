#include "libprof/base/packed_text.h"

#include "libprof/base/hash_index.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* A page has some fifty such texts, so each has little memory of its own: 8 KiB of window, 8 of
 * hashes. Most are the same few bytes over and over. */
enum { LEVEL = 1, RAW_WINDOW = -11, MEMORY = 4, ROOM = 256 };

static int begin(struct seep_packed_text *text)
{
    z_stream *z = calloc(1, sizeof *z);

    if (!z || deflateInit2(z, LEVEL, Z_DEFLATED, RAW_WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(z);
        return -SEEP_ENOMEM;
    }
    text->z = z;
    return 0;
}

static int pack(struct seep_packed_text *text, int flush)
{
    z_stream *z = text->z;

    z->next_in = (unsigned char *)text->next;
    z->avail_in = (unsigned)text->n_next;
    do {
        if (seep_grow(&text->bytes, &text->capacity, text->n + ROOM, 1))
            return -SEEP_ENOMEM;
        z->next_out = text->bytes + text->n;
        z->avail_out = ROOM;
        deflate(z, flush);
        text->n += ROOM - z->avail_out;
    } while (z->avail_out == 0);
    text->n_next = 0;
    return 0;
}

int seep_packed_text_add(struct seep_packed_text *text, const char *bytes, size_t n)
{
    if (!text->z && begin(text))
        return -SEEP_ENOMEM;
    while (n) {
        const size_t room = sizeof text->next - text->n_next, piece = n < room ? n : room;
        memcpy(text->next + text->n_next, bytes, piece);
        text->n_next += piece;
        bytes += piece;
        n -= piece;
        if (text->n_next == sizeof text->next && pack(text, Z_NO_FLUSH))
            return -SEEP_ENOMEM;
    }
    return 0;
}

static void drop_stream(struct seep_packed_text *text)
{
    if (text->z)
        deflateEnd(text->z);
    free(text->z);
    text->z = NULL;
}

int seep_packed_text_end(struct seep_packed_text *text)
{
    const int rc = text->z ? pack(text, Z_FINISH) : 0;

    drop_stream(text);
    return rc;
}

static int unpack(z_stream *z, int (*put)(const char *bytes, size_t n, void *context),
                  void *context)
{
    char made[16384];
    int said;

    do {
        z->next_out = (unsigned char *)made;
        z->avail_out = sizeof made;
        said = inflate(z, Z_NO_FLUSH);
        if (said != Z_OK && said != Z_STREAM_END)
            return -SEEP_ENOMEM; /* what was packed here is whole */
        if (put(made, sizeof made - z->avail_out, context))
            return -SEEP_EIO;
    } while (said != Z_STREAM_END);
    return 0;
}

int seep_packed_text_write(const struct seep_packed_text *text,
                           int (*put)(const char *bytes, size_t n, void *context), void *context)
{
    z_stream z = {.next_in = text->bytes, .avail_in = (unsigned)text->n};

    if (!text->n)
        return 0;
    if (inflateInit2(&z, RAW_WINDOW) != Z_OK)
        return -SEEP_ENOMEM;
    const int rc = unpack(&z, put, context);
    inflateEnd(&z);
    return rc;
}

void seep_packed_text_fini(struct seep_packed_text *text)
{
    drop_stream(text);
    free(text->bytes);
    *text = (struct seep_packed_text){0};
}
