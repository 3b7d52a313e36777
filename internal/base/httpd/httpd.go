// Package httpd makes the HTTP servers of this module, over TCP and over the socket of a repository, with the same bounds
// on requests.
package httpd

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

const (
	// MaxHeader is how many bytes the line and the headers of a request or an answer may have: queries of GET are there.
	MaxHeader = 32 << 10
	// MaxBody is how many bytes of a request are held in memory, more than files and models say to most requests.
	MaxBody = 64 << 20
)

// New returns a server. The contexts of its requests end with ctx. The headers of a request must come within header, and
// the next request of a connection within idle. Bodies and answers have no time: their handlers bound them.
func New(ctx context.Context, h http.Handler, header, idle time.Duration) *http.Server {
	return &http.Server{
		Handler: h, MaxHeaderBytes: MaxHeader, ReadHeaderTimeout: header, IdleTimeout: idle,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    log.New(io.Discard, "", 0), // what clients do wrong
	}
}
