package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/operation"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/repo"
)

// maxPart bounds the answer of the user's own repository that another process has open, in bytes.
const maxPart = 64 << 20

// Global implements ops.Asker.
func (h host) Global() (ops.Runner, error) {
	c := h.c
	if c.app.Remote {
		return nil, fmt.Errorf("%w: another repository than the one that is served", errRemote)
	}
	project, err := c.dir()
	if err != nil {
		return nil, err
	}
	global, err := c.hasGlobal()
	if err != nil {
		return nil, err
	}
	if global == project {
		return nil, usagef("--with-global: %s is the user's own repository itself", project)
	}
	return func(ctx context.Context, v *ops.Spec, req any, emit func(any) error) error {
		return c.askGlobal(ctx, global, v, req, emit)
	}, nil
}

// askGlobal runs a verb on the user's own repository: here, or where another process has it open as a
// command line in that.
func (c *cli) askGlobal(
	ctx context.Context, dir string, v *ops.Spec, req any, emit func(any) error,
) error {
	var messages boundedBuffer
	out := &limitedBuffer{}
	app := *c.app
	app.Stdin, app.Stdout, app.Stderr = strings.NewReader(""), out, &messages
	app.OutTTY, app.ErrTTY = false, false
	app.forwarded = false // it is about another repository, which another process may have
	app.Getenv = func(name string) string {
		if name == "MNEM_SESSION" || name == profileEnv { // they are about the project
			return ""
		}
		return c.app.Getenv(name)
	}
	side := &cli{
		app: &app, args: verbLine(v, req, "--repo="+dir, "--json"), stdin: newReplayed(app.Stdin),
		out: bufio.NewWriterSize(out, outBuffer), started: true,
		doing: doing{ctx: ctx, name: v.Name(), words: strings.Fields(v.Command), wait: c.doing.wait},
	}
	side.global = globalFlags{repo: dir, json: true, quiet: true, wait: c.global.wait}
	err := v.Do(ctx, host{side}, req, emit)
	side.release(err)
	var elsewhere *forwardedError
	if !errors.As(err, &elsewhere) || elsewhere.code == owner.Elsewhere {
		return err
	}
	if elsewhere.code != 0 {
		if failed := readError(messages.b.Bytes()); failed != nil {
			return failed
		}
		return &operation.Error{Outcome: operation.WithExit(elsewhere.code), Message: "no answer"}
	}
	if out.full {
		return fmt.Errorf("%w: the answer has more than %d bytes: bound it with --limit and --budget",
			repo.ErrInvalid, maxPart)
	}
	answer, err := v.ReadAnswer(out.b.Bytes())
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return emit(answer)
}

// verbLine is the command line that asks for a verb: the fields that are not what they are by default.
func verbLine(v *ops.Spec, req any, more ...string) []string {
	base, err := v.New()
	if err != nil {
		panic(err) // seen by the first test that builds the commands
	}
	args, words := append(strings.Fields(v.Command), more...), []string{"--"}
	for _, f := range v.Fields() {
		value := f.Value(req).Interface()
		texts, list := value.([]string)
		switch {
		case reflect.DeepEqual(value, f.Value(base).Interface()):
			continue
		case !list:
			texts = []string{fmt.Sprint(value)}
		}
		for _, text := range texts {
			if f.Arg {
				words = append(words, text)
			} else {
				args = append(args, "--"+f.Name+"="+text)
			}
		}
	}
	if len(words) == 1 {
		return args
	}
	return append(args, words...)
}

// limitedBuffer keeps the first maxPart bytes of what is written to it.
type limitedBuffer struct {
	b    bytes.Buffer
	full bool
}

func (w *limitedBuffer) Write(p []byte) (int, error) {
	if room := maxPart - w.b.Len(); len(p) > room {
		w.full = true
		w.b.Write(p[:room])
		return len(p), nil
	}
	return w.b.Write(p)
}
