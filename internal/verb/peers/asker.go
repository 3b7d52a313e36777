package peers

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/base/regular"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/accesses"
	"github.com/mnem-project/mnem/retrieve"
)

// modelsWithin is how long the caller may take to have a model answer, or a verb run elsewhere. Its own
// bounds are shorter, and nobody waits for it: the repository is not written meanwhile.
const modelsWithin = time.Hour

// Elsewhere implements verb.Host: it runs here.
func (h *host) Elsewhere(context.Context) (bool, error) { return false, nil }

// Models implements verb.Asker: the caller's models are asked by the caller.
func (h *host) Models(m *verb.QuestionModels) (*complete.Models, retrieve.Reranker, error) {
	out := &complete.Models{Failed: func(use string, err error) {
		h.tell(Tidings{Model: use, Failed: err.Error()})
	}}
	if m.Embed == "" && m.Rerank == "" && m.Rewrite == "" {
		return out, nil, nil
	}
	r, err := h.askFor(question{Models: m}, modelsWithin)
	if err != nil {
		return nil, nil, err
	}
	if r.Embedder != "" {
		out.Embedder = remoteEmbedder{h, r.Embedder}
	}
	if r.Rewrites > 0 {
		out.Rewriter, out.Rewrites = remoteRewriter{h}, r.Rewrites
	}
	if r.Reranker == "" {
		return out, nil, nil
	}
	return out, remoteReranker{h, r.Reranker}, nil
}

// remoteEmbedder is an embedder of the caller.
type remoteEmbedder struct {
	h     *host
	model string
}

func (e remoteEmbedder) Model() string { return e.model }

func (e remoteEmbedder) Embed(_ context.Context, query string, answers []string) ([][]int8, error) {
	r, err := e.h.askFor(question{Embed: &texts{query, answers}}, modelsWithin)
	if err != nil {
		return nil, err
	}
	return r.Vectors, nil
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

// remoteReranker is a reranker of the caller.
type remoteReranker struct {
	h     *host
	model string
}

func (k remoteReranker) Model() string { return k.model }

func (k remoteReranker) Rerank(_ context.Context, query string, list []string) ([]int64, error) {
	r, err := k.h.askFor(question{Rerank: &texts{query, list}}, modelsWithin)
	if err != nil {
		return nil, err
	}
	return r.Scores, nil
}

// File implements verb.Asker: the caller opens its file, and streams what is read of it.
func (h *host) File(_ context.Context, name string) (io.ReadCloser, string, error) {
	r, err := h.askFor(question{File: name}, modelsWithin)
	if err != nil {
		return nil, name, err
	}
	return conversation{h, h.verb.Input(r.Input)}, r.Shown, nil
}

// conversation is input that is read after what was answered to it is sent.
type conversation struct {
	h  *host
	in io.Reader
}

func (c conversation) Read(p []byte) (int, error) {
	if err := c.h.out.Flush(); err != nil {
		return 0, err
	}
	return c.in.Read(p)
}

func (c conversation) Close() error { return nil }

// Clock implements verb.Asker.
func (h *host) Clock() func() time.Duration {
	now := h.opt.Now
	if now == nil {
		now = time.Now
	}
	begin := now()
	return func() time.Duration { return now().Sub(begin) }
}

// Shown implements verb.Asker. An answer that was given stays one, whatever happens here.
func (h *host) Shown(ctx context.Context, nodes map[graph.ID]int64) {
	if !h.call.Accesses || len(nodes) == 0 {
		return
	}
	if err := accesses.Add(ctx, filepath.Join(h.dir, accesses.File), nodes); err != nil {
		h.tell(Tidings{Remark: "warning: accesses are not counted: " + err.Error()})
	}
}

// Global implements verb.Asker: the user's own repository is the caller's.
func (h *host) Global() (verb.Runner, error) {
	if _, err := h.askFor(question{Global: &Call{}}, modelsWithin); err != nil {
		return nil, err
	}
	return func(_ context.Context, v *verb.Spec, req any, emit func(any) error) error {
		call := &Call{Verb: v.Name(), Given: verb.GivenOf(req)}
		var err error
		if call.Request, err = v.EncodeRequest(req); err != nil {
			return err
		}
		r, err := h.askFor(question{Global: call}, modelsWithin)
		if err != nil {
			return err
		}
		return v.ReadAnswers(bytes.NewReader(r.Answers), emit)
	}, nil
}

// Read implements verb.Host: a copy of the caller's file, which can be read anywhere.
func (h *host) Read(ctx context.Context, name string) (*verb.File, error) {
	in, shown, err := h.File(ctx, name)
	if err != nil {
		return nil, err
	}
	f, err := SpoolFile(h.dir, in)
	if err != nil {
		return nil, fmt.Errorf("copy %s: %w", shown, err)
	}
	return &verb.File{ReaderAt: f, Size: f.Size, Close: func() { _ = f.Close() }}, nil // only read from
}

// writeBuffer is how many bytes of a file are sent at once.
const writeBuffer = 1 << 20

// Create implements verb.Host: the caller writes its file.
func (h *host) Create(_ context.Context, name string, write func(io.Writer) error) error {
	if _, err := h.askFor(question{Create: name}, modelsWithin); err != nil {
		return err
	}
	out := bufio.NewWriterSize(remoteFile{h}, writeBuffer)
	err := write(out)
	if err == nil {
		err = out.Flush()
	}
	how := &ending{}
	if err != nil {
		how.Failed = err.Error()
	}
	if _, endErr := h.askFor(question{Wrote: how}, modelsWithin); err == nil {
		err = endErr
	}
	return err
}

// remoteFile is a file that the caller writes.
type remoteFile struct{ h *host }

func (f remoteFile) Write(p []byte) (n int, err error) {
	for n < len(p) {
		piece := p[n:min(len(p), n+writeBuffer)]
		if _, err := f.h.askFor(question{Write: piece}, modelsWithin); err != nil {
			return n, err
		}
		n += len(piece)
	}
	return n, nil
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
