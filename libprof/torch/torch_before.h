/* What was on a device before the first event of a snapshot: a ring buffer begins in the middle of
 * things. It is found backwards, from what is there at the end. */
#ifndef SEEP_LIBPROF_TORCH_TORCH_BEFORE_H
#define SEEP_LIBPROF_TORCH_TORCH_BEFORE_H

#include "libprof/torch/torch_blocks.h"
#include "libprof/torch/torch_records.h"

/* What the program has, and what the driver gave for it. */
enum seep_torch_tier { SEEP_TORCH_TENSORS, SEEP_TORCH_DRIVER, SEEP_TORCH_TIERS };

bool seep_torch_is_of(const struct seep_torch_event *e, enum seep_torch_tier tier);
bool seep_torch_allocates(const struct seep_torch_event *e);

/* Segments that can grow do so by whole pages of the driver: what is mapped at once may be given
 * back in parts. So pages are followed one by one, unless there are too many. */
bool seep_torch_goes_by_pages(const struct seep_torch_records *records);

/* The pieces of what an event or a segment is about. */
struct seep_torch_pieces {
    struct seep_torch_live piece; /* the next; `bytes` 0: there is none */
    uint64_t end;
};

struct seep_torch_pieces seep_torch_pieces_of(const struct seep_torch_event *e, bool by_pages);
bool seep_torch_next_piece(struct seep_torch_pieces *pieces, struct seep_torch_live *piece);

/* Adds what was there to *live: `owner` is its stack, 0 where that is not known. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_torch_before(const struct seep_torch_records *records, uint8_t device,
                                      enum seep_torch_tier tier, bool by_pages,
                                      struct seep_torch_blocks *live);

#endif
