/* Counts the instructions of a program that qemu emulates: a plugin for the interface that QEMU has had since 6.0
 * (qemu-plugin.h, version 1; Debian has no package with that header). */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define SHOWN __attribute__((visibility("default")))

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
enum { ADD_U64 = 0 };
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*translated)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op, void *to, uint64_t by);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*ended)(plugin_id, void *), void *arg);

SHOWN int qemu_plugin_version = 1;
SHOWN int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv);

static uint64_t instructions; /* whole blocks: of one that is left early all count */

static void translated(plugin_id id, struct qemu_plugin_tb *tb)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(tb, ADD_U64, &instructions, qemu_plugin_tb_n_insns(tb));
}

static void ended(plugin_id id, void *arg)
{
    (void)id;
    (void)arg;
    fprintf(stderr, "instructions %" PRIu64 "\n", instructions);
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
    (void)info;
    (void)argc;
    (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
