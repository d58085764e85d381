"""Where attributes of a name are read, of anything that may be the object in question."""

from __future__ import annotations

import re
from collections.abc import Callable


def reading(name: str) -> re.Pattern[bytes]:
    """Where an attribute is read, of anything but torch and its functions, or named by a string."""
    said = re.escape(name.encode("utf-8", "surrogatepass"))
    return re.compile(
        rb"(?<!\btorch)(?<!\bF)(?<!\bnn)(?<!\bfunctional)\.\s{0,20}" + said + rb"\b(?!\s{0,20}=[^=])|[\"']" + said + rb"[\"']"
    )


def moving_on(name: str) -> re.Pattern[bytes]:
    """Where a schedule is asked of an object that is not the own one, and of no options, for more than its state."""
    said = re.escape(name.encode("utf-8", "surrogatepass"))
    return re.compile(
        rb"(?<!\bself)(?<!\boptim)(?<!\bargs)(?<!\bopt)(?<!\bopts)(?<!\bcfg)(?<!\bconfig)(?<!\bhparams)(?<!\bparams)\."
        + said
        + rb"\b(?!\s{0,20}=[^=]|\.(?:state_dict|load_state_dict|get_last_lr|get_lr|last_epoch|optimizer|base_lrs)\b)"
    )


def storing(name: str) -> Callable[[bytes], bool]:
    """Where an attribute is given something, or an item of it is, of anything but ``self``; or by its name.

    Names of classes behind it, each behind a bar, ask for a file that defines one of them, and there for ``self`` as well.
    """
    stores, defines = storing_patterns(name)
    return lambda text: (defines is None or defines.search(text) is not None) and stores.search(text) is not None


def storing_patterns(name: str) -> tuple[re.Pattern[bytes], re.Pattern[bytes] | None]:
    """What `storing` looks for: the stores, and the definition of one of the classes."""
    attribute, *classes = (re.escape(each.encode("utf-8", "surrogatepass")) for each in name.split("|"))
    stores = re.compile(
        (rb"\." if classes else rb"(?<!\bself)\.")
        + attribute
        + rb"(?:\[[^\]\n]{0,80}\])?[ \t]{0,20}(?::[^=\n]{1,60})?=(?!=)"
        + rb"|(?:setattr|set_submodule|add_module|register_module)\([^)\n]{0,80}[\"'](?:[\w.]{0,60}\.)?"
        + attribute
        + rb"[\"']"
    )
    return stores, re.compile(rb"\bclass[ \t]{1,9}(?:" + b"|".join(classes) + rb")\b") if classes else None


PATCHING = re.compile(
    rb"\bModule(?:List|Dict)\.(?:forward|__call__)[ \t]{0,9}=(?!=)|setattr\([\w.]{0,60}\bModule(?:List|Dict)[ \t]{0,9},"
)
"""Where torch's containers are given a method that runs them."""
