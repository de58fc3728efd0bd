/* The scenarios' judges: outcomes that are all as expected, and each of them spoilt in one
 * place. */
#include "kernels/lab/rows.h"
#include "kernels/lab/scenario.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VARIANTS = 16, TEXT_BYTES = 2048 };

/* Reports and measured figures, [variant]; with ' for ". */
struct texts {
    const struct seep_scenario *scenario;
    double scale;
    const char *reports[MAX_VARIANTS], *measured[MAX_VARIANTS];
};

#define SHORT                                                                                      \
    "{'findings': [{'pattern': 'out-of-memory', 'shortage': {'cause': 'fragmented', "              \
    "'asked_bytes': 50, 'allocated_bytes': 600, 'unallocated_bytes': 200}}], "                     \
    "'spaces': {'device:0': {'capacity_bytes': 900}}}"
static const struct texts minkowski = {
    &seep_minkowski,
    0.01,
    {[0] = SHORT,
     [5] = "{'processes': [{'rank': 0, 'spaces': {'device:0': {'peak_bytes': 800},"
           " 'device:1': {'peak_bytes': 0}}},"
           " {'rank': 1, 'spaces': {'device:1': {'peak_bytes': 800}}}]}",
     [9] = "{'findings': [{'pattern': 'unbounded-growth', 'peak_bytes': 39e6}]}"},
    {"{'steps': 20, 'fits_alone': 1, 'need_bytes': 700, 'capacity_bytes': 900,"
     " 'refused_bytes': 50, 'refused_live_bytes': 600, 'refused_reserved_bytes': 800}",
     "{'steps': 100, 'driver_calls_per_step': 6, 'out_of_memory': 1, 'fits_alone': 1}",
     "{'steps': 2000, 'driver_calls_per_step': 24, 'out_of_memory': 0}",
     "{'steps': 2000, 'driver_calls_per_step': 0.1, 'steps_per_epoch': 101,"
     " 'voxels_per_scene': 41000, 'coarse_share': 0.244, 'batch_spread': 0.17, 'coarse_spread': "
     "0.044,"
     " 'weight_bytes': 911360, 'live_bytes_per_voxel': 1085, 'validation_steps': 988,"
     " 'capacity_bytes': 975e6}",
     "{'steps': 2, 'fits_alone': 0, 'need_bytes': 901, 'capacity_bytes': 900}",
     "{'steps': 1000, 'steps_per_epoch': 51}", "null", "null", "null",
     "{'trained_map_bytes': 39.1e6}", "null"},
};

#define TRAINED "'gradient_bytes': 1400000, 'loss_last': 0.2"
static const struct texts featdepth = {
    &seep_featdepth,
    0.01,
    {"{}", "{}", "{'findings': [{'pattern': 'collective-buffer', 'saving_bytes': 1400000}]}", "{}",
     "{'processes': [{'rank': 0, 'spaces': {'device:0': {'peak_bytes': 460000000}}},"
     " {'rank': 1, 'spaces': {'device:0': {'peak_bytes': 451258291}}}]}",
     "{}", "{'spaces': {'shm': {'peak_bytes': 30.2e6}}}",
     "{'processes': [{'rank': 0, 'spaces': {'device:0': {'peak_bytes': 460000000}}}]}"},
    {"{" TRAINED ", 'nodes_kept_per_step': 7}", "{" TRAINED ", 'nodes_kept_per_step': 0}",
     "{" TRAINED ", 'transient_over_gradients': 1, 'transient_bytes': 1400000}",
     "{" TRAINED ", 'transient_over_gradients': 0.1786}", "{" TRAINED "}",
     "{" TRAINED ", 'nodes_kept_per_validation_step': 7}", "{" TRAINED "}",
     "{" TRAINED ", 'loss_first': 0.3, 'validation_loss': 0.25, 'context_bytes': 450e6,"
     " 'batch_bytes': 1258291, 'steps_an_epoch': 50, 'validation_steps_an_epoch': 6,"
     " 'validation_sample_over_one_frame': 4, 'epochs_in_the_same_order': 0,"
     " 'epochs_in_the_same_order_without_set_epoch': 5, 'samples_of_both_ranks': 0, "
     "'rank_1_bytes_on_device_0': 0,"
     " 'own_loss_between_ranks': 0.01, 'logged_loss_between_ranks': 0, 'mean_of_own_losses': 0.2,"
     " 'own_statistics_between_ranks': 0.5, 'synchronised_statistics_between_ranks': 0}"},
};

