/* Snapshots of PyTorch's, made event by event, as reports. */
#include "libprof/analysis.h"
#include "libprof/export/pickle.h"
#include "libprof/read/profile_read.h"
#include "libprof/torch/torch_profile.h"
#include "tests/suite.h"

#include <string.h>

enum { KIB = 1024, MIB = 1024 * KIB, BASE = 0x100000 };

#define LIB "/venv/site-packages/torch/"

/* ---- a snapshot being written ------------------------------------------------------------ */

static FILE *out;
static char *pickle;
static size_t n_pickle;
static int64_t now_us;

/* Frames as "function file line" each, innermost first, ';' between them. */
static void put_frames(const char *frames)
{
    seep_pickle_text(out, "frames");
    seep_pickle_list(out);
    for (const char *at = frames; *at; at += *at == ';') {
        char function[64], file[128];
        int line, n;
        ck_assert_int_eq(sscanf(at, "%63s %127s %d%n", function, file, &line, &n), 3);
        at += n;
        seep_pickle_dict(out);
        seep_pickle_item_text(out, "name", function);
        seep_pickle_item_text(out, "filename", file);
        seep_pickle_item_int(out, "line", line);
        seep_pickle_dict_end(out);
    }
    seep_pickle_list_end(out);
}

static void put_event(const char *action, int64_t address, int64_t size, const char *frames)
{
    now_us += 10;
    seep_pickle_dict(out);
    seep_pickle_item_text(out, "action", action);
    seep_pickle_item_int(out, "addr", address);
    seep_pickle_item_int(out, "size", size);
    seep_pickle_item_int(out, "time_us", now_us);
    put_frames(frames);
    seep_pickle_dict_end(out);
}

static void put_block(int64_t address, int64_t size, const char *state, const char *frames)
{
    seep_pickle_dict(out);
    seep_pickle_item_int(out, "address", address);
    seep_pickle_item_int(out, "size", (size + 511) / 512 * 512);
    seep_pickle_item_int(out, "requested_size", size);
    seep_pickle_item_text(out, "state", state);
    put_frames(frames);
    seep_pickle_dict_end(out);
}

/* Its blocks follow, then its end. */
static void begin_segment(int64_t address, int64_t size, bool is_expandable)
{
    seep_pickle_dict(out);
    seep_pickle_item_int(out, "device", 0);
    seep_pickle_item_int(out, "address", address);
    seep_pickle_item_int(out, "total_size", size);
    seep_pickle_text(out, "is_expandable");
    seep_pickle_bool(out, is_expandable);
    seep_pickle_text(out, "blocks");
    seep_pickle_list(out);
}

static void end_segment(void)
{
    seep_pickle_list_end(out);
    seep_pickle_dict_end(out);
}

static void begin_segments(void)
{
    out = open_memstream(&pickle, &n_pickle);
    ck_assert_ptr_nonnull(out);
    now_us = 1000000;
    seep_pickle_begin(out);
    seep_pickle_dict(out);
    seep_pickle_text(out, "segments");
    seep_pickle_list(out);
}

static void begin_trace(void)
{
    seep_pickle_list_end(out);
    seep_pickle_text(out, "device_traces");
    seep_pickle_list(out);
    seep_pickle_list(out);
}

static void end_trace(void)
{
    seep_pickle_list_end(out);
    seep_pickle_list_end(out);
}

/* ---- its report -------------------------------------------------------------------------- */

struct bytes {
    const char *at;
    size_t left;
};

static int64_t read_bytes(void *context, void *buffer, size_t n)
{
    struct bytes *b = context;
    const size_t got = n < b->left ? n : b->left;

    memcpy(buffer, b->at, got);
    b->at += got;
    b->left -= got;
    return (int64_t)got;
}

static json_t *report_named(const char *name)
{
    struct seep_made_profile torch;
    struct seep_profile *profile;
    struct seep_error err = {0};
    json_t *report = NULL;

    seep_pickle_dict_end(out);
    seep_pickle_end(out);
    fclose(out);
    struct bytes bytes = {pickle, n_pickle};
    ck_assert_msg(!seep_torch_profile_make(&(struct seep_pickle_source){&bytes, read_bytes}, name,
                                           1, &torch, &err),
                  "%s", err.text);
    ck_assert_int_eq(seep_profile_from_bytes(name, torch.bytes, torch.n_bytes, &profile, &err), 0);
    free(torch.bytes);
    free(pickle);
    ck_assert_int_eq(
        seep_analyse_profiles(&profile, 1, torch.job,
                              &(struct seep_analysis_options){.all_sites = true, .layouts = true},
                              &report, &err),
        0);
    return report;
}

