"""Which attribute names other types have, so that using one of these names is no evidence of a tensor or a module."""

from __future__ import annotations

import argparse
import array
import asyncio
import builtins
import cmath
import collections
import concurrent.futures
import configparser
import contextvars
import ctypes
import datetime
import decimal
import enum
import fractions
import functools
import http.client
import io
import ipaddress
import logging
import logging.handlers
import math
import mmap
import multiprocessing.pool
import multiprocessing.queues
import multiprocessing.shared_memory
import operator
import optparse
import pathlib
import queue
import random
import re
import shelve
import socket
import sqlite3
import statistics
import string
import struct
import subprocess
import tarfile
import tempfile
import threading
import types
import unittest
import unittest.mock
import urllib.request
import uuid
import weakref
import xml.dom.minidom
import xml.etree.ElementTree
import zipfile
from collections.abc import Iterable
from types import ModuleType

import networkx
import numpy
import numpy.linalg
import numpy.ma
import sympy
import torch
import torch.distributions
import torch.nn.utils.rnn
import torch.optim
import torch.utils.data

_MODULES: tuple[ModuleType, ...] = (
    *(argparse, array, asyncio, builtins, collections, concurrent.futures, configparser, contextvars, ctypes, datetime),
    *(decimal, enum, fractions, functools, http.client, io, ipaddress, logging, logging.handlers, mmap),
    *(
        multiprocessing.pool,
        multiprocessing.queues,
        multiprocessing.shared_memory,
        optparse,
        pathlib,
        queue,
        random,
        re,
        shelve,
        socket,
    ),
    *(sqlite3, string, struct, subprocess, tarfile, tempfile, threading, types, unittest, unittest.mock, urllib.request, uuid),
    *(weakref, xml.dom.minidom, xml.etree.ElementTree, zipfile, networkx, torch.distributions, torch.utils.data),
    *(torch.optim, torch.optim.lr_scheduler),
)
"""The public classes of these modules are other types."""

_CLASSES: tuple[type, ...] = (
    *(numpy.ndarray, numpy.float64, numpy.int64, numpy.bool_, numpy.str_, numpy.dtype, numpy.ma.MaskedArray, numpy.poly1d),
    *(numpy.random.Generator, numpy.random.RandomState, sympy.Symbol),
    *(torch.Size, torch.device, torch.dtype, torch.Generator, torch.UntypedStorage, torch.storage.TypedStorage),
    *(torch.cuda.Event, torch.cuda.Stream, torch.nn.utils.rnn.PackedSequence, re.Pattern, re.Match, types.SimpleNamespace),
)
"""Further types, of modules whose other classes do not matter."""

_NAMESPACES: tuple[ModuleType, ...] = (math, cmath, operator, statistics, numpy, numpy.linalg)
"""Modules that stand for their functions: `xp.exp(x)` says nothing about xp."""

_LIBRARIES: dict[str, str] = {
    "pandas": """abs add ceil cov cummax cummin diff div divide eq floor ge gt index indices le lt median mode mul multiply
        name ne pow quantile select split sub subtract unique values where""",
    "PIL": "histogram mode split",
    "xarray": "chunk diff median name quantile roll values where",
    "polars": """abs add arccos arccosh arcsin arcsinh arctan arctanh bitwise_and bitwise_or bitwise_xor ceil clone cos cosh
        diff eq erf erfc exp floor gather ge gt le log log10 log1p lt median mode mul name ne neg pow quantile scatter
        select sign sin sinh sqrt sub tan tanh unique""",
    "scipy.sparse": """arcsin arcsinh arctan arctanh ceil count_nonzero deg2rad expm1 floor log1p maximum minimum multiply
        rad2deg sign sin sinh sqrt tan tanh trunc values""",
    "scipy.special, scipy.signal": "digamma erf erfc erfinv expm1 logit logsumexp polygamma softmax log_softmax stft istft",
    "jax": "clone device",
    "tensorflow": "cpu device index name numpy where gather scatter softmax sigmoid relu cumsum matmul",
    "mxnet": """abs argmax argmin argsort broadcast_to ceil clip cos cosh diag exp expm1 fix flatten flip floor grad log
        log10 log1p log2 log_softmax mean nansum norm prod reciprocal relu repeat reshape round rsqrt shape sigmoid sign sin
        sinh size softmax sort split sqrt square squeeze sum take tan tanh tile tolist topk transpose trunc""",
    "SQL and data frames in general": "all any select where values index name storage expand split type view",
}
"""Tensor attributes that objects of other libraries have too: of pandas 3.1, Pillow 13, xarray 2026.9, polars 2.1, scipy 1.17
and jax 0.10 by taking `dir` of their types; of tensorflow and mxnet unchecked."""

