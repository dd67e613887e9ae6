# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""What an apply function of transformers does with a rotary module's cosines and sines, measured on unit vectors."""

import inspect
import math
import re
import sys

import torch

from transformers_notes import APPLY, AXES


def candidates(module, role, config):
    """Names of the apply functions that this module's cos and sin are made for, most specific first."""
    space = vars(sys.modules[type(module).__module__])
    names = [
        n
        for n, v in space.items()
        if inspect.isfunction(inspect.unwrap(v) if callable(v) else v)
        and re.search(r"apply_(rotary|multidim)|vision_apply|apply_rotary_emb", n)
    ]

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
    base = m[0]  # position 0: magnitude times a permutation
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
        moved = (
            []
            if other is None
            else [s - 1 for s in range(1, m.shape[0]) if abs(float(m[s, other, target[i]])) > 1e-12]
        )
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
