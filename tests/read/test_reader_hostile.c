/* Reading profiles and job tables from strangers: no bytes at all crash, hang or mislead. */
#include "tests/read/reader_fixture.h"

/* ---- hostile sizes and references ------------------------------------------------------------ */

TEST(stacks_in_a_ring_end)
{
    struct seep_model m;
    uint32_t frame = builder_python(&b, "/a.py", "f", 1);
    uint32_t one = builder_stack(&b, 0, frame), two = builder_stack(&b, one, frame);

    ((struct seep_stack *)builder_at(&b, one))->parent = two;
    uint32_t self = builder_stack(&b, 0, frame);
    ((struct seep_stack *)builder_at(&b, self))->parent = self;
    builder_site(&b, two, 0, 1, 10, 0, 0, 1);
    builder_site(&b, self, 0, 1, 20, 0, 0, 1);
    struct seep_profile *p = profile_of(&b);
    merge_all(&m, &p, 1, NULL);
    uint64_t bytes = 0;
    for (size_t i = 0; i < m.n_sites; i++)
        bytes += m.sites[i].totals.allocated_bytes;
    ck_assert_uint_eq(bytes, 30);
    seep_model_fini(&m);
}

TEST(stacks_deeper_than_the_bound_are_cut)
{
    struct seep_model m;
    uint32_t stack = 0;

    for (unsigned i = 0; i < 3000; i++)
        stack = builder_stack(&b, stack, builder_python(&b, "/a.py", "f", i + 1));
    builder_site(&b, stack, 0, 1, 10, 0, 0, 1);
    struct seep_profile *p = profile_of(&b);
    merge_all(&m, &p, 1, NULL);
    ck_assert_uint_le(seep_dictionary_depth(&m.dict, m.sites[0].stack), SEEP_MAX_STACK_DEPTH);
    seep_model_fini(&m);
}

/* More than 64 bits can add up to, in as many threads as one likes. */
TEST(sizes_that_overflow_saturate)
{
    enum { PARTS = 40000 };
    struct seep_model m;
    struct seep_level level = {0};
    uint32_t stack = stack_of_three(&b), site = 0;

    for (int i = 0; i < PARTS; i++)
        builder_site(&b, stack, 0, 1, UINT64_C(1) << 60, 0, 0, 1);
    struct seep_profile *p = profile_of(&b);
    merge_all(&m, &p, 1, NULL);
    complete(&m);
    ck_assert_int_eq(seep_level_sum(&m, &site, 1, SEEP_LEVEL_ALL, &level), 0);
    for (size_t i = 0; i < level.n; i++)
        ck_assert_int_gt(level.points[i].bytes, INT64_C(1) << 60);
    ck_assert_uint_eq(m.sites[0].totals.allocated_bytes, UINT64_MAX);
    ck_assert_uint_eq(m.spaces[0].totals.allocated_bytes, UINT64_MAX);
    seep_level_fini(&level);
    seep_model_fini(&m);
}

/* One detail, one series; only the site that they name has them. */
TEST(a_detail_that_many_sites_name_belongs_to_one, .to = 2)
{
    enum { SITES = 1000 };
    struct seep_point points[100];
    struct seep_model m;
    uint32_t stack = stack_of_three(&b), sites[SITES];

    for (uint32_t i = 0; i < 100; i++)
        points[i] = (struct seep_point){i + 1, i + 1, i + 1};
    for (int i = 0; i < SITES; i++)
        sites[i] = builder_site(&b, stack, 0, 200, 200, 0, 0, 200);
    uint32_t detail = builder_detail(&b, sites[0], points, 100);
    for (int i = 1; i < SITES; i++)
        ((struct seep_site *)builder_at(&b, sites[i]))->detail = detail;
    if (_i) {
        /* A detail of its own, but the other's series. */
        uint32_t own = builder_detail(&b, sites[1], points, 1);
        ((struct seep_detail *)builder_at(&b, own))->series =
            ((struct seep_detail *)builder_at(&b, detail))->series;
    }
    struct seep_profile *p = profile_of(&b);
    merge_all(&m, &p, 1, builder_job(100, UINT64_C(1000000000), 300, 1));
    ck_assert_uint_le(m.n_points, 101 + SITES);
    ck_assert_uint_gt(m.n_points, 100);
    seep_model_fini(&m);
}

