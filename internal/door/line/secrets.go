package line

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/internal/guard"
	"github.com/mnem-project/mnem/internal/state"
)

// allowSecret is the flag about credentials.
const allowSecret = "allow-secret"

// CompleteRules completes the names of the rules by which credentials are found.
func CompleteRules(_ *cobra.Command, _ []string, prefix string) (
	ids []string, _ cobra.ShellCompDirective,
) {
	for _, r := range guard.Rules() {
		if strings.HasPrefix(r.ID, prefix) {
			ids = append(ids, r.ID)
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// secretOptions says what becomes of credentials in what is written.
func (c *Line) secretOptions() (state.SecretOptions, error) {
	for _, id := range c.Global.AllowSecret {
		if !guard.IsRule(id) {
			return state.SecretOptions{}, Hint(Usagef("--%s: no rule %q", allowSecret, id),
				"'mnem config secrets' lists them")
		}
	}
	return state.SecretOptions{Allow: c.Global.AllowSecret, Strict: c.Global.Strict}, nil
}
