/* OpenMetrics: labels that are bounded, and series of bounded number, whatever a job was. */
#include "tests/export/formats_fixture.h"

static void write_metrics(void)
{
    ck_assert_int_eq(write_as(seep_export_openmetrics, SEEP_MEASURE_RETAINED), 0);
}

static bool says(const char *line)
{
    const char *at = strstr(text, line);

    return at && (at == text || at[-1] == '\n') && at[strlen(line)] == '\n';
}

/* How many samples of a name have this in their labels. */
static int count(const char *name, const char *label)
{
    int n = 0;

    for (const char *line = text; line && *line; line = strchr(line, '\n') + 1) {
        const char *end = strchr(line, '\n'), *at = strstr(line, label);
        n += strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == '{' && at && at < end;
    }
    return n;
}

static void add_process(int pid, const char *host, const char *role, int rank, const char *how,
                        int rss)
{
    json_array_append_new(
        json_object_get(report, "processes"),
        json_pack("{s:i, s:s, s:s, s:o, s:s, s:{s:s}, s:i, s:i, s:{s:[i,i]}, s:{s:{s:i}}}", "pid",
                  pid, "host", host, "role", role, "rank",
                  rank < 0 ? json_null() : json_integer(rank), "job_id", "4711", "exit", "kind",
                  how, "rss_peak_bytes", 2 * rss, "steps", 9, "timeline", "rss_bytes", 1, rss,
                  "spaces", "host", "live_bytes", rss / 2));
}

static void only_processes(void)
{
    json_array_clear(json_object_get(report, "processes"));
}

TEST(a_process_has_its_rank_role_and_host)
{
    only_processes();
    add_process(20, "node1", "rank", 3, "running", 100);
    write_metrics();
    ck_assert(says("seep_process_rss_bytes{profile=\"train.d\",job_id=\"4711\",host=\"node1\","
                   "role=\"rank\",rank=\"3\",pid=\"20\"} 100"));
    ck_assert(says("seep_process_live_bytes{profile=\"train.d\",job_id=\"4711\",host=\"node1\","
                   "role=\"rank\",rank=\"3\",pid=\"20\",space=\"host\"} 50"));
    ck_assert(says("seep_running{profile=\"train.d\",job_id=\"4711\"} 1"));
}

TEST(what_has_ended_holds_nothing_now)
{
    only_processes();
    add_process(20, "node1", "trainer", -1, "exit", 100);
    write_metrics();
    ck_assert_int_eq(count("seep_process_rss_bytes", "pid"), 0);
    ck_assert_int_eq(count("seep_process_live_bytes", "pid"), 0);
    ck_assert_int_eq(count("seep_process_rss_peak_bytes", "pid=\"20\""), 1);
    ck_assert(says("seep_running{profile=\"train.d\",job_id=\"4711\"} 0"));
}

TEST(a_pid_of_two_hosts_is_two_processes_and_one_after_exec_is_one)
{
    only_processes();
    add_process(20, "node1", "helper", -1, "exit", 100);
    add_process(20, "node2", "rank", 1, "running", 10);
    add_process(20, "node1", "rank", 0, "running", 10);
    write_metrics();
    ck_assert_int_eq(count("seep_process_rss_peak_bytes", "pid=\"20\""), 2);
    ck_assert(says("seep_process_rss_peak_bytes{profile=\"train.d\",job_id=\"4711\",host=\"node1\","
                   "role=\"rank\",rank=\"0\",pid=\"20\"} 200"));
}

TEST(thousands_of_processes_are_few_series_and_ranks_come_first)
{
    only_processes();
    for (int i = 0; i < 3000; i++)
        add_process(1000 + i, "node1", "loader-worker", -1, i % 2 ? "running" : "exit", 1000);
    add_process(99, "node1", "rank", 7, "running", 10);
    write_metrics();
    ck_assert_int_eq(count("seep_process_rss_peak_bytes", "pid"), 64);
    ck_assert_int_eq(count("seep_process_rss_peak_bytes", "rank=\"7\""), 1);
    ck_assert_int_eq(count("seep_process_rss_peak_bytes", "host"), 65);
    ck_assert(says("seep_processes{profile=\"train.d\",job_id=\"4711\",host=\"node1\","
                   "role=\"loader-worker\"} 1437"));
    ck_assert(says("seep_process_rss_bytes{profile=\"train.d\",job_id=\"4711\",host=\"node1\","
                   "role=\"loader-worker\"} 1437000"));
    ck_assert(says("seep_process_rss_peak_bytes{profile=\"train.d\",job_id=\"4711\",host=\"node1\","
                   "role=\"loader-worker\"} 2000"));
}