static const uint32_t bad_refs[] = {
    1,       SEEP_HEADER_BYTES / 8 - 1, UINT32_MAX, UINT32_MAX - 1, SEEP_HEADER_BYTES / 8 + 40000,
    1u << 31};

TEST(references_to_nowhere_read_as_unknown, .to = N(bad_refs))
{
    struct seep_model m;
    uint32_t frame = builder_python(&b, "/a.py", "f", 1);
    uint32_t with_parent = builder_stack(&b, bad_refs[_i], frame);
    uint32_t with_frame = builder_stack(&b, 0, bad_refs[_i]);
    uint32_t code_frame = builder_python(&b, "/b.py", "g", 2);

    ((struct seep_frame *)builder_at(&b, code_frame))->source = bad_refs[_i];
    builder_site(&b, bad_refs[_i], 0, 1, 1, 0, 0, 1);
    builder_site(&b, with_parent, 0, 1, 2, 0, 0, 1);
    builder_site(&b, with_frame, 0, 1, 4, 0, 0, 1);
    builder_site(&b, builder_stack(&b, 0, code_frame), 0, 1, 8, 0, 0, 1);
    uint32_t site = builder_site(&b, with_parent, 1, 1, 16, 0, 0, 1);
    ((struct seep_site *)builder_at(&b, site))->detail = bad_refs[_i];
    struct seep_profile *p = profile_of(&b);
    merge_all(&m, &p, 1, NULL);
    uint64_t bytes = 0;
    for (size_t i = 0; i < m.n_sites; i++)
        bytes += m.sites[i].totals.allocated_bytes;
    ck_assert_uint_eq(bytes, 31);
    seep_model_fini(&m);
}

TEST(a_string_longer_than_its_chunk_is_none, .to = 2)
{
    struct seep_model m;
    uint32_t frame = builder_python(&b, "/a.py", "function", 1);
    struct seep_frame *f = builder_at(&b, frame);
    struct seep_code_object *code = builder_at(&b, f->source);

    ((struct seep_string *)builder_at(&b, code->function))->n_bytes = _i ? UINT32_MAX : 40000;
    builder_site(&b, builder_stack(&b, 0, frame), 0, 1, 1, 0, 0, 1);
    struct seep_profile *p = profile_of(&b);
    merge_all(&m, &p, 1, NULL);
    ck_assert_str_eq(function_at(&m, m.sites[0].stack), "");
    seep_model_fini(&m);
}

/* ---- damaged files ----------------------------------------------------------------------- */

static const struct {
    size_t offset;
    uint64_t value;
    int rc;
} damages[] = {
    {offsetof(struct seep_header, magic), 0, -SEEP_EFORMAT},
    {offsetof(struct seep_header, magic), 12345, -SEEP_EFORMAT},
    {offsetof(struct seep_header, version), SEEP_FORMAT_VERSION + 1, -SEEP_EVERSION},
    {offsetof(struct seep_header, chunk_bytes), 4096, -SEEP_EVERSION},
    {offsetof(struct seep_header, pid), 77, -SEEP_EFORMAT},
    {offsetof(struct seep_header, inherited_end), 5, -SEEP_EFORMAT},
};

TEST(a_damaged_header_is_one_clear_error, .to = N(damages))
{
    struct seep_profile *p = NULL;
    struct seep_error err = {0};

    memcpy(b.bytes + damages[_i].offset, &damages[_i].value, 4);
    if (damages[_i].offset == offsetof(struct seep_header, magic))
        memcpy(b.bytes, &damages[_i].value, 8);
    ck_assert_int_eq(seep_profile_from_bytes("100-1.seep", b.bytes, b.n_bytes, &p, &err),
                     damages[_i].rc);
    ck_assert_ptr_null(p);
    ck_assert_int_ne(err.text[0], 0);
    ck_assert_int_eq(builder_write(&b, dir, "x.seep"), 0);
    char path[128];
    snprintf(path, sizeof path, "%s/x.seep", dir);
    ck_assert_int_eq(seep_profile_open(path, &p, NULL), damages[_i].rc);
}