#define OWNED(steps, host, gpu)                                                                    \
    "{'findings': [{'pattern': 'aliased-cache', 'live_bytes': 179.2e6, 'plateau_step': 40}], "     \
    "'job': {'steps': 40}, 'timeline': {'step': [" steps "], 'spaces': {'host': {'live_bytes': "   \
    "[" host "]}, 'tensor:0': {'live_bytes': [" gpu                                                \
    "]}}}, 'spaces': {'device:0': {'peak_bytes': 180e6}}, "                                        \
    "'sites': [{'space': 'host', 'peak_bytes': 16000000, 'stack': [{'function': 'malloc'}, "       \
    "{'function': 'collate_divide'}]}]}"
#define NONE "0, 5000, 0, 0"
#define ALL  "36e6, 89.6e6, 179.2e6, 179.2e6"
#define FLAT OWNED("16, 32, 48, 88", NONE, NONE)
#define ON_GPU(device, tensors)                                                                    \
    "{'job': {'steps': 40}, 'timeline': {'step': [32], 'spaces': {'device:0': {'live_bytes': "     \
    "[" device "]}, 'tensor:0': {'live_bytes': [" tensors "]}}}}"
static const struct texts maskrcnn = {
    &seep_maskrcnn,
    0.016,
    {OWNED("12, 32, 48, 88", ALL, NONE), FLAT, FLAT, FLAT, OWNED("12, 32, 48, 88", NONE, ALL), FLAT,
     ON_GPU("115e6", "0"), ON_GPU("23e6", "0"), ON_GPU("30e6", "0"),
     "{'findings': [{'pattern': 'aliased-cache', 'live_bytes': 294.9e6, 'plateau_step': 40}], "
     "'timeline': {'step': [32, 48, 88], 'spaces': {'tensor:0': {'live_bytes': [147.4e6, 294.9e6, "
     "294.9e6]}}}}",
     "{'findings': [{'pattern': 'eager-retention', 'live_bytes': 179.2e6}]}"},
    {"{'steps_per_epoch': 40, 'mask_bytes': 179.2e6, 'image_bytes': 294.9e6,"
     " 'targets_with_tensors_before': 80}",
     "null", "{'targets_with_tensors_before': 0}",
     "{'largest_mask_bytes': 2000000, 'largest_batch_mask_bytes': 7e6,"
     " 'targets_with_tensors_before': 0}",
     "null", "null",
     "{'used_live_bytes': 12e6, 'deleted_live_bytes': 7.52e6, 'used_reserved_bytes': 140e6,"
     " 'deleted_reserved_bytes': 140e6, 'transformed_batch_bytes': 20889600}",
     "{'used_live_bytes': 12e6, 'deleted_live_bytes': 7.52e6, 'used_reserved_bytes': 103e6,"
     " 'deleted_reserved_bytes': 103e6, 'emptied_reserved_bytes': 23e6}",
     "{'targets_with_tensors_before': 80}", "null", "null"},
};

#define WORKER "{'role': 'loader-worker'}"
#define FOUR   WORKER ", " WORKER ", " WORKER ", " WORKER
#define EIGHT  FOUR ", " FOUR
#define LOADED(more)                                                                               \
    "{" more "'processes': [{'role': 'trainer'}, " EIGHT ", " EIGHT ", " EIGHT ", " EIGHT "]}"
#define PEAK(bytes) LOADED("'job': {'pss_peak_bytes': " bytes ", 'limit_bytes': 172e6}, ")
static const struct texts pointgroup = {
    &seep_pointgroup,
    0.01,
    {PEAK("250000000"), PEAK("40000000"), PEAK("140000000"), LOADED(""),
     LOADED("'spaces': {'pinned': {'peak_bytes': 70e6}}, ")},
    {"{'epochs': 1, 'validation_loss': 0.5, 'dataset_bytes': 110000000, 'scenes': 1513,"
     " 'steps': 300, 'largest_scene_points': 6900, 'smallest_scene_points': 390,"
     " 'largest_piece_points': 2490, 'voxel_metres': 0.02, 'densest_voxel': 121,"
     " 'own_batch_seconds': 0.01}",
     "{'epochs': 1, 'validation_loss': 0.5, 'batch_seconds': 0.02, 'own_batch_seconds': 0.02}",
     "{'epochs': 1, 'validation_loss': 0.5, 'batch_seconds': 0.01, 'own_batch_seconds': 0.01}",
     "{'epochs': 1, 'validation_loss': 0.5}",
     "{'epochs': 1, 'validation_loss': 0.5, 'pinned_bytes': 70e6, 'pinned_asked_bytes': 40e6,"
     " 'pinned_batches': 33}"},
};

