#include "preload/stack/cfi.h"

#include "preload/stack/cfi_program.h"

/* Pointer encodings: LSB, "DWARF Extensions". */
enum {
    DW_EH_PE_omit = 0xff,
    DW_EH_PE_pcrel = 0x10,
    DW_EH_PE_datarel = 0x30,
    DW_EH_PE_indirect = 0x80,
};

static uintptr_t take_pointer(struct seep_cursor *c, uint8_t encoding, uintptr_t data_base)
{
    if (encoding == DW_EH_PE_omit)
        return 0;
    uintptr_t here = (uintptr_t)c->at;
    int64_t value;
    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
        value = (int64_t)seep_cursor_take(c, 8);
        break;
    case 0x01:
        value = (int64_t)seep_cursor_uleb(c);
        break;
    case 0x02:
        value = (int64_t)seep_cursor_take(c, 2);
        break;
    case 0x03:
        value = (int64_t)seep_cursor_take(c, 4);
        break;
    case 0x09:
        value = seep_cursor_sleb(c);
        break;
    case 0x0a:
        value = (int16_t)seep_cursor_take(c, 2);
        break;
    case 0x0b:
        value = (int32_t)seep_cursor_take(c, 4);
        break;
    default:
        c->bad = true;
        return 0;
    }
    if ((encoding & 0x70) == DW_EH_PE_pcrel)
        value += (int64_t)here;
    else if ((encoding & 0x70) == DW_EH_PE_datarel)
        value += (int64_t)data_base;
    else if (encoding & 0x70)
        c->bad = true;
    if (encoding & DW_EH_PE_indirect)
        c->bad = true; /* only personality routines use it, and those are skipped by size */
    return (uintptr_t)value;
}

struct cie {
    uint64_t code_align;
    int64_t data_align;
    uint64_t ra_register;
    uint8_t fde_encoding;
    bool has_augmentation, signal_frame;
    struct seep_cursor program;
};

static struct seep_cursor entry_cursor(const uint8_t *entry, const uint8_t **id_at)
{
    uint32_t length;
    memcpy(&length, entry, 4);
    *id_at = entry + 4;
    struct seep_cursor c = {entry + 4, entry + 4 + length, length == 0 || length >= 0xfffffff0u};
    if (c.bad)
        c.end = c.at;
    return c;
}

static bool read_cie(const uint8_t *entry, struct cie *cie)
{
    const uint8_t *id_at;
    struct seep_cursor c = entry_cursor(entry, &id_at);
    if (seep_cursor_take(&c, 4) != 0)
        return false;
    uint8_t version = (uint8_t)seep_cursor_take(&c, 1);
    const char *augmentation = (const char *)c.at;
    while (!c.bad && seep_cursor_take(&c, 1))
        ;
    memset(cie, 0, sizeof(*cie));
    cie->code_align = seep_cursor_uleb(&c);
    cie->data_align = seep_cursor_sleb(&c);
    cie->ra_register = version == 1 ? seep_cursor_take(&c, 1) : seep_cursor_uleb(&c);
    cie->has_augmentation = augmentation[0] == 'z';
    if (cie->has_augmentation) {
        uint64_t n = seep_cursor_uleb(&c);
        struct seep_cursor data = {c.at, c.at + n, false};
        seep_cursor_skip(&c, n);
        for (const char *a = augmentation + 1; *a && !c.bad; a++) {
            uint8_t encoding;
            switch (*a) {
            case 'R':
                cie->fde_encoding = (uint8_t)seep_cursor_take(&data, 1);
                break;
            case 'L':
                (void)seep_cursor_take(&data, 1);
                break;
            case 'P':
                encoding = (uint8_t)seep_cursor_take(&data, 1);
                (void)take_pointer(&data, encoding & 0x0f, 0);
                break;
            case 'S':
                cie->signal_frame = true;
                break;
            default:
                break;
            }
        }
        c.bad |= data.bad;
    } else if (augmentation[0]) {
        return false;
    }
    cie->program = c;
    return !c.bad;
}

static const uint8_t *find_fde(const uint8_t *hdr, uintptr_t pc)
{
    /* version 1, eh_frame_ptr, fde_count udata4, table datarel|sdata4: what ld, lld and mold write
     */
    if (hdr[0] != 1 || hdr[2] != 0x03 || hdr[3] != 0x3b)
        return NULL;
    struct seep_cursor c = {hdr + 4, hdr + 32, false};
    (void)take_pointer(&c, hdr[1], (uintptr_t)hdr);
    uint32_t n = (uint32_t)seep_cursor_take(&c, 4);
    if (c.bad || !n)
        return NULL;
    const uint8_t *table = c.at;
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int32_t start;
        memcpy(&start, table + (size_t)middle * 8, 4);
        if ((uintptr_t)hdr + (uintptr_t)(intptr_t)start <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return NULL;
    int32_t offset;
    memcpy(&offset, table + (size_t)(low - 1) * 8 + 4, 4);
    return hdr + offset;
}

struct seep_cfi_rule seep_cfi_find(const uint8_t *eh_frame_hdr, uintptr_t pc)
{
    static const struct seep_cfi_rule unknown = {.cfa_kind = SEEP_CFA_UNKNOWN};
    const uint8_t *fde = eh_frame_hdr ? find_fde(eh_frame_hdr, pc) : NULL;
    if (!fde)
        return unknown;
    const uint8_t *id_at;
    struct seep_cursor c = entry_cursor(fde, &id_at);
    uint32_t back = (uint32_t)seep_cursor_take(&c, 4);
    struct cie cie;
    if (c.bad || !back || !read_cie(id_at - back, &cie) ||
        cie.ra_register != SEEP_CFI_RETURN_ADDRESS)
        return unknown;
    uintptr_t start = take_pointer(&c, cie.fde_encoding, 0);
    uintptr_t length = take_pointer(&c, cie.fde_encoding & 0x0f, 0);
    if (cie.has_augmentation)
        seep_cursor_skip(&c, seep_cursor_uleb(&c));
    if (c.bad || pc < start || pc - start >= length)
        return unknown;
    if (cie.signal_frame)
        return (struct seep_cfi_rule){.cfa_kind = SEEP_CFA_SIGNAL};
    const struct seep_cfi_program program = {cie.program, c, cie.code_align, cie.data_align, start};
    return seep_cfi_program_run(&program, pc);
}
