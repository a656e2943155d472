#include "sparing/base/version.h"

namespace sparing {

std::string_view version() { return SPARING_VERSION; }

}  // namespace sparing
