/* The parts of a training job that a line may belong to. Reports call them roles. Pure. */
#ifndef SEEP_LIBPROF_WORDS_PARTS_H
#define SEEP_LIBPROF_WORDS_PARTS_H

enum seep_part {
    SEEP_PART_OTHER = 0, /* the user's own code, nothing more is known */
    SEEP_PART_DATASET,
    SEEP_PART_LOADER,
    SEEP_PART_CAMERA,
    SEEP_PART_MODEL,
    SEEP_PART_BACKWARD,
    SEEP_PART_OPTIMIZER,
    SEEP_PART_LOGGING,
    SEEP_PART_CHECKPOINT,
    SEEP_PART_COLLECTIVE,
    SEEP_PART_LIBRARY, /* no frame of the user's */
    SEEP_N_PARTS
};

/* "dataset" and so on. */
const char *seep_part_name(enum seep_part part);

#endif
