// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/hf_section.h"

namespace ropecache::model {

// Enters every key of a params.json that looks as if it had to do with ropes and was not looked at, at any depth, and
// warns of those that ask for something.
void account_for_params_leftovers(const Json& file, Audit& audit);

}  // namespace ropecache::model
