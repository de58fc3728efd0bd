/* seep-lab's messages for people, complaints and progress; and names that people give. */
#include "kernels/lab/lab.h"
#include "libprof/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool line_is_shown; /* a progress line that must be cleared */
static bool is_off;

static void write_all(const char *text, size_t n)
{
    ssize_t written = write(STDERR_FILENO, text, n); /* a failure cannot be reported */
    (void)written;
}

void seep_lab_complain(const char *format, ...)
{
    char line[2048];
    va_list args;

    seep_lab_progress(NULL);
    va_start(args, format);
    size_t n = seep_text_complaint(line, sizeof line, "seep-lab", format, args);
    va_end(args);
    write_all(line, n);
}

void seep_lab_complain_error(int rc, const struct seep_error *err, const char *what_to_do)
{
    const char *text = err->text[0] ? err->text : seep_error_name(rc);

    if (err->file[0])
        seep_lab_complain("%s: %s: %s", err->file, text, what_to_do);
    else
        seep_lab_complain("%s: %s", text, what_to_do);
}

const char *seep_lab_advice(int rc)
{
    switch (-rc) {
    case SEEP_ENOMEM:
        return "free some memory, or lower --scale";
    case SEEP_EIO:
        return "check that it can be read and written, and the free space there";
    case SEEP_EVARIANT:
        return "see `seep-lab list` for what this variant does";
    default:
        return "check the input";
    }
}

int seep_lab_columns(FILE *stream)
{
    struct winsize size;

    if (!isatty(fileno(stream)))
        return 0;
    return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

/* How many bytes of the text fit into so many columns, whole characters only. */
static size_t fit(const char *text, int columns)
{
    size_t n = 0;

    for (; text[n]; n++)
        if ((text[n] & 0xc0) != 0x80 && columns-- == 0)
            break;
    return n;
}

void seep_lab_progress_off(void)
{
    is_off = true;
}

void seep_lab_progress(const char *format, ...)
{
    char line[512] = "\r\033[K";
    const size_t start = strlen(line);
    const int columns = seep_lab_columns(stderr);
    va_list args;

    if (is_off || !columns || (!format && !line_is_shown))
        return;
    line_is_shown = format != NULL;
    if (format) {
        va_start(args, format);
        vsnprintf(line + start, sizeof line - start, format, args);
        va_end(args);
        line[start + fit(line + start, columns - 1)] = '\0';
    }
    write_all(line, strlen(line));
}

const struct seep_scenario *seep_lab_find_scenario(const char *name)
{
    for (const struct seep_scenario *const *s = seep_scenarios; *s; s++) {
        if (strcmp((*s)->name, name) == 0)
            return *s;
    }
    return NULL;
}

const struct seep_variant *seep_lab_find_variant(const struct seep_scenario *scenario,
                                                 const char *name)
{
    for (const struct seep_variant *v = scenario->variants; v->name; v++) {
        if (strcmp(v->name, name) == 0)
            return v;
    }
    return NULL;
}
