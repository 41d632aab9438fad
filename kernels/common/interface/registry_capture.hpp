// Registrations that enter another registry than the program's.
#pragma once

#include "kernels/common/registry.hpp"

namespace ridgebench {

// The registry that registrations enter: Registry::instance(), unless a RegistryCapture lives.
Registry& current_registry();

// While it lives, registrations enter another registry.
class RegistryCapture {
 public:
  explicit RegistryCapture(Registry& into);
  RegistryCapture(const RegistryCapture&) = delete;  // there is one
  RegistryCapture& operator=(const RegistryCapture&) = delete;
  ~RegistryCapture();
};

}  // namespace ridgebench
