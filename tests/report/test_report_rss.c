/* Resident memory by kind, and growth that no line explains. */
#include "tests/report/coverage_fixture.h"

enum { HEADER = 8 }; /* malloc's, of the only block there */

TEST(rss_at_its_peak_is_told_by_what_it_is)
{
    struct seep_job *job = stepped_job();

    add_sample(&a, sample_at(20, 20 * MIB, 5 * MIB));
    add_sample(&a, sample_at(40, 90 * MIB, 10 * MIB));
    add_sample(&a, sample_at(60, 30 * MIB, 10 * MIB));
    analyse(1, job, false);
    for (int i = 0; i < 2; i++) {
        const json_t *rss = at(report, i ? "processes/0/rss" : "coverage/rss");
        ck_assert_int_eq(json_integer_value(at(rss, "peak_bytes")), 500 * (json_int_t)MIB);
        ck_assert_int_eq(json_integer_value(at(rss, "step")), 40);
        ck_assert_int_eq(json_integer_value(at(rss, "explained/heap_live")),
                         200 * (json_int_t)MIB + HEADER);
        ck_assert_int_eq(json_integer_value(at(rss, "explained/heap_free")),
                         10 * (json_int_t)MIB - HEADER);
        ck_assert_int_eq(json_integer_value(at(rss, "explained/maps")), 100 * (json_int_t)MIB);
        ck_assert_int_eq(json_integer_value(at(rss, "explained/shm")), 50 * (json_int_t)MIB);
        ck_assert_int_eq(json_integer_value(at(rss, "explained/stacks")), 10 * (json_int_t)MIB);
        ck_assert_int_eq(json_integer_value(at(rss, "explained/files")), 30 * (json_int_t)MIB);
        ck_assert_int_eq(json_integer_value(at(rss, "seep_bytes")), 10 * (json_int_t)MIB);
        ck_assert_int_eq(json_integer_value(at(rss, "unexplained_bytes")), 90 * (json_int_t)MIB);
        ck_assert(json_is_null(at(rss, "unexplained_growth_bytes_per_step")));
    }
    ck_assert(
        prints("resident RSS peak 500 MiB RSS in step 40, 500 MiB: 200 MiB malloc'd "
               "memory, 10.0 MiB free in malloc's arenas, 100 MiB mapped memory, 50.0 MiB "
               "shared memory, 10.0 MiB stacks, 30.0 MiB mapped files, 10.0 MiB seep's own; 90.0 "
               "MiB (18 %) unexplained",
               false));
}

TEST(what_seep_takes_itself_is_told_with_what_lowers_it, .to = 3)
{
    static const uint64_t own[] = {9 * MIB, 16 * MIB, 60 * MIB}; /* the last is large */
    struct seep_job *job = stepped_job();
    struct seep_rss_sample sample = sample_at(40, 0, 0);

    job->n_processes = 1;
    sample.seep_bytes = own[_i];
    sample.rss_bytes += own[_i];
    add_sample(&a, sample);
    analyse(1, job, false);
    ck_assert_int_eq(prints("seep's own; 0 B (0 %) unexplained; seep takes less with --sample "
                            "64KiB or a smaller --max-profile",
                            false),
                     _i == 2);
}

/* Of one process what is said of the job says it all. */
TEST(rss_of_processes_is_printed_where_much_is_not_explained_or_all_is_asked_for, .to = 4)
{
    const bool much = _i & 1, two = _i & 2;
    struct seep_job *job = stepped_job();

    job->n_processes = 1 + two;
    if (two)
        job->processes[1] =
            (struct seep_process){.pid = 200, .ppid = 100, .start_ns = START + 1000};
    add_sample(&a, sample_at(40, much ? 90 * MIB : 20 * MIB, much ? 0 : 50 * MIB));
    analyse(1 + two, job, false);
    ck_assert_int_eq(prints(", Python 3.11.2 RSS in step 40, ", false), much && two);
    ck_assert_int_eq(prints(", Python 3.11.2 RSS in step 40, ", true), two);
}

TEST(peaks_of_processes_add_up)
{
    struct seep_job *job = stepped_job();

    job->n_processes = 2;
    job->processes[1] = (struct seep_process){.pid = 200, .ppid = 100, .start_ns = START + 1000};
    add_sample(&a, sample_at(40, 20 * MIB, 0));
    add_sample(&c, sample_at(40, 60 * MIB, 0));
    analyse(2, job, false);
    ck_assert_uint_eq((uint64_t)number("coverage/rss/peak_bytes"), 880 * MIB);
    ck_assert_uint_eq((uint64_t)number("coverage/rss/unexplained_bytes"), 80 * MIB);
}

