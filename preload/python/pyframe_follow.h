/* Follows a thread's Python stack from one event to the next. Part of pyframe.c, compiled for each
 * version.
 *
 * Most events have the same stack as the event before, or differ only at its inner end. Each
 * remembered frame is compared with memory as it is now. The address of the next frame is taken
 * from the remembered stack and confirmed by the link afterwards, so the processor need not wait
 * for one link after another. A remembered address is read only after the link that leads to it.
 *
 * The comparison ends outside a sealed frame: if the same code is still at the same place, nothing
 * further out has changed. (Other frames may have returned and been entered again between two
 * events.) An import of many modules has more than a hundred frames and a million events. */
#ifndef SEEP_PRELOAD_PYTHON_PYFRAME_FOLLOW_H
#define SEEP_PRELOAD_PYTHON_PYFRAME_FOLLOW_H

enum { FRAMES = SEEP_MAX_PYTHON_FRAMES, NEAR = 8, MANY_HIDDEN = 1, BROKEN = FRAMES + 1 };

/* The next frame that counts; 0 if there is none. `*via` is the hidden frame skipped on the way. */
static ALWAYS_INLINE uintptr_t frame_next(const struct seep_python_layout *layout, uintptr_t frame,
                                          uintptr_t *via)
{
    uintptr_t inner = frame;
    *via = 0;
    frame = word(frame + layout->frame_back);
    while (layout->minor >= 11 && frame && is_hidden(layout, frame, inner)) {
        *via = *via ? MANY_HIDDEN : frame;
        inner = frame;
        frame = word(frame + layout->frame_back);
    }
    return frame;
}

/* In a code_stamp: at the code of a function. */
#define FUNCTION UINT64_C(1)

/* Distinguishes a code object from another that now has its address. */
static ALWAYS_INLINE uint64_t code_stamp(const struct seep_python_layout *layout, uintptr_t code)
{
    enum { CO_OPTIMIZED_FUNCTION = 1 };
    const uint64_t file = word(code + layout->code_file);
    uint64_t sum = (word(code + layout->code_name) ^ (file << 21 | file >> 43)) +
                   *(const uint32_t *)(code + layout->code_firstline);
    if (LIKELY(*(const uint32_t *)(code + layout->code_flags) & CO_OPTIMIZED_FUNCTION))
        return sum | FUNCTION;
    /* Modules and code run by exec() may have all that in common: their line tables differ. */
    const uintptr_t lines = word(code + layout->code_lines);
    sum += word(lines + SEEP_PY_SIZE) * 31 + word(lines + SEEP_PY_BYTES_DATA) * 17;
    return sum & ~FUNCTION;
}

/* Code of a module or of exec() goes as soon as it has run, and the next may have its address. That
 * of a function goes with the function, and for a new one something must be compiled or read, with
 * events of their own, before a frame can be in the same place: its two lines of memory, which a
 * training has pushed out of the caches, are not read again. Nor are the five of the outermost
 * frame, mostly the script's: the next one is compiled or read where there is no frame at all. */
static ALWAYS_INLINE uint64_t glance_again(const struct seep_python_layout *layout, uintptr_t code,
                                           const struct seep_pyframe *read,
                                           const struct seep_pylink *link, bool outermost)
{
    return LIKELY(code == read->code && (link->code_stamp & FUNCTION || outermost))
               ? link->code_stamp
               : code_stamp(layout, code);
}

static ALWAYS_INLINE void note_frame(const struct seep_python_layout *layout, uintptr_t frame,
                                     struct seep_pyframe *read, struct seep_pylink *link)
{
    *read = frame_read(layout, frame);
    link->frame = frame;
    link->code_stamp = code_stamp(layout, read->code);
}

/* Computes hashes from the frame at `from` inwards; the stack is complete again. */
static inline void hash_inwards(struct seep_pystack *stack, unsigned from, unsigned first)
{
    uint64_t hash = from + 1 < FRAMES ? stack->links[from + 1].hash : 0;
    for (unsigned i = from + 1; i-- > first;) {
        hash = (hash ^ (stack->frames[i].code + stack->links[i].code_stamp)) *
               UINT64_C(0x9e3779b97f4a7c15);
        hash = ((hash ^ hash >> 32) + stack->frames[i].position) * UINT64_C(0xd6e8feb86659fd93);
        hash ^= hash >> 29;
        stack->links[i].hash = hash;
    }
    __asm__ volatile("" ::: "memory");
    stack->n = FRAMES - first;
}

/* Reads the whole stack and reuses nothing remembered. */
static ALWAYS_INLINE void follow_anew(const struct seep_python_layout *layout,
                                      struct seep_pystack *stack, uintptr_t frame)
{
    unsigned n = 0;
    stack->n = stack->n_kept = 0;
    __asm__ volatile("" ::: "memory");
    for (; frame && n < FRAMES; n++) {
        struct seep_pylink *link = &stack->links[n];
        note_frame(layout, frame, &stack->frames[n], link);
        frame = frame_next(layout, frame, &link->via);
    }
    stack->cut = frame != 0;
    memmove(stack->frames + FRAMES - n, stack->frames, n * sizeof(stack->frames[0]));
    memmove(stack->links + FRAMES - n, stack->links, n * sizeof(stack->links[0]));
    hash_inwards(stack, FRAMES - 1, FRAMES - n);
}

