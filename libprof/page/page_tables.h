/* Tables that a page's sites share, with everything once: texts, frames, and stacks as a tree.
 * Numbers of texts, frames and stacks count from 0; a parent is in its table before its
 * children. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_TABLES_H
#define SEEP_LIBPROF_PAGE_PAGE_TABLES_H

#include "libprof/base/pair_index.h"
#include "libprof/page/page_columns.h"
#include "libprof/page/page_texts.h"
#include "libprof/report_read/frame_table.h"

#include <jansson.h>
#include <stdbool.h>

enum { SEEP_PAGE_TEXT_BYTES = 1000 }; /* longer texts are cut and end in "…" */

struct seep_page_stack {
    uint32_t parent; /* SEEP_HASH_NONE: this is the outermost frame */
    uint32_t frame;
};

/* Stacks as a tree, each once; a parent is before its children. All zero: empty. */
struct seep_page_stacks {
    struct seep_page_stack *list;
    size_t n, capacity;
    struct seep_pair_index index;
};

/* The number of the stack of that frame below that parent; SEEP_HASH_NONE without memory.
 * Allocates. */
uint32_t seep_page_stacks_add(struct seep_page_stacks *stacks, uint32_t parent, uint32_t frame);
void seep_page_stacks_fini(struct seep_page_stacks *stacks);

/* A frame of the report: numbers of texts, −1 for none. */
struct seep_page_frame {
    json_int_t line; /* −1: unknown */
    int32_t name, file, module, source;
    bool is_native;
    bool is_library; /* Python code of a package or of Python itself, as the analysis has it */
};

/* Frames, in the order of their numbers. All zero: empty. */
struct seep_page_frames {
    struct seep_page_frame *list;
    size_t n, capacity;
};

/* Writes them as the columns kind (0 the job's Python, 1 native, 3 a library's Python), name, file,
 * line, module and source. `put` returns 0 or −1. Returns 0 or -SEEP_EIO. */
SEEP_MUST_CHECK int seep_page_frames_write(const struct seep_page_frames *frames,
                                           json_dump_callback_t put, void *context);

/* All zero: empty. `failed`: memory was short; all later calls do nothing. */
struct seep_page_tables {
    struct seep_page_texts texts;
    struct seep_page_frames frames;
    struct seep_frames numbers; /* of the report's frames */
    struct seep_page_stacks stacks;
    bool failed;
};

void seep_page_tables_fini(struct seep_page_tables *tables);

/* The number of a text; NULL: −1. Allocates. */
json_int_t seep_page_text(struct seep_page_tables *tables, const char *text);

/* The number of the text that lists these process ids, "12 13", uncut; −1 for none. Allocates. */
json_int_t seep_page_pids(struct seep_page_tables *tables, const json_t *pids);

/* The numbers of a frame of the report and of a stack (innermost first, as in reports);
 * SEEP_HASH_NONE for no frame, no stack, or without memory. Frames are equal if they are the same
 * object in memory, which holds for reports made in this process, not for those read from a file.
 * They must outlive the tables. Allocate. */
uint32_t seep_page_frame(struct seep_page_tables *tables, const json_t *frame);
uint32_t seep_page_stack(struct seep_page_tables *tables, const json_t *frames);

/* Writes the stacks as the columns parent, −1 if there is none, and frame. `put` returns 0 or −1.
 * Returns 0 or -SEEP_EIO. */
SEEP_MUST_CHECK int seep_page_stacks_write(const struct seep_page_stacks *stacks,
                                           json_dump_callback_t put, void *context);

/* The text, cut. A new reference; NULL without memory. */
json_t *seep_page_cut(const char *text);

/* A copy of a part of the report with all long texts cut, which shares the others. A new reference;
 * NULL without memory. */
json_t *seep_page_copy(const json_t *value);

/* Appends a value, which it takes over, to the column of that name; the first value creates it. */
void seep_page_add(json_t *columns, const char *name, json_t *value, bool *failed);

/* The number of a frame or stack in page form: −1 for SEEP_HASH_NONE. A new reference. */
json_t *seep_page_number(uint32_t id);

#endif
