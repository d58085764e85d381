"""What the Python that runs says wrongly of a text, or cannot read: positions in f-strings, syntax of a newer Python.

`torchlint.text.source` enters here, for texts that need it, and nobody else.
"""
