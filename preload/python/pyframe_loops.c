#include "preload/python/pyframe_loops.h"

#include <string.h>

#include "preload/objects/loader.h"
#include "preload/python/pyframe_layout.h"

enum { MAX_SLOTS = 6, MAX_TYPES = 256, MAX_ZIPPED = 4, MAX_LOCALS = 24 };

/* The kind of an object on a frame's stack, by its type's name. */
enum kind {
    KIND_OTHER = 1,
    KIND_WAY_OUT,   /* a with statement's bound __exit__ */
    KIND_COUNTS,    /* an iterator whose first field rises by 1 with each item */
    KIND_SEQUENCE,  /* the same, over its second field */
    KIND_ENUMERATE, /* the same, over an iterator, its second field */
    KIND_RANGE,     /* the same, but from 3.12 on that field rises by the range's step */
    KIND_ZIP,       /* has come as far as each of a tuple of iterators, its second field */
    KIND_MAP,       /* the same, its first field */
    KIND_GENERATOR, /* has come as far as the loop inside it */
    KIND_ITERATOR,
};

static const struct {
    const char *name;
    enum kind kind;
} kinds[] = {
    {"range_iterator", KIND_RANGE},
    {"list_iterator", KIND_SEQUENCE},
    {"tuple_iterator", KIND_SEQUENCE},
    {"enumerate", KIND_ENUMERATE},
    {"itertools.count", KIND_COUNTS},
    {"generator", KIND_GENERATOR},
    {"method", KIND_WAY_OUT},
    {"builtin_function_or_method", KIND_WAY_OUT},
    {"zip", KIND_ZIP},
    {"map", KIND_MAP},
    {"filter", KIND_ITERATOR},
    {"iterator", KIND_ITERATOR},
    {"callable_iterator", KIND_ITERATOR},
    {"longrange_iterator", KIND_ITERATOR},
    {"dict_keyiterator", KIND_ITERATOR},
    {"dict_valueiterator", KIND_ITERATOR},
    {"dict_itemiterator", KIND_ITERATOR},
    {"set_iterator", KIND_ITERATOR},
    {"itertools.islice", KIND_ITERATOR},
    {"itertools.cycle", KIND_ITERATOR},
    {"itertools.chain", KIND_ITERATOR},
    {"itertools.product", KIND_ITERATOR},
};

static uintptr_t read_word(uintptr_t from)
{
    uintptr_t word = 0;
    return from && !(from & 7) && seep_loader_read(from, &word, 8) == 8 ? word : 0;
}

/* ---- types ----------------------------------------------------------------------------------- */

/* Types seen so far, each with its kind in one word, so no thread can take the one for the kind of
 * another type: the address << KIND_BITS | kind. */
enum { KIND_BITS = 4 };
static uintptr_t types[MAX_TYPES];

static enum kind kind_by_name(uintptr_t type)
{
    const uintptr_t at = read_word(type + SEEP_PY_TYPE_NAME);
    char name[32] = {0};

    /* Readable memory may end right after a name. */
    if (!at || !seep_loader_read(at, name, sizeof(name) - 1))
        return KIND_OTHER;
    for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        if (strcmp(name, kinds[i].name) == 0)
            return kinds[i].kind;
    return KIND_OTHER;
}

static enum kind kind_of(uintptr_t type)
{
    const unsigned at = (unsigned)((type >> 4) * UINT32_C(0x9e3779b1) >> 16) % MAX_TYPES;
    const uintptr_t known = __atomic_load_n(&types[at], __ATOMIC_RELAXED);

    if (known && (known ^ type << KIND_BITS) >> KIND_BITS == 0)
        return (enum kind)(known & ((1 << KIND_BITS) - 1));
    const enum kind kind = kind_by_name(type);
    __atomic_store_n(&types[at], type << KIND_BITS | kind, __ATOMIC_RELAXED);
    return kind;
}

/* ---- iterators ------------------------------------------------------------------------------- */

/* The start of the values on a frame's stack; 0 if it cannot be read. */
static uintptr_t stack_of(const struct seep_python_layout *layout, uintptr_t frame, uintptr_t code)
{
    if (layout->chain == SEEP_PYTHON_CHAIN_OBJECTS) /* f_valuestack is behind f_locals */
        return read_word(frame + layout->frame_dict + 8);
    const uintptr_t at = code + layout->code_n_locals;
    const uintptr_t n_locals = read_word(at & ~(uintptr_t)7) >> (at & 4 ? 32 : 0) & UINT32_MAX;
    return frame + layout->frame_locals + 8 * n_locals;
}

/* The same for a frame that the calling thread is in: the frame and its code exist. */
static uintptr_t own_stack_of(const struct seep_python_layout *layout, uintptr_t frame,
                              uintptr_t code)
{
    if (layout->chain == SEEP_PYTHON_CHAIN_OBJECTS)
        return seep_py_word(frame + layout->frame_dict + 8);
    return frame + layout->frame_locals + 8 * (uintptr_t)seep_py_u32(code + layout->code_n_locals);
}

