#include "libprof/verdict/what_if.h"

#include "libprof/base/text.h"
#include "libprof/measure/device_memory.h"
#include "libprof/thresholds/thresholds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *seep_what_if_words(const struct seep_what_if *its, char text[SEEP_WHAT_IF_WORDS])
{
    static const char *const forms[SEEP_N_WHAT_IFS] = {
        [SEEP_WHAT_IF_NOTHING] = "",
        [SEEP_WHAT_IF_EXPANDABLE] = "expandable_segments:True",
        [SEEP_WHAT_IF_MAX_SPLIT] = "max_split_size_mb:%u",
        [SEEP_WHAT_IF_ROUNDUP] = "roundup_power2_divisions:%u",
        [SEEP_WHAT_IF_KEPT] = "kept nothing",
    };

    snprintf(text, SEEP_WHAT_IF_WORDS, forms[its->change], its->amount);
    return text;
}

/* ---- of one device of one process --------------------------------------------------------- */

/* list[0] is what was in fact. */
struct tries {
    const struct seep_model_what_if *list;
    size_t n;
};

static struct tries tries_from(const struct seep_model *m, size_t first)
{
    struct tries tries = {&m->what_ifs[first], 1};

    while (first + tries.n < m->n_what_ifs &&
           m->what_ifs[first + tries.n].its.change != SEEP_WHAT_IF_NOTHING)
        tries.n++;
    return tries;
}

static bool is_among(const uint32_t *list, size_t n, uint32_t one)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == one)
            return true;
    return false;
}

/* Of the finding's processes, the one whose device had most reserved. */
static struct tries tries_of(const struct seep_model *m, const struct seep_finding *f)
{
    const int device = m->spaces[f->space].name.device;
    struct tries most = {NULL, 0};

    for (size_t i = 0; i < m->n_what_ifs; i += tries_from(m, i).n) {
        const struct seep_model_what_if *was = &m->what_ifs[i];
        if ((int)was->its.device == device &&
            is_among(f->processes, f->n_processes, was->process) &&
            (!most.n || was->its.peak_bytes > most.list->its.peak_bytes))
            most = tries_from(m, i);
    }
    return most;
}

/* Whether it makes a difference: a request finds room, or what is reserved falls by more than a
 * little. */
static bool is_better(const struct seep_what_if *its, const struct seep_what_if *was)
{
    return its->refused < was->refused ||
           (its->refused == was->refused &&
            (double)its->peak_bytes <= SEEP_T_WHAT_IF_SHARE * (double)was->peak_bytes);
}

/* ---- words -------------------------------------------------------------------------------- */

/* "; the request would have fitted". */
static const char *fits(const struct seep_what_if *its, const struct seep_what_if *was)
{
    if (!was->refused)
        return "";
    if (!its->refused)
        return was->refused == 1 ? "; the request would have fitted"
                                 : "; the requests would have fitted";
    return its->refused < was->refused ? "; some of the requests would have fitted"
                                       : "; the request would not have fitted";
}

/* The best of the settings that were tried. */
static const struct seep_what_if *best_of(const struct tries *t)
{
    const struct seep_what_if *best = NULL;

    for (size_t i = 1; i < t->n; i++) {
        const struct seep_what_if *its = &t->list[i].its;
        if (its->change != SEEP_WHAT_IF_KEPT &&
            (!best || its->refused < best->refused ||
             (its->refused == best->refused && its->peak_bytes < best->peak_bytes)))
            best = its;
    }
    return best;
}

static void note_private(const struct seep_what_if *was, struct seep_finding *f)
{
    char its[SEEP_SIZE_TEXT], all[SEEP_SIZE_TEXT];

    if (was->private_bytes >= SEEP_T_PEAK_BYTES)
        seep_finding_note(f,
                          "%s of the %s that were reserved at most are private pools, as of CUDA "
                          "graphs: nothing else can use what is free there",
                          seep_text_size((double)was->private_bytes, its),
                          seep_text_size((double)was->peak_bytes, all));
}

