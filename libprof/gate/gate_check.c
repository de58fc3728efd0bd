#include "libprof/gate/gate_check.h"

#include "libprof/base/text.h"
#include "libprof/report_read/report_view.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int seep_gate_check_init(struct seep_gate_check *check, const json_t *report)
{
    json_t *finding;
    size_t i;

    *check = (struct seep_gate_check){
        .lines = json_array(), .findings = json_array(), .notes = json_array()};
    check->failed = !check->lines || !check->findings || !check->notes;
    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        if (!json_is_object(finding))
            continue;
        json_t *copy = json_object(); /* json_copy() silently omits what it has no memory for */
        if (json_object_update(copy, finding) || json_array_append(check->findings, copy))
            check->failed = true;
        json_decref(copy);
    }
    return check->failed ? -SEEP_ENOMEM : 0;
}

void seep_gate_check_fini(struct seep_gate_check *check)
{
    json_decref(check->lines);
    json_decref(check->findings);
    json_decref(check->notes);
    free(check->doubt);
    *check = (struct seep_gate_check){0};
}

void seep_gate_check_add_line(struct seep_gate_check *check, const char *kind, const char *verdict,
                              char *name, char *text, json_t *more)
{
    char id[24];
    json_t *line;

    snprintf(id, sizeof id, "B%zu", json_array_size(check->lines) + 1);
    line = json_pack("{s:s, s:s, s:s?, s:s?, s:s}", "id", id, "kind", kind, "name", name, "text",
                     text, "verdict", verdict);
    if (!name || !text || !line || (more && json_object_update(line, more)) ||
        json_array_append(check->lines, line))
        check->failed = true;
    if (strcmp(verdict, "violated") == 0)
        check->violated = true;
    json_decref(line);
    json_decref(more);
    free(name);
    free(text);
}

void seep_gate_check_note(struct seep_gate_check *check, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *clean = seep_text_clean(text, strlen(text));
    if (!clean || json_array_append_new(check->notes, json_string(clean)))
        check->failed = true;
    free(clean);
}

void seep_gate_check_doubt(struct seep_gate_check *check, const char *format, ...)
{
    char text[512];
    va_list args;

    if (check->doubt)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    check->doubt = seep_text_clean(text, strlen(text));
    check->failed |= !check->doubt;
}

static const char *verdict_of(const struct seep_gate_check *check)
{
    return check->violated ? "violated" : check->doubt ? "unknown" : "holds";
}

int seep_gate_check_finish(const struct seep_gate_check *check, const json_t *report,
                           json_t **document)
{
    json_t *json = check->failed ? NULL : seep_get_document("seep-check");

    if (!json || json_object_set_new(json, "verdict", json_string(verdict_of(check))) ||
        (check->doubt && !check->violated &&
         json_object_set_new(json, "reason", json_string(check->doubt))) ||
        json_object_set(json, "job", json_object_get(report, "job")) ||
        json_object_set(json, "lines", check->lines) ||
        json_object_set(json, "findings", check->findings) ||
        json_object_set(json, "notes", check->notes)) {
        json_decref(json);
        return -SEEP_ENOMEM;
    }
    *document = json;
    return 0;
}
