package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/mnem-project/mnem/internal/owner"
	"github.com/mnem-project/mnem/internal/rank/complete"
	"github.com/mnem-project/mnem/internal/verb"
)

// question is what the owner asks of the caller: one member is given.
type question struct {
	Sign []byte `json:"sign,omitempty"` // the record of a commit, to be signed

	Embeds  *string              `json:"embeds,omitempty"`  // what there is of a model that embeds nodes
	Vectors []string             `json:"vectors,omitempty"` // of texts of nodes, by that
	Models  *verb.QuestionModels `json:"models,omitempty"`  // what there is of these
	Rewrite *rewriting           `json:"rewrite,omitempty"`
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

	Embedder string   `json:"embedder,omitempty"` // the name of the model, "" for none
	Rewrites int      `json:"rewrites,omitempty"`
	Vectors  [][]int8 `json:"vectors,omitempty"`
	Texts    []string `json:"texts,omitempty"`
	Dim      int      `json:"dim,omitempty"` // of the model that embeds nodes
	MaxText  int      `json:"max_text,omitempty"`

	Failure *verb.Failure `json:"failure,omitempty"`
}

// conversing is a caller whose verb runs.
type conversing struct {
	*Caller
	ctx    context.Context
	models *complete.Models
	nodes  verb.Embedder // that embeds nodes
	mu     sync.Mutex    // of failed
	failed error         // of an input or a reply: why the verb fails that needs it
}

// input opens an input of the call.
func (a *conversing) input(number int) (io.Reader, error) {
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
	if json.Unmarshal(data, t) == nil {
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
		if q.Rewrite == nil { // digests do without models that fail
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
	case q.Embeds != nil && a.Embedder != nil:
		if a.nodes, err = a.Embedder(*q.Embeds); err == nil {
			r.Embedder, r.Dim, r.MaxText = a.nodes.Model(), a.nodes.Dim(), a.nodes.MaxText()
		}
	case q.Vectors != nil && a.nodes != nil:
		if r.Vectors, err = a.nodes.Documents(a.ctx, q.Vectors); err == nil {
			r.Dim = a.nodes.Dim()
		}
	case q.Models != nil && a.Models != nil:
		if a.models, err = a.Models(q.Models); err == nil {
			r.Rewrites = a.models.Rewrites
		}
	case q.Rewrite != nil && a.models != nil && a.models.Rewriter != nil:
		r.Texts, err = a.models.Rewriter.Rewrite(a.ctx, q.Rewrite.Way, q.Rewrite.Query, q.Rewrite.N)
	default:
		err = fmt.Errorf("%w: this process cannot answer what the owner asks", owner.ErrProtocol)
	}
	return r, err
}

// output is a file that is written.
type output struct{ a *conversing }

func (o output) Write(p []byte) (int, error) {
	n, err := o.a.Output.Write(p)
	if err != nil {
		o.a.fail(err)
	}
	return n, err
}
