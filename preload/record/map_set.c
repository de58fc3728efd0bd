#include "preload/record/map_set.h"

#include <string.h>

#include "libprof/contract.h"
#include "preload/job/job.h"
#include "preload/record/capture.h"
#include "preload/record/map_resident.h"
#include "preload/record/shm_segments.h"
#include "preload/record/tick.h"
#include "preload/steps/code_marks.h"

enum { FEW = sizeof(((struct seep_map_taken *)0)->few) / sizeof(struct seep_range) };

void seep_map_take(struct seep_map_taken *taken, uintptr_t start, uintptr_t end)
{
    SEEP_CHECK(seep_is_inside());
    taken->pieces = taken->few;
    taken->bytes = 0;
    taken->n = seep_range_take(start, end, SEEP_RANGES_ALL, taken->few, FEW);
    enum { FIRST_BYTES = 16 * 1024 };
    unsigned capacity = FEW;
    while (taken->n == capacity) {
        size_t bytes = taken->bytes ? taken->bytes * 4 : FIRST_BYTES;
        struct seep_range *more = seep_os_pages(bytes);
        if (!more)
            return;
        memcpy(more, taken->pieces, taken->n * sizeof(*more));
        seep_map_drop(taken);
        taken->pieces = more;
        taken->bytes = bytes;
        capacity = (unsigned)(bytes / sizeof(*more));
        taken->n +=
            seep_range_take(start, end, SEEP_RANGES_ALL, more + taken->n, capacity - taken->n);
    }
}

void seep_map_drop(struct seep_map_taken *taken)
{
    if (taken->bytes)
        seep_os_unmap(taken->pieces, taken->bytes);
}

void seep_map_put_back(const struct seep_map_taken *taken)
{
    for (unsigned i = 0; i < taken->n; i++)
        (void)seep_range_put(&taken->pieces[i]);
}

void seep_map_note_gone(const struct seep_map_taken *taken)
{
    for (unsigned i = 0; i < taken->n; i++)
        if (!seep_segment_stays(&taken->pieces[i]))
            seep_map_count_gone(&taken->pieces[i], taken->pieces[i].last);
}

void seep_map_gone(uintptr_t start, uintptr_t end)
{
    SEEP_CHECK(seep_is_inside());
    struct seep_range pieces[FEW];
    unsigned n;
    do {
        n = seep_range_take(start, end, SEEP_RANGES_ALL, pieces, FEW);
        for (unsigned i = 0; i < n; i++)
            seep_map_count_gone(&pieces[i], pieces[i].last);
    } while (n == FEW);
}

/* The caller sets the address, space, state and, if it counts by touch, the bytes of `range`. */
static void made(struct seep_range range, const struct seep_regs *regs)
{
    struct seep_thread *thread = seep_tls.thread;
    uint64_t bytes = range.end - range.start;
    range.origin = range.site = 0;
    range.birth = *seep_period;
    if (range.state == SEEP_RANGE_RESERVED) {
        range.counted = 0;
        (void)seep_range_put(&range);
        return;
    }
    if (range.state == SEEP_RANGE_COMMITTED)
        range.counted = bytes;
    seep_tick(thread);
    range.site = seep_capture(thread, regs, range.space);
    if (!range.site || !seep_range_put(&range)) {
        seep_arena_drop(range.site ? SEEP_DROP_MEMORY : seep_arena_reason());
        return;
    }
    seep_site_allocated(&thread->sites, seep_site_at(range.site), 1, range.counted, bytes,
                        range.birth);
    if (range.space == SEEP_SPACE_SHM && (thread->marks & SEEP_MARK_SHARE))
        thread->shared = (struct seep_map_of_move){range.start, bytes};
}

void seep_map_inherit(struct seep_thread *thread, uint64_t block_bytes, uint32_t site)
{
    SEEP_CHECK(seep_is_inside());
    const uintptr_t start = thread->shared.start, bytes = thread->shared.bytes;
    struct seep_range piece;
    if (block_bytes > bytes || bytes - block_bytes >= seep_os_page_bytes())
        return;
    thread->shared.bytes = 0;
    if (site < seep_sites_first_own || seep_site_is_shared(seep_site_at(site)) ||
        !seep_range_take(start, start + bytes, 1u << SEEP_RANGE_COMMITTED, &piece, 1))
        return;
    uint32_t heir = piece.end - piece.start == bytes
                        ? seep_site_find(&thread->sites, seep_site_at(site)->stack, piece.space)
                        : 0;
    if (heir) {
        seep_map_count_gone(&piece, true);
        piece.site = heir;
        seep_site_allocated(&thread->sites, seep_site_at(heir), 1, piece.counted, bytes,
                            piece.birth);
    }
    (void)seep_range_put(&piece);
}

