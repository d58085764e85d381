"""What the scripts and notebooks of a project speak of, taken together: asked where no import leads to the file that matters.

A script that loads what another one has saved imports nothing of it. What can be told of the two is whether any file of the
project has certain words.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, field
from functools import partial

from torchlint.project.importers import OF_PROJECTS, may_be_own
from torchlint.project.programs import code_of, is_program
from torchlint.project.told.cpu_programs import FILES_OF_CPU, CpuPrograms
from torchlint.project.told.forwards import FORWARDS
from torchlint.project.told.outputs import outputs_of
from torchlint.project.told.records import OF_RUNS, Records
from torchlint.project.told.unasked import is_gpu_everywhere, needs_gpu
from torchlint.text.reading import read_file

_TOPICS = {
    "prefixes": re.compile(rb"""["'](module|_orig_mod)(\.[\w.]{0,60})?["']|\[(7|10):\]"""),
    "accelerators": re.compile(rb"(?i)cuda|gpu|device|accelerat|lightning|deepspeed|\b[mxnh]pu\b|\bmps\b"),
    "choices of devices": re.compile(
        rb"""(?m)^(?![ \t]{0,60}print\()[^#\n]{0,200}?"""
        rb"""(is_available|["']cpu["'](?!\)\.(?:numpy|detach|data|clone|tolist|item))"""
        rb"""|map_location|cuda:[1-9{%]|(?:local|world)_(?:rank|size)|set_device"""
        rb"""|["'][\w-]{0,20}(?:device|use_cuda|--cuda)\w{0,9}["']|(?:args|cfg|config|conf|opts?|params|flags)\.\w{0,9}device|\b[mxnh]pu\b|\bmps\b"""
        rb"""|[Aa]ccelerat|lightning|deepspeed)"""
    ),
    "moves to the GPU": re.compile(rb"""(?m)^[^#\n]{0,200}?(\.cuda\(|\.to\((?:device=)?(?:0\)|["']cuda)|device\(["']cuda)"""),
    "other devices": re.compile(
        rb"""(?m)^[^#\n]{0,200}?((?i:cuda|\bn?gpus?\b|gpu_|_gpu|accelerat|lightning|deepspeed|horovod|fastai|ignite|catalyst|skorch)"""
        rb"""|\b(?:[mxnh]pu|mps|xla|Trainer)\b|(?<![.\w])device\(|torch\.device\b|["'][\w-]{0,20}device\w{0,9}["']"""
        rb"""|(?:args|cfg|config|conf|opts?|h?params|flags)\.\w{0,9}device)"""
    ),
    "places of processes": re.compile(
        rb"""(?mi)^[^#\n]{0,200}?(set_device|device_ids|\bcuda\(\s{0,9}(?!\)|0\b|None\b|non_blocking|async|device=(?:None|0)\b)[\w"'*]"""
        rb"""|["']cuda:(?!0["'])|cuda\.device\(|(?:\.to|device)\([^)\n]{0,100}?(?:rank|gpu|local|\{|%)|accelerat|lightning|deepspeed|horovod)"""
    ),
    "backward passes": re.compile(rb"(?m)^[^#\n]{0,200}?\.backward\("),
    "several": re.compile(rb"\b(topk?|maxk|ks)\s*=\s*[(\[]\s*\d+\s*,\s*\d|accuracy\w{0,40}\([^\n]{0,200}?[(\[]\s*\d+\s*,\s*\d"),
    "default devices": re.compile(
        rb"(?m)^[^#\n]{0,120}\b(set_default_device\b|set_default_tensor_type\([^\n)]{0,60}(?i:cuda))"
    ),
    "epochs": re.compile(rb"\bfor\s+\w{0,20}epoch\w{0,20}\s+in\b"),
    "set epochs": re.compile(
        rb"set_epoch|DistSamplerSeedHook|SFTTrainer|transformers[^\n]{0,200}\bTrainer\b"
        rb"|^[ \t]{0,40}(?:import|from)[ \t][^\n]{0,200}\b(?:(?:pytorch_)?lightning|accelerate|ignite|catalyst|fastai|composer"
        rb"|ray|mm(?:cv|engine|det|seg|cls|pose)|detectron2|deepspeed|super_gradients|torchtnt)\b",
        re.MULTILINE,
    ),
    "saves": re.compile(rb"torch\.save\b|import\s+save\b|\.save\("),
    "single samples": re.compile(rb"DataLoader\([^()]{0,300}\bbatch_size\s{0,9}=\s{0,9}1\b"),
    "allowed objects": re.compile(
        rb"torch\.load\s{0,9}=[^=]|TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD|\badd_safe_globals\b|serialization\.load\s{0,9}=[^=]"
    ),
    "own gradients": re.compile(rb"\bself\.zero_grad\("),
    "unreduced losses": re.compile(
        rb"""Loss\w{0,20}\([^\n]{0,300}?\breduc(?:e\s{0,9}=\s{0,9}False|tion\s{0,9}=\s{0,9}["']none)"""
    ),
    "own cuda": re.compile(rb"\bdef[ \t]{1,4}cuda[ \t]{0,4}\([^()]{0,200}(?:device_id|\*\*)"),
}
"""What may be spoken of: prefixes of wrapped modules' keys, other devices than the CPU, devices that are chosen or are several,
moves to the GPU, other devices by any name, the GPU of each process, backward passes, several best answers, saving, where all
factories make tensors, modules that zero their own gradients, losses that give one number for each item, classes with a `cuda`
of their own, loops over epochs, and who tells a sampler of them.
"""
_CHOOSING = "choices of devices"
_NUMBERS = re.compile(rb"""(?m)^[^#\n]{0,200}?["'][\w-]{0,20}gpu\w{0,9}["']""")
"""Options that say which GPU is meant, or whether one is."""
_MADE_VISIBLE = re.compile(rb"""(?m)^[^#\n]{0,60}CUDA_VISIBLE_DEVICES["']\]\s*=""")
"""Where it is said which GPUs the process sees: the first of these is the one, whatever its number."""
_BY_NUMBER = re.compile(
    rb"(?mi)^(?![ \t]{0,60}print\()[^#\n]{0,200}?(?:\b(?:if|elif|while|and|or|not|assert)\b[^#\n]{0,200}?gpu"
    rb"|gpu[^#\n]{0,200}?\b(?:if|and|or)\b|\b(?:cuda|to|device)\([^#)\n]{0,100}?gpu|gpu\w{0,9}\[)"
)
"""Where such an option says where something goes, or whether: a list that only a wrapper is given says neither."""
_BARE = "bare loads"
"""The topic that asks for scripts which run models, and load states of theirs into what no file says is wrapped.

Behind a colon, it has the key under which the states are, and those that the same file has besides: who asks for one of these
alone does not load the states.
"""
_ALIKE = "wrapped loads: "
"""The topic that asks for such scripts that wrap the models first where a flag is set, which it ends with, or in any case."""
_LEANING = "other folders"
"""The topic that asks of a folder whether it is a part of a program: its code imports what stands beside it, or is imported by
what does.
"""
_IMPORTING = re.compile(rb"(?m)^[ \t]{0,60}(?:from[ \t]+([\w.]{1,200})[ \t]+import|import[ \t]+([\w., \t]{1,400}))")
_ENDING = "models of probabilities"
"""The topic that asks for classes of modules whose forward ends in a sigmoid."""
_RECORDING = ("recorded calls: ", "unrecorded calls: ")
"""What the topics start with that ask for calls of a method: with autograd on, and where it is turned off."""
_READING = "reads: "
"""The topic that asks whether an attribute, whose name it ends with, is read of anything but torch, or named by a string."""
_UNASKED = "moves in any case"
"""The topic that asks for moves to a GPU which no flag decides about."""
_SCHEDULES = "schedules of others: "
"""The topic that asks for code that may move on a schedule which another object has as an attribute of that name."""
_CONSTANTS = "constant GPUs: "
"""The topic that asks whether all assignments to the name which it ends with, and there is one, write out the first GPU."""
_NUMBERING = "numbers: "
"""The topic that asks for functions, other than those that train or evaluate, that give the number of what they call by the
name which it ends with, beside other things.
"""
RECORD = "record: "
"""The topic that asks of a file, at the path which it ends with, whether a run has left it as a copy of another one."""
_RUNNING = re.compile(r"(?i)(^|_)(test|eval|valid|infer|predict|demo|generate|sample|export|visuali[sz]e|convert)\w{0,9}(_|\.)")
_LOADING = re.compile(rb"\bload_state_dict\([^)]")
_WRAPPING = re.compile(rb"DataParallel|DDP|\.module\b")
_WORDS = {
    "accelerators": (
        *(b"cuda", b"gpu", b"device", b"accelerat", b"lightning", b"deepspeed"),
        *(b"mpu", b"xpu", b"npu", b"hpu", b"mps"),
    ),
    _CHOOSING: (
        *(b"is_available", b"cpu", b"map_location", b"cuda", b"local_", b"world_", b"device"),
        *(b"mpu", b"xpu", b"npu", b"hpu", b"mps", b"accelerat", b"lightning", b"deepspeed"),
    ),
    "moves to the GPU": (b".cuda(", b".to(", b"device("),
    "other devices": (
        *(b"cuda", b"gpu", b"accelerat", b"lightning", b"deepspeed", b"horovod", b"fastai", b"ignite", b"catalyst", b"skorch"),
        *(b"mpu", b"xpu", b"npu", b"hpu", b"mps", b"xla", b"trainer", b"device"),
    ),
    "places of processes": (b"cuda", b"device", b".to(", b"accelerat", b"lightning", b"deepspeed", b"horovod"),
    "backward passes": (b".backward(",),
    "default devices": (b"set_default_",),
}
"""Of topics that one line speaks of, words in small letters of which such a line has one: only such lines are looked at."""
_MOST_FILES = 400
_MOST_NAMES = 20_000
"""So many names are looked through, of files of data among them."""
_LARGEST = 1_000_000
_APART = frozenset({"site-packages", "node_modules", "__pycache__", "venv", "build", "dist"})