/* 100 pictures of 1 MB in 200 steps, beside 5 MB. */
#define PICTURES                                                                                   \
    "{'space': 'host', 'photos': 100, 'photo_bytes': 1e6, 'photos_bytes': 1e8, 'steps': 200,"      \
    " 'gaussians_first': 10, 'gaussians_last': 10, 'densifications': [], 'pass_bytes': 0,"         \
    " 'scratch_bytes': 0, 'gaussian_kept_bytes': 968, 'gaussian_pass_bytes': 50,"                  \
    " 'gaussian_scratch_bytes': 70, 'last_densification': 88, 'loss_first': 1, 'loss_last': 0.3,"  \
    " 'psnr_first': 10, 'psnr_last': 20, 'ssim_first': 0.3, 'ssim_last': 0.6}"
#define HOST(peak, retained)                                                                       \
    "'spaces': {'host': {'peak_bytes': " peak ", 'retained_bytes': " retained                      \
    ", 'growth_bytes_per_step': {'value': 0}}}"
#define CAMERAS(peak, step)                                                                        \
    "'sites': [{'id': 'S1', 'space': 'host', 'peak_bytes': " peak ", 'peak_step': " step           \
    ", 'stack': [{'function': 'seep_stream_alloc'}, {'function': 'load_camera'}]},"                \
    " {'id': 'S2', 'space': 'host', 'stack': [{'function': 'render'}]}]"
#define GROWN                                                                                      \
    "{'pattern': 'legitimate-growth', 'severity': 'info', 'plateau_step': 88, "                    \
    "'live_bytes': 9680}"
#define REFUSED                                                                                    \
    "{'out_of_memory': [{'asked_bytes': 1e9, 'reserved_bytes': 7.5e9, 'allocated_bytes': 6e9}],"   \
    " 'devices': [{'capacity_bytes': 8e9}]}"
#define DIES(reserved_at_half)                                                                     \
    "{'capacity_bytes': 8e9, 'refused_bytes': 1e9, 'refused_reserved_bytes': 7.5e9,"               \
    " 'refused_live_bytes': 6e9, 'gaussians_last': 4.2e6, 'gaussians_wanted': 4.4e6,"              \
    " 'reserved_at_half_bytes': " reserved_at_half "}"
#define CARD "{'spaces': {'device:0': {'peak_bytes': 7.9e9}, 'tensor:0': {'peak_bytes': 7.8e9}}}"
static const struct texts splat = {
    &seep_splat,
    0.01,
    {"{" HOST("1.1e8", "1.05e8") ", 'findings': [{'pattern': 'eager-retention', 'part': 'camera',"
                                 " 'count': 100, 'live_bytes': 1e8}, " GROWN "]}",
     "{" HOST("1.1e8", "1.05e8") ", " CAMERAS(
         "1e8",
         "100") ", 'timeline': {'step': [26, 51, 76, 98,"
                " 101], 'spaces': {'host': {'live_bytes': [3.1e7, 5.6e7, 8.1e7, 1.03e8, 1.05e8]}}},"
                " 'findings': [{'pattern': 'first-touch-cache', 'count': 100, 'plateau_step': "
                "99}, " GROWN "]}",
     "{" HOST("1e7", "5e6") ", " CAMERAS("1e6", "1") ", 'findings': [" GROWN "]}",
     "{" HOST("1.2e7", "7e6") ", " CAMERAS(
         "2e6", "2") ", 'findings': [{'pattern': 'carry-over', 'sites': ['S1', 'S2']}]}",
     "{" CAMERAS("1e6", "1") ", 'findings': [{'pattern': 'eager-retention', 'live_bytes': 2.5e7}],"
                             " 'spaces': {'host': {'peak_bytes': 3e7}}}",
     "{'findings': [{'pattern': 'eager-retention', 'live_bytes': 1e8}],"
     " 'spaces': {'host': {'peak_bytes': 6e7}}}",
     "{'findings': [{'pattern': 'first-touch-cache', 'count': 100, 'plateau_step': 99}]}",
     "{'findings': [{'pattern': 'eager-retention', 'count': 250, 'live_bytes': 1.25e8}]}",
     "{'findings': [{'pattern': 'size-spike', 'frame': {'function': 'bin'},"
     " 'saving_bytes': 3610}]}",
     "{}", REFUSED, REFUSED, CARD, CARD, "{}"},
    {PICTURES, PICTURES, PICTURES, PICTURES, PICTURES, "{}", "{}",
     "{'cameras': 250, 'gaussians_last': 10, 'checkpoint_bytes': 7240, 'psnr_first': 10,"
     " 'psnr_tested': 19}",
     "{'pairs_largest': 950, 'pairs_usual': 50, 'tiles': 100, 'gaussians_last': 10}",
     "{'pairs_largest': 100, 'pairs_usual': 50}", DIES("8e9"), DIES("2e9"),
     "{'reserved_peak_bytes': 7.9e9, 'densifications': 145, 'pair_bytes_a_gaussian': 84.4}",
     "{'reserved_peak_bytes': 7.9e9}",
     "{'gaussians_last': 1000, 'seen_checked': 700, 'seen_apart': 0, 'unseen_moved': 0,"
     " 'seen_share': 0.7, 'psnr_first': 10, 'psnr_last': 19}"},
};

