package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/table"
	"github.com/mnem-project/mnem/retrieve"
)

// question is what the owner asks of the caller: one member is given.
type question struct {
	Sign []byte `json:"sign,omitempty"` // the record of a commit, to be signed

	File    string               `json:"file,omitempty"`   // a file that a field of the request names, to be read
	Create  string               `json:"create,omitempty"` // likewise, to be written: by Write, and then by Wrote
	Write   []byte               `json:"write,omitempty"`
	Wrote   *ending              `json:"wrote,omitempty"`
	Embeds  *string              `json:"embeds,omitempty"`  // what there is of a model that embeds nodes
	Vectors []string             `json:"vectors,omitempty"` // of texts of nodes, by that
	Models  *verb.QuestionModels `json:"models,omitempty"`  // what there is of these
	Embed   *texts               `json:"embed,omitempty"`   // their vectors
	Rewrite *rewriting           `json:"rewrite,omitempty"`
	Rerank  *texts               `json:"rerank,omitempty"` // what they are worth for the query
	Global  *Call                `json:"global,omitempty"` // a verb on the user's own repository; without one whether there is any
}

// ending says whether a file is as it is to be.
type ending struct {
	Failed string `json:"failed,omitempty"`
}

// texts are a query and texts that answer it.
type texts struct {
	Query string   `json:"query"`
	Texts []string `json:"texts"`
}

// rewriting asks for a query in other words.
type rewriting struct {
	Way   string `json:"way"`
	Query string `json:"query"`
	N     int    `json:"n"`
}

// reply answers a question.
type reply struct {
	Signature []byte `json:"signature,omitempty"`

	Input    int      `json:"input,omitempty"` // the number of a file, and how errors call it
	Shown    string   `json:"shown,omitempty"`
	Embedder string   `json:"embedder,omitempty"` // the name of the model, "" for none
	Reranker string   `json:"reranker,omitempty"` // likewise
	Rewrites int      `json:"rewrites,omitempty"` // 0 for no model
	Vectors  [][]int8 `json:"vectors,omitempty"`
	Texts    []string `json:"texts,omitempty"`
	Scores   []int64  `json:"scores,omitempty"`
	Answers  []byte   `json:"answers,omitempty"` // as people are given them
	Dim      int      `json:"dim,omitempty"`     // of the model that embeds nodes
	MaxText  int      `json:"max_text,omitempty"`

	Failure *verb.Failure `json:"failure,omitempty"`
}

// conversing is a caller whose verb runs.
type conversing struct {
	*Caller
	ctx      context.Context
	models   *complete.Models
	reranker retrieve.Reranker
	nodes    verb.Embedder // that embeds nodes
	file     *writing      // that the owner writes
	files    int           // how many inputs there are
	mu       sync.Mutex    // of opened, which inputs look into while they are read
	opened   map[int]io.Reader
	failed   error // of an input or a reply: why the verb fails that needs it
}

// input opens an input of the call, or returns a file that the owner has asked for.
func (a *conversing) input(number int) (io.Reader, error) {
	a.mu.Lock()
	in, ok := a.opened[number]
	a.mu.Unlock()
	if ok {
		return in, nil
	}
	in, err := a.Input(number)
	if err != nil {
		a.fail(err)
	}
	return in, err
}

func (a *conversing) fail(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.failed = err
}

func (a *conversing) tell(data []byte) {
	t := &Tidings{}
	switch {
	case json.Unmarshal(data, t) != nil:
	case t.Model != "" && a.models != nil:
		a.models.Failed(t.Model, errors.New(t.Failed))
	default:
		a.Tell(t)
	}
}

func (a *conversing) reply(data []byte) []byte {
	var q question
	err := json.Unmarshal(data, &q)
	var r reply
	if err == nil {
		r, err = a.answer(&q)
	}
	if err != nil {
		if q.Rerank == nil && q.Embed == nil && q.Rewrite == nil { // answers do without models that fail
			a.fail(err)
		}
		r.Failure = verb.FailureOf(a.ctx, err, false)
	}
	out, _ := json.Marshal(r) // it has a JSON form
	return out
}