static uintptr_t untagged(const struct seep_python_layout *layout, uintptr_t object)
{
    if (layout->minor < 14)
        return object;
    return (object & 3) == 3 ? 0 : object & ~(uintptr_t)3; /* a small integer is no object */
}

struct object {
    uintptr_t references, type, first, second; /* … the first fields of its own */
};

static bool read_object(uintptr_t at, struct object *object)
{
    return seep_loader_read(at, object, sizeof(*object)) == sizeof(*object);
}

static const struct seep_python_layout *generator_layout(const struct seep_python_layout *layout)
{
    return layout->minor >= 14 ? seep_python_layout_find(seep_python_version) : layout;
}

/* How far an iterator has come; 0 if it does not count by itself. */
static intptr_t place_of(const struct seep_python_layout *layout, const struct object *object)
{
    const intptr_t first = (intptr_t)object->first, step = (intptr_t)object->second;

    switch (kind_of(object->type)) {
    case KIND_COUNTS:
    case KIND_SEQUENCE:
    case KIND_ENUMERATE:
        return first;
    case KIND_RANGE:
        if (layout->minor < 12 || !step)
            return first;
        return step == -1 ? (intptr_t)-object->first : first / step; /* no overflow */
    default:
        return 0;
    }
}

/* An iterator that tells how far another one has come. */
struct counter {
    uintptr_t iterator;
    intptr_t place; /* 0: nothing does */
};

static struct counter counter_at(const struct seep_python_layout *layout, uintptr_t iterator)
{
    struct counter counter = {.iterator = iterator};
    struct object object;

    if (iterator && !(iterator & 7) && read_object(iterator, &object))
        counter.place = place_of(layout, &object);
    return counter;
}

/* The first iterator of the tuple that counts tells for all of them. */
static struct counter counter_in_tuple(const struct seep_python_layout *layout, uintptr_t tuple)
{
    struct counter counter = {0};

    for (unsigned i = 0; i < MAX_ZIPPED && !counter.place; i++) {
        counter = counter_at(layout, read_word(tuple + layout->tuple_items + 8u * i));
        if (!counter.iterator)
            break;
    }
    return counter;
}

/* A generator that loops over another iterator (tqdm) has come as far as that one. */
static struct counter counter_in_generator(const struct seep_python_layout *layout,
                                           uintptr_t generator)
{
    const uintptr_t at = generator + generator_layout(layout)->generator_frame;
    const uintptr_t frame = layout->chain == SEEP_PYTHON_CHAIN_OBJECTS ? read_word(at) : at;
    const uintptr_t code =
        frame ? untagged(layout, read_word(frame + layout->frame_code)) : (uintptr_t)0;
    const uintptr_t stack = code ? stack_of(layout, frame, code) : 0;

    return counter_at(layout, stack && !(stack & 7) ? untagged(layout, read_word(stack)) : 0);
}

static struct counter counter_of(const struct seep_python_layout *layout, uintptr_t iterator,
                                 const struct object *object)
{
    switch (kind_of(object->type)) {
    case KIND_GENERATOR:
        return counter_in_generator(layout, iterator);
    case KIND_ZIP:
        return counter_in_tuple(layout, object->second);
    case KIND_MAP:
        return counter_in_tuple(layout, object->first);
    default:
        return (struct counter){iterator, place_of(layout, object)};
    }
}

/* The last item of a range and its step are the same however far its iterator has come. */
static bool read_range(const struct seep_python_layout *layout, struct seep_pycount *count)
{
    struct {
        uintptr_t references, type, words[4];
    } range = {0};
    const size_t size = layout->minor < 12 ? sizeof(range) : sizeof(range) - sizeof(uintptr_t);

    if (seep_loader_read(count->iterator, &range, size) != size)
        return false;
    const uintptr_t *words = range.words;
    if (layout->minor < 12) { /* how many it gave, start, step, how many there are */
        count->within[0] = words[1] + words[2] * words[3];
        count->within[1] = words[2];
        count->end = (intptr_t)words[3];
    } else { /* the next, step, how many are left */
        count->within[0] = words[0] + words[1] * words[2];
        count->within[1] = words[1];
        count->end = count->place + (intptr_t)words[2];
    }
    return true;
}

static struct seep_pycount count_of(const struct seep_python_layout *layout, uintptr_t iterator)
{
    const struct seep_pycount none = {0};
    struct object object;

    if (!iterator || !read_object(iterator, &object))
        return none;
    struct seep_pycount count = {.iterator = iterator,
                                 .type = object.type,
                                 .within = {object.second},
                                 .place = place_of(layout, &object)};
    switch (kind_of(object.type)) {
    case KIND_RANGE:
        return read_range(layout, &count) ? count : none;
    case KIND_SEQUENCE:
        count.end = (intptr_t)read_word(object.second + SEEP_PY_SIZE);
        return object.second ? count : none;
    case KIND_COUNTS:
    case KIND_ENUMERATE:
        return object.second ? count : none;
    default:
        return none;
    }
}

