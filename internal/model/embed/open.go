package embed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/internal/base/hashed"
	"github.com/mnem-project/mnem/internal/base/text"
	"github.com/mnem-project/mnem/internal/model"
)

// ErrProvider is wrapped when Open is asked for a provider that does not exist.
var ErrProvider = errors.New("unknown embedding provider")

// OpenOptions says how texts are embedded. The zero value works for local models and for an Ollama on this machine.
type OpenOptions struct {
	model.ProviderOptions // how to reach a remote provider; not for local ones

	// Name is the name of a static model; if empty, its directory's base name.
	Name string

	Batch    int      // texts in one request: 1 to 2,048, default 64
	Progress Progress // default none
}

func (o OpenOptions) withDefaults() OpenOptions {
	o.Batch = cmp.Or(o.Batch, defaultBatch)
	return o
}

// Validate returns an error that names a field outside its bounds. Zero is within all of them.
func (o OpenOptions) Validate() error {
	o = o.withDefaults()
	err := model.CheckBounds([]model.Bound{
		{Name: "Batch", Value: int64(o.Batch), Low: 1, High: maxBatch},
	})
	if err != nil {
		return err
	}
	return o.ProviderOptions.Validate()
}

// remotes lists the providers behind HTTP.
var remotes = []protocol{ollama, openai}

// Remotes returns the providers behind HTTP, in a fixed order.
func Remotes() []model.Provider { return model.Providers(remotes) }

// Specs returns the forms of what Open takes, in a fixed order.
func Specs() []string {
	return append([]string{BuiltIn, "hash", "hash:none", "static:DIR"}, model.Specs(Remotes())...)
}

// Open returns the embedder that a spec names, which is not BuiltIn:
//
//	hash             hashed features, English; also hash:en, and hash:none for other languages
//	static:DIR       the table of token vectors in a directory
//	PROVIDER:MODEL   a model of one of Remotes; MODEL@URL if it is elsewhere than its provider
//
// Local models are read here; nothing is asked of a remote one before the first Embed. The error
// wraps ErrProvider if the provider does not exist.
func Open(spec string, opt OpenOptions) (Embedder, error) {
	kind, arg, given := strings.Cut(spec, ":")
	switch {
	case kind == "hash" && !(given && arg == ""):
		return NewHash(arg, opt.Progress)
	case kind == "static":
		return OpenStatic(arg, opt.Name, opt.Progress)
	}
	for _, p := range remotes {
		if p.Name == kind {
			return openRemote(p, arg, opt)
		}
	}
	return nil, fmt.Errorf("%w %s: there are %s", ErrProvider, model.Clip(spec), model.List(Specs(), "and"))
}

// HashDim is the number of dimensions.
const HashDim = hashed.Dim

const hashVersion = "hash-1"

// hashEmbedder is the built-in model: no file, no network, no state but buffers.
type hashEmbedder struct {
	model    string
	analyzer *text.Analyzer
	progress Progress
}

// NewHash returns the built-in model of hashed features, which the package documentation defines. language is "en",
// also meant by the empty string, or "none", as text analysis knows them. progress may be nil.
func NewHash(language string, progress Progress) (Embedder, error) {
	language = cmp.Or(language, "en")
	a, err := text.New(language)
	if err != nil {
		return nil, fmt.Errorf("open hash:%s: %w: known are en and none", language, err)
	}
	return &hashEmbedder{hashVersion + ":" + language, a, progress}, nil
}

func (h *hashEmbedder) Model() string { return h.model }

func (h *hashEmbedder) Dim() int { return HashDim }

func (h *hashEmbedder) Embed(ctx context.Context, texts []string, kind Kind) ([][]int8, error) {
	return embedLocal(ctx, texts, kind, h.progress, func(s string) ([]int8, error) {
		return hashed.Vector(h.analyzer, s)
	})
}

// BuiltIn is the spec of the model that is a part of the program, and Off that of none at all.
const (
	BuiltIn = "minilm"
	Off     = "off"
)

// Exact is a model whose vectors are functions of the texts alone, with the same bytes in every process. Safe for
// concurrent use.
type Exact interface {
	// Model names it: 1 to vector.MaxModel bytes.
	Model() string
	// Dim returns the number of dimensions.
	Dim() int
	// Vectors returns the vector of each text, in their order: all of the same dimensions, in the form that
	// vector.Quantise makes, nil for a text in which it finds nothing.
	Vectors(ctx context.Context, texts []string) ([][]int8, error)
	// Whole returns how many of 1,000 pieces of some texts are whole words, and whether there are any.
	Whole(texts ...string) (permille int, ok bool)
}

// exact is such a model as an Embedder.
type exact struct {
	Exact
	progress Progress
}

// OpenExact returns an exact model as an Embedder.
func OpenExact(m Exact, progress Progress) Embedder { return exact{m, progress} }

// Embed implements Embedder.

func (e exact) Embed(ctx context.Context, texts []string, kind Kind) (out [][]int8, err error) {
	if err := checkTexts(texts, kind); err != nil {
		return nil, err
	}
	for at := 0; at < len(texts); at += localBatch {
		end := min(at+localBatch, len(texts))
		part, err := e.Vectors(ctx, texts[at:end])
		if err != nil {
			return nil, err
		}
		out = append(out, part...)
		e.progress.report(end, len(texts))
	}
	return out, nil
}
