/* A dict of a snapshot is known by its keys. What it says is kept in a record, whose number then
 * stands for it; a list of records is a range of numbers. */
#include "libprof/torch/torch_records.h"

#include <stdlib.h>
#include <string.h>

enum key {
#define SEEP_TORCH_KEY(id, text)          KEY_##id,
#define SEEP_TORCH_ACTION(id, text, what) KEY_##id,
#include "libprof/torch/torch_keys.def"
#undef SEEP_TORCH_KEY
#undef SEEP_TORCH_ACTION
    N_KEYS
};

enum kind {
    FRAME = SEEP_PICKLE_OWN,
    STACK,
    EVENT,
    BLOCK, /* of a history, too: what a block was, before 2.1 */
    SEGMENT,
    ANNOTATION,
    POOL_ID, /* its two numbers: in pools, of no stream */
    N_KINDS
};

_Static_assert(N_KINDS <= (int)SEEP_PICKLE_MOST_KINDS, "a place in the memo");
_Static_assert(N_KEYS <= 64, "a set of keys is a word");

enum { MAX_FRAMES = 1024, MAX_RECORDS = 1 << 27 };

/* No device has more, and sums of them stay exact. */
static const int64_t MAX_BYTES = INT64_C(1) << 50;

/* ---- texts, frames, stacks --------------------------------------------------------------- */

static int add_text(void *context, const char *bytes, size_t n, uint32_t *number)
{
    struct seep_torch_records *r = context;
    const uint64_t hash = seep_hash_bytes(bytes, n);
    uint32_t at = seep_hash_begin(&r->text_index, hash), id;

    while ((id = seep_hash_next(&r->text_index, hash, &at)) != SEEP_HASH_NONE) {
        if (r->texts[id].n == n && memcmp(r->bytes + r->texts[id].at, bytes, n) == 0) {
            *number = id;
            return 0;
        }
    }
    if (r->n_bytes + n >= UINT32_MAX || r->n_texts >= MAX_RECORDS ||
        seep_grow(&r->bytes, &r->bytes_capacity, r->n_bytes + n + 1, 1) ||
        seep_grow(&r->texts, &r->texts_capacity, r->n_texts + 1, sizeof *r->texts) ||
        seep_hash_add(&r->text_index, hash, (uint32_t)r->n_texts))
        return -SEEP_ENOMEM;
    memcpy(r->bytes + r->n_bytes, bytes, n);
    r->bytes[r->n_bytes + n] = 0;
    r->texts[r->n_texts] = (struct seep_torch_text){(uint32_t)r->n_bytes, (uint32_t)n};
    r->n_bytes += n + 1;
    *number = (uint32_t)r->n_texts++;
    return 0;
}

static int add_frame(struct seep_torch_records *r, const struct seep_torch_frame *frame,
                     uint32_t *number)
{
    const uint64_t hash = seep_hash_bytes(frame, sizeof *frame);
    uint32_t at = seep_hash_begin(&r->frame_index, hash), id;

    while ((id = seep_hash_next(&r->frame_index, hash, &at)) != SEEP_HASH_NONE) {
        if (memcmp(&r->frames[id], frame, sizeof *frame) == 0) {
            *number = id;
            return 0;
        }
    }
    if (r->n_frames >= MAX_RECORDS ||
        seep_grow(&r->frames, &r->frames_capacity, r->n_frames + 1, sizeof *r->frames) ||
        seep_hash_add(&r->frame_index, hash, (uint32_t)r->n_frames))
        return -SEEP_ENOMEM;
    r->frames[r->n_frames] = *frame;
    *number = (uint32_t)r->n_frames++;
    return 0;
}

