package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mnem-project/mnem/capture"
	"github.com/mnem-project/mnem/graph"
	"github.com/mnem-project/mnem/internal/filestate"
	"github.com/mnem-project/mnem/internal/hooks"
	"github.com/mnem-project/mnem/internal/keyring"
	"github.com/mnem-project/mnem/ipld"
	"github.com/mnem-project/mnem/ops"
	"github.com/mnem-project/mnem/remote/byverb"
	"github.com/mnem-project/mnem/remote/place"
	"github.com/mnem-project/mnem/repo"
	"github.com/mnem-project/mnem/store"
)

const (
	configFile = "config.json"
	// maxConfig bounds a configuration in bytes: what is longer was not written for us.
	maxConfig = 64 << 10
	// maxWait is the longest wait for another process.
	maxWait = 24 * time.Hour
)

// configKey is one key of the closed list of what can be configured.
type configKey struct {
	Name    string
	Env     string // the variable that overrules it
	Default string // "" for none
	Help    string
	Check   func(value string) error
}

func configKeys() []configKey {
	return append([]configKey{
		{"author", "MNEM_AUTHOR", "", "who makes changes: 1 to 255 bytes without control characters",
			func(v string) error { return graph.CheckLine("author", v, 1, graph.MaxActor) }},
		{"wait", "MNEM_WAIT", defaultWait.String(),
			"how long to wait for another process: a duration like 500ms, 0s to 24h",
			func(v string) error { _, err := parseWait(v); return err }},
		{"sign", "MNEM_SIGN", "false", "whether commits are signed: true or false", checkBool},
		{"key", "MNEM_KEY", "", "the name of the key to sign with; see 'mnem help key'",
			keyring.CheckName},
		{"require-signed", "MNEM_REQUIRE_SIGNED", ruleNone,
			"where trusted signatures are needed: none, merge, import or all", checkRule},
		{conflictsKey, conflictsVariable, byverb.Stop, "what a sync does about conflicts: " +
			strings.Join(byverb.Rules(), ", "), byverb.CheckRule},
		{place.HelperKey, place.HelperVariable, "", "the user's program that tells tokens of servers", place.CheckHelper},
		{hooks.OnKey, "MNEM_HOOKS", "true", "whether hooks note what is said and tell what is known: " +
			"true or false", checkBool},
		{fallbackKey, "MNEM_MCP_FALLBACK", fallbackNone,
			"what 'mnem mcp' serves where no repository is: none or global", checkFallback},
		{alsoGlobalKey, "MNEM_MCP_GLOBAL", "false", "whether 'mnem mcp' asks the user's own repository too: true or false",
			checkBool},
		{typesKey, typesEnv, noTypes,
			"types that your own repository keeps: as preference,rule", checkTypes},
		{hooks.PrivateKey, "MNEM_PRIVATE", "false", "whether hooks note nothing of what is said: true or false", checkPrivate},
		{ops.KeepDaysKey, ops.KeepDaysEnv, strconv.Itoa(capture.DefaultKeepDays),
			"after how many days turns are retired; 0 for never",
			func(v string) error { _, err := ops.ParseKeepDays(v); return err }},
		{ops.KeepBytesKey, ops.KeepBytesEnv, strconv.Itoa(capture.DefaultKeepBytes),
			"beyond how many bytes turns are retired; 0 for never",
			func(v string) error { _, err := ops.ParseKeepBytes(v); return err }},
		{followKey, followEnv, "false", "whether the memory is on git's branch: true or false", checkBool},
		{"gc.auto", "MNEM_GC_AUTO", "true", "whether writes collect garbage when there is much: " +
			"true or false", checkBool},
		{"gc.keepOps", "MNEM_GC_KEEP_OPS", strconv.Itoa(repo.DefaultKeepOps),
			"how many operations a collection keeps",
			func(v string) error { _, err := ops.ParseKeepOps(v); return err }},
		{"gc.grace", "MNEM_GC_GRACE", ops.DefaultGrace.String(),
			"how long a collection keeps operations: a duration like 336h",
			func(v string) error { _, err := ops.ParseGrace(v); return err }},
	}, slices.Concat(cacheKeys(), accessKeys(), embedKeys(), profileKeys(), rerankKeys(), rewriteKeys())...)
}

func checkBool(v string) error {
	if v != "true" && v != "false" {
		return fmt.Errorf("%w: %q is neither true nor false", repo.ErrInvalid, v)
	}
	return nil
}

// checkPrivate is checkBool that takes the 1 and 0 of other programs' variables too.
func checkPrivate(v string) error {
	if v == "1" || v == "0" {
		return nil
	}
	return checkBool(v)
}

func findConfigKey(name string) (configKey, error) {
	var names []string
	for _, k := range configKeys() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return configKey{}, fmt.Errorf("%w: unknown config key %q: want one of %s", repo.ErrInvalid, name,
		strings.Join(names, ", "))
}

func parseWait(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%w: wait: %q is not a duration like 5s", repo.ErrInvalid, s)
	}
	return d, checkWait(d)
}

func checkWait(d time.Duration) error {
	if d < 0 || d > maxWait {
		return fmt.Errorf("%w: wait: %s is not between 0 and 24h", repo.ErrInvalid, d)
	}
	return nil
}

// setting is one key of a configuration and its value.
type setting struct{ Key, Value string }

