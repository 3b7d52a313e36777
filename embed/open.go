package embed

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
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
	setDefault(&o.OllamaURL, DefaultOllamaURL)
	setDefault(&o.OpenAIURL, DefaultOpenAIURL)
	setDefault(&o.Batch, defaultBatch)
	setDefault(&o.Timeout, defaultTimeout)
	setDefault(&o.Attempts, defaultAttempts)
	setDefault(&o.MaxWait, defaultMaxWait)
	setDefault(&o.MaxAnswer, defaultAnswer)
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	return o
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate returns an error that names a field outside its bounds. Zero is within all of them.
func (o Options) Validate() error {
	o = o.withDefaults()
	for _, f := range []struct {
		name             string
		value, low, high int64
	}{
		{"Dims", int64(o.Dims), 0, graph.MaxDims},
		{"ExpectDim", int64(o.ExpectDim), 0, graph.MaxDims},
		{"Batch", int64(o.Batch), 1, maxBatch},
		{"Timeout", int64(o.Timeout), int64(time.Millisecond), int64(time.Hour)},
		{"Attempts", int64(o.Attempts), 1, maxAttempts},
		{"MaxWait", int64(o.MaxWait), int64(time.Millisecond), int64(24 * time.Hour)},
		{"PerMinute", int64(o.PerMinute), 0, maxPerMinute},
		{"MaxAnswer", o.MaxAnswer, 1, 1 << 30},
		{"length of QueryPrefix", int64(len(o.QueryPrefix)), 0, maxPrefix},
		{"length of DocumentPrefix", int64(len(o.DocumentPrefix)), 0, maxPrefix},
	} {
		if f.value < f.low || f.value > f.high {
			return fmt.Errorf("option %s is %d, want %d to %d", f.name, f.value, f.low, f.high)
		}
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
	provider, arg, given := strings.Cut(spec, ":")
	switch {
	case provider == "hash" && !(given && arg == ""):
		return NewHash(arg, opt.Progress)
	case provider == "static":
		return OpenStatic(arg, opt.Name, opt.Progress)
	case provider == "ollama":
		return openRemote(ollama, arg, opt)
	case provider == "openai":
		return openRemote(openai, arg, opt)
	}
	return nil, fmt.Errorf("%w %s: there are %s", ErrProvider, clip(spec), providers)
}

func openRemote(p protocol, name string, opt Options) (Embedder, error) {
	r, err := newRemote(p, name, opt)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", p.name, err)
	}
	return r, nil
}

// endpointURL joins a base URL and the path of the protocol.
func endpointURL(base, path string) (*url.URL, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		// The error of url.Parse shows the whole text, and with it a password.
		return nil, errors.New("the base URL cannot be read: want http://HOST or https://HOST")
	case u.User != nil:
		return nil, errors.New("the base URL holds a user or password: give the key in the environment")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("base URL %s: want http://HOST or https://HOST", clip(base))
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("base URL of host %s: has a query or fragment", clip(u.Host))
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1")
	u.RawPath = ""
	return u.JoinPath(path), nil
}

// checkKey refuses a key that no header can hold, and one that others could read on its way.
func checkKey(key Secret, u *url.URL, inClear bool) error {
	if strings.ContainsFunc(string(key), func(r rune) bool { return r <= ' ' || r >= 0x7F }) {
		return errors.New("the key holds a space, a line end or a character that is not ASCII")
	}
	ip := net.ParseIP(u.Hostname())
	local := u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
	if key != "" && u.Scheme == "http" && !local && !inClear {
		return fmt.Errorf("the key would go over http to %s for all to read: use https, or allow it",
			clip(u.Host))
	}
	return nil
}

// Secret is a key. It formats as "(hidden)" by every verb; convert it to a string to use it.
type Secret string

const hidden = "(hidden)"

// String returns "(hidden)", or nothing for an empty key.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// Format writes what String returns.
func (s Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, s.String()) }

// MarshalText returns what String returns.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