static json_t *report_of(void)
{
    return report_named("snapshot.pickle");
}

static int64_t total(const json_t *report, const char *space, const char *key)
{
    return json_integer_value(
        json_object_get(json_object_get(json_object_get(report, "spaces"), space), key));
}

/* Live bytes of the sites whose innermost frame is of that function. */
static int64_t live_at(const json_t *report, const char *space, const char *function)
{
    int64_t sum = 0;
    json_t *site;
    size_t i;

    json_array_foreach (json_object_get(report, "sites"), i, site) {
        const json_t *frame = json_array_get(json_object_get(site, "stack"), 0);
        const char *its = json_string_value(json_object_get(frame, "function"));
        if (strcmp(json_string_value(json_object_get(site, "space")), space) == 0 && its &&
            strcmp(its, function) == 0)
            sum += json_integer_value(json_object_get(site, "live_bytes"));
    }
    return sum;
}

static const char *job_text(const json_t *report, const char *key)
{
    const char *text = json_string_value(json_object_get(json_object_get(report, "job"), key));

    return text ? text : "";
}

static int64_t job_number(const json_t *report, const char *key)
{
    return json_integer_value(json_object_get(json_object_get(report, "job"), key));
}

static const json_t *layout_for(const json_t *report, const char *reason)
{
    const json_t *layout;
    size_t i;

    json_array_foreach (json_object_get(report, "layouts"), i, layout)
        if (strcmp(json_string_value(json_object_get(layout, "reason")), reason) == 0)
            return layout;
    return NULL;
}

/* ---- what grows -------------------------------------------------------------------------- */

#define STEP "train_step /job/train.py 20;main /job/train.py 40"
#define KEEP "remember /job/train.py 30;" STEP
#define ADAM "step " LIB "optim/adam.py 240;wrapper " LIB "optim/optimizer.py 67;" STEP
#define ZERO "zero_grad " LIB "optim/optimizer.py 900;" STEP
#define BACK "backward " LIB "autograd/__init__.py 300;backward " LIB "_tensor.py 600;" STEP

/* Each step keeps a block at one line, and frees what it made at another. */
static json_t *growing(int steps, const char *last_of_step)
{
    begin_segments();
    begin_segment(BASE, 64 * MIB, false);
    for (int i = 0; i < steps; i++)
        put_block(BASE + i * MIB, 1000 * KIB, "active_allocated", KEEP);
    end_segment();
    begin_trace();
    put_event("segment_alloc", BASE, 64 * MIB, STEP);
    for (int i = 0; i < steps; i++) {
        put_event("alloc", BASE + i * MIB, 1000 * KIB, KEEP);
        put_event("alloc", BASE + 60 * MIB, MIB, STEP);
        put_event("free_requested", BASE + 60 * MIB, MIB, STEP);
        put_event("free_completed", BASE + 60 * MIB, MIB, STEP);
        put_event("alloc", BASE + 61 * MIB, 4 * KIB, last_of_step);
        put_event("free_completed", BASE + 61 * MIB, 4 * KIB, last_of_step);
    }
    end_trace();
    return report_of();
}

TEST(a_line_that_keeps_more_each_step_is_found)
{
    json_t *report = growing(30, ADAM);
    const json_t *f = json_array_get(json_object_get(report, "findings"), 0);
    const json_t *frame = json_object_get(f, "frame");

    ck_assert_uint_eq(json_array_size(json_object_get(report, "findings")), 1);
    ck_assert_str_eq(json_string_value(json_object_get(f, "pattern")), "unbounded-growth");
    ck_assert_str_eq(json_string_value(json_object_get(frame, "file")), "/job/train.py");
    ck_assert_int_eq(json_integer_value(json_object_get(frame, "line")), 30);
    ck_assert_int_eq(total(report, "tensor:0", "live_bytes"), 30 * 1000 * KIB);
    ck_assert_int_eq(total(report, "tensor:0", "allocations"), 90);
    ck_assert_int_eq(total(report, "device:0", "live_bytes"), 64 * MIB);
    ck_assert_int_eq(job_number(report, "torch_snapshots"), 1);
    json_decref(report);
}

static const struct {
    const char *last, *source, *why;
} ends[] = {
    {ADAM, "optimizer", "a PyTorch optimizer steps"},
    {ZERO, "optimizer", "zero_grad()"},
    {BACK, "loop", "each backward() ends a step"},
    {"evaluate /job/train.py 25;" STEP, "loop", "again and again"},
};

