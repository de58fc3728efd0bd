/* What suites of the gate share: two made-up reports of one job, and the check of one. */
#ifndef SEEP_TESTS_GATE_GATE_FIXTURE_H
#define SEEP_TESTS_GATE_GATE_FIXTURE_H

#include "libprof/gate/gate.h"
#include "libprof/report_read/report_view.h"
#include "tests/gate/budget_fixture.h"
#include "tests/suite.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *base, *report, *check;

static inline json_t *frame(const char *function, const char *file, int line)
{
    return json_pack("{s:s, s:s, s:s, s:i}", "kind", "python", "function", function, "file", file,
                     "line", line);
}

static inline json_t *slope(double value, double low, double high)
{
    return json_pack("{s:f, s:f, s:f}", "value", value, "low", low, "high", high);
}

static inline json_t *space(int peak, double value, double low, double high)
{
    return json_pack("{s:i, s:o}", "peak_bytes", peak, "growth_bytes_per_step",
                     slope(value, low, high));
}

/* A finished job of 100 steps: a trainer and a worker, host grows by 1000 (900 to 1100) a step. */
static inline json_t *make_report(void)
{
    return json_pack("{s:s, s:{s:[s,s,s], s:s, s:b, s:i, s:s, s:i},"
                     " s:[{s:i, s:s, s:{s:s, s:i}, s:{s:o}}, {s:i, s:s, s:{s:s, s:i}, s:{s:o}}],"
                     " s:{s:o}, s:[], s:[]}",
                     "format", "seep-report", "job", "command", "python3", "train.py", "--fast",
                     "cwd", "/home/user", "complete", 1, "dropped_events", 0, "step_source",
                     "optimizer", "steps", 100, "processes", "pid", 10, "role", "trainer", "exit",
                     "kind", "exit", "value", 0, "spaces", "host", space(1 << 20, 900, 800, 1000),
                     "pid", 11, "role", "loader-worker", "exit", "kind", "exit", "value", 0,
                     "spaces", "host", space(1 << 19, 100, 50, 150), "spaces", "host",
                     space(1 << 20, 1000, 900, 1100), "findings", "sites");
}

static inline json_t *add_finding(json_t *to, const char *pattern, const char *severity,
                                  const char *function, int line, int live)
{
    json_t *list = json_object_get(to, "findings");
    char id[16];

    snprintf(id, sizeof id, "F%zu", json_array_size(list) + 1);
    json_t *finding =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:i, s:o, s:[s], s:s}", "id", id, "pattern",
                  pattern, "severity", severity, "title", "grows", "space", "host", "frame",
                  frame(function, "/home/user/data/index.py", line), "live_bytes", live,
                  "growth_bytes_per_step", slope(0, 0, 0), "evidence", "seen", "advice", "stop it");
    json_array_append_new(list, finding);
    return finding;
}

/* A container of that name holds all of the finding; its length grows (1), stays (0), or is not
 * known (-1). */
static inline void add_holders(json_t *finding, const char *name, int grows)
{
    json_t *known = grows < 0 ? json_null() : json_boolean(grows);

    json_object_set_new(
        finding, "holders",
        json_pack("{s:s, s:i, s:i, s:[{s:s, s:{s:s, s:s, s:s, s:s, s:i}, s:i, s:{s:s, s:s, s:i}}],"
                  " s:[[i,i], [i,i]], s:o, s:[i,i]}",
                  "state", "held", "bytes", 1000, "explained_bytes", 1000, "paths", "text", name,
                  "root", "kind", "local", "name", "cache", "function", "main", "file",
                  "/home/user/train.py", "line", 7, "sole_bytes", 980, "holder", "name", name,
                  "type", "dict", "bound", 500, "length", 8, 10, 64, 70, "grows", known, "pids", 10,
                  11));
}

static inline json_t *add_site(json_t *to, const char *space_name, const char *function, int line,
                               int retained)
{
    json_t *list = json_object_get(to, "sites");
    char id[16];

    snprintf(id, sizeof id, "S%zu", json_array_size(list) + 1);
    json_t *site = json_pack(
        "{s:s, s:s, s:s, s:[o,o], s:i, s:i, s:i, s:o, s:[i], s:i, s:i}", "id", id, "space",
        space_name, "part", "dataset", "stack", frame("alloc", "/usr/lib/library.py", 3),
        frame(function, "/home/user/data/index.py", line), "look_at", 1, "retained_bytes", retained,
        "peak_bytes", retained, "growth_bytes_per_step", slope(0, 0, 0), "processes", 10,
        "allocations", 1, "allocated_bytes", retained);
    json_array_append_new(list, site);
    return site;
}

static inline void setup(void)
{
    memset(&err, 0, sizeof err);
    budget = (struct seep_budget){0};
    base = make_report();
    report = make_report();
    check = NULL;
}

static inline void teardown(void)
{
    seep_budget_fini(&budget);
    json_decref(base);
    json_decref(report);
    json_decref(check);
}

#endif
