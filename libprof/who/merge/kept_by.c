#include "libprof/who/merge/kept_by.h"

#include "libprof/thresholds/thresholds.h"
#include "libprof/who/merge/hops.h"

#include <string.h>

static double bytes_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static enum seep_holders_state state_of(const json_t *answer)
{
    for (int i = 0; i < SEEP_HOLDERS_N_STATES; i++) {
        if (strcmp(seep_hops_said(answer, "state"), seep_holders_states[i]) == 0)
            return (enum seep_holders_state)i;
    }
    return SEEP_HOLDERS_UNKNOWN;
}

/* For how much of a line's memory its state is true. */
static double bytes_in_state(const json_t *answer, enum seep_holders_state state)
{
    if (state == SEEP_HOLDERS_REFERENCE)
        return bytes_of(answer, "reference_bytes") + bytes_of(answer, "lost_bytes");
    return bytes_of(answer, state == SEEP_HOLDERS_LOST    ? "lost_bytes"
                            : state == SEEP_HOLDERS_CYCLE ? "cycle_bytes"
                                                          : "explained_bytes");
}

/* A path through Python objects, where graphs are known by the classes of their nodes. */
static bool is_of_python(const json_t *path)
{
    const json_t *hops = json_object_get(path, "hops"), *hop;
    size_t i;

    json_array_foreach (hops, i, hop) {
        if (!seep_hop_is(hop, "native"))
            return true;
    }
    return false;
}

/* The file whose static data holds nearly all of the bytes; "" if there is none, or if the path
 * leads through Python objects. */
static const char *library_of(const json_t *paths, double bytes)
{
    const char *file = "";
    double held = 0;
    const json_t *path;
    size_t i;

    json_array_foreach (paths, i, path) {
        const json_t *root = json_object_get(path, "root");
        const char *its = seep_hops_said(root, "file");
        if (!seep_hops_root_is(path, "static") || !*its || is_of_python(path) ||
            (*file && strcmp(file, its) != 0))
            continue;
        file = its;
        held += bytes_of(path, "bytes");
    }
    return held >= SEEP_T_MOST * bytes ? file : "";
}

/* Not just a variable of a running function: an attribute, or something in a module or class. */
static bool is_lasting(const json_t *path)
{
    const json_t *hops = json_object_get(path, "hops"), *hop;
    size_t i;

    json_array_foreach (hops, i, hop) {
        if (seep_hop_is(hop, "attribute"))
            return true;
    }
    return !seep_hops_root_is(path, "local") && !seep_hops_root_is(path, "stack");
}

static bool has_attribute(const json_t *path, const char *name, bool of_one)
{
    const json_t *next;

    return seep_hops_attribute(path, name, of_one, &next) != NULL;
}

/* A path to parameters of a network, or through one to what depends on it. */
static bool is_of_network(const json_t *path)
{
    return has_attribute(path, "_parameters", false) || has_attribute(path, "_modules", false) ||
           seep_hops_have_type(path, "Parameter");
}

/* What an optimizer keeps for parameters: the values of its `state`. A key of it that nothing else
 * holds is a parameter that the optimizer was never told to forget. */
static bool is_state(const json_t *path)
{
    const json_t *next, *state = seep_hops_attribute(path, "state", true, &next);

    return state && strcmp(seep_hops_said(state, "type"), "defaultdict") == 0 &&
           seep_hop_is(next, "key") && strcmp(seep_hops_said(next, "type"), "dict") == 0;
}

/* Most of it is parameters that a network shares with one optimizer, or that optimizer's state for
 * them. This excludes networks that are kept with an optimizer each, as in trials. */
static bool is_trained(const json_t *paths, double bytes)
{
    double network = 0, optimizer = 0, state = 0;
    const json_t *path;
    size_t i;

    json_array_foreach (paths, i, path) {
        const double held = bytes_of(path, "bytes");
        if (is_state(path))
            state += held;
        else if (has_attribute(path, "param_groups", true))
            optimizer += held;
        else if (has_attribute(path, "_parameters", false))
            network += held;
    }
    if (network > 0 && optimizer > 0)
        state += network > optimizer ? network : optimizer; /* both lead to the same parameters */
    return state >= SEEP_T_MOST * bytes;
}

/* Whether the path leads on from one of the holder's entries through what that entry has itself. */
static bool leads_through_entries(const json_t *path)
{
    const json_t *hops = json_object_get(path, "hops");
    const size_t entry = (size_t)bytes_of(json_object_get(path, "holder"), "hop");
    const json_t *next = json_array_get(hops, entry + 1);

    return next && !seep_hop_is(next, "native");
}

static bool is_the_same_in_all(const json_t *lengths)
{
    const json_t *first = json_array_get(json_array_get(lengths, 0), 1), *at;
    size_t i;

    json_array_foreach (lengths, i, at) {
        if (!json_equal(json_array_get(at, 1), first))
            return false;
    }
    return json_array_size(lengths) >= SEEP_T_AGAIN;
}

