package minilm

import (
	"strings"
	"testing"

	"github.com/mnem-project/mnem/internal/model/minilm/dot"
)

// BenchmarkVectors embeds a question of 12 words, a memory of 25, and chunks of 128 pieces.
func BenchmarkVectors(b *testing.B) {
	m := open(b)
	question := "which of the two servers runs the nightly backup of the database"
	memory := "The nightly backup of the orders database runs on the second server at three, since the first one " +
		"is busy with reports until half past two."
	chunk := strings.Repeat("The backup of the orders database runs on the second server. ", 12)
	for _, c := range []struct {
		name  string
		texts []string
	}{
		{"question", []string{question}},
		{"memory", []string{memory}},
		{"chunks", []string{chunk, chunk, chunk, chunk, chunk, chunk, chunk, chunk}},
	} {
		b.Run(dot.Kernel()+"/"+c.name, func(b *testing.B) {
			pieces := 0
			for _, text := range c.texts {
				pieces += m.Count(text).Pieces + 2
			}
			for b.Loop() {
				if _, err := m.Vectors(b.Context(), c.texts, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(pieces), "pieces")
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(c.texts)), "µs/text")
		})
	}
}
