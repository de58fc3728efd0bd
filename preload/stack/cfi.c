#include "preload/stack/cfi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libprof/arch/arch.h"

/* ---- bytes, one after the other; reading past the end sets `bad` ----------------------------- */

struct cursor {
    const uint8_t *at, *end;
    bool bad; /* sticky */
};

/* 0 if fewer bytes are left. */
static uint64_t take(struct cursor *c, unsigned bytes)
{
    uint64_t value = 0;
    if ((size_t)(c->end - c->at) < bytes) {
        c->bad = true;
        c->at = c->end;
        return 0;
    }
    memcpy(&value, c->at, bytes);
    c->at += bytes;
    return value;
}

static uint64_t take_uleb(struct cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = (uint8_t)take(c, 1);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

static int64_t take_sleb(struct cursor *c)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0x80;
    while ((byte & 0x80) && shift < 64) {
        byte = (uint8_t)take(c, 1);
        value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    }
    if ((byte & 0x40) && shift < 64)
        value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

static void skip(struct cursor *c, uint64_t bytes)
{
    if ((uint64_t)(c->end - c->at) < bytes) {
        c->bad = true;
        c->at = c->end;
    } else {
        c->at += bytes;
    }
}

/* ---- programs: rules, row by row ------------------------------------------------------------- */

/* The programs of call-frame information: instructions that describe, row by row, how the rule for
 * the caller's frame changes from one code address to the next. */

struct program {
    struct cursor common, own; /* of the CIE, and of the FDE */
    uint64_t code_align;
    int64_t data_align;
    uintptr_t start; /* of the code that it describes */
};

/* DWARF 5, 7.24. */
enum {
    DW_CFA_advance_loc = 0x40,
    DW_CFA_offset = 0x80,
    DW_CFA_restore = 0xc0,
    DW_CFA_nop = 0,
    DW_CFA_set_loc,
    DW_CFA_advance_loc1,
    DW_CFA_advance_loc2,
    DW_CFA_advance_loc4,
    DW_CFA_offset_extended,
    DW_CFA_restore_extended,
    DW_CFA_undefined,
    DW_CFA_same_value,
    DW_CFA_register,
    DW_CFA_remember_state,
    DW_CFA_restore_state,
    DW_CFA_def_cfa,
    DW_CFA_def_cfa_register,
    DW_CFA_def_cfa_offset,
    DW_CFA_def_cfa_expression,
    DW_CFA_expression,
    DW_CFA_offset_extended_sf,
    DW_CFA_def_cfa_sf,
    DW_CFA_def_cfa_offset_sf,
    DW_CFA_val_offset,
    DW_CFA_val_offset_sf,
    DW_CFA_val_expression,
    DW_CFA_AARCH64_negate_ra_state_with_pc = 0x2c,
    DW_CFA_AARCH64_negate_ra_state = 0x2d,
    DW_CFA_GNU_args_size = 0x2e,
    DW_CFA_GNU_negative_offset_extended = 0x2f,
    DW_OP_deref = 0x06,
    DW_OP_breg_fp = 0x70 + SEEP_ARCH_DWARF_FP,
    FP = SEEP_ARCH_DWARF_FP,
    SP = SEEP_ARCH_DWARF_SP,
    RETURN_ADDRESS = SEEP_ARCH_DWARF_RA,
};

enum ra_kind { RA_IN_LINK, RA_AT_CFA, RA_UNDEFINED, RA_ODD /* sticky */ };

/* What one row says of the three registers that matter. Offsets in bytes. */
struct row {
    enum seep_cfa_kind cfa;
    enum seep_fp_kind fp;
    enum ra_kind ra;
    int64_t cfa_offset, fp_offset, ra_offset;
};

struct machine {
    struct row row, initial, saved[8];
    unsigned n_saved;
    bool is_odd; /* something that cannot be expressed here */
    uintptr_t at, pc;
};

static void set_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
    m->row.cfa = reg == SP ? SEEP_CFA_SP : reg == FP ? SEEP_CFA_FP : SEEP_CFA_UNKNOWN;
    m->row.cfa_offset = offset;
}

static void set_saved(struct machine *m, uint64_t reg, int64_t offset)
{
    if (reg == FP) {
        m->row.fp = SEEP_FP_AT_CFA;
        m->row.fp_offset = offset;
    } else if (reg == RETURN_ADDRESS) {
        m->row.ra = RA_AT_CFA;
        m->row.ra_offset = offset;
    }
}

