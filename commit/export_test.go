package commit

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// ascending are n links in the order of their bytes.
func ascending(n int) []ipld.CID {
	var links []ipld.CID
	for i := range n {
		b := append([]byte{1, 0x71, 0x12, 0x20, byte(i)}, make([]byte, 31)...)
		c, err := ipld.CIDFromBytes(b)
		if err != nil {
			panic(err)
		}
		links = append(links, c)
	}
	return links
}

var rawLink = ipld.Sum(ipld.Raw, nil)

func goldenExport() *Export {
	return &Export{
		Scope: ScopeRange, Format: ExportFormat, Refs: link("refs"), Head: "refs/heads/main",
		Objects: ascending(2), Since: ascending(1),
	}
}

func TestExportGolden(t *testing.T) {
	const want = "a8" + "617601" + "6468656164" + "6f" + "726566732f68656164732f6d61696e" +
		"646b696e64" + "666578706f7274"
	block := goldenExport().Encode()
	if got := hex.EncodeToString(block); !strings.HasPrefix(got, want) {
		t.Errorf("block begins %s, want %s", got[:len(want)], want)
	}
	const cid = "bafyreigwvgfatcjlnl3h44j67mucopkpm7tneoe4nqqxthucw36hiaogoi"
	if got := ipld.Sum(ipld.DagCBOR, block).String(); got != cid {
		t.Errorf("CID is %s, want %s", got, cid)
	}
	back, err := DecodeExport(block)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(goldenExport(), back, equalRecords); d != "" {
		t.Error(d)
	}
}

func TestExportLimits(t *testing.T) {
	cases := map[string]struct {
		edit func(*Export)
		ok   bool
	}{
		"nothing optional": {func(e *Export) {
			e.Scope, e.Head, e.Objects, e.Since = ScopeAll, "", nil, nil
		}, true},
		"redacted":   {func(e *Export) { e.Redacted = link("redacted") }, true},
		"16 objects": {func(e *Export) { e.Objects = ascending(16) }, true},
		"unknown field": {func(e *Export) {
			e.Extra = []ipld.Entry{{Key: "note", Value: ipld.IntValue(1)}}
		}, true},
		"17 objects":         {func(e *Export) { e.Objects = ascending(17) }, false},
		"17 since":           {func(e *Export) { e.Since = ascending(17) }, false},
		"objects descend":    {func(e *Export) { slices.Reverse(e.Objects) }, false},
		"object twice":       {func(e *Export) { e.Objects[1] = e.Objects[0] }, false},
		"raw object":         {func(e *Export) { e.Objects = e.Objects[:1]; e.Objects[0] = rawLink }, false},
		"no refs":            {func(e *Export) { e.Refs = ipld.CID{} }, false},
		"raw redacted":       {func(e *Export) { e.Redacted = rawLink }, false},
		"raw refs":           {func(e *Export) { e.Refs = ipld.Sum(ipld.Raw, nil) }, false},
		"unknown scope":      {func(e *Export) { e.Scope = "some" }, false},
		"no scope":           {func(e *Export) { e.Scope = "" }, false},
		"format 2":           {func(e *Export) { e.Format = 2 }, false},
		"format 0":           {func(e *Export) { e.Format = 0 }, false},
		"head is a tag":      {func(e *Export) { e.Head = "refs/tags/main" }, false},
		"head is HEAD":       {func(e *Export) { e.Head = graph.Head }, false},
		"head is bad":        {func(e *Export) { e.Head = "refs/heads/a..b" }, false},
		"range without base": {func(e *Export) { e.Since = nil }, false},
		"base without range": {func(e *Export) { e.Scope = ScopeAll }, false},
		"known as unknown": {func(e *Export) {
			e.Extra = []ipld.Entry{{Key: "since", Value: ipld.IntValue(1)}}
		}, false},
	}
	for name, c := range cases {
		e := goldenExport()
		c.edit(e)
		if err := e.check(); (err == nil) != c.ok || err != nil && !errors.Is(err, graph.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
		if !c.ok {
			continue
		}
		back, err := DecodeExport(e.Encode())
		if err != nil || !bytes.Equal(back.Encode(), e.Encode()) {
			t.Errorf("%s: read back: %v", name, err)
		}
	}
}

func TestExportDecodeRefuses(t *testing.T) {
	golden := hex.EncodeToString(goldenExport().Encode())
	edits := map[string][2]string{
		"other kind":  {"666578706f7274", "666578706f7275"},
		"version 2":   {"617601", "617602"},
		"empty head":  {"6f726566732f68656164732f6d61696e", "60"},
		"empty since": {"6573696e636581d82a58250001711220" + strings.Repeat("00", 32), "6573696e636580"},
		"format text": {"66666f726d617401", "66666f726d61746131"},
	}
	for name, edit := range edits {
		if !strings.Contains(golden, edit[0]) {
			t.Errorf("%s: the golden record has no %s", name, edit[0])
			continue
		}
		block, err := hex.DecodeString(strings.Replace(golden, edit[0], edit[1], 1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeExport(block); !errors.Is(err, ipld.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzDecodeExport checks that whatever decodes, encodes to the same bytes.
func FuzzDecodeExport(f *testing.F) {
	f.Add(goldenExport().Encode())
	f.Fuzz(func(t *testing.T, block []byte) {
		e, err := DecodeExport(block)
		if err != nil {
			if !errors.Is(err, ipld.ErrInvalid) {
				t.Fatal(err)
			}
			return
		}
		if got := e.Encode(); !bytes.Equal(got, block) {
			t.Fatalf("encodes to %x", got)
		}
	})
}