static void note_setting(const struct tries *t, struct seep_finding *f)
{
    const struct seep_what_if *was = &t->list[0].its, *best = best_of(t);
    char words[SEEP_WHAT_IF_WORDS], would[SEEP_SIZE_TEXT], had[SEEP_SIZE_TEXT];

    if (!best)
        return;
    seep_text_size((double)best->peak_bytes, would);
    seep_text_size((double)was->peak_bytes, had);
    if (is_better(best, was))
        seep_finding_note(f,
                          "Its requests replayed: with %s PyTorch would have reserved at most %s, "
                          "not %s%s",
                          seep_what_if_words(best, words), would, had, fits(best, was));
    else
        seep_finding_note(f,
                          "Its requests replayed: none of the settings that were tried would have "
                          "reserved much less than %s (%s at best, with %s)",
                          had, would, seep_what_if_words(best, words));
}

/* Only a setting that helps is advised: in place of what is advised of a cache, and beside what is
 * advised where memory ran out. */
static char *advice_of(const struct seep_what_if *best, const struct seep_what_if *was,
                       const struct seep_finding *f)
{
    char words[SEEP_WHAT_IF_WORDS];

    if (f->pattern == SEEP_PATTERN_OUT_OF_MEMORY)
        return best->refused < was->refused
                   ? seep_text_format(
                         "%s PYTORCH_CUDA_ALLOC_CONF=%s would have made room this time.", f->advice,
                         seep_what_if_words(best, words))
                   : strdup(f->advice);
    if (!is_better(best, was))
        return seep_text_format(
            "Let sizes repeat (pad or bucket them), or reuse one buffer: none of "
            "the allocator's settings that were tried helps.");
    return seep_text_format(
        "Set PYTORCH_CUDA_ALLOC_CONF=%s. Let sizes repeat (pad or bucket them), "
        "or reuse one buffer.",
        seep_what_if_words(best, words));
}

static int advise(const struct tries *t, struct seep_finding *f)
{
    const struct seep_what_if *best = best_of(t);
    char *advice = best ? advice_of(best, &t->list[0].its, f) : NULL;

    if (!best)
        return 0;
    if (!advice)
        return -SEEP_ENOMEM;
    free(f->advice);
    f->advice = advice;
    return 0;
}

static void note_line(const struct tries *t, const struct seep_code *code, struct seep_finding *f)
{
    const struct seep_what_if *was = &t->list[0].its;
    char would[SEEP_SIZE_TEXT], had[SEEP_SIZE_TEXT];

    for (size_t i = 1; i < t->n; i++) {
        const struct seep_model_what_if *one = &t->list[i];
        if (one->its.change != SEEP_WHAT_IF_KEPT ||
            code->lines->line_of[one->frame] != code->lines->line_of[f->frame] ||
            !is_better(&one->its, was))
            continue;
        seep_finding_note(f,
                          "Its requests replayed: had this line kept nothing beyond its step, at "
                          "most %s would have been reserved, not %s%s",
                          seep_text_size((double)one->its.peak_bytes, would),
                          seep_text_size((double)was->peak_bytes, had), fits(&one->its, was));
        return;
    }
}

/* ---- all of them -------------------------------------------------------------------------- */

int seep_what_ifs_note(const struct seep_code *code, struct seep_findings *f)
{
    int rc = 0;

    for (size_t i = 0; i < f->n && !rc; i++) {
        struct seep_finding *its = &f->list[i];
        const struct tries tries = tries_of(code->model, its);
        if (!tries.n)
            continue;
        if (its->pattern == SEEP_PATTERN_ALLOCATOR_CACHE ||
            its->pattern == SEEP_PATTERN_OUT_OF_MEMORY) {
            note_private(&tries.list[0].its, its);
            note_setting(&tries, its);
            rc = advise(&tries, its);
        } else if (its->frame) {
            note_line(&tries, code, its);
        }
    }
    return rc;
}