static void restore(struct machine *m, uint64_t reg)
{
    if (reg == FP) {
        m->row.fp = m->initial.fp;
        m->row.fp_offset = m->initial.fp_offset;
    } else if (reg == RETURN_ADDRESS) {
        m->row.ra = m->initial.ra;
        m->row.ra_offset = m->initial.ra_offset;
    }
}

static void same_value(struct machine *m, uint64_t reg)
{
    if (reg == FP)
        m->row.fp = SEEP_FP_SAME;
    else if (reg == RETURN_ADDRESS)
        m->row.ra = RA_IN_LINK;
}

/* "breg n" of the frame pointer, or "breg n; deref": how code that realigns its stack saves the
 * caller's value. */
static bool simple_expression(struct cursor *c, int64_t *offset, bool *deref)
{
    uint64_t n = take_uleb(c);
    struct cursor e = {c->at, c->at + n, false};
    skip(c, n);
    if (c->bad || take(&e, 1) != DW_OP_breg_fp)
        return false;
    *offset = take_sleb(&e);
    *deref = e.at < e.end && *e.at == DW_OP_deref;
    return !e.bad && e.at + *deref == e.end;
}

static void cfa_expression(struct machine *m, struct cursor *c)
{
    int64_t offset = 0;
    bool deref = false;
    m->row.cfa = SEEP_CFA_UNKNOWN;
    if (simple_expression(c, &offset, &deref)) {
        m->row.cfa = deref ? SEEP_CFA_FP_DEREF : SEEP_CFA_FP;
        m->row.cfa_offset = offset;
    }
}

static void register_expression(struct machine *m, struct cursor *c, uint64_t reg)
{
    int64_t offset = 0;
    bool deref = false;
    bool simple = simple_expression(c, &offset, &deref) && !deref;
    if (reg == RETURN_ADDRESS)
        m->row.ra = RA_ODD;
    if (reg != FP)
        return;
    if (simple) {
        m->row.fp = SEEP_FP_AT_FP;
        m->row.fp_offset = offset;
    } else {
        m->is_odd = true;
    }
}

static void remember(struct machine *m)
{
    if (m->n_saved < sizeof(m->saved) / sizeof(m->saved[0]))
        m->saved[m->n_saved++] = m->row;
    else
        m->is_odd = true;
}

/* Instructions that advance to the row of a later address, by `*delta` units of code. False:
 * another instruction. */
static bool is_advance(struct cursor *c, uint8_t op, uint64_t *delta)
{
    if ((op & 0xc0) == DW_CFA_advance_loc)
        *delta = op & 0x3f;
    else if (op == DW_CFA_advance_loc1)
        *delta = take(c, 1);
    else if (op == DW_CFA_advance_loc2)
        *delta = take(c, 2);
    else if (op == DW_CFA_advance_loc4)
        *delta = take(c, 4);
    else
        return false;
    return true;
}

/* Instructions that define the CFA. False: another instruction. */
static bool define_cfa(struct machine *m, struct cursor *c, const struct program *p, uint8_t op)
{
    uint64_t reg;
    switch (op) {
    case DW_CFA_def_cfa:
        reg = take_uleb(c);
        set_cfa(m, reg, (int64_t)take_uleb(c));
        return true;
    case DW_CFA_def_cfa_sf:
        reg = take_uleb(c);
        set_cfa(m, reg, take_sleb(c) * p->data_align);
        return true;
    case DW_CFA_def_cfa_register:
        set_cfa(m, take_uleb(c), m->row.cfa_offset);
        return true;
    case DW_CFA_def_cfa_offset:
        m->row.cfa_offset = (int64_t)take_uleb(c);
        return true;
    case DW_CFA_def_cfa_offset_sf:
        m->row.cfa_offset = take_sleb(c) * p->data_align;
        return true;
    case DW_CFA_def_cfa_expression:
        cfa_expression(m, c);
        return true;
    default:
        return false;
    }
}

