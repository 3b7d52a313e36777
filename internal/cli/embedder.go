package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/mnem-project/mnem/embed"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/repo"
)

// Keys of the configuration that say how texts are embedded, and the variables with secrets, which
// no configuration holds.
const (
	keyEmbedModel     = "embed.model"
	keyEmbedOllama    = "embed.ollamaURL"
	keyEmbedOpenAI    = "embed.openaiURL"
	keyEmbedDims      = "embed.dims"
	keyEmbedQuery     = "embed.queryPrefix"
	keyEmbedDocument  = "embed.documentPrefix"
	keyEmbedTimeout   = "embed.timeout"
	ollamaSecret      = "OLLAMA_API_KEY"
	openaiSecret      = "OPENAI_API_KEY"
	defaultEmbedLimit = time.Minute // for one request
	maxEmbedPrefix    = 1024        // bytes, as package embed has it
	maxEmbedSpec      = 4096        // bytes: a path may be a part of it
	// queryAttempts is how often a provider is asked about one query: somebody waits for the answer,
	// and there is one without.
	queryAttempts = 2
)

// providersShown lists what --model and --embed take.
const providersShown = "hash (built in, needs nothing), static:DIR, ollama:MODEL or openai:MODEL"

func embedKeys() []configKey {
	line := func(key string, most int) func(string) error {
		return func(v string) error { return graph.CheckLine(key, v, 1, most) }
	}
	return []configKey{
		{keyEmbedModel, "MNEM_EMBED_MODEL", "", "what embeds texts, as --model of 'mnem embed'",
			line(keyEmbedModel, maxEmbedSpec)},
		{keyEmbedOllama, "MNEM_EMBED_OLLAMA_URL", embed.DefaultOllamaURL,
			"where Ollama answers", checkEmbedURL(keyEmbedOllama, "ollama:x")},
		{keyEmbedOpenAI, "MNEM_EMBED_OPENAI_URL", embed.DefaultOpenAIURL,
			"where a server like OpenAI's answers",
			checkEmbedURL(keyEmbedOpenAI, "openai:x")},
		{keyEmbedDims, "MNEM_EMBED_DIMS", "0",
			"dimensions to ask for, 0 for the model's own",
			func(v string) error { _, err := parseEmbedDims(v); return err }},
		{keyEmbedQuery, "MNEM_EMBED_QUERY_PREFIX", "",
			"what remote models get before queries",
			line(keyEmbedQuery, maxEmbedPrefix)},
		{keyEmbedDocument, "MNEM_EMBED_DOCUMENT_PREFIX", "",
			"what remote models get before texts",
			line(keyEmbedDocument, maxEmbedPrefix)},
		{keyEmbedTimeout, "MNEM_EMBED_TIMEOUT", defaultEmbedLimit.String(),
			"longest request to a remote model: 1ms to 1h",
			func(v string) error { _, err := parseEmbedTimeout(v); return err }},
	}
}

// checkEmbedURL lets package embed look at a base URL: nothing is asked of anybody.
func checkEmbedURL(key, spec string) func(string) error {
	return func(v string) error {
		_, err := embed.Open(spec, embed.Options{OllamaURL: v, OpenAIURL: v})
		if err != nil {
			err = fmt.Errorf("%w: %s: %w", repo.ErrInvalid, key, err)
		}
		return err
	}
}

func parseEmbedDims(v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > graph.MaxDims {
		return 0, fmt.Errorf("%w: %s: %q is not a number from 0 to %d", repo.ErrInvalid, keyEmbedDims, v,
			graph.MaxDims)
	}
	return n, nil
}

func parseEmbedTimeout(v string) (time.Duration, error) {
	return parseModelTimeout(keyEmbedTimeout, v)
}

// parseModelTimeout reads how long one request to a model may take.
func parseModelTimeout(key, v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Millisecond || d > time.Hour {
		return 0, fmt.Errorf("%w: %s: %q is not a duration from 1ms to 1h", repo.ErrInvalid,
			key, v)
	}
	return d, nil
}

