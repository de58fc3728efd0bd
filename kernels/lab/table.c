#include "kernels/lab/table.h"

#include <stdbool.h>
#include <string.h>

enum { MAX_COLUMNS = 24, CELL_BYTES = 96 };

/* Characters, not bytes: names may hold "±" and "→". */
static int width_of(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += (*text & 0xc0) != 0x80;
    return n;
}

static void pad(FILE *out, int n)
{
    while (n-- > 0)
        putc(' ', out);
}

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));

    return text ? text : "";
}

void seep_table_print_verdicts(const json_t *rows, FILE *out)
{
    static const char *const keys[] = {"scenario", "name", "expected"};
    int widths[3] = {0};
    const json_t *row;
    size_t i, n_passed = 0;

    json_array_foreach (rows, i, row) {
        for (int k = 0; k < 3; k++) {
            int width = width_of(text_of(row, keys[k]));
            widths[k] = width > widths[k] ? width : widths[k];
        }
    }
    json_array_foreach (rows, i, row) {
        bool pass = json_is_true(json_object_get(row, "pass"));
        n_passed += pass ? 1 : 0;
        fputs(pass ? "PASS  " : "FAIL  ", out);
        for (int k = 0; k < 3; k++) {
            fputs(text_of(row, keys[k]), out);
            pad(out, widths[k] - width_of(text_of(row, keys[k])) + 2);
        }
        fprintf(out, "%s\n", text_of(row, "measured"));
    }
    fprintf(out, "%zu of %zu rows pass\n", n_passed, json_array_size(rows));
}

/* The text of a cell; true where it is a number's. */
static bool write_cell(const json_t *value, char text[CELL_BYTES])
{
    text[0] = '\0';
    if (json_is_integer(value))
        snprintf(text, CELL_BYTES, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(text, CELL_BYTES, "%.4g", json_real_value(value));
    else if (json_is_string(value))
        snprintf(text, CELL_BYTES, "%s", json_string_value(value));
    else if (json_is_boolean(value))
        snprintf(text, CELL_BYTES, "%s", json_is_true(value) ? "yes" : "no");
    return json_is_number(value);
}

struct columns {
    const char *keys[MAX_COLUMNS];
    int widths[MAX_COLUMNS];
    size_t n;
};

static size_t column_of(struct columns *c, const char *key)
{
    size_t k = 0;

    while (k < c->n && strcmp(c->keys[k], key) != 0)
        k++;
    if (k == c->n && c->n < MAX_COLUMNS) {
        c->keys[c->n] = key;
        c->widths[c->n++] = width_of(key);
    }
    return k;
}

static void find_columns(const json_t *objects, struct columns *c)
{
    const json_t *row;
    const char *key;
    char text[CELL_BYTES];
    json_t *value;
    size_t i;

    json_array_foreach (objects, i, row) {
        json_object_foreach ((json_t *)row, key, value) {
            size_t k = column_of(c, key);
            write_cell(value, text);
            if (k < c->n && width_of(text) > c->widths[k])
                c->widths[k] = width_of(text);
        }
    }
}

static void print_row(const json_t *row, const struct columns *c, FILE *out)
{
    char text[CELL_BYTES];

    for (size_t k = 0; k < c->n; k++) {
        bool right = write_cell(json_object_get(row, c->keys[k]), text);
        int space = c->widths[k] - width_of(text);
        pad(out, right ? space : 0);
        fputs(text, out);
        pad(out, k + 1 < c->n ? (right ? 0 : space) + 2 : 0);
    }
    putc('\n', out);
}

void seep_table_print(const json_t *objects, FILE *out)
{
    struct columns c = {.n = 0};
    const json_t *row;
    size_t i;

    find_columns(objects, &c);
    for (size_t k = 0; k < c.n; k++) {
        fputs(c.keys[k], out);
        pad(out, k + 1 < c.n ? c.widths[k] - width_of(c.keys[k]) + 2 : 0);
    }
    putc('\n', out);
    json_array_foreach (objects, i, row)
        print_row(row, &c, out);
}
