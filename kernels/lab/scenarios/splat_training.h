/* A 3D Gaussian Splatting job: photos in random order, forward, loss, backward, Adam; more
 * Gaussians at fixed steps. Tells seep its steps and epochs. */
#ifndef SEEP_KERNELS_SPLAT_TRAINING_H
#define SEEP_KERNELS_SPLAT_TRAINING_H

#include "kernels/lab/scenarios/splat_cameras.h"
#include "kernels/lab/scenarios/splat_gaussians.h"
#include "kernels/lab/scenarios/splat_seen.h"
#include "kernels/splat/splat_loss.h"

/* Densification happens in steps of its own, all in the first half of a job; from one to the next
 * the number of Gaussians grows by the same factor, from that of the points to that of the end. */
enum { SEEP_SPLAT_DENSIFICATIONS = 5 };

/* The step (1 … n_steps) of densification `which`, and how many Gaussians there are after it. */
unsigned seep_splat_densification_step(unsigned which, unsigned n_steps);
size_t seep_splat_densified(unsigned which, size_t n_first, size_t n_last);

/* Lists of cameras beside those trained on. */
enum { SEEP_SPLAT_FURTHER = 3 };

struct seep_splat_job {
    const struct seep_views *views;
    enum seep_camera_policy policy;
    bool carries;  /* a step's picture and passes are freed after the next one's are made */
    bool blows_up; /* near the end scales are taken for their logarithms, once */
    bool clamps;   /* no scale may be larger than the largest of the points' Gaussians */
    bool is_whole; /* opacities are reset, transparent Gaussians go, and from three quarters of the
                      steps on it is a model from a checkpoint that trains */
    bool steps_seen; /* Adam steps the Gaussians of the picture alone; the last step is checked */
    unsigned epochs; /* >= 1 */
    /* Further lists of cameras, whose pictures are on the device before the first step and never
     * trained on; the first are test cameras. */
    const struct seep_views *further;
    size_t n_further; /* at most SEEP_SPLAT_FURTHER */
    size_t n_last;    /* Gaussians after densification: n_points … 16 n_points */
    uint64_t seed;
    const char *pictures; /* folder for PNGs of what was rendered beside the truth; NULL: none */
    const char *save;     /* point_cloud.ply of what was trained, written at the end; NULL: none */
    bool progress;        /* a line on stderr */
    struct seep_stream *stream;
};

struct seep_splat_result {
    unsigned steps;
    size_t n_first, n_last;             /* Gaussians */
    size_t n_pruned;                    /* in all */
    size_t checkpoint_bytes;            /* 0: there was none */
    struct seep_splat_loss first, last; /* mean over some views, before and after training */
    double ssim_first, ssim_last;       /* as these; NAN on a GPU */
    struct seep_splat_loss tested;      /* as `last`, of the test cameras */
    double load_seconds, train_seconds;
    size_t pass_bytes;            /* most that a pass held of Gaussians and pairs */
    size_t scratch_bytes;         /* most that a call took for its own time */
    size_t ssim_bytes;            /* as seep_splat_pass has it */
    double seen;                  /* Gaussians of a step's picture, over all: mean of all steps */
    struct seep_seen_check check; /* of the last step, where those alone are stepped */
    size_t pairs_usual;   /* of Gaussian and tile: most of a step before the scales blow up … */
    size_t pairs_largest; /* … and of any */
};

/* 0 or a negative SEEP_E…, why in *err. */
SEEP_MUST_CHECK int seep_splat_train(const struct seep_splat_job *job,
                                     struct seep_splat_result *result, struct seep_error *err);

/* Renders up to 8 of the views, evenly chosen; *mean and *ssim are over them (psnr_db, the mean of
 * theirs).
 * With `pictures`, writes the first two as view-N-step-STEP.png: rendered left, true right. */
SEEP_MUST_CHECK int seep_splat_evaluate(const struct seep_views *views,
                                        const struct seep_gaussians *g, int sh_degree,
                                        const char *pictures, unsigned step,
                                        struct seep_splat_loss *mean, double *ssim,
                                        struct seep_error *err);

#endif
