#include "libprof/report_read/report_view.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/text.h"
#include "libprof/words/space.h"

char *seep_device_text(const json_t *device)
{
    const struct seep_report_device d = seep_report_device_read(device);
    const bool used = d.used_bytes >= 0;
    /* What is said of it, in this order, as far as the report knows it. */
    const struct {
        int64_t bytes;
        const char *before, *after;
    } parts[] = {
        {d.tensors_peak_bytes, ": tensors at most ", ""},
        {d.reserved_bytes, "; PyTorch reserves ", ""},
        {d.used_bytes, "; this job uses ", ""},
        {d.used_peak_bytes, " (at most ", ")"},
        {used ? d.capacity_bytes : -1, " of ", ""}, /* beside what is used */
        {d.others_bytes ? d.others_bytes : -1, "; other processes use ", ""},
        {d.drift_bytes ? d.drift_bytes : -1, "; PyTorch's own total differs by up to ", ""},
        /* As the program announced it. */
        {used || !d.capacity_bytes ? -1 : d.capacity_bytes, "; it can hold ", ""},
    };
    char *text = NULL, size[SEEP_SIZE_TEXT];
    size_t n;
    FILE *out = open_memstream(&text, &n);

    if (!out)
        return NULL;
    fprintf(out, "GPU %llu", (unsigned long long)d.device);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].bytes >= 0)
            fprintf(out, "%s%s%s", parts[i].before, seep_text_size((double)parts[i].bytes, size),
                    parts[i].after);
    }
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

const json_t *seep_get_oom_line(const struct seep_report_finding *f, size_t i)
{
    return json_array_get(seep_report_shortage_read(f->shortage).lines, i);
}

char *seep_get_oom_words(const struct seep_report_shortage_line *line)
{
    char one[SEEP_SIZE_TEXT], other[SEEP_SIZE_TEXT];

    seep_text_size((double)line->kept_bytes, one);
    seep_text_size((double)line->step_bytes, other);
    if (!line->step_bytes)
        return seep_text_format("%s kept from before", one);
    if (!line->kept_bytes)
        return seep_text_format("at most %s made in the step", other);
    return seep_text_format("%s kept from before, at most %s more made in the step", one, other);
}

const char *const seep_severities[SEEP_N_SEVERITIES] = {
#define SEEP_SEVERITY(id, name) name,
#include "libprof/words/severities.def"
#undef SEEP_SEVERITY
};

const char *seep_get_text(const json_t *object, const char *key, const char *missing)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : missing;
}

double seep_get_number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

const char *seep_get_part(const json_t *site)
{
    const char *part = seep_report_site_read(site).part;

    return *part ? part : "other";
}

const json_t *seep_get_site_frame(const json_t *site)
{
    const json_t *stack = json_object_get(site, "stack");
    json_int_t at = json_integer_value(json_object_get(site, "look_at"));
    const json_t *frame = json_array_get(stack, at > 0 ? (size_t)at : 0);

    return frame ? frame : json_array_get(stack, 0);
}

const char *seep_get_space_class(const char *space)
{
    return seep_space_parse(space).host_like ? seep_space_class_name(SEEP_CLASS_HOST) : space;
}

double seep_get_left_out(const json_t *report, int severity)
{
    double n =
        seep_get_number(json_object_get(report, "findings_left_out"), seep_severities[severity]);

    return n > 0 && n < 1e15 ? n : 0;
}

double seep_get_all_left_out(const json_t *report)
{
    double sum = 0;

    for (int i = 0; i < 4; i++)
        sum += seep_get_left_out(report, i);
    return sum;
}

struct seep_report_job seep_get_job(const json_t *report)
{
    return seep_report_job_read(json_object_get(report, "job"));
}

static struct seep_report_exit exit_of(const json_t *job_or_process)
{
    return seep_report_exit_read(json_object_get(job_or_process, "exit"));
}

const char *seep_get_exit_text(const json_t *job_or_process)
{
    return exit_of(job_or_process).text;
}

bool seep_get_has_failed(const json_t *job_or_process)
{
    const struct seep_report_exit exit = exit_of(job_or_process);

    if (json_object_get(json_object_get(job_or_process, "exit"), "failed"))
        return exit.failed;
    return strcmp(exit.kind, "signal") == 0 || (strcmp(exit.kind, "exit") == 0 && exit.value > 0);
}

static bool trains(const json_t *process)
{
    const char *role = seep_report_process_read(process).role;

    return strcmp(role, "trainer") == 0 || strcmp(role, "rank") == 0;
}

const json_t *seep_get_failed(const json_t *report, size_t *at)
{
    const json_t *processes = json_object_get(report, "processes");

    while (*at < json_array_size(processes)) {
        const json_t *process = json_array_get(processes, (*at)++);
        if (trains(process) && seep_get_has_failed(process))
            return process;
    }
    return NULL;
}

