// Findings of `doctor`: one fact with one remedy each.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "harness/cli/doctor/facts.hpp"
#include "kernels/common/enum_names.hpp"

namespace ridgebench::doctor {

// error: a GPU cannot be used. warning: the numbers of a run would be wrong, or lower than the
// machine's. note: a remark for the operator.
enum class Status : std::uint8_t { ok, note, warning, error };
constexpr auto names_of(Status) { return enum_names("status", "ok", "note", "warning", "error"); }

struct Finding {
  std::string subject;  // build, driver, gpu, libraries, host, python, rows
  std::string device;   // cuda:0; the PCI address of a GPU that CUDA does not offer; empty: none
  Status status;
  std::string code;  // stable: scripts may compare it
  std::string text;
  std::string help;  // a command or an action; empty: none
};
using Findings = std::vector<Finding>;

// Adds the findings of one subject.
class Judge {
 public:
  Judge(Findings& to, std::string subject, std::string device = {})
      : to_(&to), subject_(std::move(subject)), device_(std::move(device)) {}

  void ok(std::string code, std::string text) { add(Status::ok, std::move(code), std::move(text)); }
  void note(std::string code, std::string text, std::string help = {}) {
    add(Status::note, std::move(code), std::move(text), std::move(help));
  }
  void warn(std::string code, std::string text, std::string help) {
    add(Status::warning, std::move(code), std::move(text), std::move(help));
  }
  void fail(std::string code, std::string text, std::string help) {
    add(Status::error, std::move(code), std::move(text), std::move(help));
  }

 private:
  void add(Status status, std::string code, std::string text, std::string help = {}) {
    to_->push_back({subject_, device_, status, std::move(code), std::move(text), std::move(help)});
  }

  Findings* to_;
  std::string subject_;
  std::string device_;
};

// The findings of all facts, by subject.
Findings judge(const Facts& facts);

void judge_build(const Facts& facts, Findings& to);
void judge_driver(const Facts& facts, Findings& to);
// Adds the reason why CUDA does not start.
void explain_failure(const Facts& facts, Judge& judge);
// "module 580.65.06, libcuda 580.65.06", as far as they are known.
std::string versions_of_driver(const Facts& driver);
void judge_gpu(const Facts& facts, const Facts& gpu, Findings& to);
// The settings and the state of a GPU that can be used.
void judge_settings(const Facts& gpu, Judge& judge);
void judge_health(const Facts& gpu, Judge& judge);
void judge_wear(const Facts& gpu, Judge& judge);
// The errors of NVSwitches in the kernel's log.
void judge_switches(const Facts& driver, Judge& judge);
void judge_libraries(const Facts& facts, Findings& to);
void judge_host(const Facts& facts, Findings& to);
void judge_python(const Facts& facts, Findings& to);
void judge_rows(const Facts& facts, Findings& to);

// Meaning of an error of the CUDA driver, and its remedy: the code, text and help of a finding.
struct Cause {
  std::string code;
  std::string text;
  std::string help;
};
Cause cause_of_cuda_error(int status, const std::string& name);

// cuda:0, or the PCI address of a GPU that CUDA does not offer.
std::string label_of(const Facts& gpu);
// True if the kernel, NVML or CUDA shows a GPU of NVIDIA.
bool shows_gpu(const Facts& facts);
// "nvidia-smi -i 3": nvidia-smi's number differs from CUDA's where GPUs are hidden.
std::string nvidia_smi(const Facts& gpu);
// 13 of "nvcc 13.0.88, architectures ..." and 13000; 0 for a build without CUDA.
int cuda_major_of_build(const Facts& facts);
int cuda_of_build(const Facts& facts);

}  // namespace ridgebench::doctor
