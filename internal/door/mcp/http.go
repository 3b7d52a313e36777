package mcp

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// versionHeader names the protocol version of a request; requests without it begin a session.
	versionHeader = "Mcp-Protocol-Version"
	stateless     = "2026-07-28" // the first version whose requests stand alone
	maxBody       = 8 << 20      // bytes of a request
	// idle is how long a session may be silent before it is forgotten; its client begins a new one.
	idle = 30 * time.Minute
	// maxSessions bounds what clients that never end their sessions can fill.
	maxSessions = 1024
)

// Handler returns the server over HTTP, for one path. Requests of 2026-07-28 and later stand alone;
// those before belong to a session. It refuses requests of web pages of other origins and, if it
// listens on a loopback address, those with another host's name; who may ask is for what is around
// it to say. A session belongs to the token that began it. Sessions end with [Server.Close].
func (s *Server) Handler() http.Handler {
	alone := sdk.NewStreamableHTTPHandler(
		func(*http.Request) *sdk.Server { return s.sdk },
		&sdk.StreamableHTTPOptions{
			Stateless: true, Logger: s.libraryLog(), MaxRequestBodyBytes: maxBody,
			PropagateRequestCancellation: true,
		})
	sessions := sdk.NewStreamableHTTPHandler(
		func(r *http.Request) *sdk.Server {
			if r.Header.Get("Mcp-Session-Id") == "" && s.crowded() {
				return nil
			}
			return s.sdk
		},
		&sdk.StreamableHTTPOptions{
			Logger: s.libraryLog(), MaxRequestBodyBytes: maxBody, SessionTimeout: idle,
		})
	byVersion := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(versionHeader) >= stateless {
			alone.ServeHTTP(w, r)
			return
		}
		sessions.ServeHTTP(w, r)
	})
	return http.NewCrossOriginProtection().Handler(bound(byVersion))
}

// bound ties sessions to the token of the request that began them, whose caller they speak for: who
// comes to know the id of another's session cannot use it. That a token is one is known by then.
func bound(next http.Handler) http.Handler {
	byToken := auth.RequireBearerToken(
		func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
			return &auth.TokenInfo{UserID: fmt.Sprintf("%x", sha256.Sum256([]byte(token)))}, nil
		}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			next.ServeHTTP(w, r)
			return
		}
		byToken.ServeHTTP(w, r)
	})
}

// crowded reports whether there are as many sessions as there may be.
func (s *Server) crowded() bool {
	n := 0
	for range s.sdk.Sessions() {
		n++
	}
	return n >= maxSessions
}