/* The index of `frame` in the previous stack; FRAMES if it is not between `from` and `to`. */
static ALWAYS_INLINE unsigned find_frame(const struct seep_pystack *stack, unsigned from,
                                         unsigned to, uintptr_t frame)
{
    for (unsigned i = from; i < to; i++)
        if (stack->links[i].frame == frame)
            return i;
    return FRAMES;
}

/* Compares the frames from `from` outwards with memory as it is now, and stores what changed.
 * Returns 1 + the outermost that changed, 0 if none did, or BROKEN if the links lead to other
 * frames. */
static ALWAYS_INLINE unsigned confirm(const struct seep_python_layout *layout,
                                      struct seep_pystack *stack, unsigned from)
{
    const struct seep_pyframe *const end = stack->frames + FRAMES;
    struct seep_pyframe *read = stack->frames + from;
    struct seep_pylink *link = stack->links + from;
    uintptr_t frame = link->frame, inner = 0, sealed = 0;
    unsigned changed = 0;
    for (;; read++, link++) {
        const uintptr_t code = frame_code(layout, frame);
        const uintptr_t position = frame_position(layout, frame);
        const uint64_t now = glance_again(layout, code, read, link, read + 1 == end);
        if (!LIKELY(
                !((code ^ read->code) | (position ^ read->position) | (now ^ link->code_stamp)))) {
            if (inner && is_hidden(layout, frame, inner))
                return BROKEN;
            stack->n = 0; /* until the hashes are right again: a signal may interrupt this */
            __asm__ volatile("" ::: "memory");
            if (code != read->code || now != link->code_stamp)
                link->via &= ~SEEP_PYLINK_FLAGS;
            read->code = code;
            read->position = position;
            link->code_stamp = now;
            changed = FRAMES + 1 - (unsigned)(end - read);
        }
        inner = frame;
        uintptr_t back = seep_py_word(frame + layout->frame_back);
        if (!LIKELY(!link->via)) {
            const uintptr_t via = link->via & ~SEEP_PYLINK_FLAGS;
            sealed |= link->via & SEEP_PYLINK_SEAL;
            if (sealed && link->via & SEEP_PYLINK_END)
                return back == (via ? via : link[1].frame) ? changed : BROKEN;
            if (via) {
                if (back != via)
                    return BROKEN;
                inner = back;
                back = word(back + layout->frame_back);
            }
        }
        if (read + 1 == end)
            return back ? BROKEN : changed;
        frame = link[1].frame;
        __asm__("" : "+r"(frame)); /* otherwise the compiler uses `back` here, and waits for it */
        if (!LIKELY(back == link[1].frame))
            return BROKEN;
    }
}

/* Collects frames that the previous stack lacked, innermost first. Returns where the previous stack
 * continues; FRAMES if that is not near. */
static ALWAYS_INLINE unsigned take_fresh(const struct seep_python_layout *layout,
                                         struct seep_pystack *stack, uintptr_t frame, unsigned *n)
{
    const unsigned first = FRAMES - stack->n;
    unsigned at = LIKELY(stack->links[first].frame == frame)
                      ? first
                      : find_frame(stack, first, FRAMES, frame);
    for (*n = 0; at == FRAMES; ++*n) {
        if (!frame || *n == SEEP_FRESH_PYTHON_FRAMES)
            return FRAMES;
        note_frame(layout, frame, &stack->fresh[*n].frame, &stack->fresh[*n].link);
        frame = frame_next(layout, frame, &stack->fresh[*n].link.via);
        at = find_frame(stack, first, first + NEAR < FRAMES ? first + NEAR : FRAMES, frame);
    }
    return at;
}

static ALWAYS_INLINE void follow_layout(const struct seep_python_layout *layout,
                                        struct seep_pystack *stack)
{
    const uintptr_t innermost = frame_first(layout);
    unsigned n_fresh, changed = BROKEN, at = FRAMES;

    if (!innermost) {
        stack->n = stack->n_kept = 0;
        return;
    }
    const unsigned first = FRAMES - stack->n;
    if (LIKELY(stack->n && !stack->cut))
        at = take_fresh(layout, stack, innermost, &n_fresh);
    if (LIKELY(at < FRAMES && at >= n_fresh))
        changed = confirm(layout, stack, at);
    if (changed == BROKEN) {
        follow_anew(layout, stack, innermost);
        return;
    }
    const unsigned now_first = at - n_fresh;
    if (LIKELY(!changed && !n_fresh && now_first == first))
        return;
    stack->n = 0;
    __asm__ volatile("" ::: "memory");
    for (unsigned i = 0; i < n_fresh; i++) {
        stack->frames[now_first + i] = stack->fresh[i].frame;
        stack->links[now_first + i] = stack->fresh[i].link;
    }
    const unsigned outermost = changed ? changed - 1 : at - 1;
    if (changed || n_fresh)
        hash_inwards(stack, outermost, now_first);
    stack->n = FRAMES - now_first;
    const unsigned kept = FRAMES - (changed || n_fresh ? outermost + 1 : now_first);
    if (kept < stack->n_kept)
        stack->n_kept = kept;
}

#endif
