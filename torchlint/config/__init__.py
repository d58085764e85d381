"""What can be set, where it is found, and which files a run is about.

The command and the language server enter here, at `files` and `discovery`. Nothing here knows of the engine.
"""
