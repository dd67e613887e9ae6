#!/usr/bin/env python3
# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the rotary embeddings of every model type of Hugging Face transformers.

Writes tests/data/transformers/ropes.json. Run by hand, never by a test:

    python -m venv venv && venv/bin/pip install torch==2.15.0 transformers==5.24.0 scipy==1.18.0 pillow
    venv/bin/python tools/facts/transformers_ropes.py tests/data/transformers/ropes.json

No weights and no network are used. Each model is built on torch's meta device from the default configuration of its
class; the rotary modules found there are built again on the CPU, and their buffers, the map that the module's own
"apply" function performs on unit vectors, and the layers that call it in a forward pass are recorded. The form of the
file is described in its first member, "about".
"""

import argparse
import importlib
import inspect
import json
import multiprocessing
import os
import re
import signal
import struct
import sys
import warnings

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "critical")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
warnings.filterwarnings("ignore")

import torch  # noqa: E402
import transformers  # noqa: E402
from transformers import CONFIG_MAPPING  # noqa: E402
from transformers.models.auto import modeling_auto  # noqa: E402

from transformers_config import (
    LETTERS,
    annotated_rotaries,
    finite,
    folds,
    head_dim_rule,
    make_config,
    pattern,
    reduced,
    rope_parameters,
)  # noqa: E402
from transformers_layers import trace_layers  # noqa: E402
from transformers_map import measure_apply  # noqa: E402
from transformers_notes import NOT_ROPE, OVERRIDES, READ, ROLES  # noqa: E402
from transformers_rules import RULES  # noqa: E402


def fp32_hex(tensor):
    return "".join(struct.pack(">f", x).hex() for x in tensor.detach().to(torch.float32).flatten().tolist())


def model_class(model_type):
    names = []
    for name in ["MODEL_MAPPING_NAMES"] + sorted(dir(modeling_auto)):
        if re.fullmatch(r"MODEL(_FOR_\w+)?_MAPPING_NAMES", name):
            found = getattr(modeling_auto, name).get(model_type)
            names += list(found) if isinstance(found, (tuple, list)) else [found] if found else []
    return getattr(transformers, names[0], None) if names else None


def build_on_meta(config, cls):
    with torch.device("meta"):
        if not hasattr(cls, "_from_config"):
            return cls(config)
        try:  # an attention and an expert routine that run without data
            return cls._from_config(config, attn_implementation="eager", experts_implementation="batched_mm")
        except Exception:
            return cls._from_config(config)


def is_rotary(module):
    name = type(module).__name__
    if name in NOT_ROPE:
        return False
    buffers = list(module._buffers)
    return any("inv_freq" in b or b in ("freqs_ci", "embed_positions") for b in buffers)


def role_of(path, module, own_type):
    text = getattr(getattr(module, "config", None), "model_type", "") or own_type
    if type(module).__name__ in ROLES:
        return ROLES[type(module).__name__]
    if "indexer" in path:
        return "indexer"
    if "compressor" in path:
        return "compressor"
    if text.endswith("_text"):
        return "attention"
    where = (path + " " + text).lower()
    if re.search(r"vision|visual|image_|vit\b|vit_|pixtral|siglip", where):
        return "vision"
    if re.search(r"audio|speech|codec|wav|sound", where):
        return "audio"
    return "attention"


def on_cpu(module, path, default):
    kwargs = {"scaled": False} if "unscaled" in path else {}
    cls = type(module)
    config = getattr(module, "config", None)
    return cls(config if config is not None else default, **kwargs)


def parents(model, path):
    """The modules on the way to `path`, outermost first."""
    if model is None or path.startswith("("):
        return []
    steps = path.split(".")[:-1]
    return [model] + [model.get_submodule(".".join(steps[: i + 1])) for i in range(len(steps))]


def frequency_sets(module):
    """(layer type or None, inv_freq, scaling, rope type) of each set of frequencies that the module holds."""
    if "embed_positions" in module._buffers:  # GPT-J and CodeGen keep sines and cosines; the formula is theirs
        dim = module.pos_embd_dim
        yield None, 1.0 / (10000 ** (torch.arange(0, dim, 2, dtype=torch.int64) / dim)), 1.0, "default"
        return
    for name, buffer in module._buffers.items():
        if name == "inv_freq" or (name.endswith("_inv_freq") and "original" not in name):
            kind = name[: -len("_inv_freq")] if name != "inv_freq" else None
            prefix = f"{kind}_" if kind else ""
            scaling = getattr(module, prefix + "attention_scaling", 1.0)
            rope_type = getattr(module, "rope_type", "default")
            if isinstance(rope_type, dict):
                rope_type = rope_type.get(kind, "default")
            yield kind, buffer, float(scaling), rope_type


def uses_partial(module):
    """Whether the default formula of the class looks at partial_rotary_factor."""
    fn = getattr(type(module), "compute_default_rope_parameters", None)
    if fn is None:
        return None
    return "partial_rotary_factor" in inspect.getsource(fn)


def scales(config, found):
    """What the modeling file multiplies the softmax scale or the queries by, called on sample values."""
    out = {}
    for space in {
        type(m).__module__
        for _, m in found
        if getattr(m, "config", None) is not None and m.config.model_type == config.model_type
    }:
        module = sys.modules[space]
        if hasattr(module, "yarn_apply_mscale"):
            sample = {"rope_type": "yarn", "factor": 40.0, "mscale_all_dim": 1.0}
            out["softmax_scale"] = {
                "fn": "yarn_apply_mscale",
                "of": sample,
                "times": module.yarn_apply_mscale(sample, 1.0),
            }
        positions = torch.tensor([[0, 16383, 16384, 100000, 1000000]])
        if hasattr(module, "get_llama_4_attn_scale"):
            value = module.get_llama_4_attn_scale(positions, 0.1, 16384)
            out["query_scale"] = {
                "fn": "get_llama_4_attn_scale",
                "beta": 0.1,
                "original": 16384,
                "positions": positions[0].tolist(),
                "times": value.flatten().tolist(),
            }
        if hasattr(module, "compute_attention_scaling"):
            value = module.compute_attention_scaling(positions)
            out["query_scale"] = {
                "fn": "compute_attention_scaling",
                "positions": positions[0].tolist(),
                "times": value.flatten().tolist(),
            }
    return out


def rule_cases():
    """What a few classes make of small files: the generic rules of modeling_rope_utils, measured."""
    out = []
    for model_type, text in RULES:
        case = {"model_type": model_type, "file": text}
        try:
            config = CONFIG_MAPPING[model_type].from_dict(json.loads(json.dumps(text)))
            case["rope_parameters"] = rope_parameters(config)
            module = build_rotary(config)
            case["ropes"] = []
            for kind, freqs, scaling, rope_type in frequency_sets(module):
                rope = {"rope_type": str(rope_type), "freqs": fp32_hex(freqs), "scaling": scaling}
                if kind:
                    rope["layer_type"] = kind
                if str(rope_type) == "longrope":
                    far = transformers.modeling_rope_utils.ROPE_INIT_FUNCTIONS["longrope"](
                        config, None, seq_len=10**9, layer_type=kind
                    )
                    rope["long_freqs"] = fp32_hex(far[0])
                case["ropes"].append(rope)
        except Exception as error:
            cause = error.__cause__ or error
            case["error"] = f"{type(cause).__name__}: {(str(cause).strip().splitlines() or [''])[0][:110]}"
        out.append(case)
    return out


def build_rotary(config):
    package = type(config).__module__.rsplit(".", 1)[0]
    module = importlib.import_module(f"{package}.modeling_{package.rsplit('.', 1)[1]}")
    names = sorted(n for n in vars(module) if n.endswith("RotaryEmbedding") and "Vision" not in n)
    return getattr(module, names[0])(config)


class Timeout(Exception):
    pass


def alarm(signum, frame):
    raise Timeout("took too long")


def examine(model_type):
    signal.signal(signal.SIGALRM, alarm)
    signal.alarm(120)
    try:
        return examine_now(model_type)
    except Timeout:
        return {"model_type": model_type, "error": "timeout"}
    finally:
        signal.alarm(0)


def examine_now(model_type):
    entry = {"model_type": model_type}
    try:
        cls = CONFIG_MAPPING[model_type]
        entry["config_class"] = cls.__name__
        config = make_config(model_type)
    except Exception as error:
        entry["error"] = f"{type(error).__name__}: {str(error).splitlines()[0][:160]}"
        return entry
    entry["config"] = finite(reduced(config.to_dict()))
    if model_type in OVERRIDES:
        entry["given"] = OVERRIDES[model_type]
        try:
            if not any(is_rotary(m) for m in build_on_meta(cls(), model_class(model_type)).modules()):
                entry["default_error"] = "no rotary module"
        except Exception as error:
            entry["default_error"] = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:100]}"
    found, model = [], None
    try:
        torch.manual_seed(0)
        builder = model_class(model_type)
        if builder is not None:
            model = build_on_meta(config, builder)
            entry["model_class"] = builder.__name__
            for path, module in model.named_modules():
                if is_rotary(module):
                    found.append((path, module))
            layers = trace_layers(model, config)
            if layers:
                entry["layers"] = layers
    except Timeout:
        raise
    except Exception as error:
        entry["build_error"] = f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[0][:120]}"
    if not found and "model_class" not in entry:
        try:
            for name, rotary in annotated_rotaries(config):
                module = rotary(config)
                if is_rotary(module):
                    found.append((f"({name})", module))
        except Exception as error:
            entry.setdefault("build_error", f"{type(error).__name__}: {str(error)[:120]}")
    ropes, seen = [], set()
    for path, module in found:
        own = getattr(module, "config", None)
        of = getattr(own, "model_type", None)
        role = role_of(path, module, model_type)
        if "freqs_ci" in module._buffers:
            rope = {"at": path, "role": role, "class": type(module).__name__}
            if rope["class"] not in seen:
                seen.add(rope["class"])
                ropes.append(rope)
            continue
        try:
            near = next((x.config for x in reversed(parents(model, path)) if hasattr(x, "config")), config)
            cpu = (
                on_cpu(module, path, near)
                if any(b is not None and b.is_meta for b in module._buffers.values())
                else module
            )
        except Exception as error:
            ropes.append(
                {"at": path, "role": role, "class": type(module).__name__, "error": f"{type(error).__name__}"}
            )
            continue
        for kind, freqs, scaling, rope_type in frequency_sets(cpu):
            text = fp32_hex(freqs)
            key = (type(module).__name__, role, kind, text, scaling, of)
            if key in seen:
                continue
            seen.add(key)
            rope = {"at": path, "role": role, "class": type(module).__name__}
            if of and of != model_type:
                rope["of"] = of
            if kind:
                rope["layer_type"] = kind
            rope["rope_type"] = str(rope_type) if rope_type else "default"
            rope["freqs"] = text
            if scaling != 1.0:
                rope["scaling"] = scaling
            partial = uses_partial(cpu)
            if partial is not None:
                rope["partial"] = partial
            try:  # a part that can be built alone is measured there
                alone = "of" in rope and model_class(of) is not None
                apply = None if alone else measure_apply(cpu, role, kind, freqs, scaling)
            except Exception as error:
                apply = {"error": f"{type(error).__name__}: {str(error)[:80]}"}
            if apply:
                rope["apply"] = finite(apply)
            traced = {n for k, names in (entry.get("layers") or {}).get("fn", {}).items() for n in names.split("/")}
            for name in (
                sorted(traced - {(apply or {}).get("fn")}) if apply else []
            ):  # an indexer may pair in another way
                other = measure_apply(cpu, role, kind, freqs, scaling, only=name) if role == "attention" else None
                if other and {**other, "fn": ""} != {**(apply or {}), "fn": ""}:
                    rope.setdefault("also", []).append(finite(other))
            if "of" in rope and own is not None:
                entry.setdefault("parts", {}).setdefault(of, finite(reduced(own.to_dict())))
            ropes.append(rope)
    if ropes:
        entry["ropes"] = ropes
    if model_type in READ:
        entry["read"] = READ[model_type]
    if ropes or hasattr(config, "rope_parameters"):
        entry["folds"] = folds(model_type)
        for key, value in (("head_dim", head_dim_rule(model_type)), ("layer_types_24", pattern(model_type))):
            if value:
                entry[key] = value
        entry.update(scales(config, found))
    return entry


def nested_types(config):
    """model_type of every part of a configuration."""
    out = set()
    for value in config.values():
        if isinstance(value, dict):
            out |= nested_types(value) | ({value["model_type"]} if value.get("model_type") else set())
    return out


def adopt(entries):
    """Ropes of configurations that are only ever a part of a larger model move to an entry of their own."""
    by_type = {e["model_type"]: e for e in entries}
    for entry in entries:
        parts = entry.pop("parts", {})
        for rope in entry.get("ropes", []):
            part = by_type.get(rope.get("of"))
            if part is None or "config_class" not in part:
                continue
            if not part.get("ropes") or part.get("seen_in") == entry["model_type"]:
                part["seen_in"] = entry["model_type"]
                part["config"] = parts[rope["of"]]
                part.setdefault("ropes", []).append({k: v for k, v in rope.items() if k != "of"})
                part.pop("build_error", None)
    for entry in entries:  # a composite's ropes are those of its parts: named, not repeated
        for rope in entry.get("ropes", []):
            part = by_type.get(rope.get("of"))
            if part is not None and part.get("ropes"):
                rope.pop("apply", None)
                rope.pop("also", None)
        if not entry.get("ropes"):
            names = sorted(n for n in nested_types(entry.get("config", {})) if by_type.get(n, {}).get("ropes"))
            if names:
                entry["parts_with_ropes"] = names


ABOUT = {
    "what": "rotary embeddings of transformers' model types, measured from the default configuration of each class",
    "made_by": "tools/facts/transformers_ropes.py",
    "frequencies": "id -> inv_freq as big-endian fp32, 8 hex digits each, in buffer order",
    "rules": "small files, each given to a class: rope_parameters after folding, the frequencies that follow, or the error",
    "models": {
        "config": "keys of to_dict() that bear on ropes or layers; `given` was passed to the class where its defaults "
        "alone cannot be built (`default_error`)",
        "folds": "rope_parameters that the class makes of an older file's keys: theta = {rope_theta: 777.0}, "
        "linear = {rope_scaling: {type: linear, factor: 4.0}}, partial = {partial_rotary_factor: 0.75}; "
        "null: no rope_parameters, same: unchanged from the default",
        "head_dim": "fixed (a class default), derived (hidden size / heads), or none (no such attribute)",
        "ropes": {
            "of": "model_type of the configuration that the module was built from, where it is another one",
            "at": "path of the module",
            "role": "attention, vision, audio, indexer, ...",
            "class": "module class",
            "layer_type": "where one module holds several",
            "rope_type": "",
            "freqs": "id in frequencies",
            "scaling": "factor on cos and sin",
            "partial": "the default formula uses partial_rotary_factor",
            "apply": "measured map on unit vectors: fn, head (its width), pairing (which input elements form pairs), "
            "first and turned (elements that turn; zero frequencies included in width, not in turned), out "
            "(layout of the result where it differs), sign -1 (turns the other way), axes (one digit per "
            "pair: which position axis turns it), order (pair -> index in freqs, where not ascending), "
            "magnitude (where not `scaling`)",
            "also": "the maps of other apply functions that the forward pass called with this rope (an indexer's)",
        },
        "layers": "measured: path of each module that turned queries or keys in a forward pass on text, * for the layer's "
        "number -> those numbers; slices: [size of a head, first element, elements] handed to the apply "
        "function, where that is a slice of the head; fn: the functions called",
        "seen_in": "the configuration and ropes were found in the default of this larger model",
        "parts_with_ropes": "this model was not built; model types of its parts that have ropes",
        "layer_types_24": "layer_types that the class derives for num_hidden_layers 24, one letter each: "
        + " ".join(f"{v} {k}" for k, v in LETTERS.items()),
        "softmax_scale, query_scale": "factors of the modeling file's own functions on sample values",
        "read": "facts read from the source, not measured",
    },
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output")
    parser.add_argument("--only", nargs="*", help="model types")
    args = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":  # some classes order their keys by a set's order
        os.execve(sys.executable, [sys.executable] + sys.argv, {**os.environ, "PYTHONHASHSEED": "0"})
    types = args.only or sorted(CONFIG_MAPPING.keys())
    with multiprocessing.Pool(2, maxtasksperchild=40) as pool:
        entries = list(pool.imap(examine, types, chunksize=2))
    adopt(entries)
    table = {}

    def number(text):
        return table.setdefault(text, f"f{len(table)}")

    without, partial_only = [], []
    lines = []
    for entry in entries:
        has = entry.get("ropes") or entry.get("read") or entry.get("parts_with_ropes")
        if not has:
            reason = entry.get("error") or entry.get("build_error")
            (partial_only if reason else without).append(
                {"model_type": entry["model_type"], "error": reason} if reason else entry["model_type"]
            )
            continue
        for rope in entry.get("ropes", []):
            if "freqs" in rope:
                rope["freqs"] = number(rope["freqs"])
        lines.append(entry)
    rules = rule_cases()
    for case in rules:
        for rope in case.get("ropes", []):
            for key in ("freqs", "long_freqs"):
                if key in rope:
                    rope[key] = number(rope[key])
    dump = lambda x: json.dumps(x, separators=(",", ":"), ensure_ascii=True)  # noqa: E731
    with open(args.output, "w", encoding="ascii") as f:
        f.write("{\n" + f'"about":{dump(ABOUT)},\n')
        f.write(f'"versions":{dump({"transformers": transformers.__version__, "torch": torch.__version__})},\n')
        f.write('"frequencies":{\n' + ",\n".join(f"{dump(v)}:{dump(k)}" for k, v in table.items()) + "\n},\n")
        f.write('"rules":[\n' + ",\n".join(dump(x) for x in rules) + "\n],\n")
        f.write('"models":{\n' + ",\n".join(f"{dump(e['model_type'])}:{dump(e)}" for e in lines) + "\n},\n")
        f.write('"not_built":[\n' + ",\n".join(dump(x) for x in partial_only) + "\n],\n")
        f.write('"no_rope":[\n' + ",\n".join(dump(x) for x in without) + "\n]\n}\n")
    print(
        len(lines),
        "with a rope,",
        len(without),
        "without,",
        len(partial_only),
        "not built;",
        len(table),
        "frequency lists",
    )


if __name__ == "__main__":
    main()
