// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"
	"net"

	api "github.com/vecql/vecql/compat/api"
)

// NewTestHostInfoFromRow returns the HostInfo of a row of system.local or system.peers, by column name, for tests of
// filters and policies. Addresses may be texts.
func NewTestHostInfoFromRow(row map[string]any) (*HostInfo, error) {
	r := hostRow{PortNumber: 9042}
	for column, value := range row {
		if err := r.set(column, value); err != nil {
			return nil, fmt.Errorf("gocql: NewTestHostInfoFromRow: column %s: %w", column, err)
		}
	}
	record := api.HostRecord(r)
	record.Connect = connectAddress(&record)
	if !isReachable(record.Connect) {
		return nil, errors.New("gocql: NewTestHostInfoFromRow: the row has no address")
	}
	return &HostInfo{host: api.NewHost(&record)}, nil
}

// hostRow is a row of system.local or system.peers.
type hostRow api.HostRecord

// set stores the value of a column. Other columns are left out.
func (r *hostRow) set(column string, value any) error {
	switch column {
	case "data_center":
		return assign(&r.DC, value)
	case "rack":
		if p, ok := value.(*string); ok {
			if p != nil {
				r.RackName = *p
			}
			return nil
		}
		return assign(&r.RackName, value)
	case "release_version":
		return assign(&r.Release, value)
	case "cluster_name":
		return assign(&r.Cluster, value)
	case "partitioner":
		return assign(&r.Class, value)
	case "workload":
		return assign(&r.Load, value)
	case "dse_version":
		return assign(&r.DSE, value)
	case "graph":
		return assign(&r.HasGraph, value)
	case "tokens":
		return assign(&r.TokenList, value)
	case "native_port":
		return assign(&r.PortNumber, value)
	case "host_id":
		return assignID(&r.ID, value)
	case "schema_version":
		var version UUID
		return assign(&version, value)
	}
	if field := r.address(column); field != nil {
		return assignIP(field, value)
	}
	return nil
}

// address returns the field of a column that has an address, nil for another column.
func (r *hostRow) address(column string) *net.IP {
	switch column {
	case "peer":
		return &r.PeerAddr
	case "broadcast_address":
		return &r.Broadcast
	case "listen_address":
		return &r.Listen
	case "rpc_address", "native_address":
		return &r.RPC
	case "preferred_ip":
		return &r.Preferred
	}
	return nil
}

func assign[T any](field *T, value any) error {
	v, ok := value.(T)
	if !ok {
		return fmt.Errorf("the value is a %T, want a %T", value, *field)
	}
	*field = v
	return nil
}

func assignID(field *string, value any) (err error) {
	id, ok := value.(UUID)
	if text, isText := value.(string); isText {
		if id, err = ParseUUID(text); err != nil {
			return err
		}
	} else if !ok {
		return assign(&id, value)
	}
	*field = id.String()
	return nil
}

func assignIP(field *net.IP, value any) error {
	if text, ok := value.(string); ok {
		*field = net.ParseIP(text)
		return nil
	}
	return assign(field, value)
}
