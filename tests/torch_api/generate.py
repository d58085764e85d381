"""Write torchlint/semantics/torch_api.py from the torch that is installed.

Run as ``python tests/torch_api/generate.py``; with ``--check`` nothing is written, and the exit code is 1 where the file
differs from what would be. Every name and fact comes from torch's stubs, signatures and schemas (`stubs`), from running torch
(`calls`, `recipes`, `observe`, `modules`) or from what other types have (`evidence`).
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import torch
from torch import Tensor

import calls
import evidence
import modules
import observe
import recipes
import stubs
from calls import Call
from modules import Table
from observe import Seen
from stubs import Signature

TARGET = Path(__file__).parents[2] / "torchlint" / "semantics" / "torch_api.py"
WIDTH = 128

_OPERATORS = {"torch.fft": "fft_", "torch.linalg": "linalg_", "torch.nn.functional": "", "torch.special": "special_"}
"""Modules of builtin functions, and how their operators' names begin."""

_FUNCTION_MODULES = (
    *("torch", "torch.autograd", "torch.cuda", "torch.distributed", "torch.nn.init", "torch.nn.utils", "torch.nn.utils.rnn"),
    *("torch.signal.windows", "torch.sparse", *_OPERATORS),
)

_MOVES = frozenset({"cpu", "cuda", "ipu", "mtia", "pin_memory", "to", "type", "type_as", "xpu"})
"""Methods that copy or not depending on the device, of which the generator sees only one."""


def _public(thing: object) -> frozenset[str]:
    return frozenset(name for name in dir(thing) if not name.startswith("_"))


class Api:
    """Methods and functions of torch with their signatures and what running them showed."""

    def __init__(self) -> None:
        self.attributes = _public(Tensor)
        self.signatures: dict[str, tuple[Signature, ...]] = {}
        self.objects: dict[str, Callable[..., object]] = {}
        self.methods: dict[str, Seen] = {}
        self.functions: dict[str, Seen] = {}
        self._run_methods()
        self._run_functions()

    def _run_methods(self) -> None:
        stubbed = stubs.tensor_methods()
        for name in sorted(self.attributes):
            method = getattr(Tensor, name)
            if callable(method):
                signatures = stubbed.get(name) or stubs.python_signature(method, method=True)
                self.signatures[name] = signatures
                self.methods[name] = observe.observe(method, _attempts(name, signatures, method=True))

    def _run_functions(self) -> None:
        stubbed = {f"torch.{name}": found for name, found in stubs.torch_functions().items()}
        stubbed |= {f"torch.nn.functional.{name}": found for name, found in stubs.functional_functions().items()}
        for dotted, function in _torch_functions():
            signatures = stubbed.get(dotted) or stubs.python_signature(function) or _operator_signatures(dotted)
            self.signatures[dotted] = signatures
            self.objects[dotted] = function
            attempts = _attempts(dotted, signatures if recipes.may_run(dotted) else (), method=False)
            self.functions[dotted] = observe.observe(function, attempts)


def _attempts(name: str, signatures: tuple[Signature, ...], *, method: bool) -> Callable[[], Iterator[Call]]:
    def attempts() -> Iterator[Call]:
        yield from recipes.calls(name)
        yield from calls.calls(signatures, method=method)

    return attempts


def _operator_signatures(dotted: str) -> tuple[Signature, ...]:
    module, _, name = dotted.rpartition(".")
    return stubs.schema_signatures(_OPERATORS[module] + name) if module in _OPERATORS else ()


def _torch_functions() -> Iterator[tuple[str, Callable[..., object]]]:
    for module_name in _FUNCTION_MODULES:
        module = importlib.import_module(module_name)
        for name in sorted(_public(module) - recipes.STRAYS):
            member = getattr(module, name)
            home = getattr(member, "__module__", None) or "torch"
            if callable(member) and not isinstance(member, type) and home.startswith("torch"):
                yield f"{module_name}.{name}", member


def _results(seen: Mapping[str, Seen], api: Api) -> dict[str, str]:
    words = {name: _word(found, api.signatures[name]) for name, found in seen.items()}
    return {name: word for name, word in words.items() if word}


def _word(seen: Seen, signatures: Iterable[Signature]) -> str:
    """All results that a signature promises or a run showed, joined by a bar."""
    words = {word for word in seen.results if not word.startswith("?")} | {signature.result for signature in signatures} - {""}
    return "|".join(sorted(words if words == {"none"} else words - {"none"}))


def _factories(seen: Mapping[str, Seen], api: Api) -> frozenset[str]:
    """What makes a tensor that requires grad only if it is told to, seen also on tensors that require grad."""
    return frozenset(
        name
        for name, found in seen.items()
        if name in recipes.SOURCES or any(signature.takes("requires_grad") for signature in api.signatures[name])
        if not any(found.carries_grad) and name not in recipes.PASSING
    )


