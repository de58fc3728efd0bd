#include "libprof/torch/pickle_read.h"

#include "libprof/base/hash_index.h"

#include <stdlib.h>
#include <string.h>

enum opcode {
#define SEEP_OPCODE(name, byte)  name = byte,
#define SEEP_REFUSED(name, byte) name = byte,
#include "libprof/torch/pickle_opcodes.def"
#undef SEEP_OPCODE
#undef SEEP_REFUSED
};

enum { BUFFER_BYTES = 256 * 1024, MAX_VALUES = 1 << 27, CUT = 1 };

/* A place in the memo: kind and number, in 32 bits. */
enum { NUMBER_BITS = 28 };

struct reader {
    const struct seep_pickle_source *source;
    const struct seep_pickle_maker *maker;
    struct seep_error *err;
    uint8_t *buffer;
    size_t at, end;
    uint64_t before; /* bytes read before those in the buffer */
    struct seep_pickle_value *stack;
    size_t n, capacity;
    size_t *marks; /* places in the stack of what follows each mark */
    size_t n_marks, marks_capacity;
    uint32_t *memo;
    size_t n_memo, memo_capacity;
    size_t n_puts;
};

static uint64_t place_of(const struct reader *r)
{
    return r->before + r->at;
}

static int refuse(struct reader *r, const char *what)
{
    return seep_error_set(r->err, SEEP_EFORMAT, "", place_of(r), "%s at byte %llu", what,
                          (unsigned long long)place_of(r));
}

/* ---- bytes ------------------------------------------------------------------------------- */

/* Makes `need` bytes, at most a text's, stand in the buffer. Returns CUT if there are fewer. */
static int fill(struct reader *r, size_t need)
{
    memmove(r->buffer, r->buffer + r->at, r->end - r->at);
    r->before += r->at;
    r->end -= r->at;
    r->at = 0;
    while (r->end < need) {
        const int64_t got =
            r->source->read(r->source->context, r->buffer + r->end, BUFFER_BYTES - r->end);
        if (got < 0)
            return seep_error_set(r->err, SEEP_EIO, "", place_of(r), "cannot read");
        if (!got)
            return CUT;
        r->end += (size_t)got;
    }
    return 0;
}

static inline int ensure(struct reader *r, size_t need)
{
    return r->end - r->at >= need ? 0 : fill(r, need);
}

static int skip(struct reader *r, uint64_t n)
{
    while (n) {
        const int rc = ensure(r, 1);
        if (rc)
            return rc;
        const size_t part = r->end - r->at < n ? r->end - r->at : (size_t)n;
        r->at += part;
        n -= part;
    }
    return 0;
}

/* A number of 1 to 8 bytes, little-endian. The buffer has 8 more bytes than it says. */
static inline int take(struct reader *r, size_t n_bytes, uint64_t *number)
{
    const int rc = ensure(r, n_bytes);

    if (rc)
        return rc;
    memcpy(number, r->buffer + r->at, sizeof *number);
    *number &= UINT64_MAX >> (64 - 8 * n_bytes);
    r->at += n_bytes;
    return 0;
}

/* ---- values ------------------------------------------------------------------------------ */

static inline int push(struct reader *r, const struct seep_pickle_value *value)
{
    if (r->n == r->capacity &&
        (r->n >= MAX_VALUES || seep_grow(&r->stack, &r->capacity, r->n + 1, sizeof *r->stack)))
        return -SEEP_ENOMEM;
    r->stack[r->n++] = *value;
    return 0;
}

static inline int push_kind(struct reader *r, enum seep_pickle_kind kind)
{
    return push(r, &(struct seep_pickle_value){.kind = (uint8_t)kind});
}

static inline int push_number(struct reader *r, int64_t number)
{
    return push(r, &(struct seep_pickle_value){.kind = SEEP_PICKLE_INT, .number = number});
}

static int mark(struct reader *r)
{
    if (r->n_marks >= MAX_VALUES ||
        seep_grow(&r->marks, &r->marks_capacity, r->n_marks + 1, sizeof *r->marks))
        return -SEEP_ENOMEM;
    r->marks[r->n_marks++] = r->n;
    return 0;
}

/* How many values there are that belong to what is being built. */
static size_t n_free(const struct reader *r)
{
    return r->n - (r->n_marks ? r->marks[r->n_marks - 1] : 0);
}

static int unmark(struct reader *r, size_t *first)
{
    if (!r->n_marks)
        return refuse(r, "a container without its beginning");
    *first = r->marks[--r->n_marks];
    return 0;
}

/* ---- the memo ---------------------------------------------------------------------------- */

