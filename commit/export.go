package commit

import (
	"cmp"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

const (
	// KindExport is the kind of an export file's manifest.
	KindExport = "export"
	// ExportFormat is the version of the exported objects.
	ExportFormat = 1
	// MaxExportLinks is the largest number of objects, and of commits in since.
	MaxExportLinks = 16
)

// Scope says what an export file holds.
type Scope string

const (
	ScopeAll      Scope = "all"      // all branches, tags and sessions
	ScopeRevision Scope = "revision" // one commit with its history
	ScopeRange    Scope = "range"    // what one commit reaches and others do not
	ScopeSession  Scope = "session"  // one session
	ScopeReceipt  Scope = "receipt"  // one receipt
	ScopeSelector Scope = "selector" // blocks of one commit, in a file without this record
)

// Export is the manifest of an export file: its first block, from which all others are reachable.
type Export struct {
	Scope   Scope
	Format  int64         // ExportFormat
	Refs    ipld.CID      // tree: ref name to link
	Head    graph.RefName // the branch to check out, "" for none
	Objects []ipld.CID    // commits and receipts without a ref, at most MaxExportLinks, ascending
	Since   []ipld.CID    // commits the receiver must have, likewise; only for ScopeRange
	// Redacted is a tree: binary CID of an erased block to link to its redaction; undefined if no block reachable
	// from the file was erased.
	Redacted ipld.CID
	Extra    []ipld.Entry // unknown fields in canonical order
}

var exportFields = ipld.FieldNames(new(Export).fields)

func (e *Export) fields(r *ipld.Record) {
	r.Begin(KindExport, recordVersion, &e.Extra)
	r.OptString("head", (*string)(&e.Head))
	r.Link("refs", &e.Refs)
	r.String("scope", (*string)(&e.Scope))
	if r.Has("since", len(e.Since) > 0) {
		r.Links("since", &e.Since, 1, MaxExportLinks)
	}
	r.Int("format", &e.Format)
	if r.Has("objects", len(e.Objects) > 0) {
		r.Links("objects", &e.Objects, 1, MaxExportLinks)
	}
	r.OptLink("redacted", &e.Redacted)
}

// Validate returns a *graph.FieldError unless e satisfies every rule and limit that can be checked on the manifest
// alone. Only a valid one may be encoded.
func (e *Export) Validate() error { return validate(e.check, e.Encode) }

func (e *Export) check() error {
	return cmp.Or(
		e.checkScope(),
		graph.CheckLink("refs", e.Refs, ipld.DagCBOR),
		e.checkHead(),
		checkAscending("objects", e.Objects),
		checkAscending("since", e.Since),
		graph.CheckOptLink("redacted", e.Redacted),
		graph.CheckExtra(e.Extra, exportFields),
	)
}

func (e *Export) checkScope() error {
	switch e.Scope {
	case ScopeAll, ScopeRevision, ScopeRange, ScopeSession, ScopeReceipt:
	default:
		return graph.Fieldf("scope", "unknown scope %.40q", string(e.Scope))
	}
	switch {
	case e.Format != ExportFormat:
		return graph.Fieldf("format", "format %d, want %d", e.Format, ExportFormat)
	case (e.Scope == ScopeRange) != (len(e.Since) > 0):
		return graph.Fieldf("since", "%d commits in a file of scope %s", len(e.Since), e.Scope)
	}
	return nil
}

func (e *Export) checkHead() error {
	if e.Head == "" {
		return nil
	}
	if _, ok := e.Head.Branch(); !ok {
		return graph.Fieldf("head", "%.80q is not a branch", string(e.Head))
	}
	if err := graph.ValidateRef(e.Head); err != nil {
		return graph.Fieldf("head", "%v", err)
	}
	return nil
}

func checkAscending(field string, links []ipld.CID) error {
	if len(links) > MaxExportLinks {
		return graph.Fieldf(field, "%d links, limit %d", len(links), MaxExportLinks)
	}
	for i, c := range links {
		if err := graph.CheckLink(field, c, ipld.DagCBOR); err != nil {
			return err
		}
		if i > 0 && links[i-1].Compare(c) >= 0 {
			return graph.Fieldf(field, "%s after %s", c, links[i-1])
		}
	}
	return nil
}

// Encode returns the block of a valid manifest.
func (e *Export) Encode() []byte {
	return ipld.WriteRecord(160+41*(len(e.Objects)+len(e.Since)), e.fields)
}

// DecodeExport decodes the block of a manifest. It returns an error that wraps ipld.ErrInvalid for everything that
// Encode cannot have written. The manifest keeps no reference to block.
func DecodeExport(block []byte) (*Export, error) {
	e := new(Export)
	return ipld.ReadRecord(block, e, e.fields, e.check)
}
