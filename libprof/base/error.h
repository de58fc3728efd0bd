/* Errors of libprof: every function that can fail returns 0 or one of these, negated. */
#ifndef SEEP_LIBPROF_BASE_ERROR_H
#define SEEP_LIBPROF_BASE_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SEEP_MUST_CHECK __attribute__((warn_unused_result))

enum {
    SEEP_EINVAL = 1, /* the caller's arguments */
    SEEP_ENOMEM,     /* no memory */
    SEEP_EIO,        /* open, read or write failed */
    SEEP_EFORMAT,    /* not a file of this kind, or damaged beyond use */
    SEEP_EVERSION,   /* written by another version of the format */
    SEEP_ENODATA,    /* nothing readable there */
    SEEP_EDEVICE,    /* no such device, or it failed */
    SEEP_ELIMIT,     /* it would take more work than was allowed */
};

enum { SEEP_ERROR_FILE_BYTES = 1024, SEEP_ERROR_TEXT_BYTES = 256 };

/* Where and why. The first error wins: one already filled (text[0] != 0) is left alone. Texts may
 * quote names from untrusted files; they hold no control characters. */
struct seep_error {
    char file[SEEP_ERROR_FILE_BYTES]; /* "" if no file is concerned */
    uint64_t offset;                  /* in the file, 0 if none is meant */
    char text[SEEP_ERROR_TEXT_BYTES]; /* "what went wrong", without a full stop */
};

/* Fills *err (NULL is allowed) and returns -code, so that it can stand in a return statement.
 * Threads: safe on distinct outputs. Allocates: nothing. */
int seep_error_set(struct seep_error *err, int code, const char *file, uint64_t offset,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));

/* "no memory" and so on, for a code with or without its sign. Never NULL. */
const char *seep_error_name(int code);

#ifdef __cplusplus
}
#endif
#endif
