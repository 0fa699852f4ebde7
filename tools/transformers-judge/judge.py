"""Compares Kvasir with transformers on tiny random folders of every family:
    python3 judge.py MODELS [CASE...]
Writes the folders to MODELS, runs them with both, prints a table, and fails where they differ. With --goldens it also
writes what transformers computed to golden/, for the tests, which need no Python. README.md has the details.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy
import safetensors
import safetensors.numpy
import torch
import transformers

import cases
import weights

HERE = pathlib.Path(__file__).parent
TOKENS = 160
PROMPT = 100
GREEDY = 32
# Logits are about 2 in size; both programs compute in 32-bit floats, and add in other orders.
FARTHEST = 2e-4
# A greedy token that leads by less may differ between processors. Another name gives other weights.
LEAD = 1e-3
PROMPT_LOGITS = "kvasir-prompt.f32"
NO_SETTINGS = ("_name_or_path", "transformers_version", "dtype")
# The goldens have the last token of each group.
GROUP = 8


def text():
    ids = weights.uniforms(7, TOKENS) * (cases.VOCABULARY - 3)
    return [3 + int(one) for one in ids]


def configuration(case):
    settings = dict(case.settings)
    inner = transformers.AutoConfig.for_model(settings.pop("model_type"), **settings)
    if case.around is None:
        return inner
    around = dict(case.around)
    return transformers.AutoConfig.for_model(around.pop("model_type"), text_config=inner.to_dict(), **around)


def model_class(config):
    return transformers.AutoModelForImageTextToText if hasattr(config, "vision_config") else transformers.AutoModelForCausalLM


def write_model(case, folder):
    """Lets transformers write a folder, and fills its tensors with values that Java can compute as well."""
    config = configuration(case)
    torch.manual_seed(0)
    model = model_class(config).from_config(config, dtype=torch.float32)
    model.save_pretrained(folder, save_original_format=case.converted)
    file = folder / "model.safetensors"
    with safetensors.safe_open(file, "numpy") as tensors:
        filled = [tensor(case, name, tensors.get_tensor(name)) for name in sorted(tensors.keys())]
    safetensors.numpy.save_file({one.name: one.values(case.name) for one in filled}, file, {"format": "pt"})
    text = [one for one in filled if not any(word in one.name for word in ("vis", "projector", "audio"))]
    (folder / "tensors.txt").write_text("".join(one.line() + "\n" for one in text))


def bare(folder):
    """Returns the configuration without what transformers fills in by itself, which older files may omit."""
    config = json.loads((folder / "config.json").read_text())
    with tempfile.TemporaryDirectory() as work:
        def read():
            (pathlib.Path(work) / "config.json").write_text(json.dumps(config))
            every = transformers.AutoConfig.from_pretrained(work).to_dict()
            return json.dumps({key: value for key, value in every.items() if key not in NO_SETTINGS}, sort_keys=True,
                              default=str)
        remove_defaults(config, read, read())
    return config


def remove_defaults(settings, read, expected):
    for key in sorted(settings.keys() - {"model_type", "vision_config"}):
        value = settings.pop(key)
        try:
            is_default = read() == expected
        except Exception:  # whatever a class raises about the settings that are left
            is_default = False
        if not is_default:
            settings[key] = value
            if isinstance(value, dict):
                remove_defaults(value, read, expected)


def tensor(case, name, initial):
    """Returns how a tensor is filled, from its name and what transformers initializes it with."""
    middle, spread = distribution(case, name, initial)
    return weights.Tensor(name, initial.shape, middle, spread)


def distribution(case, name, initial):
    stem = name.removesuffix(".weight").removesuffix(".bias")
    last = stem.split(".")[-1]
    if "embed" in last and initial.ndim == 2:
        return 0.0, 0.4 if "per_layer" in last else case.embedding
    if last in ("norm", "norm_f", "embedding_norm") and ".layers." not in name:
        # Some families store factors minus one.
        return case.final_norm + float(initial.mean()) - 1, 0.3 * case.final_norm
    if last == "A_log":
        return 0.0, 0.7
    if last == "dt_bias":
        return -1.0, 0.5
    if last == "sinks":
        return 2.0, 1.5
    if last == "layer_scalar":
        return 0.9, 0.1
    if "conv" in last and initial.ndim == 3:
        return 0.0, 0.6
    if last in ("q_norm", "k_norm") and case.name.startswith("gemma4"):
        # Its scores are not divided; larger ones would magnify the noise of rounding.
        return 0.6, 0.2
    if initial.ndim == 1 or name.endswith("bias"):
        return (1.0 if initial.min() == 1 else 0.0), 0.3
    gain = {"q_proj": 1.4, "k_proj": 1.4, "gate": 2.0, "router": 2.0, "lm_head": 2.0}.get(last, 1.3)
    columns = initial.shape[-2] if "gpt_oss" in case.name and initial.ndim == 3 else initial.shape[-1]
    return 0.0, gain / columns**0.5


def run_transformers(folder):
    """Returns the logits of the text, a greedy continuation of the prompt, and its narrowest lead."""
    config = transformers.AutoConfig.from_pretrained(folder)
    model, loading = model_class(config).from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True)
    for kind, names in loading.items():
        if names:
            sys.exit(f"{folder.name}: {kind} {sorted(names)[:3]}")
    model.eval()
    with torch.no_grad():
        logits = model(torch.tensor([text()]), use_cache=False).logits[0].float().numpy()
        ids, leads = text()[:PROMPT], []
        for _ in range(GREEDY):
            best = torch.topk(model(torch.tensor([ids]), use_cache=False).logits[0, -1].float(), 2)
            leads.append(float(best.values[0] - best.values[1]))
            ids = ids + [int(best.indices[0])]
    return logits, ids[PROMPT:], min(leads)


def run_kvasir(models):
    """Runs all folders in one JVM, which writes its results into each."""
    subprocess.run([HERE / "kvasir-logits", models], check=True)


def kl(expected, found):
    def logs(logits):
        shifted = logits.astype(numpy.float64)
        shifted = shifted - shifted.max(axis=1, keepdims=True)
        return shifted - numpy.log(numpy.exp(shifted).sum(axis=1, keepdims=True))
    return float((numpy.exp(logs(expected)) * (logs(expected) - logs(found))).sum(axis=1).mean())


def bare_folder(folder):
    return folder.with_name(folder.name + ".bare")


def write_bare(folder):
    other = bare_folder(folder)
    other.mkdir()
    (other / "config.json").write_text(json.dumps(bare(folder), indent=2, sort_keys=True) + "\n")
    (other / "model.safetensors").hardlink_to(folder / "model.safetensors")


def write_golden(case, folder, logits, greedy):
    golden = HERE / "golden" / case.name
    shutil.rmtree(golden, ignore_errors=True)
    golden.mkdir(parents=True)
    for name in ("config.json", "tensors.txt"):
        shutil.copy(folder / name, golden)
    (golden / "bare.json").write_text((bare_folder(folder) / "config.json").read_text())
    numpy.save(golden / "logits.npy", logits[GROUP - 1::GROUP])
    (golden / "greedy.txt").write_text(" ".join(map(str, greedy)) + "\n")


def compare(case, folder, logits, greedy):
    """Returns a row of the table, and whether both programs agree."""
    for each in (folder, bare_folder(folder)):
        if (each / "kvasir-error.txt").exists():
            return f"| {each.name} | {(each / 'kvasir-error.txt').read_text().strip()} | | | | |", False
    whole, steps = (numpy.fromfile(folder / f"kvasir-{how}.f32", "<f4").reshape(logits.shape)
                    for how in ("prompt", "steps"))
    apart = [float(numpy.abs(each - logits).max()) for each in (whole, steps)]
    same = [int(word) for word in (folder / "kvasir-greedy.txt").read_text().split()] == greedy
    filled = (folder / PROMPT_LOGITS).read_bytes() == (bare_folder(folder) / PROMPT_LOGITS).read_bytes()
    agrees = all(one <= FARTHEST for one in apart) and same and filled
    row = [case.name, *(f"{one:.0e}" for one in apart), f"{kl(logits, whole):.0e}", *("same" if one else "OTHER" for one in (same, filled))]
    return "| " + " | ".join(row) + " |", agrees


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("models", type=pathlib.Path)
    arguments.add_argument("cases", nargs="*")
    arguments.add_argument("--goldens", action="store_true")
    options = arguments.parse_intermixed_args()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)
    chosen = [case for case in cases.CASES if not options.cases or case.name in options.cases]
    shutil.rmtree(options.models, ignore_errors=True)
    options.models.mkdir(parents=True)
    (options.models / "tokens.txt").write_text(" ".join(map(str, text())) + "\n")
    results = []
    for case in chosen:
        folder = options.models / case.name
        write_model(case, folder)
        write_bare(folder)
        logits, greedy, lead = run_transformers(folder)
        if not lead > LEAD:
            sys.exit(f"{case.name}: a greedy token leads by {lead:.0e} only; give it another name")
        results.append((case, logits, greedy))
        if options.goldens:
            write_golden(case, folder, logits, greedy)
    if options.goldens:
        shutil.copy(options.models / "tokens.txt", HERE / "golden")
    run_kvasir(options.models)
    print(f"transformers {transformers.__version__}, torch {torch.__version__}\n")
    print("| model | prompt | token by token | KL | greedy text | defaults |\n|---|---:|---:|---:|---|---|")
    agree = True
    for case, logits, greedy in results:
        row, agrees = compare(case, options.models / case.name, logits, greedy)
        print(row)
        agree &= agrees
    sys.exit(0 if agree else 1)


main()