@dataclass(slots=True)
class _Folder:
    """What the code in one folder imports: the ``first`` parts of the names, and all ``parts``; and its own ``modules``."""

    first: set[str] = field(default_factory=set)
    parts: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)


class Talk:
    """Tells of the projects of a process what their files speak of."""

    def __init__(self, replaced: Callable[[str], bytes | None]) -> None:
        self._replaced = replaced
        self._told: dict[tuple[str, str], bool | None] = {}
        self._imports: dict[str, dict[str, _Folder]] = {}
        self._records = Records(self._code, _files_but_records, self._names_imported)
        self._on_cpu = CpuPrograms(self._code, _files, partial(_speaks_of, "other devices"))

    def forget(self) -> None:
        """Has all files be read again."""
        self._told.clear()
        self._imports.clear()
        self._records.forget()
        self._on_cpu.forget()

    def speaks_of(self, topic: str, root: str) -> bool | None:
        """Whether any file below ``root`` speaks of a topic; `None` where there are too many files, or one cannot be read.

        Behind a line break, the topic has a folder below that one, where it is looked for alone.
        """
        topic, _, folder = topic.partition("\n")
        project = root
        root = os.path.join(root, folder) if folder else root
        key = (root, topic)
        if key not in self._told:
            if topic.startswith(_BARE):
                words = topic.removeprefix(_BARE).removeprefix(": ").split("|")
                self._told[key] = any(_loads_bare(text, words) for text in self._texts(root, _RUNNING))
            elif topic.startswith(_ALIKE):
                wrapping = _wrapping_under(topic.removeprefix(_ALIKE))
                self._told[key] = any(_loads_behind(text, wrapping) for text in self._texts(root, _RUNNING))
            elif topic.startswith(_READING):
                self._told[key] = self._look_for(_reading(topic.removeprefix(_READING)).search, root)
            elif topic.startswith(_SCHEDULES):
                self._told[key] = self._look_for(_moving_on(topic.removeprefix(_SCHEDULES)).search, root)
            elif topic.startswith(_CONSTANTS):
                self._told[key] = is_gpu_everywhere(topic.removeprefix(_CONSTANTS), self._texts(root))
            elif topic.startswith(_NUMBERING):
                self._told[key] = self._look_for(_Numbering(topic.removeprefix(_NUMBERING)).is_in, root)
            elif topic.startswith(RECORD):
                self._told[key] = self._records.is_record(topic.removeprefix(RECORD), root)
            elif topic.startswith(FILES_OF_CPU):
                reader, _, name = topic.removeprefix(FILES_OF_CPU).partition("|")
                self._told[key] = self._on_cpu.have_saved(name, os.path.normpath(os.path.join(root, reader)), project)
            elif topic.startswith(_RECORDING):
                from torchlint.project.told.recorded import calls_so

                self._told[key] = self._look_for(partial(calls_so, topic), root)
            elif topic == _ENDING:
                self._told[key] = any(map(_ends_in_sigmoid, self._texts(root)))
            elif topic == _UNASKED:
                self._told[key] = self._look_for(needs_gpu, root)
            elif topic == _LEANING:
                self._told[key] = _leans(root, self._imported(project))
            elif topic == _CHOOSING:
                self._told[key] = self._chooses_device(root)
            else:
                self._told[key] = self._look_for(FORWARDS.get(topic, partial(_speaks_of, topic)), root)
        return self._told[key]

    def _chooses_device(self, root: str) -> bool | None:
        """Whether code says where to run, and not only which GPUs the process is to see, or a model to be wrapped for."""
        is_unread = has_number = is_by_number = False
        for text in self._texts(root):
            if text is None:
                is_unread = True
            elif _speaks_of(_CHOOSING, text):
                return True
            else:
                has_number = has_number or _has_number(text)
                is_by_number = is_by_number or (b"gpu" in text.lower() and _BY_NUMBER.search(text) is not None)
        return None if is_unread else has_number and is_by_number

    def _imported(self, root: str) -> dict[str, _Folder]:
        """What the code in each folder below a root imports."""
        if root not in self._imports:
            found: dict[str, _Folder] = {}
            for path in itertools.islice(_files(root), _MOST_FILES):
                if path is not None:
                    folder = found.setdefault(os.path.dirname(path), _Folder())
                    folder.modules.add(os.path.splitext(os.path.basename(path))[0])
                    for name in self._names_imported(path):
                        folder.first.add(name[0])
                        folder.parts.update(name)
            self._imports[root] = found
        return self._imports[root]

    def _names_imported(self, path: str) -> Iterator[list[str]]:
        """The parts of the names of what a file imports from."""
        for match in _IMPORTING.finditer(self._code(path) or b""):
            for name in (match[1] or match[2]).decode("ascii", "replace").split(","):
                parts = [part for part in name.split()[0].split(".") if part] if name.split() else []
                if parts:
                    yield parts

    def _look_for(self, speaks: Callable[[bytes], object], root: str) -> bool | None:
        unread = False
        for text in self._texts(root):
            if text is None:
                unread = True
            elif speaks(text):
                return True
        return None if unread else False

    def _texts(self, root: str, named: re.Pattern[str] | None = None) -> Iterator[bytes | None]:
        """The code of the files below a folder; `None` for one that cannot be read, and at last where there are too many."""
        for number, path in enumerate(_files(root)):
            if path is None or number == _MOST_FILES:
                yield None
                return
            if named is not None and not named.search(os.path.basename(path)):
                continue
            yield self._code(path)

    def _code(self, path: str) -> bytes | None:
        """The code of a file, of a notebook that of its cells; `None` where it cannot be read."""
        try:
            text = self._replaced(path)
            return code_of(path, read_file(path, _LARGEST) if text is None else text)
        except (OSError, ValueError):
            return None


