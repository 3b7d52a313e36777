package core

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/ipld"
)

// TagInfo is one tag.
type TagInfo struct {
	Name   string
	Commit ipld.CID
	CID    ipld.CID    // of the record; undefined for a plain tag
	Record *commit.Tag // nil for a plain tag
}

// TagOptions says how a tag is made.
type TagOptions struct {
	RefOptions
	Annotate bool // record who made it, when and why; else the tag is a ref alone
	Message  string
}

// Tags lists, makes and removes tags.
type Tags struct{ repo *Repo }

// Tags returns the tags.
func (r *Repo) Tags() Tags { return Tags{r} }

// List returns all tags in name order.
func (ts Tags) List(ctx context.Context) ([]TagInfo, error) {
	v, err := ts.repo.Current(ctx)
	if err != nil {
		return nil, err
	}
	var all []TagInfo
	for ref, err := range v.List(ctx, graph.Tags) {
		if err != nil {
			return nil, err
		}
		tag, err := ts.read(ctx, ref)
		if err != nil {
			return nil, err
		}
		all = append(all, tag)
	}
	return all, nil
}

func (ts Tags) read(ctx context.Context, ref Ref) (TagInfo, error) {
	_, name := ref.Name.Split()
	tag := TagInfo{Name: name}
	var err error
	if tag.Commit, err = ts.repo.Revisions().Peel(ctx, ref.Target, string(ref.Name)); err != nil {
		return tag, err
	}
	if tag.Commit != ref.Target {
		tag.CID = ref.Target
		tag.Record, err = commit.ReadTag(ctx, ts.repo.Facts(), ref.Target)
	}
	return tag, err
}

// Create gives the commit of a revision, HEAD if that is empty, a name. It returns an error
// wrapping fs.ErrExist if there is a tag of that name, unless forced, which replaces it.
func (ts Tags) Create(ctx context.Context, name, rev string, opt TagOptions) (TagInfo, error) {
	tag := TagInfo{Name: name}
	if err := CheckNewName("tag", name); err != nil {
		return tag, err
	}
	if rev == "" {
		rev = string(graph.Head)
	}
	_, err := ts.repo.Transact(ctx, opt.Stamp, func(t *Tx) error {
		c, err := ts.repo.Revisions().ResolveIn(ctx, t.View, rev)
		if err != nil {
			return err
		}
		ref := graph.TagRef(name)
		_, ok, err := t.old(ctx, ref, opt.RefOptions)
		if err == nil && ok && !opt.Force {
			err = fmt.Errorf("tag %q: %w", name, fs.ErrExist)
		}
		if err != nil {
			return err
		}
		tag.Commit = c
		if opt.Annotate {
			if tag.CID, tag.Record, err = t.annotate(ctx, tag, opt); err != nil {
				return err
			}
			c = tag.CID
		}
		t.SetRef(ref, c)
		return nil
	})
	return tag, err
}

func (t *Tx) annotate(ctx context.Context, tag TagInfo, opt TagOptions) (ipld.CID, *commit.Tag, error) {
	if _, err := CheckTexts(opt.Stamp, opt.Message); err != nil {
		return ipld.CID{}, nil, err
	}
	rec := &commit.Tag{Target: tag.Commit, Name: tag.Name, Tagger: opt.Author, Time: opt.Time}
	if err := commit.CheckMessage(opt.Message); err != nil {
		return ipld.CID{}, nil, fmt.Errorf("%w: tag: %w", state.ErrInvalid, err)
	}
	var err error
	if rec.Message, err = t.putMessage(ctx, opt.Message); err != nil {
		return ipld.CID{}, nil, err
	}
	if err := rec.Validate(); err != nil {
		return ipld.CID{}, nil, fmt.Errorf("%w: tag: %w", state.ErrInvalid, err)
	}
	c, err := t.Put(ctx, rec.Encode())
	return c, rec, err
}

// Remove removes a tag and returns it. Its commit stays reachable through older operations, and
// through other refs if they lead to it.
func (ts Tags) Remove(ctx context.Context, name string, opt RefOptions) (TagInfo, error) {
	var was TagInfo
	_, err := ts.repo.Transact(ctx, opt.Stamp, func(t *Tx) error {
		ref := graph.TagRef(name)
		old, ok, err := t.old(ctx, ref, opt)
		if err == nil && !ok {
			err = &state.NotFoundError{What: "tag", Name: name}
		}
		if err != nil {
			return err
		}
		t.RemoveRef(ref)
		was, err = ts.read(ctx, old)
		return err
	})
	return was, err
}
