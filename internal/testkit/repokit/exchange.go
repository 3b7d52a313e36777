package repokit

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// LongText is content of more than one chunk.
var LongText = strings.Repeat("The ferry came in at dawn. ", 12_000)

// Export returns an exported file and checks its size against the result.
func Export(t testing.TB, r *core.Repo, opt exchange.ExportOptions) ([]byte, *exchange.ExportResult) {
	t.Helper()
	var b bytes.Buffer
	res := must.Get(exchange.Export(t.Context(), r, &b, opt))(t)
	if int64(b.Len()) != res.Bytes {
		t.Errorf("export says %d bytes, wrote %d", res.Bytes, b.Len())
	}
	return b.Bytes(), res
}

// TryImport imports a file as By and returns the error.
func TryImport(r *core.Repo, file []byte, opt exchange.ImportOptions) (*exchange.ImportResult, error) {
	opt.Stamp = By
	return exchange.Import(context.Background(), r, bytes.NewReader(file), int64(len(file)), opt)
}

// ImportInto is TryImport, but ends the test at an error.
func ImportInto(
	t testing.TB, r *core.Repo, file []byte, opt exchange.ImportOptions,
) *exchange.ImportResult {
	t.Helper()
	res := must.Get(TryImport(r, file, opt))(t)
	return res
}

// NodeCID returns the CID of a node's record at HEAD.
func NodeCID(t testing.TB, r *core.Repo, key string) ipld.CID {
	t.Helper()
	_, c, err := Head(t, r).Node(t.Context(), graph.NodeID(key))
	must.OK(t, err)
	return c
}

// MainRef returns the ref of the branch main, which must be the branch of HEAD.
func MainRef(t testing.TB, r *core.Repo) core.Ref {
	t.Helper()
	return core.Ref{Name: graph.BranchRef("main"), Target: Head(t, r).CID()}
}

// Pack returns a pack.
func Pack(t testing.TB, r *core.Repo, opt exchange.PackOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, exchange.Pack(t.Context(), r, &b, opt))
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
