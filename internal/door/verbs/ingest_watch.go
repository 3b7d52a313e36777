package verbs

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/mnem-project/mnem/internal/base/filewatch"
	"github.com/mnem-project/mnem/internal/door/answers"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
	"github.com/mnem-project/mnem/internal/verb/operation"
)

// bindIngest binds the verb that keeps files, and what runs it again where they change.
func bindIngest() *line.Bound {
	v := reach.Bind(ingesting.Ingest, answers.Ingested)
	v.Around = func(ctx context.Context, c *line.Line, req any, run func(context.Context) error) error {
		if q := req.(*ingesting.IngestRequest); q.Watch {
			return watchFiles(ctx, c, q, run)
		}
		return run(ctx)
	}
	return v
}

// watchFiles keeps files, and again when some changed, until it is interrupted. In between the repository is closed.
func watchFiles(ctx context.Context, c *line.Line, q *ingesting.IngestRequest, run func(context.Context) error) error {
	own, err := c.Dir()
	if err != nil {
		return err
	}
	paths := make([]string, len(q.Paths))
	for i, path := range q.Paths {
		paths[i] = c.Absolute(path)
	}
	w, err := filewatch.New()
	if err != nil {
		return watchHint(err)
	}
	defer w.Close()
	asked := *q
	for ; ; c.Again = true {
		n, err := watchAll(ctx, w, own, paths)
		if err != nil {
			return interruptible(ctx, c, err)
		}
		*q = asked // what the run before filled in is not of this one
		if err := run(ctx); err != nil {
			if verb.OutcomeOf(ctx, err) != operation.Busy {
				return interruptible(ctx, c, err)
			}
			c.Report(ctx, err) // the next change tries again
		}
		if !c.Again {
			dirs := "1 directory"
			if n != 1 {
				dirs = fmt.Sprintf("%d directories", n)
			}
			c.Remark("watching %s; stop with Ctrl-C", dirs)
		}
		if err := line.FirstError(c.Out.Flush(), w.Wait(ctx)); err != nil {
			return interruptible(ctx, c, err)
		}
	}
}

// watchAll watches all directories, and lists them again until none is new.
func watchAll(ctx context.Context, w *filewatch.Watcher, own string, paths []string) (int, error) {
	for {
		dirs, err := ingesting.WatchedDirs(ctx, own, paths)
		if err != nil {
			return 0, err
		}
		more, err := w.Set(dirs)
		if err != nil {
			return 0, watchHint(err)
		}
		if !more {
			return len(dirs), nil
		}
	}
}

func interruptible(ctx context.Context, c *line.Line, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) && line.OutcomeOf(ctx, err) == operation.Interrupted {
		c.Exit = operation.OK.Exit
		return nil
	}
	return err
}

// watchHint says what to do if the system can watch no further directories.
func watchHint(err error) error {
	if !errors.Is(err, filewatch.ErrTooMany) {
		return err
	}
	if runtime.GOOS == "linux" {
		return line.Hint(err, "raise the limits with 'sysctl fs.inotify.max_user_watches=1048576 "+
			"fs.inotify.max_user_instances=1024', or name fewer directories")
	}
	return line.Hint(err, "raise the limit of open files with 'ulimit -n 65536', or name fewer directories")
}
