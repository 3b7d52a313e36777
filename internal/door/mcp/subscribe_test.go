package mcp

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

func TestWhatAnOperationTouches(t *testing.T) {
	const told = `{"op":"o","branches":[{"branch":"main","changes":{"nodes":[
		{"id":"8fac97b2-5981-c52c-7a8b-b0936164596b","key":"svc/a b"}],"edges":[
		{"src":"11111111-5981-c52c-7a8b-b0936164596b","dst":"22222222-5981-c52c-7a8b-b0936164596b",
		"src_key":"alice","dst_key":null}],"more":false}}]}`
	read := func(told string) value {
		w := must.Get(operation.ReadValue([]byte(told)))(t)
		return w
	}
	for uri, want := range map[string]bool{
		"mnem://node/svc/a%20b":                            true,
		"mnem://node/key:alice":                            true,
		"mnem://node/22222222-5981-c52c-7a8b-b0936164596b": true,
		"mnem://node/id:8FAC":                              true,
		"mnem://node/bob":                                  false,
		"mnem://node/key:8fac":                             false,
		"mnem://commit/main":                               true,
		"mnem://commit/bafyreiaaaa":                        false,
		"mnem://diff/bafyreiaaaa..HEAD":                    true,
		"mnem://diff/bafyreiaaaa..bafyreibbbb":             false,
		"other://node/alice":                               false,
	} {
		must.Equal(t, touches(read(told), uri), want, uri)
	}
	if !touches(read(strings.Replace(told, `"more":false`, `"more":true`, 1)), "mnem://node/bob") {
		t.Error("what is not told may be any node")
	}
}
