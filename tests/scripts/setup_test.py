"""scripts/setup.sh: what it installs, which Python it takes, and what it names where it can install nothing."""

import pytest
from stub_tools import DRAWS, GCC, Machine

NOTHING = "python venv ensurepip tomllib"  # of what drawing needs


@pytest.fixture(name="machine")
def machine_fixture(tmp_path):
    """A machine that can build."""
    machine = Machine(tmp_path)
    machine.add_compilers()
    return machine


def add_apt(machine: Machine, unknown: str = "-", **steps: str) -> None:
    """A Debian on which nothing is installed, and whose root is had by `sudo -n`."""
    cases = [f"*{step}*) {script} ;;" for step, script in steps.items()]
    machine.add("apt-get", f'case "$*" in {" ".join(cases)} -) ;; esac')
    # It prints nothing for a virtual package, which is none that can be installed.
    machine.add("apt-cache", f'case " {unknown} " in *" $2 "*) ;; *) echo "Package: $2" ;; esac')
    machine.add("dpkg-query", "exit 1")
    machine.add("sudo", 'shift; exec "$@"')


def installed(machine: Machine) -> list[str]:
    """The packages that apt was to install."""
    return [word for call in machine.calls("apt-get") if " install " in call for word in call.split(" install ")[1].split()]


def test_an_unknown_package_is_named_and_the_others_are_installed(machine):
    add_apt(machine, unknown="libcli11-dev python3-fastjsonschema")
    machine.add_python()
    done = machine.call("setup.sh")
    assert done.returncode == 0, done.stderr
    assert "setup: apt has no package libcli11-dev python3-fastjsonschema\n" in done.stderr
    names = installed(machine)
    assert "libfmt-dev" in names and "libcli11-dev" not in names and "libssl-dev" not in names


@pytest.mark.parametrize("step", [" update", " download", " install"])
def test_an_apt_that_fails_is_one_line(machine, step):
    add_apt(machine, **{f'"{step}"': "echo reading; echo E: no network; exit 100"})
    machine.add_python()
    done = machine.call("setup.sh")
    assert done.returncode == 0
    assert [line for line in done.stderr.splitlines() if line.endswith("E: no network")] and "reading" not in done.stderr
    assert bool(installed(machine)) == (step != " download")  # no network: apt would wait for each package


def test_a_job_asks_apt_for_nothing(machine):
    add_apt(machine)
    machine.add_python()
    assert machine.call("setup.sh", SLURM_JOB_ID="7").returncode == 0
    assert machine.calls("apt-get") == machine.calls("sudo") == []


def test_only_the_checks_need_clang(machine):
    add_apt(machine)
    machine.add_python()
    machine.call("setup.sh", "--dev")
    assert "libgtest-dev" in installed(machine) and not [name for name in installed(machine) if "19" in name]
    machine.call("setup.sh", "--checks")
    assert {"clang-19", "clang-tidy-19", "clang-format-19", "libclang-rt-19-dev", "libomp-19-dev", "llvm-19", "valgrind"} < set(installed(machine))


def test_what_the_checks_lack_is_one_line(machine):
    machine.add_python()
    done = machine.call("setup.sh", "--checks")
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "check.sh" in line]
    assert line == "setup: missing for scripts/check.sh: atheris clang++-19 clang-format-19 clang-tidy-19 llvm-symbolizer-19 valgrind"
    (machine.folder / "index").write_text("atheris")
    for tool in ("clang++-19", "clang-format-19", "clang-tidy-19", "llvm-symbolizer-19", "valgrind"):
        machine.add(tool)
    done = machine.call("setup.sh", "--checks")
    assert "check.sh" not in done.stderr and "--target" in machine.calls("python3 -m pip")[-1]
    assert "check.sh" not in machine.call("setup.sh").stderr


def test_the_fuzzer_is_installed_by_a_pip_that_ensurepip_made(machine):
    machine.add_python()
    (machine.folder / "index").write_text("atheris")
    done = machine.call("setup.sh", "--checks")
    assert "--target=" in machine.calls("python3 -m pip")[-1] and "pip cannot" not in done.stderr
    assert "pip" in (machine.root / ".venv/bin/python.has").read_text().split()


def test_without_pip_the_fuzzer_is_named(machine):
    machine.add_python(packages=DRAWS.replace("ensurepip", ""))
    done = machine.call("setup.sh", "--checks")
    assert "no pip here (Debian: python3-venv) to install atheris==3.0.0\n" in done.stderr


