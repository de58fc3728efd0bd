/* The pickle in a page that memory_viz has written (`python -m torch.cuda._memory_viz trace_plot`):
 * as base64, in a list as JSON near its beginning. */
#ifndef SEEP_LIBPROF_TORCH_TORCH_PAGE_H
#define SEEP_LIBPROF_TORCH_TORCH_PAGE_H

#include "libprof/torch/pickle_read.h"

#include <stdbool.h>

enum { SEEP_TORCH_PAGE_BYTES = 4096, SEEP_TORCH_PAGE_TEXT = 16 * 1024 };

struct seep_torch_page {
    const struct seep_pickle_source *from;
    char text[SEEP_TORCH_PAGE_TEXT]; /* that was read and not decoded yet */
    size_t at, end;
    uint32_t bits; /* of the sign that is decoded last */
    unsigned n_bits;
    bool has_ended;
};

/* Where the base64 begins; 0: the bytes do not begin such a page. */
size_t seep_torch_page_begins(const char *bytes, size_t n);

/* Passes over what is before the pickle. `from` begins at the page's beginning. False: there is
 * none. */
bool seep_torch_page_open(struct seep_torch_page *page, const struct seep_pickle_source *from);

/* A seep_pickle_source's read() of a page that is open. */
int64_t seep_torch_page_read(void *page, void *buffer, size_t n);

#endif
