#include "libprof/gate/gate_check.h"

#include "libprof/base/text.h"
#include "libprof/gate/budget.h"
#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

/* The line of a finding that this container holds or, without a name, that nobody holds. */
static const json_t *frame_of(const json_t *report, const char *holder)
{
    json_t *finding;
    size_t i;

    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        const char *state = seep_get_text(seep_get_holders(finding), "state", "");
        const char *name = seep_get_holder_name(finding);
        if (*holder ? name && strcmp(name, holder) == 0 : strcmp(state, "lost") == 0)
            return json_object_get(finding, "frame");
    }
    return NULL;
}

static void add_line(struct seep_gate_check *check, const json_t *report,
                     const struct seep_budget_line *line, const char *verdict, char *name,
                     char *text, json_t *more)
{
    const json_t *frame = strcmp(verdict, "holds") == 0 ? NULL : frame_of(report, line->holder);

    if (!more ||
        (json_is_object(frame) && json_object_set_new(more, "frame", json_deep_copy(frame))))
        check->failed = true;
    seep_gate_check_add_line(check, *line->holder ? "holder" : "lost", verdict, name, text, more);
}

static void judge_lost(struct seep_gate_check *check, const json_t *report,
                       const struct seep_budget_line *line)
{
    double lost = seep_get_number(json_object_get(report, "holders"), "lost_bytes");
    char limit[SEEP_SIZE_TEXT], size[SEEP_SIZE_TEXT];

    seep_text_size((double)line->limit, limit);
    seep_text_size(lost, size);
    add_line(check, report, line, lost > (double)line->limit ? "violated" : "holds",
             seep_text_format("memory that nobody holds: at most %s", limit),
             seep_text_format("%s", size),
             json_pack("{s:I, s:f}", "limit", (json_int_t)line->limit, "value", lost));
}

static void judge_pace(struct seep_gate_check *check, const json_t *report,
                       const struct seep_budget_line *line, const struct seep_slope *pace)
{
    const char *unit = seep_get_step_unit(json_object_get(report, "job"));
    const char *verdict = pace->low > line->pace     ? "violated"
                          : pace->value > line->pace ? "noise"
                                                     : "holds";
    bool noise = strcmp(verdict, "noise") == 0;

    add_line(
        check, report, line, verdict,
        seep_text_format("growth of %s: at most %g entries a %s", line->holder, line->pace, unit),
        seep_text_format("%.3g entries a %s (95 %% interval %.3g to %.3g)%s", pace->value, unit,
                         pace->low, pace->high,
                         noise ? ": above the budget, but within the noise" : ""),
        json_pack("{s:s, s:f, s:f, s:f, s:f}", "holder", line->holder, "limit", line->pace, "value",
                  pace->value, "low", pace->low, "high", pace->high));
}

int seep_gate_holders(struct seep_gate_check *check, const json_t *report,
                      const struct seep_budget_line *line, struct seep_error *err)
{
    const json_t *holders = json_object_get(report, "holders");
    struct seep_slope pace;

    if (!(seep_get_number(holders, "snapshots") > 0))
        return seep_error_set(
            err, SEEP_ENODATA, "", 0,
            "the profile has no snapshot of who holds memory, which a budget needs: "
            "record with --holders; see `seep help run`");
    if (line->kind == SEEP_BUDGET_LOST) {
        judge_lost(check, report, line);
        return 0;
    }
    const json_t *container = seep_get_container(report, line->holder);
    if (!container) {
        add_line(check, report, line, "holds",
                 seep_text_format("growth of %s: at most %g entries a %s", line->holder, line->pace,
                                  seep_get_step_unit(json_object_get(report, "job"))),
                 strdup("no snapshot has it among the largest holders"),
                 json_pack("{s:s, s:f}", "holder", line->holder, "limit", line->pace));
        return 0;
    }
    if (!seep_get_slope(container, "growth_per_step", &pace))
        return seep_error_set(err, SEEP_ENODATA, "", 0,
                              "%.60s is in fewer than %d snapshots, too few to measure its growth: "
                              "take more; see --holders in `seep help run`",
                              line->holder, SEEP_STATISTICS_MIN);
    judge_pace(check, report, line, &pace);
    return 0;
}
