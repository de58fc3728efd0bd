/* The shipped rules on roles, the user's own that precede them, and invalid files. */
#include "libprof/code/function_kinds.h"
#include "tests/suite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *file, *function, *qualname;
    bool own;
    const char *role;
} shipped[] = {
    {"/usr/lib/python3/dist-packages/torch/utils/data/dataloader.py", "__next__", "", false,
     "loader"},
    {"/usr/lib/python3/dist-packages/torch/optim/adam.py", "step", "", false, "optimizer"},
    {"/usr/lib/python3/dist-packages/torch/_utils.py", "_flatten_dense_tensors", "", false,
     "collective"},
    {"/usr/lib/python3/dist-packages/torch/_utils.py", "_rebuild_tensor", "", false, "other"},
    {"/x/site-packages/mmcv/runner/log_buffer.py", "update", "", false, "logging"},
    {"/x/site-packages/mmcv/runner/checkpoint.py", "save_checkpoint", "", false, "checkpoint"},
    {"/x/site-packages/nerfstudio/cameras/cameras.py", "__init__", "", false, "camera"},
    {"/home/u/gaussian-splatting/scene/cameras.py", "__init__", "Camera.__init__", true, "camera"},
    {"/home/u/gs/utils/camera_utils.py", "loadCam", "loadCam", true, "camera"},
    {"/home/u/gs/scene/dataset_readers.py", "readColmapCameras", "", true, "camera"},
    {"/home/u/gs/scene/dataset_readers.py", "readColmapSceneInfo", "", true, "dataset"},
    {"/home/u/gs/scene/views.py", "load", "CameraDataset.load", true, "dataset"},
    {"/home/u/gs/scene/views.py", "load", "Camera.load", true, "camera"},
    {"/home/u/gs/camera.py", "read", "", true, "camera"},
    {"/home/u/gs/camera_dataset.py", "read", "", true, "dataset"},
    {"/home/u/repo/history.py", "gitMerge", "", true, "other"},
    {"/home/u/repo/history.py", "gitMerge", "History.gitMerge", true, "other"},
    {"/home/u/net.py", "__init__", "Upsampler.__init__", true, "model"},
    {"/home/u/net.py", "__init__", "RandomSampler.__init__", true, "loader"},
    {"/home/u/policy.py", "log_prob", "", true, "other"},
    {"/home/u/policy.py", "log_images", "", true, "logging"},
    {"/x/site-packages/mmdet/datasets/coco.py", "load_annotations", "", false, "dataset"},
    {"/x/site-packages/mmcv/runner/dist_utils.py", "_allreduce_coalesced", "", false, "collective"},
    {"/x/site-packages/pytorch_lightning/loggers/csv_logs.py", "log_metrics", "", false, "logging"},
    {"/home/u/train.py", "my_collate_fn", "", true, "loader"},
    {"/home/u/train.py", "allreduce_grads", "", true, "collective"},
    {"/home/u/train.py", "update", "LogBuffer.update", true, "logging"},
    {"/home/u/train.py", "forward", "Net.forward", true, "model"},
    {"/home/u/dataset.py", "read", "", true, "dataset"},
    {"/home/u/dataset.py", "<module>", "", true, "other"},
    {"/home/u/cameras/train.py", "read", "", true, "other"},
    {"/home/u/train.py", "train", "", true, "other"},
    {"/x/site-packages/numpy/core/camera.py", "camera", "", false, "other"},
};

TEST(frames_have_the_role_that_their_names_say, .to = N(shipped))
{
    struct seep_part_rules *roles;
    struct seep_rule_frame f = {shipped[_i].file, shipped[_i].function, shipped[_i].qualname,
                                shipped[_i].own};

    ck_assert_int_eq(seep_part_rules_load(&roles, NULL, NULL), 0);
    ck_assert_str_eq(seep_part_name(seep_part_of_frame(roles, &f)), shipped[_i].role);
    seep_part_rules_free(roles);
}

