"""Write torchlint/semantics/torch_api.py from the torch that is installed.

Run as ``python tests/torch_api/generate.py``; with ``--check`` nothing is written, and the exit code is 1 where the file
differs from what would be. Every name and fact comes from torch's stubs and signatures (`stubs`), from running torch
(`calls`, `observe`) or from what other types have (`evidence`).
"""

from __future__ import annotations

import argparse
import inspect
import pprint
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import torch
import torch.nn.functional
import torch.nn.utils.parametrizations
import torch.nn.utils.rnn
import torch.optim.lr_scheduler

import calls
import evidence
import modules
import observe
import recipes
import stubs
from calls import Call
from observe import Seen
from stubs import Signature

TARGET = Path(__file__).parents[2] / "torchlint" / "semantics" / "torch_api.py"
WIDTH = 128

_FUNCTION_MODULES = (
    "torch",
    "torch.autograd",
    "torch.fft",
    "torch.linalg",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.utils",
    "torch.nn.utils.rnn",
    "torch.special",
)

_MOVES = frozenset({"cpu", "cuda", "ipu", "mtia", "pin_memory", "to", "type", "type_as", "xpu"})
"""Methods that copy or not depending on the device, of which the generator sees only one."""


def _public(thing: object) -> frozenset[str]:
    return frozenset(name for name in dir(thing) if not name.startswith("_"))


def _resolve(dotted: str) -> object:
    thing: object = torch
    for part in dotted.split(".")[1:]:
        thing = getattr(thing, part)
    return thing


def _attempts(name: str, signatures: Iterable[Signature], *, method: bool) -> Callable[[], Iterator[Call]]:
    def attempts() -> Iterator[Call]:
        yield from recipes.calls(name)
        for signature in signatures:
            yield from calls.calls(signature, method=method)

    return attempts


def _word(seen: Seen, signatures: Iterable[Signature]) -> str:
    """All results that a stub promises or a run showed, joined by a bar."""
    words = {word for word in seen.results if not word.startswith("?")} | {signature.result for signature in signatures} - {""}
    return "|".join(sorted(words))


class Api:
    """Methods and functions of torch with their signatures and what running them showed."""

    def __init__(self) -> None:
        self.attributes = _public(torch.Tensor)
        self.signatures: dict[str, tuple[Signature, ...]] = {}
        self.methods: dict[str, Seen] = {}
        self.functions: dict[str, Seen] = {}
        self._run_methods()
        self._run_functions()

    def _run_methods(self) -> None:
        stubbed = stubs.tensor_methods()
        for name in sorted(self.attributes):
            function = getattr(torch.Tensor, name)
            if callable(function):
                signatures = stubbed.get(name) or stubs.python_signature(function, method=True)
                self.signatures[name] = signatures
                self.methods[name] = observe.observe(function, _attempts(name, signatures, method=True))

    def _run_functions(self) -> None:
        stubbed = {f"torch.{name}": found for name, found in stubs.torch_functions().items()}
        stubbed |= {f"torch.nn.functional.{name}": found for name, found in stubs.functional_functions().items()}
        for dotted, function in _torch_functions():
            signatures = stubbed.get(dotted) or stubs.python_signature(function) or recipes.documented(function)
            self.signatures[dotted] = signatures
            attempts = _attempts(dotted, signatures if recipes.may_run(dotted) else (), method=False)
            self.functions[dotted] = observe.observe(function, attempts)


def _torch_functions() -> Iterator[tuple[str, Callable[..., object]]]:
    for module_name in _FUNCTION_MODULES:
        module = _resolve(module_name)
        for name in sorted(_public(module)):
            member = getattr(module, name)
            home = getattr(member, "__module__", None) or "torch"
            if callable(member) and not isinstance(member, type) and home.startswith("torch") and name not in recipes.STRAYS:
                yield f"{module_name}.{name}", member


def _results(seen: Mapping[str, Seen], api: Api) -> dict[str, str]:
    words = {name: _word(found, api.signatures[name]) for name, found in seen.items()}
    return {name: word for name, word in words.items() if word}


