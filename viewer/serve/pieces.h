/* Bytes to be sent, both plain and compressed, made once each. A body is several pieces in a row,
 * such as the page's beginning, a reading's data and the page's end; none is copied. */
#ifndef SEEP_VIEWER_SERVE_PIECES_H
#define SEEP_VIEWER_SERVE_PIECES_H

#include "libprof/base/error.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

struct seep_piece {
    const char *text;
    size_t n;
    unsigned char *deflated; /* deflate blocks without a final one, so that others may follow */
    size_t n_deflated;
    unsigned long crc;
};

enum { SEEP_MOST_PIECES = 3 };

/* Compresses; `text` stays the caller's, and must outlive the piece. Returns 0 or -SEEP_ENOMEM.
 * Free it by seep_piece_fini(). */
SEEP_MUST_CHECK int seep_piece_init(struct seep_piece *piece, const char *text, size_t n);
void seep_piece_fini(struct seep_piece *piece);

/* A response of n pieces, at most SEEP_MOST_PIECES; `done(owner)` is called when the pieces are no
 * longer needed. NULL without memory: done() was not called then. */
struct MHD_Response *seep_pieces_response(const struct seep_piece *const *pieces, size_t n,
                                          bool gzip, void (*done)(void *owner), void *owner);

#endif