TEST(steps_are_found_by_the_surest_that_shows, .to = N(ends))
{
    json_t *report = growing(20, ends[_i].last);

    ck_assert_str_eq(job_text(report, "step_source"), ends[_i].source);
    ck_assert_ptr_nonnull(strstr(job_text(report, "step_why"), ends[_i].why));
    ck_assert_int_ge(job_number(report, "steps"), 19);
    ck_assert_int_le(job_number(report, "steps"), 20);
    json_decref(report);
}

TEST(without_a_history_there_is_what_is_live)
{
    begin_segments();
    begin_segment(BASE, 20 * MIB, false);
    put_block(BASE, 3 * MIB, "active_allocated", KEEP);
    put_block(BASE + 3 * MIB, MIB, "active_pending_free", STEP);
    put_block(BASE + 4 * MIB, 16 * MIB, "inactive", "");
    end_segment();
    seep_pickle_list_end(out);
    json_t *report = report_of();

    ck_assert_int_eq(total(report, "tensor:0", "live_bytes"), 4 * MIB);
    ck_assert_int_eq(total(report, "device:0", "live_bytes"), 20 * MIB);
    ck_assert_int_eq(live_at(report, "tensor:0", "remember"), 3 * MIB);
    ck_assert_uint_eq(json_array_size(json_object_get(report, "layouts")), 1);
    ck_assert_str_eq(job_text(report, "step_source"), "time");
    json_decref(report);
}

/* ---- what a ring buffer has lost --------------------------------------------------------- */

/* Blocks from before: one that is still live has its line; one that is freed later has none. */
TEST(what_was_there_before_the_history_is_counted)
{
    begin_segments();
    begin_segment(BASE, 20 * MIB, false);
    put_block(BASE, 5 * MIB, "active_allocated", KEEP);
    end_segment();
    begin_trace();
    put_event("alloc", BASE + 10 * MIB, MIB, STEP);
    put_event("free_completed", BASE + 6 * MIB, 2 * MIB, STEP);
    put_event("free_completed", BASE + 10 * MIB, MIB, STEP);
    put_event("free_completed", BASE + 11 * MIB, 0, STEP);
    end_trace();
    json_t *report = report_of();

    ck_assert_int_eq(total(report, "tensor:0", "live_bytes"), 5 * MIB);
    ck_assert_int_eq(total(report, "tensor:0", "peak_bytes"), 8 * MIB);
    ck_assert_int_eq(total(report, "tensor:0", "allocated_bytes"), 8 * MIB);
    ck_assert_int_eq(live_at(report, "tensor:0", "remember"), 5 * MIB);
    json_decref(report);
}

TEST(a_block_whose_end_was_lost_ends_as_its_address_is_used_again)
{
    begin_segments();
    begin_segment(BASE, 20 * MIB, false);
    put_block(BASE, MIB, "active_allocated", KEEP);
    end_segment();
    begin_trace();
    put_event("alloc", BASE, 3 * MIB, STEP);
    put_event("alloc", BASE, MIB, KEEP);
    end_trace();
    json_t *report = report_of();

    ck_assert_int_eq(total(report, "tensor:0", "live_bytes"), MIB);
    ck_assert_int_eq(live_at(report, "tensor:0", "remember"), MIB);
    json_decref(report);
}

TEST(where_ends_of_frees_were_not_recorded_their_requests_count)
{
    begin_segments();
    begin_segment(BASE, 20 * MIB, false);
    end_segment();
    begin_trace();
    put_event("alloc", BASE, MIB, STEP);
    put_event("free_requested", BASE, MIB, STEP);
    end_trace();
    json_t *report = report_of();

    ck_assert_int_eq(total(report, "tensor:0", "live_bytes"), 0);
    ck_assert_int_eq(total(report, "tensor:0", "frees"), 1);
    json_decref(report);
}

/* ---- segments that grow ------------------------------------------------------------------ */

/* Mapped at once, given back in parts. */
TEST(pages_of_an_expandable_segment_are_followed)
{
    begin_segments();
    begin_segment(BASE, 6 * MIB, true);
    end_segment();
    begin_segment(BASE + 16 * MIB, 4 * MIB, true);
    end_segment();
    begin_trace();
    put_event("segment_map", BASE, 20 * MIB, STEP);
    put_event("segment_unmap", BASE + 6 * MIB, 10 * MIB, KEEP);
    end_trace();
    json_t *report = report_of();

    ck_assert_int_eq(total(report, "device:0", "peak_bytes"), 20 * MIB);
    ck_assert_int_eq(total(report, "device:0", "live_bytes"), 10 * MIB);
    ck_assert_int_eq(live_at(report, "device:0", "train_step"), 10 * MIB);
    json_decref(report);
}

