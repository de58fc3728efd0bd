"""Gaussian splatting's densification, on one picture with a small renderer. Every ten iterations, until 60 % of the
run, Gaussians with a large gradient are cloned or split and transparent ones pruned: each parameter is replaced by
a larger one and Adam's moments with it, so memory climbs by stairs. It is the model that grows, and it stops.

usage: healthy_densification.py [--iterations N]"""
import argparse

import torch

SIDE, BEGIN, EVERY, RESET = 24, 1500, 10, 50


class GaussianModel:
    def __init__(self, n):
        start = {"xy": torch.rand(n, 2) * SIDE, "scaling": torch.full((n, 2), 0.5), "opacity": torch.full((n, 1), -2.0),
                 "f_dc": torch.zeros(n, 3), "f_rest": torch.zeros(n, 45)}
        rates = {"xy": 0.1, "scaling": 0.02, "opacity": 0.05, "f_dc": 0.02, "f_rest": 0.001}
        self.tensors = {name: torch.nn.Parameter(value) for name, value in start.items()}
        self.optimizer = torch.optim.Adam([{"params": [self.tensors[name]], "lr": rates[name], "name": name}
                                           for name in start], eps=1e-15)
        self.forget_gradients()

    def forget_gradients(self):
        self.gradient, self.seen = torch.zeros(len(self.tensors["xy"])), 0

    def replace(self, change, change_moment):
        """Puts other parameters in place of the present ones, and their moments into the optimizer."""
        for group in self.optimizer.param_groups:
            old = group["params"][0]
            state = self.optimizer.state.pop(old, None)
            new = torch.nn.Parameter(change(group["name"], old.detach()))
            if state is not None:
                state["exp_avg"] = change_moment(group["name"], state["exp_avg"])
                state["exp_avg_sq"] = change_moment(group["name"], state["exp_avg_sq"])
                self.optimizer.state[new] = state
            group["params"][0] = self.tensors[group["name"]] = new

    def cat_tensors_to_optimizer(self, extension):
        self.replace(lambda name, value: torch.cat([value, extension[name]]),
                     lambda name, moment: torch.cat([moment, torch.zeros_like(extension[name])]))

    def prune(self, kept):
        self.replace(lambda name, value: value[kept], lambda name, moment: moment[kept])

    def record(self):
        self.gradient += self.tensors["xy"].grad.norm(dim=1)
        self.seen += 1

    def densify_and_prune(self, share):
        chosen = (self.gradient / self.seen).topk(int(share * len(self.gradient))).indices
        extension = {name: value.detach()[chosen].clone() for name, value in self.tensors.items()}
        extension["xy"] += extension["scaling"].exp() * torch.randn(len(chosen), 2)
        extension["scaling"] -= 0.2
        self.cat_tensors_to_optimizer(extension)
        self.prune(torch.sigmoid(self.tensors["opacity"][:, 0].detach()) > 0.035)
        self.forget_gradients()

    def reset_opacity(self):
        self.replace(lambda name, value: value.clamp(max=-2.0) if name == "opacity" else value,
                     lambda name, moment: torch.zeros_like(moment) if name == "opacity" else moment)


def render(pc, view):
    """Sums the Gaussians up: each a product of one over columns and one over rows, its colour seen from `view`."""
    t, at = pc.tensors, torch.arange(SIDE)
    footprint = torch.exp(-0.5 * ((at - t["xy"][:, :, None]) / t["scaling"].exp()[:, :, None]).square())
    columns, rows = footprint[:, 0], footprint[:, 1] * torch.sigmoid(t["opacity"])
    colours = t["f_dc"] + (t["f_rest"].view(-1, 3, 15) * view).sum(2)
    return torch.stack([(rows * colours[:, c:c + 1]).t() @ columns for c in range(3)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=200)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    u, v = torch.meshgrid(torch.linspace(0, 1, SIDE), torch.linspace(0, 1, SIDE), indexing="xy")
    views = torch.randn(20, 15) * 0.1
    gaussians = GaussianModel(BEGIN)
    for iteration in range(1, args.iterations + 1):
        k = iteration % len(views)
        wanted = torch.stack([torch.sin(9 * u + 2 * v + 0.02 * k), torch.cos(7 * v), ((u - 0.5).abs() < 0.2) * v])
        loss = (render(gaussians, views[k]) - wanted).abs().mean()
        loss.backward()
        with torch.no_grad():
            gaussians.record()
        gaussians.optimizer.step()
        gaussians.optimizer.zero_grad(set_to_none=True)
        if iteration <= 0.6 * args.iterations:
            if iteration % EVERY == 0:
                gaussians.densify_and_prune(0.16)
            if iteration % RESET == 0:
                gaussians.reset_opacity()
        if iteration % 40 == 0:
            print("iteration %d: loss %.4f, %d Gaussians" % (iteration, loss.item(), len(gaussians.tensors["xy"])),
                  flush=True)
    print("steps %d" % args.iterations)


if __name__ == "__main__":
    main()
