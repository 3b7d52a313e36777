package verbs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/mnem-project/mnem/internal/base/filewatch"
	"github.com/mnem-project/mnem/internal/base/plain"
	"github.com/mnem-project/mnem/internal/door/answers"
	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/reach"
	"github.com/mnem-project/mnem/internal/door/show"
	"github.com/mnem-project/mnem/internal/memory/review"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/editing"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
	"github.com/mnem-project/mnem/internal/verb/operation"
	"github.com/mnem-project/mnem/internal/verb/remembering"
)

const (
	reviewLines = 20      // that are shown of a memory
	keyCtrlC    = rune(3) // as a terminal says it that gives each key
	keyCtrlD    = rune(4) // the end of what is typed
)

// errReviewEnded is returned if a review is ended by Ctrl-C.
var errReviewEnded = &operation.Error{Outcome: operation.Interrupted, Message: "nothing of the review was done"}

// bindReview binds the verb that lists memories to review to questions on a terminal.
func bindReview() *line.Bound {
	v := reach.BindAs(remembering.Review, answers.Reviewed)
	v.Around = func(ctx context.Context, c *line.Line, req any, run func(context.Context) error) error {
		if q := req.(*remembering.ReviewRequest); reviewsHere(c, q) {
			if decided, err := reviewAll(ctx, c, q); !decided || err != nil {
				return err
			}
		}
		return run(ctx)
	}
	return v
}

// reviewsHere reports whether a terminal is asked what is to become of memories.
func reviewsHere(c *line.Line, q *remembering.ReviewRequest) bool {
	if c.App.Key == nil || !c.App.OutTTY || c.InJSON {
		return false
	}
	if _, err := c.Dir(); err != nil {
		return false // the verb says so
	}
	return !slices.ContainsFunc([]string{"keep", "drop", "pin", "set", "all", "dry-run"}, q.Given)
}

// decision is the fate of a memory: the name of a flag, "" for nothing, and the text of an edit.
type decision struct{ flag, text string }

// reviewAll asks about each memory, sets the fields of the request, and reports whether there is anything to do.
func reviewAll(ctx context.Context, c *line.Line, q *remembering.ReviewRequest) (bool, error) {
	reach.Capture(ctx, c, false)
	got, err := listToReview(ctx, c, *q)
	if err != nil {
		return false, err
	}
	if got.Left == 0 {
		return true, nil // the verb says so, and notes it
	}
	lines := bufio.NewReader(oneByte{c.App.Stdin})
	made := make([]decision, len(got.Items))
	for i := 0; i < len(got.Items); {
		if err := showReview(c, got, i); err != nil {
			return false, err
		}
		d, step, err := decideOne(c, got.Items[i], lines)
		if err != nil {
			return false, err
		}
		if step == 0 {
			break
		}
		if step < 0 {
			i = max(0, i-1)
			made[i] = decision{}
			continue
		}
		made[i] = d
		i++
	}
	lists := map[string]*[]string{"keep": &q.Keep, "drop": &q.Drop, "pin": &q.Pin, "set": &q.Edit}
	given := verb.GivenOf(q)
	for i, d := range made {
		if d.flag == "" {
			continue
		}
		value := got.Items[i].ID.String()
		if d.flag == "set" {
			value += "=" + d.text
		}
		if list := lists[d.flag]; len(*list) == 0 {
			given, c.Doing.Words = append(given, d.flag), append(c.Doing.Words, "--"+d.flag)
		}
		*lists[d.flag] = append(*lists[d.flag], value)
	}
	if len(given) == len(verb.GivenOf(q)) {
		return false, line.FirstError(c.Printf("nothing was decided\n"), c.Out.Flush())
	}
	slices.Sort(c.Doing.Words[1:]) // as flags are noted that are given
	verb.SetGiven(q, given)
	return true, nil
}

func listToReview(ctx context.Context, c *line.Line, q remembering.ReviewRequest) (got *remembering.Reviewed, err error) {
	dir, err := c.Dir()
	if err != nil {
		return nil, err
	}
	err = reach.AskAside(ctx, reach.Aside(ctx, c, dir), &remembering.Review.Spec, &q, func(answer any) error {
		got = answer.(*remembering.Reviewed)
		return nil
	})
	return got, err
}

func showReview(c *line.Line, got *remembering.Reviewed, i int) error {
	it := got.Items[i]
	head := []string{
		c.Paint(show.Dim, fmt.Sprintf("%d of %d", i+1, got.Left)),
		c.Paint(show.Bold, line.OneLine(line.FirstOf(string(it.Key), it.ID.String()))),
		plain.Word(it.Type), c.Paint(show.Dim, it.Created.String()),
	}
	if it.Pinned {
		head = append(head, "pinned")
	}
	if it.State != "" {
		head = append(head, c.Paint(show.Yellow, string(it.State)))
	}
	text := slices.Collect(strings.Lines(it.Text))
	c.Put("\n%s\n", strings.Join(head, "  "))
	for _, l := range text[:min(len(text), reviewLines)] {
		c.Put("  %s\n", plain.Brief(strings.TrimRight(l, "\n"), 10*show.SummaryWidth))
	}
	if more := len(text) - reviewLines; more > 0 {
		c.Put("  (%s more)\n", line.Plural(more, "line"))
	}
	return line.FirstError(c.Printf("keep, drop, pin, edit, skip, undo, quit? [kdpesuq] "), c.Out.Flush())
}

