// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"net/netip"

	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/errtext"
)

// Address translation.

// translateFunc is ClusterConfig.AddressTranslator, whose panics are errors. An invalid result means that the node
// cannot be reached.
type translateFunc func(netip.AddrPort) (netip.AddrPort, error)

// translator returns t as a translateFunc, nil for nil.
func translator(t func(netip.AddrPort) netip.AddrPort) translateFunc {
	if t == nil {
		return nil
	}
	return func(a netip.AddrPort) (to netip.AddrPort, err error) {
		defer func() {
			if err != nil {
				err = errtext.Errorf("AddressTranslator: %v: %w", a, err)
			}
		}()
		defer background.Recover(&err)
		if to = t(a); !to.IsValid() || to.Port() == 0 {
			return netip.AddrPort{}, nil
		}
		return netip.AddrPortFrom(to.Addr().Unmap(), to.Port()), nil
	}
}
