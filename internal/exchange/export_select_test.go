package exchange_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ipfs/go-cid"

	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld/prime"
)

// TestExportSelected exports parts of a commit and reads them with another library; erased blocks are omitted.
func TestExportSelected(t *testing.T) {
	r, st := repokit.OverMem(t)
	fill(t, r)
	at := prime.Cid(repokit.Head(t, r).CID())
	const graph = `{"f":{"f>":{"graph":{"R":{"l":{"none":{}},":>":{"a":{">":{"@":{}}}}}}}}}`
	export := func(selector string) ([]cid.Cid, *exchange.ExportResult) {
		var b bytes.Buffer
		res, err := exchange.Export(t.Context(), r, &b, exchange.ExportOptions{Selector: selector})
		must.OK(t, err)
		root, order, blocks := theirs(t, b.Bytes())
		if root != at || len(blocks) != len(order) || res.Blocks != len(order) || res.Bytes != int64(b.Len()) {
			t.Errorf("%s: root %s, %d blocks of %d, %d of %d bytes", selector, root, len(blocks), res.Blocks,
				b.Len(), res.Bytes)
		}
		return order, res
	}
	if order, _ := export(`{".":{}}`); !slices.Equal(order, []cid.Cid{at}) {
		t.Errorf("the commit alone: %s", order)
	}
	before, res := export(graph)
	must.True(t, len(before) >= 10 && res.Redacted == 0, "%d blocks, %d erased", len(before), res.Redacted)
	if again, _ := export(graph); !slices.Equal(before, again) {
		t.Error("the same selector gave two files")
	}
	var b bytes.Buffer
	if _, err := exchange.Export(t.Context(), r, &b, exchange.ExportOptions{Selector: graph}); err != nil {
		t.Fatal(err)
	}
	empty, _ := repokit.OverMem(t)
	file := bytes.NewReader(b.Bytes())
	if _, err := exchange.Import(t.Context(), empty, file, file.Size(), exchange.ImportOptions{}); err == nil {
		t.Error("a part of a commit was imported as a memory")
	}
	erase(t, st, repokit.NodeCID(t, r, "alice"))
	after, res := export(graph)
	if res.Redacted != 1 || len(after) != len(before)-1 {
		t.Errorf("%d blocks of %d, %d erased", len(after), len(before), res.Redacted)
	}
}
