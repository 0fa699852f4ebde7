"""Times PyTorch's attention of one query for each sequence, in halves, by every backend that takes the shape.

    python3 sdpa.py BATCH,TOKENS,QUERY_HEADS,KV_HEADS,HEAD_DIM ...

Prints a line of JSON for each shape: microseconds of the best backend, and which one that is. Measured as the kernels of
kvasir are: a CUDA graph of a call for each of several buffers, larger together than any cache, medians of replays.
"""
import json
import math
import sys
import warnings

import torch
import torch.nn.functional as functional
from torch.nn.attention import SDPBackend, sdpa_kernel

warnings.filterwarnings("ignore")
BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
}
BUFFER_BYTES = 800e6
MOST_BUFFERS = 24
REPLAYS = 11


def micros(calls):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for call in calls[:2]:
            call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for call in calls:
            call()
    times = []
    for replay in range(-3, REPLAYS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        if replay >= 0:
            times.append(begin.elapsed_time(end) * 1e3 / len(calls))
    return sorted(times)[len(times) // 2]


def measure(batch, tokens, query_heads, kv_heads, head_dim):
    size = 4 * batch * kv_heads * tokens * head_dim
    buffers = max(2, min(MOST_BUFFERS, math.ceil(BUFFER_BYTES / size)))
    shape = (batch, kv_heads, tokens, head_dim)
    pairs = [tuple(torch.randn(shape, device="cuda", dtype=torch.half) for _ in range(2)) for _ in range(buffers)]
    plain = torch.randn(batch, query_heads, 1, head_dim, device="cuda", dtype=torch.half)
    rows = plain.view(batch, kv_heads, query_heads // kv_heads, head_dim)  # heads that share keys, as rows of one head
    times = {}
    for name, backend in BACKENDS.items():
        for form in ("shared", "rows"):
            def call(k, v):
                if form == "shared":
                    return functional.scaled_dot_product_attention(plain, k, v, enable_gqa=True)
                return functional.scaled_dot_product_attention(rows, k, v)

            try:
                with sdpa_kernel(backend):
                    times[name + "/" + form] = micros([lambda k=k, v=v: call(k, v) for k, v in pairs])
            except Exception:  # a backend that does not take the shape
                continue
    return times


def main():
    for text in sys.argv[1:]:
        times = measure(*map(int, text.split(",")))
        best = min(times, key=times.get)
        found = {"shape": text, "micros": times[best], "backend": best, "torch": torch.__version__}
        print(json.dumps(found), flush=True)
        torch.cuda.empty_cache()


main()
