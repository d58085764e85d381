"""One file's text: decoding it, its tree, its comments, a notebook's cells, code for a newer Python, and writing it back.

Everybody may enter, at `source` and `notebook` first of all. Nothing here knows of semantics, rules or the engine.
"""