void seep_map_made(unsigned space, enum seep_range_state state, uintptr_t start, uintptr_t bytes,
                   const struct seep_regs *regs)
{
    SEEP_CHECK(seep_is_inside());
    made(
        (struct seep_range){
            .start = start, .end = start + bytes, .space = (uint8_t)space, .state = (uint8_t)state},
        regs);
}

void seep_map_committed(uintptr_t start, uintptr_t end, const struct seep_regs *regs)
{
    SEEP_CHECK(seep_is_inside());
    struct seep_range pieces[FEW];
    unsigned n;
    do {
        n = seep_range_take(start, end, 1u << SEEP_RANGE_RESERVED, pieces, FEW);
        for (unsigned i = 0; i < n; i++)
            seep_map_made(pieces[i].space, SEEP_RANGE_COMMITTED, pieces[i].start,
                          pieces[i].end - pieces[i].start, regs);
    } while (n == FEW);
}

bool seep_map_handed_out(uintptr_t address)
{
    struct seep_range map, piece;
    if (!seep_range_find(address, SEEP_RANGES_OF_MEMORY, &map) || map.start > address)
        return true;
    if (map.space != SEEP_SPACE_MMAP)
        return false;
    if (seep_range_take(map.start, map.end, SEEP_RANGES_OF_MEMORY, &piece, 1)) {
        seep_map_count_gone(&piece, piece.last);
        piece.state = SEEP_RANGE_RESERVED;
        piece.site = 0;
        piece.counted = 0;
        (void)seep_range_put(&piece);
    }
    return true;
}

void seep_map_released(uintptr_t start, uintptr_t end, bool shared)
{
    SEEP_CHECK(seep_is_inside());
    struct seep_range lost[FEW];
    unsigned n;
    do {
        n = seep_range_release(&start, end, SEEP_SPACE_SHM, !shared, lost, FEW);
        for (unsigned i = 0; i < n; i++)
            seep_map_count_gone(&lost[i], 0);
    } while (n == FEW);
}

/* The map stays in place and does not grow: what is before `end` stays as it is. */
static void shrunk(const struct seep_map_taken *taken, uintptr_t end)
{
    for (unsigned i = 0; i < taken->n; i++) {
        const struct seep_range *piece = &taken->pieces[i];
        if (piece->start >= end) {
            seep_map_count_gone(piece, piece->last);
            continue;
        }
        uintptr_t to = end < piece->end ? end : piece->end;
        struct seep_range head = seep_range_part(piece, piece->start, to), tail = *piece;
        tail.counted -= head.counted;
        seep_map_count_gone(&tail, 0);
        (void)seep_range_put(&head);
    }
}

void seep_map_moved(const struct seep_map_taken *taken, uintptr_t old, uintptr_t old_bytes,
                    uintptr_t fresh, uintptr_t new_bytes, bool keeps, const struct seep_regs *regs)
{
    struct seep_range whole = taken->pieces[0];
    if (fresh == old && new_bytes <= old_bytes) {
        shrunk(taken, old + new_bytes);
        return;
    }
    for (unsigned i = 0; i < taken->n; i++) {
        struct seep_range piece = taken->pieces[i];
        if (i && piece.state != SEEP_RANGE_RESERVED)
            whole.counted += piece.counted;
        if (piece.state < whole.state)
            whole.state = piece.state;
        seep_map_count_gone(&piece, keeps ? 0 : piece.last);
        if (!keeps)
            continue;
        piece.counted = 0;
        if (piece.state == SEEP_RANGE_COMMITTED)
            piece.state = SEEP_RANGE_BY_TOUCH;
        (void)seep_range_put(&piece);
    }
    whole.start = fresh;
    whole.end = fresh + new_bytes;
    if (whole.counted > new_bytes)
        whole.counted = new_bytes;
    made(whole, regs);
}
