/* Follows the events of a snapshot, and counts for each stack in each space what it allocated and
 * kept: what the shim counts in a job. */
#ifndef SEEP_LIBPROF_TORCH_TORCH_REPLAY_H
#define SEEP_LIBPROF_TORCH_TORCH_REPLAY_H

#include "libprof/format/layout_format.h"
#include "libprof/format/profile_format.h"
#include "libprof/torch/torch_before.h"
#include "libprof/torch/torch_pace.h"
#include "libprof/torch/torch_steps.h"

struct seep_torch_site {
    struct seep_site totals;   /* `stack`: of the records; its space: in spaces[] */
    struct seep_detail detail; /* of more than one period, or of which something was freed */
    struct seep_point *points; /* at the ends of the periods before the last */
    uint32_t n_points, points_capacity, shift;
};

struct seep_torch_space {
    char name[24];
    uint8_t device;
    enum seep_torch_tier tier;
    uint64_t live_bytes, peak_bytes;
    uint32_t peak_period;
    uint64_t rows[SEEP_TIMELINE_ROWS]; /* live bytes */
};

/* A request that PyTorch's allocator could not meet. */
struct seep_torch_oom {
    const struct seep_torch_event *event;
    uint32_t period;
    uint64_t tensor_bytes, driver_bytes; /* live then */
};

/* Where blocks lay: on a device as the driver had given more than ever before, and as there was no
 * room. */
struct seep_torch_layout {
    uint8_t device;
    enum seep_layout_reason reason;
    int64_t time_us;
    uint32_t period;
    uint64_t asked_bytes;
    struct seep_layout_block *blocks; /* segments first; `site`: index in sites[] */
    size_t n, capacity;
};

struct seep_torch_replay {
    const struct seep_torch_records *records;
    const struct seep_torch_steps *steps;
    struct seep_torch_pace pace;
    struct seep_torch_space spaces[SEEP_MAX_SPACES];
    size_t n_spaces;
    struct seep_torch_site *sites;
    size_t n_sites, sites_capacity;
    struct seep_hash_index site_index;
    struct seep_torch_oom ooms[SEEP_MAX_OOMS];
    size_t n_ooms; /* keeps counting when the table is full */
    struct seep_torch_layout layouts[2 * SEEP_TORCH_DEVICES];
    size_t n_layouts;
    uint64_t unknown_bytes; /* of tensors that were there before, whose stacks are not known */
    int64_t start_us, end_us;
    uint32_t n_rows;
};

/* *replay has to be released by seep_torch_replay_fini() in either case. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_torch_replay(struct seep_torch_replay *replay,
                                      const struct seep_torch_records *records,
                                      const struct seep_torch_steps *steps);
void seep_torch_replay_fini(struct seep_torch_replay *replay);

/* The period that a time lies in: 0 is what was there before; then the steps before the history, as
 * far as its pace tells of them (`pace.steps`); then a step, or a slice of time. */
uint32_t seep_torch_period(const struct seep_torch_replay *replay, int64_t time_us);
int64_t seep_torch_row_us(const struct seep_torch_replay *replay, uint32_t row);

#endif
