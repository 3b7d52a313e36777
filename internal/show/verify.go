package show

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mnem-project/mnem/commit"
	"github.com/mnem-project/mnem/ops"
)

// Verified prints a commit and what its signature is worth, and in the end how many there are.
func (c *Console) Verified(answer any) error {
	switch v := answer.(type) {
	case *ops.Verified:
		return c.Printf("%s  %s  %s  %s  %s\n", strings.TrimSuffix(c.signatureColumn(&v.Signature), " "),
			c.commit(v.Commit), v.Time.String()[:len("2006-01-02")],
			signedBy(&v.Signature), line(v.Title))
	case *ops.VerifiedAll:
		n := 0
		var parts []string
		for _, state := range commit.SignatureStates() {
			if (*v)[state] > 0 {
				n += (*v)[state]
				parts = append(parts, fmt.Sprintf("%d %s", (*v)[state], state))
			}
		}
		c.Remark("%s: %s", plural(n, "commit"), cmp.Or(strings.Join(parts, ", "), "nothing to verify"))
	}
	return nil
}

// signedBy says who signed, or why that does not count.
func signedBy(v *ops.Signature) string {
	who := "(nobody)"
	if key, err := commit.ParseKey(string(v.Key)); err == nil {
		who = key.Fingerprint()
	}
	if v.Name != "" {
		who = line(string(v.Name)) + " " + who
	}
	if v.Reason != "" {
		who += " (" + line(string(v.Reason)) + ")"
	}
	return who
}

func signatureStyle(s commit.SignatureState) string {
	switch s {
	case commit.Signed:
		return Green
	case commit.Untrusted:
		return Yellow
	case commit.Unsigned:
		return Dim
	}
	return Red
}
