/* The parts of a training job that a line may belong to. Reports call them roles. Pure. */
#ifndef SEEP_LIBPROF_WORDS_PARTS_H
#define SEEP_LIBPROF_WORDS_PARTS_H

enum seep_part {
#define SEEP_PART(id, name) SEEP_PART_##id,
#include "libprof/words/parts.def"
#undef SEEP_PART
    SEEP_N_PARTS
};

/* "dataset" and so on. */
const char *seep_part_name(enum seep_part part);

#endif