// configs are the configurations that apply, each sorted by key and nil where there is none.
type configs struct{ repo, user []setting }

// setting returns a configured value, that of the repository before the user's, "" for none.
func (c *cli) setting(key string) (string, error) {
	conf, err := c.configs()
	if err != nil {
		return "", err
	}
	for _, list := range [][]setting{conf.repo, conf.user} {
		if v, ok := find(list, key); ok {
			return v, nil
		}
	}
	return "", nil
}

func find(list []setting, key string) (string, bool) {
	for _, s := range list {
		if s.Key == key {
			return s.Value, true
		}
	}
	return "", false
}

// configs returns the configurations as they were when they were asked for first: one command
// asks for many keys.
func (c *cli) configs() (*configs, error) {
	if c.conf != nil {
		return c.conf, nil
	}
	var conf configs
	path, err := c.repoConfig()
	if err == nil {
		conf.repo, err = readConfig(path)
	} else if errors.Is(err, store.ErrNotFound) || c.serverURL() != "" {
		err = nil // outside a repository the user's applies
	}
	if err != nil {
		return nil, err
	}
	if conf.user, err = readUserConfig(c.userConfig()); err != nil {
		return nil, err
	}
	c.conf = &conf
	return c.conf, nil
}

// readUserConfig reads the user's configuration at a path, which may be "".
func readUserConfig(path string) ([]setting, error) {
	if path == "" {
		return nil, nil
	}
	return readConfig(path)
}

// repoConfig returns the path of the repository's configuration.
func (c *cli) repoConfig() (string, error) {
	dir, err := c.dir()
	return filepath.Join(dir, repo.DirName, configFile), err
}

// userConfig returns the path of the user's configuration, "" where the system has no place for
// one. A relative XDG_CONFIG_HOME is ignored, as its specification asks.
func (c *cli) userConfig() string {
	home := c.app.Config
	if xdg := c.env("XDG_CONFIG_HOME"); filepath.IsAbs(xdg) {
		home = xdg
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, "mnem", configFile)
}

// readConfig reads a configuration: one JSON object of known keys and strings. It is nil where
// there is no file.
func readConfig(path string) ([]setting, error) {
	data, err := filestate.Read(path, maxConfig)
	if err != nil {
		return nil, fmt.Errorf("read config: %w", err)
	}
	return parseConfigFile(path, data)
}

// parseConfigFile parses what a file has, nil for none.
func parseConfigFile(path string, data []byte) ([]setting, error) {
	if data == nil {
		return nil, nil
	}
	list, err := parseConfig(data)
	if err != nil {
		return nil, hint(fmt.Errorf("config %s: %w", path, err), "repair or remove the file")
	}
	return list, nil
}

func parseConfig(data []byte) ([]setting, error) {
	v, err := ipld.ParseJSON(bytes.TrimSpace(data))
	if err != nil {
		return nil, err
	}
	if v.Kind() != ipld.Map {
		return nil, fmt.Errorf("%w: not a JSON object", repo.ErrInvalid)
	}
	var list []setting
	for _, e := range v.Entries() {
		key, err := findConfigKey(e.Key)
		if err == nil && e.Value.Kind() != ipld.String {
			err = fmt.Errorf("%w: %s: not a string", repo.ErrInvalid, e.Key)
		}
		if err == nil {
			err = key.Check(e.Value.Text())
		}
		if err != nil {
			return nil, err
		}
		list = append(list, setting{e.Key, e.Value.Text()})
	}
	sortSettings(list)
	return list, nil
}

func sortSettings(list []setting) {
	slices.SortFunc(list, func(a, b setting) int { return strings.Compare(a.Key, b.Key) })
}

// editConfigFile changes a configuration in one step, upon all that other processes changed in it
// before: a reader sees the old one or the new one. Edit must not change the list that it is given.
func editConfigFile(
	ctx context.Context, path string, edit func([]setting) ([]setting, error),
) error {
	opt := filestate.Options{Limit: maxConfig}
	err := filestate.Edit(ctx, path, opt, func(data []byte) ([]byte, error) {
		old, err := parseConfigFile(path, data)
		if err != nil {
			return nil, err
		}
		next, err := edit(old)
		sortSettings(next)
		if err != nil || slices.Equal(next, old) {
			return data, err
		}
		data = encodeConfig(next)
		if len(data) > maxConfig {
			err = fmt.Errorf("%w: the configuration would have more than %d bytes", repo.ErrInvalid,
				maxConfig)
		}
		return data, err
	})
	if err != nil {
		return fmt.Errorf("write config: %w", err)
	}
	return nil
}

// encodeConfig returns the file of a configuration, whose settings are sorted.
func encodeConfig(list []setting) []byte {
	var b bytes.Buffer
	b.WriteString("{")
	for i, s := range list {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n  ")
		b.Write(ipld.AppendJSON(nil, ipld.StringValue(s.Key)))
		b.WriteString(": ")
		b.Write(ipld.AppendJSON(nil, ipld.StringValue(s.Value)))
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

// with returns list with a key set.
func with(list []setting, key, value string) []setting {
	return append(without(list, key), setting{key, value})
}

// without returns list without a key.
func without(list []setting, key string) []setting {
	return slices.DeleteFunc(slices.Clone(list), func(s setting) bool { return s.Key == key })
}
