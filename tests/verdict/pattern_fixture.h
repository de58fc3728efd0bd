/* What suites of findings share: a made-up profile of one process, and the findings on it. */
#ifndef SEEP_TESTS_VERDICT_PATTERN_FIXTURE_H
#define SEEP_TESTS_VERDICT_PATTERN_FIXTURE_H

#include "libprof/analysis.h"
#include "libprof/read/profile_read.h"
#include "tests/profile_builder.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIRST = 10, STEPS = 200, LAST = FIRST + STEPS, START = 1000000000, MIB = 1 << 20 };
enum { HOST, MMAP, SHM, PINNED, DEVICE_0, DEVICE_1, TENSOR_1, TENSOR_0 };

static struct builder b;
static struct seep_job *job;
static uint32_t main_stack;
static json_t *report;
static uint64_t resident; /* bytes, of each process */

static inline void setup(void)
{
    builder_init(&b, 100, START);
    job = builder_job(100, START, STEPS, FIRST);
    main_stack = builder_stack(&b, 0, builder_python(&b, "/home/user/train.py", "main", 50));
    struct seep_header *h = builder_header(&b);
    strcpy(h->spaces[PINNED].name, "pinned");
    strcpy(h->spaces[DEVICE_0].name, "device:0");
    strcpy(h->spaces[DEVICE_1].name, "device:1");
    strcpy(h->spaces[TENSOR_1].name, "tensor:1");
    strcpy(h->spaces[TENSOR_0].name, "tensor:0");
    report = NULL;
    resident = UINT64_C(300) << 20;
}

static inline void teardown(void)
{
    json_decref(report);
    builder_fini(&b);
}

static inline uint32_t below(uint32_t stack, const char *file, const char *function, unsigned line)
{
    return builder_stack(&b, stack, builder_python(&b, file, function, line));
}

static inline uint32_t user(unsigned line)
{
    return below(main_stack, "/home/user/train.py", "work", line);
}

static inline void add_epochs(uint32_t n, uint32_t steps_each)
{
    struct seep_header *h = builder_header(&b);

    for (uint32_t i = 0; i < n; i++)
        h->epochs[i] =
            (struct seep_epoch_mark){.t_ns = START + i, .period = FIRST + i * steps_each};
    h->n_epochs = n;
    job->processes[0].epochs = n;
}

/* What is tested must not be dwarfed by what else is there; 40 MiB of library make a job plausible.
 */
static inline const json_t *findings(void)
{
    struct seep_profile *p = NULL;

    builder_site(&b, builder_stack(&b, 0, builder_native(&b, "/usr/lib/libtorch.so", NULL, 64)), 0,
                 1, 40 * MIB, 0, 0, 2);
    builder_timeline(&b, LAST, resident);
    ck_assert_int_eq(seep_profile_from_bytes("100-1.seep", b.bytes, b.n_bytes, &p, NULL), 0);
    ck_assert_int_eq(seep_analyse_profiles(&p, 1, job, NULL, &report, NULL), 0);
    return json_object_get(report, "findings");
}

/* The same with another process, of which the job's table says this. Frees it. */
static inline const json_t *findings_beside(struct builder *worker, struct seep_process entry,
                                            uint32_t worker_last, uint64_t ends_before_ns)
{
    struct seep_profile *p[2];

    builder_timeline(worker, worker_last, UINT64_C(100) << 20);
    builder_header(worker)->process_plus_1 = 2;
    builder_header(worker)->end_ns = builder_header(&b)->end_ns - ends_before_ns;
    job->n_processes = 2;
    job->processes[1] = entry;
    ck_assert_int_eq(seep_profile_from_bytes("1.seep", b.bytes, b.n_bytes, &p[0], NULL), 0);
    ck_assert_int_eq(seep_profile_from_bytes("2.seep", worker->bytes, worker->n_bytes, &p[1], NULL),
                     0);
    ck_assert_int_eq(seep_analyse_profiles(p, 2, job, NULL, &report, NULL), 0);
    builder_fini(worker);
    return json_object_get(report, "findings");
}

/* … a loader worker, process 200, that follows the trainer's steps. */
static inline const json_t *findings_with(struct builder *worker, uint32_t worker_last,
                                          uint64_t ends_before_ns)
{
    return findings_beside(
        worker, (struct seep_process){.pid = 200, .ppid = 100, .parent_plus_1 = 1, .follows = 1},
        worker_last, ends_before_ns);
}

