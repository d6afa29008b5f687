// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAdaptTranslator requires the translated address, and an invalid one for a result without an address or port.
func TestAdaptTranslator(t *testing.T) {
	require.Nil(t, AdaptTranslator(nil))
	translate := AdaptTranslator(AddressTranslatorFunc(func(ip net.IP, port int) (net.IP, int) {
		switch port {
		case 1:
			return nil, port
		case 2:
			return ip, 0
		case 3:
			return ip, 70000
		case 4:
			return ip, -1
		}
		return net.IPv4(1, 1, 1, 1), port + int(ip[3])
	}))
	for _, port := range []uint16{1, 2, 3, 4} {
		require.Zero(t, translate(netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, 2}), port)), port)
	}
	require.Equal(t, "1.1.1.1:9044", translate(netip.MustParseAddrPort("10.0.0.2:9042")).String())
}