/* Whoever ends a job so wants to see what it had. */
static bool was_told_to_end(const json_t *process)
{
    const struct seep_report_exit exit = exit_of(process);

    return strcmp(exit.kind, "signal") == 0 &&
           (exit.value == SIGTERM || exit.value == SIGINT || exit.value == SIGHUP);
}

const json_t *seep_get_crashed(const json_t *report)
{
    const json_t *process;

    for (size_t at = 0; (process = seep_get_failed(report, &at));) {
        if (!was_told_to_end(process))
            return process;
    }
    return NULL;
}

bool seep_get_crashed_at_once(const json_t *report)
{
    return seep_get_crashed(report) && strcmp(seep_get_job(report).step_source, "time") == 0 &&
           !json_array_size(json_object_get(report, "findings"));
}

bool seep_get_undetermined(const json_t *report)
{
    const json_t *findings = json_object_get(report, "findings");
    json_t *one;
    size_t i;

    json_array_foreach (findings, i, one) {
        if (strcmp(seep_report_finding_read(one).pattern, "undetermined") != 0)
            return false;
    }
    return json_array_size(findings);
}

bool seep_get_unsettled(const json_t *report)
{
    const bool any = json_array_size(json_object_get(report, "findings"));

    return !json_is_object(json_object_get(report, "digest")) &&
           (seep_get_crashed(report) || seep_get_has_failed(json_object_get(report, "job")) ||
            (!any && seep_get_too_early(report)) || seep_get_undetermined(report));
}

bool seep_get_runs(const json_t *report)
{
    json_t *process;
    size_t i;

    json_array_foreach (json_object_get(report, "processes"), i, process) {
        if (strcmp(exit_of(process).kind, "running") == 0)
            return true;
    }
    return false;
}

bool seep_get_ended(const json_t *report)
{
    json_t *process;
    size_t i;

    json_array_foreach (json_object_get(report, "processes"), i, process) {
        const char *kind = exit_of(process).kind;
        if (trains(process) && (!*kind || strcmp(kind, "unknown") == 0))
            return false;
    }
    return !seep_get_runs(report);
}

const char *seep_get_job_id(const json_t *report)
{
    const char *id = seep_get_text(json_object_get(report, "job"), "job_id", "");
    json_t *process;
    size_t i;

    json_array_foreach (json_object_get(report, "processes"), i, process) {
        if (!*id)
            id = seep_get_text(process, "job_id", "");
    }
    return *id ? id : NULL;
}

bool seep_get_too_early(const json_t *report)
{
    const struct seep_report_job job = seep_get_job(report);

    return job.judged_steps < job.judged_steps_needed;
}

const char *seep_get_step_unit(const struct seep_report_job *job)
{
    return !*job->step_source || strcmp(job->step_source, "time") == 0 ? "time slice" : "step";
}

const char *seep_get_when(const char *unit, double step, double steps, char text[SEEP_WHEN_TEXT])
{
    if (step > steps)
        snprintf(text, SEEP_WHEN_TEXT, "after the last %.16s", unit);
    else if (step >= 1)
        snprintf(text, SEEP_WHEN_TEXT, "in %.16s %.0f", unit, step);
    else
        snprintf(text, SEEP_WHEN_TEXT, "before %.16s 1", unit);
    return text;
}

const char *seep_get_below(const char *cwd, const char *path)
{
    size_t n = strlen(cwd);

    return n > 1 && strncmp(path, cwd, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

static char *clean(char *text)
{
    char *harmless = text ? seep_text_clean(text, strlen(text)) : NULL;

    free(text);
    return harmless;
}

char *seep_get_frame_function(const json_t *frame)
{
    const char *name = seep_get_text(frame, "qualname", seep_get_text(frame, "function", NULL));
    const char *module = seep_get_text(frame, "module", NULL);

    if (name)
        return strdup(name);
    if (module)
        return seep_text_format("%s+0x%llx", seep_text_base(module),
                                (unsigned long long)seep_get_number(frame, "offset"));
    return strdup("unknown code");
}

char *seep_get_frame_text(const json_t *frame, const char *cwd)
{
    const char *file = seep_get_text(frame, "file", NULL);
    const char *module = seep_get_text(frame, "module", NULL);
    const char *function = seep_get_text(frame, "function", NULL);
    const char *in = function ? " in " : "", *of = function ? function : "";
    double line = seep_get_number(frame, "line");

    if (file && line > 0)
        return clean(seep_text_format("%s:%.0f%s%s", seep_get_below(cwd, file), line, in, of));
    if (file)
        return clean(seep_text_format("%s%s%s", seep_get_below(cwd, file), in, of));
    if (module)
        return clean(seep_text_format("%s+0x%llx%s%s", seep_text_base(module),
                                      (unsigned long long)seep_get_number(frame, "offset"), in,
                                      of));
    if (json_is_null(frame))
        return strdup("memory that has no line");
    return clean(seep_text_format("%s", function ? function : "unknown code"));
}

json_t *seep_get_document(const char *format)
{
    return json_pack("{s:s, s:i, s:s}", "format", format, "version", 1, "seep", SEEP_VERSION);
}