def _is_factory(name: str, api: Api) -> bool:
    takes = any(signature.takes("requires_grad") for signature in api.signatures[name])
    return takes or name in recipes.FACTORIES


def _never_carries(seen: Seen) -> bool:
    return "tensor" in seen.results and not any(seen.carries_grad)


def _properties(api: Api) -> dict[str, str]:
    """What each data attribute of a tensor holds."""
    stubbed = stubs.tensor_properties()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {}
        for name in sorted(api.attributes - api.methods.keys()):
            word = stubbed.get(name) or recipes.property_word(name)
            if word and not word.startswith("?"):
                found[name] = word
    return found


def tables() -> dict[str, tuple[str, frozenset[str] | Mapping[str, object]]]:
    """The tables by name, each with its description."""
    api = Api()
    methods, functions = api.methods, api.functions
    in_place = frozenset(name for name in api.attributes if name.endswith("_"))
    factories = frozenset(
        name for name, seen in functions.items() if _is_factory(name, api) and not any(seen.carries_grad)
    ) | modules.legacy_constructors()
    factory_methods = frozenset(name for name, seen in methods.items() if _is_factory(name, api) and not any(seen.carries_grad))
    module_attributes = _public(torch.nn.Module())
    found: dict[str, tuple[str, frozenset[str] | Mapping[str, object]]] = {
        "TENSOR_ATTRIBUTES": ("Every public attribute of a tensor.", api.attributes),
        "TENSOR_ONLY": (
            "Attributes of a tensor whose use is evidence that the value is one: hardly any other type has them.",
            evidence.tensor_only(api.attributes),
        ),
        "TENSOR_PROPERTIES": ("What a data attribute of a tensor holds.", _properties(api)),
        "TENSOR_METHODS": ("What a method of a tensor returns; several words where that depends on the call.", _results(methods, api)),
        "INPLACE_METHODS": ("Methods that change the tensor itself.", in_place),
        "FACTORY_METHODS": ("Methods whose result is a new tensor without a graph, unless called with requires_grad=True.", factory_methods),
        "NONDIFFERENTIABLE_METHODS": (
            "Methods whose result is a tensor that never carries a graph, whatever it was computed from.",
            frozenset(name for name, seen in methods.items() if _never_carries(seen)) - factory_methods - recipes.DEPENDS,
        ),
        "SCALAR_REDUCTIONS_METHODS": (
            "Methods that, called without a dim, return a tensor without dimensions.",
            frozenset(name for name, seen in methods.items() if seen.minimal_scalar and all(seen.minimal_scalar)),
        ),
        "VIEW_METHODS": (
            "Methods whose result always shares the memory of the tensor.",
            frozenset(n for n, seen in methods.items() if seen.shares and all(seen.shares)) - in_place - _MOVES,
        ),
        "MAYBE_VIEW_METHODS": (
            "Methods whose result shares the memory of the tensor for some calls, layouts or dtypes.",
            frozenset(n for n, s in methods.items() if any(s.shares) and not all(s.shares)) - in_place | _MOVES,
        ),
        "SAVES_OUTPUT_METHODS": (
            "Methods whose backward needs the result unchanged.",
            frozenset(name for name, seen in methods.items() if any(seen.saves_output)),
        ),
        "SAVES_INPUT_METHODS": (
            "Methods whose backward needs the tensor that they are called on unchanged.",
            frozenset(name for name, seen in methods.items() if any(seen.saves_input)),
        ),
        "FUNCTIONS": ("What a function returns; several words where that depends on the call.", _results(functions, api)),
        "FACTORIES": ("Functions whose result is a new tensor without a graph, unless called with requires_grad=True.", factories),
        "NONDIFFERENTIABLE_FUNCTIONS": (
            "Functions whose result is a tensor that never carries a graph, whatever it was computed from.",
            frozenset(name for name, seen in functions.items() if _never_carries(seen)) - factories,
        ),
        "SCALAR_REDUCTIONS_FUNCTIONS": (
            "Functions that, called without a dim, return a tensor without dimensions.",
            frozenset(name for name, seen in functions.items() if seen.minimal_scalar and all(seen.minimal_scalar)) - factories,
        ),
        "SAVES_OUTPUT_FUNCTIONS": (
            "Functions whose backward needs the result unchanged.",
            frozenset(name for name, seen in functions.items() if any(seen.saves_output)),
        ),
        "SAVES_INPUT_FUNCTIONS": (
            "Functions whose backward needs their first argument unchanged.",
            frozenset(name for name, seen in functions.items() if any(seen.saves_input)),
        ),
        "LOSS_FUNCTIONS": (
            "Functions that reduce a loss as their `reduction` says.",
            frozenset(
                name
                for name in functions
                if name.startswith("torch.nn.functional.") and _takes_reduction(_resolve(name))
            ),
        ),
    }
    found |= modules.tables()
    found["MODULE_ATTRIBUTES"] = ("Every public attribute of a module.", module_attributes)
    found["MODULE_ONLY"] = (
        "Attributes of a module whose use is evidence that the value is one: hardly any other type has them.",
        evidence.module_only(module_attributes),
    )
    found["OPTIMIZER_ONLY"] = ("Attributes of an optimizer that hardly any other type has.", evidence.optimizer_only())
    return found


