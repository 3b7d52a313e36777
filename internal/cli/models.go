package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/model"
	"github.com/mnem-project/mnem/repo"
)

// queryAttempts is how often a provider is asked about one query: somebody waits for the answer,
// and there is one without.
const queryAttempts = 2

// modelUse is one thing that models are asked for, as the configuration has it. Keys, variables
// and help follow from the providers that there are.
type modelUse struct {
	name      string // the first part of its keys
	providers []model.Provider
	does      string        // what stands after "where PROVIDER answers" in help
	limit     time.Duration // of one request, by default
	limitHelp string        // what such a request is made to
	check     func(spec string, opt model.Options) error
}

func (u *modelUse) urlKey(p model.Provider) string { return u.name + "." + p.Name + "URL" }

func (u *modelUse) urlEnv(p model.Provider) string {
	return "MNEM_" + strings.ToUpper(u.name+"_"+p.Name) + "_URL"
}

// urlKeys are the keys that say where providers answer. Values are checked by opening a model:
// nothing is asked of anybody.
func (u *modelUse) urlKeys() []configKey {
	var keys []configKey
	for _, p := range u.providers {
		key := u.urlKey(p)
		keys = append(keys, configKey{key, u.urlEnv(p), p.URL, "where " + p.Shown + " answers" + u.does,
			func(v string) error {
				err := u.check(p.Name+":x", model.Options{URL: v})
				if err != nil {
					err = fmt.Errorf("%w: %s: %w", repo.ErrInvalid, key, err)
				}
				return err
			}})
	}
	return keys
}

func (u *modelUse) timeoutKey() configKey {
	key := u.name + ".timeout"
	return configKey{key, "MNEM_" + strings.ToUpper(u.name) + "_TIMEOUT", u.limit.String(),
		"longest request to " + u.limitHelp + ": 1ms to 1h",
		func(v string) error { _, err := parseModelTimeout(key, v); return err }}
}

// modelVariables returns what can be set of models, and the keys of providers, which no
// configuration holds: each once.
func modelVariables() []variable {
	var list []variable
	for _, key := range slices.Concat(embedKeys(), rerankKeys(), rewriteKeys()) {
		list = append(list, variable{key.Env, key.Help})
	}
	for _, p := range slices.Concat(embedUse.providers, rerankUse.providers, rewriteUse.providers) {
		if !slices.ContainsFunc(list, func(v variable) bool { return v.Name == p.Secret }) {
			list = append(list, variable{p.Secret, "the key of " + p.Shown + "; in no configuration"})
		}
	}
	return list
}

// modelOptions returns how to reach the provider that a spec names, as it is configured.
func (c *cli) modelOptions(u *modelUse, spec string, attempts int) (model.Options, error) {
	opt := model.Options{Attempts: attempts}
	timeout, err := c.configured(u.timeoutKey().Name)
	if err == nil {
		opt.Timeout, err = parseModelTimeout(u.timeoutKey().Name, timeout)
	}
	if err != nil {
		return opt, err
	}
	if c.app.Sleep != nil {
		opt.Clock = modelClock{c.app}
	}
	name, _, _ := strings.Cut(spec, ":")
	for _, p := range u.providers {
		if p.Name != name {
			continue
		}
		if opt.URL, err = c.configured(u.urlKey(p)); err != nil {
			return opt, err
		}
		if opt.Key, err = c.modelSecret(p.Secret, u.urlKey(p)); err != nil {
			return opt, err
		}
	}
	return opt, nil
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

// modelClock is the time by which requests are tried again.
type modelClock struct{ app *App }

func (k modelClock) Now() time.Time { return k.app.Now() }

func (k modelClock) Sleep(ctx context.Context, d time.Duration) error { return k.app.Sleep(ctx, d) }

// noModel is the error of a command that needs a model where none is named or configured. flag is what
// names one on the command line.
func (c *cli) noModel(reason, flag, key string) error {
	err := fmt.Errorf("%w: %s", repo.ErrInvalid, reason)
	if c.by.Remote {
		return hint(err, "on the machine that serves, run 'mnem config set %s SPEC'", key)
	}
	return hint(err, "name one with %s, or run 'mnem config set %s SPEC'", flag, key)
}

// modelSecret returns a provider's key. It is not sent where only the repository's configuration
// says so: a directory that somebody else made would get the key of whoever looks into it.
func (c *cli) modelSecret(env, urlKey string) (model.Secret, error) {
	secret := c.env(env)
	if secret == "" {
		return "", nil
	}
	key, err := findConfigKey(urlKey)
	if err != nil {
		return "", err
	}
	got, err := c.lookUp(key, false)
	if err == nil && got.From == sourceRepo {
		err = hint(fmt.Errorf("%w: %s is not sent to the address in the repository's configuration",
			repo.ErrInvalid, env), "set it with 'mnem config set --user %s URL' or %s, or clear %s",
			urlKey, key.Env, env)
	}
	return model.Secret(secret), err
}
