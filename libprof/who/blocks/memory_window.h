/* A piece of a process's memory at a time, for walks from one end to the other: read by large
 * calls, and not kept. */
#ifndef SEEP_LIBPROF_WHO_BLOCKS_MEMORY_WINDOW_H
#define SEEP_LIBPROF_WHO_BLOCKS_MEMORY_WINDOW_H

#include "libprof/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A window page is what is read of memory of which not all is needed; a machine's page may be
 * several. */
enum { SEEP_WINDOW_BYTES = 256 << 10, SEEP_WINDOW_PAGE = 4096 };

/* Copies up to n bytes at `address` to `to`; returns how many from the start could be read. */
typedef size_t seep_window_source(void *context, uint64_t address, void *to, size_t n);

struct seep_window {
    seep_window_source *source;
    void *context;
    uint64_t start; /* the address of bytes[n] */
    size_t n;
    bool sparse;         /* pages are skipped: one is read at a time */
    uint64_t page_bytes; /* of the machine whose memory it is */
    uint8_t *bytes;
};

/* Returns 0 or -SEEP_ENOMEM. Allocates; seep_window_fini() in either case. */
SEEP_MUST_CHECK int seep_window_init(struct seep_window *window, uint64_t page_bytes,
                                     seep_window_source *source, void *context);
void seep_window_fini(struct seep_window *window);

/* Copies all of [address, address + n). If that cannot be read: false, and zeros. */
bool seep_window_read(struct seep_window *window, uint64_t address, void *to, size_t n);

/* 0 where it cannot be read. */
uint64_t seep_window_word(struct seep_window *window, uint64_t address);

#endif
