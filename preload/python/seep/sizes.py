"""Bytes as people read them."""


def size_text(size):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return "%.3g %s" % (size, unit) if size < 1000 or unit == "GiB" else "%d %s" % (size, unit)
        size /= 1024
