// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/examples/internal/godoc"
	"github.com/vecql/vecql/search"
)

// A table of words, as the index of a text.

// wordsOf returns the words of a text.
func wordsOf(text string) []string {
	return regexp.MustCompile(`[a-z0-9]{4,}`).FindAllString(strings.ToLower(text), -1)
}

// indexWords writes a row for each word of each doc comment.
func indexWords(ctx context.Context, session *vecql.Session) error {
	err := session.Query("CREATE TABLE IF NOT EXISTS examples.words (word text, package text, symbol text, " +
		"PRIMARY KEY (word, package, symbol))").Exec(ctx)
	if err != nil {
		return err
	}
	var words, packages, symbols []string
	for doc, err := range vecql.Rows[godoc.Doc](ctx, session.Query("SELECT package, symbol, synopsis FROM examples.docs")) {
		if err != nil {
			return err
		}
		for _, w := range wordsOf(doc.Symbol + " " + doc.Synopsis) {
			words, packages, symbols = append(words, w), append(packages, doc.Package), append(symbols, doc.Symbol)
		}
	}
	rows := column.NewBatch(column.Strings("word", words), column.Strings("package", packages),
		column.Strings("symbol", symbols))
	insert := session.Query("INSERT INTO examples.words (word, package, symbol) VALUES (?, ?, ?)")
	return insert.Idempotent(true).ExecRows(ctx, rows)
}

// searchWords returns the rows with words of a text, the row with the most and the rarest words first.
func searchWords(ctx context.Context, session *vecql.Session, text string) ([]search.Hit[godoc.Doc], error) {
	scores := map[godoc.Doc]float64{}
	for _, w := range wordsOf(text) {
		docs, err := session.Query("SELECT package, symbol FROM examples.words WHERE word = ?", w).Iter(ctx).SliceMap()
		if err != nil {
			return nil, err
		}
		for _, doc := range docs {
			row := godoc.Doc{Package: doc["package"].(string), Symbol: doc["symbol"].(string)}
			scores[row] += math.Log(3000 / float64(len(docs)))
		}
	}
	var hits []search.Hit[godoc.Doc]
	for doc, score := range scores {
		hits = append(hits, search.Hit[godoc.Doc]{Row: doc, Score: float32(score)})
	}
	slices.SortFunc(hits, func(a, b search.Hit[godoc.Doc]) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Row.Name(), b.Row.Name()))
	})
	return hits[:min(200, len(hits))], nil
}
