package peers

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/accesses"
	"github.com/mnem-project/mnem/retrieve"
)

// modelsWithin is how long the caller may take to have a model answer, or a verb run elsewhere. Its own
// bounds are shorter, and nobody waits for it: the repository is not written meanwhile.
const modelsWithin = time.Hour

// Models implements verb.Host: the caller's model is asked by the caller.
func (h *host) Models(m *verb.QuestionModels) (*complete.Models, retrieve.Reranker, error) {
	r, err := h.askFor(question{Models: m}, modelsWithin)
	if err != nil {
		return nil, nil, err
	}
	return &complete.Models{Rewriter: remoteRewriter{h}, Rewrites: r.Rewrites}, nil, nil
}

// remoteRewriter is a rewriter of the caller.
type remoteRewriter struct{ h *host }

func (w remoteRewriter) Rewrite(_ context.Context, way, query string, n int) ([]string, error) {
	r, err := w.h.askFor(question{Rewrite: &rewriting{way, query, n}}, modelsWithin)
	if err != nil {
		return nil, err
	}
	return r.Texts, nil
}

// Clock implements verb.Host.
func (h *host) Clock() func() time.Duration {
	now := h.opt.Now
	if now == nil {
		now = time.Now
	}
	begin := now()
	return func() time.Duration { return now().Sub(begin) }
}

// Shown implements verb.Host. An answer that was given stays one, whatever happens here.
func (h *host) Shown(ctx context.Context, nodes map[graph.ID]int64) {
	if !h.call.Accesses || len(nodes) == 0 {
		return
	}
	if err := accesses.Add(ctx, filepath.Join(h.dir, accesses.File), nodes); err != nil {
		h.tell(Tidings{Remark: "warning: accesses are not counted: " + err.Error()})
	}
}

// Read implements verb.Host: a copy of the caller's file, which can be read anywhere.
func (h *host) Read(_ context.Context, name string) (*verb.File, error) {
	if len(h.call.Inputs) != 1 {
		return nil, fmt.Errorf("%w: %s is not sent with the call", owner.ErrProtocol, name)
	}
	f, err := SpoolFile(h.dir, h.verb.Input(0))
	if errors.As(err, new(*fs.PathError)) { // of the copy: what the caller cannot read it says itself
		err = fmt.Errorf("copy %s: %w", h.call.Inputs[0], err)
	}
	if err != nil {
		return nil, err
	}
	return &verb.File{ReaderAt: f, Size: f.Size, Close: func() { _ = f.Close() }}, nil // only read from
}

// Create implements verb.Host: the caller has begun to write its file, and keeps it if the verb succeeds.
func (h *host) Create(_ context.Context, _ string, write func(io.Writer) error) error {
	out := bufio.NewWriterSize(h.verb.File, outBuffer)
	return cmp.Or(write(out), out.Flush())
}

// OpenRoot implements verb.Host: the directory is one of this machine, which both processes are on.
func (h *host) OpenRoot(dir string) (*os.Root, error) {
	switch {
	case dir == "":
		dir = h.call.Root
	case h.call.Caller.Remote:
		return nil, fmt.Errorf("%w: an argument names a file", verb.ErrRemote)
	case !filepath.IsAbs(dir):
		dir = filepath.Join(h.call.Dir, dir)
	}
	return regular.OpenDir(filepath.Clean(dir))
}

// Embedder implements verb.Host: the model is asked by the caller.
func (h *host) Embedder(spec string, progress func(done, total int)) (verb.Embedder, error) {
	r, err := h.askFor(question{Embeds: &spec}, modelsWithin)
	if err != nil {
		return nil, err
	}
	return &nodeEmbedder{h: h, model: r.Embedder, dim: r.Dim, maxText: r.MaxText, progress: progress}, nil
}

// nodeEmbedder is a model of the caller that embeds nodes.
type nodeEmbedder struct {
	h            *host
	model        string
	dim, maxText int
	progress     func(done, total int)
}

func (e *nodeEmbedder) Model() string { return e.model }
func (e *nodeEmbedder) Dim() int      { return e.dim }
func (e *nodeEmbedder) MaxText() int  { return e.maxText }

func (e *nodeEmbedder) Documents(_ context.Context, list []string) ([][]int8, error) {
	r, err := e.h.askFor(question{Vectors: list}, modelsWithin)
	if err != nil {
		return nil, err
	}
	e.dim = r.Dim
	if e.progress != nil {
		e.progress(len(list), len(list))
	}
	return r.Vectors, nil
}
