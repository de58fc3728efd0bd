"""Layout detection on pages of many heights, on the CPU: each new height is new to oneDNN, which makes primitives for it
and remembers them. There are 36 heights, all met in the first third.

usage: b20_page_heights.py [--pages N]"""
import sys

import torch
import torch.nn as nn


def conv(i, o, stride=1):
    return nn.Sequential(nn.Conv2d(i, o, 3, stride=stride, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(conv(1, 16, 2), conv(16, 32), conv(32, 32, 2), conv(32, 48), conv(48, 48), conv(48, 48, 2),
                                  conv(48, 64), conv(64, 64))
        self.head = nn.Conv2d(64, 5, 1)

    def forward(self, x):
        return self.head(self.body(x)).flatten(2).amax(2)


class Service:
    def __init__(self):
        self.net = Detector().eval()
        self.found = torch.zeros(5)
        self.heights = set()

    @torch.inference_mode()
    def handle(self, page):
        self.heights.add(page.shape[2])
        self.found[self.net(page).argmax()] += 1


def main(pages):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    service = Service()
    for i in range(pages):
        most = min(36, 2 + i * 3 * 36 // pages)
        height = 160 + 16 * int(torch.randint(most, ()))
        service.handle(torch.rand(1, 1, height, 256))
    print("pages %d, heights %d, found %s" % (pages, len(service.heights), service.found.int().tolist()))


if __name__ == "__main__":
    main(int(sys.argv[2]) if "--pages" in sys.argv else 280)
