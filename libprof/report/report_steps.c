/* How the job's steps were counted and why so, and what its epochs are, in report.json. */
#include "libprof/report/report_pieces.h"
#include "libprof/words/step_words.h"

json_t *seep_json_step_source(const struct seep_model *m)
{
    static const char *const names[SEEP_N_STEP_SOURCES] = {
#define SEEP_STEP_SOURCE(id, name) name,
#include "libprof/format/step_sources.def"
#undef SEEP_STEP_SOURCE
    };

    return json_string(names[m->step_source]);
}

static const char *why_time(const struct seep_model *m)
{
    for (size_t i = 0; i < m->n_processes; i++) {
        if (m->processes[i].id.python_version)
            return "no optimizer step, DataLoader batch or main loop was seen for long "
                   "enough: call seep.step() at the end of each iteration";
    }
    return "a program without Python shows no steps: call seep_step() (seep.h) at "
           "the end of each iteration";
}

json_t *seep_json_step_why(const struct seep_model *m)
{
    static const char *const sentences[SEEP_N_STEP_WHYS] = {
        [SEEP_WHY_TOLD] = "the job itself says where a step ends",
        [SEEP_WHY_OPTIMIZER] = SEEP_WHY_OPTIMIZER_TEXT,
        [SEEP_WHY_BATCHES] = "no optimizer steps, so each batch of a DataLoader is a step",
        [SEEP_WHY_BATCHES_BETWEEN] =
            "an optimizer steps only once in several batches of a DataLoader, so "
            "each batch is a step",
        [SEEP_WHY_BATCHES_ANEW] =
            "each optimizer steps only once, so each batch of a DataLoader is a step",
        [SEEP_WHY_LOOP] = "no optimizer steps and no DataLoader gives batches, so each iteration "
                          "of the main loop is a step",
        [SEEP_WHY_LOOP_BETWEEN] =
            "an optimizer steps only once in many iterations of the main loop, so "
            "each iteration is a step",
        [SEEP_WHY_BATCHES_AFTER] =
            "the optimizer has stopped stepping; from then on each batch of a "
            "DataLoader is a step",
        [SEEP_WHY_LOOP_AFTER] =
            "the optimizer has stopped stepping; from then on each iteration of the "
            "main loop is a step",
        [SEEP_WHY_TIME_AFTER] =
            "the optimizer has stopped stepping, and nothing that repeats is seen from then on: "
            "each tenth of a second is a step",
        [SEEP_WHY_OPTIMIZERS_ANEW] = "the job makes a PyTorch optimizer for each step",
        [SEEP_WHY_TASKS] = "no optimizer steps, no DataLoader gives batches and no main loop was "
                           "seen, so each task of a process pool is a step",
    };

    if (m->step_source == SEEP_STEP_TIME)
        return json_string(why_time(m));
    return sentences[m->step_why] ? json_string(sentences[m->step_why]) : json_null();
}

json_t *seep_json_epoch_source(const struct seep_model *m)
{
    static const char *const names[SEEP_N_EPOCH_SOURCES] = {
        [SEEP_EPOCHS_LOADER] = "loader",
        [SEEP_EPOCHS_TOLD] = "api",
        [SEEP_EPOCHS_LOOP] = "loop",
    };

    return m->epochs && names[m->epoch_source] ? json_string(names[m->epoch_source]) : json_null();
}

json_t *seep_json_epoch_line(const struct seep_report_pieces *pieces)
{
    return pieces->code->model->epoch_frame
               ? seep_json_shown(pieces, pieces->code->model->epoch_frame)
               : json_null();
}

json_t *seep_json_step_line(const struct seep_report_pieces *pieces)
{
    return pieces->code->model->step_frame
               ? seep_json_shown(pieces, pieces->code->model->step_frame)
               : json_null();
}
