#include "libprof/model/stages/small_sites.h"

enum { PER_POWER = 8, JUDGED_EACH = 1024 };

static unsigned size_of(uint64_t bytes)
{
    if (bytes < PER_POWER)
        return (unsigned)bytes;
    const unsigned power = 63 - (unsigned)__builtin_clzll(bytes);
    return power * PER_POWER + (unsigned)(bytes >> (power - 3) & (PER_POWER - 1));
}

uint64_t seep_small_sites_below(const struct seep_small_sites *s)
{
    const unsigned power = s->least / PER_POWER;

    if (s->least < PER_POWER)
        return s->least;
    if (s->least == SEEP_PEAK_SIZES)
        return UINT64_MAX;
    return (uint64_t)(PER_POWER + s->least % PER_POWER) << (power - 3);
}

struct seep_small_sites seep_small_sites_of(const struct seep_model *m)
{
    struct seep_small_sites s = {.most_bytes =
                                     m->most_bytes ? m->most_bytes : SEEP_MODEL_MOST_BYTES};

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_profile *profile = m->processes[i].profile;
        s.chunks += profile ? profile->n_chunks - profile->first_chunk : 0;
    }
    return s;
}

/* What grows with the sites. */
static uint64_t bytes_of(const struct seep_model *m)
{
    const struct seep_dictionary *d = &m->dict;

    return m->n_sites * sizeof *m->sites + m->n_slots * sizeof *m->slots +
           m->n_extras * sizeof *m->extras + m->n_points * sizeof *m->points +
           d->n_stacks * sizeof *d->stacks + d->n_frames * sizeof *d->frames +
           d->n_strings * sizeof *d->string_at + d->text_bytes;
}

/* From half of the bound on: the sites ahead are like those so far, and as many of the largest are
 * kept as there is room for. What has a place keeps it. */
static void judge(struct seep_small_sites *s, const struct seep_model *m)
{
    const uint64_t used = bytes_of(m), done = s->chunks_done ? s->chunks_done : 1;
    const double ahead = s->chunks > done ? (double)(s->chunks - done) / (double)done : 0;
    const double each = (double)used / (double)(s->n_kept ? s->n_kept : 1);
    double left = (double)s->most_bytes - (double)used;
    unsigned least = SEEP_PEAK_SIZES;

    if (used < s->most_bytes / 2)
        return;
    while (least && left >= 0)
        left -= (double)s->seen[--least] * ahead * each;
    if (left < 0)
        least++;
    s->least = least > s->least ? least : s->least;
}

bool seep_small_sites_have_place(struct seep_small_sites *s, const struct seep_model *m,
                                 uint64_t peak_bytes)
{
    const unsigned size = size_of(peak_bytes);

    s->seen[size]++;
    if (++s->n_seen % JUDGED_EACH == 0)
        judge(s, m);
    if (size < s->least)
        return false;
    s->n_kept++;
    return true;
}