def _leans(folder: str, imported: dict[str, _Folder]) -> bool:
    """Whether code in a folder imports a folder or file of the project that stands beside it, or above, or is imported by what
    does not stand within it. A name that the folder has itself is its own.
    """
    inside = folder + os.sep
    within = {each: said for each, said in imported.items() if each == folder or each.startswith(inside)}
    beside = {each: said for each, said in imported.items() if each not in within}
    if any(os.path.basename(folder) in said.parts for said in beside.values()):
        return True
    above = {each for each in beside if inside.startswith(each + os.sep)}
    own = {os.path.basename(each) for each in within}.union(*(said.modules for said in within.values()))
    others = {os.path.relpath(each, os.path.commonpath((each, folder))).partition(os.sep)[0] for each in beside}
    others.update(*(beside[each].modules for each in above))
    return any((others - own) & said.first for said in within.values())


def _speaks_of(topic: str, text: bytes) -> bool:
    """Whether code speaks of a topic that a pattern stands for."""
    pattern = _TOPICS[topic]
    if topic not in _WORDS:
        return pattern.search(text) is not None
    small = text.lower()
    for word in _WORDS[topic]:
        place = small.find(word)
        while place >= 0:
            start, end = text.rfind(b"\n", 0, place) + 1, text.find(b"\n", place)
            end = len(text) if end < 0 else end
            if pattern.search(text, start, end):
                return True
            place = small.find(word, end)
    return False


