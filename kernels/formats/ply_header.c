#include "kernels/formats/ply_parts.h"
#include "kernels/formats/text_fields.h"

#include <stdlib.h>
#include <string.h>

static bool take_name(const struct seep_field *field, char name[64])
{
    if (!field->n || field->n >= 64)
        return false;
    for (size_t i = 0; i < field->n; i++) {
        if ((uint8_t)field->at[i] <= 0x20 || field->at[i] == 0x7f)
            return false;
    }
    memcpy(name, field->at, field->n);
    name[field->n] = 0;
    return true;
}

static bool is_integer(enum seep_ply_type type)
{
    return type != SEEP_PLY_F32 && type != SEEP_PLY_F64;
}

/* Arrays double where their length is a power of two. */
static void *grown(void *items, size_t n, size_t size)
{
    if (n & (n - 1))
        return items;
    return realloc(items, (n ? 2 * n : 1) * size);
}

static int parse_format(struct seep_ply_source *source, struct seep_bytes *line,
                        struct seep_ply *ply)
{
    static const char *const names[] = {
        [SEEP_PLY_ASCII] = "ascii",
        [SEEP_PLY_LITTLE] = "binary_little_endian",
        [SEEP_PLY_BIG] = "binary_big_endian",
    };
    struct seep_field field;

    seep_text_field(line, &field);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!seep_field_is(&field, names[i]))
            continue;
        ply->encoding = (enum seep_ply_encoding)i;
        seep_text_field(line, &field);
        if (!seep_field_is(&field, "1.0"))
            return seep_ply_error(source, SEEP_EFORMAT, "not version 1.0 of PLY");
        return 0;
    }
    return seep_ply_error(source, SEEP_EFORMAT, "unknown PLY encoding");
}

static int parse_element(struct seep_ply_source *source, struct seep_bytes *line,
                         struct seep_ply *ply)
{
    struct seep_field name, count, rest;
    struct seep_ply_element element = {.n = 0};
    uint64_t n;

    seep_text_field(line, &name);
    seep_text_field(line, &count);
    if (!take_name(&name, element.name) || !seep_field_u64(&count, &n) || n >= SIZE_MAX / 16 ||
        seep_text_field(line, &rest))
        return seep_ply_error(source, SEEP_EFORMAT, "a line that is no \"element NAME COUNT\"");
    element.n = (size_t)n;
    void *elements = grown(ply->elements, ply->n_elements, sizeof element);
    if (!elements)
        return seep_ply_error(source, SEEP_ENOMEM, "no memory");
    ply->elements = elements;
    ply->elements[ply->n_elements++] = element;
    return 0;
}

static int parse_property(struct seep_ply_source *source, struct seep_bytes *line,
                          struct seep_ply *ply)
{
    struct seep_ply_property property = {.is_list = false};
    struct seep_field word, rest;
    bool good = true;

    if (!ply->n_elements)
        return seep_ply_error(source, SEEP_EFORMAT, "a property before any element");
    struct seep_ply_element *element = &ply->elements[ply->n_elements - 1];
    seep_text_field(line, &word);
    if (seep_field_is(&word, "list")) {
        property.is_list = true;
        seep_text_field(line, &word);
        good = seep_ply_type_of(word.at, word.n, &property.count_type) &&
               is_integer(property.count_type);
        seep_text_field(line, &word);
    }
    good = good && seep_ply_type_of(word.at, word.n, &property.type);
    seep_text_field(line, &word);
    if (!good || !take_name(&word, property.name) || seep_text_field(line, &rest))
        return seep_ply_error(source, SEEP_EFORMAT,
                              "a line that is no \"property [list COUNT-TYPE] TYPE NAME\"");
    void *properties = grown(element->properties, element->n_properties, sizeof property);
    if (!properties)
        return seep_ply_error(source, SEEP_ENOMEM, "no memory");
    element->properties = properties;
    element->properties[element->n_properties++] = property;
    return 0;
}

/* The source stays at the line's beginning meanwhile: that is where an error lies. */
static int parse_line(struct seep_ply_source *source, struct seep_bytes *line, struct seep_ply *ply,
                      bool *has_format, bool *ended)
{
    struct seep_field word;

    seep_text_field(line, &word);
    if (seep_field_is(&word, "comment") || seep_field_is(&word, "obj_info") || !word.n)
        return 0;
    if (seep_field_is(&word, "end_header")) {
        *ended = true;
        return *has_format ? 0 : seep_ply_error(source, SEEP_EFORMAT, "a header without format");
    }
    if (seep_field_is(&word, "format")) {
        *has_format = true;
        return parse_format(source, line, ply);
    }
    if (seep_field_is(&word, "element"))
        return parse_element(source, line, ply);
    if (seep_field_is(&word, "property"))
        return parse_property(source, line, ply);
    return seep_ply_error(source, SEEP_EFORMAT, "an unknown word in the header");
}

int seep_ply_parse_header(struct seep_ply_source *source, struct seep_ply *ply)
{
    struct seep_bytes text = source->bytes, line;
    struct seep_field magic, rest;
    bool has_format = false, ended = false;

    seep_text_line(&text, &line);
    if (!seep_text_field(&line, &magic) || !seep_field_is(&magic, "ply") ||
        seep_text_field(&line, &rest))
        return seep_ply_error(source, SEEP_EFORMAT, "not a PLY file");
    while (!ended) {
        source->bytes = text;
        if (!seep_text_line(&text, &line))
            return seep_ply_error(source, SEEP_EFORMAT, "the header has no end");
        int rc = parse_line(source, &line, ply, &has_format, &ended);
        if (rc)
            return rc;
    }
    source->bytes = text;
    for (size_t i = 0; i < ply->n_elements; i++) {
        if (ply->elements[i].n && !ply->elements[i].n_properties)
            return seep_ply_error(source, SEEP_EFORMAT, "an element without properties has items");
    }
    return 0;
}
