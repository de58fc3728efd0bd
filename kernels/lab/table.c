#include "kernels/lab/table.h"

#include "kernels/lab/lab.h"

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

/* Prints words, each on the line if it fits. `at`: the column that the line has reached. */
static void print_wrapped(const char *text, int at, int indent, int columns, FILE *out)
{
    while (*text) {
        const size_t n = strcspn(text, " ");
        char word[CELL_BYTES * 4];
        snprintf(word, sizeof word, "%.*s", (int)n, text);
        const int width = width_of(word);
        if (at + 1 + width > columns && at > indent) {
            fprintf(out, "\n%*s", indent, "");
            at = indent;
        }
        fprintf(out, "%s%.*s", at > indent ? " " : "", (int)n, text);
        at += width + (at > indent);
        text += n;
        text += strspn(text, " ");
    }
    putc('\n', out);
}

enum { INDENT = 6, LABEL = 10 };

/* For one that is wider than the terminal. */
static void print_in_lines(const json_t *row, int columns, FILE *out)
{
    static const char *const keys[] = {"expected", "measured"};

    fprintf(out, "%s  ", text_of(row, "scenario"));
    print_wrapped(text_of(row, "name"), INDENT + width_of(text_of(row, "scenario")) + 2, INDENT,
                  columns, out);
    for (int k = 0; k < 2; k++) {
        fprintf(out, "%*s%-*s", INDENT, "", LABEL, keys[k]);
        print_wrapped(text_of(row, keys[k]), INDENT + LABEL, INDENT + LABEL, columns, out);
    }
}

static void print_verdict(const json_t *row, const int widths[3], int columns, FILE *out)
{
    static const char *const keys[] = {"scenario", "name", "expected"};
    int width = INDENT + width_of(text_of(row, "measured"));

    for (int k = 0; k < 3; k++)
        width += widths[k] + 2;
    fputs(json_is_true(json_object_get(row, "pass")) ? "PASS  " : "FAIL  ", out);
    if (columns && width > columns) {
        print_in_lines(row, columns, out);
        return;
    }
    for (int k = 0; k < 3; k++) {
        fputs(text_of(row, keys[k]), out);
        pad(out, widths[k] - width_of(text_of(row, keys[k])) + 2);
    }
    fprintf(out, "%s\n", text_of(row, "measured"));
}

static void find_widths(const json_t *rows, int widths[3])
{
    static const char *const keys[] = {"scenario", "name", "expected"};
    const json_t *row;
    size_t i;

    json_array_foreach (rows, i, row) {
        for (int k = 0; k < 3; k++) {
            int width = width_of(text_of(row, keys[k]));
            widths[k] = width > widths[k] ? width : widths[k];
        }
    }
}

void seep_table_print_verdicts(const json_t *rows, double seconds, FILE *out)
{
    const int columns = seep_lab_columns(out);
    const size_t n = json_array_size(rows);
    const unsigned s = (unsigned)seconds;
    int widths[3] = {0};
    const json_t *row;
    size_t i, n_passed = 0;

    find_widths(rows, widths);
    json_array_foreach (rows, i, row) {
        n_passed += json_is_true(json_object_get(row, "pass")) ? 1 : 0;
        print_verdict(row, widths, columns, out);
    }
    if (n_passed < n)
        fputs("\nrows that fail:\n", out);
    json_array_foreach (rows, i, row) {
        if (!json_is_true(json_object_get(row, "pass")))
            print_verdict(row, widths, columns, out);
    }
    fprintf(out, "%zu of %zu rows pass, in ", n_passed, n);
    if (s >= 120)
        fprintf(out, "%u min ", s / 60);
    fprintf(out, "%u s\n", s >= 120 ? s % 60 : s);
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
