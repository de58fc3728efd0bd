#include "preload/steps/choice.h"

enum {
    ENOUGH_BATCHES = 12,   /* without an optimizer step: more than a check before the training */
    ENOUGH_JOINED = 12,    /* optimizers that never step again: the job makes new ones each time */
    ENOUGH_STRANGERS = 32, /* in a row that had never stepped before: the training makes new ones
                            * each step */
    MANY_BATCHES = 4,      /* between two rounds: gradients are accumulated */
    ROUNDS_IN_A_ROW = 3,   /* like that before the source changes: one may be an evaluation */
    ACTIVE_LOOPS = 8,      /* iterations between two rounds */
    ENOUGH_ROUNDS = 8,     /* fewer are not a training that could be over */
    OVER_SHARE = 2,        /* it is over once 1/n of all rounds' time has passed without one */
};

static const uint64_t slow_ns = UINT64_C(1000000000), batch_gone_ns = UINT64_C(5000000000),
                      over_ns = UINT64_C(2000000000), left_ns = 200 * 1000 * 1000;

static void choose(struct seep_choice *choice, enum seep_step_source source, enum seep_step_why why)
{
    choice->source = source;
    choice->why = why;
    choice->few_batches = choice->still = 0;
}

static bool is_told(const struct seep_choice *choice)
{
    return choice->source == SEEP_STEP_API || choice->source == SEEP_STEP_NVTX;
}

bool seep_choice_told(struct seep_choice *choice, enum seep_step_source by)
{
    if (choice->source == SEEP_STEP_API && by != SEEP_STEP_API)
        return false;
    if (choice->source != by)
        choose(choice, by, SEEP_WHY_TOLD);
    return true;
}

/* A loop that turned before any optimizer stepped may prepare the training, or be within the call
 * of an optimizer that trains all by itself, as L-BFGS does: a few rounds tell. */
static bool is_training_begun(const struct seep_choice *choice)
{
    return (choice->n_rounds >= ENOUGH_ROUNDS && !choice->slow_rounds) ||
           choice->still >= ROUNDS_IN_A_ROW;
}

/* A source chosen because no optimizer stepped gives way to the first round, if it is no loop; one
 * preferred to the rounds gives way once it is no longer the finer measure. */
static bool rounds_take_over(const struct seep_choice *choice)
{
    switch (choice->why) {
    case SEEP_WHY_BATCHES_BETWEEN:
        return choice->few_batches >= ROUNDS_IN_A_ROW;
    case SEEP_WHY_LOOP:
        return is_training_begun(choice);
    case SEEP_WHY_LOOP_BETWEEN:
        return choice->still >= ROUNDS_IN_A_ROW;
    default:
        return true;
    }
}

/* No optimizer has stepped for longer than an evaluation during training takes, or since the loop
 * in which it stepped was left. */
static bool is_training_over(const struct seep_choice *choice, uint64_t now_ns)
{
    const uint64_t since = now_ns - choice->round_ns;

    if (choice->why == SEEP_WHY_TIME_AFTER)
        return true;
    if (choice->source != SEEP_STEP_OPTIMIZER || choice->n_rounds < ENOUGH_ROUNDS)
        return false;
    if (choice->left && !choice->resumed && since >= left_ns)
        return true;
    return since >= over_ns && since >= (choice->round_ns - choice->first_round_ns) / OVER_SHARE;
}

bool seep_choice_round(struct seep_choice *choice, uint64_t now_ns)
{
    bool slow = choice->n_rounds && now_ns - choice->round_ns >= slow_ns;
    bool many = choice->batches_between >= MANY_BATCHES;
    if (!choice->n_rounds++)
        choice->first_round_ns = now_ns;
    choice->slow_rounds = slow ? choice->slow_rounds + 1 : 0;
    choice->many_batches = many ? choice->many_batches + 1 : 0;
    choice->few_batches = many ? 0 : choice->few_batches + 1;
    choice->still = choice->loops_between >= ACTIVE_LOOPS ? 0 : choice->still + 1;
    choice->resumed = choice->resumed || (choice->left && seep_why_is_after(choice->why));
    choice->round_ns = now_ns;
    choice->left = false;
    choice->joined = choice->batches_between = choice->loops_between = 0;
    if (is_told(choice))
        return false;
    if (choice->why == SEEP_WHY_LOOP && choice->slow_rounds >= ROUNDS_IN_A_ROW)
        choice->why = SEEP_WHY_LOOP_BETWEEN;
    if (choice->source == SEEP_STEP_OPTIMIZER) {
        if (choice->many_batches >= ROUNDS_IN_A_ROW)
            choose(choice, SEEP_STEP_BATCH, SEEP_WHY_BATCHES_BETWEEN);
    } else if (rounds_take_over(choice)) {
        choose(choice, SEEP_STEP_OPTIMIZER, SEEP_WHY_OPTIMIZER);
    }
    return choice->source == SEEP_STEP_OPTIMIZER;
}

