"""Which page of torch's documentation is about which name: writes `torch.inv`, from which the site links to them.

``python docs/builder/torch_inventory.py`` takes the names from the installed torch. On which page torch's documentation has a
name follows from where it stands in the package; this was read off the sources of that documentation, whose summaries give a
page of its own to a function, a class or a method, and whose older parts have one page for a whole module. Names that torch
has no more, and names that it has and does not document, are not in here: nothing is better than a link that leads nowhere.
"""

from __future__ import annotations

import inspect
import sys
import zlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

INVENTORY = Path(__file__).with_name("torch.inv")

OWN_PAGES = (
    "torch.autograd.functional",
    "torch.autograd.forward_ad",
    "torch.fft",
    "torch.func",
    "torch.linalg",
    "torch.nn",
    "torch.nn.functional",
    "torch.nn.utils.rnn",
    "torch.nn.utils.prune",
    "torch.nn.utils.parametrize",
    "torch.nn.utils.parametrizations",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.special",
)
"""Modules each of whose names has a page."""

SHARED_PAGES = {
    "torch.amp": "amp.html",
    "torch.cpu.amp": "amp.html",
    "torch.cuda.amp": "amp.html",
    "torch.nn.init": "nn.init.html",
    "torch.utils.checkpoint": "checkpoint.html",
    "torch.utils.data": "data.html",
}
"""Modules whose names stand together on one page."""

NAMES = {
    "torch": """are_deterministic_algorithms_enabled compile enable_grad get_default_device get_default_dtype
        get_deterministic_debug_mode get_float32_matmul_precision get_rng_state initial_seed
        is_deterministic_algorithms_warn_only_enabled is_grad_enabled is_inference_mode_enabled is_storage is_tensor
        is_warn_always_enabled load manual_seed no_grad save seed set_default_device set_default_dtype
        set_default_tensor_type set_deterministic_debug_mode set_float32_matmul_precision
        set_printoptions set_rng_state set_warn_always use_deterministic_algorithms vmap Generator""",
    "torch.autograd": "backward grad",
    "torch.autograd.grad_mode": "inference_mode set_grad_enabled",
    "torch.autograd.variable": "Variable",
    "torch.autograd.gradcheck": "gradcheck gradgradcheck GradcheckError get_analytical_jacobian get_numerical_jacobian",
    "torch.cuda": """current_device current_stream default_stream device device_count get_device_capability get_device_name
        get_device_properties init ipc_collect is_available is_bf16_supported is_initialized set_device set_stream
        set_sync_debug_mode stream synchronize utilization manual_seed manual_seed_all Stream Event CUDAGraph graph""",
    "torch.cuda.memory": """empty_cache mem_get_info memory_stats memory_summary memory_snapshot memory_allocated
        max_memory_allocated reset_max_memory_allocated memory_reserved max_memory_reserved memory_cached max_memory_cached
        reset_peak_memory_stats set_per_process_memory_fraction""",
    "torch.cuda.comm": "broadcast reduce_add scatter gather",
    "torch.nn.modules.module": "register_module_forward_hook register_module_backward_hook",
    "torch.nn.parallel": "DistributedDataParallel",
    "torch.nn.parallel.comm": "broadcast reduce_add scatter gather",
    "torch.nn.parameter": "Parameter Buffer UninitializedParameter",
    "torch.nn.utils": """clip_grad_norm_ clip_grad_norm clip_grad_value_ get_total_norm parameters_to_vector
        vector_to_parameters weight_norm remove_weight_norm spectral_norm remove_spectral_norm skip_init""",
    "torch.nn.utils.stateless": "functional_call",
    "torch.jit": "fork freeze ignore isinstance load save script trace trace_module wait",
}
"""Of modules that document a part of what they hold, the names that have a page."""

SINGLE = {
    "torch.Tensor": ("class", "tensors.html"),
    "torch.dtype": ("class", "tensor_attributes.html"),
    "torch.device": ("class", "tensor_attributes.html"),
    "torch.autocast": ("class", "amp.html"),
    "torch.autograd.Function": ("class", "autograd.html"),
    "torch.autograd.detect_anomaly": ("class", "autograd.html"),
    "torch.autograd.set_detect_anomaly": ("class", "autograd.html"),
    "torch.autograd.graph.saved_tensors_hooks": ("class", "autograd.html"),
    "torch.autograd.graph.save_on_cpu": ("class", "autograd.html"),
    "torch.autograd.profiler.profile": ("class", "autograd.html"),
    "torch.profiler.profile": ("class", "profiler.html"),
    "torch.library.register_fake": ("function", "library.html"),
    "torch.serialization.add_safe_globals": ("function", "notes/serialization.html"),
}
"""Names on a page that is about more."""

MODULES = {
    "torch": "torch.html",
    "torch.amp": "amp.html",
    "torch.autograd": "autograd.html",
    "torch.cuda": "cuda.html",
    "torch.cuda.amp": "amp.html",
    "torch.distributed": "distributed.html",
    "torch.distributions": "distributions.html",
    "torch.fft": "fft.html",
    "torch.func": "func.html",
    "torch.jit": "jit.html",
    "torch.linalg": "linalg.html",
    "torch.nn": "nn.html",
    "torch.nn.functional": "nn.functional.html",
    "torch.nn.init": "nn.init.html",
    "torch.optim": "optim.html",
    "torch.utils.checkpoint": "checkpoint.html",
    "torch.utils.data": "data.html",
}
"""The pages of modules."""

