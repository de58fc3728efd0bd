#include "libprof/torch/torch_before.h"

static const uint64_t PAGE_BYTES = UINT64_C(2) << 20, MAX_PAGES = 1 << 24;

/* Segments for blocks up to 1 MiB have this size, those for larger ones have more. */
static const uint64_t SMALL_SEGMENT_BYTES = UINT64_C(2) << 20, LARGE_PAGE_BYTES = UINT64_C(20)
                                                                                  << 20;

bool seep_torch_is_of(const struct seep_torch_event *e, enum seep_torch_tier tier)
{
    return tier == SEEP_TORCH_TENSORS
               ? e->action == SEEP_TORCH_ALLOC || e->action == SEEP_TORCH_FREE
               : e->action == SEEP_TORCH_SEGMENT_ALLOC || e->action == SEEP_TORCH_SEGMENT_MAP ||
                     e->action == SEEP_TORCH_SEGMENT_FREE || e->action == SEEP_TORCH_SEGMENT_UNMAP;
}

bool seep_torch_allocates(const struct seep_torch_event *e)
{
    return e->action == SEEP_TORCH_ALLOC || e->action == SEEP_TORCH_SEGMENT_ALLOC ||
           e->action == SEEP_TORCH_SEGMENT_MAP;
}

/* ---- pieces ------------------------------------------------------------------------------- */

static bool is_mapping(const struct seep_torch_event *e)
{
    return e->action == SEEP_TORCH_SEGMENT_MAP || e->action == SEEP_TORCH_SEGMENT_UNMAP;
}

bool seep_torch_goes_by_pages(const struct seep_torch_records *records)
{
    uint64_t pages = 0;

    for (size_t i = 0; i < records->n_segments; i++)
        pages += records->segments[i].is_expandable ? records->segments[i].bytes / PAGE_BYTES : 0;
    for (size_t i = 0; i < records->n_events; i++)
        pages += is_mapping(&records->events[i]) ? records->events[i].bytes / PAGE_BYTES : 0;
    return pages < MAX_PAGES;
}

static struct seep_torch_pieces cut_up(const struct seep_torch_live *whole, bool by_pages)
{
    struct seep_torch_pieces pieces = {*whole, whole->address + whole->bytes};

    pieces.piece.is_page = by_pages;
    if (by_pages)
        pieces.piece.bytes = PAGE_BYTES;
    return pieces;
}

struct seep_torch_pieces seep_torch_pieces_of(const struct seep_torch_event *e, bool by_pages)
{
    return cut_up(&(struct seep_torch_live){.address = e->address,
                                            .bytes = e->bytes,
                                            .pool = e->pool,
                                            .is_small = is_mapping(e)
                                                            ? e->bytes % LARGE_PAGE_BYTES != 0
                                                            : e->bytes <= SMALL_SEGMENT_BYTES},
                  by_pages && is_mapping(e));
}

bool seep_torch_next_piece(struct seep_torch_pieces *p, struct seep_torch_live *piece)
{
    if (p->piece.address >= p->end || !p->piece.bytes)
        return false;
    const uint64_t left = p->end - p->piece.address;
    *piece = p->piece;
    piece->bytes = left < piece->bytes ? left : piece->bytes;
    p->piece.address += piece->bytes;
    return true;
}

/* ---- backwards ---------------------------------------------------------------------------- */

static int put(struct seep_torch_blocks *to, struct seep_torch_pieces pieces)
{
    struct seep_torch_live piece;
    int rc = 0;

    while (!rc && seep_torch_next_piece(&pieces, &piece))
        rc = seep_torch_blocks_put(to, &piece);
    return rc;
}

static int put_segment(const struct seep_torch_segment *s, bool by_pages,
                       struct seep_torch_blocks *live)
{
    const struct seep_torch_live whole = {.address = s->address,
                                          .bytes = s->bytes,
                                          .owner = s->stack,
                                          .pool = s->pool,
                                          .is_small =
                                              s->is_small || s->bytes <= SMALL_SEGMENT_BYTES};

    return put(live, cut_up(&whole, by_pages && s->is_expandable));
}

static int put_blocks(const struct seep_torch_records *records, const struct seep_torch_segment *s,
                      struct seep_torch_blocks *live)
{
    int rc = 0;

    for (uint32_t i = 0; i < s->n_blocks && !rc; i++) {
        const struct seep_torch_block *b = &records->blocks[s->first_block + i];
        const struct seep_torch_live block = {
            .address = b->address, .bytes = b->bytes, .owner = b->stack, .pool = s->pool};
        if (b->is_live)
            rc = seep_torch_blocks_put(live, &block);
    }
    return rc;
}

/* What is there as the snapshot was written. */
static int put_end(const struct seep_torch_records *records, uint8_t device,
                   enum seep_torch_tier tier, bool by_pages, struct seep_torch_blocks *live)
{
    int rc = 0;

    for (size_t i = 0; i < records->n_segments && !rc; i++) {
        const struct seep_torch_segment *s = &records->segments[i];
        if (s->device == device)
            rc = tier == SEEP_TORCH_DRIVER ? put_segment(s, by_pages, live)
                                           : put_blocks(records, s, live);
    }
    return rc;
}

int seep_torch_before(const struct seep_torch_records *records, uint8_t device,
                      enum seep_torch_tier tier, bool by_pages, struct seep_torch_blocks *live)
{
    struct seep_torch_live piece, gone;
    int rc = put_end(records, device, tier, by_pages, live);

    for (size_t i = records->n_events; i-- > 0 && !rc;) {
        const struct seep_torch_event *e = &records->events[i];
        if (e->device != device || !seep_torch_is_of(e, tier))
            continue;
        struct seep_torch_pieces pieces = seep_torch_pieces_of(e, by_pages);
        while (seep_torch_allocates(e) && seep_torch_next_piece(&pieces, &piece))
            (void)seep_torch_blocks_take(live, piece.address, &gone);
        if (!seep_torch_allocates(e))
            rc = put(live, pieces);
    }
    return rc;
}