/* The second begins when the first has ended, or is there at its peak. */
TEST(processes_that_did_not_live_together_do_not_add_up, .to = 2)
{
    struct seep_job *job = stepped_job();

    job->n_processes = 2;
    job->processes[1] = (struct seep_process){.pid = 200, .ppid = 100, .start_ns = START + 1000};
    add_sample(&a, sample_at(20, 65 * MIB, 0));
    add_sample(&a, sample_at(40, 70 * MIB, 0));
    builder_header(&c)->end_ns = builder_header(&c)->last_ns = sample_at(30, 0, 0).t_ns;
    add_sample(&c, sample_at(_i ? 40 : 20, 60 * MIB, 0));
    add_sample(&c, sample_at(10, 10 * MIB, 0));
    analyse(2, job, false);
    ck_assert_uint_eq((uint64_t)number("coverage/rss/peak_bytes"), (_i ? 930 : 925) * MIB);
    ck_assert_uint_eq((uint64_t)number("coverage/rss/unexplained_bytes"), (_i ? 130 : 125) * MIB);
    ck_assert_int_eq(json_integer_value(at(report, "coverage/rss/step")), _i ? 40 : 20);
}

/* Timelines are closer than samples: a peak that only they saw is of one instant, too. */
TEST(peaks_that_samples_missed_are_of_one_instant, .to = 2)
{
    struct seep_job *job = stepped_job();

    job->n_processes = 2;
    job->processes[1] = (struct seep_process){.pid = 200, .ppid = 100, .start_ns = START + 1000};
    add_sample(&a, sample_at(20, 0, 0));
    add_sample(&c, sample_at(10, 0, 0));
    struct seep_header *h = builder_header(&c);
    h->end_ns = h->last_ns = sample_at(30, 0, 0).t_ns;
    h->n_timeline = 1;
    h->timeline[0] =
        (struct seep_timeline_row){.t_ns = sample_at(15, 0, 0).t_ns, .rss_bytes = 1300 * MIB};
    h = builder_header(&a);
    for (uint32_t i = 0; i < h->n_timeline; i++)
        h->timeline[i].rss_bytes =
            h->timeline[i].t_ns > sample_at(_i ? 14 : 30, 0, 0).t_ns ? 600 * MIB : 100 * MIB;
    analyse(2, job, false);
    ck_assert(json_is_null(at(report, "coverage/rss/peak_bytes")));
    ck_assert(json_is_null(at(report, "coverage/rss/explained")));
    ck_assert_uint_eq((uint64_t)number("coverage/rss/highest_bytes"), (_i ? 1900 : 1400) * MIB);
    ck_assert(
        prints(_i ? "resident RSS peak 1.9 GiB (shared pages count in each process) no sample "
                    "near the peak shows what RSS was made of"
                  : "resident RSS peak 1.4 GiB (shared pages count in each process) no sample "
                    "near the peak shows what RSS was made of",
               false));
}

/* What a process is made of as it takes itself down is not what it was made of at work. */
TEST(a_sample_of_the_end_does_not_tell_what_the_peak_was_made_of)
{
    struct seep_job *job = stepped_job();

    add_sample(&a, sample_at(40, 80 * MIB, 10 * MIB));
    add_sample(&a, sample_at(STEPS + 1, 81 * MIB, 30 * MIB));
    analyse(1, job, false);
    ck_assert_int_eq(json_integer_value(at(report, "coverage/rss/step")), 40);
    ck_assert_uint_eq((uint64_t)number("coverage/rss/explained/heap_free"), 10 * MIB - HEADER);
}

/* Two looks; none where there was only one. */
TEST(pages_that_became_its_own_are_of_two_looks, .to = 2)
{
    struct seep_job *job = stepped_job();

    job->processes[0].private_first_period = 10;
    job->processes[0].private_first_bytes = 4 * MIB;
    job->processes[0].private_last_period = _i ? 60 : 10;
    job->processes[0].private_last_bytes = _i ? 9 * MIB : 4 * MIB;
    analyse(1, job, false);
    if (!_i) {
        ck_assert(json_is_null(at(report, "processes/0/private")));
        return;
    }
    ck_assert_uint_eq((uint64_t)number("processes/0/private/first_bytes"), 4 * MIB);
    ck_assert_uint_eq((uint64_t)number("processes/0/private/last_bytes"), 9 * MIB);
    ck_assert_int_eq((int)number("processes/0/private/last_step") -
                         (int)number("processes/0/private/first_step"),
                     50);
}

