package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/model"
	"github.com/mnem-project/mnem/internal/state"
)

// queryAttempts is how often a provider is asked about one query: somebody waits for the answer,
// and there is one without.
const queryAttempts = 2

// modelVariables returns what can be set of models, and the keys of providers, which no
// configuration holds: each once.
func modelVariables() []variable {
	var list []variable
	for _, key := range slices.Concat(settings.EmbedKeys(), settings.RerankKeys(), settings.RewriteKeys()) {
		list = append(list, variable{key.Env, key.Help})
	}
	for _, p := range slices.Concat(settings.Embed.Providers, settings.Rerank.Providers, settings.Rewrite.Providers) {
		if !slices.ContainsFunc(list, func(v variable) bool { return v.Name == p.Secret }) {
			list = append(list, variable{p.Secret, "the key of " + p.Shown + "; in no configuration"})
		}
	}
	return list
}

// modelOptions returns how to reach the provider that a spec names, as it is configured.
func (c *cli) modelOptions(u *settings.ModelUse, spec string, attempts int) (model.Options, error) {
	opt := model.Options{Attempts: attempts}
	timeout, err := c.configured(u.TimeoutKey().Name)
	if err == nil {
		opt.Timeout, err = settings.ParseModelTimeout(u.TimeoutKey().Name, timeout)
	}
	if err != nil {
		return opt, err
	}
	if c.app.Sleep != nil {
		opt.Clock = modelClock{c.app}
	}
	name, _, _ := strings.Cut(spec, ":")
	for _, p := range u.Providers {
		if p.Name != name {
			continue
		}
		if opt.URL, err = c.configured(u.URLKey(p)); err != nil {
			return opt, err
		}
		if opt.Key, err = c.modelSecret(p.Secret, u.URLKey(p)); err != nil {
			return opt, err
		}
	}
	return opt, nil
}

// modelClock is the time by which requests are tried again.
type modelClock struct{ app *App }

func (k modelClock) Now() time.Time { return k.app.Now() }

func (k modelClock) Sleep(ctx context.Context, d time.Duration) error { return k.app.Sleep(ctx, d) }

// noModel is the error of a command that needs a model where none is named or configured. flag is what
// names one on the command line.
func (c *cli) noModel(reason, flag, key string) error {
	err := fmt.Errorf("%w: %s", state.ErrInvalid, reason)
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
	key, err := settings.KeyOf(urlKey)
	if err != nil {
		return "", err
	}
	got, err := c.lookUp(key, false)
	if err == nil && got.From == settings.FromRepository {
		err = hint(fmt.Errorf("%w: %s is not sent to the address in the repository's configuration",
			state.ErrInvalid, env), "set it with 'mnem config set --user %s URL' or %s, or clear %s",
			urlKey, key.Env, env)
	}
	return model.Secret(secret), err
}
