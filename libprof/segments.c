#include "libprof/segments.h"

#include "libprof/kinds.h"
#include "libprof/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool seep_tensor_space(const char *device_space, char tensor_space[SEEP_TENSOR_SPACE])
{
    static const char device[] = "device:";

    if (strncmp(device_space, device, sizeof device - 1) != 0)
        return false;
    snprintf(tensor_space, SEEP_TENSOR_SPACE, "tensor:%.16s", device_space + sizeof device - 1);
    return true;
}

size_t seep_sites_of_space(const struct seep_model *m, const char *name, uint32_t *sites)
{
    size_t n = 0;

    for (uint32_t i = 0; i < m->n_sites; i++) {
        if (strcmp(m->spaces[m->sites[i].space].name, name) == 0)
            sites[n++] = i;
    }
    return n;
}

/* What a frame is to whoever asks for memory in it: the line; in native code the function, since
 * what it announces has lines of its own; of a library, whose names nobody looked up, all of it. */
static uint64_t place_of(const struct seep_model *m, const struct seep_frames *frames,
                         struct seep_symbols *symbols, uint32_t frame)
{
    const struct seep_dict_frame *f = &m->dict.frames[frame];

    if (f->kind != SEEP_FRAME_NATIVE || f->pseudo)
        return seep_hash_two(frames->line_of[frame], f->kind);
    const struct seep_symbol *s = seep_kinds_symbol(frames->kinds, symbols, frame);
    const char *name = s && s->function ? s->function : "";
    return seep_hash_two(seep_hash_bytes(name, strlen(name)), f->owner);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *p = a, *q = b;

    return (*p > *q) - (*p < *q);
}

int seep_segments_mark(const struct seep_model *m, const struct seep_frames *frames,
                       struct seep_symbols *symbols, const uint32_t *tensors, size_t n,
                       bool *marked)
{
    const struct seep_dictionary *d = &m->dict;
    uint64_t *places = malloc((n + 1) * sizeof *places);
    bool *asked = calloc(d->n_frames, sizeof *asked);
    int rc = places && asked ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0; i < n && !rc; i++)
        places[i] = place_of(m, frames, symbols, frames->look_at[m->sites[tensors[i]].stack]);
    if (!rc)
        qsort(places, n, sizeof *places, by_value);
    for (uint32_t i = 1; i < d->n_frames && !rc; i++) {
        uint64_t place = place_of(m, frames, symbols, i);
        asked[i] = bsearch(&place, places, n, sizeof *places, by_value) != NULL;
    }
    /* Parents come before what they call. */
    for (size_t i = 1; i < d->n_stacks && !rc; i++)
        marked[i] = marked[d->stacks[i].parent] || asked[d->stacks[i].frame];
    free(places);
    free(asked);
    return rc;
}

/* ---- findings -------------------------------------------------------------------------------- */

/* The tensors' finding that holds most of what those no milder than `device` hold; NULL where all
 * of them hold less than half of what it does. */
static struct seep_finding *find_tensors(const struct seep_model *m, struct seep_findings *f,
                                         const struct seep_finding *device, const char *space)
{
    struct seep_finding *most = NULL;
    uint64_t sum = 0;

    for (size_t i = 0; i < f->n; i++) {
        struct seep_finding *one = &f->list[i];
        if (one->severity > device->severity || strcmp(m->spaces[one->space].name, space) != 0)
            continue;
        sum = seep_sum(sum, one->live_bytes);
        if (!most || one->live_bytes > most->live_bytes)
            most = one;
    }
    return most && sum >= device->live_bytes / 2 ? most : NULL;
}

static int is_of_segments(const struct seep_model *m, const struct seep_frames *frames,
                          struct seep_symbols *symbols, const struct seep_finding *device,
                          const char *space, bool *result)
{
    uint32_t *tensors = malloc((m->n_sites + 1) * sizeof *tensors);
    bool *marked = calloc(m->dict.n_stacks, sizeof *marked);
    int rc = tensors && marked ? 0 : -SEEP_ENOMEM;

    if (!rc)
        rc = seep_segments_mark(m, frames, symbols, tensors, seep_sites_of_space(m, space, tensors),
                                marked);
    *result = !rc;
    for (size_t i = 0; i < device->n_sites && *result; i++)
        *result = marked[m->sites[device->sites[i]].stack];
    free(tensors);
    free(marked);
    return rc;
}

static bool may_be_of_segments(const struct seep_finding *f)
{
    return f->live_bytes && f->pattern != SEEP_PATTERN_ALLOCATOR_CACHE &&
           f->pattern != SEEP_PATTERN_WRONG_DEVICE;
}

int seep_segments_join(const struct seep_model *m, const struct seep_frames *frames,
                       struct seep_symbols *symbols, struct seep_findings *f)
{
    char space[SEEP_TENSOR_SPACE], size[SEEP_SIZE_TEXT];
    int rc = 0;

    for (size_t i = 0; i < f->n && !rc;) {
        struct seep_finding *one = &f->list[i], *tensors = NULL;
        const char *device = m->spaces[one->space].name;
        bool drop = false;
        if (may_be_of_segments(one) && seep_tensor_space(device, space))
            tensors = find_tensors(m, f, one, space);
        if (tensors)
            rc = is_of_segments(m, frames, symbols, one, space, &drop);
        if (!drop) {
            i++;
            continue;
        }
        seep_finding_note(tensors, "an allocator holds %s of %s for what is kept",
                          seep_text_size((double)one->live_bytes, size), device);
        seep_finding_fini(one);
        memmove(one, one + 1, (--f->n - i) * sizeof *one);
    }
    return rc;
}
