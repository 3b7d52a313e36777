package repokit

import (
	"bytes"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// MainRef returns the ref of the branch main, which must be the branch of HEAD.
func MainRef(t testing.TB, r *core.Repo) core.Ref {
	t.Helper()
	return core.Ref{Name: graph.BranchRef("main"), Target: Head(t, r).CID()}
}

// Pack returns a pack and checks its size against the result.
func Pack(t testing.TB, r *core.Repo, opt exchange.PackOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	res, err := exchange.Pack(t.Context(), r, &b, opt)
	must.OK(t, err)
	if int64(b.Len()) != res.Bytes {
		t.Errorf("pack says %d bytes, wrote %d", res.Bytes, b.Len())
	}
	return b.Bytes()
}

// Receive takes in a pack as By; nil sends updates without a pack.
func Receive(t testing.TB, r *core.Repo, file []byte, list ...exchange.RefUpdate) (*exchange.ImportResult, error) {
	t.Helper()
	opt := exchange.ImportOptions{Stamp: By}
	if file == nil {
		return exchange.Receive(t.Context(), r, nil, 0, list, opt)
	}
	return exchange.Receive(t.Context(), r, bytes.NewReader(file), int64(len(file)), list, opt)
}
