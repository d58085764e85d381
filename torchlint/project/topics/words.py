"""Topics that words tell, wherever they stand in the code of a file."""

from __future__ import annotations

import re

CHOOSING = "choices of devices"
_TOPICS = {
    "prefixes": re.compile(rb"""["'](module|_orig_mod)(\.[\w.]{0,60})?["']|\[(7|10):\]"""),
    "accelerators": re.compile(rb"(?i)cuda|gpu|device|accelerat|lightning|deepspeed|\b[mxnh]pu\b|\bmps\b"),
    CHOOSING: re.compile(
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
    "errors of warnings": re.compile(
        rb"""(?m)^[^#\n]{0,200}?((?:simplefilter|filterwarnings)\([^)\n]{0,100}?["']error|captureWarnings\(\s{0,4}True"""
        rb"""|\bshowwarning\s{0,4}=[^=])"""
    ),
    "transforms of functions": re.compile(
        rb"(?m)^[^#\n]{0,200}?(\bvmap\b|\bfunctorch\b|\btorch\.func\b|\bimport\s{1,4}func\b)"
    ),
    "annotations that are read": re.compile(
        rb"(?m)^[^#\n]{0,200}?(\bget_type_hints\b|\bget_annotations\b|__annotations__|\.annotation\b|\bbeartype\b|\btypechecked\b)"
    ),
    "own cuda": re.compile(rb"\bdef[ \t]{1,4}cuda[ \t]{0,4}\([^()]{0,200}(?:device_id|\*\*)"),
}
"""What may be spoken of: prefixes of wrapped modules' keys, other devices than the CPU, devices that are chosen or are several,
moves to the GPU, other devices by any name, the GPU of each process, backward passes, several best answers, saving, where all
factories make tensors, modules that zero their own gradients, losses that give one number for each item, classes with a `cuda`
of their own, loops over epochs, and who tells a sampler of them, takes notice of warnings, transforms functions, or reads
annotations.
"""
_WORDS = {
    "accelerators": (
        *(b"cuda", b"gpu", b"device", b"accelerat", b"lightning", b"deepspeed"),
        *(b"mpu", b"xpu", b"npu", b"hpu", b"mps"),
    ),
    CHOOSING: (
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
    "errors of warnings": (b"simplefilter", b"filterwarnings", b"capturewarnings", b"showwarning"),
    "annotations that are read": (b"type_hints", b"annotation", b"beartype", b"typechecked"),
    "transforms of functions": (b"vmap", b"functorch", b"torch.func", b"func"),
}
"""Of topics that one line speaks of, words in small letters of which such a line has one: only such lines are looked at."""


def speaks_of(topic: str, text: bytes) -> bool:
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
