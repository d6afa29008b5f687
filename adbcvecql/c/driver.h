// SPDX-License-Identifier: Apache-2.0

// What the Go files of this package need from C. adbc.h is in the module arrow-adbc, see the Makefile.

#pragma once

#include <stdlib.h>
#include <string.h>

#include <arrow-adbc/adbc.h>

// Types that the exported functions of Go have in their signatures.
typedef const char cchar_t;
typedef const uint8_t cuint8_t;
typedef const uint32_t cuint32_t;

void vecqlReleaseError(struct AdbcError* error);
void vecqlReleasePartitions(struct AdbcPartitions* partitions);
