#include "libprof/code/library_caches.h"

#include "libprof/base/text.h"
#include "libprof/code/name_patterns.h"

#include <string.h>

static const struct seep_library_cache caches[] = {
#define SEEP_LIBRARY_CACHE(name, module, function, file, qualname, holder, block_bytes, blocks,    \
                           bound, advice)                                                          \
    {name, module, function, file, qualname, holder, block_bytes, blocks, bound, advice},
#include "libprof/code/library_caches.def"
#undef SEEP_LIBRARY_CACHE
};

enum { N_CACHES = sizeof caches / sizeof *caches };

static bool fits_or_says_nothing(const char *patterns, const char *text, bool ends)
{
    return !*patterns || seep_name_fits(patterns, text, ends);
}

/* `asks`: this frame asked for the memory itself. A library that calls the user's code may be on
 * the stack without having asked, so its name alone proves nothing. */
static bool is_native(const struct seep_library_cache *cache, const char *module,
                      const char *function, bool asks)
{
    return ((*cache->module && asks) || *cache->function) &&
           fits_or_says_nothing(cache->module, module, false) &&
           fits_or_says_nothing(cache->function, function, false);
}

static bool is_python(const struct seep_library_cache *cache, const char *file,
                      const char *function, const char *qualname)
{
    return *cache->file && seep_name_fits(cache->file, file, true) &&
           (fits_or_says_nothing(cache->qualname, function, false) ||
            fits_or_says_nothing(cache->qualname, qualname, false));
}

static const struct seep_library_cache *of_frame(const struct seep_dictionary *d,
                                                 const struct seep_symbols *symbols, uint32_t frame,
                                                 bool asks)
{
    const struct seep_dict_frame *f = &d->frames[frame];
    const struct seep_symbol *symbol;
    const bool native = f->kind == SEEP_FRAME_NATIVE;
    const char *file = "", *function = "", *qualname = "";

    if (f->pseudo)
        return NULL;
    if (native) {
        file = f->source ? seep_text_base(seep_dictionary_text(d, d->modules[f->source].path)) : "";
        if (seep_symbols_get(symbols, frame, &symbol) && symbol[0].function)
            function = symbol[0].function;
    } else {
        file = seep_dictionary_text(d, f->source);
        function = seep_dictionary_text(d, f->function);
        qualname = seep_dictionary_text(d, f->qualname);
    }
    for (size_t i = 0; i < N_CACHES; i++) {
        if (native ? is_native(&caches[i], file, function, asks)
                   : is_python(&caches[i], file, function, qualname))
            return &caches[i];
    }
    return NULL;
}

/* Whether it belongs to the C or C++ library, whose functions allocate on behalf of others. */
static bool only_passes_on(const struct seep_dictionary *d, uint32_t frame)
{
    const struct seep_dict_frame *f = &d->frames[frame];

    return f->kind == SEEP_FRAME_NATIVE && !f->pseudo && f->source &&
           seep_name_fits("libc.so*|libstdc++.so*|libc++.so*",
                          seep_text_base(seep_dictionary_text(d, d->modules[f->source].path)),
                          false);
}

const struct seep_library_cache *seep_library_cache_of_stack(const struct seep_dictionary *d,
                                                             const struct seep_symbols *symbols,
                                                             uint32_t stack, uint32_t line)
{
    bool asks = true;

    for (uint32_t s = stack; s; s = d->stacks[s].parent) {
        const struct seep_library_cache *cache = of_frame(d, symbols, d->stacks[s].frame, asks);
        if (cache)
            return cache;
        asks = asks && only_passes_on(d, d->stacks[s].frame);
        if (d->stacks[s].frame == line)
            break;
    }
    return NULL;
}

const struct seep_library_cache *seep_library_cache_of_freed(const struct seep_dictionary *d,
                                                             uint32_t stack)
{
    const struct seep_library_cache *cache = NULL;

    while (stack && only_passes_on(d, d->stacks[stack].frame))
        stack = d->stacks[stack].parent;
    const struct seep_dict_frame *f = &d->frames[stack ? d->stacks[stack].frame : 0];
    if (stack && f->kind == SEEP_FRAME_NATIVE && !f->pseudo && f->source)
        cache = seep_library_cache_of_holder(seep_dictionary_text(d, d->modules[f->source].path));
    return cache && cache->block_bytes ? cache : NULL;
}

const struct seep_library_cache *seep_library_cache_of_holder(const char *file)
{
    const char *base = seep_text_base(file);

    for (size_t i = 0; i < N_CACHES; i++) {
        if (seep_name_fits(caches[i].holder, base, false))
            return &caches[i];
    }
    return NULL;
}
