/* This file prints a check as SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format");
 * brackets name its sections. */
#include "libprof/base/json_build.h"
#include "libprof/base/text.h"
#include "libprof/print/check_printers.h"
#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/report_pairs.h"
#include "libprof/report_read/report_view.h"
#include "libprof/words/patterns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA                                                                                     \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

static const char BUDGET_RULE[] = "memory-budget";

/* A path as a URI reference (RFC 3986): characters that are neither unreserved nor a slash become
 * %XX. */
static json_t *uri_of(const char *prefix, const char *path, const char *suffix)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    char *text = malloc(strlen(prefix) + 3 * strlen(path) + strlen(suffix) + 1), *to = text;
    json_t *uri;

    if (!text)
        return NULL;
    to = stpcpy(to, prefix);
    for (; *path; path++) {
        if (strchr(plain, *path))
            *to++ = *path;
        else
            to += sprintf(to, "%%%02X", (unsigned char)*path);
    }
    strcpy(to, suffix);
    uri = json_string(text);
    free(text);
    return uri;
}

/* [3.28]; JSON's null if the frame has no file to look at. */
static json_t *location_of(const json_t *frame, const char *cwd)
{
    const char *file = seep_get_text(frame, "file", NULL);
    const char *function = seep_get_text(frame, "function", NULL);
    double line = seep_get_number(frame, "line");
    json_t *artifact, *physical, *location;
    bool failed = false;

    if (!file || !*file || *file == '<')
        return json_null();
    const char *below = seep_get_below(cwd, file);
    if (*below == '/')
        artifact = json_pack("{s:o}", "uri", uri_of("file://", below, ""));
    else
        artifact = json_pack("{s:o, s:s}", "uri", uri_of("", below, ""), "uriBaseId", "SRCROOT");
    physical = json_pack("{s:o}", "artifactLocation", artifact);
    if (line >= 1)
        seep_json_set(physical, "region",
                      json_pack("{s:i}", "startLine", line < 1e9 ? (int)line : 1), &failed);
    location = json_pack("{s:o}", "physicalLocation", physical);
    if (function)
        seep_json_set(location, "logicalLocations",
                      json_pack("[{s:s, s:s}]", "fullyQualifiedName",
                                seep_get_text(frame, "qualname", function), "kind", "function"),
                      &failed);
    return seep_json_whole(location, failed);
}

/* What fails the gate is an error [3.27.10], because readers fail on errors. */
static const char *level_of(const json_t *finding, enum seep_severity severity)
{
    if (strcmp(seep_get_text(finding, "verdict", ""), "violated") == 0)
        return "error";
    return severity <= SEEP_RETENTION ? "warning" : "note";
}

/* Adds to *text, which becomes NULL without memory. */
static void add_text(char **text, const char *before, const char *more)
{
    char *longer = *text ? seep_text_format("%s%s%s", *text, before, more) : NULL;

    free(*text);
    *text = longer;
}

/* Title, evidence, holders and advice as one message [3.11]. */
static json_t *message_of(const struct seep_report_finding *f, const char *cwd)
{
    char *text = seep_text_format("%s", f->title), *held;
    json_t *line;
    size_t i;

    json_array_foreach (f->evidence, i, line)
        add_text(&text, "\n- ", json_string_value(line));
    for (i = 0; (held = seep_get_holders_line(f, cwd, i)); i++) {
        add_text(&text, "\n- ", held);
        free(held);
    }
    add_text(&text, "\nTo do: ", f->advice);
    json_t *message = text ? json_pack("{s:s}", "text", text) : NULL;
    free(text);
    return message;
}

static void add_related(json_t *list, const json_t *frame, const char *cwd, const char *before,
                        const char *text, bool *failed)
{
    json_t *location = location_of(frame, cwd);
    char *message = seep_text_format("%s%s", before, text);

    if (!json_is_null(location)) {
        seep_json_set(location, "message", message ? json_pack("{s:s}", "text", message) : NULL,
                      failed);
        seep_json_append(list, json_incref(location), failed);
    }
    json_decref(location);
    free(message);
}

/* Adds the lines that had the memory missing at an out-of-memory. */
static void add_oom(json_t *list, const struct seep_report_finding *f, const char *cwd,
                    bool *failed)
{
    const json_t *line;

    for (size_t i = 0; (line = seep_get_oom_line(f, i)) && !*failed; i++) {
        const struct seep_report_shortage_line its = seep_report_shortage_line_read(line);
        char *words = seep_get_oom_words(&its);
        *failed = !words;
        if (words)
            add_related(list, its.frame, cwd, "", words, failed);
        free(words);
    }
}