static const struct texts *const all[] = {&minkowski, &featdepth, &maskrcnn, &pointgroup, &splat};

/* What is spoilt: "report" or "measured" of a variant, at a path; and the row that must fail. */
static const struct {
    const struct texts *texts;
    int variant;
    bool in_report;
    const char *path;
    double value;
    const char *row;
} spoilt[] = {
    {&minkowski, 0, false, "fits_alone", 0, "none: the step that failed"},
    {&minkowski, 4, false, "fits_alone", 1, "padded: the step that failed"},
    {&minkowski, 0, false, "refused_reserved_bytes", 640, "unallocated when it failed"},
    {&minkowski, 0, true, "findings.0.shortage.cause", 0, "none: why"},
    {&minkowski, 0, true, "findings.0.shortage.asked_bytes", 49, "none: requested"},
    {&minkowski, 0, true, "findings.0.shortage.allocated_bytes", 601, "none: live"},
    {&minkowski, 0, true, "findings.0.shortage.unallocated_bytes", 201, "but unallocated, as seep"},
    {&minkowski, 0, true, "spaces.device:0.capacity_bytes", 901, "none: capacity"},
    {&minkowski, 1, false, "fits_alone", 0, "empty-every-10: the step that failed"},
    {&minkowski, 2, false, "steps", 1999, "empty-every-step: the step that failed"},
    {&minkowski, 2, false, "out_of_memory", 1, "empty-every-step: the step that failed"},
    {&minkowski, 3, false, "steps", 20, "expandable: steps survived"},
    {&minkowski, 2, false, "driver_calls_per_step", 6, "empty-every-step: driver calls"},
    {&minkowski, 3, false, "driver_calls_per_step", 6, "expandable: driver calls"},
    {&minkowski, 3, false, "voxels_per_scene", 45000, "voxels of a made-up scene"},
    {&minkowski, 3, false, "coarse_share", 0.27, "voxels of twice the edge"},
    {&minkowski, 3, false, "capacity_bytes", 820e6, "expandable: the smallest GPU"},
    {&minkowski, 3, false, "batch_spread", 0.14, "spread of the batches"},
    {&minkowski, 3, false, "coarse_spread", 0.08, "twice the edge, for each"},
    {&minkowski, 3, false, "weight_bytes", 916e3, "weights and their gradients"},
    {&minkowski, 3, false, "live_bytes_per_voxel", 1050, "the most that a step has live"},
    {&minkowski, 3, false, "steps_per_epoch", 100, "1,201 scenes by twelve"},
    {&minkowski, 3, false, "validation_steps", 494, "312 scenes by six"},
    {&minkowski, 9, false, "trained_map_bytes", 40e6, "coordinates-kept: maps"},
    {&minkowski, 9, true, "findings.0.peak_bytes", 38e6, "coordinates-kept: maps"},
    {&minkowski, 5, false, "steps_per_epoch", 101, "ddp: steps of a rank"},
    {&minkowski, 5, true, "processes.0.spaces.device:1.peak_bytes", 1, "ddp: the ranks' memory"},
    {&minkowski, 5, true, "processes.1.rank", 0, "ddp: the ranks' memory"},
    {&featdepth, 0, false, "nodes_kept_per_step", 6, "log-node: graph nodes"},
    {&featdepth, 1, false, "nodes_kept_per_step", 1, "log-scalar: graph nodes"},
    {&featdepth, 2, false, "transient_over_gradients", 0.9, "bucket-all: transient"},
    {&featdepth, 2, true, "findings.0.saving_bytes", 9e5, "buffer that seep finds"},
    {&featdepth, 2, false, "gradient_bytes", 2e6, "gradients of 35 million weights"},
    {&featdepth, 3, false, "transient_over_gradients", 1, "bucket-25: transient"},
    {&featdepth, 4, true, "processes.1.spaces.device:0.peak_bytes", 1,
     "wrong-device: memory of rank 1"},
    {&featdepth, 5, false, "nodes_kept_per_validation_step", 0, "val-graphs: graph nodes"},
    {&featdepth, 6, true, "spaces.shm.peak_bytes", 20e6, "loaders: shared memory"},
    {&featdepth, 7, true, "processes.0.rank", 1, "right: memory of rank 1"},
    {&featdepth, 7, false, "context_bytes", 5e6, "context of a GPU"},
    {&featdepth, 7, false, "batch_bytes", 3e5, "a batch of four samples"},
    {&featdepth, 7, false, "steps_an_epoch", 20, "steps an epoch"},
    {&featdepth, 7, false, "validation_steps_an_epoch", 12, "validation steps"},
    {&featdepth, 7, false, "validation_sample_over_one_frame", 1, "validation with all frames"},
    {&featdepth, 7, false, "epochs_in_the_same_order", 5, "set_epoch(): epochs"},
    {&featdepth, 7, false, "samples_of_both_ranks", 3, "set_epoch(): epochs"},
    {&featdepth, 7, false, "logged_loss_between_ranks", 0.01, "the logged loss is the mean"},
    {&featdepth, 7, false, "mean_of_own_losses", 0.3, "the logged loss is the mean"},
    {&featdepth, 7, false, "synchronised_statistics_between_ranks", 0.5, "SyncBN"},
    {&featdepth, 3, false, "loss_last", 0.21, "all variants train alike"},
    {&featdepth, 7, false, "loss_first", 0.1, "the loss falls"},
    {&featdepth, 7, false, "validation_loss", 0.4, "the loss falls"},
    {&maskrcnn, 0, false, "mask_bytes", 120e6, "masks of an image"},
    {&maskrcnn, 0, false, "steps_per_epoch", 80, "steps an epoch"},
    {&maskrcnn, 6, false, "transformed_batch_bytes", 20e6, "the transformed batch"},
    {&maskrcnn, 0, true, "findings.0.live_bytes", 170e6, "alias: masks that the dataset owns at"},
    {&maskrcnn, 0, true, "findings.0.plateau_step", 80, "alias: seep sees it level"},
    {&maskrcnn, 4, true, "findings.0.live_bytes", 90e6, "on-gpu: masks that the dataset owns at"},
    {&maskrcnn, 0, true, "timeline.spaces.host.live_bytes.1", 40e6, "from step N/2 on"},
    {&maskrcnn, 0, true, "timeline.spaces.host.live_bytes.2", 120e6, "from step N on"},
    {&maskrcnn, 0, true, "timeline.spaces.host.live_bytes.3", 240e6, "around step 2N"},
    {&maskrcnn, 4, true, "timeline.spaces.tensor:0.live_bytes.1", 40e6,
     "on tensor:0 from step N/2"},
    {&maskrcnn, 4, true, "timeline.spaces.tensor:0.live_bytes.2", 120e6,
     "on tensor:0 from step N on"},
    {&maskrcnn, 4, true, "timeline.spaces.tensor:0.live_bytes.3", 240e6,
     "on tensor:0 around step 2N"},
    {&maskrcnn, 4, true, "spaces.device:0.peak_bytes", 176e6, "memory that the driver gave"},
    {&maskrcnn, 1, true, "job.steps", 55, "the step in which it fails"},
    {&maskrcnn, 3, true, "sites.0.peak_bytes", 2e6, "masks / 255"},
    {&maskrcnn, 3, false, "largest_batch_mask_bytes", 10e6, "all-masks: over those of the largest"},
    {&maskrcnn, 0, false, "targets_with_tensors_before", 0, "alias: targets with tensors"},
    {&maskrcnn, 2, false, "targets_with_tensors_before", 1, "shallow: targets with tensors"},
    {&maskrcnn, 3, false, "targets_with_tensors_before", 80, "deep: targets with tensors"},
    {&maskrcnn, 8, false, "targets_with_tensors_before", 0, "masks-in-list: targets with tensors"},
    {&maskrcnn, 6, true, "job.steps", 30, "del-on-gpu: the step in which it fails"},
    {&maskrcnn, 6, true, "timeline.spaces.tensor:0.live_bytes.0", 40e6,
     "del-on-gpu: masks that the dataset owns"},
    {&maskrcnn, 6, false, "deleted_live_bytes", 12e6, "del-on-gpu: live memory that del frees"},
    {&maskrcnn, 6, false, "deleted_reserved_bytes", 135e6, "del-on-gpu: reserved memory after del"},
    {&maskrcnn, 7, false, "emptied_reserved_bytes", 80e6, "reserved memory after empty_cache"},
    {&maskrcnn, 7, true, "timeline.spaces.device:0.live_bytes.0", 100e6, "reserved between steps"},
    {&maskrcnn, 8, true, "timeline.spaces.tensor:0.live_bytes.0", 90e6,
     "masks-in-list: masks that the dataset owns"},
    {&maskrcnn, 9, true, "findings.0.live_bytes", 180e6, "images-in-dict: images that the dataset"},
    {&maskrcnn, 9, true, "timeline.spaces.tensor:0.live_bytes.1", 180e6,
     "images-in-dict: images that the dataset"},
    {&maskrcnn, 10, true, "findings.0.live_bytes", 90e6, "all-masks: masks in memory"},
    {&pointgroup, 0, true, "job.pss_peak_bytes", 220e6, "eager: peak PSS"},
    {&pointgroup, 1, true, "job.pss_peak_bytes", 45e6, "in-thread: peak PSS"},
    {&pointgroup, 2, true, "job.pss_peak_bytes", 160e6, "worker: peak PSS"},
    {&pointgroup, 2, true, "job.pss_peak_bytes", 170e6, "eager - worker"},
    {&pointgroup, 2, true, "job.pss_peak_bytes", 110e6, "worker - in-thread"},
    {&pointgroup, 0, false, "dataset_bytes", 90e6, "the dataset, 40 bytes"},
    {&pointgroup, 0, false, "scenes", 1201, "scenes"},
    {&pointgroup, 0, false, "steps", 378, "steps an epoch"},
    {&pointgroup, 0, false, "largest_scene_points", 2500, "largest scene over the smallest"},
    {&pointgroup, 0, false, "smallest_scene_points", 60, "largest scene over the smallest"},
    {&pointgroup, 0, false, "densest_voxel", 240, "points of the densest voxel"},
    {&pointgroup, 0, false, "voxel_metres", 0.01, "edge of a voxel"},
    {&pointgroup, 0, false, "largest_piece_points", 2600, "points of a scene in a batch"},
    {&pointgroup, 0, false, "largest_piece_points", 1250, "points of a scene in a batch"},
    {&pointgroup, 2, false, "own_batch_seconds", 0.015, "the training thread's own time"},
    {&pointgroup, 0, false, "own_batch_seconds", 0.005, "own time per batch, worker : eager"},
    {&pointgroup, 2, false, "validation_loss", 0.51, "all variants train alike"},
    {&pointgroup, 0, true, "job.limit_bytes", 260e6, "eager: peak PSS in a machine of 16 GiB"},
    {&pointgroup, 0, true, "job.limit_bytes", 120e6, "eager: peak PSS in a machine of 32 GiB"},
    {&pointgroup, 2, true, "job.limit_bytes", 130e6, "worker: peak PSS in a machine"},
    {&pointgroup, 1, true, "job.limit_bytes", 39e6, "in-thread: peak PSS in a machine"},
    {&pointgroup, 0, true, "processes.1.role", 0, "eager: loader workers"},
    {&pointgroup, 1, false, "epochs", 2, "in-thread: loader workers"},
    {&pointgroup, 3, true, "processes.2.role", 0, "worker-persistent: loader workers"},
    {&pointgroup, 4, true, "spaces.pinned.peak_bytes", 71e6, "pinned memory as seep sees it"},
    {&pointgroup, 4, false, "pinned_batches", 40, "batches in pinned memory at once"},
    {&pointgroup, 4, false, "pinned_asked_bytes", 71e6, "by rounding up"},
    {&pointgroup, 4, false, "pinned_asked_bytes", 30e6, "by rounding up"},
    {&splat, 0, true, "spaces.host.peak_bytes", 15e6, "peak, eager : lazy-evicting"},
    {&splat, 3, true, "spaces.host.peak_bytes", 20e6, "lazy-carrying: extra peak"},
    {&splat, 1, true, "timeline.spaces.host.live_bytes.0", 60e6, "from step N / 4 on"},
    {&splat, 1, true, "timeline.spaces.host.live_bytes.1", 105e6, "from N / 2 on"},
    {&splat, 1, true, "timeline.spaces.host.live_bytes.2", 50e6, "from 3 N / 4 on"},
    {&splat, 1, true, "timeline.spaces.host.live_bytes.3", 90e6, "shortly before N"},
    {&splat, 1, true, "timeline.spaces.host.live_bytes.4", 95e6, "shortly after N"},
    {&splat, 1, true, "timeline.step.4", 150, "shortly after N"},
    {&splat, 1, true, "sites.0.peak_step", 90, "most pictures at once"},
    {&splat, 1, true, "sites.0.peak_bytes", 99e6, "most pictures at once"},
    {&splat, 1, true, "spaces.host.retained_bytes", 90e6, "at the end: how many fewer pictures"},
    {&splat, 2, true, "sites.0.peak_bytes", 2e6, "lazy-evicting: most pictures resident"},
    {&splat, 3, true, "sites.0.peak_bytes", 3e6, "lazy-carrying: most pictures resident"},
    {&splat, 4, true, "sites.0.peak_bytes", 2e6, "host-resident: most float pictures"},
    {&splat, 2, true, "spaces.host.growth_bytes_per_step.value", 1e5, "growth over an epoch"},
    {&splat, 2, true, "spaces.host.retained_bytes", 15e6, "difference at the end"},
    {&splat, 0, true, "findings.0.count", 99, "eager: pictures kept"},
    {&splat, 1, true, "findings.0.count", 90, "lazy-cached: pictures kept"},
    {&splat, 1, true, "findings.0.plateau_step", 60, "sees it full"},
    {&splat, 4, true, "findings.0.live_bytes", 50e6, "eager : host-resident"},
    {&splat, 2, true, "findings.0.plateau_step", 60,
     "lazy-evicting: step in which seep sees densification"},
    {&splat, 3, true, "findings.0.sites.0", 0, "lazy-carrying: memory carried over"},
    {&splat, 2, true, "findings.0.live_bytes", 20000, "a Gaussian between steps"},
    {&splat, 2, false, "gaussian_pass_bytes", 900, "a Gaussian with its share"},
    {&splat, 2, false, "psnr_first", 19, "training raises PSNR"},
    {&splat, 2, false, "loss_last", 0.9, "training lowers the loss"},
    {&splat, 4, false, "psnr_last", 20.1, "the variants' results"},
    {&splat, 2, false, "ssim_last", 0.3, "training raises SSIM"},
    {&splat, 5, true, "findings.0.live_bytes", 5e7, "host-resident, bytes kept"},
    {&splat, 5, true, "spaces.host.peak_bytes", 3e7, "host-resident, peak of the host"},
    {&splat, 6, true, "findings.0.count", 90, "lazy-decoded: photos kept"},
    {&splat, 6, true, "findings.0.plateau_step", 60, "lazy-decoded: step"},
    {&splat, 7, false, "cameras", 240, "eager-eval: pictures kept"},
    {&splat, 7, true, "findings.0.live_bytes", 1e8, "eager-eval : eager"},
    {&splat, 7, false, "checkpoint_bytes", 9000, "eager-eval: checkpoint"},
    {&splat, 7, false, "psnr_tested", 11, "eager-eval: PSNR"},
    {&splat, 8, false, "tiles", 200, "over all there can be"},
    {&splat, 8, false, "pairs_usual", 500, "pair-spike: most pairs of a step over those before"},
    {&splat, 8, true, "findings.0.saving_bytes", 1000, "pair-spike: size-spike in bin"},
    {&splat, 9, false, "pairs_largest", 900, "clamped: most pairs"},
    {&splat, 10, false, "refused_bytes", 3e9, "cat: unused memory"},
    {&splat, 11, false, "gaussians_last", 1e6, "cat-emptied: Gaussians there are"},
    {&splat, 10, true, "out_of_memory.0.asked_bytes", 2e9, "cat: the refused request"},
    {&splat, 10, true, "out_of_memory.0.reserved_bytes", 7e9, "cat: reserved then"},
    {&splat, 11, true, "out_of_memory.0.allocated_bytes", 7e9, "cat-emptied: live then"},
    {&splat, 11, true, "devices.0.capacity_bytes", 9e9, "cat-emptied: capacity"},
    {&splat, 12, true, "spaces.tensor:0.peak_bytes", 6e9, "cat-expandable: most reserved over"},
    {&splat, 12, false, "densifications", 144, "cat-expandable: densifications"},
    {&splat, 12, false, "pair_bytes_a_gaussian", 56, "bytes of pairs for each Gaussian"},
    {&splat, 13, false, "reserved_peak_bytes", 7e9, "preallocated: most reserved, seep"},
    {&splat, 10, false, "reserved_at_half_bytes", 3e9, "reserved with half"},
    {&splat, 14, false, "seen_apart", 1, "a step of all would step otherwise"},
    {&splat, 14, false, "seen_checked", 0, "a step of all would step otherwise"},
    {&splat, 14, false, "unseen_moved", 1, "beside the picture that a step changes"},
    {&splat, 14, false, "seen_checked", 1001, "beside the picture that a step changes"},
    {&splat, 14, false, "seen_share", 1, "bytes that a step of Adam moves"},
    {&splat, 14, false, "psnr_last", 12, "sparse-adam: training raises PSNR"},
};

