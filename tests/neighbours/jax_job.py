"""Keeps a megabyte a round, and writes JAX's heap profile before and after: jax_job.py BEFORE AFTER. Says how many bytes
are live then, by JAX's own account."""
import json
import sys

import jax
import jax.numpy as jnp

kept = []


def remember(x):
    kept.append(x * 2)  # LEAK


def rounds(n, w):
    for i in range(n):
        x = jnp.ones((512, 512)) * i
        remember(x)
        w = w + x
    return w.block_until_ready()


live = []
w = jnp.zeros((512, 512))
for n, path in zip((10, 20), sys.argv[1:]):
    w = rounds(n, w)
    jax.profiler.save_device_memory_profile(path)
    live.append(sum(array.nbytes for array in jax.live_arrays()))
print(json.dumps(live))
