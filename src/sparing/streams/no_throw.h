// Where libraries' exceptions end: the interface of this module returns errors.
#pragma once

#include <exception>
#include <utility>

#include "sparing/base/result.h"

namespace sparing {

// What `work` returns, a Status or Result; an exception as kInternal with its text. `thing` is what
// was being done, for the message.
template <class Work>
auto no_throw(const char* thing, Work&& work) -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::exception& error) {
    return Error{ErrorCode::kInternal, thing, error.what(), "free memory, or report it"};
  } catch (...) {
    return Error{ErrorCode::kInternal, thing, "an unknown exception", "report it"};
  }
}

}  // namespace sparing
