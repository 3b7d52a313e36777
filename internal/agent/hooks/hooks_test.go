package hooks

import "testing"

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
		if got := unquoted(prompt); got != want {
			t.Errorf("%q: %q, want %q", prompt, got, want)
		}
	}
}