/* The statements that store the memory where it is held [3.27.22], or, if that is one, which is the
 * result's own place, the line that made it; if they are not known, the files of the variables that
 * hold it. For an out-of-memory, the lines that had the memory. */
static json_t *keepers_of(const struct seep_report_finding *f, const char *cwd)
{
    const json_t *kept = f->kept_at;
    json_t *list = json_array(), *one;
    bool failed = false;
    size_t i;

    add_oom(list, f, cwd, &failed);
    if (json_array_size(kept) == 1)
        add_related(list, f->frame, cwd, "", "made here", &failed);
    else
        json_array_foreach (kept, i, one)
            add_related(list, one, cwd, "kept here: ", seep_get_text(one, "text", "?"), &failed);
    if (json_array_size(kept))
        return seep_json_whole(list, failed);
    json_array_foreach (json_object_get(seep_get_holders(f->holders), "paths"), i, one)
        add_related(list, json_object_get(one, "root"), cwd, "", seep_get_text(one, "text", "?"),
                    &failed);
    return seep_json_whole(list, failed);
}

static int pattern_index(const char *name)
{
    enum seep_pattern pattern;

    return seep_pattern_find(name, &pattern) ? (int)pattern : -1;
}

/* Where to look first: the one statement that keeps it, in its own words, else the line that made
 * it. */
static json_t *place_of(const struct seep_report_finding *f, const char *cwd)
{
    const json_t *at = seep_get_line_to_change(f);
    json_t *location = location_of(at, cwd);
    char *message = seep_text_format("kept here: %s", seep_get_text(at, "text", "?"));
    bool failed = false;

    if (json_is_object(location) && at != f->frame)
        seep_json_set(location, "message", message ? json_pack("{s:s}", "text", message) : NULL,
                      &failed);
    free(message);
    return seep_json_whole(location, failed);
}

static void add_location(json_t *result, json_t *location, bool *failed)
{
    if (!json_is_null(location))
        seep_json_set(result, "locations", json_pack("[o]", location), failed);
}

static void add_fingerprint(json_t *result, uint64_t fingerprint, bool *failed)
{
    char text[24];

    snprintf(text, sizeof text, "%016" PRIx64, fingerprint);
    seep_json_set(result, "partialFingerprints", json_pack("{s:s}", "seepPlaceAndPattern/v1", text),
                  failed);
}

static json_t *finding_result(const json_t *finding, const char *cwd)
{
    const struct seep_report_finding f = seep_report_finding_read(finding);
    const json_t *reason = json_object_get(finding, "reason");
    json_t *result = json_pack("{s:s, s:s, s:o}", "ruleId", f.pattern, "level",
                               level_of(finding, f.severity), "message", message_of(&f, cwd));
    bool failed = false;

    if (pattern_index(f.pattern) >= 0)
        seep_json_set(result, "ruleIndex", json_integer(pattern_index(f.pattern)), &failed);
    add_location(result, place_of(&f, cwd), &failed);
    json_t *keepers = keepers_of(&f, cwd);
    failed = failed || !keepers;
    if (json_array_size(keepers))
        seep_json_set(result, "relatedLocations", json_incref(keepers), &failed);
    json_decref(keepers);
    add_fingerprint(result, seep_compare_fingerprint(&f), &failed);
    if (reason)
        seep_json_set(result, "suppressions",
                      json_pack("[{s:s, s:s}]", "kind", "external", "justification",
                                json_string_value(reason)),
                      &failed);
    seep_json_set(result, "properties",
                  json_pack("{s:O?, s:O?, s:O?, s:O?, s:O?, s:O?, s:O?}", "id",
                            json_object_get(finding, "id"), "severity",
                            json_object_get(finding, "severity"), "confidence",
                            json_object_get(finding, "confidence"), "confidence_word",
                            json_object_get(finding, "confidence_word"), "space",
                            json_object_get(finding, "space"), "live_bytes",
                            json_object_get(finding, "live_bytes"), "growth_bytes_per_step",
                            json_object_get(finding, "growth_bytes_per_step")),
                  &failed);
    return seep_json_whole(result, failed);
}

static json_t *line_result(const json_t *line, const char *cwd)
{
    char *text = seep_text_format("%s: %s", seep_get_text(line, "name", ""),
                                  seep_get_text(line, "text", ""));
    json_t *result = json_pack("{s:s, s:i, s:s, s:{s:s}}", "ruleId", BUDGET_RULE, "ruleIndex",
                               (int)SEEP_N_PATTERNS, "level", "error", "message", "text", text);
    bool failed = false;

    free(text);
    add_location(result, location_of(json_object_get(line, "frame"), cwd), &failed);
    return seep_json_whole(result, failed);
}

