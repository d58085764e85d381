"""Questions about libcst nodes: how the file uses the APIs of torch and its libraries."""

from __future__ import annotations

import ast
from collections.abc import Callable

import libcst as cst

from torchlint.fact import Fact, unknown
from torchlint.model.joint import Joint
from torchlint.semantics.apis.constructors import Constructors, Content, Given, TensorClass
from torchlint.semantics.apis.deprecated_arguments import DeprecatedArguments
from torchlint.semantics.apis.deprecated_uses import DeprecatedUses
from torchlint.semantics.apis.implicit_dims import ImplicitDim, ImplicitDims
from torchlint.semantics.apis.leading_factors import Factor, LeadingFactors
from torchlint.semantics.apis.loss_flags import FlaggedLoss, LossFlags
from torchlint.semantics.apis.methods import Methods
from torchlint.semantics.apis.torchvision import TorchvisionModels
from torchlint.semantics.apis.two_meanings import Ambiguities, TwoMeanings
from torchlint.semantics.apis.versions import Versions
from torchlint.semantics.certainty.same_meaning import SameMeaning
from torchlint.semantics.certainty.successors import Successors
from torchlint.semantics.inheritance.inherited_methods import InheritedMethods

_ELSEWHERE = unknown("it stands in no file")


class ApisQuestions:
    """How the file uses the APIs of torch and its libraries. Made by the `Model`, as ``model.apis``."""

    def __init__(self, model: Joint) -> None:
        self._model = model
        self._semantics = model.semantics

    def are_spoken_of(self, word: str) -> bool:
        """Whether the file has a word anywhere, as that of an API that another one goes with: ``"remove_weight_norm"``."""
        return self._semantics.words.speak_of(word)

    # --- which function, and for which version -----------------------------------------------------------------------

    def asks_for_version(self, node: cst.CSTNode) -> bool:
        """Whether a node stands behind a question for the version of torch, or where what is newer turned out to be missing."""
        twin = self._model.twin(node)
        return twin is not None and self._semantics.of(Versions).are_asked_for(twin)

    def is_of_python_2(self, node: cst.CSTNode) -> bool:
        """Whether only Python 2 runs a node, by a condition around it."""
        twin = self._model.twin(node)
        return twin is not None and self._semantics.of(Versions).are_of_python_2(twin)

    def is_missed(self, node: cst.CSTNode) -> bool:
        """Whether code catches what happens where a node is not there any more, or only raises."""
        twin = self._model.twin(node)
        return twin is not None and self._semantics.of(Versions).are_missed(twin)

    def deprecated(self, node: cst.BaseExpression) -> str:
        """The full name of what a node uses that torch or its libraries deprecate, or have removed; empty for all else."""
        return self._model.found(self._semantics.of(DeprecatedUses).found, node) or ""

    def warns_nobody(self, node: cst.BaseExpression) -> bool:
        """Whether what `deprecated` knows of a node is only documented as deprecated, or only annotates something there."""
        twin = self._model.twin(node)
        return twin in self._semantics.of(DeprecatedUses).quiet

    def is_repeated(self, node: cst.BaseExpression) -> bool:
        """Whether an earlier name of the file is the same deprecated API, and is imported by the same statement."""
        twin = self._model.twin(node)
        return twin in self._semantics.of(DeprecatedUses).repeated

    def deprecated_arguments(self, call: cst.Call) -> tuple[tuple[str, str], ...]:
        """The functions and parameters by which the table knows what a call gives, or leaves out; mostly none."""
        return self._model.found(self._semantics.of(DeprecatedArguments).found, call) or ()

    def is_given_self(self, call: cst.Call) -> bool:
        """Whether a call runs the constructor of a base by its name, of which the object is the first argument."""
        twin = self._model.twin(call)
        return isinstance(twin, ast.Call) and self._semantics.of(InheritedMethods).of(twin)[1] > 0

    def deprecated_origin(self, statement: cst.ImportFrom) -> str:
        """The full name of the module that an import takes names from, where that is deprecated or removed; else empty."""
        return self._model.found(self._semantics.of(DeprecatedUses).imports, statement) or ""

    def is_conditional(self, node: cst.BaseExpression) -> bool:
        """Whether what a node refers to was imported where it may be missing, or may be something else in its place."""
        return bool(self._model.answered(self._semantics.of(DeprecatedUses).is_conditional, node))

    def torchvision_model(self, call: cst.Call) -> str:
        """The full name of the function of torchvision with which a call, or what `partial` makes, makes a model.

        ``torchvision.models.*`` is one that the program looks up by a computed name; empty for every other call.
        """
        return self._model.found(self._semantics.of(TorchvisionModels).made, call) or ""

    def is_backward(self, function: cst.BaseExpression) -> bool:
        """Whether a function is autograd's ``backward`` or ``grad``, or a tensor's ``backward``, for all that is known."""
        return bool(self._model.answered(self._semantics.of(Methods).is_backward, function))

    def iterates_over_loader(self, node: cst.BaseExpression) -> bool:
        """Whether a value is what ``iter`` makes of a data loader, or of what is called one."""
        return bool(self._model.answered(self._semantics.of(Methods).iterates_over_loader, node))

    # --- whether today's spelling does the same ----------------------------------------------------------------------

    def means_the_same(self, node: cst.BaseExpression, old: str, new: str) -> Fact:
        """Whether a reference to the API ``old`` can be one to ``new``."""
        twin = self._model.twin(node)
        return self._semantics.of(SameMeaning).renamed(twin, old, new) if isinstance(twin, ast.expr) else _ELSEWHERE

    def calls_successor_alike(self, call: cst.Call, old: str) -> Fact:
        """Whether a call of what has another shape than the API ``old`` does the same as the call of that."""
        return self._asked(lambda twin: self._semantics.of(Successors).does_the_same(twin, old), call)

    def takes_reduction(self, call: cst.Call) -> Fact:
        """Whether a loss can be told by ``reduction`` what its flags say."""
        return self._asked(self._semantics.of(SameMeaning).flagged, call)

    def may_move_factors(self, call: cst.Call) -> Fact:
        """Whether the factors in front of the operands of a call can stand behind them."""
        return self._asked(self._semantics.of(SameMeaning).factors_moved, call)

    def is_method_of_tensor(self, call: cst.Call) -> Fact:
        """Whether a call that raises as it is written is of torch's own function or method."""
        return self._asked(self._semantics.of(SameMeaning).of_tensor, call)

    def is_next_of_loader(self, call: cst.Call) -> Fact:
        """Whether ``iterator.next()`` is asked of what a data loader gives."""
        return self._asked(self._semantics.of(SameMeaning).loaders_next, call)

    def _asked(self, question: Callable[[ast.Call], Fact], call: cst.Call) -> Fact:
        twin = self._model.twin(call)
        return question(twin) if isinstance(twin, ast.Call) else _ELSEWHERE

    # --- with which arguments ----------------------------------------------------------------------------------------

    def tensor_class(self, call: cst.Call) -> TensorClass[cst.BaseExpression] | None:
        """The class of tensors that is called, ``torch.FloatTensor(3)``; ``None`` for every other call."""
        return self._model.found(self._semantics.of(Constructors).made, call)

    def is_renewal(self, call: cst.Call) -> bool:
        """Whether a call is that of a tensor's ``new``, for all that is known."""
        return self._model.twin(call) in self._semantics.of(Constructors).renewed

    def tested_gpu_class(self, call: cst.Call) -> cst.BaseExpression | None:
        """The class of ``isinstance(x, torch.cuda.FloatTensor)``; ``None`` for every other call."""
        return self._model.found(self._semantics.of(Constructors).tests, call)

    def given(self, call: cst.Call) -> Given:
        """What a class of tensors, or ``new``, is called with: sizes, or data of some kind."""
        twin = self._model.twin(call)
        return self._semantics.of(Constructors).given(twin) if isinstance(twin, ast.Call) else Given(Content.UNKNOWN, False)

    def two_meanings(self, call: cst.Call) -> TwoMeanings | None:
        """In which way the call of a class of tensors, or of ``new``, may mean two things; ``None`` where it means one."""
        return self._model.found(self._semantics.of(Ambiguities).found, call)

    def is_selector(self, call: cst.Call) -> bool:
        """Whether the file selects elements by the tensor that a call makes."""
        twin = self._model.twin(call)
        return isinstance(twin, ast.Call) and self._semantics.of(Constructors).selects(twin)

    @property
    def changes_default_dtype(self) -> bool:
        """Whether the file sets the dtype that tensors have by default."""
        return self._semantics.of(Constructors).changes_default_dtype

    def flagged_loss(self, call: cst.Call) -> FlaggedLoss[cst.BaseExpression] | None:
        """What a loss is told by ``size_average`` and ``reduce``; ``None`` for a call that does not give them."""
        return self._model.found(self._semantics.of(LossFlags).given, call)

    def is_plain_loss(self, node: cst.BaseExpression) -> bool:
        """Whether a value is a loss of torch's own that used to be told such flags."""
        return bool(self._model.answered(self._semantics.of(LossFlags).is_plain_loss, node))

    def implicit_dim(self, call: cst.Call) -> ImplicitDim | None:
        """The dimension that a softmax picks, as none is given; ``None`` for every other call."""
        return self._model.found(self._semantics.of(ImplicitDims).picked, call)

    def leading_factors(self, call: cst.Call) -> tuple[Factor[cst.BaseExpression], ...]:
        """The factors that an operation is given in front of its operands, with the names they have today."""
        return self._model.found(self._semantics.of(LeadingFactors).given, call) or ()
