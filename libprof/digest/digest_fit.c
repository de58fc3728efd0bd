#include "libprof/digest/digest_fit.h"

#include "libprof/digest/digest_names.h"
#include "libprof/digest/digest_rows.h"
#include "libprof/words/space.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* As written, in bytes. The names of a host and of a space count with each row, for it depends
     * on what is merged which process is the largest; frames and stacks count once. */
    WHO_BYTES = 110 + SEEP_DIGEST_HOST_TEXT,
    CELL_BYTES = 17, /* of a course: 2^53 KiB steps and a comma */
    COURSE_BYTES = SEEP_DIGEST_COURSE * CELL_BYTES,
    ROW_BYTES = 150 + WHO_BYTES, /* without the course */
    FOUND_BYTES = 400 + 2 * SEEP_DIGEST_HOST_TEXT + SEEP_DIGEST_EXAMPLE_TEXT,
    REFERENCE_BYTES = 8,
    PARTS_BYTES = 60, /* of a stack */

    SITES_ROOM = 1100 * 1000, /* rows, with their stacks and frames */
    FINDINGS_ROOM = 800 * 1000,
    SPACES_ROOM = 500 * 1000,

    /* The rest has bounds of its own. */
    N_ROLES = 4,
    N_ENDS = 256 + 64 + 2,
    PROCESSES_ROOM = N_ROLES * SEEP_N_DIGEST_MEASURES * SEEP_DIGEST_BUCKETS * ROW_BYTES,
    ENDS_ROOM = N_ROLES * N_ENDS * ROW_BYTES,
    TOPS_ROOM = N_ROLES * SEEP_N_DIGEST_MEASURES * 2 * SEEP_DIGEST_TOPS * WHO_BYTES,
    CELLS_ROOM = SEEP_DIGEST_MAX_CELLS * (20 + 2 * SEEP_N_DIGEST_MEASURES * 20),
    SETS_ROOM = SEEP_DIGEST_SOURCES * 20 + SEEP_DIGEST_HOSTS * (SEEP_DIGEST_HOST_TEXT + 2) +
                SEEP_DIGEST_RANKS / 4,
    MAX_LEVELS = SEEP_N_SEVERITIES * SEEP_DIGEST_BUCKETS,
    MAX_DEVICES = 32,
};
_Static_assert(SITES_ROOM + FINDINGS_ROOM + SPACES_ROOM + PROCESSES_ROOM + ENDS_ROOM + TOPS_ROOM +
                       CELLS_ROOM + SETS_ROOM + 64 * 1024 <=
                   SEEP_DIGEST_MAX_BYTES,
               "a digest is bounded");

/* ---- what rows take ---------------------------------------------------------------------- */

/* Frames and stacks that were counted. */
struct counted {
    bool *frames, *stacks;
};

static int begin_count(const struct seep_digest *d, struct counted *c)
{
    c->frames = calloc(d->n_texts + 1, sizeof *c->frames);
    c->stacks = calloc(d->n_stacks + 1, sizeof *c->stacks);
    return c->frames && c->stacks ? 0 : -SEEP_ENOMEM;
}

static void end_count(struct counted *c)
{
    free(c->frames);
    free(c->stacks);
}

/* A frame's text is as it is written, but for the comma. */
static size_t frame_bytes(const struct seep_digest *d, struct counted *c, uint32_t frame)
{
    if (c->frames[frame])
        return 0;
    c->frames[frame] = true;
    return strlen(d->texts[frame]) + 1;
}

static size_t stack_bytes(const struct seep_digest *d, struct counted *c, uint32_t stack)
{
    const struct seep_digest_stack *its = &d->stacks[stack - 1];
    size_t n = PARTS_BYTES;

    if (c->stacks[stack - 1])
        return 0;
    c->stacks[stack - 1] = true;
    for (size_t i = 0; i < its->n; i++)
        n += REFERENCE_BYTES + frame_bytes(d, c, d->stack_frames[its->at + i]);
    return n;
}

