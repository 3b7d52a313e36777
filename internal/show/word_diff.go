package show

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/mnem-project/mnem/internal/pattern"
	"github.com/mnem-project/mnem/ops"
)

// maxCompared bounds how many words of each text are compared one by one: the work grows with their product.
// Longer texts are shown as replaced between what they begin and end with alike.
const maxCompared = 2000

// wordPattern cuts a text into words, spaces and single signs. Scripts without spaces are cut by character.
var wordPattern = pattern.New(`[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|[\p{L}\p{N}\p{M}_]+|\s+|.`)

// wordDiff shows how a value became another, words that went as [-…-] and words that came as {+…+}.
func (c *Console) wordDiff(from, to ops.Raw) string {
	a, b := wordsOf(from), wordsOf(to)
	var out strings.Builder
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	out.WriteString(line(strings.Join(a[:start], "")))
	c.writeChanged(&out, a[start:len(a)-end], b[start:len(b)-end])
	out.WriteString(line(strings.Join(a[len(a)-end:], "")))
	return out.String()
}

// wordsOf are the words of a value: of a text, or of its JSON form.
func wordsOf(v ops.Raw) []string {
	if v == nil {
		return nil
	}
	var text string
	if json.Unmarshal(v, &text) != nil {
		text = string(v)
	}
	return wordPattern().FindAllString(text, -1)
}

// writeChanged writes words by a longest common subsequence.
func (c *Console) writeChanged(out *strings.Builder, a, b []string) {
	if len(a) > maxCompared || len(b) > maxCompared {
		c.writeWords(out, a, b)
		return
	}
	common := commonLengths(a, b)
	for i, j := 0, 0; i < len(a) || j < len(b); {
		var went, came []string
		for i < len(a) || j < len(b) {
			switch {
			case i < len(a) && j < len(b) && a[i] == b[j]:
			case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
				went = append(went, a[i])
				i++
				continue
			default:
				came = append(came, b[j])
				j++
				continue
			}
			break
		}
		c.writeWords(out, went, came)
		for i < len(a) && j < len(b) && a[i] == b[j] {
			out.WriteString(line(a[i]))
			i, j = i+1, j+1
		}
	}
}

// commonLengths are the lengths of longest common subsequences of what follows in both.
func commonLengths(a, b []string) [][]uint16 {
	rows := make([][]uint16, len(a)+1)
	all := make([]uint16, (len(a)+1)*(len(b)+1))
	for i := range rows {
		rows[i], all = all[:len(b)+1], all[len(b)+1:]
	}
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if x == y {
				rows[i][j] = rows[i+1][j+1] + 1
			} else {
				rows[i][j] = max(rows[i+1][j], rows[i][j+1])
			}
		}
	}
	return rows
}

func (c *Console) writeWords(out *strings.Builder, went, came []string) {
	if len(went) > 0 {
		out.WriteString(c.Paint(Red, "[-"+line(strings.Join(went, ""))+"-]"))
	}
	if len(came) > 0 {
		out.WriteString(c.Paint(Green, "{+"+line(strings.Join(came, ""))+"+}"))
	}
}
