// SPDX-FileCopyrightText: the ropecache authors
// SPDX-License-Identifier: Apache-2.0
//
// The version of the library. CMake, pkg-config and the command line read it from here.
#pragma once

#define ROPECACHE_VERSION_MAJOR 0
#define ROPECACHE_VERSION_MINOR 1
#define ROPECACHE_VERSION_PATCH 0
#define ROPECACHE_VERSION_STRING "0.1.0"
