// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/jinzhu/inflection"
)

// Names of Go for names of CQL.

// acronyms are the words that Go writes in capitals.
var acronyms = func() map[string]string {
	words := map[string]string{"ids": "IDs", "urls": "URLs", "uuids": "UUIDs", "ips": "IPs"}
	for _, w := range strings.Fields(`acl api ascii cpu cql css cvv dns eof gps grpc guid html http https id ip json jwt lhs oid os qps
		ram rhs rpc sha sku sla smtp sql ssh ssn tcp tls ttl udp ui uid uri url utc utf8 uuid vm xml xmpp xsrf xss`) {
		words[w] = strings.ToUpper(w)
	}
	return words
}()

// exported returns the exported name of Go for a name of CQL: "user_id" and "userId" are UserID.
func exported(name string) string {
	var b strings.Builder
	for _, word := range wordsOf(name) {
		b.WriteString(capitalized(word))
	}
	s := b.String()
	if first := []rune(s); len(first) == 0 || !unicode.IsUpper(first[0]) { // a digit, or a script without capitals
		s = "X" + s
	}
	return s
}

// capitalized returns a word as it stands in a name of Go.
func capitalized(word string) string {
	if s, ok := acronyms[strings.ToLower(word)]; ok {
		return s
	}
	runes := []rune(word)
	return string(unicode.ToUpper(runes[0])) + string(runes[1:])
}

// wordsOf returns the words of a name: runs of letters and digits. A capital after a small letter begins a word.
func wordsOf(name string) (words []string) {
	start, last := -1, rune(0)
	for i, r := range name {
		isWord := unicode.IsLetter(r) || unicode.IsDigit(r)
		if start >= 0 && (!isWord || unicode.IsUpper(r) && unicode.IsLower(last)) {
			words = append(words, name[start:i])
			start = -1
		}
		if isWord && start < 0 {
			start = i
		}
		last = r
	}
	if start >= 0 {
		words = append(words, name[start:])
	}
	return words
}

// parameter returns the name of a parameter for the exported name of a field: UserID is userID, URL is url. A name
// that has a meaning in generated code gets the ending Value.
func parameter(field string) string {
	runes := []rune(field)
	n := 0 // capitals at the start
	for n < len(runes) && unicode.IsUpper(runes[n]) {
		n++
	}
	switch {
	case n == len(runes) || acronyms[strings.ToLower(field)] != "":
		field = strings.ToLower(field)
	case n > 1 && unicode.IsLetter(runes[n]):
		field = strings.ToLower(string(runes[:n-1])) + string(runes[n-1:])
	default:
		field = strings.ToLower(string(runes[:n])) + string(runes[n:])
	}
	if token.IsKeyword(field) || types.Universe.Lookup(field) != nil || slices.Contains(usedNames, field) {
		field += "Value"
	}
	return field
}

// usedNames are the names that generated methods use: the receiver, a parameter, variables and packages.
var usedNames = []string{
	"t", "ctx", "query", "statement", "context", "iter", "vecql", "cql", "search", "time", "big", "netip",
}

// singular returns the name of a row for the name of a table: "order_items" is order_item.
func singular(table string) string {
	words := wordsOf(table)
	if len(words) == 0 {
		return table
	}
	last := words[len(words)-1]
	if slices.Contains(unchanged, strings.ToLower(last)) {
		return table
	}
	at := strings.LastIndex(table, last)
	return table[:at] + inflection.Singular(last) + table[at+len(last):]
}

// unchanged are words whose singular form is not what a row is called.
var unchanged = strings.Fields("data metadata media meta campus os dns gps sms https status this")

// A nameSet is the names of one scope.
type nameSet map[string]bool

// add adds a name, with a number if the scope has it, and returns the name as added.
func (s nameSet) add(name string) string { return name + s.addAll(name) }

// addAll adds names with one number, and returns it: "" if the scope has none of them.
func (s nameSet) addAll(names ...string) (number string) {
	isTaken := func(name string) bool { return s[name+number] }
	for n := 2; slices.ContainsFunc(names, isTaken); n++ {
		number = strconv.Itoa(n)
	}
	for _, name := range names {
		s[name+number] = true
	}
	return number
}
