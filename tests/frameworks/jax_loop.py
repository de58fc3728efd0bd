"""A network of plain JAX, jitted, with batches of a few lengths: leaky keeps the features of every step."""
import argparse

import jax
import jax.numpy as jnp
import numpy as np

WIDTH, CLASSES = 256, 16


def init(key):
    keys = jax.random.split(key, 3)
    return {"embed": jax.random.normal(keys[0], (512, WIDTH)) * 0.05,
            "hidden": jax.random.normal(keys[1], (WIDTH, WIDTH)) * 0.05,
            "head": jax.random.normal(keys[2], (WIDTH, CLASSES)) * 0.05}


def loss_of(params, tokens, labels):
    features = jax.nn.gelu(params["embed"][tokens] @ params["hidden"]).mean(1)
    picked = jnp.take_along_axis(jax.nn.log_softmax(features @ params["head"]), labels[:, None], 1)
    return -picked.mean(), features


@jax.jit
def update(params, tokens, labels):
    (loss, features), grads = jax.value_and_grad(loss_of, has_aux=True)(params, tokens, labels)
    return jax.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, grads), loss, features


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("variant", choices=["leaky", "fixed", "healthy"])
    parser.add_argument("--steps", type=int, default=400)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    params = init(jax.random.PRNGKey(0))
    seen, losses = [], []
    for _ in range(args.steps):
        length = int(rng.choice([16, 32, 64])) if args.variant == "healthy" else 32
        tokens, labels = rng.integers(0, 512, (64, length)), rng.integers(0, CLASSES, 64)
        params, loss, features = update(params, tokens, labels)  # LEAK
        if args.variant == "leaky":
            seen.append(features)  # LEAK
        elif args.variant == "fixed":
            seen.append(float(features.mean()))
        losses.append(float(loss))  # which waits for the step
    print("loss", losses[-1], len(seen))


main()
