/* A view of a small report: two devices' spaces, three processes, four sites of three lines. */
#ifndef SEEP_TESTS_VIEWER_TOP_FIXTURE_H
#define SEEP_TESTS_VIEWER_TOP_FIXTURE_H

#include <check.h>

#include "viewer/top/top_view.h"

#include <string.h>

enum { TOP_NOW = 1100 }; /* the job began at 1000 */

#define FRAME(file, line, function)                                                                \
    "{'kind': 'python', 'file': '/home/me/" file "', 'line': " #line ", 'function': '" function "'}"
#define SITE(id, space, frame, made, freed, live, peak, growth)                                    \
    "{'id': '" id "', 'space': '" space "', 'part': 'other', 'look_at': 1, 'stack': ["             \
    "{'kind': 'native', 'file': null, 'line': null, 'function': 'malloc_" id                       \
    "', 'module': '/lib/libc.so', 'offset': 16}, " frame "], 'allocations': " #made                \
    ", 'frees': " #freed ", 'live_bytes': " #live ", 'peak_bytes': " #peak                         \
    ", 'growth_bytes_per_step': {'value': " #growth ", 'low': 0, 'high': 0},"                      \
    "'series': {'step': [1, 10], 'live_bytes': [0, " #live "]}}"
#define PROCESS(pid, role, rank, kind, value, host, device, tensor)                                \
    "{'pid': " #pid ", 'role': '" role "', 'rank': " #rank ", 'argv': ['python', 'train.py'], "    \
    "'exit': {'kind': '" kind "', 'value': " #value "}, 'steps': 40, 'rss_peak_bytes': " #host     \
    ", 'timeline': {'t_s': [1], 'rss_bytes': [" #host "], 'spaces': {}}, 'spaces': {"              \
    "'host': {'live_bytes': " #host                                                                \
    "}, 'shm': {'live_bytes': 1}, 'device:0': {'live_bytes': " #device                             \
    "}, 'tensor:0': {'live_bytes': " #tensor "}, 'arena': {'live_bytes': 7}}}"

static const char top_report_text[] =
    "{'job': {'command': ['python', 'train.py', '--epochs', '3'], 'cwd': '/home/me', 'steps': 40, "
    "'started_unix_s': 1000, 'duration_s': 90, 'step_source': 'optimizer', 'limit_bytes': 4000},"
    "'devices': [{'device': 0, 'capacity_bytes': 800}],"
    "'timeline': {'t_s': [0, 50, 60, 80, 100], 'step': [0, 10, 20, 30, 60], "
    "'rss_bytes': [10, 20, 30, 60, 50], "
    "'spaces': {'host': {'live_bytes': [0, 100, 200, 300, 400]}}},"
    "'spaces': {'host': {'live_bytes': 400, 'peak_bytes': 500, "
    "'growth_bytes_per_step': {'value': 10, 'low': 9, 'high': 11}}, "
    "'tensor:0': {'live_bytes': 80, 'peak_bytes': 90, 'growth_bytes_per_step': null}, "
    "'tensor:1': {'live_bytes': 1, 'peak_bytes': 2}, 'arena': {'live_bytes': 7, 'peak_bytes': 7}},"
    "'processes': [" PROCESS(11, "helper", null, "running", null, 5, 0, 0) ", " PROCESS(
        12, "rank", 3, "exit", 1, 300, 40,
        30) ", " PROCESS(13, "trainer", null, "running", null, 200, 0,
                         30) "],"
                             "'sites': [" SITE(
                                 "S1", "host", FRAME("train.py", 7, "load"), 9, 4, 250, 300,
                                 2) ", " SITE("S2", "host", FRAME("train.py", 7, "load"), 3, 3, 50,
                                              280,
                                              1.5) ", " SITE("S3", "tensor:0",
                                                             FRAME("net.py", 9, "forward"), 2, 0,
                                                             80, 90,
                                                             9) ", " SITE("S4", "host",
                                                                          FRAME("lib/log.py", 1,
                                                                                "note"),
                                                                          1, 0, 60, 60,
                                                                          0) "],"
                                                                             "'findings': [{'id': "
                                                                             "'F1', 'pattern': "
                                                                             "'unbounded-growth', "
                                                                             "'severity': 'leak', "
                                                                             "'sites': ['S2'], "
                                                                             "'title': 'load: "
                                                                             "keeps', 'evidence': "
                                                                             "['it grew'], "
                                                                             "'advice': 'keep "
                                                                             "less'}, "
                                                                             "{'id': 'F2', "
                                                                             "'pattern': "
                                                                             "'size-spike', "
                                                                             "'severity': 'info', "
                                                                             "'sites': ['S1', "
                                                                             "'S2', 'S4']}]}";

/* The report, with quotes as JSON wants them. */
static inline json_t *top_report(void)
{
    char text[sizeof top_report_text];
    json_error_t error;

    memcpy(text, top_report_text, sizeof text);
    for (char *p = text; (p = strchr(p, '\''));)
        *p = '"';
    json_t *report = json_loads(text, 0, &error);
    ck_assert_msg(report != NULL, "%s at %d", error.text, error.position);
    return report;
}

static inline struct seep_top_view *top_view(void)
{
    struct seep_top_view *view = seep_top_view_create(top_report(), TOP_NOW);

    ck_assert_ptr_nonnull(view);
    return view;
}

#endif
