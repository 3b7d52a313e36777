package cli

import (
	"context"
	"io"
	"os"
	"slices"

	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/remote"
	"github.com/mnem-project/mnem/remote/s3"
)

// geometric returns the packs with the last ones made one where they are not each at least twice as large as all
// that follow.
func (s *s3Side) geometric(ctx context.Context) ([]s3Pack, error) {
	packs := slices.Clone(s.read.Packs)
	from, after := len(packs), int64(0)
	for i := len(packs) - 1; i >= 0; i-- {
		if packs[i].Size < 2*after {
			from = i
		}
		after += packs[i].Size
	}
	if from >= len(packs)-1 {
		return packs, nil
	}
	var have []ipld.CID
	for _, p := range packs[:from] {
		refs, err := parseGitRefs(p.Refs)
		if err != nil {
			return nil, err
		}
		for _, ref := range refs {
			have = append(have, ref.Target)
		}
	}
	slices.Reverse(have) // the newest tell most
	have = have[:min(len(have), remote.MaxAsked)]
	st, err := s.mirror.Look(ctx, remote.Question{Commits: have})
	if err != nil {
		return nil, err
	}
	p, err := s.repack(ctx, st.Known)
	for _, old := range packs[from:] {
		p.Covers = append(append(p.Covers, old.Covers...), old.Parts[0])
	}
	if len(p.Covers) > s3Covered {
		p.Covers = nil // mirrors that are far behind read it
	}
	return append(packs[:from], p), err
}

// repack writes one pack of what refs lead to and some commits do not.
func (s *s3Side) repack(ctx context.Context, have []ipld.CID) (p s3Pack, err error) {
	f, err := os.CreateTemp(s.dir, "pack-*")
	if err != nil {
		return p, err
	}
	defer func() { _, _ = f.Close(), os.Remove(f.Name()) }() // it was read
	if err := s.mirror.Send(ctx, f, remote.Want{Refs: s.refs, Have: have}, 0); err != nil {
		return p, err
	}
	info, err := f.Stat()
	if err != nil {
		return p, err
	}
	return s.store(ctx, io.NewSectionReader(f, 0, info.Size()), s.refs)
}

// sweep removes packs that no memory has named for a grace. What it cannot remove the next one does.
func (s *s3Side) sweep(ctx context.Context) {
	if s.now.IsZero() {
		return // the clock of this machine says nothing about that of the store
	}
	named := make(map[string]bool)
	for _, p := range s.read.Packs {
		for _, name := range p.Parts {
			named[s3Packs+name] = true
		}
	}
	before := s.now.Add(-s3Grace)
	_ = s.at.List(ctx, s3Packs, func(o s3.Listed) error { // what was written is there
		if named[o.Key] || o.At.IsZero() || o.At.After(before) {
			return nil
		}
		return s.at.Delete(ctx, o.Key)
	})
}