struct seep_pycount seep_python_count(uintptr_t iterator)
{
    const struct seep_python_layout *layout = seep_python_layout();
    struct seep_pycount count = {0};

    if (!layout)
        return count;
    count = count_of(layout, iterator);
    if (count.iterator && kind_of(count.type) == KIND_ENUMERATE) {
        const struct seep_pycount within = count_of(layout, count.within[0]);
        count.end = within.end ? count.place + (within.end - within.place) : 0;
    }
    return count;
}

static unsigned depth_of_stack(const struct seep_python_layout *layout, uintptr_t code)
{
    /* From 3.11 on it precedes the first line; the table that 3.14 and later carry lacks it. */
    const uint32_t at = layout->minor >= 11 ? layout->code_firstline - 4 : layout->code_stack;
    const uint32_t deepest = seep_py_u32(code + at);

    return deepest < MAX_SLOTS ? deepest : MAX_SLOTS;
}

static bool is_same(const struct seep_pyloop_value *a, const struct seep_pyloop_value *b)
{
    return a->path == b->path && a->position == b->position && a->value == b->value;
}

/* The loops of one frame; the first value that is no iterator belongs to the call in progress. */
static unsigned loops_of(const struct seep_python_layout *layout, uintptr_t frame,
                         const struct seep_pyloop *seen, struct seep_pyloop_memo *memo,
                         struct seep_pyloop *loops, unsigned room)
{
    const uintptr_t stack = own_stack_of(layout, frame, seen->code);
    const unsigned n_values = depth_of_stack(layout, seen->code);
    unsigned n = 0;

    for (unsigned i = 0; i < n_values && n < room; i++) {
        const uintptr_t value = untagged(layout, seep_py_word(stack + 8u * i));
        const struct seep_pyloop_value here = {seen->path + i, seen->position, value};
        struct object object;
        if (is_same(&here, &memo->way_out))
            continue;
        if (!value || (value & 7) || is_same(&here, &memo->end) || !read_object(value, &object))
            break;
        const enum kind kind = kind_of(object.type);
        if (kind == KIND_WAY_OUT) {
            memo->way_out = here;
            continue;
        }
        if (kind == KIND_OTHER) {
            memo->end = here;
            break;
        }
        loops[n] = *seen;
        loops[n].path += n + 1;
        loops[n].iterator = value;
        const struct counter counter = counter_of(layout, value, &object);
        loops[n].counter = counter.place ? counter.iterator : 0;
        loops[n].place = counter.place;
        n++;
    }
    return n;
}

unsigned seep_python_loops(const struct seep_pystack *stack, unsigned n_frames,
                           struct seep_pyloop_memo memo[SEEP_PYLOOP_FRAMES],
                           struct seep_pyloop loops[SEEP_PYLOOPS])
{
    const struct seep_python_layout *layout = seep_python_layout();
    unsigned n = 0;

    if (!layout || stack->cut)
        return 0;
    n_frames = n_frames < stack->n ? n_frames : stack->n;
    n_frames = n_frames < SEEP_PYLOOP_FRAMES ? n_frames : SEEP_PYLOOP_FRAMES;
    for (unsigned depth = 0; depth < n_frames && n < SEEP_PYLOOPS; depth++) {
        const unsigned at = SEEP_MAX_PYTHON_FRAMES - 1 - depth;
        const uint64_t outer = depth ? stack->links[at + 1].hash : 0;
        const struct seep_pyloop seen = {
            .path = (outer ^ (stack->frames[at].code + stack->links[at].code_stamp)) *
                    UINT64_C(0x9e3779b97f4a7c15),
            .code = stack->frames[at].code,
            .position = stack->frames[at].position,
            .depth = depth,
        };
        n += loops_of(layout, stack->links[at].frame, &seen, &memo[depth], loops + n,
                      SEEP_PYLOOPS - n);
    }
    return n;
}

uint64_t seep_python_locals(const struct seep_pystack *stack, unsigned depth)
{
    const struct seep_python_layout *layout = seep_python_layout();
    const unsigned at = SEEP_MAX_PYTHON_FRAMES - 1 - depth;
    uint64_t sum = 0;

    if (!layout || depth >= stack->n)
        return 0;
    const uint32_t n = seep_py_u32(stack->frames[at].code + layout->code_n_locals);
    const uintptr_t locals = stack->links[at].frame + layout->frame_locals;
    for (uint32_t i = 0; i < n && i < MAX_LOCALS; i++)
        sum = (sum ^ seep_py_word(locals + 8 * (uintptr_t)i)) * UINT64_C(0x9e3779b97f4a7c15);
    return sum;
}
