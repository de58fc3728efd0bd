#include "libprof/export/gzip.h"

#include <string.h>

enum { GZIP_WINDOW = 15 + 16 }; /* deflateInit2(): the largest window, and gzip's header */

void seep_gzip_begin(struct seep_gzip *gzip, FILE *out)
{
    memset(gzip, 0, sizeof *gzip);
    gzip->out = out;
    if (deflateInit2(&gzip->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        gzip->rc = -SEEP_ENOMEM;
}

static void deflate_all(struct seep_gzip *gzip, int flush)
{
    unsigned char made[16384];

    do {
        gzip->z.next_out = made;
        gzip->z.avail_out = sizeof made;
        deflate(&gzip->z, flush);
        const size_t n = sizeof made - gzip->z.avail_out;
        if (fwrite(made, 1, n, gzip->out) != n)
            gzip->rc = -SEEP_EIO;
    } while (!gzip->rc && gzip->z.avail_out == 0);
}

void seep_gzip_write(struct seep_gzip *gzip, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    while (n && !gzip->rc) {
        const unsigned piece = n < 1u << 30 ? (unsigned)n : 1u << 30;
        gzip->z.next_in = (unsigned char *)p;
        gzip->z.avail_in = piece;
        deflate_all(gzip, Z_NO_FLUSH);
        p += piece;
        n -= piece;
    }
}

int seep_gzip_end(struct seep_gzip *gzip)
{
    if (!gzip->rc) {
        gzip->z.next_in = NULL;
        gzip->z.avail_in = 0;
        deflate_all(gzip, Z_FINISH);
    }
    deflateEnd(&gzip->z);
    return gzip->rc;
}
