/* Small blocks that stay keep the free memory of malloc's heap between them from being joined: what
 * is asked for later fits into none of it. */
#ifndef SEEP_LIBPROF_JUDGE_HEAP_PINS_H
#define SEEP_LIBPROF_JUDGE_HEAP_PINS_H

#include "libprof/code/code.h"
#include "libprof/measure/span.h"
#include "libprof/model/live_level.h"

/* What a line's small blocks gained in the judged steps. */
struct seep_heap_pins {
    uint32_t frame;
    int64_t blocks, bytes; /* 0: no line's became more */
    bool keep_coming;      /* up to the end, and are enough to tell */
    enum seep_part part;
    uint32_t *sites;                 /* [n] of the line, */
    struct seep_level_point *gained; /* [n] and what each gained */
    size_t n;
};

/* The line of a process whose small blocks became most. Returns 0 or -SEEP_ENOMEM; call
 * seep_heap_pins_fini() in either case. */
SEEP_MUST_CHECK int seep_heap_pins_find(const struct seep_code *code, const struct seep_span *span,
                                        uint32_t process, struct seep_heap_pins *pins);
void seep_heap_pins_fini(struct seep_heap_pins *pins);

#endif