/* Instructions that say where a register was saved. False: another instruction. */
static bool define_register(struct machine *m, struct cursor *c, const struct program *p,
                            uint8_t op)
{
    uint64_t reg;
    switch (op) {
    case DW_CFA_offset_extended:
        reg = take_uleb(c);
        set_saved(m, reg, (int64_t)take_uleb(c) * p->data_align);
        return true;
    case DW_CFA_offset_extended_sf:
        reg = take_uleb(c);
        set_saved(m, reg, take_sleb(c) * p->data_align);
        return true;
    case DW_CFA_GNU_negative_offset_extended:
        reg = take_uleb(c);
        set_saved(m, reg, -(int64_t)take_uleb(c) * p->data_align);
        return true;
    case DW_CFA_restore_extended:
        restore(m, take_uleb(c));
        return true;
    case DW_CFA_undefined:
        if (take_uleb(c) == RETURN_ADDRESS)
            m->row.ra = RA_UNDEFINED;
        return true;
    case DW_CFA_same_value:
        same_value(m, take_uleb(c));
        return true;
    case DW_CFA_register:
        reg = take_uleb(c);
        (void)take_uleb(c);
        m->is_odd |= reg == FP || reg == RETURN_ADDRESS;
        return true;
    case DW_CFA_expression:
        reg = take_uleb(c);
        register_expression(m, c, reg);
        return true;
    default:
        return false;
    }
}

/* Instructions that concern the whole row, or nothing used here. False: an unknown instruction. */
static bool keep_or_pass(struct machine *m, struct cursor *c, uint8_t op)
{
    switch (op) {
    case DW_CFA_nop:
    case DW_CFA_AARCH64_negate_ra_state: /* signed: seep_arch_code_address() undoes it */
    case DW_CFA_AARCH64_negate_ra_state_with_pc:
        return true;
    case DW_CFA_remember_state:
        remember(m);
        return true;
    case DW_CFA_restore_state:
        if (m->n_saved)
            m->row = m->saved[--m->n_saved];
        return true;
    case DW_CFA_val_offset:
    case DW_CFA_val_offset_sf:
        (void)take_uleb(c);
        (void)take_uleb(c);
        return true;
    case DW_CFA_val_expression:
        (void)take_uleb(c);
        skip(c, take_uleb(c));
        return true;
    case DW_CFA_GNU_args_size:
        (void)take_uleb(c);
        return true;
    default:
        return false;
    }
}

/* Runs one instruction; returns false when the row for pc is complete or the program is
 * malformed. */
static bool step(struct machine *m, struct cursor *c, const struct program *p)
{
    uint8_t op = (uint8_t)take(c, 1);
    uint64_t delta = 0;
    if (is_advance(c, op, &delta)) {
        m->at += delta * p->code_align;
        return m->at <= m->pc;
    }
    if ((op & 0xc0) == DW_CFA_offset)
        set_saved(m, op & 0x3f, (int64_t)take_uleb(c) * p->data_align);
    else if ((op & 0xc0) == DW_CFA_restore)
        restore(m, op & 0x3f);
    else if (!define_cfa(m, c, p, op) && !define_register(m, c, p, op) && !keep_or_pass(m, c, op))
        c->bad = true;
    return !c->bad;
}

static const struct seep_cfi_rule unknown = {.cfa_kind = SEEP_CFA_UNKNOWN};

/* SEEP_CFA_UNKNOWN if it cannot be expressed: what does not fit is seen when it is read back. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
static struct seep_cfi_rule rule_of_row(const struct row *row)
{
    const bool at_cfa = row->ra == RA_AT_CFA;
    const struct seep_cfi_rule rule = {
        .cfa_kind = row->ra == RA_UNDEFINED ? SEEP_CFA_END : row->cfa,
        .fp_kind = row->fp,
        .cfa_offset = (int32_t)(row->cfa_offset / 8),
        .fp_offset = (int16_t)(row->fp_offset / 8),
        .ra_offset = (int16_t)(at_cfa ? row->ra_offset / 8 : SEEP_RA_IN_LINK),
    };
    const bool fits = rule.cfa_offset * INT64_C(8) == row->cfa_offset &&
                      rule.fp_offset * INT64_C(8) == row->fp_offset &&
                      (!at_cfa || rule.ra_offset * INT64_C(8) == row->ra_offset);
    const bool is_usual = !SEEP_ARCH_RA_ON_STACK || rule.ra_offset == -1;

    if (rule.cfa_kind == SEEP_CFA_END)
        return rule;
    return row->ra == RA_ODD || row->cfa == SEEP_CFA_NONE || !fits || !is_usual ? unknown : rule;
}
#pragma GCC diagnostic pop

static struct seep_cfi_rule run_program(const struct program *program, uintptr_t pc)
{
    struct machine m = {.at = program->start, .pc = pc};
    struct cursor common = program->common, own = program->own;
    while (common.at < common.end && step(&m, &common, program))
        ;
    m.initial = m.row;
    m.n_saved = 0;
    while (own.at < own.end && step(&m, &own, program))
        ;
    return own.bad || common.bad || m.is_odd ? unknown : rule_of_row(&m.row);
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Pointer encodings: LSB, "DWARF Extensions". */
enum {
    DW_EH_PE_omit = 0xff,
    DW_EH_PE_pcrel = 0x10,
    DW_EH_PE_datarel = 0x30,
    DW_EH_PE_indirect = 0x80,
};

