package spec_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/mnem-project/mnem/internal/block/car"
	"github.com/mnem-project/mnem/internal/block/store/mem"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/testkit/must"
	"github.com/mnem-project/mnem/ipld"
)

// exportRequest describes an export; one member is set.
type exportRequest struct {
	Rev, Session, Receipt string
	All                   bool
}

// importName is the name under which objects of a vector are imported.
const importName = "vector"

// runCAR imports a file, and exports the same again: that gives the same bytes.
func runCAR(t *testing.T, v vector) {
	var in struct{ Before, File string }
	var want struct {
		Blocks []string
		Refs   map[string]string
		Export exportRequest
		Error  string
	}
	parse(t, v.Input, &in)
	parse(t, v.Expect, &want)
	by := state.Stamp{Author: "erin", Command: []string{"test"}}
	r := must.Get(care.New(t.Context(), mem.New(), by, core.Options{}))(t)
	take := func(file []byte) error {
		opt := exchange.ImportOptions{Stamp: by, Fallback: importName, As: "main"}
		if in.Before == "" {
			opt.As = ""
		}
		return must.Err(exchange.Import(t.Context(), r, bytes.NewReader(file), int64(len(file)), opt))
	}
	if in.Before != "" {
		must.OK(t, take(expand(t, in.Before)))
	}
	file := expand(t, in.File)
	if refusal(t, v, take(file)) {
		return
	}
	same(t, "blocks", fmt.Sprint(sections(t, file)), fmt.Sprint(want.Blocks))
	sameRefs(t, r, want.Refs, in.Before != "")
	var again bytes.Buffer
	must.Get(exchange.Export(t.Context(), r, &again, exportOptions(want.Export)))(t)
	must.True(t, bytes.Equal(again.Bytes(), file), "exported again it is\n%x, want\n%x", again.Bytes(), file)
	report, err := care.Fsck(t.Context(), r, care.FsckOptions{Full: true})
	must.True(t, err == nil && len(report.Errors) <= 0, "fsck: %v, %v", report.Errors, err)
}

func exportOptions(q exportRequest) exchange.ExportOptions {
	return exchange.ExportOptions{Rev: q.Rev, Session: q.Session, Receipt: q.Receipt, All: q.All}
}

// sections lists the CIDs of a file's blocks.
func sections(t *testing.T, file []byte) []string {
	t.Helper()
	r := must.Get(car.NewReader(bytes.NewReader(file)))(t)
	var out []string
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		must.OK(t, err)
		out = append(out, b.CID.String())
	}
}

// sameRefs checks that each ref of a file was imported under its own name or, if the repository had refs before, under
// the import's.
func sameRefs(t *testing.T, r *core.Repo, want map[string]string, before bool) {
	t.Helper()
	refs := must.Get(r.Refs(t.Context()))(t)
	var have []string
	for _, ref := range refs {
		if ref.Target != (ipld.CID{}) {
			have = append(have, string(ref.Name)+" "+ref.Target.String())
		}
	}
	for name, c := range want {
		if before {
			name = "refs/imported/" + importName + name[len("refs"):]
		}
		must.True(t, slices.Contains(have, name+" "+c), "no ref %s at %s among %v", name, c, have)
	}
}
