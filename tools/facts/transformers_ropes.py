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
import math
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
from transformers.configuration_utils import PreTrainedConfig  # noqa: E402
from transformers.models.auto import modeling_auto  # noqa: E402

from transformers_layers import trace_layers  # noqa: E402
from transformers_notes import APPLY, AXES, CLASSES, NOT_ROPE, OVERRIDES, READ, ROLES, RULES  # noqa: E402

KEEP = re.compile(
    r"rope|rotary|theta|head_dim|heads?$|hidden_size$|^d_model$|^embed_dim$|^n_embd$|^n_layer$|^num_layers$|^n_positions$"
    r"|num_hidden_layers|^(en|de)coder_layers$|layer_types|layers_block_type|partial|max_position_emb|sliding|mtp|nextn"
    r"|no_rope|interval|pattern|alibi|position_embeddings?_type|compress|floor_scale|attn_scale|attn_temperature"
    r"|attention_chunk|full_attn|local_attention|window|q_lora|kv_lora|indexer|index_|per_layer_config"
    r"|kv_shared|mamba_enabled|use_mem|use_long|image_size$|patch_size$|spatial_merge|conv_L|attn_layer|"
    r"rope_scaling_layers|first_k_dense|query_pre_attn|attention_multiplier|is_encoder_decoder|uid|spatial", re.I)
DROP = re.compile(r"mlp_layer_types|theta_scale|index_to|token|_id$|dropout|label|losses|intermediate|window_size_audio|"
                  r"activation_sparsity|suppress|keys_to_ignore|hidden_size_per_layer_input|vocab", re.I)


def reduced(value, top=True):
    """The rope-relevant part of a to_dict()."""
    out = {}
    for key, item in value.items():
        if isinstance(item, dict) and ("model_type" in item or key.endswith("_config")) and key != "per_layer_config":
            part = reduced(item, False)
            if part:
                out[key] = part
        elif key == "model_type":
            out[key] = item
        elif KEEP.search(key) and not DROP.search(key) and not (item is None and not re.search(r"rope|head_dim", key)):
            if item is False and not re.search(r"rope|rotary|alibi|interleav", key):
                continue
            out[key] = item
    if not top and set(out) == {"model_type"} and not out["model_type"]:
        return {}
    return out


def fp32_hex(tensor):
    return "".join(struct.pack(">f", x).hex() for x in tensor.detach().to(torch.float32).flatten().tolist())


def finite(value):
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(k): finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(v) for v in value]
    if isinstance(value, torch.Tensor):
        return finite(value.tolist())
    return value


def make_config(model_type):
    """The default configuration; with OVERRIDES where the default cannot make a model."""
    cls = CONFIG_MAPPING[model_type]
    return cls(**OVERRIDES.get(model_type, {}))


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


# --- the map of the apply function -----------------------------------------------------------------------------------

def candidates(module, role, config):
    """Names of the apply functions that this module's cos and sin are made for, most specific first."""
    space = vars(sys.modules[type(module).__module__])
    names = [n for n, v in space.items() if inspect.isfunction(inspect.unwrap(v) if callable(v) else v)
             and re.search(r"apply_(rotary|multidim)|vision_apply|apply_rotary_emb", n)]
    def rank(name):
        score = 0
        vision = bool(re.search(r"vision|2d|multidim", name))
        score += 4 if vision != (role == "vision") else 0
        if "interleave" in name:
            flag = getattr(config, "rope_interleave", None)
            score += -2 if flag in (None, True) else 2
        if "cross" in name:
            score += 1
        return score
    return [(n, space[n]) for n in sorted(names, key=lambda n: (rank(n), n))]


def position_forms(module, role):
    """Positions for the module's forward: row 0 is zero, row 1 + a has 1 on axis a. (axes, tensor, layout)"""
    source = inspect.getsource(type(module))
    def rows(axes):
        return torch.cat([torch.zeros(1, axes, dtype=torch.long), torch.eye(axes, dtype=torch.long)])
    forms = []
    if type(module).__name__ in AXES:
        return [(AXES[type(module).__name__], rows(AXES[type(module).__name__]), "patches")]
    expand = re.search(r"position_ids\.expand\((\d)", source)
    if expand:
        n = int(expand.group(1))
        forms.append((n, rows(n).t()[:, None, :], "text"))
    elif "len(self.mrope_section)" in source:
        n = len(module.mrope_section)
        forms.append((n, rows(n).t()[:, None, :], "text"))
    if role == "vision" or "recomposition_frequencies" in source:
        forms += [(2, rows(2), "patches"), (3, rows(3), "patches"), (2, rows(2)[None], "patches1")]
    forms.append((1, rows(1).t(), "text"))
    return forms