static struct seep_outcome outcomes[MAX_VARIANTS + 1];
static struct seep_rows rows;

static json_t *parse(const char *text)
{
    char copy[TEXT_BYTES];
    json_error_t err;

    if (!text)
        return NULL;
    ck_assert_int_lt(snprintf(copy, sizeof copy, "%s", text), TEXT_BYTES);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json_t *value = json_loads(copy, JSON_DECODE_ANY, &err);
    ck_assert_msg(value != NULL, "%s at %d: %s", err.text, err.position, copy);
    return value;
}

static void make(const struct texts *t)
{
    rows = (struct seep_rows){.scenario = t->scenario->name, .rows = json_array()};
    for (int v = 0; t->scenario->variants[v].name; v++)
        outcomes[v] = (struct seep_outcome){&t->scenario->variants[v], 0, parse(t->reports[v]),
                                            parse(t->measured[v])};
}

static void tear_down(void)
{
    for (int v = 0; v < MAX_VARIANTS; v++) {
        json_decref(outcomes[v].report);
        json_decref(outcomes[v].measured);
        outcomes[v] = (struct seep_outcome){0};
    }
    json_decref(rows.rows);
}

static void set_at(json_t *object, const char *path, double value)
{
    char copy[128], *rest = copy, *key;

    snprintf(copy, sizeof copy, "%s", path);
    while ((key = strsep(&rest, ".")) && rest)
        object = json_is_array(object) ? json_array_get(object, (size_t)atoi(key))
                                       : json_object_get(object, key);
    ck_assert_msg(json_is_array(object) ? json_array_get(object, (size_t)atoi(key)) != NULL
                                        : json_object_get(object, key) != NULL,
                  "%s", path);
    if (json_is_array(object))
        json_array_set_new(object, (size_t)atoi(key), json_real(value));
    else
        json_object_set_new(object, key, json_real(value));
}

