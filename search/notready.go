// SPDX-License-Identifier: Apache-2.0

package search

import (
	"errors"
	"strconv"
	"strings"

	"github.com/vecql/vecql/cql"
)

// Answers of servers whose index does not serve yet.

// Reasons of Cassandra's RequestFailureReason: INDEX_NOT_AVAILABLE, and since 6.0 INDEX_BUILD_IN_PROGRESS.
const (
	reasonIndexNotAvailable = 6
	reasonIndexBuilds       = 503
)

// notReady returns the error of a search by an index as an *IndexNotReadyError if it means that the index does not
// serve yet, else as it is. index is keyspace.index.
func notReady(index string, err error) error {
	if progress, ok := progressOf(err); ok {
		return &IndexNotReadyError{Index: index, Progress: progress, Err: err}
	}
	return err
}

// transient reports whether an error of a search ends by itself, soon: the service of vectors of ScyllaDB starts, or is
// between the end of its scan and its first answer.
func transient(err error) bool {
	a, ok := storeAnswerOf(err)
	switch {
	case !ok:
		return false
	case a.status == 0:
		return a.text == "Vector Store service is unavailable"
	}
	return a.isBootstrapping() || a.isBetween()
}

// progressOf reports whether an error means that the index exists and does not serve yet, and which part of it is
// built: from 0 to 1, or -1 if the server did not say.
func progressOf(err error) (progress float64, ok bool) {
	a, isStore := storeAnswerOf(err)
	switch {
	case !isStore:
		return -1, isBuilding(err)
	case a.status == 503:
		return percentOf(a.text), true
	case a.isBetween():
		return 1, true
	}
	return -1, a.status == 404
}

// isBuilding reports whether replicas of Cassandra did not read because they build the index. Protocol v4 has the
// reason in the text alone.
func isBuilding(err error) bool {
	var failure *cql.ReadFailureError
	if !errors.As(err, &failure) {
		return false
	}
	for _, reason := range failure.ReasonMap {
		if reason == reasonIndexNotAvailable || reason == reasonIndexBuilds {
			return true
		}
	}
	return strings.Contains(failure.Message, "INDEX_NOT_AVAILABLE") ||
		strings.Contains(failure.Message, "INDEX_BUILD_IN_PROGRESS")
}

// A storeAnswer is an answer of ScyllaDB's service of vectors, the vector store, as ScyllaDB passes it on.
type storeAnswer struct {
	status int    // of HTTP; 0 means that there was no answer
	text   string // the message, or the whole text without a status
}

// storeAnswerOf returns the answer that is in an error of ScyllaDB. Releases before 2026 have the status alone.
func storeAnswerOf(err error) (storeAnswer, bool) {
	var server *cql.ServerError
	if !errors.As(err, &server) || server.Code != cql.CodeInvalid {
		return storeAnswer{}, false
	}
	rest, ok := strings.CutPrefix(server.Message, "Vector Store error: HTTP status ")
	if !ok {
		return storeAnswer{text: server.Message}, strings.HasPrefix(server.Message, "Vector Store ")
	}
	status, text, _ := strings.Cut(rest, ", message: ")
	number, _, _ := strings.Cut(status, " ")
	n, err := strconv.Atoi(number)
	return storeAnswer{status: n, text: text}, err == nil
}

func (a storeAnswer) isBootstrapping() bool {
	return a.status == 503 && strings.Contains(a.text, "NODE_BOOTSTRAPPING")
}

// isBetween reports whether the index is built and does not answer yet.
func (a storeAnswer) isBetween() bool {
	return a.status == 500 && strings.Contains(a.text, "not serving, but full scan did finish")
}

// percentOf returns the number of "progress: 12.345%" as a part of 1; -1 if there is none.
func percentOf(text string) float64 {
	_, rest, _ := strings.Cut(text, "progress: ")
	number, _, ok := strings.Cut(rest, "%")
	percent, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(percent >= 0 && percent <= 100) {
		return -1
	}
	return percent / 100
}