// embedClock is the time by which requests are tried again.
type embedClock struct{ app *App }

func (k embedClock) Now() time.Time { return k.app.Now() }

func (k embedClock) Sleep(ctx context.Context, d time.Duration) error { return k.app.Sleep(ctx, d) }

// embedder opens what a spec names, or what is configured where it is empty. flag is what names
// one on the command line.
func (c *cli) embedder(spec, flag string, opt embed.Options) (embed.Embedder, error) {
	if err := c.mayChooseModel(spec); err != nil {
		return nil, err
	}
	if spec == "" {
		var err error
		if spec, err = c.configured(keyEmbedModel); err != nil {
			return nil, err
		}
	}
	if spec == "" {
		return nil, c.noModel("no embedding model: there are "+providersShown, flag+"=SPEC", keyEmbedModel)
	}
	dir, ok := strings.CutPrefix(spec, "static:")
	if ok && dir != "" {
		spec = "static:" + c.absolute(dir)
	}
	if err := c.embedOptions(spec, &opt); err != nil {
		return nil, err
	}
	e, err := embed.Open(spec, opt)
	var path *fs.PathError
	if err != nil && !errors.As(err, &path) {
		err = fmt.Errorf("%w: %w", repo.ErrInvalid, err)
	}
	return e, err
}

// noModel is the error of a command that needs a model where none is named or configured. flag is what
// names one on the command line.
func (c *cli) noModel(reason, flag, key string) error {
	err := fmt.Errorf("%w: %s", repo.ErrInvalid, reason)
	if c.app.Remote {
		return hint(err, "on the machine that serves, run 'mnem config set %s SPEC'", key)
	}
	return hint(err, "name one with %s, or run 'mnem config set %s SPEC'", flag, key)
}

// embedOptions fills in what is configured, and the secret of the provider that a spec names.
func (c *cli) embedOptions(spec string, opt *embed.Options) error {
	values := make(map[string]string)
	for _, key := range embedKeys() {
		v, err := c.configured(key.Name)
		if err != nil {
			return err
		}
		values[key.Name] = v
	}
	var err error
	if opt.Dims, err = parseEmbedDims(values[keyEmbedDims]); err != nil {
		return err
	}
	if opt.Timeout, err = parseEmbedTimeout(values[keyEmbedTimeout]); err != nil {
		return err
	}
	opt.OllamaURL, opt.OpenAIURL = values[keyEmbedOllama], values[keyEmbedOpenAI]
	opt.QueryPrefix, opt.DocumentPrefix = values[keyEmbedQuery], values[keyEmbedDocument]
	if c.app.Sleep != nil {
		opt.Clock = embedClock{c.app}
	}
	switch provider, _, _ := strings.Cut(spec, ":"); provider {
	case "ollama":
		opt.OllamaKey, err = c.modelSecret(ollamaSecret, keyEmbedOllama)
	case "openai":
		opt.OpenAIKey, err = c.modelSecret(openaiSecret, keyEmbedOpenAI)
	}
	return err
}

// modelSecret returns a provider's key. It is not sent where only the repository's configuration
// says so: a directory that somebody else made would get the key of whoever looks into it.
func (c *cli) modelSecret(env, urlKey string) (embed.Secret, error) {
	secret := c.env(env)
	if secret == "" {
		return "", nil
	}
	key, err := findConfigKey(urlKey)
	if err != nil {
		return "", err
	}
	got, err := c.lookUp(key, false)
	if err == nil && got.From != nil && *got.From == sourceRepo {
		err = hint(fmt.Errorf("%w: %s is not sent to the address in the repository's configuration",
			repo.ErrInvalid, env), "set it with 'mnem config set --user %s URL' or %s, or clear %s",
			urlKey, key.Env, env)
	}
	return embed.Secret(secret), err
}
