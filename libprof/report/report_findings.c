/* This file writes the findings of report.json. */
#include "libprof/report/report_pieces.h"

#include "libprof/base/text.h"
#include "libprof/code/code_origin.h"
#include "libprof/code/packages/distribution.h"
#include "libprof/who/kept/kept_at.h"

#include <stdio.h>
#include <stdlib.h>

/* Those of its sites that the report lists. */
static json_t *site_ids(const struct seep_report_pieces *pieces, const struct seep_finding *f)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < f->n_sites; i++) {
        if (pieces->shown[f->sites[i]])
            seep_json_append(list, seep_json_site_id(f->sites[i]), &failed);
    }
    return seep_json_whole(list, failed);
}

static json_t *finding_pids(const struct seep_model *m, const struct seep_finding *f)
{
    uint32_t *list = malloc((f->n_processes + 1) * sizeof *list);

    if (!list)
        return NULL;
    for (size_t i = 0; i < f->n_processes; i++)
        list[i] = m->processes[f->processes[i]].id.pid;
    json_t *pids = seep_json_pids(list, f->n_processes);
    free(list);
    return pids;
}

static json_t *finding_evidence(const struct seep_finding *f)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < f->n_evidence; i++)
        seep_json_append(list, seep_json_text(f->evidence[i]), &failed);
    return seep_json_whole(list, failed);
}

/* Holders are known by line. For a finding spread over many lines, the holders of the common
 * caller's own line tell nothing. */
static bool is_of_one_line(const struct seep_finding *f)
{
    return f->n_sites && !f->n_lines;
}

/* NULL: not known. Borrowed. */
static json_t *holders_of(const struct seep_report_pieces *pieces, const struct seep_finding *f)
{
    if (f->is_small_objects)
        return pieces->line_holders->small->answer;
    return is_of_one_line(f) && !f->holder_is_of_others
               ? seep_line_holders_of(pieces->line_holders, pieces->code, f->space, f->frame)
               : NULL;
}

static json_t *holders_json(const struct seep_report_pieces *pieces, const struct seep_finding *f)
{
    json_t *its = holders_of(pieces, f);

    return its ? json_incref(its) : json_null();
}

/* The lines that keep what the finding's line made. */
static json_t *kept_at_json(const struct seep_report_pieces *pieces, const struct seep_finding *f)
{
    return seep_kept_at_json(pieces->sources, holders_of(pieces, f), f->sites, f->n_sites);
}

/* The lines that pass it on, if native code took a reference too many. */
static json_t *passed_at_json(const struct seep_report_pieces *pieces, const struct seep_finding *f)
{
    return f->n_sites ? seep_passed_at_json(pieces->sources, holders_of(pieces, f),
                                            pieces->code->model->sites[f->sites[0]].stack)
                      : json_null();
}

/* Whether a stack is of a thread of a Python job that runs none of Python's code. */
static bool is_without_python(const struct seep_model *m, uint32_t stack)
{
    if (!m->processes[m->main].id.python_version || !stack)
        return false;
    for (; stack; stack = m->dict.stacks[stack].parent) {
        const struct seep_dict_frame *f = &m->dict.frames[m->dict.stacks[stack].frame];
        if (f->kind == SEEP_FRAME_PYTHON || f->pseudo)
            return false;
        if (f->source &&
            seep_native_is_python(seep_dictionary_text(&m->dict, m->dict.modules[f->source].path)))
            return false;
    }
    return true;
}

/* The library whose own thread asked, with its package and version; JSON's null: Python's code did.
 */
static json_t *native_caller_json(const struct seep_report_pieces *pieces,
                                  const struct seep_finding *f)
{
    const struct seep_model *m = pieces->code->model;
    const struct seep_dict_frame *frame = &m->dict.frames[seep_finding_shown(f)];
    struct seep_distribution its;

    if (!f->n_sites || f->n_lines || frame->kind != SEEP_FRAME_NATIVE || !frame->source ||
        !is_without_python(m, m->sites[f->sites[0]].stack))
        return json_null();
    const char *path = seep_dictionary_text(&m->dict, m->dict.modules[frame->source].path);
    (void)seep_distribution_of(path, m->processes[m->main].id.start_unix_ns, &its);
    return SEEP_REPORT_JSON(native_caller, .library = seep_text_base(path), .package = its.name,
                            .version = its.version);
}

static json_t *finding_json(const struct seep_report_pieces *pieces, const struct seep_finding *f,
                            size_t number)
{
    const struct seep_model *m = pieces->code->model;
    const bool counts = f->steps_to_limit >= 0 && f->steps_to_limit < 9e15;
    bool failed = false;
    char id[24];

    snprintf(id, sizeof id, "F%zu", number);
    json_t *json = SEEP_REPORT_JSON(
        finding, .id = id, .pattern = seep_pattern_name(f->pattern), .title = f->title,
        .severity = f->severity, .confidence = seep_confidence_number(f->confidence),
        .confidence_word = seep_confidence_word(f->confidence),
        .space = m->spaces[f->space].name.text, .part = seep_part_name(f->part),
        .processes = finding_pids(m, f),
        .frame =
            f->n_sites || f->frame ? seep_json_shown(pieces, seep_finding_shown(f)) : json_null(),
        .native_caller = seep_json_made(native_caller_json(pieces, f), &failed),
        .sites = site_ids(pieces, f), .holders = seep_json_made(holders_json(pieces, f), &failed),
        .kept_at = seep_json_made(kept_at_json(pieces, f), &failed),
        .passed_at = seep_json_made(passed_at_json(pieces, f), &failed),
        .live_bytes = f->live_bytes, .peak_bytes = f->peak_bytes, .count = f->count,
        .saving_bytes = f->saving_bytes, .growth_bytes_per_step = f->growth,
        .first_step = f->first_step > 0 ? (uint64_t)f->first_step : 0,
        .plateau_step = f->plateau_step ? f->plateau_step : -1,
        .limit_bytes = seep_count_if(f->limit_bytes, f->limit_bytes),
        .steps_to_limit = counts ? (int64_t)f->steps_to_limit : -1,
        .shortage = seep_json_made(seep_json_oom(pieces, f->oom), &failed),
        .evidence = finding_evidence(f), .advice = f->advice);
    return seep_json_whole(json, failed);
}

json_t *seep_json_left_out(const struct seep_report_pieces *pieces)
{
    const size_t *n = pieces->findings->left_out;

    return SEEP_REPORT_JSON(left_out, .leak = n[SEEP_LEAK], .retention = n[SEEP_RETENTION],
                            .pressure = n[SEEP_PRESSURE], .info = n[SEEP_INFO]);
}

json_t *seep_json_findings(const struct seep_report_pieces *pieces)
{
    json_t *list = json_array();
    bool failed = false;

    for (size_t i = 0; i < pieces->findings->n && !failed; i++) {
        seep_json_append(list, finding_json(pieces, &pieces->findings->list[i], i + 1), &failed);
    }
    return seep_json_whole(list, failed);
}
