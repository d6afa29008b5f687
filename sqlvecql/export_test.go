// SPDX-License-Identifier: Apache-2.0

package sqlvecql

import "reflect"

// ScanValue scans as Scan does, to a pointer whose type is known at run time.
func ScanValue(dst reflect.Value, src any) error { return assign(dst.Elem(), src) }
