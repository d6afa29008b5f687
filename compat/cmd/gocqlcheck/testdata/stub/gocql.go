// SPDX-License-Identifier: Apache-2.0

// Package gocql has the names of the API that the test programs use.
package gocql

import "crypto/tls"

type RetryPolicy interface{ Attempt(int) bool }

type SimpleRetryPolicy struct{ NumRetries int }

func (*SimpleRetryPolicy) Attempt(int) bool { return false }

type SslOptions struct {
	*tls.Config
	CaPath                 string
	EnableHostVerification bool
}

type ClusterConfig struct {
	Hosts        []string
	ProtoVersion int
	WriteTimeout int
	RetryPolicy  RetryPolicy
	SslOpts      *SslOptions
}

type Conn struct{}

type ConvictionPolicy interface{ AddFailure(error) bool }

type SimpleConvictionPolicy struct{}

func (*SimpleConvictionPolicy) AddFailure(error) bool { return true }

type Query struct{}

func (q *Query) RetryPolicy(RetryPolicy) *Query { return q }

func (q *Query) Iter() *Iter { return nil }

type Iter struct{}

func (*Iter) Scan(...any) bool { return false }

var TimeoutLimit int64