static size_t digits(uint64_t value)
{
    size_t n = 1;

    for (; value >= 10; value /= 10)
        n++;
    return n;
}

static size_t listed_bytes(const struct seep_digest *d, struct counted *c,
                           const struct seep_digest_row *row)
{
    size_t n = ROW_BYTES;

    for (size_t i = 0; i < SEEP_DIGEST_COURSE; i++)
        n += 1 + digits(row->course[i]);
    return n + (row->key.kind == SEEP_DIGEST_SITES
                    ? stack_bytes(d, c, row->key.about)
                    : FOUND_BYTES + frame_bytes(d, c, d->subjects[row->key.about - 1].frame));
}

/* ---- sites and findings ------------------------------------------------------------------ */

/* Rows of findings are forgotten by severity, the least severe first, then by bucket. The row is
 * kept up to this level. */
static uint32_t level_of(const struct seep_digest *d, const struct seep_digest_row *row)
{
    if (row->key.kind == SEEP_DIGEST_SITES)
        return row->key.bucket;
    return (uint32_t)(SEEP_N_SEVERITIES - 1 - d->subjects[row->key.about - 1].severity) *
               SEEP_DIGEST_BUCKETS +
           row->key.bucket;
}

/* Counts from the most important rows down. Returns the least level at which they fit. */
static uint32_t level_that_fits(struct seep_digest *d, enum seep_digest_kind kind, size_t room)
{
    uint32_t *next = calloc(d->n_rows + 1, sizeof *next), first[MAX_LEVELS] = {0};
    struct counted counted;
    size_t bytes = 0;
    uint32_t level = MAX_LEVELS;

    if (begin_count(d, &counted) || !next)
        d->failed = true;
    for (uint32_t i = 0; i < d->n_rows && !d->failed; i++) {
        if (d->rows[i].key.kind != kind)
            continue;
        const uint32_t its = level_of(d, &d->rows[i]);
        next[i] = first[its];
        first[its] = i + 1;
    }
    for (; level && !d->failed; level--) {
        for (uint32_t i = first[level - 1]; i; i = next[i - 1])
            bytes += listed_bytes(d, &counted, &d->rows[i - 1]);
        if (bytes > room)
            break;
    }
    end_count(&counted);
    free(next);
    return level;
}

/* ---- spaces ------------------------------------------------------------------------------ */

/* A space that is never folded: one of seep's own, with a number that devices have. */
static bool is_own_space(const char *space)
{
    const struct seep_space_name name = seep_space_parse(space);

    return seep_space_is_known(&name) && name.device < MAX_DEVICES;
}

/* What a folder of processes has by space. The spaces of sites stay, because what sites take must
 * not depend on this level. */
static bool is_by_space(enum seep_digest_kind kind)
{
    return kind == SEEP_DIGEST_SPACES || kind == SEEP_DIGEST_REST;
}

static bool spaces_fit(struct seep_digest *d)
{
    bool *seen = calloc(d->n_texts + 1, sizeof *seen);
    size_t n_announced = 0, bytes = 0;

    if (!seen)
        d->failed = true;
    for (size_t i = 0; i < d->n_rows && !d->failed; i++) {
        const struct seep_digest_row *row = &d->rows[i];
        if (!is_by_space(row->key.kind))
            continue;
        bytes += ROW_BYTES + COURSE_BYTES;
        if (!seen[row->key.subject] && !is_own_space(d->texts[row->key.subject]))
            n_announced++;
        seen[row->key.subject] = true;
    }
    free(seen);
    return bytes <= SPACES_ROOM && (d->space_level || n_announced <= SEEP_DIGEST_MAX_SPACES);
}

/* ---- levels ------------------------------------------------------------------------------ */

