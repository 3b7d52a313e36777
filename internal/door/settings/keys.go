// Package settings declares what can be configured: a closed list of keys, each with the variable that overrules it and a
// check of its values; the files that have them; and which of several values applies. It asks no user and reads no
// environment: where files are, and what variables say, it is told.
package settings

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/agent/capture"
	"github.com/mnem-project/mnem/internal/agent/hooks"
	"github.com/mnem-project/mnem/internal/base/filestate"
	"github.com/mnem-project/mnem/internal/care"
	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/exchange/remote/place"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/internal/model"
	"github.com/mnem-project/mnem/internal/model/embed"
	"github.com/mnem-project/mnem/internal/model/rerank"
	"github.com/mnem-project/mnem/internal/model/rewrite"
	"github.com/mnem-project/mnem/internal/state"
	"github.com/mnem-project/mnem/internal/verb"
	"github.com/mnem-project/mnem/internal/verb/branching"
	"github.com/mnem-project/mnem/internal/verb/ingesting"
	"github.com/mnem-project/mnem/internal/verb/upkeep"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/retrieve"
)

// Names of keys and variables that are asked for by name.
const (
	CacheKey        = "cache"
	ClientKey       = "client" // of databases
	ConflictsKey    = "sync.conflicts"
	FallbackKey     = "mcp.fallback"
	FollowKey       = "git.follow"
	FollowVariable  = "MNEM_GIT_FOLLOW"
	ProfileKey      = "retrieve.profile"
	ProfileVariable = "MNEM_PROFILE"
	TypesKey        = "global.types" // of memories that the user's own repository keeps

	ClientVariable    = "MNEM_CLIENT"
	ConflictsVariable = "MNEM_CONFLICTS"
)

// Values of keys.
const (
	FallbackNone   = "none" // of FallbackKey
	FallbackGlobal = "global"
	NoTypes        = "none" // of TypesKey
	ruleNone       = "none" // of require-signed
	ruleMerge      = "merge"
	ruleImport     = "import"
	RuleAll        = "all"
)

const (
	// DefaultWait is how long a command waits for another process to let go of the repository, maxWait the longest.
	DefaultWait = 5 * time.Second
	maxWait     = 24 * time.Hour
	// MinSize holds a decoded part of an index or a few tree chunks; maxSize is more than any machine has.
	MinSize = 1 << 20
	maxSize = 1 << 40
)

// Key is one key of the closed list of what can be configured.
type Key struct {
	Name    string
	Env     string // the variable that overrules it
	Default string // "" for none
	Help    string
	Check   func(value string) error
}

// Keys are all keys.
func Keys() []Key { return slices.Clone(keys()) }

// keys are made once: a command looks up a dozen of them.
var keys = sync.OnceValue(func() []Key {
	return append([]Key{
		{"author", "MNEM_AUTHOR", "", "who makes changes: 1 to 255 bytes without control characters",
			func(v string) error { return graph.CheckLine("author", v, 1, graph.MaxActor) }},
		{"wait", "MNEM_WAIT", DefaultWait.String(),
			"how long to wait for another process: a duration like 500ms, 0s to 24h",
			func(v string) error { _, err := ParseWait(v); return err }},
		{"sign", "MNEM_SIGN", "false", "whether commits are signed: true or false", CheckBool},
		{"key", "MNEM_KEY", "", "the name of the key to sign with; see 'mnem help key'",
			keyring.CheckName},
		{"require-signed", "MNEM_REQUIRE_SIGNED", ruleNone,
			"where trusted signatures are needed: none, merge, import or all", CheckRule},
		{ConflictsKey, ConflictsVariable, branching.Stop, "what a sync does about conflicts: " +
			strings.Join(branching.Rules(), ", "), branching.CheckRule},
		{place.HelperKey, place.HelperVariable, "", "the user's program that tells tokens of servers", place.CheckHelper},
		{ClientKey, ClientVariable, "", "what this client is called in databases; made up when it is needed first",
			core.CheckClient},
		{hooks.OnKey, "MNEM_HOOKS", "true", "whether hooks note what is said and tell what is known: " +
			"true or false", CheckBool},
		{FallbackKey, "MNEM_MCP_FALLBACK", FallbackNone,
			"what 'mnem mcp' serves where no repository is: none or global",
			func(v string) error { return checkEither(v, FallbackNone, FallbackGlobal) }},
		{TypesKey, "MNEM_GLOBAL_TYPES", NoTypes,
			"types that your own repository keeps: as preference,rule", checkTypes},
		{hooks.PrivateKey, "MNEM_PRIVATE", "false", "whether hooks note nothing of what is said: true or false", checkPrivate},
		{ingesting.KeepDaysKey, ingesting.KeepDaysEnv, strconv.Itoa(capture.DefaultKeepDays),
			"after how many days turns are retired; 0 for never",
			func(v string) error { _, err := ingesting.ParseKeepDays(v); return err }},
		{verb.ZoneKey, verb.ZoneVariable, "UTC", "the time zone of days in questions: Europe/Berlin, +02:00",
			verb.CheckZone},
		{FollowKey, FollowVariable, "false", "whether the memory is on git's branch: true or false", CheckBool},
		{"gc.keepOps", "MNEM_GC_KEEP_OPS", strconv.Itoa(care.DefaultKeepOps),
			"how many operations a collection keeps; 0: writes collect nothing",
			func(v string) error { _, err := upkeep.ParseKeepOps(v); return err }},
		{"gc.grace", "MNEM_GC_GRACE", upkeep.DefaultGrace.String(),
			"how long a collection keeps operations: a duration like 336h",
			func(v string) error { _, err := upkeep.ParseGrace(v); return err }},
		{CacheKey, "MNEM_CACHE", "", "most memory for what is kept of a repository: a size like 64MiB",
			func(v string) error { _, err := ParseSize(v); return err }},
		{ProfileKey, ProfileVariable, "", "the retrieval profile, as --profile of 'mnem retrieve'", checkProfile},
	}, ModelKeys()...)
})