TEST(an_inherited_part_out_of_range_is_refused, .to = 4)
{
    static const uint64_t ends[] = {0, SEEP_HEADER_BYTES + 1, UINT64_MAX, UINT64_C(1) << 40};
    struct seep_profile *p;

    builder_header(&b)->inherited_end = ends[_i];
    builder_seal(&b);
    ck_assert_int_eq(seep_profile_from_bytes("100-1.seep", b.bytes, b.n_bytes, &p, NULL),
                     -SEEP_EFORMAT);
}

static uint64_t allocated_in(const char *where, int *rc)
{
    const char *dirs[] = {where};
    json_t *report = NULL;
    struct seep_error err = {0};
    uint64_t bytes = 0;

    *rc = seep_analyse(dirs, 1, NULL, &report, &err);
    if (*rc)
        ck_assert_int_ne(err.text[0], 0);
    json_t *host = json_object_get(json_object_get(report, "spaces"), "host");
    bytes = (uint64_t)json_integer_value(json_object_get(host, "allocated_bytes"));
    if (!*rc)
        ck_assert(json_is_array(json_object_get(report, "findings")));
    json_decref(report);
    return bytes;
}

/* A file cut anywhere gives a report of what is left, or one error. */
TEST(a_cut_file_reports_what_is_left)
{
    char path[128];
    int rc;

    for (uint64_t i = 0; i < 2000; i++)
        builder_site(&b, stack_of_three(&b), 0, 1, 16, 0, 0, 1);
    ck_assert_int_eq(builder_write(&b, dir, "100-1.seep"), 0);
    snprintf(path, sizeof path, "%s/100-1.seep", dir);
    ck_assert_uint_eq(allocated_in(dir, &rc), 32000);
    uint64_t last = 32000;
    for (size_t cut = b.n_bytes; cut > 0; cut -= cut < 40000 ? cut : 39999) {
        ck_assert_int_eq(truncate(path, (off_t)cut), 0);
        uint64_t left = allocated_in(dir, &rc);
        ck_assert(rc == 0 || rc == -SEEP_ENODATA);
        ck_assert_uint_le(left, last);
        last = left;
    }
    ck_assert_int_eq(truncate(path, 0), 0);
    allocated_in(dir, &rc);
    ck_assert_int_eq(rc, -SEEP_ENODATA);
}

TEST(any_flipped_bytes_give_a_report_or_an_error, .to = 100)
{
    uint64_t seed = (uint64_t)_i * 7919 + 1;
    struct seep_point points[] = {{1, 1, 16}, {2, 2, 32}, {3, 3, 48}};
    int rc;

    for (int i = 0; i < 20; i++)
        builder_detail(&b, builder_site(&b, stack_of_three(&b), 0, 9, 144, 0, 0, 9), points, 3);
    builder_timeline(&b, 20, 1 << 20);
    for (int i = 0; i < 60; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1;
        size_t used = b.n_bytes - SEEP_HEADER_BYTES;
        size_t at = (seed >> 60) < 4 ? 200 + (seed >> 20) % (SEEP_HEADER_BYTES - 200)
                                     : SEEP_HEADER_BYTES + (seed >> 20) % used;
        b.bytes[at] = (uint8_t)(seed >> 50);
    }
    ck_assert_int_eq(builder_write(&b, dir, "100-1.seep"), 0);
    allocated_in(dir, &rc);
    ck_assert(rc == 0 || rc == -SEEP_ENODATA);
}

TEST(what_is_no_file_is_passed_over)
{
    char path[128];
    int rc;

    snprintf(path, sizeof path, "%s/fifo.seep", dir);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    builder_site(&b, stack_of_three(&b), 0, 1, 16, 0, 0, 1);
    ck_assert_int_eq(builder_write(&b, dir, "100-1.seep"), 0);
    ck_assert_uint_eq(allocated_in(dir, &rc), 16);
    ck_assert_int_eq(rc, 0);
}

