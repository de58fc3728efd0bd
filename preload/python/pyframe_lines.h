/* The position that reading a line table has reached. */
#ifndef SEEP_PRELOAD_PYTHON_PYFRAME_LINES_H
#define SEEP_PRELOAD_PYTHON_PYFRAME_LINES_H

#include <stddef.h>
#include <stdint.h>

/* How far a line table has been read: the next line is usually just after the last. */
struct seep_pyline_memo {
    uint64_t code; /* the caller's key; 0: none */
    size_t at;
    int64_t unit, line;
};

#endif
