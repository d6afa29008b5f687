// SPDX-License-Identifier: Apache-2.0

package compat

import "github.com/vecql/vecql/internal/codec"

// Codec interfaces of the modules.

// A Codec describes the codec interfaces of another API, whose methods take that API's TypeInfo.
type Codec = codec.ForeignCodec

// RegisterCodec makes values of types that implement the interfaces of c encode and decode themselves, at every depth.
// Call it in an init function, before the first session.
func RegisterCodec(c Codec) { codec.RegisterForeign(c) }