def _has_number(text: bytes) -> bool:
    """Whether code has an option that says which GPU is meant, and not which ones the process is to see."""
    return _NUMBERS.search(text) is not None and not _MADE_VISIBLE.search(text)


def _loads_bare(text: bytes | None, words: list[str]) -> bool:
    """Whether code loads a file and gives a model the state in it, and says nothing of wrappers.

    The state has the first one of some words for its key: code that speaks of others of these loads something else.
    """
    if text is None or b"torch.load" not in text or not _LOADING.search(text) or _WRAPPING.search(text):
        return False
    spoken_of = [any(quote + word.encode() + quote in text for quote in (b"'", b'"')) for word in words]
    return spoken_of[0] or not any(spoken_of)


def _reading(name: str) -> re.Pattern[bytes]:
    """Where an attribute is read, of anything but torch and its functions, or named by a string."""
    said = re.escape(name.encode("utf-8", "surrogatepass"))
    return re.compile(
        rb"(?<!\btorch)(?<!\bF)(?<!\bnn)(?<!\bfunctional)\.\s{0,20}" + said + rb"\b(?!\s{0,20}=[^=])|[\"']" + said + rb"[\"']"
    )


def _moving_on(name: str) -> re.Pattern[bytes]:
    """Where a schedule is asked of an object that is not the own one, and of no options, for more than its state."""
    said = re.escape(name.encode("utf-8", "surrogatepass"))
    return re.compile(
        rb"(?<!\bself)(?<!\boptim)(?<!\bargs)(?<!\bopt)(?<!\bopts)(?<!\bcfg)(?<!\bconfig)(?<!\bhparams)(?<!\bparams)\."
        + said
        + rb"\b(?!\s{0,20}=[^=]|\.(?:state_dict|load_state_dict|get_last_lr|get_lr|last_epoch|optimizer|base_lrs)\b)"
    )


