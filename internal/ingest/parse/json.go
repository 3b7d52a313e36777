package parse

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mnem-project/mnem/internal/base/text"
)

// ErrForm is returned for a file that is damaged, or not of the form that its name says.
var ErrForm = errors.New("not in the form of its format")

// jsonText reads JSON value by value, and knows the line that it is at.
type jsonText struct {
	dec  *json.Decoder
	text string
	at   int
	line int
}

func newJSON(text string, line int) *jsonText {
	j := &jsonText{dec: json.NewDecoder(strings.NewReader(text)), text: text, line: line}
	j.dec.UseNumber()
	return j
}

func (j *jsonText) token() (json.Token, error) {
	tok, err := j.dec.Token()
	end := int(j.dec.InputOffset())
	j.line += strings.Count(j.text[j.at:end], "\n")
	j.at = end
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, fmt.Errorf("line %d: %w: %w", j.line, ErrForm, err)
	}
	return tok, nil
}

// skip passes the rest of a value that begins with a token.
func (j *jsonText) skip(tok json.Token) error {
	depth := 0
	for {
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		var err error
		if tok, err = j.token(); err != nil {
			return err
		}
	}
}

// object calls a function with each name of an object, and the token that begins its value, whose rest the
// function reads. Another value is passed.
func (j *jsonText) object(tok json.Token, each func(name string, tok json.Token) error) error {
	if tok != json.Delim('{') {
		return j.skip(tok)
	}
	for j.dec.More() {
		name, err := j.token()
		if err != nil {
			return err
		}
		value, err := j.token()
		if err != nil {
			return err
		}
		s, _ := name.(string)
		if err := each(s, value); err != nil {
			return err
		}
	}
	_, err := j.token()
	return err
}

// array calls a function with the token that begins each item of an array. Another value is passed.
func (j *jsonText) array(tok json.Token, each func(tok json.Token) error) error {
	if tok != json.Delim('[') {
		return j.skip(tok)
	}
	for j.dec.More() {
		item, err := j.token()
		if err == nil {
			err = each(item)
		}
		if err != nil {
			return err
		}
	}
	_, err := j.token()
	return err
}

// done returns an error if something follows the value.
func (j *jsonText) done() error {
	if _, err := j.dec.Token(); !errors.Is(err, io.EOF) {
		j.line += strings.Count(j.text[j.at:j.dec.InputOffset()], "\n")
		return fmt.Errorf("line %d: %w: something behind its end", j.line, ErrForm)
	}
	return nil
}

// lines reads a text, or a list of texts that are one, up to most bytes; 0 is no bound. cut is whether there was more.
func (j *jsonText) lines(tok json.Token, most int) (l lineList, err error) {
	l.most = most
	if s, ok := tok.(string); ok {
		l.add(s, j.line)
	} else {
		err = j.array(tok, func(tok json.Token) error {
			if s, ok := tok.(string); ok {
				l.add(s, j.line)
				return nil
			}
			return j.skip(tok)
		})
	}
	l.end()
	return l, err
}

// lineList makes lines of pieces of text.
type lineList struct {
	list []partLine
	most int
	size int
	cut  bool // whether there was more

	cur   strings.Builder
	open  bool
	first int
	last  int
}

// add adds a piece, which stands in a line of the file.
func (l *lineList) add(s string, at int) {
	s = strings.ReplaceAll(s, "\x00", "\ufffd")
	if l.most > 0 && l.size+len(s) > l.most {
		s = text.FirstBytes(s, l.most-l.size)
		l.cut = true
	}
	l.size += len(s)
	for len(s) > 0 && len(l.list) <= MaxLines {
		if !l.open {
			l.open, l.first = true, at
		}
		l.last = at
		line, rest, more := strings.Cut(s, "\n")
		l.cur.WriteString(line)
		if !more {
			return
		}
		l.end()
		s = rest
	}
}

func (l *lineList) end() {
	if !l.open {
		return
	}
	line := strings.TrimSuffix(l.cur.String(), "\r")
	line = line[strings.LastIndexByte(line, '\r')+1:] // the rest was written over
	l.list = append(l.list, partLine{line, l.first, l.last})
	l.cur.Reset()
	l.open = false
}
