package embed

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/provider"
)

// Base URLs where Options has none.
const (
	DefaultOllamaURL = "http://127.0.0.1:11434"
	DefaultOpenAIURL = "https://api.openai.com"
)

// ErrProvider is wrapped when Open is asked for a provider that does not exist.
var ErrProvider = errors.New("unknown embedding provider")

// Options says how to reach a provider. The zero value works for local ones and for an Ollama on
// this machine. Every field but Name and Progress is for remote providers.
type Options struct {
	// Name is what a static model is called; its directory's base name if empty.
	Name string

	// OllamaURL and OpenAIURL are base URLs, http or https, without credentials and query; a
	// path /v1 at the end of the second is understood. Default: the constants above.
	OllamaURL, OpenAIURL string
	// OllamaKey and OpenAIKey are sent as bearer tokens unless empty. They come from the
	// environment, which the caller reads; no error and no format verb shows them.
	OllamaKey, OpenAIKey Secret
	// KeyInClear allows to send a key over http to another machine.
	KeyInClear bool

	// Dims asks the model for shortened vectors of so many dimensions; 0 for its own number. It
	// is a part of the model's identity.
	Dims int
	// ExpectDim is the number of dimensions that vectors must have, such as that of those
	// already stored; 0 for that of the first answer.
	ExpectDim int
	// QueryPrefix and DocumentPrefix stand before each text, as some models want it
	// ("search_query: "); at most 1,024 bytes. They are a part of the model's identity.
	QueryPrefix, DocumentPrefix string

	Batch     int           // texts in one request: 1 to 2,048, default 64
	Timeout   time.Duration // of one request, default a minute
	Attempts  int           // requests for one batch: 1 to 20, default 5
	MaxWait   time.Duration // longest wait between two of them, default a minute
	PerMinute int           // requests a minute: 0 for no limit, at most 2^20
	MaxAnswer int64         // bytes of one answer: default 64 MiB, at most 1 GiB

	Transport http.RoundTripper // default http.DefaultTransport
	Clock     Clock             // default that of the machine
	Progress  Progress          // default none
}

func (o Options) withDefaults() Options {
	provider.SetDefault(&o.OllamaURL, DefaultOllamaURL)
	provider.SetDefault(&o.OpenAIURL, DefaultOpenAIURL)
	provider.SetDefault(&o.Batch, defaultBatch)
	return o
}

// requests returns what of the options every provider has, with the address and key of one.
func (o Options) requests(url string, key Secret) provider.Options {
	return provider.Options{
		URL: url, Key: key, KeyInClear: o.KeyInClear,
		Timeout: o.Timeout, Attempts: o.Attempts, MaxWait: o.MaxWait, PerMinute: o.PerMinute,
		MaxAnswer: o.MaxAnswer, Transport: o.Transport, Clock: o.Clock,
	}
}

// Validate returns an error that names a field outside its bounds. Zero is within all of them.
func (o Options) Validate() error {
	o = o.withDefaults()
	err := provider.CheckBounds([]provider.Bound{
		{Name: "Dims", Value: int64(o.Dims), High: graph.MaxDims},
		{Name: "ExpectDim", Value: int64(o.ExpectDim), High: graph.MaxDims},
		{Name: "Batch", Value: int64(o.Batch), Low: 1, High: maxBatch},
		{Name: "length of QueryPrefix", Value: int64(len(o.QueryPrefix)), High: maxPrefix},
		{Name: "length of DocumentPrefix", Value: int64(len(o.DocumentPrefix)), High: maxPrefix},
	})
	if err != nil {
		return err
	}
	if err := o.requests("", "").Validate(); err != nil {
		return err
	}
	if o.Dims > 0 && o.ExpectDim > 0 && o.Dims != o.ExpectDim {
		return fmt.Errorf("options Dims %d and ExpectDim %d differ", o.Dims, o.ExpectDim)
	}
	return nil
}

// providers lists what Open knows, for its error.
const providers = "hash, hash:none, static:DIR, ollama:MODEL and openai:MODEL"

// Open returns the embedder that a spec names:
//
//	hash           hashed features, English; also hash:en, and hash:none for other languages
//	static:DIR     the table of token vectors in a directory
//	ollama:MODEL   a model of an Ollama server
//	openai:MODEL   a model behind an OpenAI-compatible endpoint
//
// Local models are read here; nothing is asked of a remote one before the first Embed. The error
// wraps ErrProvider where the provider does not exist.
func Open(spec string, opt Options) (Embedder, error) {
	kind, arg, given := strings.Cut(spec, ":")
	switch {
	case kind == "hash" && !(given && arg == ""):
		return NewHash(arg, opt.Progress)
	case kind == "static":
		return OpenStatic(arg, opt.Name, opt.Progress)
	case kind == "ollama":
		return openRemote(ollama, arg, opt)
	case kind == "openai":
		return openRemote(openai, arg, opt)
	}
	return nil, fmt.Errorf("%w %s: there are %s", ErrProvider, provider.Clip(spec), providers)
}

func openRemote(p protocol, name string, opt Options) (Embedder, error) {
	r, err := newRemote(p, name, opt)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", p.Name, err)
	}
	return r, nil
}
