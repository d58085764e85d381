"""How a file uses the APIs of torch and its libraries: by which names, for which version, with which arguments."""
