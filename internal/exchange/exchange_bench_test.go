package exchange_test

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/testkit/effort"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
)

// benchRepo is a repository on disk with so many nodes, twice as many edges, and a second commit
// of one change. MNEM_LONG=2 makes it 10^5 nodes.
func benchRepo(b *testing.B) *core.Repo {
	b.Helper()
	n := effort.Pick(5_000, 5_000, 100_000)
	r, err := care.Init(b.Context(), b.TempDir(), repokit.By, core.Options{})
	must.OK(b, err)
	b.Cleanup(func() {
		if err := r.Close(); err != nil {
			b.Error(err)
		}
	})
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `{"node":{"key":"n%d","type":"T","summary":"Node %d of the harbour"}}`+"\n",
			i, i)
	}
	for i := range 2 * n {
		fmt.Fprintf(&text, `{"edge":{"type":"to","src":"n%d","dst":"n%d","key":"%s"}}`+"\n",
			i%n, (i*7919+1)%n, strconv.Itoa(i/n))
	}
	repokit.Lines(b, r, text.String())
	repokit.Lines(b, r, `{"node":{"key":"n7","summary":"Another"}}`)
	return r
}

func BenchmarkImport(b *testing.B) {
	r := benchRepo(b)
	var file bytes.Buffer
	if _, err := exchange.Export(b.Context(), r, &file, exchange.ExportOptions{All: true}); err != nil {
		b.Fatal(err)
	}
	for _, dry := range []bool{true, false} {
		b.Run(map[bool]string{true: "check", false: "write"}[dry], func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(file.Len()))
			for b.Loop() {
				b.StopTimer()
				to, err := care.Init(b.Context(), b.TempDir(), repokit.By, core.Options{})
				must.OK(b, err)
				b.StartTimer()
				repokit.ImportInto(b, to, file.Bytes(), exchange.ImportOptions{DryRun: dry})
				b.StopTimer()
				must.OK(b, to.Close())
				b.StartTimer()
			}
		})
	}
}
