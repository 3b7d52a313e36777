package settings

import (
	"fmt"
	"slices"

	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
)

// Gone is a key of older versions with its variable, and what replaces it, "" for nothing.
type Gone struct{ Key, Env, Now string }

// gone lists every removed key once.
var gone = []Gone{
	{"access.count", "MNEM_ACCESS_COUNT", ""},
	{"cache.all", "MNEM_CACHE_ALL", "cache"},
	{"cache.blocks", "MNEM_CACHE_BLOCKS", "cache"},
	{"cache.dense", "MNEM_CACHE_DENSE", "cache"},
	{"cache.index", "MNEM_CACHE_INDEX", "cache"},
	{"cache.links", "MNEM_CACHE_LINKS", "cache"},
	{"cache.sparse", "MNEM_CACHE_SPARSE", "cache"},
	{"cache.trees", "MNEM_CACHE_TREES", "cache"},
	{"capture.keepBytes", "MNEM_CAPTURE_KEEP_BYTES", "capture.keepDays"},
	{"embed.dims", "MNEM_EMBED_DIMS", ""},
	{"embed.documentPrefix", "MNEM_EMBED_DOCUMENT_PREFIX", ""},
	{"embed.ollamaURL", "MNEM_EMBED_OLLAMA_URL", "embed.model ollama:MODEL@URL"},
	{"embed.openaiURL", "MNEM_EMBED_OPENAI_URL", "embed.model openai:MODEL@URL"},
	{"embed.queryPrefix", "MNEM_EMBED_QUERY_PREFIX", ""},
	{"embed.timeout", "MNEM_EMBED_TIMEOUT", modelTimeout},
	{"gc.auto", "MNEM_GC_AUTO", "gc.keepOps, with 0 for no collection"},
	{"mcp.withGlobal", "MNEM_MCP_GLOBAL", "mnem mcp --with-global"},
	{"rerank.cohereURL", "MNEM_RERANK_COHERE_URL", "rerank.model cohere:MODEL@URL"},
	{"rerank.jinaURL", "MNEM_RERANK_JINA_URL", "rerank.model jina:MODEL@URL"},
	{"rerank.timeout", "MNEM_RERANK_TIMEOUT", modelTimeout},
	{"rerank.voyageURL", "MNEM_RERANK_VOYAGE_URL", "rerank.model voyage:MODEL@URL"},
	{"rewrite.ollamaURL", "MNEM_REWRITE_OLLAMA_URL", "rewrite.model ollama:MODEL@URL"},
	{"rewrite.openaiURL", "MNEM_REWRITE_OPENAI_URL", "rewrite.model openai:MODEL@URL"},
	{"rewrite.timeout", "MNEM_REWRITE_TIMEOUT", modelTimeout},
}

// Removed returns all removed keys. The list must not be changed.
func Removed() []Gone { return gone }

// WasRemoved reports whether a key is one of older versions.
func WasRemoved(key string) bool {
	return slices.ContainsFunc(gone, func(g Gone) bool { return g.Key == key })
}

// removed returns the error of a setting called name that is among the removed ones, nil for any other.
func removed(name string) error {
	for _, g := range gone {
		if name != g.Key && name != g.Env {
			continue
		}
		if g.Now == "" {
			return fmt.Errorf("%w: the setting %s was removed and nothing replaces it", state.ErrInvalid, name)
		}
		return fmt.Errorf("%w: the setting %s was removed: use %s", state.ErrInvalid, name, g.Now)
	}
	return nil
}

// CheckVariables refuses the variables of removed keys, lest texts go elsewhere than their user says.
func CheckVariables(env func(...string) string) error {
	for _, g := range gone {
		if env(g.Env) != "" {
			return verb.Hintf(removed(g.Env), "unset %s", g.Env)
		}
	}
	return nil
}