static uint32_t packed(const struct seep_pickle_value *v)
{
    const uint32_t kind = v->kind;
    const bool has_number = kind == SEEP_PICKLE_TEXT || kind >= SEEP_PICKLE_OWN;

    if (kind == SEEP_PICKLE_DICT || kind == SEEP_PICKLE_LIST)
        return kind << NUMBER_BITS;
    if (!has_number || v->from >> NUMBER_BITS)
        return SEEP_PICKLE_OTHER;
    return kind << NUMBER_BITS | v->from;
}

/* Picklers number by their own count, an optimizer of pickles leaves gaps. */
static int remember(struct reader *r, uint64_t number)
{
    if (!n_free(r))
        return refuse(r, "nothing to remember");
    if (number > place_of(r))
        return refuse(r, "a memo out of order");
    if (number >= r->n_memo) {
        if (seep_grow(&r->memo, &r->memo_capacity, number + 1, sizeof *r->memo))
            return -SEEP_ENOMEM;
        memset(r->memo + r->n_memo, 0, (number + 1 - r->n_memo) * sizeof *r->memo);
        r->n_memo = number + 1;
    }
    struct seep_pickle_value *top = &r->stack[r->n - 1];
    r->memo[number] = packed(top);
    top->memo_plus_1 = (uint32_t)number + 1;
    r->n_puts++;
    return 0;
}

static inline int recall(struct reader *r, uint64_t number)
{
    if (number >= r->n_memo)
        return refuse(r, "a value that was not remembered");
    return push(r, &(struct seep_pickle_value){.kind = (uint8_t)(r->memo[number] >> NUMBER_BITS),
                                               .from = r->memo[number] &
                                                       ((UINT32_C(1) << NUMBER_BITS) - 1)});
}

static int take_memo(struct reader *r, enum opcode op)
{
    uint64_t number = r->n_puts;
    int rc = 0;

    if (op != MEMOIZE)
        rc = take(r, op == BINPUT || op == BINGET ? 1 : 4, &number);
    if (rc)
        return rc;
    return op == BINGET || op == LONG_BINGET ? recall(r, number) : remember(r, number);
}

/* ---- numbers and texts ------------------------------------------------------------------- */

/* An integer of any size: what has more than 64 bits is nothing that is looked for. */
static int take_long(struct reader *r, uint64_t n)
{
    uint64_t number = 0;
    int rc = 0;

    if (n > 8) {
        rc = skip(r, n);
        return rc ? rc : push_kind(r, SEEP_PICKLE_OTHER);
    }
    if (n)
        rc = take(r, n, &number);
    if (!rc && n && n < 8 && number >> (8 * n - 1))
        number |= UINT64_MAX << 8 * n;
    return rc ? rc : push_number(r, (int64_t)number);
}

static int take_float(struct reader *r)
{
    uint64_t bits;
    struct seep_pickle_value value = {.kind = SEEP_PICKLE_FLOAT};
    const int rc = take(r, 8, &bits);

    if (rc)
        return rc;
    bits = __builtin_bswap64(bits);
    memcpy(&value.real, &bits, sizeof value.real);
    return push(r, &value);
}

static int take_number(struct reader *r, enum opcode op)
{
    uint64_t number;
    int rc;

    if (op == BINFLOAT)
        return take_float(r);
    rc = take(r, op == BININT || op == LONG4 ? 4 : op == BININT2 ? 2 : 1, &number);
    if (rc)
        return rc;
    if (op == LONG1 || op == LONG4)
        return take_long(r, number);
    return push_number(r, op == BININT ? (int32_t)number : (int64_t)number);
}

static int take_text(struct reader *r, enum opcode op)
{
    const bool is_short = op == SHORT_BINUNICODE || op == SHORT_BINSTRING,
               is_long = op == BINUNICODE8;
    struct seep_pickle_value value = {.kind = SEEP_PICKLE_TEXT};
    uint64_t n;
    int rc = take(r, is_short ? 1 : is_long ? 8 : 4, &n);

    const size_t kept = !rc && n < SEEP_PICKLE_TEXT_BYTES ? (size_t)n : SEEP_PICKLE_TEXT_BYTES;
    if (!rc)
        rc = ensure(r, kept);
    if (rc)
        return rc;
    rc = r->maker->text(r->maker->context, (const char *)r->buffer + r->at, kept, &value.from);
    if (rc)
        return rc;
    r->at += kept;
    rc = skip(r, n - kept);
    return rc ? rc : push(r, &value);
}

static int take_bytes(struct reader *r, enum opcode op)
{
    uint64_t n;
    int rc = take(r, op == SHORT_BINBYTES ? 1 : op == BINBYTES ? 4 : 8, &n);

    if (!rc)
        rc = skip(r, n);
    return rc ? rc : push_kind(r, SEEP_PICKLE_OTHER);
}

