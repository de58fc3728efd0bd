#include "libprof/model/model.h"
#include "libprof/model/stack_import.h"
#include "libprof/model/stages/process_import.h"

#include <stdlib.h>

/* No device has more, and sums stay exact. */
static const uint64_t MAX_BYTES = UINT64_C(1) << 50, TOP_ADDRESS = UINT64_C(1) << 57;

static const struct seep_layout_piece *piece_at(struct seep_profile *profile, uint32_t ref)
{
    struct seep_profile *found_in = NULL;
    const struct seep_layout_piece *piece =
        seep_profile_at(profile, ref, SEEP_CHUNK_LAYOUTS, sizeof *piece, &found_in);

    return found_in == profile ? piece : NULL;
}

static bool is_whole(const struct seep_layout_piece *piece)
{
    return piece->t_ns && piece->t_ns == piece->end_t_ns &&
           piece->n_blocks <= SEEP_LAYOUT_PIECE_BLOCKS && piece->device < SEEP_MAX_DEVICES &&
           piece->reason < SEEP_N_LAYOUT_REASONS;
}

/* The next piece of a chain; NULL at its end, and where the chain is broken. */
static const struct seep_layout_piece *next_of(struct seep_profile *profile,
                                               const struct seep_layout_piece *piece)
{
    const struct seep_layout_piece *next =
        piece->number + 1 < piece->n_pieces ? piece_at(profile, piece->next) : NULL;
    const bool fits = next && is_whole(next) && next->number == piece->number + 1 &&
                      next->n_pieces == piece->n_pieces && next->t_ns == piece->t_ns &&
                      next->device == piece->device && next->reason == piece->reason;

    return fits ? next : NULL;
}

/* How many blocks a chain has; 0 if it is incomplete. */
static size_t length_of(struct seep_profile *profile, const struct seep_layout_piece *piece)
{
    size_t n = 0;

    if (!is_whole(piece) || piece->number || !piece->n_pieces ||
        piece->n_pieces > SEEP_LAYOUT_PIECES)
        return 0;
    for (uint32_t left = piece->n_pieces; piece; piece = next_of(profile, piece)) {
        n += piece->n_blocks;
        if (!--left)
            return n;
    }
    return 0;
}

typedef const struct seep_layout_piece *heads[SEEP_MAX_DEVICES][SEEP_N_LAYOUT_REASONS];

/* The first pieces of the newest complete chains. */
static void find_heads(struct seep_profile *profile, heads found)
{
    for (uint32_t c = profile->first_chunk; c < profile->n_chunks; c++) {
        const uint64_t at = SEEP_HEADER_BYTES + (uint64_t)c * SEEP_CHUNK_BYTES;
        const struct seep_layout_piece *piece = piece_at(profile, (uint32_t)(at / 8));
        if (!piece || !length_of(profile, piece))
            continue;
        const struct seep_layout_piece **head = &found[piece->device][piece->reason];
        if (!*head || piece->t_ns > (*head)->t_ns)
            *head = piece;
    }
}

static bool is_sound(const struct seep_layout_block *block)
{
    return block->bytes && block->bytes <= MAX_BYTES && block->address < TOP_ADDRESS &&
           block->kind >= SEEP_LAYOUT_SEGMENT && block->kind <= SEEP_LAYOUT_TENSOR;
}

static uint64_t bounded(uint64_t bytes)
{
    return bytes < MAX_BYTES ? bytes : MAX_BYTES;
}

static int add_layout(struct seep_model *m, struct seep_resolver *resolver, uint32_t process,
                      const struct seep_layout_piece *head)
{
    const struct seep_model_process *p = &m->processes[process];
    struct seep_model_layout layout = {.process = process,
                                       .device = head->device,
                                       .reason = (enum seep_layout_reason)head->reason,
                                       .step = seep_model_step(m, p, head->period),
                                       .t_ns = seep_model_ns(p, head->t_ns),
                                       .asked_bytes = bounded(head->asked_bytes),
                                       .left_out = head->left_out,
                                       .left_out_bytes = bounded(head->left_out_bytes)};

    layout.blocks = calloc(length_of(p->profile, head), sizeof *layout.blocks);
    if (!layout.blocks ||
        seep_grow(&m->layouts, &m->layouts_capacity, m->n_layouts + 1, sizeof *m->layouts)) {
        free(layout.blocks);
        return -SEEP_ENOMEM;
    }
    for (; head; head = next_of(p->profile, head)) {
        for (uint32_t i = 0; i < head->n_blocks; i++) {
            const struct seep_layout_block *its = &head->blocks[i];
            if (!is_sound(its)) {
                layout.left_out += layout.left_out < UINT32_MAX;
                continue;
            }
            layout.blocks[layout.n_blocks++] = (struct seep_model_layout_block){
                .address = its->address,
                .bytes = its->bytes,
                .site = seep_process_site(m, resolver, p, its->site),
                .kind = (enum seep_layout_kind)its->kind};
        }
    }
    m->layouts[m->n_layouts++] = layout;
    return 0;
}

int seep_process_import_layouts(struct seep_model *m, struct seep_resolver *resolver,
                                uint32_t process)
{
    heads found = {{NULL}};
    int rc = 0;

    find_heads(m->processes[process].profile, found);
    for (unsigned d = 0; d < SEEP_MAX_DEVICES; d++) {
        for (unsigned r = 0; r < SEEP_N_LAYOUT_REASONS && !rc; r++) {
            if (found[d][r])
                rc = add_layout(m, resolver, process, found[d][r]);
        }
    }
    return rc;
}