TEST(outcomes_in_which_all_holds_pass, .to = N(all))
{
    make(all[_i]);
    all[_i]->scenario->judge(outcomes, all[_i]->scale, &rows);
    const json_t *row;
    size_t i;

    json_array_foreach (rows.rows, i, row)
        ck_assert_msg(json_is_true(json_object_get(row, "pass")), "%s",
                      json_string_value(json_object_get(row, "name")));
}

static bool failed_in(const char *name)
{
    const json_t *row;
    bool failed = false;
    size_t i;

    json_array_foreach (rows.rows, i, row) {
        if (strstr(seep_rows_text(row, "name"), name))
            failed |= json_is_false(json_object_get(row, "pass"));
    }
    return failed;
}

TEST(each_figure_that_is_not_as_it_must_be_fails_in_its_row, .to = N(spoilt))
{
    make(spoilt[_i].texts);
    const struct seep_outcome *o = &outcomes[spoilt[_i].variant];
    set_at(spoilt[_i].in_report ? o->report : o->measured, spoilt[_i].path, spoilt[_i].value);
    spoilt[_i].texts->scenario->judge(outcomes, spoilt[_i].texts->scale, &rows);
    ck_assert_msg(failed_in(spoilt[_i].row), "%s: %s", spoilt[_i].texts->scenario->name,
                  spoilt[_i].row);
}