/* Names of native code are looked up for profiles in a folder alone. */
static inline const json_t *findings_with_symbols(void)
{
    char dir[] = "/tmp/seep-graphs-XXXXXX", command[64];
    const char *dirs[] = {dir};

    builder_timeline(&b, LAST, UINT64_C(300) << 20);
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(builder_write(&b, dir, "100-1.seep"), 0);
    ck_assert_int_eq(builder_write_job(job, dir), 0);
    ck_assert_int_eq(seep_analyse(dirs, 1, NULL, &report, NULL), 0);
    snprintf(command, sizeof command, "rm -r %s", dir);
    ck_assert_int_eq(system(command), 0);
    free(job);
    return json_object_get(report, "findings");
}

/* The program itself, whose functions have names. */
static inline const char *own_path(void)
{
    static char path[4096];

    ck_assert_int_gt((int)readlink("/proc/self/exe", path, sizeof path - 1), 0);
    return path;
}

static inline const char *text(const json_t *finding, const char *key)
{
    const char *value = json_string_value(json_object_get(finding, key));

    return value ? value : "";
}

static inline double number(const json_t *finding, const char *key)
{
    return json_number_value(json_object_get(finding, key));
}

static inline const json_t *only(const char *pattern, const char *severity, unsigned line)
{
    const json_t *list = findings(), *f = json_array_get(list, 0);
    char *all = json_dumps(list, JSON_INDENT(1));

    ck_assert_msg(json_array_size(list) == 1, "%s", all);
    ck_assert_msg(strcmp(text(f, "pattern"), pattern) == 0, "%s", all);
    ck_assert_msg(strcmp(text(f, "severity"), severity) == 0, "%s", all);
    ck_assert_msg(number(json_object_get(f, "frame"), "line") == line, "%s", all);
    ck_assert_msg(text(f, "advice")[0] && text(f, "title")[0], "%s", all);
    ck_assert_msg(json_array_size(json_object_get(f, "evidence")) > 0, "%s", all);
    free(all);
    return f;
}

static inline void nobody(void)
{
    const json_t *list = findings();
    char *all = json_dumps(list, JSON_INDENT(1));

    ck_assert_msg(json_array_size(list) == 0, "%s", all);
    free(all);
}

/* ---- levels ---------------------------------------------------------------------------------- */

static inline uint64_t one_a_step(uint32_t period, void *arg)
{
    (void)arg;
    return period < FIRST ? 0 : period - FIRST + 1;
}

static inline uint64_t four(uint32_t period, void *arg)
{
    (void)arg;
    return period < 3 ? 0 : 4;
}

static inline uint64_t bursts(uint32_t period, void *arg)
{
    return period < FIRST ? 1 : 1 + (period - FIRST) % *(uint32_t *)arg;
}

static inline uint64_t until_half(uint32_t period, void *arg)
{
    uint64_t n = one_a_step(period, arg);

    return n < STEPS / 2 ? n : STEPS / 2;
}

struct ramp {
    uint32_t from, to; /* periods */
    uint64_t each;     /* blocks a period */
    uint32_t end;      /* from here on none: the job's end frees all */
};

static inline uint64_t ramp(uint32_t period, void *arg)
{
    const struct ramp *r = arg;
    uint32_t until = period < r->to ? period : r->to;

    return period < r->from || period >= r->end ? 0 : (until - r->from + 1) * r->each;
}

static inline uint64_t one_in_flight(uint32_t period, void *arg)
{
    (void)arg;
    return period >= FIRST && period < LAST ? 2 - period % 2 : 0;
}

static inline uint64_t constant(uint32_t period, void *arg)
{
    return period < 3 ? 0 : *(uint64_t *)arg;
}

/* A site whose blocks live within their steps, with this many requests of each size. Returns its
 * detail. */
static inline struct seep_detail *transient(uint32_t stack, unsigned space, uint64_t usual,
                                            uint64_t n, uint64_t largest, uint64_t n_largest)
{
    uint64_t bytes = usual * n + largest * n_largest;
    struct seep_point points[] = {{FIRST, 0, 0}, {LAST - 1, 0, 0}};

    uint32_t site =
        builder_site(&b, stack, space, n + n_largest, bytes, n + n_largest, bytes, FIRST);
    builder_detail(&b, site, points, 2);
    struct seep_site *s = builder_at(&b, site);
    s->last_period = LAST - 1;
    s->peak_bytes = largest ? largest : usual;
    s->peak_period = FIRST + 100;
    struct seep_detail *d = builder_at(&b, s->detail);
    d->min_bytes = usual;
    d->max_bytes = largest ? largest : usual;
    d->lifetimes[0] = (uint32_t)(n + n_largest);
    d->sizes[63 - __builtin_clzll(usual)] += (uint32_t)n;
    if (largest)
        d->sizes[63 - __builtin_clzll(largest)] += (uint32_t)n_largest;
    return d;
}

#endif
