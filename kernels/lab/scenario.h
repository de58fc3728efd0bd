/* A scenario: one of the seed systems (README.md names them), rebuilt small, in its leaking and its
 * fixed variants. `seep-lab job` runs one variant in this process; `seep-lab run` and `seep-lab
 * verify` start that under `seep run` and compare seep's verdict with what the scenario expects. */
#ifndef SEEP_KERNELS_SCENARIO_H
#define SEEP_KERNELS_SCENARIO_H

#include "kernels/compute/stream.h"
#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct seep_scenario_options {
    const char *variant;
    enum seep_device device;
    double scale;       /* 1: the seed's own size; default 0.01 */
    const char *data;   /* folder with the scenario's input; never NULL: made where not given */
    const char *images; /* the folder of the photos in `data`, or NULL: the format's own */
    const char *out;    /* folder for pictures, or NULL: none are written */
    const char *save;   /* file for what was trained, or NULL: it is lost */
    uint64_t seed;
    unsigned epochs;         /* 0: the scenario's own number */
    uint64_t capacity_bytes; /* of the GPU that it models; 0: the scenario's own */
    bool progress;           /* a progress line on stderr (a terminal) */
};

struct seep_variant {
    const char *name;
    const char *summary;
    const char *pattern;  /* that seep must find in it (docs/report.schema.json has them), NULL: no
                             leak, no retention */
    const char *severity; /* that this finding must have; given with every pattern */
    const char *function; /* the C function whose line the finding must name, NULL: not held */
    const char *others;   /* "first, second": patterns of further leaks and retentions that are its
                             own, too. NULL: there are none */
    const char *cured;    /* pattern that it must be without, however mild; NULL: not held */
    double least_scale;   /* below it there are too few steps: the pattern may be found, or not */
    bool fails;           /* the job itself must fail (alias-del) */
    bool may_fail;        /* it may: that depends on the seed */
};

/* What run() returns, negated and with a text, where the training failed of the very mistake that
 * the variant shows; beside those of libprof/base/error.h. */
enum { SEEP_EVARIANT = 64 };

/* A leaking variant and its fix, for `seep verify`: 0 from before to after, 1 from after to before.
 * A fix that leaves something is none for seep: 1 both ways. */
struct seep_fix {
    const char *before, *after;
    const char *vanishes; /* pattern; NULL: not held beyond seep's verdict */
    const char *leaves;   /* pattern of all that remains or is new; NULL: there is nothing */
    bool as_predicted;    /* peaks fall as much as seep said they would */
    double least_scale;   /* below it there is too little for a word: not held */
    bool on_host; /* seep looks for this in memory of the host alone: not held on a device */
};

/* What one variant's run gave. */
struct seep_outcome {
    const struct seep_variant *variant;
    int status;       /* wait status of the job */
    json_t *report;   /* report.json of seep, or NULL where it left none */
    json_t *measured; /* what the scenario itself measured (object), NULL where it left nothing */
};

struct seep_rows; /* see rows.h */

struct seep_scenario {
    const char *name;
    const char *summary;
    const struct seep_variant *variants; /* ends with name == NULL */
    const struct seep_fix *fixes;        /* ends with before == NULL */
    bool uses_device;                    /* SEEP_DEVICE_CUDA makes a difference to it */
    bool trains_gaussians;               /* takes options.images, .out and .save */
    bool has_capacity;                   /* its GPU can be full: options.capacity_bytes */
    uint64_t machine_bytes; /* memory of the machine that it is for, at full size; 0: 64 GiB */

    /* Writes the input of a run into an empty folder. NULL: the scenario needs none. */
    int (*make_data)(const char *folder, double scale, uint64_t seed, struct seep_error *err);

    /* Runs the variant in this process and its forks; `measured` is an object to fill with figures.
     * 0 or a negative SEEP_E…, -SEEP_EVARIANT included, why in *err. */
    int (*run)(const struct seep_scenario_options *options, json_t *measured,
               struct seep_error *err);

    /* Holds all variants' outcomes, in the order of `variants`, against the seed's figures. Any of
     * them may lack its report or its measured figures. */
    void (*judge)(const struct seep_outcome *outcomes, double scale, struct seep_rows *rows);

    /* Further rows, for which nothing has to be run: its model over many seeds. NULL: none. */
    void (*survey)(struct seep_rows *rows);
};

/* All of them; ends with NULL. */
extern const struct seep_scenario *const seep_scenarios[];

extern const struct seep_scenario seep_pointgroup, seep_minkowski, seep_maskrcnn, seep_splat,
    seep_featdepth;

#endif
