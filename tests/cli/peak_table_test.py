"""`info --peaks` prints all data sheets as one JSON and as a header in C, both as `info --on` prints each of them."""

import json
import re
import shutil
import subprocess

import pytest
from command_line import answer, one_line, ridgebench, schema, strict_json

# Prints each device and each of its peaks, as the JSON has them.
PRINTED = r"""
#include <stdio.h>
#include "peaks.h"
static void list(const char* const* texts) {
  for (; *texts; ++texts) printf("\t%s", *texts);
  printf("\n");
}
int main(void) {
  int i, j;
  for (i = 0; i < RIDGEBENCH_DEVICE_COUNT; ++i) {
    const ridgebench_device* d = &ridgebench_devices[i];
    printf("%s\t%s\t%s\t%s\t%d\t%.17g\t%.17g\t%.17g\t%s\t%s\n", d->name, d->title, d->vendor, d->architecture, d->sms, d->power_w,
           d->memory_bytes, d->bandwidth_bytes_per_s, d->memory_source, d->memory_doubt ? d->memory_doubt : "-");
    list(d->aliases), list(d->names), list(d->pci_ids), list(d->sources);
    for (j = 0; j < d->peak_count; ++j) {
      const ridgebench_peak* p = &d->peaks[j];
      printf("%s\t%s\t%s\t%.17g\t%.17g\t%.17g\t%s\t%s\n", p->format, p->engine, p->accumulator, p->flops_per_s, p->clock_hz,
             p->flops_per_clock_per_sm, p->source, p->doubt ? p->doubt : "-");
    }
  }
  return 0;
}
"""


@pytest.fixture(scope="module", name="devices")
def devices_fixture():
    done = ridgebench("info", "--peaks", "json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["devices"]


def test_the_table_has_every_sheet_as_info_prints_it(devices):
    assert [device["device"] for device in devices] == answer("info")["data_sheets"]
    for device in devices:
        assert {"schema": "urn:ridgebench:info:1", **device} == answer("info", "--on", device["device"])


def test_the_table_obeys_its_schema():
    found = strict_json(ridgebench("info", "--peaks", "json").stdout)
    checked = schema("peaks")
    assert [error.message for error in checked.iter_errors(found)] == []
    for key in checked.schema["required"]:
        assert not checked.is_valid({name: value for name, value in found.items() if name != key})
    for key in checked.schema["properties"]["devices"]["items"]["required"]:
        assert not checked.is_valid(found | {"devices": [{name: value for name, value in found["devices"][0].items() if name != key}]})


def line(*values) -> str:
    return "\t".join("%.17g" % value if isinstance(value, float) else str(value) for value in values) + "\n"


def expected(devices) -> str:
    """What the program of PRINTED prints for the devices of the JSON."""
    text = ""
    for device in devices:
        memory = device["memory"]
        text += line(*(device[key] for key in ("device", "title", "vendor", "architecture", "sms")), float(device["tdp_w"] or 0),
                     memory["bytes"], memory["bandwidth_bytes_per_s"], memory["source"], memory["doubt"] or "-")
        text += "".join("".join(f"\t{one}" for one in device[key]) + "\n" for key in ("aliases", "names", "pci_ids", "sources"))
        for peak in device["peaks"]:
            text += line(*(peak[key] for key in ("format", "engine", "accumulator", "flops_per_s")), float(peak["clock_hz"] or 0),
                         float(peak["flops_per_clock_per_sm"] or 0), peak["source"], peak["doubt"] or "-")
    return text


@pytest.mark.parametrize("compiler, standard", [("gcc", "-std=c99"), ("g++", "-std=c++11")])
def test_the_header_has_the_same_numbers(devices, tmp_path, compiler, standard):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    header = ridgebench("info", "--peaks", "c").stdout
    assert re.fullmatch(r"[\n -~]+", header), "a header in ASCII is the same for every compiler"
    (tmp_path / "peaks.h").write_text(header)
    (tmp_path / "print.c").write_text(PRINTED)
    command = [compiler, standard, "-Wall", "-Wextra", "-pedantic", "-Werror", "print.c", "-o", "print"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([tmp_path / "print"], capture_output=True, text=True, check=True).stdout == expected(devices)


@pytest.mark.parametrize("words, message", [
    (("--peaks", "yaml"), "--peaks: yaml not in {json,c}"),
    (("--peaks", "json", "--on", "h100"), "--on excludes --peaks"),
    (("--peaks", "c", "--json"), "--json excludes --peaks"),
])  # fmt: skip
def test_another_form_is_refused(words, message):
    assert message in one_line(ridgebench("info", *words), 2)
