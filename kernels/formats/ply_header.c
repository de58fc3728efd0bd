#include "kernels/formats/growing.h"
#include "kernels/formats/ply_parts.h"
#include "kernels/formats/text_fields.h"

#include <string.h>

static bool take_name(const struct seep_field *field, char name[64])
{
    if (!seep_ply_is_name(field->at, field->n))
        return false;
    memcpy(name, field->at, field->n);
    name[field->n] = 0;
    return true;
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
        return seep_ply_error(source, SEEP_EFORMAT, "a line is not \"element NAME COUNT\"");
    element.n = (size_t)n;
    struct seep_ply_element *place =
        seep_array_append(&ply->elements, ply->n_elements, sizeof *place);
    if (!place)
        return seep_ply_error(source, SEEP_ENOMEM, "no memory");
    *place = element;
    ply->n_elements++;
    return 0;
}

static int parse_property(struct seep_ply_source *source, struct seep_bytes *line,
                          struct seep_ply *ply)
{
    struct seep_ply_property property = {.is_list = false};
    struct seep_field word, rest;
    bool good = true;

    if (!ply->n_elements)
        return seep_ply_error(source, SEEP_EFORMAT, "a property comes before any element");
    struct seep_ply_element *element = &ply->elements[ply->n_elements - 1];
    seep_text_field(line, &word);
    if (seep_field_is(&word, "list")) {
        property.is_list = true;
        seep_text_field(line, &word);
        good = seep_ply_type_of(word.at, word.n, &property.count_type) &&
               seep_ply_type_holds(property.count_type, 0);
        seep_text_field(line, &word);
    }
    good = good && seep_ply_type_of(word.at, word.n, &property.type);
    seep_text_field(line, &word);
    if (!good || !take_name(&word, property.name) || seep_text_field(line, &rest))
        return seep_ply_error(source, SEEP_EFORMAT,
                              "a line is not \"property [list COUNT-TYPE] TYPE NAME\"");
    struct seep_ply_property *place =
        seep_array_append(&element->properties, element->n_properties, sizeof *place);
    if (!place)
        return seep_ply_error(source, SEEP_ENOMEM, "no memory");
    *place = property;
    element->n_properties++;
    return 0;
}

/* The source stays at the beginning of the line meanwhile, for the offset of an error. */
static int parse_line(struct seep_ply_source *source, struct seep_bytes *line, struct seep_ply *ply,
                      bool *has_format, bool *ended)
{
    struct seep_field word;

    seep_text_field(line, &word);
    if (seep_field_is(&word, "comment") || seep_field_is(&word, "obj_info") || !word.n)
        return 0;
    if (seep_field_is(&word, "end_header")) {
        *ended = true;
        return *has_format ? 0 : seep_ply_error(source, SEEP_EFORMAT, "the header names no format");
    }
    if (seep_field_is(&word, "format")) {
        *has_format = true;
        return parse_format(source, line, ply);
    }
    if (seep_field_is(&word, "element"))
        return parse_element(source, line, ply);
    if (seep_field_is(&word, "property"))
        return parse_property(source, line, ply);
    return seep_ply_error(source, SEEP_EFORMAT, "the header has an unknown word");
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
