#include "preload/stack/cfi_program.h"

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
    DW_CFA_GNU_args_size = 0x2e,
    DW_CFA_GNU_negative_offset_extended = 0x2f,
    DW_OP_deref = 0x06,
    DW_OP_breg6 = 0x76,
    REG_RBP = 6,
    REG_RSP = 7,
};

/* The state of the two registers that matter in one row. */
struct row {
    struct seep_cfi_rule rule;
    bool ra_undefined, ra_odd;
};

struct machine {
    struct row row, initial, saved[8];
    unsigned n_saved;
    uintptr_t at, pc;
};

static void set_cfa(struct machine *m, uint64_t reg, int64_t offset)
{
    m->row.rule.cfa_kind = reg == REG_RSP   ? SEEP_CFA_RSP
                           : reg == REG_RBP ? SEEP_CFA_RBP
                                            : SEEP_CFA_UNKNOWN;
    m->row.rule.cfa_offset = (int32_t)offset;
}

static void set_saved(struct machine *m, uint64_t reg, int64_t offset)
{
    if (reg == REG_RBP) {
        m->row.rule.rbp_kind = SEEP_RBP_AT_CFA;
        m->row.rule.rbp_offset = (int16_t)offset;
    } else if (reg == SEEP_CFI_RETURN_ADDRESS) {
        m->row.ra_undefined = false;
        m->row.ra_odd = offset != -8;
    }
}

static void restore(struct machine *m, uint64_t reg)
{
    if (reg == REG_RBP) {
        m->row.rule.rbp_kind = m->initial.rule.rbp_kind;
        m->row.rule.rbp_offset = m->initial.rule.rbp_offset;
    } else if (reg == SEEP_CFI_RETURN_ADDRESS) {
        m->row.ra_undefined = m->initial.ra_undefined;
        m->row.ra_odd = m->initial.ra_odd;
    }
}

/* "breg6 n" or "breg6 n; deref": how code that realigns its stack saves the caller's value. */
static bool simple_expression(struct seep_cursor *c, int64_t *offset, bool *deref)
{
    uint64_t n = seep_cursor_uleb(c);
    struct seep_cursor e = {c->at, c->at + n, false};
    seep_cursor_skip(c, n);
    if (c->bad || seep_cursor_take(&e, 1) != DW_OP_breg6)
        return false;
    *offset = seep_cursor_sleb(&e);
    *deref = e.at < e.end && *e.at == DW_OP_deref;
    return !e.bad && e.at + *deref == e.end;
}

static void cfa_expression(struct machine *m, struct seep_cursor *c)
{
    int64_t offset = 0;
    bool deref = false;
    m->row.rule.cfa_kind = SEEP_CFA_UNKNOWN;
    if (simple_expression(c, &offset, &deref)) {
        m->row.rule.cfa_kind = deref ? SEEP_CFA_RBP_DEREF : SEEP_CFA_RBP;
        m->row.rule.cfa_offset = (int32_t)offset;
    }
}

static void register_expression(struct machine *m, struct seep_cursor *c, uint64_t reg)
{
    int64_t offset = 0;
    bool deref = false;
    bool simple = simple_expression(c, &offset, &deref) && !deref;
    if (reg == SEEP_CFI_RETURN_ADDRESS)
        m->row.ra_odd = true;
    if (reg != REG_RBP)
        return;
    if (simple) {
        m->row.rule.rbp_kind = SEEP_RBP_AT_RBP;
        m->row.rule.rbp_offset = (int16_t)offset;
    } else {
        m->row.ra_odd = true;
    }
}

static void remember(struct machine *m)
{
    if (m->n_saved < sizeof(m->saved) / sizeof(m->saved[0]))
        m->saved[m->n_saved++] = m->row;
    else
        m->row.ra_odd = true;
}

/* Instructions that advance to the row of a later address, by `*delta` units of code. False:
 * another instruction. */
static bool is_advance(struct seep_cursor *c, uint8_t op, uint64_t *delta)
{
    if ((op & 0xc0) == DW_CFA_advance_loc)
        *delta = op & 0x3f;
    else if (op == DW_CFA_advance_loc1)
        *delta = seep_cursor_take(c, 1);
    else if (op == DW_CFA_advance_loc2)
        *delta = seep_cursor_take(c, 2);
    else if (op == DW_CFA_advance_loc4)
        *delta = seep_cursor_take(c, 4);
    else
        return false;
    return true;
}