def _takes_reduction(function: object) -> bool:
    try:
        return callable(function) and "reduction" in inspect.signature(function).parameters
    except ValueError:
        return False


def _literal(value: frozenset[str] | Mapping[str, object]) -> str:
    if isinstance(value, frozenset):
        lines = _wrapped(value)
        return f"frozenset(\n    {{\n{lines}    }}\n)"
    return "{\n" + "".join(f"    {key!r}: {item!r},\n" for key, item in sorted(value.items())).replace("'", '"') + "}"


def _wrapped(names: Iterable[str]) -> str:
    return "".join(f'        "{name}",\n' for name in sorted(names))


def render() -> str:
    """The text of the table."""
    version = ".".join(torch.__version__.split("+")[0].split(".")[:2])
    parts = [
        f'"""What torch {version} offers: names, results and properties of its API.\n\n'
        f"Generated by tests/torch_api/generate.py from torch {version}, by reading its signatures and by running it. Do not edit.\n\n"
        f'{_VOCABULARY}"""\n\nfrom __future__ import annotations\n\n# fmt: off\n'
    ]
    for name, (description, value) in tables().items():
        kind = "frozenset[str]" if isinstance(value, frozenset) else recipes.mapping_type(value)
        parts.append(f'\n{name}: {kind} = {_compact(value)}\n"""{description}"""\n')
    return "".join(parts)


_VOCABULARY = """\
Results are named by these words, joined by a bar where they depend on the call: tensor; tuple and list (of tensors); size (a
tuple of integers); number; bool; string; none; array (numpy); tolist (a number, or lists of numbers); device; dtype; layout;
storage; packed (a PackedSequence); module; pair (a packed or padded sequence and its lengths).
"""


def _compact(value: frozenset[str] | Mapping[str, object]) -> str:
    if isinstance(value, frozenset):
        items = [f'"{name}"' for name in sorted(value)]
        return "frozenset({\n" + _fill(items) + "})"
    entries = [f'"{key}": {_value(item)}' for key, item in sorted(value.items())]
    return "{\n" + _fill(entries) + "}"


def _value(item: object) -> str:
    if isinstance(item, tuple):
        return "(" + "".join(f'"{part}", ' for part in item).strip() + ")" if len(item) == 1 else (
            "(" + ", ".join(f'"{part}"' for part in item) + ")"
        )
    return f'"{item}"'


def _fill(items: list[str]) -> str:
    lines: list[str] = []
    line = "   "
    for item in items:
        if len(line) + len(item) + 2 > WIDTH:
            lines.append(line)
            line = "   "
        line += f" {item},"
    return "".join(f"{text}\n" for text in [*lines, line] if text.strip())


def main() -> int:
    """Write the table, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the file would change")
    check = parser.parse_args().check
    text = render()
    if check:
        return int(TARGET.read_text(encoding="utf-8") != text)
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
