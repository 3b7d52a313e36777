package reach

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mnem-project/mnem/internal/door/line"
	"github.com/mnem-project/mnem/internal/door/settings"
	"github.com/mnem-project/mnem/internal/model"
	"github.com/mnem-project/mnem/internal/state"
)

// QueryAttempts is how often a provider is asked about one query: a user waits for the answer,
// and there is one without.
const QueryAttempts = 2

// ModelVariables returns what can be set of models, and the keys of providers, which no
// configuration holds: each once.
func ModelVariables() []line.Variable {
	var list []line.Variable
	for _, key := range settings.ModelKeys() {
		list = append(list, line.Variable{Name: key.Env, Means: key.Help})
	}
	for _, p := range slices.Concat(settings.Embed.Providers, settings.Rerank.Providers, settings.Rewrite.Providers) {
		if !slices.ContainsFunc(list, func(v line.Variable) bool { return v.Name == p.Secret }) {
			list = append(list, line.Variable{Name: p.Secret, Means: "the key of " + p.Shown + "; in no configuration"})
		}
	}
	return list
}

// modelOptions returns how to reach the model that a spec names. kept is whether the spec is the configured one.
func modelOptions(c *line.Line, u *settings.ModelUse, spec string, kept bool, attempts int) (model.ProviderOptions, error) {
	timeout, err := u.Timeout(c.Configured)
	opt := model.ProviderOptions{Attempts: attempts, Timeout: timeout}
	if c.App.Sleep != nil {
		opt.Clock = modelClock{c.App}
	}
	name, _, _ := strings.Cut(spec, ":")
	for _, p := range u.Providers {
		if p.Name == name && err == nil {
			opt.Key, err = modelSecret(c, u, p.Secret, spec, kept)
		}
	}
	return opt, err
}

// modelClock is the time by which requests are tried again.
type modelClock struct{ app *line.App }

func (k modelClock) Now() time.Time { return k.app.Now() }

func (k modelClock) Sleep(ctx context.Context, d time.Duration) error { return k.app.Sleep(ctx, d) }

// noModel is the error of a command that needs a model if none is named or configured. flag
// names one on the command line.
func noModel(c *line.Line, reason, flag, key string) error {
	err := fmt.Errorf("%w: %s", state.ErrInvalid, reason)
	if c.By.Remote {
		return line.Hint(err, "on the machine that serves, run 'mnem config set %s SPEC'", key)
	}
	return line.Hint(err, "name one with %s, or run 'mnem config set %s SPEC'", flag, key)
}

// modelSecret returns a provider's key. It is not sent to an address that only the repository's configuration names: a
// directory that somebody else made would get the key of any user who looks into it.
func modelSecret(c *line.Line, u *settings.ModelUse, env, spec string, kept bool) (model.Secret, error) {
	secret := c.Env(env)
	if _, address := model.SplitAddress(spec); secret == "" || address == "" || !kept {
		return model.Secret(secret), nil
	}
	key, err := settings.KeyOf(u.Key)
	if err != nil {
		return "", err
	}
	got, err := c.LookUp(key, false)
	if err == nil && got.From == settings.FromRepository {
		return "", line.Hint(fmt.Errorf("%w: %s is not sent to the address in the repository's configuration",
			state.ErrInvalid, env), "name the model with %s or a flag, or clear %s", key.Env, env)
	}
	return model.Secret(secret), err
}