/* ---- containers -------------------------------------------------------------------------- */

/* Gives what lies above `first` to the container below it. */
static int add_items(struct reader *r, size_t first, bool to_dict)
{
    const size_t n = r->n - first;

    if (!first || first <= (r->n_marks ? r->marks[r->n_marks - 1] : 0))
        return refuse(r, "items without a container");
    struct seep_pickle_value *to = &r->stack[first - 1];
    if (to_dict && n % 2)
        return refuse(r, "a key without a value");
    const bool is_dict = to->kind == SEEP_PICKLE_DICT, is_list = to->kind == SEEP_PICKLE_LIST;
    const bool is_own = to->kind >= SEEP_PICKLE_OWN;
    if (!is_own && (to_dict ? !is_dict : !is_list))
        return refuse(r, "items of another container");
    const struct seep_pickle_maker *m = r->maker;
    const int rc = (to_dict ? m->dict : m->list)(m->context, to, &r->stack[first], n);
    if (rc)
        return rc;
    r->n = first;
    if (to->memo_plus_1)
        r->memo[to->memo_plus_1 - 1] = packed(to);
    return 0;
}

static int take_items(struct reader *r, enum opcode op)
{
    const bool to_dict = op == SETITEM || op == SETITEMS;
    const size_t n_each = op == SETITEM ? 2 : 1;
    size_t first = 0;
    int rc = 0;

    if (op == SETITEMS || op == APPENDS)
        rc = unmark(r, &first);
    else if (n_free(r) <= n_each)
        return refuse(r, "items without a container");
    else
        first = r->n - n_each;
    return rc ? rc : add_items(r, first, to_dict);
}

/* What lies from `first` on becomes a tuple. */
static int make_tuple(struct reader *r, size_t first)
{
    struct seep_pickle_value tuple = {.kind = SEEP_PICKLE_OTHER};
    const int rc = r->maker->tuple(r->maker->context, &tuple, &r->stack[first], r->n - first);

    r->n = first;
    return rc ? rc : push(r, &tuple);
}

/* What lies above a mark becomes one value. */
static int close_group(struct reader *r, enum opcode op)
{
    const enum seep_pickle_kind kind = op == DICT   ? SEEP_PICKLE_DICT
                                       : op == LIST ? SEEP_PICKLE_LIST
                                                    : SEEP_PICKLE_OTHER;
    size_t first = 0;
    int rc = unmark(r, &first);

    if (rc)
        return rc;
    if (op == TUPLE)
        return make_tuple(r, first);
    if (op != DICT && op != LIST) {
        r->n = first;
        return op == POP_MARK || op == ADDITEMS ? 0 : push_kind(r, kind);
    }
    rc = push_kind(r, kind);
    if (rc)
        return rc;
    const struct seep_pickle_value made = r->stack[r->n - 1];
    memmove(&r->stack[first + 1], &r->stack[first], (r->n - 1 - first) * sizeof *r->stack);
    r->stack[first] = made;
    return add_items(r, first + 1, op == DICT);
}

static int take_tuple(struct reader *r, enum opcode op)
{
    const size_t n = op == TUPLE1 ? 1 : op == TUPLE2 ? 2 : 3;

    if (n_free(r) < n)
        return refuse(r, "a tuple without its items");
    return make_tuple(r, r->n - n);
}

static int take_top(struct reader *r, enum opcode op)
{
    if (!n_free(r)) {
        if (op == POP && r->n_marks) {
            r->n_marks--;
            return 0;
        }
        return refuse(r, "nothing to take away");
    }
    if (op == DUP)
        return push(r, &(struct seep_pickle_value){.kind = r->stack[r->n - 1].kind,
                                                   .number = r->stack[r->n - 1].number});
    r->n--;
    return 0;
}

/* ---- all of it --------------------------------------------------------------------------- */

static int refuse_opcode(struct reader *r, uint8_t op)
{
    static const struct {
        uint8_t op;
        const char *name;
    } refused[] = {
#define SEEP_OPCODE(name, byte)
#define SEEP_REFUSED(name, byte) {byte, #name},
#include "libprof/torch/pickle_opcodes.def"
#undef SEEP_OPCODE
#undef SEEP_REFUSED
    };

    const uint64_t place = place_of(r) - 1;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].op == op)
            return seep_error_set(r->err, SEEP_EFORMAT, "", place,
                                  "the pickle has %s at byte %llu, and only plain data are read",
                                  refused[i].name, (unsigned long long)place);
    return seep_error_set(r->err, SEEP_EFORMAT, "", place, "not a pickle from byte %llu on",
                          (unsigned long long)place);
}

