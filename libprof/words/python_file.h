/* Files of Python code, by their paths. */
#ifndef SEEP_LIBPROF_WORDS_PYTHON_FILE_H
#define SEEP_LIBPROF_WORDS_PYTHON_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a file belongs to an installed package, to the standard library or to the interpreter
 * itself. preload/steps/code_marks.c tells the same while recording. */
bool seep_python_file_is_library(const char *path);

/* Whether it is Python's own code that stands between a call and the C library it is of. */
bool seep_python_file_calls_c(const char *path);

/* The package that a file of Python or a module of C lies in: "numpy" of …/site-packages/numpy/x.so
 * and of numpy.libs/, "Python" of what comes with it. false: of none that is known. */
bool seep_python_file_package(const char *path, char *package, size_t n);

#endif