// decideOne waits for a key that decides, and returns how many memories to go on by: 0 to end.
func decideOne(c *line.Line, it remembering.ReviewItem, lines *bufio.Reader) (d decision, step int, err error) {
	say := func(text string) error { return line.FirstError(c.Printf("%s\n", text), c.Out.Flush()) }
	for {
		key, err := c.App.Key()
		if errors.Is(err, io.EOF) {
			key, err = keyCtrlD, nil
		}
		if err != nil {
			return d, 0, fmt.Errorf("wait for a key: %w", err)
		}
		switch unicode.ToLower(key) {
		case 'k':
			return decision{flag: "keep"}, 1, say("keep")
		case 'd':
			return decision{flag: "drop"}, 1, say("drop")
		case 'p':
			return decision{flag: "pin"}, 1, say("pin")
		case 's', ' ':
			return decision{}, 1, say("skip")
		case 'u':
			return decision{}, -1, say("undo")
		case 'q', keyCtrlD:
			return decision{}, 0, say("quit")
		case keyCtrlC:
			return decision{}, 0, line.FirstError(say(""), errReviewEnded)
		case 'e':
			text, err := newText(c, lines)
			if err != nil {
				return d, 0, err
			}
			if text == "" || text == it.Text {
				return decision{}, 1, say("not changed, to be reviewed again")
			}
			return decision{"set", text}, 1, nil
		}
	}
}

func newText(c *line.Line, lines *bufio.Reader) (string, error) {
	if err := line.FirstError(c.Printf("edit\nnew text, in one line, none to leave it: "), c.Out.Flush()); err != nil {
		return "", err
	}
	var b strings.Builder
	for {
		part, err := lines.ReadSlice('\n')
		b.Write(part)
		switch {
		case b.Len() > review.MaxReviewText:
			return "", line.Usagef("a text of more than %d bytes", review.MaxReviewText)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return "", err
		}
		return strings.TrimSpace(b.String()), nil
	}
}

// oneByte gives no more than it is asked for a byte at a time: what is typed after a line are keys.
type oneByte struct{ in io.Reader }

func (o oneByte) Read(b []byte) (int, error) { return o.in.Read(b[:min(len(b), 1)]) }

// bindRemember binds the verb that remembers to what asks a terminal whether the new memory replaces an earlier one. Requests
// may run at the same time, so each keeps what it asks about under its own request.
func bindRemember() *line.Bound {
	var asking sync.Map // of requests that a terminal waits for, *remembering.Remembered
	v := reach.Bind(remembering.Remember, answers.Remembered)
	print := v.Print
	v.Print = func(c *show.Console, req, answer any) error {
		if r, ok := answer.(*remembering.Remembered); ok && r.Settle != "" && r.Repository == "" {
			if _, asks := asking.Load(req); asks {
				asking.Store(req, r)
				r.Settle = "" // the question says it
			}
		}
		return print(c, req, answer)
	}
	v.Around = func(ctx context.Context, c *line.Line, req any, run func(context.Context) error) error {
		if !settlesHere(c) {
			return run(ctx)
		}
		asking.Store(req, (*remembering.Remembered)(nil))
		defer asking.Delete(req)
		if err := run(ctx); err != nil {
			return err
		}
		if r, _ := asking.Load(req); r.(*remembering.Remembered) != nil {
			return settle(ctx, c, req.(*remembering.RememberRequest), r.(*remembering.Remembered))
		}
		return nil
	}
	return v
}

// settlesHere reports whether a terminal is asked: one that both shows the question and is typed at.
func settlesHere(c *line.Line) bool {
	if c.App.Key == nil || !c.App.ErrTTY || c.InJSON || c.Quiet {
		return false
	}
	_, err := c.Dir()
	return err == nil
}

// settle asks whether a memory replaces the nearest earlier one, and marks that one if so. Any key but y means no.
func settle(ctx context.Context, c *line.Line, q *remembering.RememberRequest, r *remembering.Remembered) error {
	old := r.Nearest[0]
	_, err := fmt.Fprintf(c.App.Stderr, "replaces '%s' (%s)? [y/N] ", show.Brief(old.Text, show.SummaryWidth), old.Date)
	if err != nil {
		return err
	}
	key, err := c.App.Key()
	yes := err == nil && (key == 'y' || key == 'Y')
	if _, failed := fmt.Fprintln(c.App.Stderr, map[bool]string{true: "y", false: "n"}[yes]); !yes {
		return failed
	}
	mark := &editing.MarkRequest{Words: []string{"superseded", old.ID.String()}, By: r.ID.String()}
	mark.Actor, mark.OnBranch, mark.Signing = q.Actor, q.OnBranch, q.Signing
	if err := mark.Check(); err != nil {
		return err
	}
	return reach.Run(ctx, reach.Bind(editing.Mark, answers.Marked), c, mark)
}

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
