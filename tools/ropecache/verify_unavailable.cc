// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#include "commands.h"

namespace ropecache::cli {

// In place of verify.cc where MPFR was not found.
Result<Outcome> verify(const VerifyOptions&) {
  return Status(StatusCode::kInternal, "verify: built without MPFR, the oracle (libmpfr-dev, ROPECACHE_ORACLE=ON)");
}

}  // namespace ropecache::cli
