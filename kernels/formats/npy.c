/* "\x93NUMPY", a version, a length and a Python dictionary such as {'descr': '<f4',
 * 'fortran_order': False, 'shape': (3, 4), } padded with spaces (numpy.lib.format). Accepts only
 * what NumPy itself writes. */
#include "kernels/formats/npy.h"

#include "kernels/formats/byte_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct text {
    const char *at, *end;
};

struct fields {
    const char *descr;
    size_t n_descr;
    bool fortran;
    bool has_descr, has_order, has_shape;
};

static void skip_space(struct text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n' || *t->at == '\t'))
        t->at++;
}

/* Whether that character comes next; consumes it if so. */
static bool take(struct text *t, char c)
{
    skip_space(t);
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

static bool take_word(struct text *t, const char *word)
{
    size_t n = strlen(word);

    skip_space(t);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n))
        return false;
    t->at += n;
    return true;
}

/* A string without escapes. */
static bool take_string(struct text *t, const char **string, size_t *n)
{
    skip_space(t);
    if (t->at == t->end || (*t->at != '\'' && *t->at != '"'))
        return false;
    const char *begin = t->at + 1;
    const char *end = memchr(begin, *t->at, (size_t)(t->end - begin));
    if (!end || memchr(begin, '\\', (size_t)(end - begin)))
        return false;
    *string = begin;
    *n = (size_t)(end - begin);
    t->at = end + 1;
    return true;
}

static bool take_number(struct text *t, size_t *number)
{
    skip_space(t);
    if (t->at == t->end || *t->at < '0' || *t->at > '9')
        return false;
    *number = 0;
    for (; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
        if (__builtin_mul_overflow(*number, (size_t)10, number) ||
            __builtin_add_overflow(*number, (size_t)(*t->at - '0'), number))
            return false;
    }
    if (t->at < t->end && *t->at == 'L') /* the suffix of Python 2's long integers */
        t->at++;
    return true;
}

/* (), (3,), (3, 4) or (3, 4,). */
static bool take_shape(struct text *t, struct seep_npy *out)
{
    bool comma = true;

    if (!take(t, '('))
        return false;
    out->n_dims = 0;
    while (!take(t, ')')) {
        if (!comma || out->n_dims == 4 || !take_number(t, &out->shape[out->n_dims]))
            return false;
        out->n_dims++;
        comma = take(t, ',');
    }
    return out->n_dims != 1 || comma; /* (3) is not a tuple */
}

static bool take_field(struct text *t, struct fields *f, struct seep_npy *out)
{
    const char *key;
    size_t n;

    if (!take_string(t, &key, &n) || !take(t, ':'))
        return false;
    if (n == 5 && !memcmp(key, "descr", n) && !f->has_descr)
        return f->has_descr = take_string(t, &f->descr, &f->n_descr);
    if (n == 13 && !memcmp(key, "fortran_order", n) && !f->has_order) {
        f->fortran = take_word(t, "True");
        return f->has_order = f->fortran || take_word(t, "False");
    }
    if (n == 5 && !memcmp(key, "shape", n) && !f->has_shape)
        return f->has_shape = take_shape(t, out);
    return false;
}

static bool take_dictionary(struct text *t, struct fields *f, struct seep_npy *out)
{
    bool comma = true;

    if (!take(t, '{'))
        return false;
    while (!take(t, '}')) {
        if (!comma || !take_field(t, f, out))
            return false;
        comma = take(t, ',');
    }
    skip_space(t);
    return t->at == t->end && f->has_descr && f->has_order && f->has_shape;
}

/* "<f4", "|u1": order, kind and bytes. */
static bool is_known_type(const struct fields *f, struct seep_npy *out)
{
    unsigned bytes = f->n_descr == 3 ? (unsigned)(unsigned char)f->descr[2] - '0' : 0;
    bool whole = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;

    if (!whole || (f->descr[0] != '<' && !(f->descr[0] == '|' && bytes == 1)))
        return false;
    out->kind = f->descr[1];
    out->item_bytes = bytes;
    return out->kind == 'i' || out->kind == 'u' || (out->kind == 'f' && bytes > 1) ||
           (out->kind == 'b' && bytes == 1);
}

/* Finds the dictionary. */
static int find_text(struct seep_bytes *b, struct text *t, struct seep_error *err)
{
    static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    const uint8_t *begin = seep_bytes_take(b, sizeof magic);

    if (!begin || memcmp(begin, magic, sizeof magic))
        return seep_error_set(err, SEEP_EFORMAT, "", 0, "not a NumPy array");
    unsigned major = seep_bytes_u8(b), minor = seep_bytes_u8(b);
    if (major < 1 || major > 3 || minor)
        return seep_error_set(err, SEEP_EVERSION, "", 6, "version %u.%u of NumPy's format", major,
                              minor);
    size_t n = seep_bytes_u8(b);
    n |= (size_t)seep_bytes_u8(b) << 8;
    if (major > 1) {
        n |= (size_t)seep_bytes_u8(b) << 16;
        n |= (size_t)seep_bytes_u8(b) << 24;
    }
    t->at = (const char *)seep_bytes_take(b, n);
    if (!t->at || b->short_)
        return seep_error_set(err, SEEP_EFORMAT, "", 8, "the header ends early");
    t->end = t->at + n;
    return 0;
}

int seep_npy_header(const void *bytes, size_t n, struct seep_npy *out, size_t *begin,
                    struct seep_error *err)
{
    struct seep_bytes b = seep_bytes_of(bytes, n);
    struct fields fields = {.descr = NULL};
    struct text text = {NULL, NULL};
    int rc = find_text(&b, &text, err);

    *out = (struct seep_npy){.n_dims = 0};
    if (rc)
        return rc;
    if (!take_dictionary(&text, &fields, out))
        return seep_error_set(err, SEEP_EFORMAT, "", seep_bytes_offset(&b),
                              "the header gives no type, order and shape of at most 4 dimensions");
    if (!is_known_type(&fields, out))
        return seep_error_set(err, SEEP_EFORMAT, "", 0, "values of type %.*s are not supported",
                              fields.n_descr < 32 ? (int)fields.n_descr : 32, fields.descr);
    if (fields.fortran)
        return seep_error_set(err, SEEP_EFORMAT, "", 0, "Fortran order is not supported");
    size_t left = seep_bytes_left(&b), size;
    out->n_items = 1;
    for (unsigned i = 0; i < out->n_dims; i++) {
        if (__builtin_mul_overflow(out->n_items, out->shape[i], &out->n_items))
            return seep_error_set(err, SEEP_EFORMAT, "", 0, "the shape is larger than any memory");
    }
    if (__builtin_mul_overflow(out->n_items, (size_t)out->item_bytes, &size) || size != left)
        return seep_error_set(err, SEEP_EFORMAT, "", seep_bytes_offset(&b),
                              "%zu values of %u bytes, but %zu bytes", out->n_items,
                              out->item_bytes, left);
    *begin = (size_t)seep_bytes_offset(&b);
    return 0;
}

int seep_npy_from_bytes(const void *bytes, size_t n, struct seep_npy *out, struct seep_error *err)
{
    size_t begin = 0;
    int rc = seep_npy_header(bytes, n, out, &begin, err);

    if (rc)
        return rc;
    out->values = malloc(n - begin ? n - begin : 1);
    if (!out->values)
        return seep_error_set(err, SEEP_ENOMEM, "", 0, "no memory for %zu bytes", n - begin);
    memcpy(out->values, (const uint8_t *)bytes + begin, n - begin);
    return 0;
}
