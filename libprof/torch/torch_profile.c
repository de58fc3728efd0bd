#include "libprof/torch/torch_profile.h"

#include "libprof/torch/profile_write.h"
#include "libprof/torch/torch_replay.h"
#include "libprof/torch/torch_tidy.h"
#include "libprof/torch/torch_what_if.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SPACE = SEEP_SPACE_SHM + 1, NO_STACK = 8 /* a ref to nothing: unknown, not none */ };

/* What is written where. */
struct writing {
    const struct seep_torch_replay *replay;
    const struct seep_torch_records *records;
    const struct seep_torch_what_ifs *what_ifs;
    struct seep_profile_writer w;
    uint32_t *frames; /* refs, by frame; 0: not written yet */
    uint32_t *stacks; /* the same */
    uint32_t *sites;  /* refs */
};

static uint64_t ns_of(int64_t time_us)
{
    return (uint64_t)time_us * 1000;
}

/* ---- stacks ------------------------------------------------------------------------------ */

static uint32_t write_frame(struct writing *g, uint32_t frame)
{
    const struct seep_torch_frame *f = &g->records->frames[frame];

    if (!g->frames[frame])
        g->frames[frame] =
            seep_profile_add_python(&g->w, seep_torch_text(g->records, f->file),
                                    seep_torch_text(g->records, f->function), f->line);
    return g->frames[frame];
}

static uint32_t write_stack(struct writing *g, uint32_t stack)
{
    const struct seep_torch_stack *s = &g->records->stacks[stack];
    uint32_t node = 0;

    if (!s->n)
        return NO_STACK;
    for (uint32_t i = s->n; i-- > 0 && !g->stacks[stack];)
        node = seep_profile_add_stack(&g->w, node,
                                      write_frame(g, g->records->frame_ids[s->first + i]));
    if (!g->stacks[stack])
        g->stacks[stack] = node;
    return g->stacks[stack];
}

/* ---- sites ------------------------------------------------------------------------------- */

static uint32_t write_series(struct writing *g, const struct seep_torch_site *s, uint32_t detail)
{
    const uint32_t capacity =
        s->n_points > SEEP_SERIES_SMALL ? SEEP_SERIES_LARGE : SEEP_SERIES_SMALL;
    const uint32_t ref = seep_profile_add(
        &g->w, SEEP_CHUNK_SERIES, NULL, sizeof(struct seep_series) + capacity * sizeof *s->points);
    struct seep_series *series = seep_profile_record(&g->w, ref);

    if (series) {
        *series = (struct seep_series){
            .capacity = capacity, .n = s->n_points, .shift = s->shift, .detail = detail};
        memcpy(series->points, s->points, s->n_points * sizeof *s->points);
    }
    return ref;
}

static void write_site(struct writing *g, size_t number)
{
    const struct seep_torch_site *s = &g->replay->sites[number];
    struct seep_site site = s->totals;
    struct seep_detail detail = s->detail;

    site.stack = write_stack(g, site.stack);
    site.space = (uint8_t)(site.space + FIRST_SPACE);
    const uint32_t ref = seep_profile_add(&g->w, SEEP_CHUNK_SITES, &site, sizeof site);
    g->sites[number] = ref;
    if (!s->n_points && !site.frees)
        return;
    detail.site = ref;
    const uint32_t at = seep_profile_add(&g->w, SEEP_CHUNK_DETAILS, &detail, sizeof detail);
    const uint32_t series = s->n_points ? write_series(g, s, at) : 0;
    struct seep_site *its = seep_profile_record(&g->w, ref);
    struct seep_detail *its_detail = seep_profile_record(&g->w, at);
    if (its && its_detail) {
        its->detail = at;
        its_detail->series = series;
    }
}

/* ---- layouts ----------------------------------------------------------------------------- */

/* One piece of a chain, from blocks[first] on. */
static void write_piece(struct writing *g, const struct seep_torch_layout *l, uint32_t ref,
                        uint32_t number, uint32_t n_pieces, uint32_t next)
{
    struct seep_layout_piece *piece = seep_profile_record(&g->w, ref);
    const size_t first = (size_t)number * SEEP_LAYOUT_PIECE_BLOCKS, left = l->n - first,
                 n = left < SEEP_LAYOUT_PIECE_BLOCKS ? left : SEEP_LAYOUT_PIECE_BLOCKS,
                 room = (size_t)SEEP_LAYOUT_PIECES * SEEP_LAYOUT_PIECE_BLOCKS;

    if (!piece)
        return;
    *piece = (struct seep_layout_piece){
        .t_ns = ns_of(l->time_us),
        .asked_bytes = l->asked_bytes,
        .left_out = l->n > room ? (uint32_t)(l->n - room) : 0,
        .period = l->period,
        .device = l->device,
        .reason = (uint16_t)l->reason,
        .number = number,
        .n_pieces = n_pieces,
        .n_blocks = (uint32_t)n,
        .next = next,
        .end_t_ns = ns_of(l->time_us),
    };
    for (size_t i = 0; i < n; i++) {
        piece->blocks[i] = l->blocks[first + i];
        piece->blocks[i].site = g->sites[piece->blocks[i].site] / 8;
    }
}