def test_an_unknown_argument_is_refused(machine):
    done = machine.call("setup.sh", "--devel")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "'--devel'; allowed: --dev, --checks, --web" in done.stderr


PYTHONS = [
    ({"python3": DRAWS, "usr/bin/python3": DRAWS}, "python3"),  # of a module, before the system's
    ({"python3": NOTHING, "usr/bin/python3": DRAWS}, "usr/bin/python3"),
    ({"python3": "", "usr/bin/python3": NOTHING, "python3.11": DRAWS}, "python3.11"),
    ({"python3": "", "usr/bin/python3": "", "python3.12": NOTHING}, "python3.12"),
    ({"python3": NOTHING, "usr/bin/python3": NOTHING}, "python3"),
]


@pytest.mark.parametrize(("pythons", "taken"), PYTHONS)
def test_which_python_the_environment_stands_on(machine, pythons, taken):
    for name, packages in pythons.items():
        machine.add_python(name, packages + f" {name}")
    done = machine.call("setup.sh")
    assert done.returncode == 0, done.stderr
    assert taken in (machine.root / ".venv/bin/python.has").read_text().split()


def test_an_environment_gives_way_to_a_python_that_can_draw(machine):
    machine.add_python(packages=NOTHING)
    machine.call("setup.sh")
    machine.add_python("opt/python3", DRAWS)
    machine.call("setup.sh", PATH=f"{machine.folder}/opt:{machine.tools}")
    assert "numpy" in (machine.root / ".venv/bin/python.has").read_text().split()


def test_pip_installs_what_is_missing_and_does_not_wait_long(machine):
    machine.add_python(packages=NOTHING)
    (machine.folder / "index").write_text("numpy scipy matplotlib fastjsonschema")
    done = machine.call("setup.sh")
    assert (done.returncode, done.stderr) == (0, "")
    (call,) = machine.calls("python3 -m pip")
    assert call.endswith(" numpy scipy matplotlib fastjsonschema") and "--timeout 10 --retries 1" in call
    assert machine.call("setup.sh").returncode == 0
    assert len(machine.calls("python3 -m pip")) == 1


def test_a_pip_that_fails_is_one_line_and_what_is_missing_is_optional(machine):
    machine.add_python(packages=NOTHING)
    done = machine.call("setup.sh")
    assert done.returncode == 0
    failed, missing = done.stderr.splitlines()
    assert failed == "setup: pip cannot install numpy scipy matplotlib fastjsonschema: ERROR: no network"
    assert missing.startswith("setup: missing, all of it optional: Python 3.9 or newer with numpy scipy matplotlib")


def test_without_pip_the_environment_is_made_all_the_same(machine):
    machine.add_python(packages=DRAWS.replace("ensurepip", "").replace("fastjsonschema", ""))
    done = machine.call("setup.sh")
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert "no pip here (Debian: python3-venv) to install fastjsonschema" in done.stderr
    assert (machine.root / ".venv/bin/python").exists()


def test_pip_installs_cmake_and_ninja_where_they_are_missing_or_old(machine):
    machine.add_cmake("3.18.4")
    (machine.tools / "ninja").unlink()
    machine.add_python()
    (machine.folder / "index").write_text("cmake ninja")
    machine.call("setup.sh")
    assert machine.calls("python3 -m pip")[0].endswith(" cmake ninja")


def test_what_is_missing_is_named_in_one_line_with_required_and_optional_apart(machine):
    machine.add_cmake("3.21.9")
    (machine.tools / "ninja").unlink()
    machine.add("g++", GCC.format(version="10.2.1"))
    done = machine.call("setup.sh")
    assert (done.returncode, done.stderr.count("\n")) == (8, 1), done.stderr
    required, optional = done.stderr.split("missing and optional:")
    assert all(name in required for name in ("GCC 11", "clang 16", "CMake 3.22", "Ninja or make"))
    assert "numpy" in optional and "numpy" not in required


def test_missing_libraries_are_optional(machine):
    machine.add("g++", GCC.format(version="12.2.0") + '\n[ "$1" = -dumpfullversion ] || ! grep -qE "fmt/|cblas"')
    machine.add("grep", 'exec /usr/bin/env PATH=/usr/bin:/bin grep "$@"')
    machine.add_python()
    done = machine.call("setup.sh")
    assert done.returncode == 0
    assert done.stderr == (
        "setup: missing, all of it optional: fmt (fetched by CMake); OpenBLAS (rows skipped)\n"
    )