// CheckBool checks a value that is true or false.
func CheckBool(v string) error { return checkEither(v, "true", "false") }

func checkEither(v, one, other string) error {
	if v != one && v != other {
		return fmt.Errorf("%w: %q is neither %s nor %s", state.ErrInvalid, v, one, other)
	}
	return nil
}

// checkPrivate is CheckBool that takes the 1 and 0 of other programs' variables too.
func checkPrivate(v string) error {
	if v == "1" || v == "0" {
		return nil
	}
	return CheckBool(v)
}

// KeyOf returns the key of a name.
func KeyOf(name string) (Key, error) {
	for _, k := range keys() {
		if k.Name == name {
			return k, nil
		}
	}
	if err := removed(name); err != nil {
		return Key{}, err
	}
	return Key{}, fmt.Errorf("%w: unknown config key %q: want one of %s", state.ErrInvalid, name,
		strings.Join(Names(), ", "))
}

// Names are the names of all keys.
func Names() []string {
	var names []string
	for _, k := range keys() {
		names = append(names, k.Name)
	}
	return names
}

// Values are the words that a key takes, nil for one that takes any.
func (k Key) Values() (values []string) {
	if k.Check("anything") == nil {
		return nil
	}
	words := append([]string{"true", "false", FallbackNone, FallbackGlobal, ruleMerge, ruleImport, RuleAll},
		branching.Rules()...)
	for _, word := range words {
		if k.Check(word) == nil {
			values = append(values, word)
		}
	}
	return values
}

// ParseWait reads how long to wait for another process.
func ParseWait(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%w: wait: %q is not a duration like 5s", state.ErrInvalid, s)
	}
	return d, CheckWait(d)
}

// CheckWait checks how long to wait for another process.
func CheckWait(d time.Duration) error {
	if d < 0 || d > maxWait {
		return fmt.Errorf("%w: wait: %s is not between 0 and 24h", state.ErrInvalid, d)
	}
	return nil
}

// CheckRule checks where trusted signatures are needed.
func CheckRule(v string) error {
	switch v {
	case ruleNone, ruleMerge, ruleImport, RuleAll:
		return nil
	}
	return fmt.Errorf("%w: %q is none of none, merge, import, all", state.ErrInvalid, v)
}

func checkTypes(v string) error {
	for t := range strings.SplitSeq(v, ",") {
		if err := graph.CheckLine("type", t, 1, graph.MaxType); err != nil {
			return err
		}
		if strings.TrimSpace(t) != t {
			return fmt.Errorf("%w: %q: want types with commas between, and no blanks", state.ErrInvalid, v)
		}
	}
	return nil
}

func checkProfile(v string) error {
	if !retrieve.ValidProfileName(v) {
		return fmt.Errorf("%w: %s: %q is not the name of a profile", state.ErrInvalid, ProfileKey, v)
	}
	return nil
}

// ParseSize reads a number of bytes, which may end in KiB, MiB or GiB.
func ParseSize(s string) (int64, error) {
	digits, shift := s, 0
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if rest, ok := strings.CutSuffix(s, unit); ok {
			digits, shift = rest, 10*(i+1)
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %q is not a size like 64MiB", state.ErrInvalid, s)
	}
	if n > maxSize>>shift || n<<shift < MinSize {
		return 0, fmt.Errorf("%w: size %s is not between 1MiB and 1024GiB", state.ErrInvalid, s)
	}
	return n << shift, nil
}

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

const (
	// File is the name of a configuration's file.
	File = "config.json"
	// MaxFile bounds it in bytes: what is longer was not written for us.
	MaxFile = 64 << 10
)

// Setting is one key of a configuration and its value.
type Setting struct{ Key, Value string }

// Layers are the configurations that apply, each sorted by key and nil if there is none.
type Layers struct{ Repo, User []Setting }

// If a value comes from, in the order in which they apply.
const (
	FromEnvironment = "environment"
	FromRepository  = "repository"
	FromUser        = "user"
	fromDefault     = "default"
)

// InEffect is one value that applies; From says which source gave it.
type InEffect struct {
	Key   string    `json:"key"`
	Value *string   `json:"value"`
	From  verb.Text `json:"from" shape:"environment|repository|user|default|null"`
}

