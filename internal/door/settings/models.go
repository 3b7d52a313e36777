package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/model"
	"github.com/mnem-project/mnem/internal/model/embed"
	"github.com/mnem-project/mnem/internal/model/rerank"
	"github.com/mnem-project/mnem/internal/model/rewrite"
	"github.com/mnem-project/mnem/internal/state"
)

// Keys that say which models are asked, and how texts are embedded.
const (
	EmbedModel     = "embed.model"
	EmbedDims      = "embed.dims"
	EmbedQuery     = "embed.queryPrefix"
	EmbedDocument  = "embed.documentPrefix"
	RerankModel    = "rerank.model"
	RewriteModel   = "rewrite.model"
	maxEmbedPrefix = 1024 // bytes, as package embed has it
	maxEmbedSpec   = 4096 // bytes: a path may be a part of it
)

// ModelUse is one thing that models are asked for, as the configuration has it. Keys, variables
// and help follow from the providers that there are.
type ModelUse struct {
	name      string // the first part of its keys
	Providers []model.Provider
	does      string        // what stands after "where PROVIDER answers" in help
	limit     time.Duration // of one request, by default
	limitHelp string        // what such a request is made to
	check     func(spec string, opt model.ProviderOptions) error
}

// URLKey is the key that says where a provider answers.
func (u *ModelUse) URLKey(p model.Provider) string { return u.name + "." + p.Name + "URL" }

func (u *ModelUse) urlVariable(p model.Provider) string {
	return "MNEM_" + strings.ToUpper(u.name+"_"+p.Name) + "_URL"
}

// URLKeys are the keys that say where providers answer. Values are checked by opening a model:
// nothing is asked of anybody.
func (u *ModelUse) URLKeys() []Key {
	var keys []Key
	for _, p := range u.Providers {
		key := u.URLKey(p)
		keys = append(keys, Key{key, u.urlVariable(p), p.URL, "where " + p.Shown + " answers" + u.does,
			func(v string) error {
				err := u.check(p.Name+":x", model.ProviderOptions{URL: v})
				if err != nil {
					err = fmt.Errorf("%w: %s: %w", state.ErrInvalid, key, err)
				}
				return err
			}})
	}
	return keys
}

// TimeoutKey is the key that says how long a request may take.
func (u *ModelUse) TimeoutKey() Key {
	key := u.name + ".timeout"
	return Key{key, "MNEM_" + strings.ToUpper(u.name) + "_TIMEOUT", u.limit.String(),
		"longest request to " + u.limitHelp + ": 1ms to 1h",
		func(v string) error { _, err := ParseModelTimeout(key, v); return err }}
}

// ParseModelTimeout reads how long one request to a model may take.
func ParseModelTimeout(key, v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Millisecond || d > time.Hour {
		return 0, fmt.Errorf("%w: %s: %q is not a duration from 1ms to 1h", state.ErrInvalid,
			key, v)
	}
	return d, nil
}

// Embed is what texts are embedded by.
var Embed = &ModelUse{
	name: "embed", Providers: embed.Remotes(), limit: time.Minute, limitHelp: "a remote model",
	check: func(spec string, opt model.ProviderOptions) error {
		_, err := embed.Open(spec, embed.OpenOptions{ProviderOptions: opt})
		return err
	},
}

// EmbedKeys are the keys about embedding.
func EmbedKeys() []Key {
	line := func(key string, most int) func(string) error {
		return func(v string) error { return graph.CheckLine(key, v, 1, most) }
	}
	return slices.Concat([]Key{
		{EmbedModel, "MNEM_EMBED_MODEL", "", "what embeds texts: see 'mnem embed'; minilm by default, or off",
			line(EmbedModel, maxEmbedSpec)},
	}, Embed.URLKeys(), []Key{
		{EmbedDims, "MNEM_EMBED_DIMS", "0",
			"dimensions to ask for, 0 for the model's own",
			func(v string) error { _, err := ParseEmbedDims(v); return err }},
		{EmbedQuery, "MNEM_EMBED_QUERY_PREFIX", "",
			"what remote models get before queries",
			line(EmbedQuery, maxEmbedPrefix)},
		{EmbedDocument, "MNEM_EMBED_DOCUMENT_PREFIX", "",
			"what remote models get before texts",
			line(EmbedDocument, maxEmbedPrefix)},
		Embed.TimeoutKey(),
	})
}

// ParseEmbedDims reads a number of dimensions.
func ParseEmbedDims(v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > graph.MaxDims {
		return 0, fmt.Errorf("%w: %s: %q is not a number from 0 to %d", state.ErrInvalid, EmbedDims, v,
			graph.MaxDims)
	}
	return n, nil
}

// Rerank is what items are judged by.
var Rerank = &ModelUse{
	name: "rerank", Providers: rerank.Providers(), limitHelp: "a reranker",
	limit: 10 * time.Second, // somebody waits for the answer
	check: func(spec string, opt model.ProviderOptions) error { _, err := rerank.Open(spec, opt); return err },
}

// RerankKeys are the keys about that.
func RerankKeys() []Key {
	return append(append([]Key{
		{RerankModel, "MNEM_RERANK_MODEL", "", "the model that judges items anew: PROVIDER:MODEL, as --set rerank",
			CheckRerankModel},
	}, Rerank.URLKeys()...), Rerank.TimeoutKey())
}

// CheckRerankModel lets package rerank look at a spec: nothing is asked of anybody.
func CheckRerankModel(v string) error {
	if _, err := rerank.Open(v, model.ProviderOptions{}); err != nil {
		return fmt.Errorf("%w: %s: want a model: %w", state.ErrInvalid, RerankModel, err)
	}
	return nil
}

// Rewrite is what queries are rewritten by.
var Rewrite = &ModelUse{
	name: "rewrite", Providers: rewrite.Providers(), does: " that rewrites queries",
	limit: 30 * time.Second, limitHelp: "a model that rewrites", // chat models are slow
	check: func(spec string, opt model.ProviderOptions) error { _, err := rewrite.Open(spec, opt); return err },
}

// RewriteKeys are the keys about that.
func RewriteKeys() []Key {
	return append(append([]Key{
		{RewriteModel, "MNEM_REWRITE_MODEL", "", "what rewrites queries: " +
			model.List(model.Specs(Rewrite.Providers), "or"),
			func(v string) error { return graph.CheckLine(RewriteModel, v, 1, maxEmbedSpec) }},
	}, Rewrite.URLKeys()...), Rewrite.TimeoutKey())
}
