package care

import (
	"context"
	"errors"
	"fmt"

	"github.com/mnem-project/mnem/internal/block/store"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/ipld"
)

// kindErasure is the kind of the record that replaces the note of a purge that erased everything but left erased
// bytes in the files because the disk was too full to rewrite them:
//
//	v     int     1
//	kind  string  "erasure"
const kindErasure = "erasure"

// erasureNote returns that record.
func erasureNote() []byte {
	w := ipld.NewRecord(nil, nil)
	w.Version(1)
	w.Kind(kindErasure)
	return w.Finish()
}

func isErasureNote(b []byte) bool { return string(b) == string(erasureNote()) }

// ErasurePending reports whether purged bytes are still in the repository's files, since the disk had no space to
// rewrite these. Opening it for writing, a purge and a collection retry that.
func ErasurePending(ctx context.Context, r *core.Repo) (bool, error) {
	notes, ok := r.Store.(store.Notebook)
	if !ok {
		return false, nil
	}
	b, err := notes.Note(ctx)
	return isErasureNote(b), err
}

// shortage is the disk space that an erasure lacks.
type shortage struct {
	pending bool   // whether erased bytes are still in the files
	bytes   uint64 // how many bytes must be freed for these to go; 0 if the store does not know
}

// shortageOf returns the shortage that a store's error reports.
func shortageOf(err error) shortage {
	var room *store.NoRoomError
	if errors.As(err, &room) {
		return shortage{true, room.MustFree()}
	}
	return shortage{pending: errors.Is(err, store.ErrNoRoom)}
}

// expel removes erased bytes from the disk, and the note of that work. If the disk lacks space, it replaces the
// note by one that says that only this is left; if there is not even space for that note, the existing one makes
// the next opening repeat more. The same happens if the database role lacks the privilege, which the error reports.
func expel(ctx context.Context, r *core.Repo) (shortage, error) {
	erase, ok := r.Store.(store.Eraser)
	notes, okNotes := r.Store.(store.Notebook)
	if !ok || !okNotes {
		return shortage{}, fmt.Errorf("erase: %w", ErrUnsupported)
	}
	err := erase.Compact(ctx)
	lacks := shortageOf(err)
	switch {
	case lacks.pending:
		note, err := notes.Note(ctx)
		if err == nil && !isErasureNote(note) {
			err = notes.SetNote(ctx, erasureNote())
		}
		if errors.Is(err, store.ErrNoRoom) {
			err = nil
		}
		return lacks, err
	case errors.Is(err, store.ErrDenied):
		if noteErr := notes.SetNote(ctx, erasureNote()); noteErr != nil {
			return shortage{pending: true}, noteErr
		}
		return shortage{pending: true}, err
	case err != nil:
		return shortage{pending: true}, fmt.Errorf("erasure pending, all else is done: %w", err)
	}
	return shortage{}, notes.SetNote(ctx, nil)
}

// expelPending retries an erasure for which there was no space, unless other work must be finished first.
func expelPending(ctx context.Context, r *core.Repo) error {
	pending, err := ErasurePending(ctx, r)
	if err == nil && pending {
		_, err = expel(store.Erasing(ctx), r)
		_, err = notEntitled(err)
	}
	return err
}

// notEntitled returns the reason if an erasure is left to another role, or "" and any other error.
func notEntitled(err error) (why string, other error) {
	var denied *store.DeniedError
	if errors.As(err, &denied) {
		return denied.Error(), nil
	}
	return "", err
}
