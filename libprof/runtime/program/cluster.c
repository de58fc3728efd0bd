#include "libprof/runtime/program/cluster.h"

#include <string.h>

struct launcher {
    const char *rank, *local_rank, *node, *world_size, *local_size, *job_id, *step_id, *restart;
    bool is_several; /* where nothing tells the number of ranks */
};

static const struct launcher launchers[] = {
#define SEEP_LAUNCHER(name, ...) {__VA_ARGS__},
#include "libprof/runtime/program/cluster_variables.def"
#undef SEEP_LAUNCHER
};

enum { N_LAUNCHERS = sizeof launchers / sizeof *launchers };

typedef const char *variable_of(const char *name);

/* −1: it is not set, or does not begin with a number that fits. strtol() would set errno. */
static int32_t number_of(variable_of *get, const char *name)
{
    const char *text = name ? get(name) : NULL;
    int32_t value = 0;

    if (!text || *text < '0' || *text > '9')
        return -1;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, *text - '0', &value))
            return -1;
    return value;
}

static const char *text_of(variable_of *get, const char *name)
{
    const char *text = name ? get(name) : NULL;

    /* torchrun calls a run without a name so. */
    return text && *text && strcmp(text, "none") != 0 ? text : NULL;
}

static void fill(int32_t *field, variable_of *get, const char *name)
{
    if (*field < 0)
        *field = number_of(get, name);
}

/* Of the first launcher of several that tells; ranks are looked at only if none tells a local one.
 */
static void read_part(struct seep_cluster *c, variable_of *get, bool local)
{
    for (int i = 0; i < N_LAUNCHERS && c->part < 0; i++) {
        const struct launcher *its = &launchers[i];
        const int32_t n = number_of(get, its->world_size);

        if (n > 1 || (n < 0 && c->world_size < 0 && its->is_several))
            c->part = number_of(get, local ? its->local_rank : its->rank);
    }
}

void seep_cluster_read(variable_of *get, struct seep_cluster *c)
{
    bool nodes_are_anothers = false;

    *c = (struct seep_cluster){-1, -1, -1, -1, -1, -1, NULL, NULL, -1};
    for (int i = 0; i < N_LAUNCHERS; i++) {
        const struct launcher *its = &launchers[i];
        const int32_t rank = number_of(get, its->rank);
        const char *job_id = text_of(get, its->job_id);

        if (c->rank < 0)
            c->rank = rank;
        if (rank >= 0 && rank == c->rank) {
            fill(&c->local_rank, get, its->local_rank);
            fill(&c->world_size, get, its->world_size);
            fill(&c->local_size, get, its->local_size);
        }
        if (rank >= 0 && its->node && !*its->node)
            nodes_are_anothers = true;
        if (!nodes_are_anothers)
            fill(&c->node, get, its->node);
        fill(&c->restart, get, its->restart);
        if (job_id) {
            c->job_id = job_id;
            c->step_id = text_of(get, its->step_id);
        }
    }
    read_part(c, get, true);
    read_part(c, get, false);
}

static uint32_t plus_1(int32_t number)
{
    return number < 0 ? 0 : (uint32_t)number + 1;
}

static uint32_t or_0(int32_t number)
{
    return number < 0 ? 0 : (uint32_t)number;
}

/* A reader may come at any instant, so a text that stays is not written again. */
static void note_text(char *text, size_t capacity, const char *told)
{
    for (size_t i = 0; i + 1 < capacity; i++) {
        const char c = told ? *told : '\0';
        const char clean = !c ? '\0' : c > ' ' && c <= '~' ? c : '_';

        if (text[i] != clean)
            text[i] = clean;
        told += c != '\0';
    }
}

void seep_cluster_note(const struct seep_cluster *c, struct seep_rank_notes *notes)
{
    notes->local_rank_plus_1 = plus_1(c->local_rank);
    notes->node_plus_1 = plus_1(c->node);
    notes->world_size = or_0(c->world_size);
    notes->local_size = or_0(c->local_size);
    notes->restart_plus_1 = plus_1(c->restart);
    note_text(notes->job_id, sizeof notes->job_id, c->job_id);
}

static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-';
}

void seep_cluster_folder(const char *host, int32_t part, char name[SEEP_CLUSTER_FOLDER_BYTES])
{
    enum { MAX_HOST = 64, MAX_DIGITS = 12 };
    _Static_assert(MAX_HOST + MAX_DIGITS < SEEP_CLUSTER_FOLDER_BYTES, "fits");
    char digits[MAX_DIGITS];
    int n = 0, n_digits = 0;

    for (; host[n] && n < MAX_HOST; n++)
        name[n] = is_plain(host[n]) || (n && host[n] == '.') ? host[n] : '_';
    if (!n)
        name[n++] = '_';
    if (part >= 0) {
        name[n++] = '-';
        do
            digits[n_digits++] = (char)('0' + part % 10);
        while (part /= 10);
        while (n_digits)
            name[n++] = digits[--n_digits];
    }
    name[n] = '\0';
}
