#include "libprof/report_read/pair_key.h"

#include "libprof/base/text.h"
#include "libprof/report_read/report_view.h"

void seep_pair_key_add(struct seep_pair_key *key, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text;; p++) {
        key->a = (key->a ^ *p) * UINT64_C(0x100000001b3);
        key->b = (key->b ^ (uint64_t)(*p + 1)) * UINT64_C(0x9e3779b97f4a7c15);
        key->b ^= key->b >> 29;
        if (!*p)
            return;
    }
}

void seep_pair_key_add_frame(struct seep_pair_key *key, const json_t *frame)
{
    const char *file = seep_get_text(frame, "file", NULL);

    if (!file)
        file = seep_get_text(frame, "module", "");
    seep_pair_key_add(key, seep_text_base(file));
    seep_pair_key_add(key, seep_get_text(frame, "qualname", seep_get_text(frame, "function", "")));
}

struct seep_pair_key seep_pair_key_begin(const char *space)
{
    struct seep_pair_key key = {UINT64_C(0xcbf29ce484222325), 1};

    seep_pair_key_add(&key, space);
    return key;
}
