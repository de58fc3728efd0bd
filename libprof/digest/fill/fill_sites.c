/* The sites that the report lists, by process; all others are the rest of their space. */
#include "libprof/digest/fill/fill_parts.h"

#include "libprof/digest/digest_names.h"
#include "libprof/words/parts.h"

#include <stdlib.h>
#include <string.h>

/* A part of a site in a thread of a process. */
struct part {
    uint32_t process, slot;
};

static int by_process(const void *a, const void *b)
{
    const struct part *p = a, *q = b;

    if (p->process != q->process)
        return p->process < q->process ? -1 : 1;
    return (p->slot > q->slot) - (p->slot < q->slot);
}

/* The index of a site of the report; SEEP_HASH_NONE if there is none of that name. */
static uint32_t number_of(const struct seep_model *m, const json_t *site)
{
    const char *id = json_string_value(json_object_get(site, "id"));
    const unsigned long number = id && *id == 'S' ? strtoul(id + 1, NULL, 10) : 0;

    return number && number <= m->n_sites ? (uint32_t)number - 1 : SEEP_HASH_NONE;
}

static uint32_t stack_of(struct seep_digest_fill *f, const json_t *site, uint8_t part)
{
    const json_t *list = json_object_get(site, "stack"), *look = json_object_get(site, "look_at");
    const size_t n =
        json_array_size(list) < SEEP_DIGEST_DEPTH ? json_array_size(list) : SEEP_DIGEST_DEPTH;
    struct seep_digest_stack stack = {.part = part, .look_at = -1, .n = (uint16_t)n};
    uint32_t frames[SEEP_DIGEST_DEPTH];

    for (size_t i = 0; i < n; i++)
        frames[i] = seep_digest_fill_frame(f, json_array_get(list, i));
    if (json_is_integer(look) && (size_t)json_integer_value(look) < n)
        stack.look_at = (int16_t)json_integer_value(look);
    return seep_digest_stack(f->d, &stack, frames);
}

/* At least what it held at the end of any step, and what any one thread of it ever held. */
static uint64_t peak_of(const struct seep_digest_fill *f, const uint32_t *slots, size_t n)
{
    uint64_t peak = (uint64_t)seep_level_highest(&f->level).bytes;

    for (size_t i = 0; i < n; i++) {
        const uint64_t own = f->code->model->slots[slots[i]].peak_bytes;
        peak = own > peak ? own : peak;
    }
    return peak;
}

static void add_process(struct seep_digest_fill *f, struct seep_digest_key key, uint32_t process,
                        const uint32_t *slots, size_t n)
{
    uint64_t course[SEEP_DIGEST_COURSE];

    if (seep_level_sum_slots(f->code->model, slots, n, &f->level)) {
        f->d->failed = true;
        return;
    }
    const uint64_t peak = peak_of(f, slots, n);
    seep_digest_level_course(f, &f->level, course);
    key.bucket = key.kind == SEEP_DIGEST_SITES ? seep_digest_bucket(peak) : 0;
    if (peak)
        seep_digest_fill_row(f, key, process, peak, course, NULL);
}

/* Adds each process's part of a site to the row of the key. */
static void add_site(struct seep_digest_fill *f, uint32_t number, struct seep_digest_key key)
{
    const struct seep_model *m = f->code->model;
    size_t n = 0, capacity = 0, begin = 0;
    struct part *parts = NULL;
    uint32_t *slots = NULL;

    for (uint32_t k = m->sites[number].slots; k && !f->d->failed; k = m->slots[k - 1].next) {
        if (seep_grow(&parts, &capacity, n + 1, sizeof *parts))
            f->d->failed = true;
        else
            parts[n++] = (struct part){m->slots[k - 1].process, k - 1};
    }
    slots = calloc(n + 1, sizeof *slots);
    f->d->failed |= !slots;
    if (n && !f->d->failed)
        qsort(parts, n, sizeof *parts, by_process);
    for (size_t i = 0; i < n && !f->d->failed; i++) {
        slots[i - begin] = parts[i].slot;
        if (i + 1 < n && parts[i + 1].process == parts[begin].process)
            continue;
        add_process(f, key, parts[begin].process, slots, i + 1 - begin);
        begin = i + 1;
    }
    free(parts);
    free(slots);
}

static struct seep_digest_key key_of(struct seep_digest_fill *f, enum seep_digest_kind kind,
                                     uint32_t number)
{
    const struct seep_model *m = f->code->model;

    return (struct seep_digest_key){
        .kind = (uint8_t)kind,
        .subject = seep_digest_text(f->d, m->spaces[m->sites[number].space].name.text)};
}

/* Sites that the report does not list are too many to be added up step by step. */
static void add_rest(struct seep_digest_fill *f, const bool *listed)
{
    const struct seep_model *m = f->code->model;

    for (uint32_t i = 0; i < m->n_sites && !f->d->failed; i++) {
        if (listed[i])
            continue;
        const struct seep_digest_key key = key_of(f, SEEP_DIGEST_REST, i);
        for (uint32_t k = m->sites[i].slots; k && !f->d->failed; k = m->slots[k - 1].next)
            if (m->slots[k - 1].peak_bytes)
                seep_digest_fill_row(f, key, m->slots[k - 1].process, m->slots[k - 1].peak_bytes,
                                     NULL, NULL);
    }
}

void seep_digest_fill_collectives(struct seep_digest_fill *f)
{
    const struct seep_model *m = f->code->model;

    for (size_t i = 0; i < m->n_sites; i++) {
        if (f->code->lines->part[m->sites[i].stack] != SEEP_PART_COLLECTIVE)
            continue;
        for (uint32_t k = m->sites[i].slots; k; k = m->slots[k - 1].next) {
            uint64_t *sum = &f->collective[m->slots[k - 1].process];
            *sum = seep_digest_sum(*sum, m->slots[k - 1].peak_bytes);
        }
    }
}

void seep_digest_fill_sites(struct seep_digest_fill *f)
{
    const struct seep_model *m = f->code->model;
    bool *listed = calloc(m->n_sites + 1, sizeof *listed);
    const json_t *site;
    size_t i;

    f->d->failed |= !listed;
    json_array_foreach (json_object_get(f->report, "sites"), i, site) {
        const uint32_t number = number_of(m, site);
        if (number == SEEP_HASH_NONE || f->d->failed)
            continue;
        struct seep_digest_key key = key_of(f, SEEP_DIGEST_SITES, number);
        key.about = stack_of(f, site, f->code->lines->part[m->sites[number].stack]);
        listed[number] = true;
        if (!f->d->failed)
            add_site(f, number, key);
    }
    if (!f->d->failed)
        add_rest(f, listed);
    free(listed);
}
