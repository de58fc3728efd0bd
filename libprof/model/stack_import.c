#include "libprof/model/stack_import.h"

#include <string.h>

/* In a memo: the node is on the path being walked. Ids + 1 never reach it. */
enum { BEING_WALKED = UINT32_MAX - 1 };

static uint32_t pseudo_stack(struct seep_dictionary *d, enum seep_pseudo_frame which)
{
    struct seep_dict_frame frame = {.kind = SEEP_FRAME_NATIVE, .pseudo = true, .where = which};

    return seep_dictionary_stack(d, 0, seep_dictionary_frame(d, &frame));
}

static uint32_t resolve_string(struct seep_dictionary *d, struct seep_profile *profile,
                               uint32_t ref)
{
    struct seep_profile *found_in;
    uint32_t n;
    const char *text = ref ? seep_profile_string(profile, ref, &n, &found_in) : NULL;

    if (!text)
        return 0;
    uint32_t *memo = seep_profile_memo(found_in, ref);
    if (memo && *memo)
        return *memo - 1;
    uint32_t id = seep_dictionary_string(d, text, n);
    if (memo)
        *memo = id + 1;
    return id;
}

static bool make_python(struct seep_dictionary *d, struct seep_profile *profile,
                        const struct seep_frame *f, struct seep_dict_frame *out)
{
    const struct seep_code_object *code =
        seep_profile_at(profile, f->source, SEEP_CHUNK_CODES, sizeof *code, NULL);

    if (!code || !code->file)
        return false;
    out->kind = SEEP_FRAME_PYTHON;
    out->source = resolve_string(d, profile, code->file);
    out->function = resolve_string(d, profile, code->function);
    out->qualname = resolve_string(d, profile, code->qualname);
    out->where = f->where <= INT32_MAX ? f->where : 0;
    return true;
}

static bool make_native(struct seep_dictionary *d, struct seep_profile *profile,
                        const struct seep_frame *f, struct seep_dict_frame *out)
{
    out->kind = SEEP_FRAME_NATIVE;
    out->where = f->where;
    if (!f->source)
        return true;
    const struct seep_module *module =
        seep_profile_at(profile, f->source, SEEP_CHUNK_MODULES, sizeof *module, NULL);
    if (!module || !module->path)
        return false;
    out->source = seep_dictionary_module(d, resolve_string(d, profile, module->path),
                                         resolve_string(d, profile, module->build_id));
    return true;
}

static uint32_t resolve_frame(struct seep_dictionary *d, struct seep_profile *profile, uint32_t ref)
{
    struct seep_dict_frame made = {0};
    struct seep_profile *found_in = NULL;
    const struct seep_frame *f =
        ref ? seep_profile_at(profile, ref, SEEP_CHUNK_FRAMES, sizeof *f, &found_in) : NULL;
    uint32_t *memo = f ? seep_profile_memo(found_in, ref) : NULL;

    if (memo && *memo)
        return *memo - 1;
    bool known = f && ((f->kind == SEEP_FRAME_PYTHON && make_python(d, found_in, f, &made)) ||
                       (f->kind == SEEP_FRAME_NATIVE && make_native(d, found_in, f, &made)));
    if (!known)
        made = (struct seep_dict_frame){
            .kind = SEEP_FRAME_NATIVE, .pseudo = true, .where = SEEP_PSEUDO_UNKNOWN};
    uint32_t id = seep_dictionary_frame(d, &made);
    if (memo)
        *memo = id + 1;
    return id;
}

uint32_t seep_resolve_frame(struct seep_resolver *r, struct seep_profile *profile, uint32_t ref)
{
    return resolve_frame(r->dict, profile, ref);
}

uint32_t seep_resolve_stack(struct seep_resolver *r, struct seep_profile *profile, uint32_t ref)
{
    struct step {
        struct seep_profile *found_in;
        uint32_t frame;
        uint32_t *memo;
    } path[SEEP_MAX_STACK_DEPTH];
    uint32_t n = 0, id = 0;

    if (!ref)
        return pseudo_stack(r->dict, SEEP_PSEUDO_BOUND);
    while (ref && n < SEEP_MAX_STACK_DEPTH) {
        struct seep_profile *found_in;
        const struct seep_stack *node =
            seep_profile_at(profile, ref, SEEP_CHUNK_STACKS, sizeof *node, &found_in);
        uint32_t *memo = node && node->frame ? seep_profile_memo(found_in, ref) : NULL;
        if (!memo || *memo == BEING_WALKED) {
            id = pseudo_stack(r->dict, SEEP_PSEUDO_UNKNOWN);
            break;
        }
        if (*memo) {
            id = *memo - 1;
            break;
        }
        *memo = BEING_WALKED;
        path[n++] = (struct step){found_in, node->frame, memo};
        /* A node's parent lies in the same file or in one that it inherits. */
        profile = found_in;
        ref = node->parent;
    }
    while (n > 0) {
        n--;
        uint32_t frame = resolve_frame(r->dict, path[n].found_in, path[n].frame);
        id = seep_dictionary_stack(r->dict, id, frame);
        *path[n].memo = id + 1;
    }
    return id;
}
