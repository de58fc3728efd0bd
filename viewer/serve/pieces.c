#include "viewer/serve/pieces.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { RAW_WINDOW = -15, HEAD_BYTES = 10, END_BYTES = 10, LEVEL = 4 };

/* A piece is smaller than 4 GiB: no browser takes a report of that size. */
static int deflate_piece(struct seep_piece *piece)
{
    z_stream z = {0};

    if (deflateInit2(&z, LEVEL, Z_DEFLATED, RAW_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return -SEEP_ENOMEM;
    const size_t room = deflateBound(&z, piece->n) + 16; /* the flush's empty block */
    piece->deflated = malloc(room);
    if (piece->deflated) {
        z.next_in = (unsigned char *)piece->text;
        z.avail_in = (unsigned)piece->n;
        z.next_out = piece->deflated;
        z.avail_out = (unsigned)room;
        deflate(&z, Z_SYNC_FLUSH);
        piece->n_deflated = room - z.avail_out;
    }
    const bool whole = piece->deflated && z.avail_in == 0;
    deflateEnd(&z);
    return whole ? 0 : -SEEP_ENOMEM;
}

int seep_piece_init(struct seep_piece *piece, const char *text, size_t n)
{
    *piece = (struct seep_piece){.text = text, .n = n};
    if (n >= UINT32_MAX / 2)
        return -SEEP_ENOMEM;
    piece->crc = crc32(0, (const unsigned char *)text, (unsigned)n);
    int r = deflate_piece(piece);
    if (r < 0)
        seep_piece_fini(piece);
    return r;
}

void seep_piece_fini(struct seep_piece *piece)
{
    free(piece->deflated);
    piece->deflated = NULL;
}

struct body {
    unsigned char end[END_BYTES]; /* an empty final block, the checksum, the length */
    void (*done)(void *owner);
    void *owner;
};

static void free_body(void *of)
{
    struct body *body = of;

    body->done(body->owner);
    free(body);
}

static void put_32(unsigned char *at, unsigned long value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

static void make_end(struct body *body, const struct seep_piece *const *pieces, size_t n)
{
    unsigned long crc = 0, length = 0;

    for (size_t i = 0; i < n; i++) {
        crc = crc32_combine(crc, pieces[i]->crc, (z_off_t)pieces[i]->n);
        length += pieces[i]->n;
    }
    body->end[0] = 3; /* a final block of fixed codes that ends at once */
    put_32(body->end + 2, crc);
    put_32(body->end + 6, length);
}

struct MHD_Response *seep_pieces_response(const struct seep_piece *const *pieces, size_t n,
                                          bool gzip, void (*done)(void *owner), void *owner)
{
    static const unsigned char head[HEAD_BYTES] = {0x1f, 0x8b, Z_DEFLATED, [9] = 3};
    struct MHD_IoVec parts[SEEP_MOST_PIECES + 2];
    unsigned used = 0;
    struct body *body = calloc(1, sizeof *body);

    if (!body)
        return NULL;
    body->done = done;
    body->owner = owner;
    if (gzip) {
        make_end(body, pieces, n);
        parts[used++] = (struct MHD_IoVec){head, sizeof head};
    }
    for (size_t i = 0; i < n; i++)
        parts[used++] = gzip ? (struct MHD_IoVec){pieces[i]->deflated, pieces[i]->n_deflated}
                             : (struct MHD_IoVec){pieces[i]->text, pieces[i]->n};
    if (gzip)
        parts[used++] = (struct MHD_IoVec){body->end, sizeof body->end};
    struct MHD_Response *response = MHD_create_response_from_iovec(parts, used, free_body, body);
    if (!response)
        free(body);
    else if (gzip)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    return response;
}