static const struct {
    const char *symbol, *function, *qualname;
} native[] = {
    {"load_item", "load_item", "load_item"},
    {"load_item.constprop.0", "load_item", "load_item"},
    {"Scenes::load(std::vector<int> const&) const", "load", "Scenes::load"},
    {"std::map<a::b, c(d)>::at(e::f)", "at", "std::map<a::b, c(d)>::at"},
    {"(anonymous namespace)::Cameras::operator()(int)", "operator()",
     "(anonymous namespace)::Cameras::operator()"},
    {"operator new(unsigned long)", "operator new", "operator new"},
    {"float* pool_alloc<float>(unsigned long)", "pool_alloc", "pool_alloc"},
    {"float* pool_alloc<float>(unsigned long) [clone .constprop.0]", "pool_alloc", "pool_alloc"},
    {"std::vector<int, std::allocator<int> > Scenes::load<(3 > 2)>(int)", "load", "Scenes::load"},
    {"Pool<float>::take(int)", "take", "Pool<float>::take"},
    {"void f<int (*)(char)>(int (*)(char))", "f", "f"},
    {"bool ns::operator< <int>(A<int> const&)", "operator<", "ns::operator<"},
    {"bool A<int>::operator>(A<int> const&)", "operator>", "A<int>::operator>"},
    {"A::operator->() const", "operator->", "A::operator->"},
    {"auto A::operator<=><int>(int)", "operator<=>", "A::operator<=>"},
    {"A::operator std::vector<int>() const", "operator std::vector", "A::operator std::vector"},
    {"void* A::operator new[]<int>(unsigned long)", "operator new[]", "A::operator new[]"},
    {"main::{lambda(int, float)#1}::operator()(int, float) const", "operator()",
     "main::{lambda(int, float)#1}::operator()"},
    {"void my_operator<int>(int)", "my_operator", "my_operator"},
    {"void std::vector<std::string, ns::alloc<std::stri...", "vector", "std::vector"}, /* cut */
    {"<", "<", "<"},
    {">", ">", ">"},
    {"operator", "operator", "operator"},
    {".hidden", ".hidden", ".hidden"},
    {")", ")", ")"},
    {"", "", ""},
    {NULL, "", ""},
};

TEST(names_of_native_code_lose_what_no_rule_speaks_of, .to = N(native))
{
    struct seep_symbol symbol = {.function = native[_i].symbol};
    struct seep_native_name name;

    seep_native_name_set(&name, &symbol);
    ck_assert_str_eq(name.function, native[_i].function);
    ck_assert_str_eq(name.qualname, native[_i].qualname);
    ck_assert_str_eq(name.file, "");
}

TEST(a_name_of_any_length_is_cut)
{
    char text[2000];
    struct seep_symbol symbol = {.function = text};
    struct seep_native_name name;

    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    seep_native_name_set(&name, &symbol);
    ck_assert_uint_eq(strlen(name.function), sizeof name.function - 1);
}

