// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/hf_section.h"

namespace ropecache::model {

// Enters every key of the file that looks rope-relevant and was not accounted for as ignored. `decoder` is the path of
// the object whose layers were read: what is left over there deserves a warning.
void account_for_leftovers(const Json& file, std::string_view decoder, bool rotates, Audit& audit);

}  // namespace ropecache::model