int seep_torch_stack(struct seep_torch_records *r, const uint32_t *frames, size_t n,
                     uint32_t *number)
{
    const uint64_t hash = seep_hash_bytes(frames, n * sizeof *frames);
    uint32_t at = seep_hash_begin(&r->stack_index, hash), id;

    while ((id = seep_hash_next(&r->stack_index, hash, &at)) != SEEP_HASH_NONE) {
        const struct seep_torch_stack *its = &r->stacks[id];
        if (its->n == n && memcmp(r->frame_ids + its->first, frames, n * sizeof *frames) == 0) {
            *number = id;
            return 0;
        }
    }
    if (r->n_frame_ids + n > UINT32_MAX || r->n_stacks >= MAX_RECORDS ||
        seep_grow(&r->frame_ids, &r->frame_ids_capacity, r->n_frame_ids + n,
                  sizeof *r->frame_ids) ||
        seep_grow(&r->stacks, &r->stacks_capacity, r->n_stacks + 1, sizeof *r->stacks) ||
        seep_hash_add(&r->stack_index, hash, (uint32_t)r->n_stacks))
        return -SEEP_ENOMEM;
    if (n)
        memcpy(r->frame_ids + r->n_frame_ids, frames, n * sizeof *frames);
    r->stacks[r->n_stacks] = (struct seep_torch_stack){(uint32_t)r->n_frame_ids, (uint32_t)n};
    r->n_frame_ids += n;
    *number = (uint32_t)r->n_stacks++;
    return 0;
}

/* ---- dicts ------------------------------------------------------------------------------- */

/* The items of a dict whose keys have a meaning. */
struct fields {
    uint64_t has;
    const struct seep_pickle_value *values[N_KEYS];
};

static void find_fields(struct fields *f, const struct seep_pickle_value *items, size_t n)
{
    f->has = 0;
    for (size_t i = 0; i + 1 < n; i += 2) {
        if (items[i].kind != SEEP_PICKLE_TEXT || items[i].from >= N_KEYS)
            continue;
        f->has |= UINT64_C(1) << items[i].from;
        f->values[items[i].from] = &items[i + 1];
    }
}

static bool has(const struct fields *f, enum key key)
{
    return f->has >> key & 1;
}

/* NULL: it is not there, or is something else. */
static const struct seep_pickle_value *field(const struct fields *f, enum key key, int kind)
{
    return has(f, key) && f->values[key]->kind == kind ? f->values[key] : NULL;
}

static int64_t number_of(const struct fields *f, enum key key)
{
    const struct seep_pickle_value *v = field(f, key, SEEP_PICKLE_INT);

    return v ? v->number : 0;
}

static uint64_t bytes_of(const struct fields *f, enum key key)
{
    const int64_t bytes = number_of(f, key);

    return bytes > 0 && bytes <= MAX_BYTES ? (uint64_t)bytes : 0;
}

/* A number that is not a key's or an action's: none. */
static uint32_t text_of(const struct fields *f, enum key key)
{
    const struct seep_pickle_value *v = field(f, key, SEEP_PICKLE_TEXT);

    return v ? v->from : N_KEYS;
}

static uint32_t stack_of(const struct fields *f)
{
    const struct seep_pickle_value *v = field(f, KEY_FRAMES, STACK);

    return v ? v->from : 0;
}

/* The pool of a stream. There are few; what is beyond the last that has a number is of the first.
 */
static int add_pool(struct seep_torch_records *r, const struct seep_torch_pool *pool,
                    uint16_t *number)
{
    const uint64_t hash = seep_hash_bytes(pool, sizeof *pool);
    uint32_t at = seep_hash_begin(&r->pool_index, hash), id;

    *number = 0;
    while ((id = seep_hash_next(&r->pool_index, hash, &at)) != SEEP_HASH_NONE) {
        if (memcmp(&r->pools[id], pool, sizeof *pool) == 0) {
            *number = (uint16_t)id;
            return 0;
        }
    }
    if (r->n_pools > UINT16_MAX)
        return 0;
    if (seep_grow(&r->pools, &r->pools_capacity, r->n_pools + 1, sizeof *r->pools) ||
        seep_hash_add(&r->pool_index, hash, (uint32_t)r->n_pools))
        return -SEEP_ENOMEM;
    r->pools[r->n_pools] = *pool;
    *number = (uint16_t)r->n_pools++;
    return 0;
}

static int pool_of(struct seep_torch_records *r, const struct fields *f, enum key key,
                   uint16_t *number)
{
    const struct seep_pickle_value *id = field(f, key, POOL_ID);
    struct seep_torch_pool pool = {.stream = number_of(f, KEY_STREAM)};

    if (id)
        memcpy(pool.id, r->pools[id->from].id, sizeof pool.id);
    return add_pool(r, &pool, number);
}

