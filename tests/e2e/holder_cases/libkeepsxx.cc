// A container of C++, as a library keeps one.
#include <cstdlib>
#include <vector>

namespace cache {
static std::vector<void *> images;
}

extern "C" void keep(std::size_t n)
{
    cache::images.push_back(std::calloc(1, n));
}