static bool rose_at_last(const json_t *lengths)
{
    const size_t n = json_array_size(lengths);

    return n > 1 && json_integer_value(json_array_get(json_array_get(lengths, n - 1), 1)) >
                        json_integer_value(json_array_get(json_array_get(lengths, n - 2), 1));
}

/* A holder may keep more than what one path leads to: the rest is found beside it in its entries,
 * and would be free without the holder. */
static double bytes_of_holder(const json_t *path)
{
    const double led_to = bytes_of(path, "bytes"), freed = bytes_of(path, "sole_bytes");

    return freed > led_to ? freed : led_to;
}

static void take_container(const json_t *answer, const json_t *path, struct seep_kept_by *kept)
{
    const json_t *holder = json_object_get(path, "holder");
    const json_t *length = json_object_get(holder, "length"),
                 *bound = json_object_get(holder, "bound"),
                 *grows = json_object_get(answer, "grows"),
                 *pace = json_object_get(answer, "growth_per_step");

    kept->text = seep_hops_said(path, "text");
    kept->name = seep_hops_said(holder, "name");
    kept->type = seep_hops_said(holder, "type");
    kept->gathers = is_lasting(path) && !is_of_network(path);
    if (!json_is_integer(length) || json_integer_value(length) <= 0)
        return;
    kept->length = (uint64_t)json_integer_value(length);
    kept->entry_bytes = bytes_of_holder(path) / (double)kept->length;
    kept->bounded =
        json_is_integer(bound) && json_integer_value(bound) >= json_integer_value(length);
    kept->bound = kept->bounded ? (uint64_t)json_integer_value(bound) : 0;
    kept->in_entries = leads_through_entries(path);
    kept->stays = is_the_same_in_all(json_object_get(answer, "length"));
    kept->rose = rose_at_last(json_object_get(answer, "length"));
    kept->step = (int32_t)json_integer_value(json_object_get(answer, "step"));
    kept->grows = json_is_true(grows);
    kept->pace = json_number_value(json_object_get(pace, "value"));
}

struct seep_kept_by seep_kept_by_of(const json_t *answer)
{
    const json_t *paths = json_object_get(answer, "paths"), *first = json_array_get(paths, 0);
    const double bytes = bytes_of(answer, "bytes");
    struct seep_kept_by kept = {
        .state = state_of(answer), .text = "", .name = "", .type = "", .library = ""};
    const bool is_shared = seep_hops_root_is(first, "shared");
    double least = SEEP_T_MOST;

    /* Some cyclic garbage is always live, and not all members of a cycle are seen. */
    if (kept.state == SEEP_HOLDERS_CYCLE || seep_hops_root_is(first, "cycle")) {
        kept.state = SEEP_HOLDERS_CYCLE;
        least = 0;
    }

    if (kept.state == SEEP_HOLDERS_LOST)
        least = SEEP_T_KEPT_LOST;
    if (!json_is_true(json_object_get(answer, "complete")) || kept.state == SEEP_HOLDERS_UNKNOWN ||
        bytes_in_state(answer, kept.state) < least * bytes)
        return (struct seep_kept_by){.state = SEEP_HOLDERS_UNKNOWN,
                                     .text = "",
                                     .name = "",
                                     .type = "",
                                     .library = "",
                                     .is_shared = is_shared};
    kept.known = true;
    kept.is_shared = is_shared;
    if (kept.state == SEEP_HOLDERS_CYCLE)
        kept.cycle_bytes = (uint64_t)bytes_of(answer, "cycle_bytes");
    if (kept.state == SEEP_HOLDERS_CYCLE || seep_kept_by_nobody(&kept))
        return kept;
    if (2 * bytes_of(first, "bytes") > bytes)
        kept.way = first;
    kept.by_python = is_of_python(first);
    kept.library = library_of(paths, bytes);
    kept.trained = is_trained(paths, bytes_of(answer, "explained_bytes"));
    kept.has_graph = bytes_of(answer, "graph_bytes") > 0;
    kept.in_graph = bytes_of(answer, "graph_bytes") >= SEEP_T_HALF * bytes;
    if (bytes_of_holder(first) >= SEEP_T_MOST * bytes)
        take_container(answer, first, &kept);
    return kept;
}

struct seep_kept_by seep_kept_by_of_small(const struct seep_small_rise *rise)
{
    struct seep_kept_by kept = seep_kept_by_of(rise->answer);

    /* Where there were enough snapshots to tell, their trend counts. */
    kept.grows = kept.known && rise->to_step > rise->from_step &&
                 !json_is_false(json_object_get(rise->answer, "grows"));
    kept.pace = rise->pace;
    return kept;
}

const char *seep_kept_by_nobody_text(const struct seep_kept_by *kept)
{
    if (!seep_kept_by_nobody(kept))
        return "";
    return kept->state == SEEP_HOLDERS_LOST
               ? "A snapshot shows that nothing points to it any more: whoever allocated it forgot "
                 "to free it"
               : "A snapshot shows that nothing refers to it any more, but it still counts a "
                 "reference that was never given back";
}
