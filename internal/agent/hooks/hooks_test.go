package hooks

import (
	"testing"

	"github.com/mnem-project/mnem/internal/testkit/must"
)

// TestUnquoted removes the quotes that a program puts around a prompt, and no others.
func TestUnquoted(t *testing.T) {
	for prompt, want := range map[string]string{
		`"why do photos turn black?"`: "why do photos turn black?",
		` "one"` + "\n":               "one",
		`say "one" or "two"`:          `say "one" or "two"`,
		`"one" or "two"`:              `"one" or "two"`,
		`"`:                           `"`,
		"":                            "",
		`"open`:                       `"open`,
	} {
		must.Equal(t, unquoted(prompt), want, prompt)
	}
}