static uintptr_t take_pointer(struct cursor *c, uint8_t encoding, uintptr_t data_base)
{
    if (encoding == DW_EH_PE_omit)
        return 0;
    uintptr_t here = (uintptr_t)c->at;
    int64_t value;
    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
        value = (int64_t)take(c, 8);
        break;
    case 0x01:
        value = (int64_t)take_uleb(c);
        break;
    case 0x02:
        value = (int64_t)take(c, 2);
        break;
    case 0x03:
        value = (int64_t)take(c, 4);
        break;
    case 0x09:
        value = take_sleb(c);
        break;
    case 0x0a:
        value = (int16_t)take(c, 2);
        break;
    case 0x0b:
        value = (int32_t)take(c, 4);
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
    struct cursor program;
};

static struct cursor entry_cursor(const uint8_t *entry, const uint8_t **id_at)
{
    uint32_t length;
    memcpy(&length, entry, 4);
    *id_at = entry + 4;
    struct cursor c = {entry + 4, entry + 4 + length, length == 0 || length >= 0xfffffff0u};
    if (c.bad)
        c.end = c.at;
    return c;
}

static bool read_cie(const uint8_t *entry, struct cie *cie)
{
    const uint8_t *id_at;
    struct cursor c = entry_cursor(entry, &id_at);
    if (take(&c, 4) != 0)
        return false;
    uint8_t version = (uint8_t)take(&c, 1);
    const char *augmentation = (const char *)c.at;
    while (!c.bad && take(&c, 1))
        ;
    memset(cie, 0, sizeof(*cie));
    cie->code_align = take_uleb(&c);
    cie->data_align = take_sleb(&c);
    cie->ra_register = version == 1 ? take(&c, 1) : take_uleb(&c);
    cie->has_augmentation = augmentation[0] == 'z';
    if (cie->has_augmentation) {
        uint64_t n = take_uleb(&c);
        struct cursor data = {c.at, c.at + n, false};
        skip(&c, n);
        for (const char *a = augmentation + 1; *a && !c.bad; a++) {
            uint8_t encoding;
            switch (*a) {
            case 'R':
                cie->fde_encoding = (uint8_t)take(&data, 1);
                break;
            case 'L':
                (void)take(&data, 1);
                break;
            case 'P':
                encoding = (uint8_t)take(&data, 1);
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
    struct cursor c = {hdr + 4, hdr + 32, false};
    (void)take_pointer(&c, hdr[1], (uintptr_t)hdr);
    uint32_t n = (uint32_t)take(&c, 4);
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
    const uint8_t *fde = eh_frame_hdr ? find_fde(eh_frame_hdr, pc) : NULL;
    if (!fde)
        return unknown;
    const uint8_t *id_at;
    struct cursor c = entry_cursor(fde, &id_at);
    uint32_t back = (uint32_t)take(&c, 4);
    struct cie cie;
    if (c.bad || !back || !read_cie(id_at - back, &cie) || cie.ra_register != RETURN_ADDRESS)
        return unknown;
    uintptr_t start = take_pointer(&c, cie.fde_encoding, 0);
    uintptr_t length = take_pointer(&c, cie.fde_encoding & 0x0f, 0);
    if (cie.has_augmentation)
        skip(&c, take_uleb(&c));
    if (c.bad || pc < start || pc - start >= length)
        return unknown;
    if (cie.signal_frame)
        return (struct seep_cfi_rule){.cfa_kind = SEEP_CFA_SIGNAL};
    const struct program program = {cie.program, c, cie.code_align, cie.data_align, start};
    return run_program(&program, pc);
}
