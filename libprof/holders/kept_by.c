#include "libprof/holders/kept_by.h"

#include "libprof/measure/thresholds.h"

#include <string.h>

static const char *said(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

static double bytes_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static enum seep_holders_state state_of(const json_t *answer)
{
    for (int i = 0; i < SEEP_HOLDERS_N_STATES; i++) {
        if (strcmp(said(answer, "state"), seep_holders_states[i]) == 0)
            return (enum seep_holders_state)i;
    }
    return SEEP_HOLDERS_UNKNOWN;
}

/* How much of a line's memory its state is true of. */
static double bytes_in_state(const json_t *answer, enum seep_holders_state state)
{
    if (state == SEEP_HOLDERS_REFERENCE)
        return bytes_of(answer, "reference_bytes") + bytes_of(answer, "lost_bytes");
    return bytes_of(answer, state == SEEP_HOLDERS_LOST    ? "lost_bytes"
                            : state == SEEP_HOLDERS_CYCLE ? "cycle_bytes"
                                                          : "explained_bytes");
}

/* A way through objects of Python, where graphs are known by the classes of their nodes. */
static bool is_of_python(const json_t *path)
{
    const json_t *hops = json_object_get(path, "hops"), *hop;
    size_t i;

    json_array_foreach (hops, i, hop) {
        if (strcmp(said(hop, "kind"), "native") != 0)
            return true;
    }
    return false;
}

/* The file whose static data all but a few of the bytes are held by; "" where there is none, or the
 * way leads through objects of Python. */
static const char *library_of(const json_t *paths, double bytes)
{
    const char *file = "";
    double held = 0;
    const json_t *path;
    size_t i;

    json_array_foreach (paths, i, path) {
        const json_t *root = json_object_get(path, "root");
        const char *its = said(root, "file");
        if (strcmp(said(root, "kind"), "static") != 0 || !*its || is_of_python(path) ||
            (*file && strcmp(file, its) != 0))
            continue;
        file = its;
        held += bytes_of(path, "bytes");
    }
    return held >= SEEP_T_KEPT_EXPLAINED * bytes ? file : "";
}

/* Not only a variable of a function that runs: an attribute, or what a module or class has. */
static bool is_lasting(const json_t *path)
{
    const json_t *hops = json_object_get(path, "hops"), *hop;
    const char *root = said(json_object_get(path, "root"), "kind");
    size_t i;

    json_array_foreach (hops, i, hop) {
        if (strcmp(said(hop, "kind"), "attribute") == 0)
            return true;
    }
    return strcmp(root, "local") != 0 && strcmp(root, "stack") != 0;
}

/* Parameters of a network that grows. */
static bool is_of_network(const char *text)
{
    return strstr(text, "_parameters") || strstr(text, "_modules") || strstr(text, "(Parameter)");
}

static void take_container(const json_t *answer, const json_t *path, struct seep_kept_by *kept)
{
    const json_t *holder = json_object_get(path, "holder");
    const json_t *length = json_object_get(holder, "length"),
                 *bound = json_object_get(holder, "bound"),
                 *grows = json_object_get(answer, "grows"),
                 *pace = json_object_get(answer, "growth_per_step");

    kept->text = said(path, "text");
    kept->name = said(holder, "name");
    kept->type = said(holder, "type");
    kept->gathers = is_lasting(path) && !is_of_network(kept->text);
    if (!json_is_integer(length) || json_integer_value(length) <= 0)
        return;
    kept->length = (uint64_t)json_integer_value(length);
    kept->entry_bytes = bytes_of(path, "bytes") / (double)kept->length;
    kept->bounded =
        json_is_integer(bound) && json_integer_value(bound) >= json_integer_value(length);
    kept->bound = kept->bounded ? (uint64_t)json_integer_value(bound) : 0;
    kept->grows = json_is_true(grows);
    kept->pace = json_number_value(json_object_get(pace, "value"));
}

struct seep_kept_by seep_kept_by_of(const json_t *answer)
{
    const json_t *paths = json_object_get(answer, "paths"), *first = json_array_get(paths, 0);
    const double bytes = bytes_of(answer, "bytes");
    struct seep_kept_by kept = {
        .state = state_of(answer), .text = "", .name = "", .type = "", .library = ""};
    const char *root = said(json_object_get(first, "root"), "kind");
    double least = SEEP_T_KEPT_EXPLAINED;

    /* Of garbage in cycles a part is always in use, and not all of a cycle's own is seen. */
    if (kept.state == SEEP_HOLDERS_CYCLE || strcmp(root, "cycle") == 0) {
        kept.state = SEEP_HOLDERS_CYCLE;
        least = 0;
    }

    if (kept.state == SEEP_HOLDERS_LOST)
        least = SEEP_T_KEPT_LOST;
    if (!json_is_true(json_object_get(answer, "complete")) || kept.state == SEEP_HOLDERS_UNKNOWN ||
        bytes_in_state(answer, kept.state) < least * bytes)
        return (struct seep_kept_by){
            .state = SEEP_HOLDERS_UNKNOWN, .text = "", .name = "", .type = "", .library = ""};
    kept.known = true;
    if (kept.state == SEEP_HOLDERS_CYCLE)
        kept.cycle_bytes = (uint64_t)bytes_of(answer, "cycle_bytes");
    if (kept.state == SEEP_HOLDERS_CYCLE || seep_kept_by_nobody(&kept))
        return kept;
    kept.by_python = is_of_python(first);
    kept.library = library_of(paths, bytes);
    kept.has_graph = bytes_of(answer, "graph_bytes") > 0;
    kept.in_graph = bytes_of(answer, "graph_bytes") >= SEEP_T_KEPT_IN_GRAPH * bytes;
    if (bytes_of(first, "bytes") >= SEEP_T_KEPT_EXPLAINED * bytes)
        take_container(answer, first, &kept);
    return kept;
}

const char *seep_kept_by_nobody_text(const struct seep_kept_by *kept)
{
    if (!seep_kept_by_nobody(kept))
        return "";
    return kept->state == SEEP_HOLDERS_LOST
               ? "seen in a snapshot: nothing points to it any more; what made it forgot to free it"
               : "seen in a snapshot: nothing refers to it any more, but it counts a reference "
                 "that "
                 "was never given back";
}