// answer answers a question of the owner.
func (a *conversing) answer(q *question) (r reply, err error) {
	switch {
	case q.Sign != nil && a.Sign != nil:
		r.Signature, err = a.Sign(q.Sign)
	case q.File != "" && a.File != nil:
		var in io.Reader
		if in, r.Shown, err = a.File(q.File); err == nil {
			r.Input = a.files
			a.files++
			a.mu.Lock()
			a.opened[r.Input] = in
			a.mu.Unlock()
		}
	case q.Create != "" && a.Create != nil:
		a.file, err = a.create(q.Create)
	case q.Write != nil && a.file != nil:
		_, err = a.file.to.Write(q.Write)
	case q.Wrote != nil && a.file != nil:
		err = a.file.end(q.Wrote)
	case q.Embeds != nil && a.Embedder != nil:
		if a.nodes, err = a.Embedder(*q.Embeds); err == nil {
			r.Embedder, r.Dim, r.MaxText = a.nodes.Model(), a.nodes.Dim(), a.nodes.MaxText()
		}
	case q.Vectors != nil && a.nodes != nil:
		if r.Vectors, err = a.nodes.Documents(a.ctx, q.Vectors); err == nil {
			r.Dim = a.nodes.Dim()
		}
	case q.Models != nil && a.Models != nil:
		err = a.open(q.Models, &r)
	case q.Embed != nil && a.models != nil && a.models.Embedder != nil:
		r.Vectors, err = a.models.Embedder.Embed(a.ctx, q.Embed.Query, q.Embed.Texts)
	case q.Rewrite != nil && a.models != nil && a.models.Rewriter != nil:
		r.Texts, err = a.models.Rewriter.Rewrite(a.ctx, q.Rewrite.Way, q.Rewrite.Query, q.Rewrite.N)
	case q.Rerank != nil && a.reranker != nil:
		r.Scores, err = a.reranker.Rerank(a.ctx, q.Rerank.Query, q.Rerank.Texts)
	case q.Global != nil && a.Global != nil:
		r.Answers, err = a.global(q.Global)
	default:
		err = fmt.Errorf("%w: this process cannot answer what the owner asks", owner.ErrProtocol)
	}
	return r, err
}

// open opens models and tells what they are.
func (a *conversing) open(m *verb.QuestionModels, r *reply) (err error) {
	if a.models, a.reranker, err = a.Models(m); err != nil {
		return err
	}
	if a.models.Embedder != nil {
		r.Embedder = a.models.Embedder.Model()
	}
	if a.reranker != nil {
		r.Reranker = a.reranker.Model()
	}
	if a.models.Rewriter != nil {
		r.Rewrites = a.models.Rewrites
	}
	return nil
}

// writing is a file that is written while the owner sends it.
type writing struct {
	to   *io.PipeWriter
	done chan error
}

// create begins to write a file, once it can be written.
func (a *conversing) create(name string) (*writing, error) {
	from, to := io.Pipe()
	w := &writing{to, make(chan error, 1)}
	ready := make(chan struct{})
	go func() {
		err := a.Create(a.ctx, name, func(f io.Writer) error {
			close(ready)
			_, err := io.Copy(f, from)
			return err
		})
		w.done <- err
		if err == nil {
			err = errors.New("nothing more is written")
		}
		_ = from.CloseWithError(err) // what the owner sends fails so
	}()
	select {
	case <-ready:
		return w, nil
	case err := <-w.done:
		return nil, err
	}
}

// end ends the file, which is there only if the owner wrote all of it.
func (w *writing) end(how *ending) error {
	if how.Failed == "" {
		_ = w.to.Close()
		return <-w.done
	}
	_ = w.to.CloseWithError(errors.New(how.Failed))
	<-w.done // the owner knows what failed
	return nil
}

// global runs a verb on the user's own repository.
func (a *conversing) global(call *Call) ([]byte, error) {
	run, err := a.Global()
	if err != nil || call.Verb == "" {
		return nil, err
	}
	spec := table.Named(call.Verb)
	if spec == nil {
		return nil, &verb.UnknownError{Verb: call.Verb}
	}
	req, err := spec.DecodeRequest(call.Request, call.Given)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = run(a.ctx, spec, req, func(answer any) error { return verb.WriteAnswer(&out, answer, true) })
	return out.Bytes(), err
}