/* The last piece first: each names the next. */
static void write_layout(struct writing *g, const struct seep_torch_layout *l)
{
    const size_t wanted = (l->n + SEEP_LAYOUT_PIECE_BLOCKS - 1) / SEEP_LAYOUT_PIECE_BLOCKS;
    const uint32_t n = wanted < SEEP_LAYOUT_PIECES ? (uint32_t)wanted : SEEP_LAYOUT_PIECES;
    uint32_t next = 0;

    for (uint32_t i = n; i-- > 0;) {
        const uint32_t ref =
            seep_profile_add(&g->w, SEEP_CHUNK_LAYOUTS, NULL, sizeof(struct seep_layout_piece));
        write_piece(g, l, ref, i, n, next);
        next = ref;
    }
}

/* ---- the header -------------------------------------------------------------------------- */

static void write_space(struct writing *g, size_t i)
{
    const struct seep_torch_space *s = &g->replay->spaces[i];
    const uint32_t rows = seep_profile_add(&g->w, SEEP_CHUNK_TIMELINES, s->rows, sizeof s->rows);
    struct seep_header *h = seep_profile_header(&g->w);

    if (!h)
        return;
    h->spaces[FIRST_SPACE + i] = (struct seep_space){
        .live_bytes = s->live_bytes,
        .peak_bytes = s->peak_bytes,
        .peak_period = s->peak_period,
        .timeline = rows,
    };
    memcpy(h->spaces[FIRST_SPACE + i].name, s->name, sizeof s->name);
}

static void write_timeline(struct seep_header *h, const struct seep_torch_replay *r)
{
    h->n_timeline = r->n_rows;
    for (uint32_t i = 0; i < r->n_rows; i++) {
        const int64_t time_us = seep_torch_row_us(r, i);
        h->timeline[i] = (struct seep_timeline_row){.t_ns = ns_of(time_us),
                                                    .period = seep_torch_period(r, time_us)};
    }
    h->last_ns = h->end_ns = ns_of(r->end_us);
}

/* The allocator's own books of a device: here they are what was followed. */
static void write_books(struct seep_header *h, const struct seep_torch_replay *r)
{
    for (size_t i = 0; i < r->n_spaces; i++) {
        const struct seep_torch_space *s = &r->spaces[i];
        if (s->device >= SEEP_MAX_DEVICES)
            continue;
        struct seep_tensor_books *books = &h->devices.tensors[s->device];
        if (s->tier == SEEP_TORCH_TENSORS)
            books->live_bytes = books->allocated_bytes = s->live_bytes;
        else
            books->reserved_bytes = s->live_bytes;
        books->reports = r->records->n_events + 1;
    }
}

static void write_ooms(struct writing *g)
{
    const struct seep_torch_replay *r = g->replay;

    for (size_t i = 0; i < r->n_ooms && i < SEEP_MAX_OOMS; i++) {
        const struct seep_torch_oom *s = &r->ooms[i];
        const uint32_t stack = write_stack(g, s->event->stack);
        struct seep_header *h = seep_profile_header(&g->w);
        if (h)
            h->devices.ooms[i] = (struct seep_device_oom){
                .t_ns = ns_of(s->event->time_us),
                .asked_bytes = s->event->bytes,
                .allocated_bytes = s->tensor_bytes,
                .reserved_bytes = s->driver_bytes,
                .period = s->period,
                .stack = stack,
                .device = s->event->device,
                .source = SEEP_OOM_BY_ALLOCATOR,
            };
    }
}

static void write_what_ifs(struct writing *g)
{
    for (size_t i = 0; i < g->what_ifs->n; i++) {
        struct seep_what_if its = g->what_ifs->list[i];
        if (its.frame)
            its.frame = write_frame(g, its.frame - 1);
        struct seep_header *h = seep_profile_header(&g->w);
        if (h)
            h->what_ifs[i] = its;
    }
}

static unsigned settings_of(const struct seep_torch_records *records)
{
    const struct seep_allocator_rules *rules = &records->rules;

    return (rules->expandable ? SEEP_ALLOCATOR_EXPANDABLE : 0u) |
           (rules->collect_above > 0 ? SEEP_ALLOCATOR_COLLECTS : 0u) |
           (rules->max_split_bytes ? SEEP_ALLOCATOR_MAX_SPLIT : 0u);
}

static void write_header(struct writing *g, int32_t rank, uint32_t number)
{
    const struct seep_torch_replay *r = g->replay;
    struct seep_header *h = seep_profile_header(&g->w);

    if (!h)
        return;
    h->pid = number;
    h->process_plus_1 = 1;
    h->slots[0].tid = number;
    h->rank = rank;
    h->python_support = SEEP_PYTHON_STACKS;
    h->origin = SEEP_ORIGIN_TORCH;
    h->uncounted_stacks_bytes = r->unknown_bytes;
    h->steps_before = r->pace.steps;
    h->devices.n_ooms = (uint32_t)r->n_ooms;
    h->devices.allocator_settings = settings_of(r->records);
    write_timeline(h, r);
    write_books(h, r);
}

