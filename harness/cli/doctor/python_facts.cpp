// The interpreter of the commands in Python. It runs in a process of its own, as a command does.
#include <unistd.h>

#include "harness/base/child.hpp"
#include "harness/base/stopwatch.hpp"
#include "harness/cli/doctor/facts.hpp"
#include "harness/cli/python/python_commands.hpp"

namespace ridgebench::doctor {
namespace {

// Looks for the packages of pyproject.toml; imports none of them, which would take a second.
constexpr const char* kQuestion = R"(import sys
from importlib.util import find_spec
wanted = ["numpy", "scipy", "matplotlib", "fastjsonschema"]
wanted += ["tomli"] if sys.version_info < (3, 11) else []
missing = ['"%s"' % name for name in wanted if find_spec(name) is None]
print('{"version": [%d, %d, %d], "missing": [%s]}' % (sys.version_info[:3] + (", ".join(missing),)))
)";

}  // namespace

Facts read_python(const Request& request) {
  const PythonOfCommands python = python_of_commands();
  const double until_s = steady_s() + request.limit_s;
  Child child([&](int descriptor) {
    answer_with_stdout(descriptor);
    execlp(python.interpreter.c_str(), python.interpreter.c_str(), "-c", kQuestion, nullptr);
    _exit(1);
  });
  Facts facts = Facts::parse(child.wait(until_s).text, nullptr, false);
  if (!facts.is_object()) facts = {{"version", nullptr}, {"missing", nullptr}};
  facts["interpreter"] = python.interpreter;
  facts["no_package"] = python.no_package.empty() ? Facts(nullptr) : Facts(python.no_package);
  return facts;
}

}  // namespace ridgebench::doctor