ALIASES = {
    "torch.amp.autocast": "torch.autocast",
    "torch.autograd.Variable": "torch.autograd.variable.Variable",
    "torch.inference_mode": "torch.autograd.grad_mode.inference_mode",
    "torch.set_grad_enabled": "torch.autograd.grad_mode.set_grad_enabled",
    "torch.cuda.empty_cache": "torch.cuda.memory.empty_cache",
    "torch.cuda.max_memory_allocated": "torch.cuda.memory.max_memory_allocated",
    "torch.cuda.max_memory_cached": "torch.cuda.memory.max_memory_cached",
    "torch.cuda.max_memory_reserved": "torch.cuda.memory.max_memory_reserved",
    "torch.cuda.memory_allocated": "torch.cuda.memory.memory_allocated",
    "torch.cuda.memory_cached": "torch.cuda.memory.memory_cached",
    "torch.cuda.memory_reserved": "torch.cuda.memory.memory_reserved",
    "torch.nn.Buffer": "torch.nn.parameter.Buffer",
    "torch.nn.Parameter": "torch.nn.parameter.Parameter",
    "torch.utils.data.dataloader.DataLoader": "torch.utils.data.DataLoader",
}
"""Other names of the same objects, under which they are documented."""

UNDOCUMENTED = {"torch.nn.Container", "torch.nn.CrossMapLRN2d", "torch.nn.Flatten", "torch.nn.NLLLoss2d", "torch.nn.Unflatten"}
"""Names that have no page, or one under a name that nobody uses."""


def entries() -> Iterator[tuple[str, str, str]]:
    """The name, the kind and the page of everything that torch documents, as far as it is known here."""
    yield from (("torch." + name, "function", own_page("torch." + name)) for name in documented_functions())
    for name in dir(import_module("torch").Tensor):
        if not name.startswith("_") and inspect.getdoc(getattr(import_module("torch").Tensor, name)):
            kind = "method" if callable(getattr(import_module("torch").Tensor, name)) else "attribute"
            yield f"torch.Tensor.{name}", kind, own_page(f"torch.Tensor.{name}")
    torch = import_module("torch")
    for name in dir(torch):
        if isinstance(getattr(torch, name), torch.dtype):
            yield f"torch.{name}", "attribute", "tensor_attributes.html#torch.dtype"
    for module in OWN_PAGES:
        for name in public(module):
            yield f"{module}.{name}", kind_of(module, name), own_page(f"{module}.{name}")
            yield from methods(module, name)
    for module, page in SHARED_PAGES.items():
        for name in public(module):
            if not name.endswith("DataPipe") and (module != "torch.nn.init" or name.endswith("_")):
                yield f"{module}.{name}", kind_of(module, name), f"{page}#{module}.{name}"
    for module, names in NAMES.items():
        for name in names.split():
            yield f"{module}.{name}", kind_of(module, name), own_page(f"{module}.{name}")
    yield from ((name, kind, f"{page}#{name}") for name, (kind, page) in SINGLE.items())
    yield from ((name, "module", f"{page}#module-{name}") for name, page in MODULES.items())


def documented_functions() -> list[str]:
    """The operations of `torch` itself: those that have a text, which is the one on their page."""
    torch = import_module("torch")
    written = {name for name in dir(torch) if inspect.isbuiltin(getattr(torch, name)) and getattr(torch, name).__doc__}
    written |= set(import_module("torch.functional").__all__)
    return sorted(name for name in written if not name.startswith("_"))


def public(module: str) -> list[str]:
    found = import_module(module)
    names = getattr(found, "__all__", None) or [name for name in dir(found) if not name.startswith("_")]
    return sorted(name for name in names if callable(getattr(found, name, None)) and documents(found, name))


def documents(module: object, name: str) -> bool:
    """Whether a name is the module's own, and no import that happens to stand there."""
    value = getattr(module, name)
    return bool(inspect.getdoc(value)) and (getattr(value, "__module__", None) or "torch").startswith("torch")


def methods(module: str, name: str) -> Iterator[tuple[str, str, str]]:
    """The methods that a class defines itself; modules and optimizers document theirs on their own page."""
    value = getattr(import_module(module), name)
    if module not in ("torch.nn", "torch.optim", "torch.optim.lr_scheduler") or not inspect.isclass(value):
        return
    for method, defined in vars(value).items():
        if not method.startswith("_") and inspect.isfunction(defined) and inspect.getdoc(defined):
            whole = f"{module}.{name}.{method}"
            yield whole, "method", f"generated/{module}.{name}.html#{whole}"


def kind_of(module: str, name: str) -> str:
    return "class" if inspect.isclass(getattr(import_module(module), name)) else "function"


def own_page(name: str) -> str:
    return f"generated/{name}.html#{name}"


def inventory() -> bytes:
    """The inventory, in the format that Sphinx reads."""
    import torch

    found = {name: (kind, page) for name, kind, page in entries()}
    found = {name: entry for name, entry in found.items() if name not in UNDOCUMENTED}
    found["torch.amp.GradScaler"] = ("class", "amp.html#gradient-scaling")  # a section about it, and no entry
    found |= {alias: found[name] for alias, name in ALIASES.items()}
    lines = sorted(f"{name} py:{kind} 1 {page} -" for name, (kind, page) in found.items())
    version = torch.__version__.partition("+")[0]
    head = f"# Sphinx inventory version 2\n# Project: PyTorch\n# Version: {version}\n"
    head += "# The remainder of this file is compressed using zlib.\n"
    return head.encode() + zlib.compress(("\n".join(lines) + "\n").encode(), 9)


def main() -> int:
    INVENTORY.write_bytes(inventory())
    return 0


if __name__ == "__main__":
    sys.exit(main())