def _never_carry(seen: Mapping[str, Seen]) -> frozenset[str]:
    return frozenset(name for name, found in seen.items() if _never_carries(name, found)) - recipes.DEPENDS


def _never_carries(name: str, seen: Seen) -> bool:
    if "tensor" not in seen.results or any(seen.carries_grad):
        return False
    return bool(seen.carries_grad) or (all(seen.integral) and not name.endswith("_"))


def _scalar_reductions(seen: Mapping[str, Seen]) -> frozenset[str]:
    return frozenset(name for name, found in seen.items() if found.minimal_scalar and all(found.minimal_scalar))


def _saving_output(seen: Mapping[str, Seen]) -> frozenset[str]:
    return frozenset(name for name, found in seen.items() if any(found.saves_output))


def _saving_input(seen: Mapping[str, Seen]) -> frozenset[str]:
    return frozenset(name for name, found in seen.items() if any(found.saves_input))


def _properties(attributes: Iterable[str]) -> dict[str, str]:
    """What each of these data attributes of a tensor holds."""
    stubbed = stubs.tensor_properties()
    example = torch.rand(3, 4)
    found = {}
    for name in attributes:
        try:
            word = stubbed.get(name) or observe.word(getattr(example, name))
        except RuntimeError:  # what only other kinds of tensors have
            continue
        found[name] = "string" if name == "name" else word
    return found


def _view_properties(properties: Mapping[str, str]) -> frozenset[str]:
    """The properties that are tensors over the memory of the tensor itself."""
    example = torch.rand(4, 4, dtype=torch.complex64)
    parts = {name: getattr(example, name) for name, word in properties.items() if word == "tensor"}
    memory = example.untyped_storage().data_ptr()
    return frozenset(n for n, part in parts.items() if part is not None and part.untyped_storage().data_ptr() == memory)


def _takes_reduction(function: Callable[..., object]) -> bool:
    try:
        return "reduction" in inspect.signature(function).parameters
    except ValueError:
        return False


def _tensor_tables(api: Api) -> dict[str, tuple[str, Table]]:
    methods = api.methods
    in_place = frozenset(name for name in api.attributes if name.endswith("_"))
    factories = _factories(methods, api)
    properties = _properties(sorted(api.attributes - methods.keys()))
    views = frozenset(name for name, seen in methods.items() if seen.shares and all(seen.shares)) - in_place - _MOVES
    shared = frozenset(name for name, seen in methods.items() if any(seen.shares)) - in_place
    return {
        "TENSOR_ATTRIBUTES": ("Every public attribute of a tensor.", api.attributes),
        "TENSOR_ONLY": (
            "Attributes of a tensor whose use is evidence that the value is one: hardly any other type has them.",
            evidence.tensor_only(api.attributes),
        ),
        "TENSOR_PROPERTIES": ("What a data attribute of a tensor holds.", properties),
        "VIEW_PROPERTIES": (
            "Data attributes that are tensors over the memory of the tensor itself.",
            _view_properties(properties),
        ),
        "TENSOR_METHODS": ("What a method of a tensor returns.", _results(methods, api)),
        "INPLACE_METHODS": ("Methods that change the tensor itself.", in_place),
        "FACTORY_METHODS": (
            "Methods whose result is a new tensor without a graph, unless called with requires_grad=True.",
            factories,
        ),
        "NONDIFFERENTIABLE_METHODS": (
            "Methods whose result is a tensor that never carries a graph, whatever it was computed from.",
            _never_carry(methods) - factories,
        ),
        "SCALAR_REDUCTIONS_METHODS": (
            "Methods that, called with nothing optional, return a tensor without dimensions.",
            _scalar_reductions(methods),
        ),
        "VIEW_METHODS": ("Methods whose result always shares the memory of the tensor.", views),
        "MAYBE_VIEW_METHODS": (
            "Methods whose result shares the memory of the tensor for some arguments, layouts, dtypes or devices.",
            (shared - views) | _MOVES,
        ),
        "SAVES_OUTPUT_METHODS": (
            "Methods whose backward, for some arguments, needs the result unchanged.",
            _saving_output(methods),
        ),
        "SAVES_INPUT_METHODS": (
            "Methods whose backward, for some arguments, needs the tensor that they are called on unchanged.",
            _saving_input(methods),
        ),
    }


