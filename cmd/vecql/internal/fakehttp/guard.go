// SPDX-License-Identifier: Apache-2.0

package fakehttp

import (
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
)

// Web pages: a browser on the machine of the server sends requests for any page that it shows.

// Guard returns a handler that refuses what web pages of other origins can send, before h sees it. listen is the
// address that the server was told to listen on.
//
// The Host of a request must be the host of that address, a name of this machine or an address: a page that has its own
// name resolved to the address of the server (DNS rebinding) sends that name. The Origin, which browsers send, must be
// the server itself. The content of a request must not have one of the types that a page may send to any server without
// a request for permission.
func Guard(h http.Handler, listen string) http.Handler {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		host = listen
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, err := refuse(r, host)
		if err != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, "{%q: %q}\n", "error", err) // the client may have left
			return
		}
		h.ServeHTTP(w, r)
	})
}

// refuse returns the status and the reason of a request that is refused.
func refuse(r *http.Request, listen string) (status int, err error) {
	if !isOwnHost(r.Host, listen) {
		return http.StatusMisdirectedRequest, fmt.Errorf("the host %q is not this server", r.Host)
	}
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || u.Host != r.Host {
			return http.StatusForbidden, fmt.Errorf("the origin %q is not this server", origin)
		}
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return http.StatusForbidden, fmt.Errorf("the request is of another site: %q", site)
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return 0, nil
	}
	for _, value := range r.Header.Values("Content-Type") {
		switch kind, _, err := mime.ParseMediaType(value); {
		case err == nil && (kind == "application/json" || kind == "application/cql"):
		default:
			return http.StatusUnsupportedMediaType, fmt.Errorf("the content type is %q, want application/json or "+
				"application/cql (curl --json, curl -H 'Content-Type: application/cql')", value)
		}
	}
	return 0, nil
}

// isOwnHost reports whether the host of a request, perhaps with a port, is the one that the server listens on, or a
// name of this machine. A server that listens on all addresses has each address; no page has an address as its name.
func isOwnHost(host, listen string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || host != "" && strings.EqualFold(host, listen) {
		return true
	}
	at, err := netip.ParseAddr(listen)
	isAll := listen == "" || err == nil && at.IsUnspecified()
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsLoopback() || isAll
	}
	name, err := os.Hostname()
	return isAll && err == nil && strings.EqualFold(host, name)
}
