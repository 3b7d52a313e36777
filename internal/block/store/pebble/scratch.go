package pebble

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/mnem-project/mnem/internal/block/store"
)

// scratchPrefix begins the names of temporary files.
const scratchPrefix = "scratch-"

// scratch is a temporary file.
type scratch struct {
	vfs.File
	fs   vfs.FS
	name string
}

// Scratch makes a file next to the database.
func (s *Store) Scratch(ctx context.Context) (store.Scratch, error) {
	if err := s.enterWrite(ctx); err != nil {
		return nil, err
	}
	defer s.exit()
	if err := s.room(ctx, 0); err != nil {
		return nil, fmt.Errorf("make scratch file: %w", err)
	}
	name := s.fs.PathJoin(s.dir, fmt.Sprint(scratchPrefix, s.scratches.Add(1)))
	f, err := s.fs.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, fmt.Errorf("make scratch file: %w", err)
	}
	return &scratch{f, s.fs, name}, nil
}

func (f *scratch) Close() error { return errors.Join(f.File.Close(), f.fs.Remove(f.name)) }

// removeScratch removes files that a process left when it ended before closing them.
func (s *Store) removeScratch() error {
	names, err := s.fs.List(s.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, scratchPrefix) {
			if err := removeIfThere(s.fs, s.fs.PathJoin(s.dir, name)); err != nil {
				return fmt.Errorf("remove scratch file: %w", err)
			}
		}
	}
	return nil
}
