package repokit

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/testkit/must"
)

// LongText is content of more than one chunk.
var LongText = strings.Repeat("The ferry came in at dawn. ", 12_000)

// Export returns an exported file and checks its size against the result.
func Export(t testing.TB, r *core.Repo, opt exchange.ExportOptions) ([]byte, *exchange.ExportResult) {
	t.Helper()
	var b bytes.Buffer
	res, err := exchange.Export(t.Context(), r, &b, opt)
	must.OK(t, err)
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
	res, err := TryImport(r, file, opt)
	must.OK(t, err)
	return res
}
