// The signals that end a run between two samples.
#pragma once

namespace ridgebench {

// After listen_for_signals, SIGINT and SIGTERM set signalled(). A second signal ends the process.
void listen_for_signals();
bool signalled();

}  // namespace ridgebench
