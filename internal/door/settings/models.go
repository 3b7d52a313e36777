package settings

import (
	"fmt"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/model"
	"github.com/mnem-project/mnem/internal/model/embed"
	"github.com/mnem-project/mnem/internal/model/rerank"
	"github.com/mnem-project/mnem/internal/model/rewrite"
	"github.com/mnem-project/mnem/internal/state"
)

// Keys that say which models are asked, and for how long.
const (
	EmbedModel   = "embed.model"
	RerankModel  = "rerank.model"
	RewriteModel = "rewrite.model"
	modelTimeout = "model.timeout"
	maxModelSpec = 4096 // bytes: a path or an address may be a part of it
)

// ModelUse is one thing that models are asked for.
type ModelUse struct {
	Key       string // names the model
	Providers []model.Provider
	limit     time.Duration // of one request, unless modelTimeout says another
}

var (
	// Embed embeds texts.
	Embed = &ModelUse{EmbedModel, embed.Remotes(), time.Minute}
	// Rerank judges items, while a caller waits for the answer.
	Rerank = &ModelUse{RerankModel, rerank.Providers(), 10 * time.Second}
	// Rewrite rewrites queries. Chat models are slow.
	Rewrite = &ModelUse{RewriteModel, rewrite.Providers(), 30 * time.Second}
)

// Timeout returns how long one request may take, of what reads the value of a key.
func (u *ModelUse) Timeout(configured func(key string) (string, error)) (time.Duration, error) {
	v, err := configured(modelTimeout)
	if v == "" || err != nil {
		return u.limit, err
	}
	return parseModelTimeout(v)
}

func parseModelTimeout(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Millisecond || d > time.Hour {
		return 0, fmt.Errorf("%w: %s: %q is not a duration from 1ms to 1h", state.ErrInvalid, modelTimeout, v)
	}
	return d, nil
}

// ModelKeys are the keys about models. Values are checked by opening a model: no provider is asked.
func ModelKeys() []Key {
	opened := func(u *ModelUse, open func(spec string) error) func(string) error {
		return func(v string) error {
			err := graph.CheckLine(u.Key, v, 1, maxModelSpec)
			if err == nil {
				if err = open(v); err != nil {
					err = fmt.Errorf("%w: %s: want a model: %w", state.ErrInvalid, u.Key, err)
				}
			}
			return err
		}
	}
	return []Key{
		{EmbedModel, "MNEM_EMBED_MODEL", "", "what embeds texts: see 'mnem embed'; minilm by default, or off",
			opened(Embed, openEmbedder)},
		{RerankModel, "MNEM_RERANK_MODEL", "", "the model that judges items again: PROVIDER:MODEL, as --set rerank",
			opened(Rerank, func(v string) error { _, err := rerank.Open(v, model.ProviderOptions{}); return err })},
		{RewriteModel, "MNEM_REWRITE_MODEL", "", "what rewrites queries: " + model.List(model.Specs(Rewrite.Providers), "or"),
			opened(Rewrite, func(v string) error { _, err := rewrite.Open(v, model.ProviderOptions{}); return err })},
		{modelTimeout, "MNEM_MODEL_TIMEOUT", "", "longest request to a model: 1ms to 1h; else 10s to 1m",
			func(v string) error { _, err := parseModelTimeout(v); return err }},
	}
}

// openEmbedder opens a model behind HTTP; what others read is looked at when they are used.
func openEmbedder(spec string) error {
	name, _, _ := strings.Cut(spec, ":")
	if spec == embed.Off || spec == embed.BuiltIn || name == "hash" || name == "static" {
		return nil
	}
	_, err := embed.Open(spec, embed.OpenOptions{})
	return err
}
