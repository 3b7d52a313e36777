package embed

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/internal/base/vector"
	"github.com/mnem-project/mnem/internal/model"
)

// ErrProvider is wrapped when Open is asked for a provider that does not exist.
var ErrProvider = errors.New("unknown embedding provider")

// OpenOptions says how texts are embedded. The zero value works for local models and for an Ollama on
// this machine.
type OpenOptions struct {
	model.ProviderOptions // how to reach a remote provider; not for local ones

	// Name is what a static model is called; its directory's base name if empty.
	Name string

	// Dims asks a remote model for shortened vectors of so many dimensions; 0 for its own number. It
	// is a part of the model's identity.
	Dims int
	// ExpectDim is the number of dimensions that a remote model's vectors must have, such as that of
	// those already stored; 0 for that of the first answer.
	ExpectDim int
	// QueryPrefix and DocumentPrefix stand before each text for a remote model, as some want it
	// ("search_query: "); at most 1,024 bytes. They are a part of the model's identity.
	QueryPrefix, DocumentPrefix string

	Batch    int      // texts in one request: 1 to 2,048, default 64
	Progress Progress // default none
}

func (o OpenOptions) withDefaults() OpenOptions {
	if o.Batch == 0 {
		o.Batch = defaultBatch
	}
	return o
}

// Validate returns an error that names a field outside its bounds. Zero is within all of them.
func (o OpenOptions) Validate() error {
	o = o.withDefaults()
	err := model.CheckBounds([]model.Bound{
		{Name: "Dims", Value: int64(o.Dims), High: vector.MaxDims},
		{Name: "ExpectDim", Value: int64(o.ExpectDim), High: vector.MaxDims},
		{Name: "Batch", Value: int64(o.Batch), Low: 1, High: maxBatch},
		{Name: "length of QueryPrefix", Value: int64(len(o.QueryPrefix)), High: maxPrefix},
		{Name: "length of DocumentPrefix", Value: int64(len(o.DocumentPrefix)), High: maxPrefix},
	})
	if err != nil {
		return err
	}
	if err := o.ProviderOptions.Validate(); err != nil {
		return err
	}
	if o.Dims > 0 && o.ExpectDim > 0 && o.Dims != o.ExpectDim {
		return fmt.Errorf("options Dims %d and ExpectDim %d differ", o.Dims, o.ExpectDim)
	}
	return nil
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
//	PROVIDER:MODEL   a model of one of Remotes
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
