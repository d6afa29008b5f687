// SPDX-License-Identifier: Apache-2.0

package data

import (
	"math/rand/v2"

	"github.com/vecql/vecql/column"
)

// Table lineitem of TPC-H, with the columns of queries 1 and 6. Section 4.2.3 of the specification states the
// distributions. The table is not made by dbgen, so that its answers are not the specification's.

const (
	ordersPerScale = 1_500_000
	partsPerScale  = 200_000

	startDate   = 8035        // 1992-01-01
	lastOrder   = 10591 - 151 // 1998-12-31 less 151 days
	currentDate = 9298        // 1995-06-17
	maxLines    = 7           // of an order
	orderBlock  = blockRows * 2 / maxLines
)

// lineItem makes the rows of lineitem.
type lineItem struct {
	orders, parts int64
	random        *rand.Rand
}

func newLineItem(o Options) *lineItem {
	return &lineItem{
		orders: max(1, int64(o.Scale*ordersPerScale)), parts: max(1, int64(o.Scale*partsPerScale)),
		random: rand.New(rand.NewPCG(o.Seed, hash(o.Seed, 22))),
	}
}

// lines are rows of lineitem.
type lines struct {
	quantity, price, discount, tax []int64 // in hundredths
	returned, status               []byte
	ship                           []int32
}

// batches yields the table in blocks of orders.
func (t *lineItem) batches(yield func(func() *column.Batch) bool) {
	for made := int64(0); made < t.orders; made += orderBlock {
		var l lines
		for range min(orderBlock, t.orders-made) {
			t.appendOrder(&l)
		}
		if !yield(l.batch) {
			return
		}
	}
}

// between returns a number from least to most.
func (t *lineItem) between(least, most int64) int64 { return least + t.random.Int64N(most-least+1) }

// appendOrder appends the lines of an order: 1 to 7.
func (t *lineItem) appendOrder(l *lines) {
	ordered := t.between(startDate, lastOrder)
	for range t.between(1, maxLines) {
		part := t.between(1, t.parts)
		quantity := t.between(1, 50)
		retail := 90_000 + part/10%20_001 + 100*(part%1_000)
		shipped := ordered + t.between(1, 121)
		received := shipped + t.between(1, 30)
		returned, status := byte('N'), byte('F')
		if received <= currentDate {
			returned = "RA"[t.random.IntN(2)]
		}
		if shipped > currentDate {
			status = 'O'
		}
		l.quantity, l.price = append(l.quantity, 100*quantity), append(l.price, quantity*retail)
		l.discount, l.tax = append(l.discount, t.between(0, 10)), append(l.tax, t.between(0, 8))
		l.returned, l.status = append(l.returned, returned), append(l.status, status)
		l.ship = append(l.ship, int32(shipped))
	}
}

func (l *lines) batch() *column.Batch {
	money := column.Type{Kind: column.Decimal64, Precision: 15, Scale: 2}
	offsets := make([]int32, len(l.ship)+1)
	for i := range offsets {
		offsets[i] = int32(i)
	}
	as := func(c column.Column, t column.Type) column.Column {
		c, err := c.WithType(t)
		if err != nil {
			panic(err) // the types are constant
		}
		return c
	}
	return column.NewBatch(
		as(column.Of("l_quantity", l.quantity), money), as(column.Of("l_extendedprice", l.price), money),
		as(column.Of("l_discount", l.discount), money), as(column.Of("l_tax", l.tax), money),
		column.StringBuffers("l_returnflag", l.returned, offsets), column.StringBuffers("l_linestatus", l.status, offsets),
		as(column.Of("l_shipdate", l.ship), date),
	)
}
