package embed

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/internal/model"
)

// ErrProvider is wrapped when Open is asked for a provider that does not exist.
var ErrProvider = errors.New("unknown embedding provider")

// OpenOptions says how texts are embedded. The zero value works for local models and for an Ollama on
// this machine.
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
