from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cached_property

from torchlint.diagnostic import Fix
from torchlint.rules import Rule, Screen
from torchlint.rules.rewriting import Rewriter, TextEdit
from torchlint.semantics.code.tree import FUNCTIONS, LOOPS, Loop, dotted
from torchlint.semantics.training.training_steps import Backward, Region, Step

_DEEP = 3
"""So many functions may lie between a loop and the step in it."""
_MANY = 16
"""So many steps of one loop are looked at: no one writes more of them, but for tests of linters."""
_STEP_HOOKS = ("register_step_post_hook", "register_step_pre_hook", "register_post_accumulate_grad_hook")


class MissingZeroGrad(Rule):
    """
    ## What it does
    Finds loops that call `backward()` and `optimizer.step()`, and zero the gradients on no path round the loop.

    ## Why is this bad
    `backward()` adds to the gradients. Where nothing zeroes them, each step uses the sum of the gradients of all batches so
    far: the model learns from old batches again and again, with steps that grow.

    ## Example
    ```python
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    ```

    ## Use instead
    ```python
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    ```

    ## Fix safety
    Unsafe: training takes another course. Where the step is not made in each round, which is how gradients are accumulated
    over several batches, they are zeroed right behind it. There is no fix where the backward and the step are in different
    functions.

    ## References
    - [Zeroing out gradients in PyTorch](https://docs.pytorch.org/tutorials/recipes/recipes/zeroing_out_gradients.html)
    """

    code = "TPL015"
    name = "missing-zero-grad"
    screen = Screen(any_of=(b"backward",), and_any_of=(b"step",), check=lambda data: b"optim" in data)

    def finish(self) -> None:
        """Looks at each step that the file's optimizers make."""
        steps = self.semantics.training_steps.steps
        if not steps or any(hook in self.semantics.facts.calls for hook in _STEP_HOOKS):
            return
        reported: set[tuple[Loop, frozenset[ast.Call]]] = set()
        looked_at: Counter[Loop] = Counter()
        for step in steps:
            if self._is_wiped_beside(step):
                continue
            region = self._round(step)
            if region is None or looked_at[region.loop] == _MANY:
                continue
            looked_at[region.loop] += 1
            own = self._own_backwards(step, region)
            key = (region.loop, frozenset(backward.call for backward in own))
            if own and key not in reported and self._piles_up(step, own, region):
                reported.add(key)
                self._report(step, own, region)

    def _is_wiped_beside(self, step: Step) -> bool:
        """Whether the loop around a step plainly wipes the gradients, as nearly every loop does."""
        loop = next(self.semantics.tree.loops(step.call), None)
        wiped = self._wiped.get((loop, dotted(step.optimizer)), ())
        return any(self.semantics.training_steps.same(optimizer, step.optimizer) for optimizer in wiped)

    @cached_property
    def _wiped(self) -> dict[tuple[ast.AST | None, str | None], list[ast.expr]]:
        """The optimizers whose gradients are zeroed in each loop, by their spelling: of those alike, the first."""
        found: dict[tuple[ast.AST | None, str | None], list[ast.expr]] = {}
        same = self.semantics.training_steps.same
        for zero in self.semantics.training_steps.zero_grads:
            for loop in (parent for parent in self.semantics.tree.ancestors(zero.call) if isinstance(parent, LOOPS)):
                known = found.setdefault((loop, dotted(zero.of)), [])
                if not any(same(zero.of, other) for other in known):
                    known.append(zero.of)
        return found

    # --- what goes round ---------------------------------------------------------------------------------------------

    def _round(self, step: Step) -> Region | None:
        """The innermost loop that runs a step and a backward before it."""
        for loop in self._loops(step.call, _DEEP):
            region = self.semantics.training_steps.region(loop)
            if self.semantics.training_steps.backwards_in(region):
                return region
        return None

    def _loops(self, node: ast.AST, depth: int) -> Iterator[Loop]:
        """The loops that ``node`` is in, innermost first; where it is in none, those that call its function."""
        loops = list(self.semantics.tree.loops(node))
        yield from loops
        function = self.semantics.tree.function(node)
        if not loops and depth and isinstance(function, FUNCTIONS):
            for call in self.semantics.inference.call_sites(function):
                yield from self._loops(call, depth - 1)

    def _own_backwards(self, step: Step, region: Region) -> list[Backward]:
        """The backward calls whose gradients the step uses in the same round."""
        flow = self.semantics.control_flow
        place = region.place(step.call, self.semantics.tree)
        if place is None:
            return []
        head = region.loop.test if isinstance(region.loop, ast.While) else region.loop.target
        steps = self.semantics.training_steps.steps_in(region)
        others = [other for later, other in steps if later is not step and other is not place]
        avoiding = (head, *self._of_same_optimizer(others, step))
        own = []
        for backward, at in self.semantics.training_steps.backwards_in(region):
            if at is place:
                if self._comes_first(backward.call, step.call):
                    own.append(backward)
            elif flow.may_follow(at, place, avoiding=avoiding):
                own.append(backward)
        return own

    def _of_same_optimizer(self, places: list[ast.Call], step: Step) -> list[ast.Call]:
        steps = self.semantics.training_steps
        makings = steps.makings(step.optimizer)
        return [place for place in places if place in self._stepped and steps.makings(self._stepped[place]) == makings]

    @cached_property
    def _stepped(self) -> dict[ast.Call, ast.expr]:
        """The optimizers of the calls that make steps."""
        return {step.call: step.optimizer for step in self.semantics.training_steps.steps}

    def _comes_first(self, backward: ast.Call, step: ast.Call) -> bool:
        """Whether, of two calls that one call runs, the first comes before the second as far as that is shown."""
        tree = self.semantics.tree
        if tree.function(backward) is not tree.function(step):
            return True
        return self.semantics.control_flow.may_follow(backward, step)

    def _piles_up(self, step: Step, own: list[Backward], region: Region) -> bool:
        """Whether the gradients of one round are still there in the next, for all that the file shows."""
        steps, tree = self.semantics.training_steps, self.semantics.tree
        makings = steps.makings(step.optimizer) or frozenset()
        if any(region.makes(making, tree) for making in makings) or steps.may_wipe(region, step.optimizer):
            return False
        place = region.place(step.call, tree)
        assert place is not None
        outermost = [region.loop, *tree.loops(region.loop)][-1]  # round which the way leads, if at all
        wiping = [zero.call for zero in steps.zero_grads_in(outermost) if not steps.apart(step.optimizer, zero.of)]
        flow, used = self.semantics.control_flow, set(own)
        places = [at for backward, at in steps.backwards_in(region) if backward in used]
        return any(map(flow.ahead_of(flow.scope(place), [place], wiping, up_to=places).includes, places))

    # --- report ------------------------------------------------------------------------------------------------------

    def _report(self, step: Step, own: list[Backward], region: Region) -> None:
        optimizer = ast.unparse(step.optimizer)
        message = (
            f"`{ast.unparse(step.call)}` also uses the gradients of all rounds before, which nothing zeroes; "
            f"call `{optimizer}.zero_grad()` before `{ast.unparse(own[0].call)}`"
        )
        self.report(step.call, message, self._fix(step, own, region))

    def _fix(self, step: Step, own: list[Backward], region: Region) -> Fix | None:
        tree = self.semantics.tree
        function = tree.function(step.call)
        if any(tree.function(backward.call) is not function for backward in own) or not self._is_bound_before(step, region):
            return None
        edits = self._before(step, own, region) if self._always_steps(step, own, region) else self._behind(step, region)
        return self.fix(f"Insert `{ast.unparse(step.optimizer)}.zero_grad()`", edits, safe=False) if edits else None

    def _is_bound_before(self, step: Step, region: Region) -> bool:
        """Whether the optimizer's variable is bound before the loop, or the function, starts."""
        names = [part for part in ast.walk(step.optimizer) if isinstance(part, ast.Name)]
        bindings = [binding for name in names for binding in self.semantics.bindings.reaching(name)]
        function = self.semantics.tree.function(step.call)
        inside = self.semantics.tree.inside
        if function is self.semantics.tree.function(region.loop):
            return not any(inside(binding.node, region.loop) for binding in bindings)
        return not any(
            isinstance(binding.node, ast.Name) and function is not None and inside(binding.node, function)
            for binding in bindings
        )

    def _always_steps(self, step: Step, own: list[Backward], region: Region) -> bool:
        """Whether each round that gets gradients makes the step."""
        flow, tree = self.semantics.control_flow, self.semantics.tree
        if tree.function(step.call) is not tree.function(region.loop):
            return not any(flow.may_end(backward.call, avoiding=[step.call]) for backward in own)
        head = region.loop.test if isinstance(region.loop, ast.While) else region.loop.target
        return not any(flow.may_follow(backward.call, head, avoiding=[step.call]) for backward in own)

    def _before(self, step: Step, own: list[Backward], region: Region) -> list[TextEdit]:
        """Zeroes the gradients before the first backward."""
        function = self.semantics.tree.function(step.call)
        outer = region.loop if function is self.semantics.tree.function(region.loop) else function
        assert isinstance(outer, (*LOOPS, *FUNCTIONS))
        statement = self._first_of_shared_block(outer.body, [step.call, *(backward.call for backward in own)])
        start = self.source.start(statement)
        code = f"{self.source.segment(step.optimizer)}.zero_grad()"
        line = self.source.line_start(statement.lineno)
        if self.source.text[line:start].strip(" \t"):
            return [] if isinstance(statement, (ast.If, ast.With, ast.Try, *LOOPS)) else [(start, start, f"{code}; ")]
        indentation = Rewriter(self.source, self.semantics).indentation(statement)
        return [(line, line, f"{indentation}{code}{self.source.newline}")]

    def _first_of_shared_block(self, block: list[ast.stmt], nodes: list[ast.Call]) -> ast.stmt:
        """The statement with the first of some calls, in the innermost block that holds all of them."""
        holding = [statement for statement in block if any(self.semantics.tree.inside(node, statement) for node in nodes)]
        if len(holding) == 1:
            for field in ("body", "orelse", "finalbody"):
                inner = getattr(holding[0], field, None)
                if isinstance(inner, list) and inner and isinstance(inner[0], ast.stmt):
                    if all(any(self.semantics.tree.inside(node, part) for part in inner) for node in nodes):
                        return self._first_of_shared_block(inner, nodes)
        return holding[0]

    def _behind(self, step: Step, region: Region) -> list[TextEdit]:
        """Zeroes the gradients after the step."""
        statement = self.semantics.tree.statement(step.call)
        if not isinstance(statement, ast.Expr):
            return []
        end = self.source.end(statement)
        code = f"{self.source.segment(step.optimizer)}.zero_grad()"
        rewriter = Rewriter(self.source, self.semantics)
        if not rewriter.stands_alone(statement):
            return [(end, end, f"; {code}")]
        assert statement.end_lineno is not None
        line_end = self.source.line_span(statement.end_lineno)[1]
        return [(line_end, line_end, f"{self.source.newline}{rewriter.indentation(statement)}{code}")]