_HABITS: dict[str, str] = {
    "modules keep layers and functions under these names: `resnet.relu(x)`, `self.encoder.norm`": """relu relu_ sigmoid tanh
        softmax log_softmax prelu hardshrink norm square logit stft istft unfold multinomial bernoulli cross dist inner
        outer positive""",
    "settings: `args.dim`, `config.layout`, `conv.stride`": """dim layout pin_memory name type device storage is_distributed
        volatile stride index renorm is_nested is_quantized is_meta is_neg is_conj is_inference frac qscheme sparse_dim
        dense_dim""",
    "coordinates, units, characters and matrices": """H T t mT mH char byte short bool int double half new lu qr svd eig
        lstsq solve mm mv lerp row_indices col_indices map_ set_ logdet""",
    "inverse of scalers and flows, quantizers, event handlers": "inverse dequantize unbind to_dense to_sparse",
    "processes and messages: `comm.gather`, `comm.scatter`": "gather scatter equal",
    "tree nodes: `node.is_leaf`": "is_leaf",
    "hooks: `manager.register_hook`": "register_hook",
    "graphs: `node.is_nonzero`, `lookup.coalesce`": "coalesce is_coalesced is_shared is_set_to positive negative conj",
    "policy gradients: `agent.reinforce()`": "reinforce",
}
"""Tensor attributes that programs use for things of their own."""

_KEPT: dict[str, str] = {
    "detach": "files, sockets and finalizers have it; a training program hardly ever calls it on one",
    "backward": "mxnet and accelerators have it; those take the loss as an argument",
    "is_cuda": "packed sequences and storages have it; they are rare",
    "clamp": "decimal contexts have it",
    "contiguous": "memory views have it",
    "numel": "sizes have it; `shape.numel()` is read off a tensor's own shape",
    "fill_": "storages have it",
    "copy_": "storages have it",
    "grad": "mxnet arrays have it",
    "requires_grad": "only modules that define it have it",
}
"""Names that count as evidence although something else has them."""

_MODULE_HABITS: dict[str, str] = {
    "optimizers, schedulers, scalers and checkpoints": """state_dict load_state_dict zero_grad compile type to cpu cuda
        float half double""",
    "data frames, sessions, expressions": "eval apply",
    "trainers, estimators and models of other libraries": """train training forward parameters modules children buffers
        dump_patches extra_repr T_destination call_super_init share_memory""",
    "tensors": "requires_grad_ bfloat16 ipu mtia xpu",
    "registries": "register_module add_module get_extra_state set_extra_state",
}
"""Module attributes that other things have too."""


def _words(groups: dict[str, str]) -> frozenset[str]:
    return frozenset(" ".join(groups.values()).split())


def _public_classes(modules: Iterable[ModuleType]) -> list[type]:
    return [
        member
        for module in modules
        for name, member in vars(module).items()
        if isinstance(member, type) and not name.startswith("_") and not issubclass(member, (torch.Tensor, torch.nn.Module))
    ]


def _names(things: Iterable[object]) -> frozenset[str]:
    return frozenset(name for thing in things for name in dir(thing))


def tensor_only(attributes: frozenset[str]) -> frozenset[str]:
    """Of the attributes of a tensor, those that hardly anything else has."""
    others = _names([*_CLASSES, *_public_classes(_MODULES), *_NAMESPACES, torch.nn.Module()])
    return (attributes - others - _words(_LIBRARIES) - _words(_HABITS)) | frozenset(_KEPT)


def module_only(attributes: frozenset[str]) -> frozenset[str]:
    """Of the attributes of a module, those that hardly anything else has."""
    others = _names([*_CLASSES, *_public_classes(_MODULES), torch.Tensor])
    return attributes - others - _words(_LIBRARIES) - _words(_MODULE_HABITS)


def optimizer_only() -> frozenset[str]:
    """Of the attributes of an optimizer, those that hardly anything else has."""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)
    others = _names([*_CLASSES, torch.Tensor, torch.nn.Module()]) | {"state", "step", "defaults", "profile_hook_step"}
    own = {name for name in dir(optimizer) if not name.startswith(("_", "Optimizer"))}
    return frozenset(own - others - _words(_MODULE_HABITS))