static const struct {
    int leaky, cure;
    const char *name;
} cures[] = {{0, 1, "alias-del"}, {0, 2, "shallow"}, {0, 3, "deep"}, {4, 5, "deep-on-gpu"}};

/* What a leaking variant shows, in each that must not. */
TEST(a_cure_whose_masks_pile_up_fails, .to = N(cures))
{
    json_t **report = &outcomes[cures[_i].cure].report;
    char name[64];

    make(&maskrcnn);
    json_decref(*report);
    *report = json_deep_copy(outcomes[cures[_i].leaky].report);
    maskrcnn.scenario->judge(outcomes, maskrcnn.scale, &rows);
    snprintf(name, sizeof name, "%s: masks", cures[_i].name);
    ck_assert_msg(failed_in(name), "%s", name);
}

TEST(a_job_of_which_nothing_is_known_passes_in_no_row, .to = N(all))
{
    const json_t *row;
    size_t i;

    make(all[_i]);
    for (int v = 0; v < MAX_VARIANTS; v++) {
        json_decref(outcomes[v].report);
        json_decref(outcomes[v].measured);
        outcomes[v].report = outcomes[v].measured = NULL;
    }
    all[_i]->scenario->judge(outcomes, all[_i]->scale, &rows);
    ck_assert_uint_gt(json_array_size(rows.rows), 0);
    json_array_foreach (rows.rows, i, row)
        ck_assert_msg(json_is_false(json_object_get(row, "pass")), "%s: %s", rows.scenario,
                      seep_rows_text(row, "name"));
}

SUITE("judges", .teardown = tear_down)