TEST(folders_without_profiles_say_so)
{
    int rc;
    struct seep_error err = {0};
    json_t *report;
    const char *none[] = {"/nonexistent/seep"};

    allocated_in(dir, &rc);
    ck_assert_int_eq(rc, -SEEP_ENODATA);
    ck_assert_int_eq(seep_analyse(none, 1, NULL, &report, &err), -SEEP_EIO);
    ck_assert_int_eq(seep_analyse(none, 0, NULL, &report, NULL), -SEEP_EINVAL);
}

/* ---- job tables -------------------------------------------------------------------------- */

TEST(processes_that_follow_each_other_in_a_ring_end)
{
    struct seep_model m;
    struct seep_job *job = builder_job(100, UINT64_C(1000000000), 10, 1);

    job->n_processes = UINT32_MAX;
    job->processes[0].follows = 2;
    job->processes[1] = job->processes[0];
    job->processes[1].follows = 1;
    builder_site(&b, stack_of_three(&b), 0, 1, 16, 0, 0, 1);
    ck_assert_int_eq(builder_write(&b, dir, "100-1.seep"), 0);
    ck_assert_int_eq(builder_write_job(job, dir), 0);
    const char *dirs[] = {dir};
    memset(&m, 0, sizeof m);
    ck_assert_int_eq(seep_model_merge_folders(&m, dirs, 1, NULL), 0);
    ck_assert_uint_eq(m.n_sites, 1);
    seep_model_fini(&m);
    free(job);
}

/* A process may be killed, or looked at, between taking a line and naming it. */
TEST(a_folded_line_without_a_name_yet_counts_nothing)
{
    struct seep_job *job = builder_job(100, UINT64_C(1000000000), 10, 1), *back = NULL;

    job->folded[0] = (struct seep_folded){.name = "true", .n = 7};
    job->folded[1].n = SEEP_FOLDED_NAMING;
    ck_assert_int_eq(seep_job_from_bytes(job, sizeof *job, &back, NULL), 0);
    ck_assert_uint_eq(back->folded[0].n, 7);
    ck_assert_uint_eq(back->folded[1].n, 0);
    free(back);
    free(job);
}

TEST(a_cut_job_table_keeps_what_is_left)
{
    struct seep_job *job = builder_job(100, UINT64_C(1000000000), 10, 1), *back = NULL;

    ck_assert_int_eq(
        seep_job_from_bytes(job, offsetof(struct seep_job, processes) + 64, &back, NULL), 0);
    ck_assert_uint_eq(back->processes[0].pid, 100);
    ck_assert_uint_eq(back->processes[0].steps, 10);
    free(back);
    ck_assert_int_eq(seep_job_from_bytes(job, 5, &back, NULL), -SEEP_EFORMAT);
    job->version = 9;
    ck_assert_int_eq(seep_job_from_bytes(job, sizeof *job, &back, NULL), -SEEP_EVERSION);
    free(job);
}

/* Tables of before files in memory were listed end there. */
TEST(an_older_job_table_has_no_files_and_keeps_the_rest)
{
    struct seep_job *job = builder_job(100, UINT64_C(1000000000), 10, 1), *back = NULL;
    char path[128];

    job->seen.n = 3;
    job->files.n = 1;
    memset(job->files.folders, 'x', sizeof job->files.folders);
    ck_assert_int_eq(builder_write_job(job, dir), 0);
    snprintf(path, sizeof path, "%s/%s", dir, SEEP_JOB_FILE);
    ck_assert_int_eq(seep_job_read(path, &back, NULL), 0);
    ck_assert_uint_eq(back->files.n, 1);
    ck_assert_uint_eq(strlen(back->files.folders[0].path), SEEP_MEMORY_PATH_BYTES - 1);
    free(back);
    ck_assert_int_eq(truncate(path, offsetof(struct seep_job, files) + 8), 0);
    ck_assert_int_eq(seep_job_read(path, &back, NULL), 0);
    ck_assert_uint_eq(back->seen.n, 3);
    ck_assert_uint_eq(back->files.n, 0);
    free(back);
    free(job);
}

SUITE("reader of hostile files", .setup = setup, .teardown = teardown)
