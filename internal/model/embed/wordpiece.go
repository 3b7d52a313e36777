package embed

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mnem-project/mnem/internal/model"
	"github.com/mnem-project/mnem/internal/model/bert"
)

const (
	// maxVocab is the largest vocabulary: sixteen times the size of the largest multilingual models' vocabularies.
	maxVocab = 1 << 22
	// maxWordChars bounds max_input_chars_per_word, since a word takes time by its square.
	maxWordChars = 1000
)

// supported says what tokenizer.json may ask for.
const supported = "supported are the model WordPiece, the normalizer BertNormalizer or null, and " +
	"the pre-tokenizer BertPreTokenizer"

// tokenizer is a WordPiece tokenizer as BERT has it.
type tokenizer struct {
	norm  bert.Normalizer
	whole map[string]int32 // tokens that begin a word
	rest  map[string]int32 // tokens that go on with one, without their prefix
	// unknown is the token of words that have no pieces, -1 for none. It has no vector.
	unknown  int32
	maxChars int // longer words are unknown
	longest  int // bytes of the longest token
	top      int32
}

// parseTokenizer reads tokenizer.json.
func parseTokenizer(data []byte) (*tokenizer, error) {
	var pieces, norm, pre, added json.RawMessage
	err := model.ReadObject(data, func(name string, value json.RawMessage) error {
		switch name {
		case "model":
			pieces = value
		case "normalizer":
			norm = value
		case "pre_tokenizer":
			pre = value
		case "added_tokens":
			added = value
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if pieces == nil {
		return nil, errors.New("no model: not a tokenizer.json")
	}
	t := &tokenizer{}
	if err := t.readModel(pieces); err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	if err := t.readNormalizer(norm); err != nil {
		return nil, fmt.Errorf("normalizer: %w", err)
	}
	kind, err := typeOf(pre)
	if err == nil && kind != "BertPreTokenizer" {
		err = unsupported(kind)
	}
	if err != nil {
		return nil, fmt.Errorf("pre_tokenizer: %w", err)
	}
	if err := t.checkAdded(added); err != nil {
		return nil, fmt.Errorf("added_tokens: %w", err)
	}
	return t, nil
}

// typeOf returns the member "type" of an object, "null" if there is no object.
func typeOf(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "null", nil
	}
	kind := ""
	err := model.ReadObject(raw, func(name string, value json.RawMessage) error {
		if name == "type" {
			return json.Unmarshal(value, &kind)
		}
		return nil
	})
	if err == nil && kind == "" {
		err = errors.New("no type")
	}
	return kind, err
}

func unsupported(kind string) error {
	return fmt.Errorf("%s is not supported: %s", model.Clip(kind), supported)
}

func (t *tokenizer) readModel(raw json.RawMessage) error {
	var (
		kind, unknown, prefix = "", "[UNK]", "##"
		vocab                 json.RawMessage
	)
	t.maxChars = 100
	err := model.ReadObject(raw, func(name string, value json.RawMessage) error {
		switch name {
		case "type":
			return json.Unmarshal(value, &kind)
		case "unk_token":
			return json.Unmarshal(value, &unknown)
		case "continuing_subword_prefix":
			return json.Unmarshal(value, &prefix)
		case "max_input_chars_per_word":
			return json.Unmarshal(value, &t.maxChars)
		case "vocab":
			vocab = value
		}
		return nil
	})
	if err != nil {
		return err
	}
	if kind != "WordPiece" {
		return unsupported(kind)
	}
	if t.maxChars < 1 || t.maxChars > maxWordChars {
		return fmt.Errorf("max_input_chars_per_word is %d, want 1 to %d", t.maxChars, maxWordChars)
	}
	if prefix == "" {
		return errors.New("continuing_subword_prefix is empty")
	}
	if vocab == nil {
		return errors.New("no vocab")
	}
	if err := t.readVocab(vocab, prefix); err != nil {
		return fmt.Errorf("vocab: %w", err)
	}
	if id, ok := t.whole[unknown]; ok {
		t.unknown = id
	} else {
		t.unknown = -1
	}
	return nil
}

// readVocab reads an object of token to number.
func (t *tokenizer) readVocab(raw json.RawMessage, prefix string) error {
	t.whole, t.rest = map[string]int32{}, map[string]int32{}
	owners := map[int32]string{}
	err := model.ReadObject(raw, func(token string, value json.RawMessage) error {
		var id int32
		if err := json.Unmarshal(value, &id); err != nil || string(value) == "null" {
			return fmt.Errorf("%s is no number of a token", model.Clip(string(value)))
		}
		if id < 0 || id >= maxVocab {
			return fmt.Errorf("number %d is outside 0 to %d", id, maxVocab-1)
		}
		if other, taken := owners[id]; taken {
			return fmt.Errorf("number %d belongs to %s already", id, model.Clip(other))
		}
		owners[id] = token
		t.whole[token] = id
		if tail, ok := strings.CutPrefix(token, prefix); ok {
			t.rest[tail] = id
		}
		t.longest = max(t.longest, len(token))
		t.top = max(t.top, id)
		return nil
	})
	if err == nil && len(owners) == 0 {
		err = errors.New("empty")
	}
	return err
}

func (t *tokenizer) readNormalizer(raw json.RawMessage) error {
	kind, err := typeOf(raw)
	if err != nil || kind == "null" {
		return err
	}
	if kind != "BertNormalizer" {
		return unsupported(kind)
	}
	t.norm = bert.Normalizer{Clean: true, Chinese: true, Lower: true}
	var strip *bool
	err = model.ReadObject(raw, func(name string, value json.RawMessage) error {
		switch name {
		case "type":
			return nil
		case "clean_text":
			return json.Unmarshal(value, &t.norm.Clean)
		case "handle_chinese_chars":
			return json.Unmarshal(value, &t.norm.Chinese)
		case "strip_accents":
			return json.Unmarshal(value, &strip)
		case "lowercase":
			return json.Unmarshal(value, &t.norm.Lower)
		}
		return errors.New("not a setting of BertNormalizer")
	})
	// Nothing said about accents means: as about case.
	t.norm.Strip = t.norm.Lower
	if strip != nil {
		t.norm.Strip = *strip
	}
	return err
}

// checkAdded refuses tokens that are found in the text before it is normalised, except special
// ones: those control a model that this is not, and a text that happens to spell one means it.
func (t *tokenizer) checkAdded(raw json.RawMessage) error {
	var all []struct {
		Content string
		Special bool
	}
	if raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return model.JSONProblem(err)
	}
	for _, a := range all {
		if !a.Special {
			return fmt.Errorf("%s is not special: such tokens are not supported", model.Clip(a.Content))
		}
	}
	return nil
}

// tokens calls yield with the numbers of the tokens of s, without unknown words.
func (t *tokenizer) tokens(s string, yield func(id int32)) {
	var ids []int32
	t.norm.Words(s, func(word []byte) bool {
		ids = t.pieces(ids[:0], string(word))
		for _, id := range ids {
			if id != t.unknown {
				yield(id)
			}
		}
		return true
	})
}

// pieces appends the tokens of a word: the longest one that it begins with, then the longest that
// goes on, and so on; none if it gets stuck.
func (t *tokenizer) pieces(ids []int32, word string) []int32 {
	if utf8.RuneCountInString(word) > t.maxChars {
		return ids[:0]
	}
	table := t.whole
	for len(word) > 0 {
		end := min(len(word), t.longest)
		for end < len(word) && !utf8.RuneStart(word[end]) {
			end--
		}
		id, found := int32(0), false
		for end > 0 {
			if id, found = table[word[:end]]; found {
				break
			}
			_, width := utf8.DecodeLastRuneInString(word[:end])
			end -= width
		}
		if !found {
			return ids[:0]
		}
		ids = append(ids, id)
		word, table = word[end:], t.rest
	}
	return ids
}
