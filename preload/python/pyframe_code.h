/* The texts and lines of a code object. Reads only; threads: any; allocates: never. */
#ifndef SEEP_PRELOAD_PYTHON_PYFRAME_CODE_H
#define SEEP_PRELOAD_PYTHON_PYFRAME_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "preload/python/pyframe_layout.h"
#include "preload/python/pyframe_lines.h"

/* A text as UTF-8: in place where it is ASCII, else converted into the free part of a buffer. */
struct seep_pytext {
    const char *text;
    uint32_t len;
};

/* Where conversions go; `used` grows. */
struct seep_pyscratch {
    char *buffer;
    size_t used, size;
};

/* The text of a str object (or of a subclass). Empty when `object` is not one. Text that does not
 * fit is cut after a whole character; lone surrogates (undecodable bytes of a file name) become
 * U+FFFD. */
struct seep_pytext seep_pytext_read(const struct seep_python_layout *layout, uintptr_t object,
                                    struct seep_pyscratch *scratch);

/* The line of an instruction, as in frame.f_lineno; 0 if it has none.
 *   code      a code object of this layout
 *   position  as a walk stores it
 *   memo      this code object's, or zero but for its key */
uint32_t seep_pycode_line(const struct seep_python_layout *layout, uintptr_t code,
                          uintptr_t position, struct seep_pyline_memo *memo);

#endif