/* Nothing else is near the peak. */
TEST(a_sample_of_the_end_tells_it_while_as_much_is_in_use, .to = 2)
{
    struct seep_job *job = stepped_job();

    add_sample(&a, sample_at(40, 20 * MIB, 0));
    add_sample(&a, sample_at(STEPS + 1, 180 * MIB, _i ? 300 * MIB : 10 * MIB));
    analyse(1, job, false);
    if (_i)
        ck_assert(json_is_null(at(report, "coverage/rss/explained")));
    else
        ck_assert_uint_eq((uint64_t)number("coverage/rss/unexplained_bytes"), 180 * MIB);
}

/* The second has given most of it back by the time that the first has so much. */
TEST(a_sample_that_is_true_no_more_does_not_count)
{
    struct seep_job *job = stepped_job();

    job->n_processes = 2;
    job->processes[1] = (struct seep_process){.pid = 200, .ppid = 100, .start_ns = START + 1000};
    add_sample(&a, sample_at(40, 20 * MIB, 0));
    add_sample(&c, sample_at(10, 60 * MIB, 0));
    for (int first = 0; first < 2; first++) {
        struct seep_header *h = builder_header(first ? &a : &c);
        for (uint32_t i = 0; i < h->n_timeline; i++)
            h->timeline[i].rss_bytes =
                (h->timeline[i].t_ns > sample_at(20, 0, 0).t_ns) == first ? 420 * MIB : 50 * MIB;
    }
    analyse(2, job, false);
    ck_assert(json_is_null(at(report, "coverage/rss/peak_bytes")) ||
              number("coverage/rss/peak_bytes") < 600.0 * MIB);
    ck_assert(number("coverage/rss/highest_bytes") < 600.0 * MIB);
}

/* RSS is never below PSS: where it seems to be, nobody looked as it was highest. */
TEST(of_several_processes_pss_comes_first, .to = 2)
{
    struct seep_job *job = stepped_job();

    job->n_processes = 2;
    job->pss_peak_bytes = (_i ? 323 : 1200) * MIB;
    job->processes[1] = (struct seep_process){.pid = 200, .ppid = 100, .start_ns = START + 1000};
    add_sample(&a, sample_at(40, 20 * MIB, 0));
    add_sample(&c, sample_at(40, 60 * MIB, 0));
    analyse(2, job, false);
    ck_assert_int_eq(prints("resident PSS peak 323 MiB, RSS peak 880 MiB (shared pages count "
                            "in each process)",
                            false),
                     _i);
    ck_assert_int_eq(prints("resident PSS peak 1.2 GiB RSS in step ", false), !_i);
}

TEST(no_sample_is_no_figure)
{
    analyse(1, stepped_job(), false);
    ck_assert(json_is_null(at(report, "coverage/rss")));
    ck_assert(json_is_null(at(report, "processes/0/rss")));
    ck_assert(!prints("resident", true));
}

/* Bytes that are not explained, and free in libc's arenas, at a step. */
static uint64_t grows(uint32_t step)
{
    return 20 * MIB + step * MIB;
}

static uint64_t stays(uint32_t step)
{
    return 50 * MIB + step % 3 * 4096;
}

static uint64_t levels_off(uint32_t step)
{
    return step < 40 ? 20 * MIB + step * MIB : 60 * MIB;
}

static uint64_t grows_a_little(uint32_t step)
{
    return 20 * MIB + step * 1000;
}

static uint64_t comes_and_goes(uint32_t step)
{
    return 20 * MIB + step * 7 % 20 * 5 * MIB;
}

static void sample_steps(uint64_t (*unexplained)(uint32_t), uint64_t (*heap_free)(uint32_t),
                         uint32_t gap)
{
    for (uint32_t step = 2; step <= STEPS; step += gap)
        add_sample(&a, sample_at(step, unexplained(step), heap_free(step)));
}

static const json_t *finding_without_line(void)
{
    const json_t *findings = at(report, "findings");

    for (size_t i = 0; i < json_array_size(findings); i++) {
        if (json_is_null(json_object_get(json_array_get(findings, i), "frame")))
            return json_array_get(findings, i);
    }
    return NULL;
}

