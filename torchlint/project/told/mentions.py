"""What the other files of a project do with a name of a file: all of them are looked at, or it is not known."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from torchlint.project.importers import ABOVE, ANEW, BY_NAME, SKIPPED, UNREAD, WITHIN, ways_in
from torchlint.project.programs import code_of
from torchlint.text.headroom import recursion_headroom
from torchlint.text.reading import NOTEBOOK

if TYPE_CHECKING:
    import ast

    from torchlint.project.callers import Callers
    from torchlint.project.trees import Trees

USED, MAY_USE = "@", "?"
"""What an answer starts with that is the path of a file which uses what was asked for, or may."""
_MOST_REACHING = 200
"""Where more files import a file, or what imports it, nobody looks at all of them."""
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class Mentions:
    """Looks for the files of a project that may get at a file, and at what they do with a name of it."""

    def __init__(self, callers: Callers, trees: Trees) -> None:
        self._callers = callers
        self._trees = trees
        self._reaching: dict[tuple[str, str], tuple[str, ...] | str] = {}
        self._found: dict[tuple[str, str, str], str] = {}
        self._words: dict[str, dict[str, list[str]]] = {}

    def look_again(self) -> None:
        """Has everything that may have changed be looked at when it is asked for again."""
        self._reaching.clear()
        self._found.clear()
        self._words.clear()

    def of(self, name: str, file: str, root: str) -> str:
        """Why it is not certain that no other file uses what is called ``name`` in ``file``; empty where that is certain.

        Without a name, the question is whether another file imports it, or a package that it is in, at all; with `ANEW` in
        front of the name, objects of a class that it is must not be made of others of that class either.
        """
        key = (root, file, name)
        if key not in self._found:
            self._found[key] = self._look_for(name, file, root)
        return self._found[key]

    def _look_for(self, name: str, file: str, root: str) -> str:
        reaching = self._files(file, root)
        if isinstance(reaching, str):
            return reaching
        if not name:
            return USED + _below(reaching[0], root) if reaching else ""
        is_class, name = name.startswith(ANEW), name.removeprefix(ANEW)
        if is_class and (anew := self._importing(root).get(ANEW)):
            return USED + _below(anew[0], root)
        stems = frozenset(stem for each in (file, *reaching) for stem in _stems(each, root))
        word = name.encode("utf-8", "surrogatepass")
        spelled = re.compile(rb"(?<!\w)" + re.escape(word) + rb"(?!\w)")
        if any(self._is_in_magic(each, spelled) for each in (file, *reaching)):
            return "a cell of a notebook may use it in a command"
        doubt = ""
        for each in reaching:
            text = self._callers.text(each, b"")
            if (spelled.search(text) or _imports_any(text, stems)) and self._may_use(text, name, stems):
                if self._does_use(text, name, _below(file, root), _below(each, root)):
                    return USED + _below(each, root)
                doubt = doubt or MAY_USE + _below(each, root)
        return doubt

    def _is_in_magic(self, file: str, spelled: re.Pattern[bytes]) -> bool:
        """Whether a notebook has something in its code for which the Python in it has a stand-in: ``%timeit epoch(model)``."""
        if not file.endswith(NOTEBOOK):
            return False
        return len(spelled.findall(self._callers.code(file))) != len(spelled.findall(self._callers.text(file, b"")))

    def _may_use(self, text: bytes, name: str, stems: frozenset[str]) -> bool:
        from torchlint.project.told.mentioning import may_use

        return self._told(text, lambda tree: may_use(tree, name, stems), otherwise=True)

    def _does_use(self, text: bytes, name: str, file: str, user: str) -> bool:
        from torchlint.project.told.mentioning import does_use

        return self._told(text, lambda tree: does_use(tree, name, file, user), otherwise=False)

    def _told(self, text: bytes, question: Callable[[ast.Module], bool], *, otherwise: bool) -> bool:
        """What a tree answers, and the answer where a text has none, or too deep a one."""
        try:
            with recursion_headroom():
                return question(self._trees.of(text))
        except _UNREADABLE:
            return otherwise

    def _files(self, file: str, root: str) -> tuple[str, ...] | str:
        """The other files that import a file, a package that it is in, or what imports one of these; or why it is not known."""
        key = (root, file)
        if key not in self._reaching:
            self._reaching[key] = self._look_for_files(file, root)
        return self._reaching[key]

    def _look_for_files(self, file: str, root: str) -> tuple[str, ...] | str:
        below = os.path.relpath(file, root).split(os.sep)
        if any(part in SKIPPED or part.startswith(".") for part in below):
            return "it is in a folder that is not looked through"
        importers = self._callers.importers(root)
        if importers.unseen:
            return f"`{importers.unseen[0]}` is not looked through"
        importing = self._importing(root)
        for sign, doubt in ((BY_NAME, "may import others by name"), (UNREAD, "cannot be read")):
            if importing.get(sign):
                return f"`{_below(importing[sign][0], root)}` {doubt}"
        found = dict.fromkeys(importing.get(ABOVE, ()))
        words = dict.fromkeys(_stems(file, root))
        pending = [*words, *(stem for each in found for stem in _stems(each, root))]
        words.update(dict.fromkeys(pending))
        while pending:
            word = pending.pop()
            for each in (*importing.get(word, ()), *importing.get(WITHIN + word, ())):
                if each not in found:
                    found[each] = None
                    new = [stem for stem in _stems(each, root) if stem not in words]
                    words.update(dict.fromkeys(new))
                    pending += new
            if len(found) > _MOST_REACHING:
                return "too many files import it, or what does"
        return tuple(sorted(each for each in found if each != file))

    def _importing(self, root: str) -> dict[str, list[str]]:
        """The files that import something, by the words in their imports, those of texts that stand in for files among them."""
        if root not in self._words:
            found = self._words[root] = dict(self._callers.importers(root).by_every_word())
            for path, text in self._callers.texts.items():
                if path.startswith(os.path.join(root, "")):
                    for word in ways_in(code_of(path, text)):
                        found[word] = [*found.get(word, ()), path]
        return self._words[root]


def _below(path: str, root: str) -> str:
    return os.path.relpath(path, root).replace(os.sep, "/")


def _imports_any(text: bytes, stems: frozenset[str]) -> bool:
    """Whether the imports of a text, those within lines among them, have one of some words."""
    return any(word.removeprefix(WITHIN) in stems for word in ways_in(text))


def _stems(file: str, root: str) -> Iterator[str]:
    """What a file, and each package that it is in, are called by those that import them."""
    stem, ending = os.path.splitext(os.path.basename(file))
    if stem != "__init__" and ending == ".py":
        yield stem
    folder = os.path.dirname(file)
    while len(folder) > len(root):
        yield os.path.basename(folder)
        folder = os.path.dirname(folder)
    if os.path.isfile(os.path.join(root, "__init__.py")):
        yield os.path.basename(root)
