"""Text generation, one request after the other; keys and values are cached while a request is being decoded."""
import torch
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)
D, HEADS, LAYERS, VOCAB = 64, 4, 2, 500
emb = torch.randn(VOCAB, D) * 0.1
blocks = [{k: torch.randn(D, D) / D ** 0.5 for k in ("q", "k", "v", "o")} for _ in range(LAYERS)]


def attend(x, p, past):
    q, k, v = (x @ p[n] for n in ("q", "k", "v"))
    if past is not None:
        k, v = torch.cat([past[0], k], 1), torch.cat([past[1], v], 1)
    b, t, _ = k.shape

    def split(z):
        return z.view(b, -1, HEADS, D // HEADS).transpose(1, 2)
    w = (split(q) @ split(k).transpose(2, 3) / (D // HEADS) ** 0.5).softmax(-1)
    return (w @ split(v)).transpose(1, 2).reshape(b, -1, D) @ p["o"], (k, v)


@torch.inference_mode()
def generate(prompt, length):
    past = [None] * LAYERS
    ids = prompt
    out = []
    for _ in range(length):
        x = emb[ids]
        for n, p in enumerate(blocks):
            y, past[n] = attend(x, p, past[n])
            x = F.layer_norm(x + y, (D,))
        ids = (x[:, -1] @ emb.t()).argmax(-1, keepdim=True)
        out.append(ids)
    return torch.cat(out, 1)


gen = torch.Generator().manual_seed(9)
total = 0
for request in range(64):
    n = int(torch.randint(6, 34, (1,), generator=gen))
    prompt = torch.randint(0, VOCAB, (8, 16), generator=gen)
    tokens = generate(prompt, n)
    total += tokens.numel()
    if request % 16 == 15:
        print("request %d: %d tokens so far" % (request + 1, total), flush=True)