/* A rule [3.49]: its name, its signs and the advice, as text and as Markdown. */
static json_t *rule_of(const char *id, const char *called, const char *signs, const char *advice)
{
    char *text = seep_text_format("Signs: %s\n\nTo do: %s", signs, advice);
    char *marked = seep_text_format("**Signs:** %s\n\n**To do:** %s", signs, advice);
    json_t *rule = !text || !marked
                       ? NULL
                       : json_pack("{s:s, s:{s:s}, s:{s:s}, s:{s:s, s:s}}", "id", id,
                                   "shortDescription", "text", called, "fullDescription", "text",
                                   signs, "help", "text", text, "markdown", marked);

    free(text);
    free(marked);
    return rule;
}

/* A rule for every pattern, in the order of patterns.def, and one for budgets. */
static json_t *rules(void)
{
    json_t *list = json_array();
    bool failed = false;

    for (int i = 0; i < SEEP_N_PATTERNS; i++) {
        const struct seep_pattern_row *row = seep_pattern_row((enum seep_pattern)i);
        char *called = seep_text_format("Memory pattern: %s", row->name);
        seep_json_append(list, called ? rule_of(row->name, called, row->signs, row->advice) : NULL,
                         &failed);
        free(called);
    }
    seep_json_append(
        list,
        rule_of(BUDGET_RULE, "A memory budget is violated",
                "The job exceeded a limit that its budget file or an option sets.",
                "Fix what grew, or raise the limit; `seep help check` describes budgets."),
        &failed);
    return seep_json_whole(list, failed);
}

static json_t *results(const json_t *check, const char *cwd)
{
    json_t *list = json_array(), *one;
    bool failed = false;
    size_t i;

    json_array_foreach (json_object_get(check, "findings"), i, one) {
        seep_json_append(list, finding_result(one, cwd), &failed);
    }
    json_array_foreach (json_object_get(check, "lines"), i, one) {
        /* Results of findings already cover a line on findings, except for kills: they have none.
         */
        if (strcmp(seep_get_text(one, "verdict", ""), "violated") == 0 &&
            (strcmp(seep_get_text(one, "kind", ""), "findings") != 0 ||
             seep_get_number(one, "oom_kills") > 0))
            seep_json_append(list, line_result(one, cwd), &failed);
    }
    return seep_json_whole(list, failed);
}

/* Why nobody can tell comes first. */
static json_t *notifications(const json_t *check)
{
    json_t *list = json_array(), *one = json_object_get(check, "reason");
    bool failed = false;
    size_t i;

    if (one)
        seep_json_append(
            list, json_pack("{s:s, s:{s:O}}", "level", "error", "message", "text", one), &failed);
    json_array_foreach (json_object_get(check, "notes"), i, one) {
        seep_json_append(list, json_pack("{s:s, s:{s:O}}", "level", "note", "message", "text", one),
                         &failed);
    }
    return seep_json_whole(list, failed);
}

int seep_check_sarif(const json_t *check, FILE *out, bool colour)
{
    const char *cwd = seep_get_job(check).cwd;
    json_t *run = json_pack(
        "{s:{s:{s:s, s:s, s:o}}, s:[{s:b, s:o}], s:s, s:o}", "tool", "driver", "name", "seep",
        "version", seep_get_text(check, "seep", "0"), "rules", rules(), "invocations",
        "executionSuccessful", !json_object_get(check, "reason"), "toolExecutionNotifications",
        notifications(check), "columnKind", "unicodeCodePoints", "results", results(check, cwd));
    bool failed = false;
    json_t *log;
    int rc;

    (void)colour;
    if (*cwd == '/')
        seep_json_set(run, "originalUriBaseIds",
                      json_pack("{s:{s:o}}", "SRCROOT", "uri",
                                uri_of("file://", strcmp(cwd, "/") ? cwd : "", "/")),
                      &failed);
    log = json_pack("{s:s, s:s, s:[o]}", "$schema", SCHEMA, "version", "2.1.0", "runs",
                    seep_json_whole(run, failed));
    if (!log)
        return -SEEP_ENOMEM;
    rc = json_dumpf(log, out, JSON_INDENT(1)) || fputc('\n', out) == EOF ? -SEEP_EIO : 0;
    json_decref(log);
    return rc;
}
