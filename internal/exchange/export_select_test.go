package exchange_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ipfs/go-cid"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/internal/testkit/repokit"
	"github.com/mnem-project/mnem/ipld"
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
		res := must.Get(exchange.Export(t.Context(), r, &b, exchange.ExportOptions{Selector: selector}))(t)
		root, order, blocks := theirs(t, b.Bytes())
		must.True(t, root == at && len(blocks) == len(order) && res.Blocks == len(order) && res.Bytes == int64(b.Len()),
			"%s: root %s, %d blocks of %d, %d of %d bytes", selector, root, len(blocks), res.Blocks, b.Len(), res.Bytes)
		return order, res
	}
	order, _ := export(`{".":{}}`)
	must.True(t, slices.Equal(order, []cid.Cid{at}), "the commit alone: %s", order)
	before, res := export(graph)
	must.True(t, len(before) >= 10 && res.Redacted == 0, "%d blocks, %d erased", len(before), res.Redacted)
	again, _ := export(graph)
	must.True(t, slices.Equal(before, again), "the same selector gave two files")
	var b bytes.Buffer
	must.OK(t, must.Err(exchange.Export(t.Context(), r, &b, exchange.ExportOptions{Selector: graph})))
	empty, _ := repokit.OverMem(t)
	file := bytes.NewReader(b.Bytes())
	_, err := exchange.Import(t.Context(), empty, file, file.Size(), exchange.ImportOptions{})
	must.True(t, err != nil, "a part of a commit was imported as a memory")
	erase(t, st, repokit.NodeCID(t, r, "alice"))
	after, res := export(graph)
	must.True(t, res.Redacted == 1 && len(after) == len(before)-1,
		"%d blocks of %d, %d erased", len(after), len(before), res.Redacted)
}

// everything has each field of nodes, edges and marks, and values of all kinds.
const everything = `{"node":{"key":"a \"b\" ü","type":"T","summary":"s\nt","context":"c","cues":["q","r"],"sources":["file:x.md#L1"],"created":"2020-01-02T03:04:05.000006Z","validFrom":"2021-01-01","validTo":"2022-01-01","props":{"i":-3,"f":0.1,"g":3.0,"t":true,"n":null,"l":[1,"x",{"y":2}],"b":{"/":{"bytes":"AQID"}},"m":{"z":"\u0000"}}}}
{"node":{"key":"long","type":"T","created":"2020-01-01","content":{"text":"%s","media":"text/markdown"}}}
{"node":{"type":"Fact","summary":"a node without a key"}}
{"edge":{"type":"knows","src":"a \"b\" ü","dst":"long","key":"k","weight":0.25,"props":{"since":2024},"sources":["file:y.md"],"validFrom":"2021-01-01","validTo":"2022-01-01","created":"2020-01-01"}}
{"edge":{"type":"knows","src":"a \"b\" ü","dst":"long","props":{"parallel":1}}}
{"edge":{"type":"is","src":"long","dst":"long","weight":1}}
{"mark":{"node":"long","state":"superseded","by":"a \"b\" ü","reason":"r","actor":"bob","time":"2020-01-01"}}
{"mark":{"edge":{"type":"is","src":"long","dst":"long"},"state":"stale"}}
`

// TestLinesRoundTrip writes a graph as change lines, which make the same graph.
func TestLinesRoundTrip(t *testing.T) {
	first, _ := repokit.OverMem(t)
	repokit.Lines(t, first, fmt.Sprintf(everything, strings.Repeat(`words \"and\" ü `, 20_000)))
	graph := func(r *core.Repo, text *string) (ipld.CID, *exchange.LinesResult) {
		t.Helper()
		s := must.Get(r.Snapshot(t.Context(), "HEAD"))(t)
		var out bytes.Buffer
		res := must.Get(exchange.ExportLines(t.Context(), s, &out))(t)
		*text = out.String()
		return s.Graph(), res
	}
	var text, again string
	want, res := graph(first, &text)
	must.True(t, res.Nodes == 3 && res.Edges == 3 && res.Marks == 2 && len(res.Left) == 0, "%+v", res)
	second, _ := repokit.OverMem(t)
	repokit.Lines(t, second, text)
	if got, _ := graph(second, &again); got != want {
		t.Errorf("another graph: %s", cmp.Diff(text, again))
	}
	repokit.Lines(t, first, `{"node":{"key":"long","summary":"changed"}}
{"embedding":{"node":"long","model":"m","vector":[0.5,-1]}}
`)
	_, res = graph(first, &text)
	must.True(t, res.Left[exchange.LeftUpdated] == 1 && res.Left[exchange.LeftVectors] == 1, "left %v", res.Left)
}
