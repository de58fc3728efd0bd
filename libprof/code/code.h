/* A job's code, for judges of memory by lines. */
#ifndef SEEP_LIBPROF_CODE_CODE_H
#define SEEP_LIBPROF_CODE_CODE_H

#include "libprof/code/stack_lines.h"
#include "libprof/code/symbols.h"
#include "libprof/model/model.h"

/* Owns nothing; what it points to must outlive it. */
struct seep_code {
    const struct seep_model *model;
    const struct seep_stack_lines *lines; /* of the model's stacks */
    struct seep_symbols *symbols;         /* of its native frames */
};

#endif
