from __future__ import annotations

import libcst as cst

from torchlint.fact import unknown
from torchlint.fixes.changes import fix, replace
from torchlint.fixes.code import argument, is_open_ended, positional, with_argument
from torchlint.rules.rule import Rule
from torchlint.rules.triggers import Found
from torchlint.target import TorchVersion


class LoadWithoutMapLocation(Rule):
    """
    ## What it does
    Finds `torch.load(path)` without `map_location` where what is loaded shows to be tensors: it goes into a model or an
    optimizer (`model.load_state_dict(...)`, or `load_weights(model, ...)` by a function of the program's own), is a whole model
    itself, is a checkpoint with items such as `"state_dict"`, or is put on a device afterwards.

    What is loaded goes back to where it was, and the finding is strict, where the same run saved the file before (also by early
    stopping, in the training that it called before, or by an object that was told the place and has trained, to what the
    trainer calls its best, to a path that the training gives beside other things, in an earlier round of a loop that saves in
    each, or by a path of the same name, where the loop that trains goes back to it), in a test whose options do not name the
    file, in a script that names the CPU as its device and speaks of no other one, in a project of which one file saves and
    none speaks of a device, and in a program that runs on one GPU and nowhere else. Such a program writes the GPU out in
    every move (`.cuda()`, `.to("cuda")`), or in one, or in a `device="cuda"` that it hands on, that it makes whatever its
    flags say, or ends without, where it loads, where that function is called or in the model itself, also where these call a
    class or function of another file that puts something on a GPU and nowhere asks for one, and names no other GPU, be it the
    first one or not (`x.to(y.device)` and the number of the GPU that the process sees are no choice, nor is a list for
    `DataParallel` that begins with the first one, or that goes nowhere else: there the weights lie); or no file of the
    project speaks of the CPU as a device, or of a choice, be it that an option with the number of a GPU is asked for. A
    folder that trains for itself counts as a project, too, where it imports nothing of what stands beside it, and nothing
    there imports it. A constant of another file is written out, too, where each file that has its name gives it the first GPU.
    `DistributedDataParallel` and ranks are no other GPU in a project that nowhere says which one a process is to have.
    So it is where the file's name ends in `cpu`, where a function or script makes a model, loads into it what it saves by the
    same name, and nothing in the file speaks of a device, where all that the file saves was put on the CPU before, which the
    state of an optimizer is not, for data, `x, y = torch.load(path)`, of which nothing shows but that it is put on a device,
    and for the files that torchvision offers, by their names. And so it is where programs read and save the file, by a name
    that is written out, whose files speak of no device, be it that others of the project do: a program is a file with all that
    import it, and what these import.

    Nothing shows that the file was saved elsewhere than where it is loaded, and the finding is strict, too, where anything in
    the file moves something to the one GPU whatever flags say, wherever that is, and the file speaks of no several processes;
    where a file that trains or saves has no say in where it runs, and another one of the project moves something to a GPU
    whatever flags say; and for statistics of the data, by their name (`self.mean = torch.load(path)`), of which nothing shows
    but that they are put on a device.

    ## Why is this bad
    A checkpoint remembers the device of each tensor. One that was saved on a GPU cannot be loaded on a machine without one,
    and where there is a GPU, all of it goes there first, next to the weights that it is then copied into: twice the memory,
    on the GPU that it was saved on.

    ## Example
    ```python
    model.load_state_dict(torch.load("model.pt"))
    ```

    ## Use instead
    ```python
    model.load_state_dict(torch.load("model.pt", map_location="cpu"))
    ```

    ## Fix safety
    Unsafe: `load_state_dict` copies the weights to where the model is, but code that also uses what was loaded in another way
    now finds it on the CPU, and a whole model stays there until it is moved. One that nothing moves, in a file that moves its
    batches, is loaded to the device of these, if that has a name there, and there is no fix if not. A checkpoint with a whole
    model is loaded to that device, too: an optimizer beside it is moved by nothing. So is one of which an item takes the
    place of what was moved before (`x = x.to(device)`, then `x = saved["x"]`), or becomes a part of the object that calls it.
    There is no fix either where an entry is reckoned with by a key (`v = saved["v"]`, then `v[key] * rate`), and for a call
    that unpacks its arguments. Not reported are what may as well be plain data, what is decrypted before it becomes weights,
    an explicit `map_location=None`, loading that has another branch with a `map_location` that is no GPU, or a handler with
    one for where it fails, and what the same function saved to memory.

    ## References
    - [torch.load](https://docs.pytorch.org/docs/stable/generated/torch.load.html)
    """

    code = "TPL501"
    name = "load-without-map-location"
    triggers = (Found(".saving.loaded_tensors:LoadedTensors.found"),)
    needs = (("torch",), ("load",))
    since = TorchVersion(0, 3)

    def visit_Call(self, node: cst.Call) -> None:
        """Reports a load that says nothing but from where, and whose result goes into a model."""
        if len(positional(node)) != 1 or argument(node, "map_location") is not None or is_open_ended(node):
            return
        [path] = positional(node)
        devices = self.model.devices
        if not devices.loads_tensors(node) or devices.has_mapped_alternative(node) or devices.is_in_memory(path):
            return
        place = devices.place_of_loaded_module(node)
        given = cst.Name(place) if place else cst.SimpleString('"cpu"')
        shown = f"`map_location={given.value}`" if place != "" else "the device that it is used on as `map_location`"
        load = f"{self.model.shown(node.func)}({self.model.shown(path, 40)})"
        self.report(
            node,
            f"`{load}` puts what it loads on the device that it was saved on: pass {shown}",
            None
            if place == ""
            else fix(
                f"Load to `{place}`" if place else "Load to the CPU",
                replace(node, with_argument(node, "map_location", given)),
                rests_on=unknown("code that uses what was loaded in another way finds it elsewhere than it was saved")
                if place
                else unknown("code that uses what was loaded in another way finds it on the CPU"),
            ),
            strict=devices.is_load_within_run(node) or devices.is_load_of_test(node),
        )
