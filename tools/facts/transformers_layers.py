# SPDX-FileCopyrightText: the ropecache authors
# SPDX-License-Identifier: Apache-2.0
"""Which layers of a model turn their queries and keys: a forward pass on torch's meta device, with the apply functions
of its modeling files replaced by ones that note their caller."""

import functools
import inspect
import re
import sys

import torch

APPLY = re.compile(r"^_?(apply_(rotary|multidim)\w*|vision_apply\w*|rotate_queries_or_keys)$")


def ranges(numbers):
    """[0, 1, 2, 5] -> "0-2,5"."""
    out, start, last = [], None, None
    for n in sorted(set(numbers)) + [None]:
        if start is not None and n == last + 1 if n is not None else False:
            last = n
            continue
        if start is not None:
            out.append(str(start) if start == last else f"{start}-{last}")
        start = last = n
    return ",".join(out)


def head_part(q):
    """(size of a head, first element, elements) of a query that is a slice of its heads, read from its strides."""
    if not isinstance(q, torch.Tensor) or q.dim() != 4 or q.stride(-1) != 1:
        return None
    strides = [q.stride(d) for d in (1, 2) if q.shape[d] > 1]
    if len(strides) != 2 or min(strides) == q.shape[-1]:
        return None
    head = min(strides)
    return (head, q.storage_offset() % head, q.shape[-1]) if q.shape[-1] < head <= 2048 else None


def caller_module(depth=2):
    frame = sys._getframe(depth)
    while frame is not None:
        owner = frame.f_locals.get("self")
        if isinstance(owner, torch.nn.Module):
            return owner
        frame = frame.f_back
    return None


def trace_layers(model, config):
    """{path with * for the layer number: ranges of layers}; None where the forward pass cannot run without data."""
    names = {id(m): n for n, m in model.named_modules()}
    spaces = {type(m).__module__ for m in model.modules() if type(m).__module__.startswith("transformers.models")}
    patched, hits, parts, names_of = [], [], {}, {}

    def wrap(fn):
        @functools.wraps(fn)
        def noting(*args, **kwargs):
            owner = caller_module()
            if owner is not None:
                path = names.get(id(owner), "?")
                hits.append(path)
                names_of.setdefault(re.sub(r"(^|\.)\d+\.", r"\1*.", path), set()).add(fn.__name__)
                part = head_part(args[0] if args else next(iter(kwargs.values()), None))
                if part:
                    parts.setdefault(re.sub(r"(^|\.)\d+\.", r"\1*.", path), set()).add(part)
            return fn(*args, **kwargs)

        return noting

    for space in spaces:
        module = sys.modules[space]
        for name, value in list(vars(module).items()):
            if callable(value) and APPLY.match(name) and inspect.isfunction(inspect.unwrap(value)):
                patched.append((module, name, value))
                setattr(module, name, wrap(value))
    ids = torch.zeros(1, 5, dtype=torch.long, device="meta")
    forms = [{"input_ids": ids, "use_cache": False}, {"input_ids": ids}, {"input_ids": ids, "decoder_input_ids": ids}]
    hidden = getattr(config, "hidden_size", None)
    if isinstance(hidden, int):
        forms.append({"inputs_embeds": torch.zeros(1, 5, hidden, device="meta"), "use_cache": False})
        forms.append({"inputs_embeds": torch.zeros(1, 5, hidden, device="meta")})
    try:
        model.eval()
        for form in forms:
            hits.clear()
            try:
                with torch.no_grad(), torch.device("meta"):
                    model(**form)
                break
            except Exception:  # a model may need more than text
                continue
        else:
            return None
    finally:
        for module, name, value in patched:
            setattr(module, name, value)
    groups = {}
    for path in hits:
        found = re.search(r"\.(\d+)\.|^(\d+)\.", path)
        if found:
            number = int(found.group(1) or found.group(2))
            key = (
                path[: found.start(1 if found.group(1) else 2)] + "*" + path[found.end(1 if found.group(1) else 2) :]
            )
            groups.setdefault(key, []).append(number)
        else:
            groups.setdefault(path, [])
    out = {key: ranges(value) for key, value in groups.items()}
    if names_of:
        out["fn"] = {key: "/".join(sorted(value)) for key, value in names_of.items()}
    if parts:
        out["slices"] = {key: [list(p) for p in sorted(value)] for key, value in parts.items()}
    return out