static void become(struct seep_pickle_value *value, enum kind kind, size_t number)
{
    value->kind = (uint8_t)kind;
    value->from = (uint32_t)number;
    value->to = (uint32_t)number + 1;
}

static int take_frame(struct seep_torch_records *r, struct seep_pickle_value *dict,
                      const struct fields *f)
{
    const int64_t line = number_of(f, KEY_LINE);
    const struct seep_torch_frame frame = {
        .file = text_of(f, KEY_FILENAME),
        .function = text_of(f, KEY_NAME),
        .line = line > 0 && line <= INT32_MAX ? (uint32_t)line : 0,
    };
    uint32_t number;
    const int rc = add_frame(r, &frame, &number);

    if (!rc)
        become(dict, FRAME, number);
    return rc;
}

static enum seep_torch_action action_of(uint32_t text)
{
    switch (text) {
#define SEEP_TORCH_KEY(id, text)
#define SEEP_TORCH_ACTION(id, text, what)                                                          \
    case KEY_##id:                                                                                 \
        return SEEP_TORCH_##what;
#include "libprof/torch/torch_keys.def"
#undef SEEP_TORCH_KEY
#undef SEEP_TORCH_ACTION
    default:
        return SEEP_TORCH_IGNORED;
    }
}

static int take_event(struct seep_torch_records *r, struct seep_pickle_value *dict,
                      const struct fields *f)
{
    const enum seep_torch_action action = action_of(text_of(f, KEY_ACTION));
    const int64_t time_us = number_of(f, KEY_TIME_US);
    uint16_t pool;

    if (pool_of(r, f, KEY_POOL_ID, &pool) || r->n_events >= MAX_RECORDS ||
        seep_grow(&r->events, &r->events_capacity, r->n_events + 1, sizeof *r->events))
        return -SEEP_ENOMEM;
    r->events[r->n_events] = (struct seep_torch_event){
        .address = (uint64_t)number_of(f, has(f, KEY_ADDR) ? KEY_ADDR : KEY_DEVICE_FREE),
        .bytes = bytes_of(f, KEY_SIZE),
        .time_us = time_us > 0 && time_us < INT64_MAX / 4000 ? time_us : 0,
        .stack = stack_of(f),
        .pool = pool,
        .action = (uint8_t)action,
        .device = SEEP_TORCH_NO_DEVICE,
    };
    become(dict, EVENT, r->n_events++);
    return 0;
}

static int add_block(struct seep_torch_records *r, struct seep_pickle_value *dict,
                     const struct seep_torch_block *block)
{
    if (r->n_blocks >= MAX_RECORDS ||
        seep_grow(&r->blocks, &r->blocks_capacity, r->n_blocks + 1, sizeof *r->blocks))
        return -SEEP_ENOMEM;
    r->blocks[r->n_blocks] = *block;
    become(dict, BLOCK, r->n_blocks++);
    return 0;
}

/* Before 2.1 a block has a history instead of frames: its newest part is what it holds. */
static int take_block(struct seep_torch_records *r, struct seep_pickle_value *dict,
                      const struct fields *f)
{
    const uint32_t state = text_of(f, KEY_STATE);
    const struct seep_pickle_value *list = field(f, KEY_HISTORY, SEEP_PICKLE_LIST);
    struct seep_torch_block block = {
        .address = (uint64_t)number_of(f, KEY_ADDRESS),
        .bytes = bytes_of(f, KEY_REQUESTED_SIZE),
        .size = bytes_of(f, KEY_SIZE),
        .stack = stack_of(f),
        .is_live = state == KEY_ACTIVE_ALLOCATED || state == KEY_ACTIVE_PENDING_FREE,
    };

    if (list && list->of == BLOCK && list->from < list->to && list->to <= r->n_blocks) {
        block.bytes = r->blocks[list->from].bytes;
        block.stack = r->blocks[list->from].stack;
        r->n_blocks = list->from; /* the history's own are of no more use */
    }
    if (!block.bytes)
        block.bytes = block.size;
    return add_block(r, dict, &block);
}

