/* Thrust's array of 0, 1, 2, …, which lies nowhere. */
#ifndef SEEP_TESTS_THRUST_COUNTING_ITERATOR_H
#define SEEP_TESTS_THRUST_COUNTING_ITERATOR_H

namespace thrust
{

template <class T> struct counting_iterator {
    T first;

    explicit counting_iterator(T from) : first(from)
    {
    }
    T operator[](unsigned i) const
    {
        return (T)(first + i);
    }
};

} // namespace thrust

#endif
