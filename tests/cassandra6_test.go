// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/soak"
)

// A node of Cassandra 6: transactions of Accord, constraints.

// transfer moves an amount from an account to another one, if the balance suffices, and returns both balances before.
const transfer = `BEGIN TRANSACTION
	LET source = (SELECT * FROM %[1]s.accounts WHERE owner = ?);
	LET target = (SELECT * FROM %[1]s.accounts WHERE owner = ?);
	SELECT source.balance, target.balance, source.tags;
	IF source.balance >= ? THEN
		UPDATE %[1]s.accounts SET balance -= ? WHERE owner = ?;
		UPDATE %[1]s.accounts SET balance += ? WHERE owner = ?;
	END IF
COMMIT TRANSACTION`

// createAccounts creates a table of accounts whose owners have 100 each, and returns its keyspace.
func createAccounts(t *testing.T, s *vecql.Session, owners int) string {
	t.Helper()
	ks := keyspace(t, s, 1)
	exec(t, s, "CREATE TABLE "+ks+".accounts (owner int PRIMARY KEY, balance bigint, tags list<text>) WITH transactional_mode = 'full'")
	t.Cleanup(func() { // a keyspace with such a table cannot be dropped
		require.NoError(t, s.Query("DROP TABLE "+ks+".accounts").Exec(context.Background()))
	})
	for owner := range owners {
		exec(t, s, "INSERT INTO "+ks+".accounts (owner, balance, tags) VALUES (?, 100, ['a'])", owner)
	}
	return ks
}

// TestSixTransaction reads the rows of a transaction by each verb, with values and without.
func TestSixTransaction(t *testing.T) {
	soak.Only(t)
	for _, version := range []int{5, 4} {
		t.Run(fmt.Sprintf("v%d", version), func(t *testing.T) {
			cfg := config(t, nodeOfSix)
			cfg.Protocol.Version = version
			s := connect(t, cfg)
			ks := createAccounts(t, s, 2)
			text := fmt.Sprintf(transfer, ks)
			type row struct {
				Source int64    `cql:"source.balance"`
				Target int64    `cql:"target.balance"`
				Tags   []string `cql:"source.tags"`
			}
			q := s.Query(text, 0, 1, 30, 30, 0, 30, 1)
			require.False(t, q.GetIdempotent())
			for i := range 4 { // the last one does not suffice
				got, err := vecql.OneRow[row](t.Context(), s.Query(text, 0, 1, 30, 30, 0, 30, 1))
				require.NoError(t, err)
				require.Equal(t, row{100 - 30*int64(i), 100 + 30*int64(i), []string{"a"}}, got)
			}
			var balance int64
			q = s.Query("SELECT balance FROM "+ks+".accounts WHERE owner = ?", 0)
			require.NoError(t, q.Scan(t.Context(), &balance))
			require.EqualValues(t, 10, balance)

			m, err := s.StatementMetadata(t.Context(), text, "")
			require.NoError(t, err)
			require.Len(t, m.BindMarkers, 7)
			require.Len(t, m.ResultColumns, 3)
			require.Equal(t, []int{4}, m.PartitionKey, "of the first UPDATE")
			require.Equal(t, "accounts", m.Table)

			whole := "BEGIN TRANSACTION SELECT * FROM " + ks + ".accounts WHERE owner = 1; COMMIT TRANSACTION"
			read := map[string]any{}
			require.NoError(t, s.Query(whole).MapScan(t.Context(), read))
			require.Equal(t, map[string]any{"owner": 1, "balance": int64(190), "tags": []string{"a"}}, read)
			for batch, err := range s.Query(whole).Batches(t.Context()) {
				require.NoError(t, err)
				require.Equal(t, 1, batch.Rows)
				require.EqualValues(t, 190, batch.Column("balance").Value(0))
			}
			exec(t, s, "BEGIN TRANSACTION INSERT INTO "+ks+".accounts (owner, balance) VALUES (?, ?); COMMIT TRANSACTION", 7, int64(5))
			require.NoError(t, s.Query("BEGIN TRANSACTION LET a = (SELECT * FROM "+ks+".accounts WHERE owner = 9); SELECT a.balance, a.tags; "+
				"COMMIT TRANSACTION").MapScan(t.Context(), read))
			require.Nil(t, read["a.balance"])
		})
	}
}

