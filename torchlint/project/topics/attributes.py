"""Where attributes of a name are read, of anything that may be the object in question."""

from __future__ import annotations

import re


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
