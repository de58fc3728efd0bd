#include "kernels/formats/ply.h"
#include "kernels/formats/ply_parts.h"
#include "kernels/formats/text_fields.h"

#include <math.h>
#include <string.h>

static bool store_real(const struct seep_field *field, enum seep_ply_type type, void *to)
{
    double value;

    if (!seep_field_f64(field, &value))
        return false;
    if (type == SEEP_PLY_F64) {
        memcpy(to, &value, sizeof value);
        return true;
    }
    /* Rounded first: the largest float, in nine digits, is slightly larger than itself. */
    float narrow = (float)value;
    if (isfinite(value) && !isfinite(narrow))
        return false;
    memcpy(to, &narrow, sizeof narrow);
    return true;
}

static bool store(const struct seep_field *field, enum seep_ply_type type, void *to)
{
    int64_t value;

    if (type == SEEP_PLY_F32 || type == SEEP_PLY_F64)
        return store_real(field, type, to);
    if (!seep_field_i64(field, &value) || !seep_ply_type_holds(type, value))
        return false;
    switch (seep_ply_type_bytes(type)) {
    case 1:
        memcpy(to, &(uint8_t){(uint8_t)value}, 1);
        break;
    case 2:
        memcpy(to, &(uint16_t){(uint16_t)value}, 2);
        break;
    default:
        memcpy(to, &(uint32_t){(uint32_t)value}, 4);
        break;
    }
    return true;
}

/* Each value takes at least a digit and a space, except that the last needs no space. */
static bool may_hold(const struct seep_bytes *text, size_t n_values)
{
    return n_values <= seep_bytes_left(text) / 2 + 1;
}

static int store_next(struct seep_ply_source *source, enum seep_ply_type type, void *to)
{
    struct seep_bytes before = source->bytes;
    struct seep_field field;

    if (!seep_text_field(&source->bytes, &field))
        return seep_ply_error(source, SEEP_EFORMAT, "values are missing at the end");
    if (store(&field, type, to))
        return 0;
    source->bytes = before;
    return seep_ply_error(source, SEEP_EFORMAT, "a value does not fit its property's type");
}

static int parse_list(struct seep_ply_source *source, struct seep_ply_property *list, size_t item)
{
    size_t size = seep_ply_type_bytes(list->type), used = list->starts[item];
    struct seep_field field;
    int64_t count;

    seep_text_field(&source->bytes, &field);
    if (!seep_field_i64(&field, &count) || count < 0 ||
        !seep_ply_type_holds(list->count_type, count) || !may_hold(&source->bytes, (size_t)count))
        return seep_ply_error(source, SEEP_EFORMAT, "a list has an impossible length");
    uint8_t *room = seep_ply_list_room(list, used, (size_t)count);
    if (!room)
        return seep_ply_error(source, SEEP_ENOMEM, "no memory");
    for (size_t i = 0; i < (size_t)count; i++) {
        int rc = store_next(source, list->type, room + i * size);
        if (rc)
            return rc;
    }
    list->starts[item + 1] = used + (size_t)count;
    return 0;
}

static int parse_element(struct seep_ply_source *source, struct seep_ply_element *element)
{
    if (element->n && !may_hold(&source->bytes, element->n_properties > SIZE_MAX / element->n
                                                    ? SIZE_MAX
                                                    : element->n * element->n_properties))
        return seep_ply_error(source, SEEP_EFORMAT,
                              "the header claims more items than the file holds");
    if (seep_ply_allocate(element))
        return seep_ply_error(source, SEEP_ENOMEM, "no memory");
    for (size_t i = 0; i < element->n; i++) {
        for (size_t k = 0; k < element->n_properties; k++) {
            struct seep_ply_property *p = &element->properties[k];
            int rc = p->is_list
                         ? parse_list(source, p, i)
                         : store_next(source, p->type,
                                      (uint8_t *)p->values + i * seep_ply_type_bytes(p->type));
            if (rc)
                return rc;
        }
    }
    return 0;
}

int seep_ply_parse_ascii(struct seep_ply_source *source, struct seep_ply *ply)
{
    struct seep_field rest;

    for (size_t i = 0; i < ply->n_elements; i++) {
        int rc = parse_element(source, &ply->elements[i]);
        if (rc)
            return rc;
    }
    if (seep_text_field(&source->bytes, &rest))
        return seep_ply_error(source, SEEP_EFORMAT, "there are more values than the header says");
    return 0;
}
