/* CPython's image in this process: the addresses that a stack walk needs, from the symbol tables
 * that the loader has mapped. Only seep_pyimage_cold() reads a file. */
#ifndef SEEP_PRELOAD_PYTHON_PYFRAME_ELF_H
#define SEEP_PRELOAD_PYTHON_PYFRAME_ELF_H

#include <stdbool.h>
#include <stdint.h>

struct seep_pyrange {
    uintptr_t start, end;
};

/* 0 for a missing symbol (runtime: before 3.7, version_word: before 3.11). */
struct seep_pyimage {
    uintptr_t bias;
    bool is_program;                /* else a shared libpython */
    const char *path;               /* the loader's own string; "" for the program */
    uintptr_t eh_frame_hdr;         /* 0: none */
    struct seep_pyrange text;       /* the executable segment with the evaluation loop */
    struct seep_pyrange eval;       /* _PyEval_EvalFrameDefault */
    uintptr_t runtime;              /* _PyRuntime */
    uintptr_t thread_state;         /* PyGILState_GetThisThreadState() */
    uintptr_t version;              /* Py_GetVersion() */
    uintptr_t version_word;         /* Py_Version */
    uintptr_t code_type, cell_type; /* PyCode_Type, PyCell_Type */
};

/* The first object in link order that exports an interpreter; false if there is none. One thread at
 * a time. */
bool seep_pyimage_find(struct seep_pyimage *image);

/* Whether an object with this load bias is still loaded. */
bool seep_pyimage_loaded(uintptr_t bias);

/* Parts of the evaluation loop that the compiler or linker has placed elsewhere (`.cold`, and the
 * handlers of a tail-calling interpreter), in ascending order without overlap. Found by following
 * the loop's own jumps, or by name in the file's .symtab. Returns how many were stored. */
unsigned seep_pyimage_cold(const struct seep_pyimage *image, struct seep_pyrange *ranges,
                           unsigned capacity);

#endif
