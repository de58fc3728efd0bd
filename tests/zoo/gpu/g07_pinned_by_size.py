'''Speech: utterances of all lengths are copied to the GPU through page-locked staging buffers.'''
import argparse, random
import torch, torch.nn as nn

class Stager(object):
    """one pinned buffer a size, so that no copy waits for cudaHostAlloc twice"""
    def __init__(self, device):
        self.device, self.buffers = device, {}
    def __call__(self, cpu):
        key = tuple(cpu.shape)
        if key not in self.buffers:
            self.buffers[key] = torch.empty(key, pin_memory=self.device != 'cpu')   # LEAK HELD
        buf = self.buffers[key]
        buf.copy_(cpu)
        return buf.to(self.device, non_blocking=True)

class OneBuffer(object):
    def __init__(self, device, numel=16*1600*40):
        self.device = device
        self.buf = torch.empty(numel, pin_memory=device != 'cpu')
    def __call__(self, cpu):
        view = self.buf[:cpu.numel()].view(cpu.shape)
        view.copy_(cpu)
        return view.to(self.device, non_blocking=True)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(40, 64); self.o = nn.Linear(64, 29)
    def forward(self, x):
        return self.o(torch.tanh(self.f(x)))

def main(a):
    rnd = random.Random(3)
    stage = OneBuffer(a.device) if a.one_buffer else Stager(a.device)
    net = Net().to(a.device)
    opt = torch.optim.SGD(net.parameters(), lr=1e-2)
    for step in range(a.steps):
        frames = rnd.randint(200, 1600)
        x = stage(torch.zeros(16, frames, 40))
        loss = net(x).log_softmax(-1).mean()
        opt.zero_grad(); loss.backward(); opt.step()
    print('steps', a.steps)

if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--device', default='cuda'); p.add_argument('--steps', type=int, default=90)
    p.add_argument('--one-buffer', action='store_true')
    main(p.parse_args())
