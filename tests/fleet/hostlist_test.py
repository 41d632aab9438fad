"""Names of nodes are expanded and folded as Slurm does, and Gres gives the number of GPUs."""

import re

import pytest
from ridgebench.base.command_line import CommandError
from ridgebench.fleet.jobs.hostlist import expand, folded, from_file, from_sinfo, gpus_of_gres
from ridgebench.fleet.manifest import Node


@pytest.mark.parametrize(
    ("text", "names"),
    [("gn1", ["gn1"]), ("gn[1-3,7]", ["gn1", "gn2", "gn3", "gn7"]), ("r[1-2]n[08-10]", ["r1n08", "r1n09", "r1n10", "r2n08", "r2n09", "r2n10"]),
     ("gn[5]-ib", ["gn5-ib"]), ("a.b-c_d", ["a.b-c_d"])],
)  # fmt: skip
def test_ranges(text, names):
    assert expand(text) == names


@pytest.mark.parametrize("text", ["gn[3-1]", "gn[]", "gn[a-b]", "gn[1", "gn1]", "../gn1", "gn1;reboot", "", "gn[1-999999999]", "gn[1--3]", "-n", "gn ü", "gn[1-9][1-9][1-9][1-9][1-9][1-9]"])
def test_what_is_no_name_is_refused(text):
    with pytest.raises(CommandError):
        expand(text)


@pytest.mark.parametrize(
    ("names", "text"),
    [(["gn1"], "gn1"), (["gn3", "gn1", "gn2"], "gn[1-3]"), (["gn1", "gn3"], "gn[1,3]"), (["gn9", "gn10", "gn11"], "gn[9-11]"),
     (["n08", "n09", "n10"], "n[08-10]"), (["n1", "n01", "n2"], "n[1,01,2]"), (["login", "gn1"], "gn1,login"), ([], "")],
)  # fmt: skip
def test_folding(names, text):
    assert folded(names) == text
    parts = re.findall(r"[^,[]+(?:\[[^]]*\])?", text)
    assert sorted(name for part in parts for name in expand(part)) == sorted(names)


@pytest.mark.parametrize(
    ("gres", "count"),
    [("gpu:8", 8), ("gpu:h100:8", 8), ("gpu:h100:8(S:0-1)", 8), ("gpu:a100:4(S:0),gpu:h100:2(S:1)", 6), ("(null)", 0), ("nic:4", 0),
     ("nic:4,gpu:h100:no_consume:8", 8), ("shard:64", 0), ("gpu", 0)],
)  # fmt: skip
def test_gpus_of_gres(gres, count):
    assert gpus_of_gres(gres) == count


def test_sinfo():
    """A node comes once for each partition; a star says that it does not answer."""
    text = "gn1|idle|gpu:h100:8\ngn1|idle|gpu:h100:8\ngn2|drained|gpu:h100:8\ngn3|down*|gpu:4\nlogin1|idle|(null)\ngn4|mixed|gpu:8\n"
    nodes = from_sinfo(text, None)
    assert nodes == [Node("gn1", 8), Node("gn2", 8, "drained"), Node("gn3", 4, "down*"), Node("gn4", 8)]
    assert [node.gpus for node in from_sinfo(text, 2)] == [2] * 5
    with pytest.raises(CommandError, match="names no node with GPUs"):
        from_sinfo("login1|idle|(null)\n", None)


def test_a_file_of_nodes(tmp_path):
    path = tmp_path / "nodes"
    path.write_text("# rack 1\ngn[1-2] 4\n\ngn3   # default\n")
    assert from_file(path, 8) == [Node("gn1", 4), Node("gn2", 4), Node("gn3", 8)]
    for text in ("gn1\n", "gn1 0\n", "gn1 x\n", "gn1 8 9\n", "gn1 8\ngn[1-2] 8\n", "", "gn1 99999\n"):
        path.write_text(text)
        with pytest.raises(CommandError, match="nodes"):
            from_file(path, None)
