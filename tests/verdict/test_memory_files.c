/* Files in memory that no process has: "shm-growth" without a line, if the job's own grow. */
#include "tests/verdict/levels.h"

#include "libprof/read/job_read.h"
#include "libprof/thresholds/thresholds.h"

enum { GROWS = 400 * 1024, RATE_NS = 100000000, KIB = 1024 }; /* bytes a step; of a step */

/* What the mounts hold in KiB at a step. */
typedef uint64_t held_at(uint32_t step);

static uint64_t rising(uint32_t step)
{
    return 5000 + (uint64_t)step * (GROWS / KIB);
}

static uint64_t flat(uint32_t step)
{
    return 50000 + step % 2 * (GROWS / KIB);
}

static uint64_t rising_until_half(uint32_t step)
{
    return rising(step < STEPS / 2 ? step : STEPS / 2);
}

static uint64_t now_ns(uint32_t step)
{
    return START + (uint64_t)(FIRST + step) * RATE_NS;
}

/* Two processes in each pass, as the launcher writes them. */
static void hold(held_at *held)
{
    builder_timeline(&b, LAST, resident);
    for (uint32_t step = 4; step <= STEPS; step += 4)
        for (uint32_t process = 1; process <= 2; process++)
            job->seen.rows[job->seen.n++] =
                (struct seep_seen_row){.t_ns = now_ns(step),
                                       .rss_bytes = resident,
                                       .process_plus_1 = process,
                                       .files_kib = (uint32_t)held(step)};
}

/* As many bytes, made evenly from the first slice on. */
static void leave(uint64_t bytes, int first_slice)
{
    struct seep_memory_files *left = &job->files;

    left->bytes = left->looked_bytes = bytes;
    left->listed_ns = now_ns(STEPS);
    left->n_files = STEPS;
    for (int i = first_slice; i < SEEP_MEMORY_SLICES; i++)
        left->slice_bytes[i] = bytes / (uint64_t)(SEEP_MEMORY_SLICES - first_slice);
    left->folders[left->n++] = (struct seep_memory_folder){
        .bytes = bytes, .n_files = STEPS, .path = "/dev/shm/cache", .largest = "batch_0199.bin"};
}

/* NULL: there is none. */
static const json_t *found(void)
{
    const json_t *list = findings();

    ck_assert_uint_le(json_array_size(list), 1);
    const json_t *f = json_array_get(list, 0);
    if (f)
        ck_assert_str_eq(text(f, "pattern"), "shm-growth");
    return f;
}

static bool says(const json_t *f, const char *words)
{
    char *evidence = json_dumps(json_object_get(f, "evidence"), JSON_ENSURE_ASCII);
    const bool does = strstr(evidence, words) != NULL;

    free(evidence);
    return does;
}

TEST(files_that_a_job_leaves_in_memory_are_told_with_their_directory)
{
    hold(rising);
    leave((uint64_t)GROWS * STEPS, 0);
    const json_t *f = found();
    ck_assert_ptr_nonnull(f);
    ck_assert_str_eq(text(f, "severity"), "leak");
    ck_assert_ptr_nonnull(strstr(text(f, "title"), "/dev/shm/cache"));
    ck_assert_ptr_nonnull(strstr(text(f, "advice"), "/dev/shm/cache"));
    ck_assert(says(f, "200 files in /dev/shm/cache"));
    ck_assert(says(f, "batch_0199.bin"));
    ck_assert(json_is_null(json_object_get(f, "frame")));
    ck_assert_double_eq_tol(number(json_object_get(f, "growth_bytes_per_step"), "value"), GROWS,
                            GROWS / 50.0);
    const json_t *told = json_object_get(json_object_get(report, "job"), "memory_files");
    ck_assert_double_eq(number(told, "files"), STEPS);
    ck_assert_str_eq(text(json_array_get(json_object_get(told, "folders"), 0), "largest"),
                     "batch_0199.bin");
}

