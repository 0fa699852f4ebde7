"""Holds the folders of all tiny models to the goldens, with transformers in 32-bit floats:
    python3 folders.py MODELS
MODELS is what `golden CHECKOUT MODELS` has written. Prints how far the farthest logit is.
Needs torch and transformers, and accelerate for MXFP4, whose experts it computes in bf16.
"""
import pathlib
import sys

import numpy
import torch
import transformers

GOLDEN = pathlib.Path(__file__).parent


def logits(folder, tokens):
    model, loading = transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True)
    for kind, names in loading.items():
        if names:
            sys.exit(f"{folder.name}: {kind} {sorted(names)[:3]}")
    with torch.no_grad():
        return model.eval()(tokens, use_cache=False).logits[0].float().numpy()


def main():
    transformers.logging.set_verbosity_error()
    print(f"transformers {transformers.__version__}, torch {torch.__version__}")
    tokens = torch.tensor([[int(word) for word in (GOLDEN / "tokens.txt").read_text().split()]])
    for folder in sorted(pathlib.Path(sys.argv[1]).iterdir()):
        if folder.is_dir():
            golden = numpy.load(GOLDEN / (folder.name.removesuffix("-mxfp4") + ".npy"))
            print(f"{folder.name} {numpy.abs(logits(folder, tokens) - golden).max():.0e}", flush=True)


main()
