/* Files of Python code, by their paths. */
#ifndef SEEP_LIBPROF_WORDS_PYTHON_FILE_H
#define SEEP_LIBPROF_WORDS_PYTHON_FILE_H

#include <stdbool.h>

/* Whether a file belongs to an installed package, to the standard library or to the interpreter
 * itself. preload/steps/code_marks.c tells the same while recording. */
bool seep_python_file_is_library(const char *path);

#endif
