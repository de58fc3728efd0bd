/* What `seep-lab verify` holds of the caching allocator: PyTorch's blocks and segments. */
#ifndef SEEP_KERNELS_CACHING_JUDGE_H
#define SEEP_KERNELS_CACHING_JUDGE_H

#include "kernels/lab/rows.h"

/* A row for each of some requests. */
void seep_caching_judge(struct seep_rows *rows);

#endif
