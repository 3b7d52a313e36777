package remembering

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/ipld"
)

const (
	reviewFile = "review.json"
	// maxReviewFile bounds the file in bytes, maxKept how many memories are noted one by one.
	maxReviewFile = 4 << 20
	maxKept       = 20_000
)

// reviewState says how far the reviews of a branch came.
type reviewState struct {
	Commit ipld.CID   `json:"commit"` // memories there are reviewed
	Kept   []graph.ID `json:"kept"`   // of what came later: these are reviewed, too
	Listed ipld.CID   `json:"listed"` // the state at the last listing
}

func (s *reviewState) keep(ids []graph.ID) error {
	has := setOf(s.Kept)
	for _, id := range ids {
		if !has[id] {
			has[id], s.Kept = true, append(s.Kept, id)
		}
	}
	if len(s.Kept) > maxKept {
		return verb.Hint(fmt.Errorf("%w: more than %d memories one by one", errReview, maxKept),
			"'mnem review --all' keeps all that was listed", "")
	}
	return nil
}

// rest notes that all was reviewed that was there at a commit.
func (s *reviewState) rest(ctx context.Context, at *core.Snapshot) error {
	var later []graph.ID
	for _, id := range s.Kept {
		if _, _, err := at.Node(ctx, id); errors.Is(err, store.ErrNotFound) {
			later = append(later, id)
		} else if err != nil {
			return err
		}
	}
	s.Commit, s.Kept = at.CID(), later
	return nil
}

func setOf(ids []graph.ID) map[graph.ID]bool {
	set := make(map[graph.ID]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// reviewStates holds the states of all branches, as stored.
type reviewStates struct {
	V        int                     `json:"v"`
	Branches map[string]*reviewState `json:"branches"`
}

func parseReview(path string, data []byte) (*reviewStates, error) {
	all := &reviewStates{V: 1, Branches: map[string]*reviewState{}}
	if data == nil {
		return all, nil
	}
	if err := json.Unmarshal(data, all); err != nil || all.V != 1 {
		return nil, verb.Hint(fmt.Errorf("%w: %s is damaged", errReview, path),
			"remove the file: then all is to be reviewed", "")
	}
	if all.Branches == nil {
		all.Branches = map[string]*reviewState{}
	}
	return all, nil
}

// readReview returns how far the reviews of a branch came: nowhere if nothing says so.
func readReview(dir, branch string) (*reviewState, error) {
	path := filepath.Join(dir, reviewFile)
	data, err := filestate.Read(path, maxReviewFile)
	if err != nil {
		return nil, err
	}
	all, err := parseReview(path, data)
	if err != nil {
		return nil, err
	}
	if s := all.Branches[branch]; s != nil {
		return s, nil
	}
	return new(reviewState), nil
}

// editReview changes how far the reviews of a branch came, and returns how far that is then.
func editReview(
	ctx context.Context, dir, branch string, change func(*reviewState) error,
) (state *reviewState, err error) {
	path := filepath.Join(dir, reviewFile)
	err = filestate.Edit(ctx, path, filestate.EditOptions{Limit: maxReviewFile}, func(old []byte) ([]byte, error) {
		all, err := parseReview(path, old)
		if err != nil {
			return nil, err
		}
		if state = all.Branches[branch]; state == nil {
			state = new(reviewState)
			all.Branches[branch] = state
		}
		if err := change(state); err != nil {
			return nil, err
		}
		data, err := json.Marshal(all)
		if err == nil && len(data) > maxReviewFile {
			err = fmt.Errorf("%w: more than %d bytes", errReview, maxReviewFile)
		}
		return data, err
	})
	return state, err
}