def call_rotary(module, positions, kind):
    x = torch.zeros(1, 8, dtype=torch.float32)
    names = list(inspect.signature(module.forward).parameters)
    if kind is not None and "layer_type" in names:
        return module(x, positions, layer_type=kind)
    return module(x, positions)


def apply_map(fn, emb, rows, head, layout):
    """rows x head x head: result for unit vector i at row s is [s, i]."""
    fn = inspect.unwrap(fn)
    params = list(inspect.signature(fn).parameters)
    eye = torch.eye(head)
    complex_form = isinstance(emb, torch.Tensor) and emb.is_complex()
    for style in ("bhsd", "bshd", "nhd"):
        if style == "bhsd":
            q = eye[None, :, None, :].expand(1, head, rows, head).contiguous()
        elif style == "bshd":
            q = eye[None, None].expand(1, rows, head, head).contiguous()
        else:
            q = eye[None].expand(rows, head, head).contiguous()
        try:
            if complex_form:
                out = fn(q, q, emb)[0]
            else:
                cos, sin = emb
                kwargs = {}
                if "unsqueeze_dim" in params and style == "bshd":
                    kwargs["unsqueeze_dim"] = 2
                if "position_ids" in params and params[0] == "x":
                    kwargs["position_ids"] = torch.zeros(1, rows, 2)
                if params[:3] == ["tensor", "sin", "cos"]:  # GPT-J and CodeGen hand them over in this order
                    out = fn(q, *emb)
                elif params[0] == "x" or "k" not in params[:2]:
                    out = fn(q, cos=cos, sin=sin, **kwargs)
                elif "cos_k" in params:
                    out = fn(q, q, cos=cos, sin=sin, cos_k=cos, sin_k=sin, **kwargs)[0]
                else:
                    out = fn(q, q, cos=cos, sin=sin, **kwargs)
                    out = out[0] if isinstance(out, tuple) else out
        except Exception:
            continue
        if out.shape != q.shape:
            continue
        if style == "bhsd":
            m = out[0].transpose(0, 1)
        elif style == "bshd":
            m = out[0]
        else:
            m = out
        return m
    return None


def describe_map(m, freqs, scaling):
    """Pairs, placement, direction, axes of a measured map (row 0: position 0; row 1 + a: 1 on axis a)."""
    rows, head, _ = m.shape
    axes = rows - 1
    base = m[0]                                   # position 0: magnitude times a permutation
    target = [int(base[i].abs().argmax()) for i in range(head)]
    if sorted(target) != list(range(head)):
        return {"pairing": "not a rotation"}
    pairs = {}
    for s in range(1, rows):
        for i in range(head):
            for j in torch.nonzero(m[s, i].abs() > 1e-12).flatten().tolist():
                if j != target[i]:
                    other = target.index(j)
                    pairs.setdefault((min(i, other), max(i, other)), set()).add(s - 1)
    if not pairs:
        return {"pairing": "none"}
    members = sorted({i for p in pairs for i in p})
    out = {"head": head}
    gaps = {b - a for a, b in pairs}
    ordered = sorted(pairs)
    half = ordered[0][1] - ordered[0][0]
    if gaps == {1} and all(a % 2 == 0 for a, _ in ordered):
        out["pairing"] = "interleaved"
    elif gaps == {half}:
        out["pairing"] = "half"
        if half != len(ordered):
            out["gap"] = half
    else:
        out["pairing"] = "other"
        out["pairs"] = [list(p) for p in ordered]
    out["first"], out["turned"] = members[0], len(members)
    moved = [i for i in range(head) if target[i] != i]
    if moved:
        first_half = all(target[a] == k and target[b] == k + len(ordered) for k, (a, b) in enumerate(ordered))
        out["out"] = "half" if first_half else [target[i] for i in members]
    signs, angles, magnitude, which = set(), [], set(), []
    for a, b in ordered:
        hit = pairs[(a, b)]
        which.append("".join(str(x) for x in sorted(hit)))
        s = min(hit) + 1
        c, n = float(m[s, a, target[a]]), float(m[s, a, target[b]])
        angle = math.atan2(n, c)
        back = math.atan2(-float(m[s, b, target[a]]), float(m[s, b, target[b]]))
        if abs(back - angle) > 1e-5 * max(1e-3, abs(angle)):
            out.update(element_angles(m, target, ordered), pairing="not a rotation", elements=out["pairing"])
            return {k: out[k] for k in ("head", "pairing", "elements", "element_axes") if k in out}
        signs.add(-1 if angle < 0 else 1)
        angles.append(abs(angle))
        magnitude.add(round(math.hypot(c, n), 6))
    if signs == {-1}:
        out["sign"] = -1
    if axes > 1:
        out["axes"] = "".join(which) if all(len(w) == 1 for w in which) else which
    if len(magnitude) != 1 or abs(magnitude.copy().pop() - scaling) > 2e-6 * max(1.0, scaling):
        out["magnitude"] = sorted(magnitude)[0] if len(magnitude) == 1 else sorted(magnitude)
    source = [float(x) for x in freqs.flatten()]
    index = []
    for k, angle in enumerate(angles):
        near = min(range(len(source)), key=lambda i: (abs(source[i] - angle) / max(source[i], 1e-30), abs(i - k)))
        if abs(source[near] - angle) > 3e-6 * max(angle, 1e-30):
            out["angles"] = "differ from inv_freq"
            index = None
            break
        index.append(near)
    if index is not None and index != list(range(len(index))):
        out["order"] = runs(index)
    return out