_DEFINITION = re.compile(rb"^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)")
_RETURNS = re.compile(rb"[ \t]*return\b")
_OF_RUNS = re.compile(rb"(?i)train|val|test|eval|epoch|fit|step|main|run|loop|iter")


class _Numbering:
    """Where a function takes the number of what it calls by a name, and returns that beside other things."""

    def __init__(self, name: str) -> None:
        self._name = name.encode("utf-8", "surrogatepass")
        self._made, self._number, self._itself = _number_of(self._name)

    def is_in(self, text: bytes) -> bool:
        """Whether code has such a function."""
        if self._name not in text:
            return False
        is_made = is_running = False
        for line in text.splitlines():
            definition = _DEFINITION.match(line)
            if definition is not None:
                is_made, is_running = False, _OF_RUNS.search(definition[1]) is not None
            elif self._name in line and not is_running:
                is_made = is_made or self._made.match(line) is not None
                if _RETURNS.match(line) and b"," in line:
                    if self._number.search(line) or (is_made and self._itself.search(line)):
                        return True
        return False


def _number_of(name: bytes) -> tuple[re.Pattern[bytes], ...]:
    """Where a name gets the number of what it stands for, where that number is taken, and where the name is read by itself."""
    said = rb"(?<![\w.])" + re.escape(name) + rb"\b"
    number = rb"(?:" + said + rb"(?:\.\w{1,20}\(\)){0,3}\.item\(\)|\bfloat\(" + said + rb"\))"
    made = rb"[ \t]*" + said + rb"[ \t]{0,9}=[ \t]{0,9}" + number + rb"[ \t]{0,9}(?:#|$)"
    return re.compile(made), re.compile(number), re.compile(said + rb"(?![.\[(])")


