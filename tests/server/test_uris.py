from __future__ import annotations

from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tile_lsp.model.stage import Stage
from tile_lsp.server.uris import Address, from_path, from_tile_uri, to_path, to_tile_uri

PATHS = ["/a/b.py", "/a b/é.py", "/50%/x#y?z.py", "/a%20b.py", "/ünï/😋.py", "/a\\b.py", "/a\udcff.py"]


@pytest.mark.parametrize("path", PATHS)
def test_paths_round_trip(path):
    assert to_path(from_path(path)) == path


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a%20b/%C3%A9.py", "/a b/é.py"),
        ("file:///a/b.py#L3", "/a/b.py"),
        ("file://localhost/a.py", "/a.py"),
        ("FILE:///a.py", "/a.py"),
        ("file:/a.py", "/a.py"),
        ("untitled:Untitled-1", None),
        ("git:/a/b.py?%7B%7D", None),
        ("vscode-notebook-cell:/a.ipynb#W0", None),
        ("tile:/sass/x.sass?abc", None),
        ("file:///a%00b.py", None),
        ("nonsense", None),
        ("", None),
    ],
)
def test_paths_of_uris(uri, path):
    assert to_path(uri) == path


ADDRESSES = [Address(path, "k", Stage.SASS) for path in PATHS] + [
    Address("/a.py", "make.<locals>.kernel", Stage.TYPED),
    Address("/a.py", "Ops.größe", Stage.TILEIR, "some-Token_1"),
]


@pytest.mark.parametrize("address", ADDRESSES)
def test_documents_round_trip(address):
    assert from_tile_uri(to_tile_uri(address)) == address


@pytest.mark.parametrize("address", ADDRESSES)
def test_documents_survive_clients_that_recode_the_uri(address):
    """VS Code decodes a URI's parts and encodes them again in its own way."""
    scheme, _, rest = to_tile_uri(address).partition(":")
    path, _, query = rest.partition("?")
    recoded = f"{scheme}:{quote(unquote(path), safe='/')}?{quote(unquote(query), safe='')}"
    assert from_tile_uri(recoded) == address


@pytest.mark.parametrize(
    "uri", ["tile:", "tile:/sass/k.sass", "tile:/x?AAAA", "tile:/x?é", "tile:/x?a", "file:///a.py"]
)
def test_no_document(uri):
    assert from_tile_uri(uri) is None


def test_a_document_is_named_after_its_kernel():
    assert to_tile_uri(Address("/a.py", "Ops.scale", Stage.SASS)).startswith("tile:/sass/scale.nvsass?")


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1).map(lambda name: f"/{name}"))
def test_any_path(path):
    assert to_path(from_path(path)) == path
    address = Address(path, "k", Stage.PTX)
    assert from_tile_uri(to_tile_uri(address)) == address
