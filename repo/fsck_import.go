package repo

import (
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/ipld"
)

// imported checks what a ref of an import leads to, and reports whether it is one.
func (f *fsck) imported(ref Ref) bool {
	imported, ns, _ := ref.Name.SplitImported()
	switch {
	case imported == "":
		return false
	case ns == graph.Sessions:
		f.session(ref.Target)
	case f.kind(ref.Target) == roleReceipt:
		f.receipt(ref.Target)
	default:
		f.history(f.peel(ref.Target))
	}
	return true
}

// wholeImported checks the trees that a ref of an import leads to from end to end, where it leads
// to a commit, and reports whether it is such a ref.
func (f *fsck) wholeImported(ref Ref) bool {
	imported, ns, _ := ref.Name.SplitImported()
	if imported != "" && ns != graph.Sessions && f.kind(ref.Target) != roleReceipt {
		f.whole(f.peel(ref.Target))
	}
	return imported != ""
}

// peel returns the commit that a tag is on, and any other CID as it is.
func (f *fsck) peel(c ipld.CID) ipld.CID {
	if f.kind(c) != roleTag {
		return c
	}
	tag, err := commit.ReadTag(f.ctx, f.repo.facts(), c)
	if err != nil {
		f.fail(c, FsckRecord, err)
		return c
	}
	f.message(c, tag.Message)
	return tag.Target
}

// kind returns the role of a record that a ref names. One that cannot be read is taken for a
// commit: whoever reads it as one names the damage.
func (f *fsck) kind(c ipld.CID) role {
	block, err := f.repo.facts().Get(f.ctx, c)
	if err != nil || ipld.RecordKind(block) == commit.KindCommit {
		return roleCommit
	}
	return namedRole(block)
}
