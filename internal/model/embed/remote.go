package embed

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/mnem-project/mnem/internal/base/vector"
	"github.com/mnem-project/mnem/internal/model"
)

// Defaults and bounds of remote providers.
const (
	defaultBatch = 64
	maxBatch     = 2048      // what OpenAI takes
	batchBytes   = 512 << 10 // of the texts of one request with more than one text
)

// remote is a model behind HTTP.
type remote struct {
	proto  protocol
	model  string // its identity
	before prefixes
	opt    OpenOptions // without the key
	client *model.Client
	dims   atomic.Int64
}

// openRemote opens a model behind HTTP.
func openRemote(p protocol, name string, opt OpenOptions) (Embedder, error) {
	opt = opt.withDefaults()
	if err := opt.Validate(); err != nil {
		return nil, fmt.Errorf("open %s: %w", p.Name, err)
	}
	client, err := model.Open(p.Protocol, name, opt.ProviderOptions)
	if err != nil {
		return nil, err
	}
	opt.Key = ""
	before := prefixesOf(client.Model())
	return &remote{proto: p, model: identity(&p, client.Model(), before), before: before, opt: opt, client: client}, nil
}

// prefixes stand before each text for models that were trained with them.
type prefixes struct{ query, document string }

// trained lists the models that want prefixes, by a part of their names: the cards of the models say so.
var trained = []struct {
	part string
	prefixes
}{
	{"nomic-embed-text", prefixes{"search_query: ", "search_document: "}},
	{"e5-small", prefixes{"query: ", "passage: "}},
	{"e5-base", prefixes{"query: ", "passage: "}},
	{"e5-large", prefixes{"query: ", "passage: "}},
	{"mxbai-embed-large", prefixes{query: "Represent this sentence for searching relevant passages: "}},
}

func prefixesOf(name string) prefixes {
	name = strings.ToLower(name)
	for _, t := range trained {
		if strings.Contains(name, t.part) && !strings.Contains(name, "instruct") {
			return t.prefixes
		}
	}
	return prefixes{}
}

// identity names all that a vector depends on: provider, model, and the prefixes, which are cut down to a hash.
func identity(p *protocol, name string, before prefixes) string {
	if p.identity != nil {
		name = p.identity(name)
	}
	id := p.Name + ":" + name
	if before != (prefixes{}) {
		data := binary.BigEndian.AppendUint32(nil, uint32(len(before.query)))
		sum := sha256.Sum256(append(append(data, before.query...), before.document...))
		id += "#" + hex.EncodeToString(sum[:4])
	}
	return id
}

func (r *remote) Model() string { return r.model }

func (r *remote) Dim() int { return int(r.dims.Load()) }

func (r *remote) Embed(ctx context.Context, texts []string, kind Kind) ([][]int8, error) {
	if err := checkTexts(texts, kind); err != nil {
		return nil, err
	}
	out := make([][]int8, len(texts))
	for from := 0; from < len(texts); {
		at, to := r.batch(texts, from)
		if len(at) > 0 {
			if err := r.embedBatch(ctx, texts, at, kind, out); err != nil {
				return nil, err
			}
		}
		from = to
		r.opt.Progress.report(to, len(texts))
	}
	return out, nil
}

// batch returns the positions of the texts of the next request, without blank ones, which no
// provider is asked about, and where the batch after that begins.
func (r *remote) batch(texts []string, from int) (at []int, to int) {
	size := 0
	for to = from; to < len(texts); to++ {
		if strings.TrimSpace(texts[to]) == "" {
			continue
		}
		if size += len(texts[to]); len(at) == r.opt.Batch || len(at) > 0 && size > batchBytes {
			break
		}
		at = append(at, to)
	}
	return at, to
}

func (r *remote) embedBatch(ctx context.Context, texts []string, at []int, kind Kind, out [][]int8) error {
	prefix := r.before.document
	if kind == Query {
		prefix = r.before.query
	}
	inputs := make([]string, len(at))
	for i, k := range at {
		inputs[i] = prefix + texts[k]
	}
	vectors, err := r.ask(ctx, inputs)
	if err != nil {
		return err
	}
	for i, k := range at {
		out[k] = vectors[i]
	}
	return nil
}

// ask asks for the vectors of one batch.
func (r *remote) ask(ctx context.Context, inputs []string) ([][]int8, error) {
	body, err := model.Marshal(r.proto.request(r.client.Model(), inputs))
	if err != nil {
		return nil, r.client.Fail(err)
	}
	var vectors [][]int8
	err = r.client.Ask(ctx, body, func(answer []byte) error {
		read, err := r.proto.decode(answer, len(inputs))
		if err == nil {
			vectors, err = r.quantiseAll(read)
		}
		return err
	})
	return vectors, err
}

// quantiseAll checks the vectors of an answer and turns them into int8.
func (r *remote) quantiseAll(vectors []floats) ([][]int8, error) {
	dims := len(vectors[0])
	for i, v := range vectors {
		if len(v) != dims {
			return nil, fmt.Errorf("%w: vector 0 has %d dimensions, vector %d has %d", model.ErrAnswer, dims, i, len(v))
		}
	}
	out := make([][]int8, len(vectors))
	for i, v := range vectors {
		q, err := vector.Quantise(v)
		if err != nil {
			return nil, fmt.Errorf("%w: vector %d: %w", model.ErrAnswer, i, err)
		}
		out[i] = q
	}
	// The first good answer decides, whichever goroutine it comes to.
	r.dims.CompareAndSwap(0, int64(dims))
	if want := r.Dim(); dims != want {
		return nil, fmt.Errorf("%w: %d dimensions, want %d: is this the model that made the "+
			"other vectors?", model.ErrAnswer, dims, want)
	}
	return out, nil
}
