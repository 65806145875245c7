"""Named data: embedded, local, downloaded. A web server on this machine stands in for the network."""

from __future__ import annotations

import hashlib
import lzma
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pandas as pd
import pyreadr
import pytest
from pandas.testing import assert_frame_equal

from linkrisk.datasets.errors import DataError
from linkrisk.datasets.masking.microaggregation import Microaggregation
from linkrisk.datasets.microdata.formats.registry import read_table
from linkrisk.datasets.public import registry
from linkrisk.datasets.public.embedded import GROUPS, default_pair, load_wdbc
from linkrisk.datasets.public.sources import SOURCES, Layout, Source

FOLDER = os.environ.get("LINKRISK_DATA")


class Server:
    """A web server that answers with the bytes set for a path, sound or not."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes] = {}
        self.cut_off: set[str] = set()
        self.requests: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.requests.append(self.path)
                content = server.answers.get(self.path)
                if content is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                cut = self.path in server.cut_off
                self.wfile.write(content[: len(content) // 2] if cut else content)

            def log_message(self, *_: object) -> None:
                return None

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_address[1]}"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.01})
        self.thread.start()

    def close(self) -> None:
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("LINKRISK_CACHE", str(folder))
    monkeypatch.delenv("LINKRISK_DATA", raising=False)
    for proxy in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    return folder


@pytest.fixture
def publish(server: Server, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Source]:
    """Put content on the server and make it the source of a named data set."""

    def _publish(name: str, content: bytes, **changes: object) -> Source:
        path = f"/{SOURCES[name].address.rsplit('/', 1)[-1]}"
        server.answers[path] = content
        source = replace(
            SOURCES[name],
            **{"address": server.address + path, "sha256": hashlib.sha256(content).hexdigest()} | changes,
        )
        monkeypatch.setattr(registry, "SOURCES", {**SOURCES, name: source})
        return source

    return _publish


def _raw(frame: pd.DataFrame, source: Source, tmp_path: Path, *, blanks: str = "") -> bytes:
    """Write a table in the layout in which its source publishes it."""
    if source.layout is Layout.R_OBJECT:
        path = tmp_path / "object.rda"
        plain = {
            name: column
            if pd.api.types.is_numeric_dtype(column.dtype)
            else pd.Categorical(column.astype(object))
            for name, column in frame.items()
        }
        pyreadr.write_rdata(path, pd.DataFrame(plain), df_name="object")
        return lzma.compress(path.read_bytes())
    separator = " " if source.layout is Layout.SPACES else ","
    header = source.layout is Layout.COMMA_WITH_HEADER
    text = frame.to_csv(index=False, header=header, sep=separator, na_rep="?", lineterminator="\n")
    return text.replace(",", f",{blanks}").encode()


FIRST_ROWS = {
    name: pd.DataFrame(rows, columns=pd.Index(SOURCES[name].columns))
    for name, rows in {
        "census": [[270914, 45554, 4173, 4621, 45527, 1428, 30809, 27, 27, 45500, 3480, 45500, 45500]] * 2,
        "boston-housing": [
            [0.00632, 18.0, 2.31, 0, 0.538, 6.575, 65.2, 4.09, 1, 296.0, 15.3, 396.9, 4.98, 24.0]
        ],
        "adult": [
            [39, "State-gov", 77516, "Bachelors", 13, "Never-married", np.nan, "Husband", "White", "Male",
             2174, 0, 40, "United-States", "<=50K"],
        ],
        "dermatology": [[*range(33), 55, 2], [*range(33), np.nan, 1]],
    }.items()
}  # fmt: skip
"""One or two records of a data set of each layout, as published."""


def _as_read(frame: pd.DataFrame, tmp_path: Path) -> pd.DataFrame:
    path = tmp_path / "local.csv"
    frame.to_csv(path, index=False)
    return read_table(path)


@pytest.mark.parametrize("name", FIRST_ROWS)
def test_raw_layouts_read_as_the_local_csv_would(name, publish, tmp_path):
    blanks = " " if name == "adult" else ""  # the published file has a blank after every comma
    publish(name, _raw(FIRST_ROWS[name], SOURCES[name], tmp_path, blanks=blanks))
    assert_frame_equal(registry.load(name), _as_read(FIRST_ROWS[name], tmp_path))


@pytest.mark.skipif(not FOLDER, reason="needs public data: set LINKRISK_DATA to its folder")
@pytest.mark.parametrize("name", SOURCES)
def test_download_and_local_folder_give_the_same_table(name, publish, tmp_path, monkeypatch):
    frame = read_table(Path(str(FOLDER)) / SOURCES[name].local_file)
    publish(name, _raw(frame, SOURCES[name], tmp_path))
    downloaded = registry.load(name)
    monkeypatch.setenv("LINKRISK_DATA", str(FOLDER))
    local = registry.load(name)
    assert_frame_equal(downloaded, local)
    description = registry.describe(name)
    assert local.shape == (description.rows, len(description.columns))
    assert tuple(local.columns) == description.columns
    assert description.comes_from == f"local file {FOLDER}/{SOURCES[name].local_file}"


def test_second_load_reads_the_cache(publish: Callable[..., Source], server: Server, cache: Path) -> None:
    source = publish("abalone", b"M,0.455,0.365,0.095,0.514,0.2245,0.101,0.15,15\n" * 3)
    assert registry.describe("abalone").comes_from == "download"
    assert len(registry.load("abalone")) == 3
    server.answers.clear()
    assert len(registry.load("abalone")) == 3
    assert server.requests == ["/abalone.csv"]
    assert [path.name for path in cache.iterdir()] == ["abalone-abalone.csv"]
    assert registry.fetch("abalone") == cache / "abalone-abalone.csv"
    assert registry.describe("abalone").comes_from == f"cache {cache}/abalone-abalone.csv"
    assert registry.describe("abalone").address == source.address


def _failure(name: str, cache: Path) -> str:
    with pytest.raises(DataError) as caught:
        registry.load(name)
    assert not cache.is_dir() or list(cache.iterdir()) == []
    assert "\n" not in str(caught.value)
    return str(caught.value)


WAY_OUT = "try again later or put uci_abalone.csv into the folder named by LINKRISK_DATA"


def test_what_cannot_be_downloaded(publish: Callable[..., Source], server: Server, cache: Path) -> None:
    content = b"M,0.455,0.365,0.095,0.514,0.2245,0.101,0.15,15\n" * 1000
    source = publish("abalone", content, sha256="0" * 64)
    assert _failure("abalone", cache) == (
        f"abalone: the file at {source.address} is not the expected one (its sha256 differs); {WAY_OUT}"
    )
    publish("abalone", content)
    server.cut_off.add("/abalone.csv")
    assert _failure("abalone", cache) == f"abalone: the download from {source.address} broke off; {WAY_OUT}"
    server.answers.clear()
    assert _failure("abalone", cache) == (f"abalone: the server answered 404 for {source.address}; {WAY_OUT}")
    server.http.socket.close()  # the port is free now, and nobody listens
    assert _failure("abalone", cache) == f"abalone: no connection to {source.address}; {WAY_OUT}"


def test_cache_that_cannot_be_written(publish, tmp_path, monkeypatch):
    publish("abalone", b"M,1\n")
    (tmp_path / "plain").write_text("a file where a folder is needed")
    monkeypatch.setenv("LINKRISK_CACHE", str(tmp_path / "plain" / "cache"))
    with pytest.raises(DataError) as caught:
        registry.load("abalone")
    assert str(caught.value) == (
        f"abalone: the cache folder {tmp_path}/plain/cache cannot be used (not a directory); "
        "name another folder in LINKRISK_CACHE"
    )


def test_content_of_another_shape(publish: Callable[..., Source], cache: Path) -> None:
    publish("abalone", b"M,1\n")
    with pytest.raises(DataError) as caught:
        registry.load("abalone")
    assert str(caught.value) == (
        f"abalone: {cache}/abalone-abalone.csv has 2 columns instead of 9; delete it and fetch it again"
    )
    publish("census", b"no R object")
    with pytest.raises(DataError) as caught:
        registry.load("census")
    assert str(caught.value).startswith(
        f"census: {cache}/census-CASCrefmicrodata.rda is not a readable R file ("
    )


def test_local_file_without_a_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINKRISK_DATA", str(tmp_path / "no"))
    with pytest.raises(DataError, match=r"LINKRISK_DATA names .*/no, which is not a folder; correct"):
        registry.load("abalone")
    monkeypatch.setenv("LINKRISK_DATA", str(tmp_path))
    (tmp_path / "uci_abalone.csv").write_text("Sex,Length\nM,0.4\n")
    with pytest.raises(DataError) as caught:
        registry.load("abalone")
    assert str(caught.value) == (
        f"abalone: {tmp_path}/uci_abalone.csv does not have the columns Diameter, Height, Whole_weight, "
        "Shucked_weight, Viscera_weight, Shell_weight, Rings; replace or remove the file"
    )


@pytest.mark.parametrize("act", [registry.load, registry.fetch, registry.describe])
def test_unknown_name(act: Callable[[str], object]) -> None:
    with pytest.raises(DataError) as caught:
        act("cencus")
    assert str(caught.value) == "there is no data set named 'cencus'; did you mean 'census'?"


def test_download_shows_progress_on_a_terminal(publish, capfd, monkeypatch):
    publish("abalone", b"M,0.455,0.365,0.095,0.514,0.2245,0.101,0.15,15\n" * 3)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    registry.load("abalone")
    assert "downloading abalone" in capfd.readouterr().err


@pytest.mark.parametrize("name", ["wdbc", "iris"])
def test_embedded_data(name: str) -> None:
    frame = registry.load(name)
    description = registry.describe(name)
    assert (len(frame), tuple(frame.columns)) == (description.rows, description.columns)
    assert description.comes_from == "linkrisk"
    assert description.address is None
    assert registry.fetch(name).is_file()


def test_embedded_data_to_the_digit() -> None:
    """What scikit-learn carries, whose files are UCI's and Fisher's."""
    carried = pytest.importorskip("sklearn.datasets")
    wdbc, iris = carried.load_breast_cancer(), carried.load_iris()
    ours, lengths = registry.load("wdbc"), registry.load("iris")
    assert np.array_equal(ours.iloc[:, 1:].to_numpy(), wdbc.data)
    assert ours["diagnosis"].tolist() == [
        {"malignant": "M", "benign": "B"}[wdbc.target_names[one]] for one in wdbc.target
    ]
    assert np.array_equal(lengths.iloc[:, :4].to_numpy(), iris.data)
    assert lengths["class"].tolist() == [f"Iris-{iris.target_names[one]}" for one in iris.target]


@pytest.mark.skipif(not FOLDER, reason="needs public data: set LINKRISK_DATA to its folder")
def test_embedded_data_against_the_files_of_uci() -> None:
    folder = Path(str(FOLDER))
    wdbc = read_table(folder / "uci_wdbc.csv").drop(columns="id")
    assert_frame_equal(registry.load("wdbc"), wdbc, check_dtype=False)
    iris, uci = registry.load("iris"), read_table(folder / "uci_iris.csv")
    differs = (iris != uci).any(axis=1)
    # Rows 35 and 38 are the known errors of the UCI file; ours has the values of Fisher (1936).
    assert (np.flatnonzero(differs) + 1).tolist() == [35, 38]
    assert iris.iloc[[34, 37], :4].to_numpy().tolist() == [[4.9, 3.1, 1.5, 0.2], [4.9, 3.6, 1.4, 0.1]]


# The default pair: real records, four attributes, two groups, the same on every machine


def test_default_pair_is_what_its_page_says() -> None:
    pair = default_pair()
    assert pair.attributes == ("radius_mean", "texture_mean", "smoothness_mean", "symmetry_mean")
    assert pair.partner.tolist() == list(range(400))
    assert pair.name == "wdbc, first 400 records, microaggregated"
    source = load_wdbc().loc[:399, list(pair.attributes)]
    assert (pair.original_values == source.to_numpy()).all()
    assert (pair.masked_values == Microaggregation(groups=GROUPS).apply(source).to_numpy()).all()


def test_attributes_have_many_values_and_do_not_repeat_each_other() -> None:
    values = default_pair().original_values
    assert min(len(np.unique(column)) for column in values.T) > 300
    correlation = np.abs(np.corrcoef(values.T)) - np.eye(4)
    assert correlation.max() < 0.6
