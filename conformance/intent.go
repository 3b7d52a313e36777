package main

import (
	"os"
	"strings"
)

// cue is a phrase of intent-words.txt.
type cue struct {
	intent, place string
	words         []string // of a part the one, as it is
}

// cues and leadWords are the lines of intent-words.txt, which loadIntents reads.
var (
	cues      []cue
	leadWords = map[string]bool{}
)

// loadIntents reads spec/intent-words.txt, whose head says what its lines mean.
func loadIntents(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	cues, leadWords = nil, map[string]bool{}
	for _, line := range strings.Split(string(b), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		place := ""
		if word != "lead" {
			place, rest, _ = strings.Cut(rest, " ")
		}
		for _, item := range strings.Split(rest, ";") {
			item = strings.TrimSpace(item)
			switch {
			case word == "lead":
				leadWords[tokensIn(item)[0]] = true
			case place == "part":
				cues = append(cues, cue{word, place, []string{item}})
			default:
				cues = append(cues, cue{word, place, tokensIn(item)})
			}
		}
	}
	return nil
}

// orders are the intents in the order in which equal phrases count.
var orders = map[string]int{"why": 0, "when": 1, "entity": 2, "none": 3}

// toldBy is a phrase that a text has, and where it begins.
type toldBy struct {
	intent string
	at     int
}

// intentOf is clause 26.1.
func intentOf(s string) string {
	if rs := []rune(s); len(rs) > 4096 {
		s = string(rs[:4096])
	}
	best := toldBy{"general", len(s) + 1}
	for _, f := range append(wordCues(s), partCues(s)...) {
		switch {
		case f.intent == "none" || best.intent == "why":
		case f.intent == "why" || f.at < best.at ||
			f.at == best.at && orders[f.intent] < orders[best.intent]:
			best = f
		}
	}
	return best.intent
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// wordCues are the phrases of words in a text, in order.
func wordCues(s string) []toldBy {
	words := surfaces(s)
	var out []toldBy
	led := true
	for i := 0; i < len(words); {
		if i > 0 && words[i].at > words[i-1].end &&
			strings.Trim(s[words[i-1].end:words[i].at], " ,") != "" {
			led = true
		}
		var best *cue
		for n := range cues {
			c := &cues[n]
			if c.place == "part" || i+len(c.words) > len(words) || c.place == "first" && !led ||
				c.place == "marked" && isASCII(s[words[i].at:words[i].end]) {
				continue
			}
			same := true
			for j, w := range c.words {
				same = same && words[i+j].token == w
			}
			if same && (best == nil || len(c.words) > len(best.words) ||
				len(c.words) == len(best.words) && orders[c.intent] < orders[best.intent]) {
				best = c
			}
		}
		if best == nil {
			led = led && leadWords[words[i].token]
			i++
			continue
		}
		out = append(out, toldBy{best.intent, words[i].at})
		led = false
		i += len(best.words)
	}
	return out
}

// partCues are the runs of characters in a text, in order.
func partCues(s string) []toldBy {
	var out []toldBy
	for at := 0; at < len(s); {
		var best *cue
		for n := range cues {
			c := &cues[n]
			if c.place == "part" && strings.HasPrefix(s[at:], c.words[0]) &&
				(best == nil || len(c.words[0]) > len(best.words[0])) {
				best = c
			}
		}
		if best == nil {
			at++
			continue
		}
		out = append(out, toldBy{best.intent, at})
		at += len(best.words[0])
	}
	return out
}

// tokensIn are the tokens of the words of a text.
func tokensIn(s string) []string {
	var out []string
	for _, w := range surfaces(s) {
		out = append(out, w.token)
	}
	return out
}
