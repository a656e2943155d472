// Ctrl-C, SIGTERM and SIGHUP (a lost connection) as a stop token.
#pragma once

#include <stop_token>

namespace sparing::cli {

// From the first call on, SIGINT, SIGTERM and SIGHUP request a stop; a second one ends the process
// at once. Of these, one that the process was started to ignore (nohup, a shell's background job)
// stays ignored. SIGPIPE and SIGXFSZ are ignored, so that a closed pipe and a file-size limit are
// output errors.
std::stop_token stop_on_signals();

}  // namespace sparing::cli
