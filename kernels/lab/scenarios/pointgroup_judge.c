#include "kernels/lab/scenarios/pointgroup_judge.h"

#include "kernels/lab/scenarios/pointgroup_loader.h"
#include "libprof/report_read/report_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* At full size, bytes. */
static const double peaks[] = {[SEEP_POINTGROUP_EAGER] = 25e9,
                               [SEEP_POINTGROUP_IN_THREAD] = 4e9,
                               [SEEP_POINTGROUP_WORKER] = 14e9};
static const double dataset_bytes = 11e9;
enum { SCENES = 1513, TRAIN = 1201, BATCH = 4, WORKERS = 16, PREFETCH = 2 };

static double peak_of(const struct seep_outcome *outcomes, int variant)
{
    return seep_rows_number(outcomes[variant].report, "job.pss_peak_bytes");
}

static void judge_peaks(const struct seep_outcome *outcomes, struct seep_pointgroup_size size,
                        struct seep_rows *rows)
{
    char name[64];

    for (int i = SEEP_POINTGROUP_EAGER; i <= SEEP_POINTGROUP_WORKER; i++) {
        snprintf(name, sizeof name, "%s: peak PSS of all processes%s", outcomes[i].variant->name,
                 i == SEEP_POINTGROUP_IN_THREAD ? " (calibrated)" : "");
        seep_rows_add_near(rows, name, peak_of(outcomes, i), peaks[i] * size.points, 0.1, "MB");
    }
    /* All three contain the base, and the constant makes at most a seventh of the workers' memory.
     * Each of the document's figures was read off a system monitor, ± 20 %. */
    seep_rows_add_near(
        rows, "eager - worker: peak PSS of the dataset",
        peak_of(outcomes, SEEP_POINTGROUP_EAGER) - peak_of(outcomes, SEEP_POINTGROUP_WORKER),
        (peaks[SEEP_POINTGROUP_EAGER] - peaks[SEEP_POINTGROUP_WORKER]) * size.points, 0.25, "MB");
    seep_rows_add_near(
        rows, "worker - in-thread: peak PSS of the workers",
        peak_of(outcomes, SEEP_POINTGROUP_WORKER) - peak_of(outcomes, SEEP_POINTGROUP_IN_THREAD),
        (peaks[SEEP_POINTGROUP_WORKER] - peaks[SEEP_POINTGROUP_IN_THREAD]) * size.points, 0.25,
        "MB");
}

/* The document's machine, and the one that the original asks for, scaled; both figures are seep's.
 */
static void judge_machine(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    static const struct {
        enum seep_pointgroup_variant variant;
        unsigned machines; /* of 16 GiB */
        bool fits;
    } held[] = {{SEEP_POINTGROUP_EAGER, 1, false},
                {SEEP_POINTGROUP_EAGER, 2, true},
                {SEEP_POINTGROUP_WORKER, 1, true},
                {SEEP_POINTGROUP_IN_THREAD, 1, true}};
    char name[96];

    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        const struct seep_outcome *o = &outcomes[held[i].variant];
        double limit = held[i].machines * seep_rows_number(o->report, "job.limit_bytes");
        double share = peak_of(outcomes, held[i].variant) / limit;
        snprintf(name, sizeof name, "%s: peak PSS in a machine of %u GiB (scaled)",
                 o->variant->name, 16 * held[i].machines);
        seep_rows_add(rows, held[i].fits ? share < 1 : share > 1, name,
                      held[i].fits ? "it fits" : "more than it has", "%.0f %% of %.4g MB",
                      100 * share, limit / 1e6);
    }
}

/* At most all batches that are ahead, and the one in use. Each array of one may be doubled. */
static void judge_pinned(const struct seep_outcome *o, struct seep_rows *rows)
{
    double asked = seep_rows_number(o->measured, "pinned_asked_bytes");
    double taken = seep_rows_number(o->measured, "pinned_bytes");
    double batches = seep_rows_number(o->measured, "pinned_batches");
    double most = WORKERS * PREFETCH + 1;
    char expected[64];

    seep_rows_add_near(rows, "pinned: pinned memory as seep sees it",
                       seep_rows_number(o->report, "spaces.pinned.peak_bytes"), taken, 0, "MB");
    snprintf(expected, sizeof expected, "2 to %.0f", most);
    seep_rows_add(rows, batches >= 2 && batches <= most, "pinned: batches in pinned memory at once",
                  expected, "%.0f, %.4g MB", batches, asked / 1e6);
    seep_rows_add(rows, taken > asked && taken <= 2 * asked,
                  "pinned: taken over asked for, by rounding up to powers of two", "1 to 2 times",
                  "%.2f times (%.4g : %.4g MB)", taken / asked, taken / 1e6, asked / 1e6);
}

/* Each pass has workers of its own, but for the training's where they persist. */
static void judge_workers(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    char name[96], expected[64];

    for (int i = 0; i < SEEP_POINTGROUP_VARIANTS; i++) {
        const struct seep_outcome *o = &outcomes[i];
        double epochs = seep_rows_number(o->measured, "epochs"), seen = 0;
        double passes = i == SEEP_POINTGROUP_PERSISTENT ? 1 + epochs : 2 * epochs;
        const json_t *process;
        size_t k;
        json_array_foreach (json_object_get(o->report, "processes"), k, process)
            seen += strcmp(seep_get_text(process, "role", ""), "loader-worker") == 0;
        snprintf(name, sizeof name, "%s: loader workers that seep sees", o->variant->name);
        snprintf(expected, sizeof expected, "%d in each of %.0f passes", WORKERS, passes);
        seep_rows_add(rows, seen == WORKERS * passes, name, expected, "%.0f", seen);
    }
}

