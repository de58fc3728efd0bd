#include "libprof/verdict/library_sites.h"

#include "libprof/base/text.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/verdict/work_areas.h"
#include "libprof/words/python_file.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKED_AT = 48, FRAMES = 1024 };

/* What a finding would count of it, also what was made in step 1. */
static uint64_t added(const struct seep_site_signs *its)
{
    return its->kept.bytes > its->start.bytes ? its->kept.bytes - its->start.bytes : 0;
}

/* Picks the case's sites that added most, as indices, most first. */
static size_t pick(const struct seep_case *c, size_t *places)
{
    const struct seep_site_signs *signs = c->signs->sites;
    size_t n = 0;

    for (size_t i = 0; i < c->n_sites; i++) {
        size_t at = n;
        if (!added(&signs[i]))
            continue;
        while (at && added(&signs[places[at - 1]]) < added(&signs[i]))
            at--;
        if (at == LOOKED_AT)
            continue;
        n += n < LOOKED_AT;
        memmove(places + at + 1, places + at, (n - at - 1) * sizeof *places);
        places[at] = i;
    }
    return n;
}

/* Looks up the native frames between the allocations and the line. */
static int resolve(const struct seep_case *c, const size_t *places, size_t n)
{
    const struct seep_dictionary *d = &c->m->dict;
    uint32_t frames[FRAMES] = {0};
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        const uint32_t stack = c->m->sites[c->sites[places[i]]].stack;
        for (uint32_t s = stack; s && at < FRAMES; s = d->stacks[s].parent) {
            if (d->frames[d->stacks[s].frame].kind == SEEP_FRAME_NATIVE)
                frames[at++] = d->stacks[s].frame;
            if (d->stacks[s].frame == c->frame)
                break;
        }
    }
    return seep_symbols_resolve(c->code->symbols, frames, at);
}

/* Neither more blocks nor larger ones than the cache ever holds. */
static bool is_in_bounds(const struct seep_case *c, const struct seep_signs *signs, size_t i,
                         const struct seep_library_cache *cache)
{
    const struct seep_model_site *site = &c->m->sites[c->sites[i]];
    const uint64_t largest = site->extra ? c->m->extras[site->extra - 1].max_bytes
                             : site->totals.allocations
                                 ? site->totals.allocated_bytes / site->totals.allocations
                                 : 0;

    const uint64_t caches = seep_site_processes(c->m, site);

    return signs->sites[i].kept.blocks / (caches ? caches : 1) <= cache->blocks &&
           (!cache->block_bytes || largest <= cache->block_bytes);
}

int seep_library_sites_first(const struct seep_case *c, uint32_t *sites, size_t *n,
                             const struct seep_library_cache **cache)
{
    size_t places[LOOKED_AT] = {0}, at = 0;
    const size_t n_places = pick(c, places);
    bool *is_its = calloc(c->n_sites + 1, sizeof *is_its);
    uint32_t *others = calloc(c->n_sites + 1, sizeof *others);
    size_t n_others = 0;
    int rc = is_its && others ? resolve(c, places, n_places) : -SEEP_ENOMEM;

    *n = 0;
    *cache = NULL;
    for (size_t i = 0; i < n_places && !rc; i++) {
        const uint32_t stack = c->m->sites[c->sites[places[i]]].stack;
        const struct seep_library_cache *its =
            seep_library_cache_of_stack(&c->m->dict, c->code->symbols, stack, c->frame);
        if (!its || !is_in_bounds(c, c->signs, places[i], its))
            continue;
        *cache = *cache ? *cache : its;
        is_its[places[i]] = strcmp((*cache)->name, its->name) == 0;
    }
    for (size_t i = 0; i < c->n_sites && *cache; i++) {
        const uint32_t site = sites[i];
        if (is_its[i])
            sites[at++] = site;
        else
            others[n_others++] = site;
    }
    if (*cache)
        memcpy(sites + at, others, n_others * sizeof *sites);
    *n = at;
    free(is_its);
    free(others);
    return rc;
}

static bool is_file(const char *path, const char *file)
{
    return strcmp(seep_text_base(path), file) == 0;
}

static bool is_library(const char *path, const char *unused)
{
    (void)unused;
    return seep_python_file_is_library(path);
}

/* Whether a frame between an allocation and the line belongs to such a module. */
static bool is_made_in(const struct seep_case *c, uint32_t site,
                       bool (*is_it)(const char *path, const char *file), const char *file)
{
    const struct seep_dictionary *d = &c->m->dict;

    for (uint32_t s = c->m->sites[site].stack; s; s = d->stacks[s].parent) {
        const struct seep_dict_frame *f = &d->frames[d->stacks[s].frame];
        if (d->stacks[s].frame == c->frame)
            break;
        if (f->kind == SEEP_FRAME_NATIVE && !f->pseudo && f->source &&
            is_it(seep_dictionary_text(d, d->modules[f->source].path), file))
            return true;
    }
    return false;
}

bool seep_library_makes_it(const struct seep_case *c, const struct seep_signs *signs)
{
    double all = 0, its = 0;

    for (size_t i = 0; i < c->n_sites; i++) {
        const double bytes = (double)seep_site_gained(&signs->sites[i]);
        all += bytes;
        its += bytes > 0 && is_made_in(c, c->sites[i], is_library, NULL) ? bytes : 0;
    }
    return all > 0 && its >= SEEP_T_MOST * all;
}

bool seep_library_keeps_its_own(const struct seep_case *c, const struct seep_signs *signs)
{
    const char *file = seep_text_base(signs->kept_by.library);
    bool any = false;

    for (size_t i = 0; i < c->n_sites && *file; i++) {
        if (!seep_site_gained(&signs->sites[i]))
            continue;
        if (!is_made_in(c, c->sites[i], is_file, file))
            return false;
        any = true;
    }
    return any;
}

const struct seep_library_cache *seep_library_holder(const struct seep_case *c,
                                                     const struct seep_signs *signs)
{
    const struct seep_library_cache *cache =
        seep_library_keeps_its_own(c, signs) ? seep_library_cache_of_holder(signs->kept_by.library)
                                             : NULL;

    for (size_t i = 0; i < c->n_sites && cache; i++) {
        if (seep_site_gained(&signs->sites[i]) && !is_in_bounds(c, signs, i, cache))
            return NULL;
    }
    return cache;
}