/* ---- the job's table --------------------------------------------------------------------- */

static struct seep_job *make_job(const struct seep_torch_replay *r, uint32_t step_frame,
                                 uint32_t number)
{
    const struct seep_torch_steps *steps = r->steps;
    struct seep_job *job = seep_profile_job(number, ns_of(r->start_us));
    struct seep_process *its = job ? &job->processes[0] : NULL;

    if (!its)
        return NULL;
    its->period = seep_torch_period(r, r->end_us);
    its->steps = r->pace.steps + (uint32_t)steps->n;
    its->first_step_period = steps->n ? 1 : 0;
    its->step_source = steps->source;
    its->step_why = steps->why;
    its->step_frame = step_frame;
    its->flags |= SEEP_PROCESS_DEVICE;
    return job;
}

/* The number behind "rank" in a file's name; −1: there is none. */
static int32_t rank_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *at = slash ? slash + 1 : path;

    for (at = strstr(at, "rank"); at; at = strstr(at, "rank")) {
        at += strlen("rank");
        const char *digits = at + strspn(at, "_-.= ");
        if (isdigit((unsigned char)*digits) && strspn(digits, "0123456789") < 7)
            return (int32_t)strtol(digits, NULL, 10);
    }
    return -1;
}

/* ---- all of it --------------------------------------------------------------------------- */

static int write_profile(struct writing *g, const char *name, uint32_t number,
                         struct seep_made_profile *profile)
{
    const struct seep_torch_replay *r = g->replay;
    uint32_t step_frame = 0;

    seep_profile_begin(&g->w, ns_of(r->start_us));
    write_header(g, rank_of(name), number);
    for (size_t i = 0; i < r->n_spaces; i++)
        write_space(g, i);
    for (size_t i = 0; i < r->n_sites; i++)
        write_site(g, i);
    for (size_t i = 0; i < r->n_layouts; i++)
        write_layout(g, &r->layouts[i]);
    write_ooms(g);
    write_what_ifs(g);
    if (r->steps->frame_plus_1)
        step_frame = write_frame(g, r->steps->frame_plus_1 - 1);
    seep_profile_end(&g->w);
    profile->job = make_job(r, step_frame, number);
    if (g->w.failed || !profile->job)
        return -SEEP_ENOMEM;
    profile->bytes = g->w.bytes;
    profile->n_bytes = g->w.n_bytes;
    g->w.bytes = NULL;
    return 0;
}

static int write_replay(const struct seep_torch_replay *r, const char *name, uint32_t number,
                        struct seep_made_profile *profile)
{
    struct seep_torch_what_ifs what_ifs;
    struct writing g = {.replay = r, .records = r->records, .what_ifs = &what_ifs};
    int rc = seep_torch_what_ifs_find(r, &what_ifs);

    if (rc)
        return rc;
    rc = -SEEP_ENOMEM;
    g.frames = calloc(r->records->n_frames + 1, sizeof *g.frames);
    g.stacks = calloc(r->records->n_stacks + 1, sizeof *g.stacks);
    g.sites = calloc(r->n_sites + 1, sizeof *g.sites);
    if (g.frames && g.stacks && g.sites)
        rc = write_profile(&g, name, number, profile);
    free(g.frames);
    free(g.stacks);
    free(g.sites);
    seep_profile_writer_fini(&g.w);
    return rc;
}

static int make(struct seep_torch_records *records, const char *name, uint32_t number,
                struct seep_made_profile *profile)
{
    struct seep_torch_steps steps = {0};
    struct seep_torch_replay replay;
    int rc = seep_torch_tidy(records);

    if (!rc)
        rc = seep_torch_steps_find(records, &steps);
    if (!rc) {
        rc = seep_torch_replay(&replay, records, &steps);
        if (!rc)
            rc = write_replay(&replay, name, number, profile);
        seep_torch_replay_fini(&replay);
    }
    seep_torch_steps_fini(&steps);
    return rc;
}

int seep_torch_profile_make(const struct seep_pickle_source *source, const char *name,
                            uint32_t number, struct seep_made_profile *profile,
                            struct seep_error *err)
{
    struct seep_torch_records records;
    int rc = seep_torch_records_read(&records, source, err);

    *profile = (struct seep_made_profile){.is_cut = records.is_cut};
    if (!rc)
        rc = make(&records, name, number, profile);
    seep_torch_records_fini(&records);
    if (!rc)
        return 0;
    free(profile->bytes);
    free(profile->job);
    *profile = (struct seep_made_profile){0};
    return seep_error_set(err, -rc, name, 0, "no memory for the snapshot: free some");
}
