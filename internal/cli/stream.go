package cli

// jsonStream prints one JSON object in one line, member by member and the items of lists one by
// one, so that an answer of any length is never held. The first error stops it and comes back from
// end.
type jsonStream struct {
	c     *cli
	depth []bool // of each open object or list: whether something is in it already
	err   error
}

func (c *cli) stream() *jsonStream {
	s := &jsonStream{c: c}
	s.open("{")
	return s
}

func (s *jsonStream) write(text string) {
	if s.err == nil {
		_, s.err = s.c.out.WriteString(text)
	}
}

func (s *jsonStream) value(v any) {
	data, err := encodeJSON(v)
	if s.err == nil {
		s.err = err
	}
	if s.err == nil {
		_, s.err = s.c.out.Write(data)
	}
}

func (s *jsonStream) open(bracket string) {
	s.write(bracket)
	s.depth = append(s.depth, false)
}

func (s *jsonStream) close(bracket string) {
	s.write(bracket)
	s.depth = s.depth[:len(s.depth)-1]
}

func (s *jsonStream) comma() {
	top := &s.depth[len(s.depth)-1]
	if *top {
		s.write(",")
	}
	*top = true
}

func (s *jsonStream) name(name string) {
	s.comma()
	s.value(name)
	s.write(":")
}

// field prints a member.
func (s *jsonStream) field(name string, v any) {
	s.name(name)
	s.value(v)
}

// list begins a member that is a list. endList ends it.
func (s *jsonStream) list(name string) {
	s.name(name)
	s.open("[")
}

// item prints the next item of a list.
func (s *jsonStream) item(v any) error {
	s.comma()
	s.value(v)
	return s.err
}

func (s *jsonStream) endList() { s.close("]") }

// end ends the object and its line.
func (s *jsonStream) end() error {
	s.close("}")
	s.write("\n")
	return s.err
}
