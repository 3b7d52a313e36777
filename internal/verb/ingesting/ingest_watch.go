package ingesting

import (
	"context"
	"os"
	"path/filepath"

	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/ingest"
)

// WatchedDirs returns the directories in which a change may be one of what ingest keeps of paths: each that it
// reads, and those of files that are named. own is the directory that holds the repository. What cannot be
// read is left out: ingest says so.
func WatchedDirs(ctx context.Context, own string, paths []string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	add := func(dir string) {
		if !seen[dir] {
			seen[dir] = true
			out = append(out, dir)
		}
	}
	for _, arg := range paths {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			add(filepath.Dir(arg))
			continue
		}
		root, start := arg, "."
		if rel, inside := within(own, arg); inside {
			root, start = own, rel // where ignore files above it hold too
		}
		found, err := walkDir(ctx, root, start)
		if err != nil {
			return nil, err
		}
		for _, dir := range found.Dirs {
			add(filepath.Join(root, filepath.FromSlash(dir)))
		}
	}
	return out, nil
}

func walkDir(ctx context.Context, dir, start string) (*ingest.Walked, error) {
	root, err := regular.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read
	return ingest.Walk(ctx, regular.FS(root), start)
}
