// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"log"
	"net/http"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/examples/generated/shop"
)

// A service serves products and carts over HTTP.
type service struct {
	tables   *shop.Tables
	pageSize int // lines of a cart in one answer
}

// A cartPage is a page of a cart. Next is the token of the next page, empty on the last one.
type cartPage struct {
	Lines []shop.CartLine `json:"lines"`
	Next  cql.PageToken   `json:"next,omitempty"`
}

func (s service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /products/{sku}", s.product)
	mux.HandleFunc("POST /products/{sku}", s.create)
	mux.HandleFunc("GET /products/{sku}/similar", s.similar)
	mux.HandleFunc("PUT /carts/{customer}/{sku}", s.add)
	mux.HandleFunc("GET /carts/{customer}", s.cart)
	return mux
}

func (s service) product(w http.ResponseWriter, r *http.Request) {
	product, err := s.tables.Product.Get(r.Context(), r.PathValue("sku"))
	if err == nil {
		err = s.tables.ProductView.Increment.Exec(r.Context(), &shop.ProductViewIncrement{SKU: product.SKU, Views: 1})
	}
	answer(w, product, err)
}

func (s service) create(w http.ResponseWriter, r *http.Request) {
	product := shop.Product{SKU: r.PathValue("sku"), Name: r.FormValue("name")}
	existing, applied, err := s.tables.Product.InsertIfNotExists(r.Context(), &product)
	if err == nil && !applied {
		http.Error(w, "exists: "+existing.Name, http.StatusConflict)
		return
	}
	answer(w, product, err)
}

func (s service) similar(w http.ResponseWriter, r *http.Request) {
	near, err := s.tables.Product.SearchEmbedding.Like(r.Context(), 2, r.PathValue("sku"))
	answer(w, near.Hits, err)
}

func (s service) add(w http.ResponseWriter, r *http.Request) {
	line := shop.CartLine{Customer: r.PathValue("customer"), SKU: r.PathValue("sku"), Quantity: 1}
	answer(w, line, s.tables.CartLine.Insert.Exec(r.Context(), &line))
}

// cart answers GET /carts/{customer}?page=TOKEN. No token is the first page.
func (s service) cart(w http.ResponseWriter, r *http.Request) {
	token, err := cql.ParsePageToken(r.FormValue("page"))
	if err != nil {
		http.Error(w, "invalid page", http.StatusBadRequest)
		return
	}
	query := s.tables.CartLine.Partition(r.PathValue("customer")).PageSize(s.pageSize).PageState(token)
	for page, err := range vecql.Pages[shop.CartLine](r.Context(), query) { // one page
		answer(w, cartPage{page.Rows, page.Source.NextPage}, err)
	}
}

func answer(w http.ResponseWriter, v any, err error) {
	switch {
	case errors.Is(err, vecql.ErrNotFound):
		http.Error(w, "not found", http.StatusNotFound)
	case err != nil:
		log.Print(err)
		http.Error(w, "the tables cannot be used", http.StatusServiceUnavailable)
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v) // fails if the client has gone
	}
}
