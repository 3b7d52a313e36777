package care

import (
	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// imported checks the target of an import's ref, and reports whether it is such a ref.
func (f *FsckRun) imported(ref core.Ref) bool {
	imported, ns, _ := ref.Name.SplitImported()
	switch {
	case imported == "":
		return false
	case ns == graph.Sessions:
		f.Session(ref.Target)
	case f.kind(ref.Target) == state.RoleReceipt:
		f.Receipt(ref.Target)
	default:
		f.history(f.peel(ref.Target))
	}
	return true
}

// wholeImported completely checks the trees of an import's ref if it leads to a commit, and reports whether it is
// such a ref.
func (f *FsckRun) wholeImported(ref core.Ref) bool {
	imported, ns, _ := ref.Name.SplitImported()
	if imported != "" && ns != graph.Sessions && f.kind(ref.Target) != state.RoleReceipt {
		f.whole(f.peel(ref.Target))
	}
	return imported != ""
}

// peel returns the commit that a tag is on, and any other CID unchanged.
func (f *FsckRun) peel(c ipld.CID) ipld.CID {
	if f.kind(c) != state.RoleTag {
		return c
	}
	tag, err := commit.ReadTag(f.Ctx, f.Repo.Facts(), c)
	if err != nil {
		f.fail(c, FsckRecord, err)
		return c
	}
	f.message(c, tag.Message)
	return tag.Target
}

// kind returns the role of a record that a ref names. An unreadable one counts as a commit: reading it as such
// reports the damage.
func (f *FsckRun) kind(c ipld.CID) state.Role {
	block, err := f.Repo.Facts().Get(f.Ctx, c)
	if err != nil || ipld.RecordKind(block) == commit.KindCommit {
		return state.RoleCommit
	}
	return state.NamedRole(block)
}