/* Many optimizers side by side, one for each parameter, are new_optimizers the first time only. */
void seep_choice_met(struct seep_choice *choice, bool stranger)
{
    choice->new_optimizers = stranger ? choice->new_optimizers + 1 : 0;
    choice->known_optimizers = stranger ? 0 : choice->known_optimizers + 1;
    choice->anew =
        choice->why == SEEP_WHY_OPTIMIZERS_ANEW && choice->known_optimizers >= ENOUGH_JOINED;
    if (choice->anew)
        choose(choice, SEEP_STEP_OPTIMIZER, SEEP_WHY_OPTIMIZER);
}

bool seep_choice_joined(struct seep_choice *choice)
{
    choice->joined++;
    if (choice->why == SEEP_WHY_OPTIMIZER && choice->new_optimizers >= ENOUGH_STRANGERS &&
        !choice->n_batches)
        choose(choice, SEEP_STEP_OPTIMIZER, SEEP_WHY_OPTIMIZERS_ANEW);
    return choice->why == SEEP_WHY_OPTIMIZERS_ANEW;
}

/* Optimizers that step once and never again do not end steps. */
static bool made_anew(const struct seep_choice *choice)
{
    return choice->source == SEEP_STEP_OPTIMIZER && choice->joined >= ENOUGH_JOINED;
}

bool seep_choice_batch(struct seep_choice *choice, uint64_t now_ns)
{
    choice->n_batches++;
    choice->batches_between++;
    choice->batch_ns = now_ns;
    if (choice->batches_between >= ENOUGH_BATCHES && !is_told(choice)) {
        if (made_anew(choice))
            choose(choice, SEEP_STEP_BATCH, SEEP_WHY_BATCHES_ANEW);
        else if (!choice->n_rounds && choice->source != SEEP_STEP_BATCH)
            choose(choice, SEEP_STEP_BATCH, SEEP_WHY_BATCHES);
        else if (is_training_over(choice, now_ns))
            choose(choice, SEEP_STEP_BATCH, SEEP_WHY_BATCHES_AFTER);
    }
    return choice->source == SEEP_STEP_BATCH;
}

bool seep_choice_loop(struct seep_choice *choice)
{
    choice->loops_between++;
    return choice->source == SEEP_STEP_LOOP;
}

bool seep_choice_wants_loop(const struct seep_choice *choice, uint64_t now_ns, bool *beside_rounds)
{
    *beside_rounds = false;
    if (choice->n_batches && now_ns - choice->batch_ns < batch_gone_ns)
        return false;
    if (choice->source == SEEP_STEP_TIME || choice->source == SEEP_STEP_LOOP)
        return true;
    if (choice->source != SEEP_STEP_OPTIMIZER)
        return false;
    if (choice->why == SEEP_WHY_OPTIMIZERS_ANEW)
        return false;
    if (is_training_over(choice, now_ns))
        return true;
    *beside_rounds = true;
    return choice->slow_rounds >= ROUNDS_IN_A_ROW;
}

bool seep_choice_time(struct seep_choice *choice, uint64_t now_ns)
{
    const uint64_t last_ns =
        choice->round_ns > choice->batch_ns ? choice->round_ns : choice->batch_ns;

    if (choice->source == SEEP_STEP_OPTIMIZER && choice->left && now_ns > last_ns + over_ns &&
        is_training_over(choice, now_ns))
        choose(choice, SEEP_STEP_TIME, SEEP_WHY_TIME_AFTER);
    return choice->why == SEEP_WHY_TIME_AFTER;
}

void seep_choice_loop_found(struct seep_choice *choice, uint64_t now_ns)
{
    if (is_training_over(choice, now_ns))
        choose(choice, SEEP_STEP_LOOP, SEEP_WHY_LOOP_AFTER);
    else if (choice->source == SEEP_STEP_OPTIMIZER)
        choose(choice, SEEP_STEP_LOOP, SEEP_WHY_LOOP_BETWEEN);
    else if (choice->source == SEEP_STEP_TIME)
        choose(choice, SEEP_STEP_LOOP, SEEP_WHY_LOOP);
}
