"""What is kept of a file for those that import from it: small, made of strings and tuples, equal where files say the same.

A name in a summary is a reference: as it is written in the file, such as ``nn.Linear``, or, behind an ``@``, the full name of
an import, such as ``@.layers.Block``. It is looked up when it is asked for (`lookup`), so a summary rests on one file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TypeAlias

IMPORTED = "@"
"""What a reference starts with that is the full name of an import."""
RESULT = ""
"""What stands among parameters for what a function gives."""
ANY = "*"
"""The last part of a reference that is any of what a module has or a dict holds: ``models.*`` for ``getattr(models, name)``."""


_MODAL = re.compile(r"(Lazy|Sync)?BatchNorm\w*|(Feature)?(Alpha)?Dropout\w*|DropPath|RReLU|Transformer\w*")


def is_modal(name: str) -> bool:
    """Whether a layer is called as those are that do something else in training mode than in evaluation mode."""
    return _MODAL.fullmatch(name.rpartition(".")[2]) is not None


@dataclass(frozen=True, slots=True)
class Made:
    """A value that a call of ``by`` gives, or one of several: of a tuple, those of its ``items``."""

    by: tuple[str, ...] = ()
    items: tuple[Made, ...] = ()


NOTHING_KNOWN = Made()


@dataclass(frozen=True, slots=True)
class Act:
    """Something that a function does with an argument.

    It does ``what``: ``backward``, ``step``, ``zero``, ``train``, ``eval``; ``mode`` where it sets one that the file does not
    tell; ``other`` for all that is not understood; or ``give``, where it hands the argument ``to`` another function, as the
    argument at ``place``: an index, or a keyword. It is ``sure`` if every call of the function comes by it.
    """

    what: str
    sure: bool = False
    to: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class FunctionSummary:
    """A function: its ``positional`` and ``named`` parameters, what it gives, and its acts by the parameters, in their order.

    It ``propagates`` if each call of it back-propagates something that it has made itself. Of one that is ``hidden``, by a
    decorator or because it is a generator, nothing more is known. It ``runs`` some parameters as models, with the autograd
    that it finds, in a loop or not. It ``differentiates`` if it asks autograd for gradients, and does not turn that on itself.
    It is ``unrecorded`` if it gives only what it makes with autograd off, by a decorator or a block. It ``thaws`` networks that
    some parameters are given, or gives these new parts; as its `RESULT` it may do so to what it makes.
    """

    positional: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    gives: Made = NOTHING_KNOWN
    acts: tuple[tuple[str, tuple[Act, ...]], ...] = ()
    hidden: bool = False
    propagates: bool = False
    runs: tuple[tuple[str, bool], ...] = ()
    differentiates: bool = False
    unrecorded: bool = False
    thaws: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClassSummary:
    """A class: its ``bases`` (an empty string for one that is no name) and the names of its ``methods``.

    It is ``unusual`` where it has metaclasses or hooks that make something else of it than its bases do.
    """

    bases: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    unusual: bool = False


@dataclass(frozen=True, slots=True)
class SelfFreezing:
    """That a constructor freezes all parameters of what it makes: always, or where its parameter ``flag``, at a ``place``
    among what it is given, ``holds`` or does not; ``default`` is what that is where nothing is given. A method of the
    class, its ``helper``, may do so for it.
    """

    flag: str = ""
    place: str = ""
    holds: bool = False
    default: bool | None = None
    helper: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Parameterless:
    """That a class makes no parameters, in any case or ``by`` a flag of its constructor, if none of its ``parts`` does: what it
    calls, by these references, with these arguments that may be true or false.
    """

    by: SelfFreezing
    parts: tuple[tuple[str, tuple[tuple[str, bool | None], ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class ClassBody:
    """What the code in a class says, or in a function, which is looked through only where somebody asks for that.

    ``called`` is what it calls, ``stored`` what of that gives its instances attributes. Whether its text shows that the
    mode ``matters``, and that it ``registers`` parameters or buffers itself. ``running`` are the methods that run it as its
    ``forward`` does, in the mode that they find. ``tensors`` are those that give what functions make which are called as some
    of torch's are, or a tuple with such in it. It ``forgets`` what it computes: no call leaves anything in its instances.
    ``gathering`` are the methods that add what they are given to a sum, as it is. It ``runs_given`` modules that it keeps, and
    registers ``buffers`` by these names. ``own_modes`` are those of ``train`` and ``eval`` that are not about the mode. It
    ``cuts`` where its ``forward`` takes no graph of its first argument, and has no parameters of its own. ``unrecorded`` are
    the methods that give only what they make with autograd off. How its constructor is ``freezing`` what it makes, if it is.
    It ``thaws`` where it may undo what a base of it has frozen. Whoever makes and calls it ``needs_gpu`` in any case. How it is
    ``parameterless``, if it may be. Its ``forward`` ``differentiates`` where that, or a method that it calls, asks autograd for
    gradients, and does not turn it on itself. It ``quietens`` if its constructor or ``forward`` may turn autograd off, or
    freeze something. It ``waits`` if its ``forward`` may wait for the GPU.
    """

    called: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
    matters: bool = False
    registers: bool = False
    running: tuple[str, ...] = ()
    tensors: tuple[tuple[str, Made], ...] = ()
    forgets: bool = False
    gathering: tuple[str, ...] = ()
    runs_given: bool = False
    buffers: tuple[str, ...] = ()
    own_modes: tuple[str, ...] = ()
    cuts: bool = False
    unrecorded: tuple[str, ...] = ()
    freezing: SelfFreezing | None = None
    thaws: bool = False
    needs_gpu: bool = False
    parameterless: Parameterless | None = None
    differentiates: bool = False
    quietens: bool = False
    waits: bool = False


UNTOLD = ClassBody(stored=("",))
"""Of a class of which only the outline is there: nothing is known of what its instances hold."""


@dataclass(frozen=True, slots=True)
class ClassOutput:
    """What an instance of a class of modules gives when it is called, or the part of that at a ``path``.

    It is the value of an `Output`, made in a ``line`` of its file.
    """

    name: str
    path: tuple[int, ...]
    output: str
    line: int


class Open(Enum):
    """The type of what a file alone does not know, and says instead what has to be asked: of its ``items``, or of ``self``."""

    NAME = "what a name stands for"
    CALL = "what calling it gives"
    METHOD = "what a method of it gives"
    INHERITED = "what a method gives as it is above a class"
    ATTRIBUTE = "what an attribute of it holds"
    PART = "a part of it"
    ARGUMENT = "what a call gives"
    ONE_OF = "one of several"
    NEVER = "nothing, but an error"


@dataclass(frozen=True, slots=True)
class Given:
    """What a function, a method or an attribute gives, by its file alone: the value of a `Type` and of a `Grad`, or nothing.

    Of a module, ``name`` is a class of its file or of torch; ``items`` and ``entries`` are of tuples and dicts. Of what is left
    `Open`, ``name`` is a reference, that of a method, an attribute, or a key; without ``items`` it is one of ``self``.
    """

    type: str = ""
    grad: str = ""
    scalar: bool | None = None
    name: str = ""
    items: tuple[Given, ...] = ()
    entries: tuple[tuple[str, Given], ...] = ()
    rests_on: tuple[str, ...] = ()
    """The other methods and attributes of its class that it asks for."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What a name of the file's top level stands for: one of a ``definition`` here, a reference, or a value that is made.

    The ``others`` are what it may stand for instead of the reference: the branches of a condition bind it to each. Of a dict of
    classes and functions, ``entries`` are the references of these.
    """

    function: FunctionSummary | None = None
    defined: ClassSummary | None = None
    reference: str = ""
    made: Made = NOTHING_KNOWN
    others: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()


UNCLEAR = Bound()
"""Of a name that is bound in several ways, or in one that says nothing."""

Names: TypeAlias = tuple[tuple[str, Bound], ...]


@dataclass(frozen=True)
class Summary:
    """What a file binds at its top level, the modules that it imports everything of, and what it lets others do that with."""

    names: Names = ()
    stars: tuple[str, ...] = ()
    exported: tuple[str, ...] | None = None

    @cached_property
    def by_name(self) -> dict[str, Bound]:
        """What each name is bound to; not to be changed."""
        return dict(self.names)

    @property
    def digest(self) -> str:
        """The hash that stands for all that it says."""
        from hashlib import blake2b

        return blake2b(repr(self).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


EMPTY = Summary()
"""Of a file that binds nothing, or cannot be read."""


@dataclass(frozen=True, slots=True)
class Place:
    """A module or package of the project: its ``file``, if it has one, and the ``folder`` of what is below it."""

    file: str = ""
    folder: str = ""
