package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mnem-project/mnem/guard"
	"github.com/mnem-project/mnem/repo"
)

// allowSecret and allowStrict are the flags about credentials.
const (
	allowSecret = "allow-secret"
	allowStrict = "strict"
)

// secretFlag adds the flag of commands that write texts which somebody gives.
func (c *cli) secretFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&c.global.allowSecret, allowSecret, nil, "write what `RULE` of 'mnem "+
		"guard rules' takes for a credential (repeatable)")
	c.completeBy(cmd, allowSecret, func(_ *cobra.Command, _ []string, prefix string) (
		ids []string, _ cobra.ShellCompDirective,
	) {
		for _, r := range guard.Rules() {
			if strings.HasPrefix(r.ID, prefix) {
				ids = append(ids, r.ID)
			}
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	})
}

// strictFlag adds that of commands that read change lines, too.
func (c *cli) strictFlag(cmd *cobra.Command) {
	c.secretFlag(cmd)
	cmd.Flags().BoolVar(&c.global.strict, allowStrict, false, fmt.Sprintf("refuse credentials in more "+
		"than %d changes too, where they are only reported", repo.BulkChanges))
}

// secretOptions says what becomes of credentials in what is written.
func (c *cli) secretOptions() (repo.SecretOptions, error) {
	for _, id := range c.global.allowSecret {
		if !guard.IsRule(id) {
			return repo.SecretOptions{}, hint(usagef("--%s: no rule %q", allowSecret, id),
				"'mnem guard rules' lists them")
		}
	}
	return repo.SecretOptions{Allow: c.global.allowSecret, Strict: c.global.strict}, nil
}

// secretHint says what to do about a credential that was refused.
func (c *cli) secretHint(e *repo.SecretError) string {
	if c.app.Remote {
		var list []string
		for _, r := range e.Rules {
			list = append(list, fmt.Sprintf("%q", r))
		}
		return "leave it out; if it is no secret, or is to be kept all the same, call again with " +
			`"allow_secret": [` + strings.Join(list, ", ") + "]"
	}
	var again strings.Builder
	for _, r := range e.Rules {
		fmt.Fprintf(&again, " --%s %s", allowSecret, r)
	}
	hint := "leave it out; if it is no secret, or is to be kept all the same, give" + again.String()
	if e.Bulk {
		hint += ", or leave out --" + allowStrict
	}
	return hint
}

// secretWarningJSON is what looks like a credential in what was written.
type secretWarningJSON struct {
	Code    string  `json:"code"`
	Rule    string  `json:"rule"`
	Field   string  `json:"field"`
	File    *string `json:"file"`
	Line    *int    `json:"line"`
	Item    *string `json:"item"`
	Message string  `json:"message"`
	Remedy  string  `json:"remedy"`
}

// Codes of warnings about what was written.
const (
	codeSecret = "secret"
	codeMore   = "secrets_not_listed" // there are more than are listed
	codeUnread = "not_searched"       // a merge has more items than are looked at
)

const secretRemedy = "'mnem purge' erases a node from all history; change the credential where it is used"

// secretWarnings returns the warnings of a report, nil for none.
func secretWarnings(r repo.SecretReport) []secretWarningJSON {
	var out []secretWarningJSON
	for _, f := range r.Findings {
		w := secretWarningJSON{
			Code: codeSecret, Rule: f.Rule, Field: f.Field, File: orNull(f.File), Item: orNull(f.Item),
			Message: f.Where() + " looks like a credential (" + f.Rule + ")", Remedy: secretRemedy,
		}
		if f.Line > 0 {
			w.Line = new(f.Line)
		}
		out = append(out, w)
	}
	if r.More > 0 {
		out = append(out, secretWarningJSON{Code: codeMore, Remedy: secretRemedy,
			Message: fmt.Sprintf("%d more places look like credentials", r.More)})
	}
	if r.Unread > 0 {
		out = append(out, secretWarningJSON{Code: codeUnread,
			Message: plural(r.Unread, "item") + " of the merge not searched for credentials",
			Remedy:  "'mnem export' the branch and 'mnem import --dry-run' it elsewhere: that searches all"})
	}
	return out
}

// maxWarned is how many warnings people are shown.
const maxWarned = 10

// warnSecrets tells people what looks like credentials in what was written.
func (c *cli) warnSecrets(r repo.SecretReport) {
	list := secretWarnings(r)
	for _, w := range list[:min(len(list), maxWarned)] {
		c.remark("warning: %s", line(w.Message))
	}
	if n := len(list) - maxWarned; n > 0 {
		c.remark("warning: %d more; --json lists them", n)
	}
	if slices.ContainsFunc(list, func(w secretWarningJSON) bool { return w.Code == codeSecret }) {
		c.remark("hint: %s", secretRemedy)
	}
}
