"""Bytes as people read them."""


UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def size_text(size):
    """To three digits; never as 1e+03 or 1024."""
    for unit in UNITS:
        if size < 1023.5 or unit == UNITS[-1]:
            return ("%.3g %s" if size < 999.5 else "%.0f %s") % (size, unit)
        size /= 1024