static int take_history(struct seep_torch_records *r, struct seep_pickle_value *dict,
                        const struct fields *f)
{
    return add_block(
        r, dict,
        &(struct seep_torch_block){.bytes = bytes_of(f, KEY_REAL_SIZE), .stack = stack_of(f)});
}

/* Before 2.1 blocks have no addresses; they lie one after the other. */
static void place_blocks(struct seep_torch_records *r, const struct seep_torch_segment *segment)
{
    uint64_t at = segment->address;

    for (uint32_t i = 0; i < segment->n_blocks; i++) {
        struct seep_torch_block *block = &r->blocks[segment->first_block + i];
        if (!block->address)
            block->address = at;
        at += block->size;
    }
}

static uint8_t device_of(int64_t number)
{
    return number >= 0 && number < SEEP_TORCH_DEVICES ? (uint8_t)number : SEEP_TORCH_NO_DEVICE;
}

static int take_segment(struct seep_torch_records *r, struct seep_pickle_value *dict,
                        const struct fields *f)
{
    const struct seep_pickle_value *blocks = field(f, KEY_BLOCKS, SEEP_PICKLE_LIST);
    struct seep_torch_segment segment = {
        .address = (uint64_t)number_of(f, KEY_ADDRESS),
        .bytes = bytes_of(f, KEY_TOTAL_SIZE),
        .stack = stack_of(f),
        .device = device_of(number_of(f, KEY_DEVICE)),
        .is_expandable = number_of(f, KEY_IS_EXPANDABLE) != 0,
        .is_small = text_of(f, KEY_SEGMENT_TYPE) == KEY_SMALL,
    };

    if (blocks && blocks->of == BLOCK && blocks->from <= blocks->to && blocks->to <= r->n_blocks) {
        segment.first_block = blocks->from;
        segment.n_blocks = blocks->to - blocks->from;
    }
    if (pool_of(r, f, KEY_SEGMENT_POOL_ID, &segment.pool) || r->n_segments >= MAX_RECORDS ||
        seep_grow(&r->segments, &r->segments_capacity, r->n_segments + 1, sizeof *r->segments))
        return -SEEP_ENOMEM;
    place_blocks(r, &segment);
    r->segments[r->n_segments] = segment;
    become(dict, SEGMENT, r->n_segments++);
    return 0;
}

static int take_annotation(struct seep_torch_records *r, struct seep_pickle_value *dict,
                           const struct fields *f)
{
    const struct seep_torch_annotation annotation = {
        .time_us = number_of(f, KEY_TIME_US),
        .name = text_of(f, KEY_NAME),
        .is_end = text_of(f, KEY_STAGE) == KEY_END,
    };

    if (r->n_annotations >= MAX_RECORDS || seep_grow(&r->annotations, &r->annotations_capacity,
                                                     r->n_annotations + 1, sizeof *r->annotations))
        return -SEEP_ENOMEM;
    r->annotations[r->n_annotations] = annotation;
    become(dict, ANNOTATION, r->n_annotations++);
    return 0;
}

static double real_of(const struct fields *f, enum key key)
{
    const struct seep_pickle_value *v = field(f, key, SEEP_PICKLE_FLOAT);

    return v && v->real > 0 && v->real < 1 ? v->real : 0;
}

/* By sizes: the only dict of a snapshot whose keys are numbers as texts, from "1" (MiB) on. */
static void take_divisions(struct seep_torch_records *r, const struct seep_pickle_value *items,
                           size_t n)
{
    for (size_t i = 0; i + 1 < n; i += 2) {
        if (items[i].kind != SEEP_PICKLE_TEXT || items[i + 1].kind != SEEP_PICKLE_INT)
            return;
        const char *key = seep_torch_text(r, items[i].from);
        const long long size = atoll(key), of = items[i + 1].number;
        for (int k = 0; k < SEEP_ALLOCATOR_SIZES && of > 1 && of <= 64; k++)
            if (size == 1LL << k)
                r->rules.divisions[k] = (uint32_t)of;
    }
}