static int step(struct reader *r, uint8_t op)
{
    switch (op) {
    case PROTO:
        return skip(r, 1);
    case FRAME:
        return skip(r, 8);
    case MARK:
        return mark(r);
    case BINGET:
    case LONG_BINGET:
    case BINPUT:
    case LONG_BINPUT:
    case MEMOIZE:
        return take_memo(r, op);
    case BININT:
    case BININT1:
    case BININT2:
    case LONG1:
    case LONG4:
    case BINFLOAT:
        return take_number(r, op);
    case BINUNICODE:
    case SHORT_BINUNICODE:
    case BINUNICODE8:
    case BINSTRING:
    case SHORT_BINSTRING:
        return take_text(r, op);
    case BINBYTES:
    case SHORT_BINBYTES:
    case BINBYTES8:
    case BYTEARRAY8:
        return take_bytes(r, op);
    case NEWTRUE:
    case NEWFALSE:
        return push_number(r, op == NEWTRUE);
    case NONE:
    case EMPTY_TUPLE:
    case EMPTY_SET:
        return push_kind(r, SEEP_PICKLE_OTHER);
    case EMPTY_DICT:
        return push_kind(r, SEEP_PICKLE_DICT);
    case EMPTY_LIST:
        return push_kind(r, SEEP_PICKLE_LIST);
    case SETITEM:
    case SETITEMS:
    case APPEND:
    case APPENDS:
        return take_items(r, op);
    case DICT:
    case LIST:
    case TUPLE:
    case FROZENSET:
    case ADDITEMS:
    case POP_MARK:
        return close_group(r, op);
    case TUPLE1:
    case TUPLE2:
    case TUPLE3:
        return take_tuple(r, op);
    case POP:
    case DUP:
        return take_top(r, op);
    default:
        return refuse_opcode(r, op);
    }
}

/* Each key gets its value. A list of one item has no mark: the item still stands behind it. */
static int pair_up(struct reader *r, size_t first)
{
    if ((r->n - first) % 2 == 0)
        return 0;
    if (r->n - first > 1 && r->stack[r->n - 2].kind == SEEP_PICKLE_LIST)
        return add_items(r, r->n - 1, false);
    r->n--;
    return 0;
}

/* Closes what had begun as the bytes ended. The innermost dict lacks some of its items: it is left
 * out, unless it is the whole. */
static int close_early(struct reader *r)
{
    bool is_left_out = false;
    int rc = 0;

    while (r->n_marks && !rc) {
        const size_t first = r->marks[--r->n_marks];
        const bool has_container = first > (r->n_marks ? r->marks[r->n_marks - 1] : 0);
        const uint8_t kind = has_container ? r->stack[first - 1].kind : SEEP_PICKLE_OTHER;
        if (kind == SEEP_PICKLE_LIST) {
            rc = add_items(r, first, false);
        } else if (kind == SEEP_PICKLE_DICT && (is_left_out || !r->n_marks)) {
            rc = pair_up(r, first);
            if (!rc)
                rc = add_items(r, first, true);
        } else {
            is_left_out |= kind == SEEP_PICKLE_DICT;
            r->n = has_container ? first - 1 : first;
        }
    }
    r->n = r->n ? 1 : 0;
    return rc;
}

static int read_all(struct reader *r, bool *is_cut, struct seep_pickle_value *result)
{
    int rc = ensure(r, 2);

    if (rc < 0)
        return rc;
    if (rc || !seep_pickle_begins(r->buffer, r->end))
        return seep_error_set(r->err, SEEP_EFORMAT, "", 0, "not a pickle of protocol 2 to 5");
    while (!(rc = ensure(r, 1))) {
        const uint8_t op = r->buffer[r->at++];
        if (op == STOP)
            break;
        rc = step(r, op);
        if (rc)
            break;
    }
    *is_cut = rc == CUT;
    if (*is_cut)
        rc = close_early(r);
    if (rc)
        return rc;
    if (r->n)
        *result = r->stack[r->n - 1];
    return r->n ? 0 : refuse(r, "nothing is in the pickle");
}

int seep_pickle_read(const struct seep_pickle_source *source, const struct seep_pickle_maker *maker,
                     bool *is_cut, struct seep_pickle_value *result, struct seep_error *err)
{
    struct reader r = {.source = source, .maker = maker, .err = err};
    int rc;

    r.buffer = malloc(BUFFER_BYTES + sizeof(uint64_t));
    *is_cut = false;
    rc = r.buffer ? read_all(&r, is_cut, result) : -SEEP_ENOMEM;
    if (rc == -SEEP_ENOMEM)
        seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory");
    free(r.buffer);
    free(r.stack);
    free(r.marks);
    free(r.memo);
    return rc;
}