def _function_tables(api: Api) -> dict[str, tuple[str, Table]]:
    functions = api.functions
    factories = _factories(functions, api)
    passing = recipes.PASSING | modules.legacy_constructors()
    losses = frozenset(
        name for name, function in api.objects.items() if name.startswith("torch.nn.functional.") and _takes_reduction(function)
    )
    return {
        "FUNCTIONS": ("What a function returns.", _results(functions, api)),
        "FACTORIES": (
            "Functions whose result is a new tensor without a graph, unless called with requires_grad=True.",
            factories,
        ),
        "PASSING_FACTORIES": (
            "Functions and classes that make a tensor without a graph of numbers and arrays, and keep the graph of a tensor.",
            passing,
        ),
        "NONDIFFERENTIABLE_FUNCTIONS": (
            "Functions whose result is a tensor that never carries a graph, whatever it was computed from.",
            _never_carry(functions) - factories - passing,
        ),
        "SCALAR_REDUCTIONS_FUNCTIONS": (
            "Functions that, called with nothing optional, return a tensor without dimensions.",
            _scalar_reductions(functions) - factories - passing,
        ),
        "SAVES_OUTPUT_FUNCTIONS": (
            "Functions whose backward, for some arguments, needs the result unchanged.",
            _saving_output(functions),
        ),
        "SAVES_INPUT_FUNCTIONS": (
            "Functions whose backward, for some arguments, needs the first of them unchanged.",
            _saving_input(functions),
        ),
        "LOSS_FUNCTIONS": ("Functions that reduce a loss as their `reduction` says.", losses),
        "VALUES_AND_INDICES": (
            "Functions and methods that give a pair, the values that they find along a dimension and where these are.",
            _values_and_indices(),
        ),
    }


def _values_and_indices() -> frozenset[str]:
    pairs = (name for name, kind in vars(torch.return_types).items() if _fields(kind) == ("values", "indices"))
    return frozenset(name for name in pairs if hasattr(torch.Tensor, name))


def _fields(kind: object) -> tuple[str, ...]:
    return getattr(kind, "__match_args__", ())


def tables() -> dict[str, tuple[str, Table]]:
    """The tables by name, each with its description."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api = Api()
        module_attributes = _public(torch.nn.Module())
        return {
            **_tensor_tables(api),
            **_function_tables(api),
            **modules.tables(),
            "MODULE_ATTRIBUTES": ("Every public attribute of a module.", module_attributes),
            "MODULE_ONLY": (
                "Attributes of a module whose use is evidence that the value is one: hardly any other type has them.",
                evidence.module_only(module_attributes),
            ),
            "OPTIMIZER_ONLY": ("Attributes of an optimizer that hardly any other type has.", evidence.optimizer_only()),
        }


_HEADER = '''\
"""What torch {version} offers: names, results and properties of its API.

Generated by tests/torch_api/generate.py from torch {version}, by reading its signatures and by running it. Do not edit.

Results are named by these words, joined by a bar where they depend on the call: tensor; tuple and list (of tensors); size (a
tuple of integers); number; bool; string; none; array (numpy); tolist (lists of numbers); device; dtype; layout; storage; packed
(a PackedSequence); module; node (of the autograd graph); handle (of a hook).
"""

from __future__ import annotations

# fmt: off
'''


def render() -> str:
    """The text of the table."""
    version = ".".join(torch.__version__.split(".")[:2])
    parts = [_HEADER.format(version=version)]
    for name, (description, table) in tables().items():
        parts.append(f'\n{name}: {_type(table)} = {_literal(table)}\n"""{description}"""\n')
    return "".join(parts)


def _type(table: Table) -> str:
    if isinstance(table, frozenset):
        return "frozenset[str]"
    return "dict[str, tuple[str, ...]]" if isinstance(next(iter(table.values())), tuple) else "dict[str, str]"


def _literal(table: Table) -> str:
    if isinstance(table, frozenset):
        return "frozenset({\n" + _filled((f'"{name}"' for name in sorted(table)), 4) + "})"
    entries: list[tuple[str, str | tuple[str, ...]]] = sorted(table.items(), key=lambda entry: entry[0])
    return "{\n" + _filled((f'"{name}": {_value(value)}' for name, value in entries), 4) + "}"


def _value(value: str | tuple[str, ...]) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    line = "(" + ", ".join(f'"{part}"' for part in value) + (",)" if len(value) == 1 else ")")
    return line if len(line) < WIDTH // 2 else "(\n" + _filled((f'"{part}"' for part in value), 8) + "    )"


def _filled(items: Iterable[str], indent: int) -> str:
    """Lines of as many items as fit; an item of several lines stands alone."""
    lines: list[str] = []
    line = ""
    for item in items:
        if line and ("\n" in item or indent + len(line) + len(item) + 2 > WIDTH):
            lines.append(line)
            line = ""
        line += f" {item}," if line else f"{item},"
        if "\n" in item:
            lines.append(line)
            line = ""
    return "".join(f"{' ' * indent}{text}\n" for text in [*lines, line] if text)


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