/* The host's lists are made like a device's. */
static void take_whole(struct seep_torch_records *r, const struct fields *f)
{
    const struct seep_pickle_value *traces = field(f, KEY_HOST_TRACES, SEEP_PICKLE_LIST),
                                   *segments = field(f, KEY_HOST_SEGMENTS, SEEP_PICKLE_LIST);

    if (traces && traces->of == EVENT)
        for (size_t i = traces->from; i < traces->to && i < r->n_events; i++)
            r->events[i].device = SEEP_TORCH_HOST;
    if (segments && segments->of == SEGMENT)
        for (size_t i = segments->from; i < segments->to && i < r->n_segments; i++)
            r->segments[i].device = SEEP_TORCH_HOST;
    r->is_snapshot |= has(f, KEY_SEGMENTS);
    if (number_of(f, KEY_EXPANDABLE_SEGMENTS) > 0)
        r->rules.expandable = true;
    if (has(f, KEY_GARBAGE_COLLECTION))
        r->rules.collect_above = real_of(f, KEY_GARBAGE_COLLECTION);
    if (has(f, KEY_MAX_SPLIT_SIZE))
        r->rules.max_split_bytes = bytes_of(f, KEY_MAX_SPLIT_SIZE);
}

static int take_dict(void *context, struct seep_pickle_value *dict,
                     const struct seep_pickle_value *items, size_t n)
{
    struct seep_torch_records *r = context;
    struct fields f;

    if (dict->kind != SEEP_PICKLE_DICT)
        return 0;
    find_fields(&f, items, n);
    if (has(&f, KEY_ACTION))
        return take_event(r, dict, &f);
    if (has(&f, KEY_FILENAME))
        return take_frame(r, dict, &f);
    if (has(&f, KEY_BLOCKS))
        return take_segment(r, dict, &f);
    if (has(&f, KEY_STATE))
        return take_block(r, dict, &f);
    if (has(&f, KEY_REAL_SIZE))
        return take_history(r, dict, &f);
    if (has(&f, KEY_STAGE))
        return take_annotation(r, dict, &f);
    if (f.has)
        take_whole(r, &f);
    else
        take_divisions(r, items, n);
    return 0;
}

static int take_tuple(void *context, struct seep_pickle_value *tuple,
                      const struct seep_pickle_value *items, size_t n)
{
    struct seep_torch_records *r = context;
    uint16_t number;

    if (n != 2 || items[0].kind != SEEP_PICKLE_INT || items[1].kind != SEEP_PICKLE_INT)
        return 0;
    const struct seep_torch_pool pool = {0, {items[0].number, items[1].number}};
    const int rc = add_pool(r, &pool, &number);
    if (!rc)
        become(tuple, POOL_ID, number);
    return rc;
}

/* ---- lists ------------------------------------------------------------------------------- */

/* Frames may come in several runs. */
static int take_frames(struct seep_torch_records *r, struct seep_pickle_value *list,
                       const struct seep_pickle_value *items, size_t n)
{
    uint32_t frames[MAX_FRAMES], number = 0;
    size_t k = 0;

    if (list->kind == STACK) {
        k = r->stacks[list->from].n;
        memcpy(frames, r->frame_ids + r->stacks[list->from].first, k * sizeof *frames);
    }
    for (size_t i = 0; i < n && k < MAX_FRAMES; i++)
        if (items[i].kind == FRAME)
            frames[k++] = items[i].from;
    const int rc = seep_torch_stack(r, frames, k, &number);
    if (!rc)
        become(list, STACK, number);
    return rc;
}

/* Makes a list that goes on to `to` of one from `from`, or begins it. */
static void extend(struct seep_pickle_value *list, uint8_t of, uint32_t from, uint32_t to)
{
    if (!list->of) {
        list->of = of;
        list->from = from;
        list->to = to;
    } else if (list->of == of && to > list->to) {
        list->to = to;
    }
}

