// The signals that end a run between two samples.
#pragma once

namespace ridgebench {

// After listen_for_signals, an ending signal sets signalled(). A later one ends the process at
// once, by that signal.
void listen_for_signals();
bool signalled();

}  // namespace ridgebench
