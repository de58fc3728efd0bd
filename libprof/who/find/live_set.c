#include "libprof/who/find/live_set.h"

#include "libprof/base/hash_index.h"
#include "libprof/format/live_format.h"
#include "libprof/who/blocks/block_list.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_BLOCKS = 6 * 1000 * 1000,
    MAX_REGIONS = 1 << 14, /* 1 TiB. The directory may lead in a circle */
    MAX_PAGES = 1 << 23,   /* 32 GiB of pages that have blocks */
    MAX_OWN = 1 << 13,
    GRANULE = 16,
    MAX_WORDS = 4096, /* of a page: those of 256 blocks, of empty places and of links */
};

struct reading {
    struct seep_live_set *set;
    struct seep_remote *remote;
    uint64_t roots[SEEP_N_ROOTS], regions[SEEP_ROOT_REGIONS];
    struct seep_live_page pages[SEEP_REGION_PAGES];
    uint64_t words[MAX_WORDS]; /* of a page */
    size_t n_words;
    size_t regions_left, pages_left;
    bool no_memory;
};

static void add(struct reading *r, uint64_t start, const struct seep_block *block)
{
    struct seep_live_set *set = r->set;

    if (set->n == MAX_BLOCKS || r->no_memory)
        return;
    r->no_memory = seep_grow(&set->blocks, &set->capacity, set->n + 1, sizeof *set->blocks) != 0;
    if (!r->no_memory)
        set->blocks[set->n++] = (struct seep_snapshot_block){
            .start = start, .bytes = block->bytes, .site = block->site};
}

/* Appends the words of a link's table, as far as there is room. */
static void read_table(struct reading *r, uint64_t link)
{
    const size_t n = (size_t)seep_link_lines(link) * seep_link_width(link);

    if (n <= MAX_WORDS - r->n_words &&
        seep_remote_read(r->remote, seep_link_to(link), r->words + r->n_words, n * sizeof link))
        r->n_words += n;
}

/* The second word of a large block; 0: there is none, as the block was being changed. */
static uint64_t rest_of(const struct reading *r, uint64_t word)
{
    const uint64_t kind = seep_word_kind_of_rest(seep_word_granule(word));

    for (size_t i = 0; i < r->n_words; i++)
        if (r->words[i] >> SEEP_WORD_KIND_SHIFT == kind)
            return r->words[i];
    return 0;
}

static void read_page(struct reading *r, uint64_t page, const struct seep_live_page *of)
{
    memcpy(r->words, of->words, sizeof of->words);
    r->n_words = SEEP_PAGE_WORDS;
    for (size_t i = 0; i < r->n_words; i++)
        if (seep_word_is_link(r->words[i]))
            read_table(r, r->words[i]);
    for (size_t i = 0; i < r->n_words; i++) {
        const uint64_t word = r->words[i];
        const bool large = (word & SEEP_WORD_IS_LARGE) != 0;
        const uint64_t rest = word & SEEP_WORD_IS_BLOCK && large ? rest_of(r, word) : 0;
        const struct seep_block block = seep_word_block(word, rest);
        if (word & SEEP_WORD_IS_BLOCK && (rest || !large))
            add(r, page + seep_word_granule(word) * (uint64_t)GRANULE, &block);
    }
}

static void read_region(struct reading *r, uint64_t start, uint64_t at)
{
    if (!r->regions_left)
        return;
    r->regions_left--;
    if (!seep_remote_read(r->remote, at, r->pages, sizeof r->pages))
        return;
    for (uint64_t i = 0; i < SEEP_REGION_PAGES && r->pages_left; i++) {
        if (seep_word_is_empty(r->pages[i].words[0]) && seep_word_is_empty(r->pages[i].words[1]))
            continue;
        r->pages_left--;
        read_page(r, start + (i << SEEP_PAGE_BITS), &r->pages[i]);
    }
}

static void read_blocks(struct reading *r, uint64_t roots)
{
    if (!seep_remote_read(r->remote, roots, r->roots, sizeof r->roots))
        return;
    for (uint64_t root = 0; root < SEEP_N_ROOTS && r->pages_left; root++) {
        if (!r->roots[root] ||
            !seep_remote_read(r->remote, r->roots[root], r->regions, sizeof r->regions))
            continue;
        for (uint64_t i = 0; i < SEEP_ROOT_REGIONS && r->pages_left; i++)
            if (r->regions[i])
                read_region(r, root << SEEP_ROOT_BITS | i << SEEP_REGION_BITS, r->regions[i]);
    }
}

static int read_own(struct reading *r, const struct seep_live_place *place)
{
    struct seep_live_set *set = r->set;
    uint32_t n = 0;

    if (!seep_remote_read(r->remote, place->n_own, &n, sizeof n) || n > MAX_OWN)
        n = 0;
    set->own = calloc((size_t)n + 1, sizeof *set->own);
    if (!set->own)
        return -SEEP_ENOMEM;
    if (n && !seep_remote_read(r->remote, place->own, set->own, n * sizeof *set->own))
        n = 0;
    set->own[n++] = (struct seep_snapshot_range){place->data, place->data_end};
    for (uint32_t i = 0; i < n; i++)
        if (set->own[i].start > 1 && set->own[i].start < set->own[i].end)
            set->own[set->n_own++] = set->own[i];
    return 0;
}

static int by_start(const void *a, const void *b)
{
    const struct seep_snapshot_block *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

int seep_live_set_read(struct seep_live_set *set, uint64_t live, struct seep_remote *remote)
{
    struct seep_live_place place;
    struct reading *r;

    *set = (struct seep_live_set){0};
    if (!live || !seep_remote_read(remote, live, &place, sizeof place) ||
        place.magic != SEEP_LIVE_MAGIC || place.version != SEEP_LIVE_VERSION)
        return 0;
    r = calloc(1, sizeof *r);
    if (!r)
        return -SEEP_ENOMEM;
    r->set = set;
    r->remote = remote;
    r->pages_left = MAX_PAGES;
    r->regions_left = MAX_REGIONS;
    read_blocks(r, place.roots);
    int rc = r->no_memory ? -SEEP_ENOMEM : read_own(r, &place);
    free(r);
    if (set->n)
        qsort(set->blocks, set->n, sizeof *set->blocks, by_start);
    return rc;
}

void seep_live_set_fini(struct seep_live_set *set)
{
    free(set->blocks);
    free(set->own);
    *set = (struct seep_live_set){0};
}

size_t seep_live_set_find(const struct seep_live_set *set, uint64_t address)
{
    return seep_block_find(set->blocks, set->n, address);
}