TEST(growth_that_nobody_recorded_is_a_finding_without_a_line)
{
    struct seep_job *job = stepped_job();

    sample_steps(grows, stays, 2);
    analyse(1, job, false);
    const json_t *f = finding_without_line();
    ck_assert_ptr_nonnull(f);
    ck_assert_str_eq(json_string_value(at(f, "pattern")), "undetermined");
    ck_assert_str_eq(json_string_value(at(f, "severity")), "info");
    ck_assert_str_eq(json_string_value(at(f, "space")), "host");
    ck_assert_str_eq(json_string_value(at(f, "title")),
                     "Memory that seep cannot see grows by 1.0 MiB a step");
    ck_assert_uint_eq(json_array_size(at(f, "sites")), 0);
    ck_assert_int_eq(json_integer_value(at(f, "processes/0")), 100);
    double slope = json_number_value(at(f, "growth_bytes_per_step/value"));
    ck_assert(slope > 0.98 * (double)MIB && slope < 1.02 * (double)MIB);
    slope = number("coverage/rss/unexplained_growth_bytes_per_step/value");
    ck_assert(slope > 0.98 * (double)MIB && slope < 1.02 * (double)MIB);
    ck_assert(json_is_false(at(report, "coverage/rss/heap_free_grows")));
    ck_assert(prints("undetermined memory that has no line", false));
    ck_assert(prints("unexplained; the unexplained part grows by 1.0 MiB a step", false));
}

static const struct {
    uint64_t (*unexplained)(uint32_t);
    uint32_t gap;
    bool known;
} quiet[] = {{stays, 2, true},
             {levels_off, 2, true},
             {grows_a_little, 2, true},
             {comes_and_goes, 2, true},
             {grows, 14, false}}; /* seven samples */

TEST(what_stays_levels_off_or_is_little_is_no_finding, .to = N(quiet))
{
    struct seep_job *job = stepped_job();

    sample_steps(quiet[_i].unexplained, stays, quiet[_i].gap);
    analyse(1, job, false);
    ck_assert_ptr_null(finding_without_line());
    ck_assert_int_eq(json_is_object(at(report, "coverage/rss/unexplained_growth_bytes_per_step")),
                     quiet[_i].known);
    ck_assert(!prints("which grows", false));
}

TEST(free_memory_of_the_heap_that_grows_is_said_and_no_finding)
{
    struct seep_job *job = stepped_job();

    sample_steps(stays, grows, 2);
    analyse(1, job, false);
    ck_assert_ptr_null(finding_without_line());
    ck_assert(json_is_true(at(report, "coverage/rss/heap_free_grows")));
    ck_assert(prints("free memory in malloc's arenas grows by 1.0 MiB a step", false));
}

/* A library reserves a map and touches it bit by bit, or asks for what it touches. */
static uint64_t asked_for(uint32_t period, void *arg)
{
    return *(bool *)arg && period > FIRST ? period - FIRST : 0;
}

TEST(what_is_touched_of_a_map_that_was_counted_whole_is_said, .to = 2)
{
    bool asks = _i;

    builder_level(&a, python_stack(&a, "/home/user/project/t.py", 7), SEEP_SPACE_MMAP, MIB,
                  FIRST + STEPS, asked_for, &asks);
    struct seep_job *job = stepped_job();
    for (uint32_t step = 2; step <= STEPS; step += 2) {
        struct seep_rss_sample sample = sample_at(step, 20 * MIB, 0);
        sample.maps_bytes += step * MIB;
        sample.rss_bytes += step * MIB;
        add_sample(&a, sample);
    }
    analyse(1, job, false);
    ck_assert_int_eq(json_is_true(at(report, "coverage/rss/maps_grow")), !asks);
    ck_assert_int_eq(prints("the touched part of earlier mappings grows by 1.0 MiB a step", false),
                     !asks);
}

static uint64_t back_and_forth(uint32_t period, void *arg)
{
    (void)arg;
    return 10 + period % 2;
}

/* A line that asks for ever new sizes is blamed for what was taken beyond what is live, unless
 * samples say that it is nothing of the heap's. */
TEST(what_nobody_recorded_is_no_allocators_cache, .to = 2)
{
    uint32_t site = builder_level(&a, python_stack(&a, "/home/user/project/t.py", 7), 0, 3 * MIB,
                                  FIRST + STEPS, back_and_forth, NULL);
    struct seep_detail *d = builder_at(&a, ((struct seep_site *)builder_at(&a, site))->detail);

    d->size_marks = UINT64_MAX;
    d->max_bytes = MIB;
    builder_timeline(&a, FIRST + STEPS, 500 * MIB);
    struct seep_header *h = builder_header(&a);
    for (uint32_t i = 0; i < h->n_timeline; i++)
        h->timeline[i].anonymous_bytes = 50 * MIB + h->timeline[i].period * MIB;
    if (_i)
        sample_steps(grows, stays, 2);
    analyse(1, builder_job(100, START, STEPS, FIRST), false);
    const json_t *findings = at(report, "findings");
    ck_assert_uint_eq(json_array_size(findings), 1);
    ck_assert_str_eq(string("findings/0/pattern"), _i ? "undetermined" : "allocator-cache");
}

SUITE("resident memory", .setup = setup, .teardown = teardown)