def runs(numbers):
    """[0, 1, 2, 0, 1, 2] -> "0-2,0-2"."""
    out = []
    for n in numbers:
        if out and out[-1][1] + 1 == n:
            out[-1][1] = n
        else:
            out.append([n, n])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def element_angles(m, target, pairs):
    """The axis whose sine enters each element, where the two elements of a pair follow different axes."""
    partner = {}
    for a, b in pairs:
        partner[a], partner[b] = b, a
    axes = []
    for i in range(m.shape[1]):
        other = partner.get(i)
        moved = [] if other is None else [s - 1 for s in range(1, m.shape[0]) if abs(float(m[s, other, target[i]])) > 1e-12]
        axes.append("".join(map(str, moved)) or "-")
    return {"element_axes": axes if any(len(a) > 1 for a in axes) else "".join(axes)}


def widths(config, emb, kind):
    w = emb.shape[-1] * 2 if isinstance(emb, torch.Tensor) else emb[0].shape[-1]
    found = []
    try:
        config = config.per_layer_config[kind] if kind is not None else config
    except Exception:
        pass  # only heterogeneous configurations have one
    head = getattr(config, "head_dim", None)
    hidden = getattr(config, "hidden_size", None)
    heads = getattr(config, "num_attention_heads", None)
    if isinstance(head, int):
        found.append(head)
    try:
        found.append(hidden // heads)
    except Exception:
        pass
    return [w, 2 * w] if not found else list(dict.fromkeys(found + [w, 2 * w]))


def measure_apply(module, role, kind, freqs, scaling, only=None):
    config = getattr(module, "config", None)
    only = only or APPLY.get(type(module).__name__)
    for name, fn in candidates(module, role, config):
        if only and name != only:
            continue
        for axes, positions, layout in position_forms(module, role):
            try:
                emb = call_rotary(module, positions, kind)
            except Exception:
                continue
            if isinstance(emb, tuple) and len(emb) != 2:
                continue
            for head in widths(config, emb, kind):
                if head is None or head > 1024 or head <= 0:
                    continue
                m = apply_map(fn, emb, axes + 1, head, layout)
                if m is None:
                    continue
                result = describe_map(m, freqs, scaling)
                if result.get("pairing") == "none":
                    continue
                return {"fn": name, **result}
    return None


def uses_partial(module):
    """Whether the default formula of the class looks at partial_rotary_factor."""
    fn = getattr(type(module), "compute_default_rope_parameters", None)
    if fn is None:
        return None
    return "partial_rotary_factor" in inspect.getsource(fn)


# --- one model type --------------------------------------------------------------------------------------------------

def rope_parameters(config):
    return finite(getattr(config, "rope_parameters", None))


def folds(model_type):
    cls = CONFIG_MAPPING[model_type]
    def result(**extra):
        try:
            return rope_parameters(cls(**{**OVERRIDES.get(model_type, {}), **extra}))
        except Exception as error:
            return {"error": type(error).__name__}
    base = result()
    out = {}
    for name, extra in (("theta", {"rope_theta": 777.0}), ("linear", {"rope_scaling": {"type": "linear", "factor": 4.0}}),
                        ("partial", {"partial_rotary_factor": 0.75})):
        value = result(**extra)
        out[name] = "same" if value == base and value is not None else value
    return out


LETTERS = {"full_attention": "F", "sliding_attention": "S", "linear_attention": "L", "conv": "C", "hybrid": "H",
           "hybrid_sliding": "h", "chunked_attention": "K", "indexed_attention": "I", "window_attention": "W",
           "compressed_sparse_attention": "P", "heavily_compressed_attention": "Q", "minimax_m3_sparse": "M",
           "reference_sliding_attention": "R", "moe": "E"}


def pattern(model_type):
    """layer_types that the class derives for 24 layers, one letter each."""
    try:
        given = {k: v for k, v in OVERRIDES.get(model_type, {}).items() if k != "layer_types"}
        types = CONFIG_MAPPING[model_type](**given, num_hidden_layers=24).layer_types
        return "".join(LETTERS.get(t, "?") for t in types) if types else None
    except Exception:
        return None


def head_dim_rule(model_type):
    cls = CONFIG_MAPPING[model_type]
    try:
        one = cls(**OVERRIDES.get(model_type, {}))
        heads, hidden = one.num_attention_heads, one.hidden_size
        value = getattr(one, "head_dim", None)
        if value is None:
            return "none"
        other = cls(**{**OVERRIDES.get(model_type, {}), "hidden_size": hidden * 2})
        return "derived" if other.head_dim != value else "fixed"
    except Exception:
        return None


def annotated_rotaries(config):
    """Rotary modules of the modeling file whose __init__ is annotated with this configuration's class."""
    package = type(config).__module__.rsplit(".", 1)[0]
    stem = package.rsplit(".", 1)[1]
    module = importlib.import_module(f"{package}.modeling_{stem}")
    for name, cls in sorted(vars(module).items()):
        if inspect.isclass(cls) and issubclass(cls, torch.nn.Module) and cls.__module__ == module.__name__:
            if not re.search(r"Rotary|RopePosition", name):
                continue
            if CLASSES.get(config.model_type) == name:
                yield name, cls
                continue
            hints = [p.annotation for p in inspect.signature(cls.__init__).parameters.values()]
            if any(getattr(h, "__name__", h) == type(config).__name__ for h in hints):
                yield name, cls


def scales(config, found):
    """What the modeling file multiplies the softmax scale or the queries by, called on sample values."""
    out = {}
    for space in {type(m).__module__ for _, m in found if getattr(m, "config", None) is not None
                  and m.config.model_type == config.model_type}:
        module = sys.modules[space]
        if hasattr(module, "yarn_apply_mscale"):
            sample = {"rope_type": "yarn", "factor": 40.0, "mscale_all_dim": 1.0}
            out["softmax_scale"] = {"fn": "yarn_apply_mscale", "of": sample,
                                    "times": module.yarn_apply_mscale(sample, 1.0)}
        positions = torch.tensor([[0, 16383, 16384, 100000, 1000000]])
        if hasattr(module, "get_llama_4_attn_scale"):
            value = module.get_llama_4_attn_scale(positions, 0.1, 16384)
            out["query_scale"] = {"fn": "get_llama_4_attn_scale", "beta": 0.1, "original": 16384,
                                  "positions": positions[0].tolist(), "times": value.flatten().tolist()}
        if hasattr(module, "compute_attention_scaling"):
            value = module.compute_attention_scaling(positions)
            out["query_scale"] = {"fn": "compute_attention_scaling", "positions": positions[0].tolist(),
                                  "times": value.flatten().tolist()}
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
                        config, None, seq_len=10 ** 9, layer_type=kind)
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
    freqs_out = {}
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
            cpu = on_cpu(module, path, near) if any(b is not None and b.is_meta for b in module._buffers.values()) else module
        except Exception as error:
            ropes.append({"at": path, "role": role, "class": type(module).__name__, "error": f"{type(error).__name__}"})
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
            for name in sorted(traced - {(apply or {}).get("fn")}):  # an indexer may pair in another way
                other = measure_apply(cpu, role, kind, freqs, scaling, only=name) if role == "attention" else None
                if other:
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
            "at": "path of the module", "role": "attention, vision, audio, indexer, ...", "class": "module class",
            "layer_type": "where one module holds several", "rope_type": "", "freqs": "id in frequencies",
            "scaling": "factor on cos and sin", "partial": "the default formula uses partial_rotary_factor",
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
        "layer_types_24": "layer_types that the class derives for num_hidden_layers 24, one letter each: " + " ".join(
            f"{v} {k}" for k, v in LETTERS.items()),
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
                {"model_type": entry["model_type"], "error": reason} if reason else entry["model_type"])
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
        f.write('"models":{\n' + ",\n".join(f'{dump(e["model_type"])}:{dump(e)}' for e in lines) + "\n},\n")
        f.write('"not_built":[\n' + ",\n".join(dump(x) for x in partial_only) + "\n],\n")
        f.write('"no_rope":[\n' + ",\n".join(dump(x) for x in without) + "\n]\n}\n")
    print(len(lines), "with a rope,", len(without), "without,", len(partial_only), "not built;", len(table), "frequency lists")


if __name__ == "__main__":
    main()