static const struct {
    const char *file, *function;
    bool own;
    unsigned kinds;
} kinds[] = {
    {"/usr/lib/python3/dist-packages/torch/utils/data/_utils/worker.py", "_worker_loop", false,
     1u << SEEP_FUNCTION_WORKER_LOOP},
    {"/usr/lib/python3/dist-packages/torch/utils/data/_utils/worker.py", "get_worker_info", false,
     0},
    {"/home/u/loader.c", "loader_worker_loop", true, 1u << SEEP_FUNCTION_WORKER_LOOP},
    {"/home/u/util.c", "xmalloc", true, 1u << SEEP_FUNCTION_ALLOCATOR},
    {"/home/u/util.c", "pool_alloc_aligned", true, 1u << SEEP_FUNCTION_ALLOCATOR},
    /* libraries' */
    {"/x/site-packages/jaxlib/libjax.so", "AlignedMalloc", false, 1u << SEEP_FUNCTION_ALLOCATOR},
    {"/x/site-packages/p/p.so", "_rjem_je_pages_map", false, 1u << SEEP_FUNCTION_ALLOCATOR},
    {"/x/site-packages/p/p.so", "<alloc::raw_vec::RawVecInner>::finish_grow", false,
     1u << SEEP_FUNCTION_ALLOCATOR},
    {"/x/site-packages/p/p.so", "std::vector::_M_realloc_insert", false,
     1u << SEEP_FUNCTION_ALLOCATOR},
    {"/x/site-packages/p/p.so", "p::compression::decompress", false, 0},
    {"/home/u/je.c", "project_je_loss", true, 0}, /* the user's own */
    {"/home/u/net.c", "autograd_node_make", true, 1u << SEEP_FUNCTION_GRAPH_NODE},
    {"/home/u/knowledge.c", "kb_add_graph_node", true, 0},
    {"/home/u/.local/include/seep.h", "seep_block_made", true, 1u << SEEP_FUNCTION_ALLOCATOR},
    {"", "seep_block_made_of_this_file", true, 1u << SEEP_FUNCTION_ALLOCATOR},
    {"/home/u/net.c", "forward", true, 0},
    {"/home/u/train.py", "evaluate", true, 1u << SEEP_FUNCTION_EVALUATION},
    {"/home/u/train.py", "run_eval_epoch", true, 1u << SEEP_FUNCTION_EVALUATION},
    {"/home/u/train.py", "validation_step", true, 1u << SEEP_FUNCTION_EVALUATION},
    {"/home/u/train.py", "medieval", true, 0},
    {"/home/u/train.py", "value_of", true, 0},
    {"/home/u/train.py", "latest", true, 0},
    {"/usr/lib/python3/dist-packages/torch/optim/adam.py", "step", false,
     1u << SEEP_FUNCTION_TWO_MOMENTS},
    {"/x/site-packages/apex/optimizers/fused.py", "FusedAdam.step", false,
     1u << SEEP_FUNCTION_TWO_MOMENTS},
    {"/x/site-packages/apex/optimizers/fused.py", "Metadata.step", false, 0},
    {"/usr/lib/python3/dist-packages/torch/optim/adagrad.py", "Adagrad.step", false, 0},
    {"/usr/lib/python3/dist-packages/torch/nn/modules/module.py", "eval", false, 0},
    {"/usr/lib/python3/dist-packages/torch/nn/parameter.py", "__new__", false,
     1u << SEEP_FUNCTION_PARAMETER},
    {"/usr/lib/python3/dist-packages/torch/optim/optimizer.py", "load_state_dict", false,
     1u << SEEP_FUNCTION_MOMENTS},
};

TEST(functions_are_what_their_names_say, .to = N(kinds))
{
    struct seep_part_rules *roles;
    struct seep_rule_frame f = {kinds[_i].file, kinds[_i].function, kinds[_i].function,
                                kinds[_i].own};

    ck_assert_int_eq(seep_part_rules_load(&roles, NULL, NULL), 0);
    ck_assert_uint_eq(seep_part_rules_kinds_of(roles, &f), kinds[_i].kinds);
    seep_part_rules_free(roles);
}

TEST(what_a_loader_calls_is_a_dataset_whatever_its_name)
{
    static const char fetch[] = "/usr/lib/python3/dist-packages/torch/utils/data/_utils/fetch.py";
    struct seep_rule_frame item = {"/home/u/x.py", "__getitem__", "Things.__getitem__", true};
    struct seep_rule_frame other = {"/home/u/x.py", "trainMerge", "Things.trainMerge", true};
    struct seep_part_rules *roles;
    bool whole;

    ck_assert_int_eq(seep_part_rules_load(&roles, NULL, NULL), 0);
    uint64_t rules = seep_part_rules_of_caller(roles, fetch);
    ck_assert_int_eq(seep_part_of_callee(roles, rules, &item, &whole), SEEP_PART_DATASET);
    ck_assert(whole);
    ck_assert_int_eq(seep_part_of_callee(roles, rules, &other, &whole), SEEP_PART_LOADER);
    ck_assert(!whole);
    ck_assert_uint_eq(seep_part_rules_of_caller(roles, "/usr/lib/python3.11/json/decoder.py"), 0);
    seep_part_rules_free(roles);
}

static char path[] = "/tmp/seep-roles-XXXXXX";

