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
	if field := r.text(column); field != nil {
		if p, ok := value.(*string); ok && column == "rack" {
			if p != nil {
				*field = *p
			}
			return nil
		}
		return assign(field, value)
	}
	if field := r.address(column); field != nil {
		return assignIP(field, value)
	}
	switch column {
	case "graph":
		return assign(&r.HasGraph, value)
	case "tokens":
		return assign(&r.TokenList, value)
	case "native_port":
		return assign(&r.PortNumber, value)
	case "host_id":
		return assignID(&r.ID, value)
	case "schema_version":
		return assign(new(UUID), value)
	}
	return nil
}

// text returns the field of a column that has a text, nil for another column.
func (r *hostRow) text(column string) *string {
	return map[string]*string{
		"data_center": &r.DC, "rack": &r.RackName, "release_version": &r.Release, "cluster_name": &r.Cluster,
		"partitioner": &r.Class, "workload": &r.Load, "dse_version": &r.DSE,
	}[column]
}

// address returns the field of a column that has an address, nil for another column.
func (r *hostRow) address(column string) *net.IP {
	return map[string]*net.IP{
		"peer": &r.PeerAddr, "broadcast_address": &r.Broadcast, "listen_address": &r.Listen, "rpc_address": &r.RPC,
		"native_address": &r.RPC, "preferred_ip": &r.Preferred,
	}[column]
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
