// SPDX-License-Identifier: Apache-2.0

package vecql

import "github.com/vecql/vecql/internal/frame"

// What a program may know of frames: their compression. Package internal/frame has the rest.

// LZ4Compressor is the LZ4 block format. The zero value is ready to use.
type LZ4Compressor struct{ frame.LZ4 }

// SnappyCompressor is Snappy, for v4 connections: v5 has no Snappy. The zero value is ready to use.
type SnappyCompressor struct{ frame.Snappy }