static void write_rules(const char *text)
{
    strcpy(path + sizeof path - 7, "XXXXXX");
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

TEST(a_users_rules_go_first)
{
    struct seep_rule_frame f = {"/home/u/train.py", "forward", "Net.forward", true};
    struct seep_part_rules *roles;

    write_rules("[[rule]]\nrole = \"logging\"\nfunction = \"Net.*\"\n");
    ck_assert_int_eq(seep_part_rules_load(&roles, path, NULL), 0);
    ck_assert_int_eq(seep_part_of_frame(roles, &f), SEEP_PART_LOGGING);
    seep_part_rules_free(roles);
    unlink(path);
}

TEST(of_a_list_one_text_is_enough)
{
    static const char *const both[] = {"/a/first.py", "/a/second.py"};
    struct seep_rule_frame f = {"", "make", "", true};
    struct seep_part_rules *roles;

    write_rules("[[rule]]\nrole = \"logging\"\nfile = [\"first\", \"second\"]\n"
                "function = [\"ma*\", \"put\"]\n");
    ck_assert_int_eq(seep_part_rules_load(&roles, path, NULL), 0);
    for (size_t i = 0; i < N(both); i++) {
        f.file = both[i];
        f.function = "make";
        ck_assert_int_eq(seep_part_of_frame(roles, &f), SEEP_PART_LOGGING);
        f.function = "put";
        ck_assert_int_eq(seep_part_of_frame(roles, &f), SEEP_PART_LOGGING);
        f.function = "get";
        ck_assert_int_eq(seep_part_of_frame(roles, &f), SEEP_PART_OTHER);
    }
    f = (struct seep_rule_frame){"/a/third.py", "make", "", true};
    ck_assert_int_eq(seep_part_of_frame(roles, &f), SEEP_PART_OTHER);
    seep_part_rules_free(roles);
    unlink(path);
}

TEST(a_user_takes_back_what_a_shipped_rule_says)
{
    struct seep_rule_frame own = {"/home/u/pool.cc", "make_alloc", "Pool::make_alloc", true};
    struct seep_rule_frame other = {"/home/u/pool.cc", "make_alloc", "Heap::make_alloc", true};
    struct seep_part_rules *roles;

    write_rules("[[rule]]\nis = \"nothing\"\nfunction = \"Pool.make*\"\n");
    ck_assert_int_eq(seep_part_rules_load(&roles, path, NULL), 0);
    ck_assert_uint_eq(seep_part_rules_kinds_of(roles, &own), 0);
    ck_assert_uint_eq(seep_part_rules_kinds_of(roles, &other), 1u << SEEP_FUNCTION_ALLOCATOR);
    seep_part_rules_free(roles);
    unlink(path);
}

static const struct {
    const char *text, *why;
} bad[] = {
    {"", "no [[rule]]"},
    {"[[rule]]\nrole = \"logging\"\nfunction = 3\n", "rule 1"},
    {"[[rule]]\nrole = \"pilot\"\nfunction = \"x\"\n", "role"},
    {"[[rule]]\nrole = \"logging\"\n", "names no library"},
    {"[[rule]]\nrole = \"logging\"\nfunctoin = \"x\"\n", "rule 1"},
    {"[[rule]]\nrole = \"logging\"\nis = \"allocator\"\nfunction = \"x\"\n", "must be given"},
    {"[[rule]]\nis = \"pilot\"\nfunction = \"x\"\n", "must be given"},
    {"[[rule]]\nis = \"allocator\"\nfunction = \"x\"\ncalled_by = \"y\"\n", "called_by"},
    {"[[rule]]\nis = \"allocator\"\nfunction = \"x\"\nwhole_class = true\n", "whole_class"},
    {"[[rule]]\nrole = \"model\"\nfunction = \"x\"\nwhole_class = true\n", "whole_class"},
    {"[[rule]]\nis = 3\nfunction = \"x\"\n", "rule 1"},
    {"[[rule]]\nrole = \"model\"\nfunction = []\n", "lists"},
    {"[[rule]]\nrole = \"model\"\nfunction = [\"x\", 3]\n", "lists"},
    {"[[rule]]\nrole = [\"model\"]\nfunction = \"x\"\n", "lists"},
    {"[[rule]\nrole", "line 1"},
    {"rule = 3\n", "no [[rule]]"},
    {"rule = [1]\n", "not a table"},
};

TEST(what_are_no_rules_is_refused_with_the_reason, .to = N(bad))
{
    struct seep_part_rules *roles;
    struct seep_error err = {0};

    write_rules(bad[_i].text);
    ck_assert_int_eq(seep_part_rules_load(&roles, path, &err), -SEEP_EINVAL);
    ck_assert_ptr_null(roles);
    ck_assert_msg(strstr(err.text, bad[_i].why) != NULL, "%s", err.text);
    unlink(path);
    ck_assert_int_eq(seep_part_rules_load(&roles, path, NULL), -SEEP_EIO);
}

SUITE("roles")
