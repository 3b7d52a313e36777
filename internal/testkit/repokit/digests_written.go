package repokit

import (
	"context"

	"github.com/mnem-project/mnem/internal/core"
	"github.com/mnem-project/mnem/internal/outline"
	"github.com/mnem-project/mnem/internal/view/distill"
)

// TextFor returns a text by model m for a digest.
func TextFor(d *distill.Digest, text string) outline.DigestText {
	return outline.DigestText{Scope: d.Scope, Label: d.Label, Source: d.Source, Text: text, Model: "m"}
}

// WriteTexts writes texts for digests of the default recipe on a branch, "" for that of HEAD.
func WriteTexts(r *core.Repo, branch string, texts ...outline.DigestText) (*outline.DigestTextsResult, error) {
	return outline.WriteDigests(context.Background(), r, distill.Default(), texts, core.CommitOptions{Stamp: By, Branch: branch, Message: "texts"})
}
