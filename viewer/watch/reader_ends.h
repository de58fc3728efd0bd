/* What the job's table says of readers that have ended. */
#ifndef SEEP_VIEWER_WATCH_READER_ENDS_H
#define SEEP_VIEWER_WATCH_READER_ENDS_H

#include "viewer/job_folder.h"
#include "viewer/watch/reader_room.h"

#include <sys/resource.h>

/* Of which process a copy is, and of which step; each 0: not known. */
struct seep_copy_of {
    uint32_t pid, step, process_plus_1;
};

/* What a reader that has ended took: CPU time, also as the job's where no CPU is free just now, and
 * memory. */
void seep_reader_count_cpu(struct seep_job *job, const struct rusage *usage);

/* A look was given up, or a reader, for memory was short. `claim`: NULL if it had none. */
void seep_reader_note_short(struct seep_job *job, const struct seep_copy_of *of,
                            const struct seep_reader_claim *claim);

/* A reader has ended by itself, or because the kernel wanted its memory. */
void seep_reader_note_end(struct seep_job_folder *folder, const struct seep_copy_of *of,
                          const struct seep_reader_claim *claim, int wait_status);

#endif