/* ---- stacks ------------------------------------------------------------------------------ */

#define NATIVE "at::empty /venv/torch/lib/libtorch_cpu.so 1234;"

TEST(frames_of_python_are_what_is_judged)
{
    begin_segments();
    begin_segment(BASE, 20 * MIB, false);
    put_block(BASE, MIB, "active_allocated", NATIVE KEEP);
    end_segment();
    seep_pickle_list_end(out);
    json_t *report = report_of();

    ck_assert_int_eq(live_at(report, "tensor:0", "remember"), MIB);
    json_decref(report);
}

/* Autograd's thread has no frames, or native ones alone. */
TEST(what_backward_allocates_is_at_the_line_that_calls_it)
{
    begin_segments();
    begin_segment(BASE, 20 * MIB, false);
    end_segment();
    begin_trace();
    put_event("alloc", BASE, MIB, "");
    put_event("alloc", BASE + MIB, 512, "_make_grads " LIB "autograd/__init__.py 150;" BACK);
    put_event("alloc", BASE + 2 * MIB, 2 * MIB, "");
    put_event("alloc", BASE + 4 * MIB, 4 * MIB, "engine /venv/torch/lib/libtorch_cpu.so 77");
    put_event("alloc", BASE + 9 * MIB, MIB, STEP);
    put_event("alloc", BASE + 10 * MIB, MIB, "");
    end_trace();
    json_t *report = report_of();

    ck_assert_int_eq(live_at(report, "tensor:0", "backward"), 6 * MIB);
    ck_assert_int_eq(live_at(report, "tensor:0", "train_step"), MIB);
    ck_assert_int_eq(total(report, "tensor:0", "live_bytes"), 9 * MIB + 512);
    json_decref(report);
}

/* ---- a request that failed --------------------------------------------------------------- */

TEST(a_request_without_room_is_an_out_of_memory)
{
    begin_segments();
    begin_segment(BASE, 64 * MIB, false);
    put_block(BASE, 1 * MIB, "active_allocated", STEP);
    put_block(BASE + 1 * MIB, 1 * MIB, "inactive", "");
    put_block(BASE + 2 * MIB, 59 * MIB, "active_allocated", KEEP);
    put_block(BASE + 61 * MIB, 3 * MIB, "inactive", "");
    end_segment();
    begin_trace();
    put_event("alloc", BASE, 1 * MIB, STEP);
    put_event("alloc", BASE + 2 * MIB, 59 * MIB, KEEP);
    put_event("oom", 123456, 32 * MIB, STEP);
    end_trace();
    json_t *report = report_of();
    const json_t *its = json_array_get(json_object_get(report, "out_of_memory"), 0);

    ck_assert_int_eq(json_integer_value(json_object_get(its, "asked_bytes")), 32 * MIB);
    const json_t *layout = layout_for(report, "failed");
    ck_assert_int_eq(json_integer_value(json_object_get(layout, "asked_bytes")), 32 * MIB);
    ck_assert_int_eq(json_integer_value(json_object_get(layout, "free_bytes")), 4 * MIB);
    ck_assert_int_eq(json_integer_value(json_object_get(layout, "largest_free_bytes")), 3 * MIB);
    json_decref(report);
}

/* ---- ranks ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int rank; /* −1: none */
} names[] = {
    {"rank3_memory_snapshot.pickle", 3},
    {"/a/rank_9/snapshot-rank-12.pickle", 12},
    {"snapshot.pickle", -1},
    {"ranking.pickle", -1},
    {"frank.rank=7.pickle.gz", 7},
};

TEST(the_rank_is_in_the_name, .to = N(names))
{
    begin_segments();
    begin_segment(BASE, MIB, false);
    end_segment();
    seep_pickle_list_end(out);
    json_t *report = report_named(names[_i].name);
    const json_t *process = json_array_get(json_object_get(report, "processes"), 0);
    const json_t *rank = json_object_get(process, "rank");

    ck_assert_int_eq(json_is_integer(rank) ? json_integer_value(rank) : -1, names[_i].rank);
    json_decref(report);
}

SUITE("torch snapshots")