// TestSixTransfers moves money between accounts in parallel: none is lost, and each transfer that failed without effect
// can be known.
func TestSixTransfers(t *testing.T) {
	soak.Only(t)
	const owners, workers, each = 4, 8, 25
	s := connect(t, config(t, nodeOfSix))
	ks := createAccounts(t, s, owners)
	text := fmt.Sprintf(transfer, ks)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := range each {
				from, to := (w+i)%owners, (w+i+1)%owners
				err := s.Query(text, from, to, 3, 3, from, 3, to).Exec(t.Context())
				if err != nil {
					t.Logf("applied %v: %v", vecql.MayHaveApplied(err), err)
				}
			}
		})
	}
	wait.Wait()
	total := int64(0)
	for balance, err := range vecql.Rows[int64](t.Context(), s.Query("SELECT balance FROM "+ks+".accounts")) {
		require.NoError(t, err)
		require.GreaterOrEqual(t, balance, int64(0))
		total += balance
	}
	require.EqualValues(t, 100*owners, total)
}

// TestSixTransactionErrors has the transactions that the server refuses: none may have been executed.
func TestSixTransactionErrors(t *testing.T) {
	soak.Only(t)
	s := connect(t, config(t, nodeOfSix))
	ks := createAccounts(t, s, 1)
	exec(t, s, "CREATE TABLE "+ks+".plain (k int PRIMARY KEY, v int)")
	for statement, want := range map[string]string{
		"INSERT INTO KS.plain (k, v) VALUES (1, 2);":                               "Accord transactions are disabled on table",
		"UPDATE KS.accounts SET balance = 5 WHERE owner = 1 IF EXISTS;":            "may not specify their own conditions",
		"INSERT INTO KS.accounts (owner) VALUES (1) USING TIMESTAMP 5;":            "may not specify custom timestamps",
		"LET a = (SELECT * FROM KS.accounts WHERE balance = 5); SELECT a.balance;": "",
		"LET a = (SELECT * FROM KS.none WHERE k = 1); SELECT a.balance;":           "does not exist",
		"SELECT balance FROM KS.accounts WHERE owner = 1 AND balance = 1":          "",
	} {
		err := s.Query("BEGIN TRANSACTION " + strings.ReplaceAll(statement, "KS", ks) + " COMMIT TRANSACTION").Exec(t.Context())
		require.Error(t, err, statement)
		require.ErrorContains(t, err, want, statement)
		require.False(t, vecql.MayHaveApplied(err), statement)
	}
}

// TestSixConstraints violates each constraint: the error is an invalid request with the name of the column, nothing is
// written, and nothing is sent again.
func TestSixConstraints(t *testing.T) {
	soak.Only(t)
	cfg := config(t, nodeOfSix)
	cfg.Defaults.RetryPolicy = vecql.SimpleRetryPolicy{NumRetries: 3}
	s := connect(t, cfg)
	ks := keyspace(t, s, 1)
	exec(t, s, "CREATE TABLE "+ks+".t (k int PRIMARY KEY, v int CHECK v > 1 AND v < 100, l text CHECK LENGTH() > 2, "+
		"o blob CHECK OCTET_LENGTH() < 4, j text CHECK JSON, r text CHECK REGEXP() = 'a.*b', n text CHECK NOT NULL)")
	for _, c := range []struct {
		column string
		value  any
		want   string
	}{
		{"v", 1, "Column value does not satisfy value constraint for column 'v'. It should be v > 1"},
		{"v", 100, "Column value does not satisfy value constraint for column 'v'. It should be v < 100"},
		{"l", "ab", "Column value does not satisfy value constraint for column 'l'. It has a length of 2"},
		{"o", []byte("abcd"), "Column value does not satisfy value constraint for column 'o'. It has a length of 4"},
		{"j", "{", "Value for column 'j' violated JSON constraint"},
		{"r", "xx", "Value does not match regular expression 'a.*b'"},
		{"n", nil, "Column value does not satisfy value constraint for column 'n' as it is null"},
	} {
		err := s.Query("INSERT INTO "+ks+".t (k, n, "+c.column+") VALUES (1, 'n', ?)", c.value).Idempotent(true).Exec(t.Context())
		if c.column == "n" {
			err = s.Query("INSERT INTO "+ks+".t (k, n) VALUES (1, ?)", c.value).Idempotent(true).Exec(t.Context())
		}
		require.ErrorIs(t, err, cql.CodeInvalid, c.column)
		require.ErrorContains(t, err, c.want)
		require.False(t, vecql.MayHaveApplied(err))
		var failure *vecql.RequestFailure
		require.ErrorAs(t, err, &failure)
		require.Equal(t, 1, failure.Attempts)
	}
	require.ErrorContains(t, s.Query("INSERT INTO "+ks+".t (k, v) VALUES (1, 5)").Exec(t.Context()), "Column 'n' has to be specified")
	require.ErrorIs(t, s.Query("SELECT k FROM "+ks+".t").Scan(t.Context(), new(int)), vecql.ErrNotFound)
	exec(t, s, "INSERT INTO "+ks+".t (k, v, l, o, j, r, n) VALUES (1, 2, 'abc', 0x01, '{}', 'acb', 'n')")
}