TEST(files_that_are_overwritten_or_no_longer_come_are_none, .to = 2)
{
    hold(_i ? rising_until_half : flat);
    leave((uint64_t)GROWS * STEPS, 0);
    ck_assert_ptr_null(found());
}

/* Of the rise in per cent. */
static const struct {
    unsigned per_cent;
    bool is_jobs;
} shares[] = {{60, true}, {45, false}, {0, false}};

TEST(what_others_fill_is_not_the_jobs, .to = N(shares))
{
    hold(rising);
    if (shares[_i].per_cent)
        leave((uint64_t)GROWS * STEPS * shares[_i].per_cent / 100, 0);
    ck_assert_int_eq(found() != NULL, shares[_i].is_jobs);
}

/* Two programs of one user: the other one writes. */
TEST(what_the_job_did_not_write_is_not_its_own, .to = 3)
{
    hold(rising);
    leave((uint64_t)GROWS * STEPS, 0);
    job->files.knows_written = _i > 0;
    job->files.written_bytes =
        _i == 1 ? (uint64_t)GROWS * STEPS * 60 / 100 : (uint64_t)GROWS * STEPS * 35 / 100;
    ck_assert_int_eq(found() != NULL, _i < 2);
}

/* A data set that was put there before the first step, and somebody else's files. */
TEST(files_from_before_the_rise_have_no_part_in_it)
{
    hold(rising);
    leave((uint64_t)GROWS * STEPS, 0);
    memset(job->files.slice_bytes, 0, sizeof job->files.slice_bytes);
    job->files.slice_bytes[0] = job->files.bytes;
    ck_assert_ptr_null(found());
}

/* The last write to a log that is appended to comes at the end. */
TEST(one_file_that_grows_is_told)
{
    hold(rising);
    leave((uint64_t)GROWS * STEPS, SEEP_MEMORY_SLICES - 1);
    ck_assert_ptr_nonnull(found());
}

TEST(where_not_all_files_were_looked_at_those_that_were_decide, .to = 2)
{
    hold(rising);
    leave((uint64_t)GROWS * 8, 0);
    job->files.is_cut = 1;
    job->files.looked_bytes *= _i ? 3 : 1;
    const json_t *f = found();
    ck_assert_int_eq(f != NULL, !_i);
    if (f)
        ck_assert(says(f, "not all were looked at"));
}

/* The segments lie on the same tmpfs, and have a line. */
TEST(named_segments_are_told_once)
{
    builder_level(&b, user(61), SHM, GROWS, LAST, one_a_step, NULL);
    hold(rising);
    leave((uint64_t)GROWS * STEPS, 0);
    const json_t *f = found();
    ck_assert_double_eq(number(json_object_get(f, "frame"), "line"), 61);
}

/* Bytes over the judged steps; the launcher's figures are of a whole tmpfs. */
static uint64_t rising_little(uint32_t step)
{
    return 5000 + (uint64_t)step * (SEEP_T_RESIDENT_BYTES / KIB) / STEPS;
}

TEST(little_growth_is_none)
{
    hold(rising_little);
    leave((uint64_t)GROWS * STEPS, 0);
    ck_assert_ptr_null(found());
}

/* Any of the table may be garbage. */
TEST(a_hostile_table_is_read)
{
    struct seep_job *checked = NULL;

    hold(rising);
    leave((uint64_t)GROWS * STEPS, 0);
    job->files.n = UINT32_MAX;
    job->files.bytes = job->files.slice_bytes[3] = UINT64_MAX;
    job->files.listed_ns = 0;
    memset(job->files.folders, 'x', sizeof job->files.folders);
    memset(job->files.folders[1].path, '\033', sizeof job->files.folders[1].path);
    ck_assert_int_eq(seep_job_from_bytes(job, sizeof *job, &checked, NULL), 0);
    ck_assert_uint_eq(checked->files.n, SEEP_MEMORY_FOLDERS);
    free(job);
    job = checked;
    found();
}

SUITE("files in memory", .setup = setup, .teardown = teardown)