static void judge_times(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    const struct seep_outcome *in_thread = &outcomes[SEEP_POINTGROUP_IN_THREAD];
    const struct seep_outcome *worker = &outcomes[SEEP_POINTGROUP_WORKER];
    double own_eager_s =
        seep_rows_number(outcomes[SEEP_POINTGROUP_EAGER].measured, "own_batch_seconds");
    double thread_s = seep_rows_number(in_thread->measured, "batch_seconds");
    double worker_s = seep_rows_number(worker->measured, "batch_seconds");
    double own_thread_s = seep_rows_number(in_thread->measured, "own_batch_seconds");
    double own_worker_s = seep_rows_number(worker->measured, "own_batch_seconds");

    /* Wall time depends as much on the machine: the workers need CPUs of their own. */
    seep_rows_add(rows, isfinite(thread_s / worker_s), "batch time, in-thread : worker",
                  "not judged (the document: about 2)", "%.2f (%.2f : %.2f ms, %ld CPUs)",
                  thread_s / worker_s, 1e3 * thread_s, 1e3 * worker_s,
                  sysconf(_SC_NPROCESSORS_ONLN));
    seep_rows_add(rows, own_thread_s > 1.5 * own_worker_s,
                  "the training thread's own time per batch, in-thread : worker", "> 1.5",
                  "%.2f (%.2f : %.2f ms)", own_thread_s / own_worker_s, 1e3 * own_thread_s,
                  1e3 * own_worker_s);
    seep_rows_add(rows, own_worker_s < 1.5 * own_eager_s,
                  "the training thread's own time per batch, worker : eager",
                  "< 1.5: the same speed", "%.2f (%.2f : %.2f ms)", own_worker_s / own_eager_s,
                  1e3 * own_worker_s, 1e3 * own_eager_s);
}

/* Whoever makes the batches: what was learnt from them tells the same of the validation's. */
static void judge_likeness(const struct seep_outcome *outcomes, struct seep_rows *rows)
{
    double first = seep_rows_number(outcomes[0].measured, "validation_loss");
    double losses[SEEP_POINTGROUP_VARIANTS];
    bool alike = isfinite(first) && first > 0;

    for (int i = 0; i < SEEP_POINTGROUP_VARIANTS; i++) {
        losses[i] = seep_rows_number(outcomes[i].measured, "validation_loss");
        alike &= losses[i] == first;
    }
    seep_rows_add(rows, alike, "all variants train alike: loss of the first validation", "the same",
                  "%.9g, %.9g, %.9g, %.9g, %.9g", losses[SEEP_POINTGROUP_EAGER],
                  losses[SEEP_POINTGROUP_IN_THREAD], losses[SEEP_POINTGROUP_WORKER],
                  losses[SEEP_POINTGROUP_PERSISTENT], losses[SEEP_POINTGROUP_PINNED]);
}

/* ScanNet v2 by PointGroup's batches; its scenes have some 10,000 to 500,000 vertices. Crops are of
 * up to 250,000, and as few as a slice of 2 % less leaves. */
static void judge_scenes(const struct seep_outcome *outcomes, struct seep_pointgroup_size size,
                         struct seep_rows *rows)
{
    const json_t *eager = outcomes[SEEP_POINTGROUP_EAGER].measured;
    double scenes = SCENES * size.scenes;
    double spread = seep_rows_number(eager, "largest_scene_points") /
                    seep_rows_number(eager, "smallest_scene_points");
    double most = seep_rows_number(eager, "largest_piece_points") / size.points;

    seep_rows_add_near(rows, "scenes", seep_rows_number(eager, "scenes"), scenes, 0.01, "scenes");
    seep_rows_add_near(rows, "steps an epoch: 1,201 scenes of 1,513, by four",
                       seep_rows_number(eager, "steps") / seep_rows_number(eager, "epochs"),
                       floor(scenes * TRAIN / SCENES / BATCH), 0.02, "steps");
    seep_rows_add(rows, spread >= 8 && spread <= 100,
                  "points of the largest scene over the smallest", "8 to 100 (ScanNet: some 50)",
                  "%.3g times", spread);
    seep_rows_add_near(rows, "edge of a voxel at full size: 50 a metre",
                       1 / seep_rows_number(eager, "voxel_metres"), 50, 1e-6, "a metre");
    seep_rows_add_near(rows,
                       "points of the densest voxel: 120 vertices in one spot, and neighbours",
                       seep_rows_number(eager, "densest_voxel"), 120, 0.1, "points");
    seep_rows_add(rows, most >= 0.9 * 250e3 && most <= 250e3,
                  "points of a scene in a batch, at most, at full size",
                  "250,000, or a slice of the room less", "%.6g", most);
}

void seep_pointgroup_judge(const struct seep_outcome *outcomes, double scale,
                           struct seep_rows *rows)
{
    struct seep_pointgroup_size size = seep_pointgroup_size(scale);

    /* Below 1:100 the workers keep their size, and the data set does not. */
    if (scale >= 0.01) {
        judge_peaks(outcomes, size, rows);
        judge_machine(outcomes, rows);
    }
    seep_rows_add_near(rows, "eager: the dataset, 40 bytes a point",
                       seep_rows_number(outcomes[SEEP_POINTGROUP_EAGER].measured, "dataset_bytes"),
                       dataset_bytes * size.points * size.scenes, 0.1, "MB");
    judge_scenes(outcomes, size, rows);
    judge_times(outcomes, rows);
    judge_likeness(outcomes, rows);
    judge_workers(outcomes, rows);
    judge_pinned(&outcomes[SEEP_POINTGROUP_PINNED], rows);
}