TEST(thousands_of_hosts_are_few_series)
{
    char host[32];

    only_processes();
    for (int i = 0; i < 1000; i++) {
        snprintf(host, sizeof host, "node%d", i);
        add_process(5, host, "rank", i, "running", 100);
    }
    write_metrics();
    ck_assert_int_eq(count("seep_process_rss_bytes", "pid"), 64);
    ck_assert_int_eq(count("seep_process_rss_bytes", "host"), 128);
    ck_assert_int_eq(count("seep_process_rss_bytes", "role"), 129);
    ck_assert(says("seep_processes{profile=\"train.d\",job_id=\"4711\",role=\"rank\"} 872"));
}

TEST(a_long_name_is_cut_between_characters)
{
    char name[400] = "x", wanted[400];

    for (int i = 0; i < 100; i++)
        strcat(name, "\xc3\xa4");
    only_processes();
    add_process(20, name, "role of its own", 0, "running", 100);
    write_metrics();
    snprintf(wanted, sizeof wanted, "host=\"%.119s\",role=\"helper\"", name);
    ck_assert_int_eq(count("seep_process_rss_bytes", wanted), 1);
}

TEST(a_line_that_grows_without_an_end_says_so_once)
{
    static const char labels[] =
        "{profile=\"train.d\",severity=\"leak\",pattern=\"unbounded-growth\","
        "space=\"host\",line=\"data/index.py:12 in load\"}";
    char wanted[300];

    for (int i = 0; i < 2; i++) {
        json_t *finding = add_finding(report, "unbounded-growth", "leak", "load", 12, 1000);
        json_object_set_new(finding, "growth_bytes_per_step", slope(10, 9, 11));
    }
    json_object_set_new(add_finding(report, "unbounded-growth", "leak", "flat", 1, 1000),
                        "plateau_step", json_integer(70));
    write_metrics();
    snprintf(wanted, sizeof wanted, "seep_finding_growth_bytes_per_step%s 20", labels);
    ck_assert_msg(says(wanted), "%s", text);
    snprintf(wanted, sizeof wanted, "seep_finding_live_bytes%s 2000", labels);
    ck_assert(says(wanted));
    ck_assert_int_eq(count("seep_finding_growth_bytes_per_step", "flat\"} 0"), 1);
    ck_assert(says("seep_pattern_findings{profile=\"train.d\",pattern=\"unbounded-growth\"} 3"));
}

/* 100 steps, the later half of them at 2 s each; then the job takes long to end. */
static void give_pace(void)
{
    json_object_set_new(report, "timeline",
                        json_pack("{s:[i,i,i,i], s:[i,i,i,i], s:[i,i,i,i]}", "step", 1, 50, 100,
                                  100, "t_s", 0, 400, 500, 900, "rss_bytes", 1, 2, 4, 3));
}

TEST(the_time_to_a_limit_is_that_of_the_present_pace)
{
    json_t *finding = add_finding(report, "unbounded-growth", "leak", "load", 12, 1000);

    json_object_set_new(finding, "steps_to_limit", json_integer(300));
    finding = add_finding(report, "unbounded-growth", "leak", "more", 12, 1000);
    json_object_set_new(finding, "steps_to_limit", json_integer(200));
    give_pace();
    only_processes();
    add_process(20, "node1", "trainer", -1, "running", 100);
    write_metrics();
    ck_assert(says("seep_limit_seconds{profile=\"train.d\",job_id=\"4711\",space=\"host\"} 400"));
    ck_assert(says("seep_rss_bytes{profile=\"train.d\",job_id=\"4711\"} 3"));
    ck_assert(says("seep_growth_bytes_per_second{profile=\"train.d\",job_id=\"4711\","
                   "space=\"host\"} 500"));
    only_processes();
    add_process(20, "node1", "trainer", -1, "exit", 100);
    write_metrics();
    ck_assert_int_eq(count("seep_limit_seconds", "space"), 0);
}

SUITE("metrics", .setup = setup, .teardown = fini)