/* A list of lists of events has one for each device. */
static void take_lists(struct seep_torch_records *r, struct seep_pickle_value *list,
                       const struct seep_pickle_value *items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct seep_pickle_value *its = &items[i];
        const uint8_t device = device_of(list->depth);
        list->depth = (uint16_t)(list->depth + (list->depth < UINT16_MAX));
        if (its->kind != SEEP_PICKLE_LIST || !its->of)
            continue;
        for (size_t k = its->from; its->of == EVENT && k < its->to && k < r->n_events; k++)
            r->events[k].device = device;
        extend(list, its->of, its->from, its->to);
    }
}

/* An empty list of frames is a stack without frames, and is remembered as one. */
static int take_list(void *context, struct seep_pickle_value *list,
                     const struct seep_pickle_value *items, size_t n)
{
    struct seep_torch_records *r = context;

    if (!n)
        return 0;
    if (items[0].kind == FRAME || list->kind == STACK)
        return take_frames(r, list, items, n);
    if (list->kind != SEEP_PICKLE_LIST)
        return 0;
    if (items[0].kind == SEEP_PICKLE_LIST)
        take_lists(r, list, items, n);
    else if (items[0].kind >= EVENT && items[n - 1].kind == items[0].kind)
        extend(list, items[0].kind, items[0].from, items[n - 1].to);
    return 0;
}

/* ---- all of it --------------------------------------------------------------------------- */

static int add_keys(struct seep_torch_records *r)
{
    static const char *const keys[] = {
#define SEEP_TORCH_KEY(id, text)          text,
#define SEEP_TORCH_ACTION(id, text, what) text,
#include "libprof/torch/torch_keys.def"
#undef SEEP_TORCH_KEY
#undef SEEP_TORCH_ACTION
        "", /* text_of() of what is none */
    };
    uint32_t number;
    int rc = 0;

    for (size_t i = 0; i < sizeof keys / sizeof *keys && !rc; i++)
        rc = add_text(r, keys[i], strlen(keys[i]), &number);
    return rc ? rc : seep_torch_stack(r, &number, 0, &number);
}

/* Whatever a segment says, its blocks are there. */
static void check_segments(struct seep_torch_records *r)
{
    for (size_t i = 0; i < r->n_segments; i++) {
        struct seep_torch_segment *s = &r->segments[i];
        if (s->first_block > r->n_blocks || s->n_blocks > r->n_blocks - s->first_block)
            s->n_blocks = 0;
    }
}

static int read_records(struct seep_torch_records *r, const struct seep_pickle_source *source,
                        struct seep_error *err)
{
    const struct seep_pickle_maker maker = {r, add_text, take_dict, take_list, take_tuple};
    struct seep_pickle_value whole = {0};
    int rc = add_keys(r);

    if (!rc)
        rc = seep_pickle_read(source, &maker, &r->is_cut, &whole, err);
    check_segments(r);
    if (!rc && !r->n_segments && !r->n_events && r->is_snapshot)
        return seep_error_set(
            err, SEEP_ENODATA, "", 0,
            "an empty memory snapshot: the process had nothing on a GPU, or did not "
            "call torch.cuda.memory._record_memory_history()");
    if (!rc && !r->n_segments && !r->n_events)
        rc =
            seep_error_set(err, SEEP_EFORMAT, "", 0, "a pickle, but not PyTorch's memory snapshot");
    return rc;
}

int seep_torch_records_read(struct seep_torch_records *r, const struct seep_pickle_source *source,
                            struct seep_error *err)
{
    memset(r, 0, sizeof *r);
    const int rc = read_records(r, source, err);

    seep_hash_fini(&r->text_index);
    seep_hash_fini(&r->frame_index);
    seep_hash_fini(&r->pool_index);
    if (rc == -SEEP_ENOMEM)
        seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory for the snapshot: free some");
    return rc;
}

void seep_torch_records_fini(struct seep_torch_records *r)
{
    free(r->bytes);
    free(r->texts);
    free(r->frames);
    free(r->frame_ids);
    free(r->stacks);
    free(r->events);
    free(r->blocks);
    free(r->segments);
    free(r->annotations);
    free(r->pools);
    seep_hash_fini(&r->pool_index);
    seep_hash_fini(&r->text_index);
    seep_hash_fini(&r->frame_index);
    seep_hash_fini(&r->stack_index);
    memset(r, 0, sizeof *r);
}
