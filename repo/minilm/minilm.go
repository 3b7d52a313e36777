// Package minilm is the sentence model of the program mnem, for programs that embed repositories: all-MiniLM-L6-v2,
// computed in integers, for English. A program that imports it is 23 MB larger; no other package of this module that a
// program can import carries the model.
//
//	r, err := repo.Open(dir, repo.Options{By: author, Now: now, Meaning: minilm.Model()})
//
// Texts are read up to about 90 words. NOTICE names the model's authors and licence.
package minilm

import (
	"github.com/mnem-project/mnem/internal/model/builtin"
	"github.com/mnem-project/mnem/internal/model/minilm/weights"
	"github.com/mnem-project/mnem/repo"
)

var model = builtin.New(weights.File)

// Model returns the model, which reads its file when it embeds a text for the first time. It returns nil in a program
// that was built with the tag nomodel.
func Model() repo.Meaning {
	if model == nil {
		return nil
	}
	return model
}