// Text returns the value, "" for none.
func (e *InEffect) Text() string {
	if e.Value == nil {
		return ""
	}
	return *e.Value
}

// Of returns what the configurations say, that of the repository before the user's, "" for nothing.
func (l *Layers) Of(key string) string {
	v, ok := Find(l.Repo, key)
	if !ok {
		v, _ = Find(l.User, key)
	}
	return v
}

// LookUp returns the value of a key that applies: what its variable says, "" for nothing, then a configuration, then the
// default; or where only the user's own counts, that.
func (l *Layers) LookUp(key Key, variable string, userOnly bool) InEffect {
	got := InEffect{Key: key.Name}
	set := func(value, from string) InEffect {
		got.Value, got.From = &value, verb.Text(from)
		return got
	}
	if variable != "" && !userOnly {
		return set(variable, FromEnvironment)
	}
	if v, ok := Find(l.Repo, key.Name); ok && !userOnly {
		return set(v, FromRepository)
	}
	if v, ok := Find(l.User, key.Name); ok {
		return set(v, FromUser)
	}
	if key.Default != "" && !userOnly {
		return set(key.Default, fromDefault)
	}
	return got
}

// Find returns the value of a key in a configuration.
func Find(list []Setting, key string) (string, bool) {
	for _, s := range list {
		if s.Key == key {
			return s.Value, true
		}
	}
	return "", false
}

// Read reads a configuration: one JSON object of known keys and strings. It is nil if there is no file, or path is "". A
// key of older versions is an error that names its replacement.
func Read(path string) ([]Setting, error) {
	if path == "" {
		return nil, nil
	}
	data, err := filestate.Read(path, MaxFile)
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	list, err := parseFile(path, data)
	for _, s := range list {
		if err := removed(s.Key); err != nil {
			return nil, verb.Hintf(fmt.Errorf("config %s: %w", path, err),
				"run 'mnem config unset %s', with --user for the user's configuration", s.Key)
		}
	}
	return list, err
}

func parseFile(path string, data []byte) ([]Setting, error) {
	if data == nil {
		return nil, nil
	}
	list, err := Parse(data)
	if err != nil {
		return nil, verb.Hintf(fmt.Errorf("config %s: %w", path, err), "repair or remove the file")
	}
	return list, nil
}

// Parse reads the bytes of a configuration. Values of removed keys are not checked.
func Parse(data []byte) ([]Setting, error) {
	v, err := ipld.ParseJSON(bytes.TrimSpace(data))
	if err != nil {
		return nil, err
	}
	if v.Kind() != ipld.Map {
		return nil, fmt.Errorf("%w: not a JSON object", state.ErrInvalid)
	}
	var list []Setting
	for _, e := range v.Entries() {
		key, err := KeyOf(e.Key)
		if WasRemoved(e.Key) {
			key, err = Key{Check: func(string) error { return nil }}, nil
		}
		if err == nil && e.Value.Kind() != ipld.String {
			err = fmt.Errorf("%w: %s: not a string", state.ErrInvalid, e.Key)
		}
		if err == nil {
			err = key.Check(e.Value.Text())
		}
		if err != nil {
			return nil, err
		}
		list = append(list, Setting{e.Key, e.Value.Text()})
	}
	sortSettings(list)
	return list, nil
}

func sortSettings(list []Setting) {
	slices.SortFunc(list, func(a, b Setting) int { return strings.Compare(a.Key, b.Key) })
}

// Edit changes a configuration in one step, upon all that other processes changed in it
// before: a reader sees the old one or the new one. The function must not change the list that it is given.
func Edit(ctx context.Context, path string, edit func([]Setting) ([]Setting, error)) error {
	err := filestate.Edit(ctx, path, filestate.EditOptions{Limit: MaxFile}, func(data []byte) ([]byte, error) {
		old, err := parseFile(path, data)
		if err != nil {
			return nil, err
		}
		next, err := edit(old)
		sortSettings(next)
		if err != nil || slices.Equal(next, old) {
			return data, err
		}
		if data = encode(next); len(data) > MaxFile {
			err = fmt.Errorf("%w: the configuration would have more than %d bytes", state.ErrInvalid, MaxFile)
		}
		return data, err
	})
	if err != nil {
		return fmt.Errorf("write config: %w", err)
	}
	return nil
}

// encode returns the file of a configuration, whose settings are sorted.
func encode(list []Setting) []byte {
	lines := make([]string, len(list))
	for i, s := range list {
		lines[i] = fmt.Sprintf("\n  %s: %s", ipld.AppendJSON(nil, ipld.StringValue(s.Key)),
			ipld.AppendJSON(nil, ipld.StringValue(s.Value)))
	}
	return []byte("{" + strings.Join(lines, ",") + "\n}\n")
}

// With returns list with a key set.
func With(list []Setting, key, value string) []Setting {
	return append(Without(list, key), Setting{key, value})
}

// Without returns list without a key.
func Without(list []Setting, key string) []Setting {
	return slices.DeleteFunc(slices.Clone(list), func(s Setting) bool { return s.Key == key })
}