def _wrapping_under(flag: str) -> re.Pattern[bytes]:
    """A model that is wrapped where a flag is set; in any case, by the script itself, where there is none."""
    if not flag:
        return re.compile(rb"(?m)^\w{1,40} = [\w.]{0,40}\bDataParallel\(")
    condition = re.escape(flag.encode())
    return re.compile(
        rb"(?m)^([ \t]{0,60})if[ (]{1,3}"
        + condition
        + rb"\)?:[^\n]{0,200}\n(?:\1[ \t][^\n]{0,200}\n){0,5}?[^\n#]{0,200}\bDataParallel\("
    )


def _loads_behind(text: bytes | None, wrapping: re.Pattern[bytes]) -> bool:
    """Whether code loads a file and gives a model the state in it behind a place where it wraps one."""
    place = wrapping.search(text) if text is not None and b"torch.load" in text else None
    return place is not None and text is not None and _LOADING.search(text, place.end()) is not None


def _ends_in_sigmoid(text: bytes | None) -> bool:
    """Whether code defines a module that gives the probability of one class."""
    return text is not None and b"igmoid" in text and any(each.output == "sigmoid" for each in outputs_of(text))


def _files(root: str, without: Container[str] = ()) -> Iterator[str | None]:
    """The scripts and notebooks below a folder, and at last `None` where not all of it was looked through.

    Folders ``without`` which it is to be have their names in small letters.
    """
    seen = 0
    for folder, inner, names in os.walk(root):
        seen += len(inner) + len(names)
        if seen > _MOST_NAMES:
            yield None
            return
        inner[:] = sorted(
            name for name in inner if not name.startswith(".") and name.lower() not in without and not _is_apart(folder, name)
        )
        yield from (os.path.join(folder, name) for name in sorted(names) if is_program(name) and not name.startswith("."))


def _files_but_records(root: str) -> Iterator[str | None]:
    return _files(root, OF_RUNS)


def _is_apart(folder: str, name: str) -> bool:
    """Whether a folder within one holds what is not of the project, or an environment."""
    small = name.lower()
    return small in _APART or (small in OF_PROJECTS and not may_be_own(small, os.path.join(folder, name)))
