/* Bytes to be sent, plain and compressed once each; a body is several of them in a row, such as the
 * page's beginning, the data of a reading and the page's end, and copies none. */
#ifndef SEEP_VIEWER_SERVE_PIECES_H
#define SEEP_VIEWER_SERVE_PIECES_H

#include "libprof/base/error.h"

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

struct seep_piece {
    const char *text;
    size_t n;
    unsigned char *deflated; /* blocks of deflate without an end, so that others may follow */
    size_t n_deflated;
    unsigned long crc;
};

enum { SEEP_MOST_PIECES = 3 };

/* Compresses; `text` stays the caller's, and must stay. Returns 0 or -SEEP_ENOMEM. Free it by
 * seep_piece_fini(). */
SEEP_MUST_CHECK int seep_piece_init(struct seep_piece *piece, const char *text, size_t n);
void seep_piece_fini(struct seep_piece *piece);

/* An answer of n pieces, at most SEEP_MOST_PIECES; `done(owner)` is called when nobody needs the
 * pieces any more. NULL without memory: done() was not called then. */
struct MHD_Response *seep_pieces_response(const struct seep_piece *const *pieces, size_t n,
                                          bool gzip, void (*done)(void *owner), void *owner);

#endif
