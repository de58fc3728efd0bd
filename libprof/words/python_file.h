/* Files of Python code, by their paths. */
#ifndef SEEP_LIBPROF_WORDS_PYTHON_FILE_H
#define SEEP_LIBPROF_WORDS_PYTHON_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a file belongs to an installed package, to the standard library or to the interpreter
 * itself. preload/steps/code_marks.c decides the same while recording. */
bool seep_python_file_is_library(const char *path);

/* Whether it is Python's own code between a call and the C library that the call is for. */
bool seep_python_file_calls_c(const char *path);

/* The package of a Python file or C module: "numpy" for …/site-packages/numpy/x.so and for
 * numpy.libs/, "Python" for what comes with Python. False if no package is known. */
bool seep_python_file_package(const char *path, char *package, size_t n);

#endif
