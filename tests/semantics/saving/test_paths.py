"""How paths of files are written out, and by what name a file is known."""

from __future__ import annotations

import ast

import pytest

from marked import marked
from torchlint.semantics.saving.paths import Paths


def paths_of(body: str) -> tuple[Paths, ast.expr]:
    """The paths of a function with this body, and its one marked path."""
    semantics, (node,) = marked(f"import os\nfrom pathlib import Path\ndef f(args, name, fold):\n    {body}")
    assert isinstance(node, ast.expr)
    return semantics.of(Paths), node


@pytest.mark.parametrize(
    ("body", "spelled"),
    [
        ("open(«'a/b.pt'»)", "a/b.pt"),
        ("open(«args.out + '/b.pt'»)", "{args.out}/b.pt"),
        ("open(«os.path.join(args.out, 'b.pt')»)", "{args.out}/b.pt"),
        ("open(«os.path.join(args.out + '/', 'b.pt')»)", "{args.out}/b.pt"),
        ("open(«Path(args.out) / 'b.pt'»)", "{args.out}/b.pt"),
        ("open(«str(Path(args.out).joinpath('b.pt'))»)", "{args.out}/b.pt"),
        ("open(«f'{args.out}/b_{fold}.pt'»)", "{args.out}/b_{fold}.pt"),
        ("open(«f'{args.out}/b_{fold:02d}.pt'»)", "{args.out}/b_{fold}.pt"),
        ("open(«'%s/b_%02d.pt' % (args.out, fold)»)", "{args.out}/b_{fold}.pt"),
        ("open(«'{}/b_{}.pt'.format(args.out, fold)»)", "{args.out}/b_{fold}.pt"),
        ("open(«'{1}/{0}.pt'.format(fold, name)»)", "{*}/{*}.pt"),
        ("open(«'{a}.pt'.format(a=fold)»)", "{'(a).pt'.format(a=fold)}"),
        ("open(«'%s_%s.pt' % name»)", "{*}_{*}.pt"),
        ("p = args.out + '/b.pt'; open(«p»)", "{args.out}/b.pt"),
        ("open(«name»)", "{name}"),
        ("with open(args.out + '/b.pt', 'rb') as file: read(«file»)", "{args.out}/b.pt"),
        ("with open(args.out + '/b.pt', 'rb') as file: file = name; read(«file»)", "{name}"),
        ("with connect('b.pt') as file: read(«file»)", "{file}"),
        ("open = connect\n    with open('b.pt') as file: read(«file»)", "{file}"),
        ("open(«resolve('models/b.pt')»)", "{resolve}/models/b.pt"),
        ("open(«', '.join(name)»)", "{', '.join}/{name}"),
        ("open(«{'a': name}['a']»)", "{('a': name)['a']}"),
        ("open(«'https://host/b.pt'»)", "https://host/b.pt"),
        # what is stored in an attribute above, in the same block
        ("args.p = 'a.pt'; open(«args.p»)", "a.pt"),
        ("args.p = 'a.pt'; args.p = 'b.pt'; open(«args.p»)", "b.pt"),
        ("open(«args.p»); args.p = 'a.pt'", "{args.p}"),
        ("if fold: args.p = 'a.pt'\n    open(«args.p»)", "{args.p}"),
        ("args.q = 'a.pt'; open(«args.p»)", "{args.p}"),
    ],
)
def test_spells_out_what_a_path_is_made_of(body: str, spelled: str) -> None:
    paths, path = paths_of(body)
    assert paths.spelled(path) == spelled