struct seep_digest_row seep_digest_level_row(struct seep_digest *d,
                                             const struct seep_digest_row *row)
{
    struct seep_digest_row now = *row;

    if (row->key.kind == SEEP_DIGEST_SITES && level_of(d, row) < d->site_level) {
        now.key = (struct seep_digest_key){
            .kind = SEEP_DIGEST_REST, .role = row->key.role, .subject = row->key.subject};
    } else if (row->key.kind == SEEP_DIGEST_FINDINGS && level_of(d, row) < d->finding_level) {
        const struct seep_digest_about *about = &d->subjects[row->key.about - 1];
        now.key = (struct seep_digest_key){
            .kind = SEEP_DIGEST_FOLDED,
            .role = about->severity,
            .subject = seep_digest_text(d, seep_pattern_name((enum seep_pattern)about->pattern))};
        now.found = 0;
        memset(now.course, 0, sizeof now.course);
    }
    if (is_by_space(now.key.kind) && d->space_level && !is_own_space(d->texts[now.key.subject]))
        now.key.subject = seep_digest_text(d, SEEP_DIGEST_ANNOUNCED);
    if (now.key.kind == SEEP_DIGEST_SPACES && d->space_level == 2)
        now.key.bucket = 0;
    return now;
}

static void apply_levels(struct seep_digest *d)
{
    struct seep_digest_row *old = d->rows;
    struct seep_digest_found *finding_rows = d->finding_rows;
    const size_t n = d->n_rows;

    d->rows = NULL;
    d->finding_rows = NULL;
    d->n_rows = d->rows_capacity = d->n_founds = d->founds_capacity = 0;
    seep_hash_fini(&d->row_index);
    d->row_index = (struct seep_hash_index){0};
    for (size_t i = 0; i < n && !d->failed; i++) {
        const struct seep_digest_row now = seep_digest_level_row(d, &old[i]);
        seep_digest_add_row(d, &now, now.found ? &finding_rows[now.found - 1] : NULL,
                            d->step_shift);
    }
    free(old);
    free(finding_rows);
}

/* Numbers nodes by this many bits less. */
static void renumber_nodes(struct seep_digest *d, uint32_t by)
{
    struct seep_digest_cell *old = d->cells;
    const size_t n = d->n_cells;

    if (!by)
        return;
    d->cells = NULL;
    d->n_cells = d->cells_capacity = 0;
    seep_hash_fini(&d->cell_index);
    d->cell_index = (struct seep_hash_index){0};
    d->node_shift += by;
    for (size_t i = 0; i < n && !d->failed; i++) {
        old[i].node = by < 32 ? old[i].node >> by : 0;
        seep_digest_add_cell(d, &old[i]);
    }
    free(old);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void raise_to(struct seep_digest *d, uint32_t site, uint32_t finding, uint32_t space)
{
    if (d->site_level >= site && d->finding_level >= finding && d->space_level >= space)
        return;
    d->site_level = larger(d->site_level, site);
    d->finding_level = larger(d->finding_level, finding);
    d->space_level = larger(d->space_level, space);
    apply_levels(d);
}

void seep_digest_raise(struct seep_digest *d, const struct seep_digest *other)
{
    seep_digest_widen(d, other->step_shift);
    if (other->node_shift > d->node_shift)
        renumber_nodes(d, other->node_shift - d->node_shift);
    raise_to(d, other->site_level, other->finding_level, other->space_level);
}

void seep_digest_fit(struct seep_digest *d)
{
    raise_to(d, level_that_fits(d, SEEP_DIGEST_SITES, SITES_ROOM),
             level_that_fits(d, SEEP_DIGEST_FINDINGS, FINDINGS_ROOM), 0);
    while (d->space_level < 2 && !spaces_fit(d) && !d->failed) /* after sites, some of which are */
        raise_to(d, 0, 0, d->space_level + 1);                 /* with the rest now */
    while (d->n_cells > SEEP_DIGEST_MAX_CELLS && d->node_shift < 32 && !d->failed)
        renumber_nodes(d, 1);
}