/* Instructions that define the CFA. False: another instruction. */
static bool define_cfa(struct machine *m, struct seep_cursor *c, const struct seep_cfi_program *p,
                       uint8_t op)
{
    uint64_t reg;
    switch (op) {
    case DW_CFA_def_cfa:
        reg = seep_cursor_uleb(c);
        set_cfa(m, reg, (int64_t)seep_cursor_uleb(c));
        return true;
    case DW_CFA_def_cfa_sf:
        reg = seep_cursor_uleb(c);
        set_cfa(m, reg, seep_cursor_sleb(c) * p->data_align);
        return true;
    case DW_CFA_def_cfa_register:
        set_cfa(m, seep_cursor_uleb(c), m->row.rule.cfa_offset);
        return true;
    case DW_CFA_def_cfa_offset:
        m->row.rule.cfa_offset = (int32_t)seep_cursor_uleb(c);
        return true;
    case DW_CFA_def_cfa_offset_sf:
        m->row.rule.cfa_offset = (int32_t)(seep_cursor_sleb(c) * p->data_align);
        return true;
    case DW_CFA_def_cfa_expression:
        cfa_expression(m, c);
        return true;
    default:
        return false;
    }
}

/* Instructions that say where a register was saved. False: another instruction. */
static bool define_register(struct machine *m, struct seep_cursor *c,
                            const struct seep_cfi_program *p, uint8_t op)
{
    uint64_t reg;
    switch (op) {
    case DW_CFA_offset_extended:
        reg = seep_cursor_uleb(c);
        set_saved(m, reg, (int64_t)seep_cursor_uleb(c) * p->data_align);
        return true;
    case DW_CFA_offset_extended_sf:
        reg = seep_cursor_uleb(c);
        set_saved(m, reg, seep_cursor_sleb(c) * p->data_align);
        return true;
    case DW_CFA_GNU_negative_offset_extended:
        reg = seep_cursor_uleb(c);
        set_saved(m, reg, -(int64_t)seep_cursor_uleb(c) * p->data_align);
        return true;
    case DW_CFA_restore_extended:
        restore(m, seep_cursor_uleb(c));
        return true;
    case DW_CFA_undefined:
        if (seep_cursor_uleb(c) == SEEP_CFI_RETURN_ADDRESS)
            m->row.ra_undefined = true;
        return true;
    case DW_CFA_same_value:
        if (seep_cursor_uleb(c) == REG_RBP)
            m->row.rule.rbp_kind = SEEP_RBP_SAME;
        return true;
    case DW_CFA_register:
        reg = seep_cursor_uleb(c);
        (void)seep_cursor_uleb(c);
        m->row.ra_odd |= reg == REG_RBP || reg == SEEP_CFI_RETURN_ADDRESS;
        return true;
    case DW_CFA_expression:
        reg = seep_cursor_uleb(c);
        register_expression(m, c, reg);
        return true;
    default:
        return false;
    }
}

/* Instructions that concern the whole row, or nothing used here. False: an unknown instruction. */
static bool keep_or_pass(struct machine *m, struct seep_cursor *c, uint8_t op)
{
    switch (op) {
    case DW_CFA_nop:
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
        (void)seep_cursor_uleb(c);
        (void)seep_cursor_uleb(c);
        return true;
    case DW_CFA_val_expression:
        (void)seep_cursor_uleb(c);
        seep_cursor_skip(c, seep_cursor_uleb(c));
        return true;
    case DW_CFA_GNU_args_size:
        (void)seep_cursor_uleb(c);
        return true;
    default:
        return false;
    }
}

/* Runs one instruction; returns false when the row for pc is complete or the program is
 * malformed. */
static bool step(struct machine *m, struct seep_cursor *c, const struct seep_cfi_program *p)
{
    uint8_t op = (uint8_t)seep_cursor_take(c, 1);
    uint64_t delta = 0;
    if (is_advance(c, op, &delta)) {
        m->at += delta * p->code_align;
        return m->at <= m->pc;
    }
    if ((op & 0xc0) == DW_CFA_offset)
        set_saved(m, op & 0x3f, (int64_t)seep_cursor_uleb(c) * p->data_align);
    else if ((op & 0xc0) == DW_CFA_restore)
        restore(m, op & 0x3f);
    else if (!define_cfa(m, c, p, op) && !define_register(m, c, p, op) && !keep_or_pass(m, c, op))
        c->bad = true;
    return !c->bad;
}

struct seep_cfi_rule seep_cfi_program_run(const struct seep_cfi_program *program, uintptr_t pc)
{
    struct machine m = {.at = program->start, .pc = pc};
    struct seep_cursor common = program->common, own = program->own;
    while (common.at < common.end && step(&m, &common, program))
        ;
    m.initial = m.row;
    m.n_saved = 0;
    while (own.at < own.end && step(&m, &own, program))
        ;
    if (own.bad || common.bad || m.row.ra_odd || m.row.rule.cfa_kind == SEEP_CFA_NONE)
        return (struct seep_cfi_rule){.cfa_kind = SEEP_CFA_UNKNOWN};
    if (m.row.ra_undefined)
        m.row.rule.cfa_kind = SEEP_CFA_END;
    return m.row.rule;
}
